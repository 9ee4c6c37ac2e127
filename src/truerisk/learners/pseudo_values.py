r"""What each example adds to the value of a scorer, by leaving it out of what is scored.

A scorer gives one number v for the b examples of a refit, and :math:`v_{-i}` without example i:

.. math:: p_i = b\,v - (b - 1)\,v_{-i}

These are Tukey's pseudo-values [1]_.  Of a mean of losses they are the losses themselves; of any
other smooth function of the examples p − v is near the influence of the example.  The model
predicts once: without an example the same predictions are scored.

References
----------
.. [1] J. W. Tukey, "Bias and confidence in not-quite large samples" (abstract), Annals of
   Mathematical Statistics 29, 614, 1958.
"""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from truerisk.aliases import Array, Indices

RESPONSES = frozenset({"predict", "predict_proba", "predict_log_proba", "decision_function"})
MAX_LEFT_OUT = 300  # examples of a sample that are left out, each once per repetition

Score = Callable[[Any, Indices], float]  # model, positions of rows → value


def chosen_to_leave_out(codes: Indices) -> tuple[Indices, Array]:
    """Give the examples to leave out, and of how many of their class each of them stands for.

    All of them, up to `MAX_LEFT_OUT`; of more, evenly over the order of each class, and all of a
    class that has no more than its share.

    Examples
    --------
    >>> rows, weights = chosen_to_leave_out(np.repeat([0, 1], [3000, 200]))
    >>> len(rows), weights[[0, -1]].round(2).tolist()
    (300, [20.0, 1.33])
    """
    n = len(codes)
    if n <= MAX_LEFT_OUT:
        return np.arange(n), np.ones(n)
    sizes = np.bincount(codes)
    left, taken = MAX_LEFT_OUT, np.zeros_like(sizes)
    for rank, code in enumerate(np.argsort(sizes, kind="stable")):
        taken[code] = min(sizes[code], left // (len(sizes) - rank))
        left -= taken[code]
    rows, weights = [], []
    for code in np.flatnonzero(taken):
        places = (np.arange(taken[code]) * sizes[code]) // taken[code]
        rows.append(np.flatnonzero(codes == code)[places])
        weights.append(np.full(taken[code], sizes[code] / taken[code]))
    order = np.argsort(np.concatenate(rows))
    return np.concatenate(rows)[order], np.concatenate(weights)[order]


def pseudo_values(
    score: Score, model: "RememberedModel", value: float, which: Indices, labels: Any = None
) -> Array:
    """Give the pseudo-values of some of the rows; infinite where the score without one is unusable.

    `score(model, rows)` scores some rows, and `value` is what it gives for all of them.  With
    `labels`, the true ones, the score depends on nothing but these and the predictions: rows that
    are alike in both are left out once.
    """
    size = model.size
    values = np.full(len(which), math.inf)
    if size < 2 or not math.isfinite(value):
        return values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a scorer warns of, it says of all rows
        judge: Any = model
        if _value(score, model, np.arange(size)) != value:
            judge, labels = model.itself, None  # the scorer looks at more than predictions
        known: dict[Any, float] = {}
        for at, row in enumerate(which):
            key = row if labels is None else (labels[row], *model.predictions_of(row))
            if key not in known:
                known[key] = _value(score, judge, np.delete(np.arange(size), row))
            if not math.isfinite(known[key]):
                return np.full(len(which), math.inf)
            values[at] = size * value - (size - 1) * known[key]
    return values


def _value(score: Score, model: Any, rows: Indices) -> float:
    """Score some rows; NaN where the scorer refuses them."""
    try:
        return score(model, rows)
    except Exception:  # noqa: BLE001  (a scorer may raise anything where a class is missing)
        return math.nan


class RememberedModel:
    """A trained model whose predictions for some rows of X are looked up; all else is the model's.

    `shows` tells it which rows are scored next; what is not these very rows goes to the model.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self.itself, self._X = model, X
        self.size = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        self._responses: dict[str, Any] = {}
        self._shown: Any = None
        self._rows: Indices = np.arange(0)

    def shows(self, X: Any, rows: Indices) -> None:
        """Take X to be these rows of the examples."""
        self._shown, self._rows = X, rows

    def predictions_of(self, row: int) -> Iterator[bytes]:
        """Give what was predicted for a row, in a form that can be looked up."""
        return (one[row].tobytes() for one in self._responses.values())

    def __getattr__(self, name: str) -> Any:
        own = getattr(self.itself, name)
        if name not in RESPONSES:
            return own

        def respond(X: Any, **options: Any) -> Any:
            if X is not self._shown or options:
                return own(X, **options)
            if name not in self._responses:
                self._responses[name] = np.asarray(own(self._X))
            return self._responses[name][self._rows]

        respond.__name__ = name  # by which scikit-learn asks for it again
        return respond
