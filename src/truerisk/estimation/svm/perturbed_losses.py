"""The losses of one machine under many random weightings of its examples.

Perturbation resampling asks how the error would vary if the sample were another: every example gets
a random weight G ~ Exp(1), in its training and in the mean of the losses alike.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.weighted_refits import Prepared, prepared

Progress = Callable[[int, int], None]

CELLS = 2_000_000  # decision values at a time: they are kept until the losses are counted
MANY_EXAMPLES = 2000  # from here on the folds' matrices go one after the other


@dataclass(frozen=True)
class PerturbedLosses:
    """Who is called wrong by the machine as it is, and how the mean loss moves under each G.

    `spread` holds W*/√n of each replicate: n⁻¹ Σᵢ (L*ᵢ − D) Gᵢ, D being the mean of `wrong`.
    """

    wrong: NDArray[np.bool_]
    spread: Array

    @property
    def error(self) -> float:
        """D, the share that is called wrong."""
        return float(self.wrong.mean())

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates: how far the error may be off."""
        return float(self.spread.std(ddof=1))

    @property
    def is_degenerate(self) -> bool:
        """Whether nothing can be read off the replicates: no error, all errors, or no spread."""
        return not 0 < self.error < 1 or not np.ptp(self.spread) > 0


def draw_weights(
    n: int,
    replicates: int,
    rng: np.random.Generator,
    groups: NDArray[np.intp] | None = None,
) -> Array:
    """Draw G, a row a replicate; the examples of a group, which come and go together, share theirs.

    Examples
    --------
    >>> G = draw_weights(3, 2, np.random.default_rng(1), np.array([0, 1, 1]))
    >>> G.shape, bool((G[:, 1] == G[:, 2]).all())
    ((2, 3), True)
    """
    if groups is None:
        return rng.exponential(size=(replicates, n))
    return rng.exponential(size=(replicates, int(groups.max()) + 1))[:, groups]


def perturbed_losses(
    model: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: NDArray[Any],
    weights: Array,
    *,
    parts: NDArray[Any] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> PerturbedLosses:
    r"""Train under every weighting and count who is called wrong.

    Without `parts` each example is called by the machine that was trained on it, as the document
    prints it; with them, by the one trained on the other parts.

    .. math:: W^*/\sqrt n = \frac1n \sum_i \{1[y_i \ne \hat y_i(\theta^*)] - D\}\, G_i

    α of example i is at most C·Gᵢ/Ḡ, with Ḡ the mean over the examples trained on: the penalty of w
    is then weighted by Ḡ, as in (9) of [1]_ (its (11) holds for Ḡ = 1 only).

    Parameters
    ----------
    model, X, y
        The machine and the examples, labelled by two classes.
    weights
        G, a row a replicate.
    parts
        The fold of each example; None for the losses in training.
    workers
        Threads.
    progress
        Called with the refits that are done and those to do.

    References
    ----------
    .. [1] B. Jiang, X. Zhang and T. Cai, "Estimating the confidence interval for prediction errors
       of support vector machine classifiers", JMLR 9, 521-540, 2008.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> X = np.array([[0.0], [1.0], [2.2], [1.9], [3.0], [4.0]])
    >>> G = draw_weights(6, 3, np.random.default_rng(1))
    >>> found = perturbed_losses(LinearSVM(), X, np.array([0, 0, 0, 1, 1, 1]), G)
    >>> found.error.__round__(3), found.spread.shape
    (0.333, (3,))
    """
    replicates, n = weights.shape
    pos_label = y == np.unique(y)[1]
    everyone = np.arange(n)
    numbers = [None] if parts is None else np.unique(parts).tolist()
    wrong = np.zeros((replicates + 1, n), dtype=bool)
    # The first row is the machine as it is.
    G = np.vstack([np.ones(n), weights])
    size = max(CELLS // n, 1)
    chunks = [slice(start, start + size) for start in range(0, replicates + 1, size)]
    team = workers if n <= MANY_EXAMPLES else 1
    told = _Told(progress, len(numbers) * (replicates + 1))

    def judge(fold: Any, machine: Prepared, train: NDArray[np.intp]) -> None:  # noqa: ANN401
        judged = everyone if fold is None else np.flatnonzero(parts == fold)
        even = G[:, train] / G[:, train].mean(axis=1, keepdims=True)
        for rows in chunks:
            decision = machine.decisions(even[rows])
            wrong[rows, judged] = (decision[:, judged] > 0) != pos_label[judged]
            told(len(decision))

    with few_blas_threads(n, workers), ThreadPoolExecutor(max(team, 1)) as pool:
        for start in range(0, len(numbers), team):
            folds = numbers[start : start + team]
            trains = [everyone if f is None else np.flatnonzero(parts != f) for f in folds]
            each = max(workers // len(folds), 1)
            machines = [prepared(model, X, y, train, workers=each) for train in trains]
            list(pool.map(judge, folds, machines, trains))
    error = wrong[0].mean()
    return PerturbedLosses(wrong[0], ((wrong[1:] - error) * weights).mean(axis=1))


class _Told:
    """Tells how many refits are done, one thread at a time."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done, self.lock = progress, total, 0, Lock()

    def __call__(self, refits: int) -> None:
        with self.lock:
            self.done += refits
            if self.progress is not None:
                self.progress(self.done, self.total)
