"""Rows that belong together: divided, judged and counted as one."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from truerisk import agreement_interval, estimate, evaluate, refit_interval
from truerisk.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
FIVES = np.arange(60) // 5
ONE_LARGE = np.r_[np.zeros(20, dtype=int), np.arange(1, 41)]
TREE = DecisionTreeClassifier(max_depth=2)


def ends(one):
    return one.interval.low, one.interval.high


@pytest.mark.parametrize("groups", [FIVES, ONE_LARGE], ids=["equal", "unequal"])
@pytest.mark.parametrize("repeats", [1, 5])
def test_the_error_rate_has_the_interval_of_groups(groups, repeats):
    settings = {"groups": groups, "repeats": repeats, "random_state": 1}
    found = estimate(TREE, X, Y, interval="agreement", **settings)
    expected = agreement_interval(found.called != Y, groups=groups)
    assert ends(found["error_rate"]) == pytest.approx((expected.low, expected.high))
    assert found["error_rate"].interval.method.startswith("cluster_")
    if repeats == 1:
        return
    found = estimate(TREE, X, Y, **settings)
    expected = refit_interval(found.called != Y, found.judged_by, groups=groups)
    assert ends(found["error_rate"]) == pytest.approx((expected.low, expected.high))
    assert found["error_rate"].interval.method == "cluster_variance_components"


def test_groups_without_an_error_are_worth_as_many_as_they_are_alike():
    found = estimate(TREE, Y[:, None], Y, groups=ONE_LARGE, random_state=1)
    expected = agreement_interval(found.called != Y, groups=ONE_LARGE)
    assert found["error_rate"].value == 0
    assert found["error_rate"].interval.high == pytest.approx(expected.high)


def test_a_hold_out_of_groups_says_what_its_predictions_say():
    found = estimate(TREE, X, Y, method="holdout", groups=FIVES, random_state=1)
    judged = found.called[0] >= 0
    expected = evaluate(Y[judged], found.called[0][judged], groups=FIVES[judged])
    assert found["error_rate"].value == pytest.approx(expected["error_rate"].value)


def test_subsampling_keeps_groups_together_and_judges_each_as_often_as_it_is_held_out():
    found = estimate(TREE, X, Y, method="subsampling", groups=FIVES, random_state=1)
    judged = found.called >= 0
    assert (judged.reshape(15, 12, 5).all(axis=2) | ~judged.reshape(15, 12, 5).any(axis=2)).all()
    assert found["error_rate"].interval.method == "cluster_variance_components"


def test_groups_of_one_are_no_groups():
    alone = estimate(TREE, X, Y, random_state=1)
    apart = estimate(TREE, X, Y, groups=np.arange(60), random_state=1)
    assert apart.to_dict() == alone.to_dict()


def test_the_units_are_told():
    notes = estimate(TREE, X, Y, groups=FIVES, random_state=1).notes
    assert "The units are 12 groups, not 60 rows." in notes


def test_a_rule_that_knows_no_groups_is_refused():
    with pytest.raises(InputError, match="must not be central_limit with groups"):
        estimate(TREE, X, Y, groups=FIVES, repeats=1, interval="central_limit")
    with pytest.raises(InputError, match="must keep groups together"):
        estimate(TREE, X, Y, groups=FIVES, method="nested_cross_validation")


def test_one_group_cannot_be_held_out():
    with pytest.raises(InputError, match="both sides of 1 groups"):
        estimate(TREE, X, Y, groups=np.zeros(60), method="holdout")


def test_other_groups_are_another_run(tmp_path):
    settings = {"folds": 5, "repeats": 2, "random_state": 1, "resume": tmp_path / "run"}
    estimate(TREE, X, Y, groups=FIVES, **settings)
    with pytest.raises(InputError, match="the same division"):
        estimate(TREE, X, Y, groups=np.arange(60) % 12, **settings)
