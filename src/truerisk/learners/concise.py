"""Learners that say little: a list of conditions, a few balls, or a few of the examples."""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import gammaln
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets, type_of_target
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


class CondensedNeighbors(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify by the nearest of few stored examples, chosen by Hart's condensed rule.

    The store begins with the first example.  The others are tried in their order, again and again,
    and each one that the store predicts wrongly joins it, until a pass adds none.  The rule is
    determined by the stored examples, `compression_set_`, as `tr.compression_bound` needs it.

    Parameters
    ----------
    n_neighbors
        How many of the nearest stored examples vote; of equal classes the first wins.

    Attributes
    ----------
    compression_set_
        The training rows that are stored, sorted.

    References
    ----------
    .. [1] P. E. Hart, "The condensed nearest neighbor rule", IEEE Transactions on Information
       Theory 14(3), 515-516, 1968.

    Examples
    --------
    >>> model = CondensedNeighbors().fit([[0.0], [1.0], [2.0], [7.0], [8.0]], [0, 0, 0, 1, 1])
    >>> model.compression_set_
    array([0, 3])
    >>> model.predict([[3.0], [4.0]])
    array([0, 1])
    """

    def __init__(self, *, n_neighbors: int = 1) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any) -> "CondensedNeighbors":
        """Choose the examples to store."""
        check_whole_number(self.n_neighbors, "n_neighbors", low=1)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        distances, stored = cdist(X, X), np.zeros(len(X), dtype=bool)
        stored[0] = grown = True
        while grown:
            grown = False
            for row in np.flatnonzero(~stored):
                store = np.flatnonzero(stored)
                if self._voted(distances[[row]][:, store], codes[store])[0] != codes[row]:
                    stored[row] = grown = True
        self.compression_set_ = np.flatnonzero(stored)
        self._examples, self._codes = X[stored], codes[stored]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        voted = self._voted(cdist(X, self._examples), self._codes)
        called: NDArray[Any] = self.classes_[voted]
        return called

    def _voted(self, distances: Array, codes: Indices) -> NDArray[np.intp]:
        """Give the class that most of the nearest have."""
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : self.n_neighbors]
        votes = codes[nearest][:, :, None] == np.arange(len(self.classes_))
        most: NDArray[np.intp] = np.argmax(votes.sum(axis=1), axis=1)
        return most


class Rule(NamedTuple):
    """Tests that must all hold, as (column, threshold, whether above it), and counts by class."""

    tests: tuple[tuple[int, float, bool], ...]
    counts: Array

    def holds(self, X: Array) -> NDArray[np.bool_]:
        """Say for which rows all tests hold."""
        kept = np.ones(len(X), dtype=bool)
        for column, threshold, above in self.tests:
            kept &= (X[:, column] > threshold) == above
        return kept


class DecisionList(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn rules "if … and … then class", tried in order, by separate and conquer.

    The rule learner is that of PART [1]_ with whole trees: a pruned decision tree is grown on the
    examples that no rule covers yet, its leaf with the most examples becomes the next rule, the
    tree is dropped, and so on until a tree is a single leaf, which is the default.  PART grows only
    the part of each tree that it needs, and prunes as C4.5 does; here a tree is pruned by minimal
    cost-complexity.

    Parameters
    ----------
    ccp_alpha
        How much a leaf must lower the impurity of the examples left; larger prunes more.
    min_samples_leaf
        The fewest examples of a rule.
    max_rules
        The most rules before the default; None for any number.
    random_state
        Breaks ties between columns.

    Attributes
    ----------
    rules_
        The rules in their order; the last has no test and is the default.

    References
    ----------
    .. [1] E. Frank and I. H. Witten, "Generating accurate rule sets without global optimization",
       ICML 1998, 144-151.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [9.0]], [0, 1, 1, 1, 0, 0]
    >>> rules = DecisionList(random_state=0).fit(X, y).rules_
    >>> [(rule.tests, rule.counts.tolist()) for rule in rules]
    [(((0, 3.5, False), (0, 0.5, True)), [0.0, 3.0]), ((), [3.0, 0.0])]
    """

    def __init__(
        self,
        *,
        ccp_alpha: float = 0.0,
        min_samples_leaf: int = 1,
        max_rules: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.ccp_alpha = ccp_alpha
        self.min_samples_leaf = min_samples_leaf
        self.max_rules = max_rules
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "DecisionList":
        """Learn the rules."""
        check_number(self.ccp_alpha, "ccp_alpha", low=0.0)
        check_whole_number(self.min_samples_leaf, "min_samples_leaf", low=1)
        if self.max_rules is not None:
            check_whole_number(self.max_rules, "max_rules", low=0)
        X, y = validate_data(self, X, y, dtype=np.float32)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        rules: list[Rule] = []
        left = np.arange(len(X))
        while len(left) and (self.max_rules is None or len(rules) < self.max_rules):
            rule = self._largest_leaf(X[left], codes[left])
            if not rule.tests:
                break
            rules.append(rule)
            left = left[~rule.holds(X[left])]
        counts = self._counts(codes[left] if len(left) else codes)
        self.rules_ = (*rules, Rule((), counts))
        return self

    def predict_proba(self, X: Any) -> Array:
        """Give the shares of the classes among the examples of the first rule that holds.

        One example more of each class is counted (Laplace).
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float32)
        shares = np.empty((len(X), len(self.classes_)))
        open_rows = np.arange(len(X))
        for rule in self.rules_:
            held = rule.holds(X[open_rows])
            shares[open_rows[held]] = (rule.counts + 1) / (rule.counts + 1).sum()
            open_rows = open_rows[~held]
        return shares

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of the first rule that holds for each row."""
        shares = self.predict_proba(X)
        called: NDArray[Any] = self.classes_[np.argmax(shares, axis=1)]
        return called

    def _counts(self, codes: NDArray[np.intp]) -> Array:
        return np.bincount(codes, minlength=len(self.classes_)).astype(float)

    def _largest_leaf(self, X: Array, codes: NDArray[np.intp]) -> Rule:
        grown = DecisionTreeClassifier(
            ccp_alpha=self.ccp_alpha,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
        )
        tree = grown.fit(X, codes, check_input=False).tree_
        is_leaf = tree.children_left < 0
        place = int(np.argmax(np.where(is_leaf, tree.n_node_samples, 0)))
        counts = self._counts(codes[tree.apply(X) == place])
        tests: list[tuple[int, float, bool]] = []
        while place:
            parent = int(
                np.flatnonzero((tree.children_left == place) | (tree.children_right == place))[0]
            )
            above = bool(tree.children_right[parent] == place)
            tests.append((int(tree.feature[parent]), float(tree.threshold[parent]), above))
            place = parent
        return Rule(tuple(reversed(tests)), counts)
