"""Decision lists: by hand, by their definition, and as scikit-learn wants them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from truerisk.errors import InputError
from truerisk.learners.concise import CondensedNeighbors, DecisionList, SetCoveringMachine


@parametrize_with_checks([DecisionList()])
def test_decision_lists_keep_the_contract_of_scikit_learn(estimator, check):
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


@parametrize_with_checks([SetCoveringMachine(), SetCoveringMachine(kind="disjunction")])
def test_set_covering_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def _usefulness(distances, described, left, ball, penalty):
    """The definition: negatives excluded, less the price of the positives lost."""
    centre, border, *_ = ball
    radius = distances[centre, border]
    far = distances[centre]
    held = far <= radius if described[centre] else far >= radius
    excluded = np.sum(left & ~described & ~held)
    lost = np.sum(left & described & ~held)
    return excluded - penalty * lost


def _problem(seed, n=30, *, on_grid=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X = np.round(X) if on_grid else X  # equal distances
    return X, (X[:, 0] ** 2 + X[:, 1] + rng.normal(size=n) / 2 > 0.5).astype(int)


@pytest.mark.parametrize("on_grid", [False, True])
@pytest.mark.parametrize("penalty", [0.5, 1.0, 3.0, np.inf])
@pytest.mark.parametrize("kind", ["conjunction", "disjunction"])
def test_each_ball_is_the_most_useful_one_there_is(kind, penalty, on_grid):
    X, y = _problem(3, on_grid=on_grid)
    machine = SetCoveringMachine(kind=kind, penalty=penalty).fit(X, y)
    described = (y == 1) if kind == "conjunction" else (y == 0)
    distances, left = cdist(X, X), np.ones(len(X), dtype=bool)
    price = min(penalty, 1e6)
    pairs = [(c, b) for c in range(len(X)) for b in np.flatnonzero(described) if c != b]
    for ball in machine.balls_:
        best = max(_usefulness(distances, described, left, pair, price) for pair in pairs)
        assert _usefulness(distances, described, left, ball, price) == best > 0
        assert described[ball.border]
        far = distances[ball.centre]
        left &= far <= ball.radius if described[ball.centre] else far >= ball.radius
    further = max(_usefulness(distances, described, left, pair, price) for pair in pairs)
    assert described[left].all() or further <= 0 or len(machine.balls_) == machine.max_balls
    # What no ball excludes is what is described.
    assert_array_equal(machine.predict(X) == (1 if kind == "conjunction" else 0), left)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_disjunction_is_the_complement_with_the_classes_exchanged(seed):
    X, y = _problem(seed)
    if len(set(y)) < 2:
        return
    one = SetCoveringMachine(kind="disjunction").fit(X, y)
    other = SetCoveringMachine(kind="conjunction").fit(X, 1 - y)
    assert one.balls_ == other.balls_
    fresh, _ = _problem(seed + 1)
    assert_array_equal(one.predict(fresh), 1 - other.predict(fresh))


def test_an_infinite_penalty_loses_none_of_the_class_that_is_described():
    X, y = _problem(5, 60)
    machine = SetCoveringMachine(penalty=np.inf, max_balls=50).fit(X, y)
    assert machine.predict(X)[y == 1].all()


def test_smaller_machines_are_the_first_balls_of_a_larger_one():
    X, y = _problem(7, 60)
    machine = SetCoveringMachine(max_balls=6).fit(X, y)
    for size, called in enumerate(machine.staged_predict(X), start=1):
        assert_array_equal(called, SetCoveringMachine(max_balls=size).fit(X, y).predict(X))


def test_the_compression_set_rebuilds_the_machine():
    X, y = _problem(8, 60)
    machine = SetCoveringMachine(max_balls=3).fit(X, y)
    used = machine.compression_set_
    assert_array_equal(used, np.unique([[ball.centre, ball.border] for ball in machine.balls_]))
    pairs = len(used) * int(y[used].sum())
    # 3 of the pairs: (3 + 1)(3 + 2) C(pairs, 3).
    choices = pairs * (pairs - 1) * (pairs - 2) / 6
    assert machine.log_messages_ == pytest.approx(np.log(20 * choices))


@pytest.mark.parametrize(
    "settings", [{"penalty": -1.0}, {"max_balls": 1.5}, {"kind": "both"}], ids=str
)
def test_settings_that_mean_nothing_are_refused(settings):
    with pytest.raises(InputError, match=f"`{next(iter(settings))}` must"):
        SetCoveringMachine(**settings).fit([[0.0], [1.0]], [0, 1])


@parametrize_with_checks([CondensedNeighbors(), CondensedNeighbors(n_neighbors=3)])
def test_condensed_neighbours_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("neighbors", [1, 3])
def test_the_store_predicts_all_that_it_does_not_hold(neighbors):
    X, y = load_iris(return_X_y=True)
    model = CondensedNeighbors(n_neighbors=neighbors).fit(X, y)
    others = np.setdiff1d(np.arange(len(y)), model.compression_set_)
    assert_array_equal(model.predict(X[others]), y[others])
    assert len(model.compression_set_) < 60


def test_it_is_the_nearest_neighbour_rule_of_its_store():
    X, y = load_iris(return_X_y=True)
    stored = CondensedNeighbors().fit(X, y)
    rows = stored.compression_set_
    fresh = np.random.default_rng(0).normal(X.mean(axis=0), X.std(axis=0), (200, 4))
    other = KNeighborsClassifier(1).fit(X[rows], y[rows])
    assert_array_equal(stored.predict(fresh), other.predict(fresh))
