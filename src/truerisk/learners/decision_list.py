"""Decision lists: rules that are tried in order, each the largest leaf of a tree."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from truerisk.aliases import Array
from truerisk.checks import check_number, check_whole_number


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
