"""Decision lists: by hand, by their definition, and as scikit-learn wants them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from truerisk.learners.decision_list import DecisionList


@parametrize_with_checks([DecisionList()])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_first_rule_is_the_largest_leaf_and_the_next_is_learnt_without_it():
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    options = {"min_samples_leaf": 3, "random_state": 0}
    rules = DecisionList(**options).fit(X, y).rules_
    left = np.ones(len(X), dtype=bool)
    for rule in rules[:-1]:
        tree = DecisionTreeClassifier(**options).fit(X[left], y[left])
        largest = np.bincount(tree.apply(X[left])).max()
        held = rule.holds(X[left])
        assert held.sum() == largest == rule.counts.sum()
        assert_array_equal(np.bincount(y[left][held], minlength=3), rule.counts)
        left[np.flatnonzero(left)[held]] = False
    assert rules[-1].tests == ()
    assert_array_equal(np.bincount(y[left], minlength=3), rules[-1].counts)


def test_shares_are_those_of_the_first_rule_that_holds():
    X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [9.0]], [0, 1, 1, 1, 0, 0]
    model = DecisionList(random_state=0).fit(X, y)
    # Three ones within (0.5, 3.5]: (0 + 1)/(3 + 2); the default has three zeros.
    assert_allclose(model.predict_proba([[2.0], [7.0]]), [[0.2, 0.8], [0.8, 0.2]])


@pytest.mark.parametrize("most", [0, 1, 2])
def test_it_has_no_more_rules_than_allowed(most):
    X, y = load_iris(return_X_y=True)
    assert len(DecisionList(max_rules=most).fit(X, y).rules_) == most + 1
