"""The set covering machine: a conjunction or disjunction of few balls around examples."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import gammaln
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.aliases import Array, Indices
from truerisk.checks import check_choice, check_number, check_whole_number

KINDS = ("conjunction", "disjunction")


class Ball(NamedTuple):
    """A ball around the training example `centre`, as wide as the distance to `border`.

    Both are rows of the training examples.  A ball around an example of the class that is described
    holds what lies within it, the border too; any other ball holds what lies outside it.
    """

    centre: int
    border: int
    radius: float
    inside: bool


class SetCoveringMachine(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Learn a conjunction (or disjunction) of few data-dependent balls, greedily.

    A ball has a training example as its centre, and its radius is the distance to another one.
    Each step takes the ball of the largest usefulness

    .. math:: |Q| - p\,|R|

    with Q the negative examples not yet excluded that it excludes, and R the positive ones not yet
    lost that it loses; it ends when all negative examples are excluded, after `max_balls` balls, or
    when no ball is of use.  A disjunction is the complement of the conjunction that is learnt with
    the classes exchanged.

    The rule depends on at most 2 · `max_balls` examples, `compression_set_`, which is what
    `tr.compression_bound` needs.  Two classes; distances are computed once, each step is O(n²).

    Parameters
    ----------
    kind
        "conjunction" or "disjunction", of the second class.
    penalty
        p, the price of a lost example; infinite for none lost.
    max_balls
        s, the largest number of balls.
    metric
        A metric of `scipy.spatial.distance.cdist`.

    Attributes
    ----------
    balls_
        The balls, the most useful first.
    compression_set_
        The training rows that are centres or borders, sorted.

    References
    ----------
    .. [1] M. Marchand and J. Shawe-Taylor, "The set covering machine", JMLR 3, 723-746, 2002.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [9.0]], [0, 1, 1, 0, 0]
    >>> machine = SetCoveringMachine().fit(X, y)
    >>> [(ball.centre, ball.border, ball.radius) for ball in machine.balls_]
    [(1, 2, 1.0), (0, 1, 1.0)]
    >>> machine.predict([[0.5], [1.5], [8.0]])
    array([0, 1, 0])
    """

    def __init__(
        self,
        *,
        kind: Literal["conjunction", "disjunction"] = "conjunction",
        penalty: float = 1.0,
        max_balls: int = 10,
        metric: str = "euclidean",
    ) -> None:
        self.kind = kind
        self.penalty = penalty
        self.max_balls = max_balls
        self.metric = metric

    def fit(self, X: Any, y: Any) -> "SetCoveringMachine":
        """Choose the balls."""
        check_choice(self.kind, KINDS, "kind")
        check_number(min(self.penalty, 1e300), "penalty", low=0.0)
        check_whole_number(self.max_balls, "max_balls", low=0)
        X, y = validate_data(self, X, y, dtype=np.float64)
        kind_of_target = type_of_target(y, input_name="y", raise_unknown=True)
        if kind_of_target != "binary":
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{kind_of_target}."
            )
        self.classes_ = np.unique(y)
        described = y == self.classes_[-1 if self.kind == "conjunction" else 0]
        self.balls_ = tuple(self._choose(X, described)) if len(self.classes_) > 1 else ()
        self.centres_ = X[[ball.centre for ball in self.balls_]]
        used = [place for ball in self.balls_ for place in (ball.centre, ball.border)]
        self.compression_set_: Indices = np.unique(np.array(used, dtype=np.intp))
        pairs = len(self.compression_set_) * int(described[self.compression_set_].sum())
        self.log_messages_ = _log_choices(pairs, len(self.balls_))
        return self

    def decision_function(self, X: Any) -> Array:
        """Give the distance to the edge of the ball that decides, positive for the second class."""
        *_, last = self._staged(X)
        return last

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of each row."""
        return self._called(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Give the classes by the first ball alone, the first two, …: every smaller `max_balls`."""
        return map(self._called, list(self._staged(X))[1:])

    def _called(self, decision: Array) -> NDArray[Any]:
        called: NDArray[Any] = self.classes_[
            np.minimum((decision > 0).astype(np.intp), len(self.classes_) - 1)
        ]
        return called

    def _staged(self, X: Any) -> Iterator[Array]:
        """Give the decisions by no ball, one, two, …."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        sign = 1.0 if self.kind == "conjunction" else -1.0
        least = np.full(len(X), np.inf)
        yield np.full(len(X), sign)
        distances = cdist(X, self.centres_, self.metric) if self.balls_ else np.empty((len(X), 0))
        for ball, column in zip(self.balls_, distances.T, strict=True):
            margin = ball.radius - column if ball.inside else column - ball.radius
            least = np.minimum(least, margin)
            # The edge belongs to what is described.
            yield sign * np.where(least == 0.0, np.finfo(float).tiny, least)

    def _choose(self, X: Array, described: NDArray[np.bool_]) -> Iterator[Ball]:
        distances, n = cdist(X, X, self.metric), len(X)
        borders = np.flatnonzero(described)
        order = np.argsort(distances, axis=1).astype(np.int32)
        # How many of the nearest examples lie on the inner side of each border: examples at one
        # distance are on one side, that of what is described.
        reached = np.empty((n, len(borders)), dtype=np.int64)
        for at, row in enumerate(distances):
            side: Literal["left", "right"] = "right" if described[at] else "left"
            reached[at] = np.searchsorted(row[order[at]], row[borders], side) + at * (n + 1)
        left = np.ones(n, dtype=bool)
        loss = min(self.penalty, n + 1.0)  # more than all examples: as good as infinite
        sums = np.zeros((n, n + 1))
        for _ in range(self.max_balls):
            if described[left].all():
                return
            worth = np.where(described, -loss, 1.0) * left
            np.cumsum(worth[order], axis=1, out=sums[:, 1:])
            useful = sums.ravel()[reached]
            useful[described] = worth.sum() - useful[described]
            useful[borders, np.arange(len(borders))] = -np.inf  # no centre is its own border
            at = int(np.argmax(useful))
            if useful.flat[at] <= 0:
                return
            centre, border = at // len(borders), int(borders[at % len(borders)])
            ball = Ball(centre, border, float(distances[centre, border]), bool(described[centre]))
            yield ball
            far = distances[centre]
            left &= far <= ball.radius if ball.inside else far >= ball.radius

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _log_choices(pairs: int, balls: int) -> float:
    """Give ln of (r + 1)(r + 2) C(pairs, r): which of the pairs are balls, and how many are."""
    sets = gammaln(pairs + 1) - gammaln(balls + 1) - gammaln(pairs - balls + 1)
    return float(sets + np.log((balls + 1) * (balls + 2)))
