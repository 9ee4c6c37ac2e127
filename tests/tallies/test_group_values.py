import numpy as np
import pytest

from truerisk.tallies import group_values
from truerisk.tallies.group_values import (
    GroupValues,
    area_values,
    effective_groups,
    mean_of_classes,
    ranking_values,
    ratio_values,
)
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import values_of

RNG = np.random.default_rng(3)
GROUP = np.sort(RNG.integers(0, 9, 70))
TRUTH = RNG.random(70) < 0.4
SCORE = np.round(TRUTH + RNG.normal(size=70) + RNG.normal(size=9)[GROUP], 1)
WEIGHT = RNG.uniform(0.2, 3.0, 70)
NAMES = ("average_precision", "best_f1", "ks", "breakeven_point", "eleven_point_precision")


def ranked(name, weight, rows=slice(None)):
    return values_of(rank(SCORE[rows], TRUTH[rows], weight[rows]), name)


def test_areas_worked_by_hand():
    # + 4 and − 3 in one group, + 2 and − 1 in the other: 3 of 4 pairs won.  Without a group the one
    # pair of the other is won; with the first one twice, 7 of 9: 2 · 2 + 2 + … − see below.
    score, truth = np.array([4.0, 3, 2, 1]), np.array([True, False, True, False])
    values = area_values(score, truth, np.array([0, 0, 1, 1]))
    assert values.value == 0.75
    assert values.without.tolist() == [1.0, 1.0]
    # Twice the first: +4 +4 against −3 −3 −1 win all six, +2 wins against −1 only: 7 of 9.
    assert values.twice == pytest.approx([7 / 9, 7 / 9])
    assert values.units == 2.0


@pytest.mark.parametrize("weight", [np.ones(70), WEIGHT], ids=["counts", "weights"])
@pytest.mark.parametrize("name", ["roc_auc", *NAMES])
def test_each_group_is_left_out_and_counted_twice(name, weight):
    values = (
        area_values(SCORE, TRUTH, GROUP, weight)
        if name == "roc_auc"
        else ranking_values(SCORE, TRUTH, GROUP, weight, name)
    )
    assert values.value == pytest.approx(ranked(name, weight))
    for group in range(9):
        others = group != GROUP
        assert values.without[group] == pytest.approx(ranked(name, weight, others), rel=1e-9)
        twice = ranked(name, weight * (2 - others))
        assert values.twice[group] == pytest.approx(twice, rel=1e-9)


def test_many_groups_are_taken_to_first_order(monkeypatch):
    rng = np.random.default_rng(0)
    group = np.arange(2000) // 10
    truth = rng.random(2000) < 0.3
    score = truth + rng.normal(size=2000) + rng.normal(size=200)[group] / 2
    exact = {name: ranking_values(score, truth, group, None, name) for name in NAMES}
    monkeypatch.setattr(group_values, "MAX_EXACT", 1)
    rough = {name: ranking_values(score, truth, group, None, name) for name in NAMES}
    for name in NAMES:
        moved = [one[name].value - one[name].without for one in (exact, rough)]
        error = [np.sqrt((one**2).sum()) for one in moved]
        assert error[1] == pytest.approx(error[0], rel=0.3), name
    for name in ("average_precision", "best_f1"):
        one, other = (both[name].without for both in (exact, rough))
        assert np.corrcoef(one, other)[0, 1] > 0.95, name


def test_a_class_in_one_group_is_undefined_without_it():
    score, truth = np.array([3.0, 2.0, 1.0]), np.array([True, False, False])
    values = area_values(score, truth, np.array([0, 1, 2]), np.array([0.1, 0.2, 0.7]))
    assert np.isnan(values.without[0])
    assert values.units == 1.0
    alone = area_values(score, np.ones(3, bool), np.array([0, 1, 2]))
    assert np.isnan(alone.value)


def test_groups_outside_the_denominator_do_not_count():
    values = ratio_values(np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 2.0]))
    assert (values.groups, values.units, values.value) == (2, 2.0, 0.75)
    assert np.isnan(ratio_values(np.zeros(2), np.zeros(2)).value)


def test_what_rounding_leaves_of_nothing_is_nothing():
    weights = np.array([0.1, 0.2, 0.3])
    only = ratio_values(np.array([weights.sum()]), np.array([weights.sum()]))
    assert np.isnan(only.without[0])


def test_effective_groups_worked_by_hand():
    assert effective_groups(np.array([1.0, 1.0, 1.0, 1.0])) == 4.0
    assert effective_groups(np.array([3.0, 1.0])) == 16 / 10
    assert effective_groups(np.zeros(2)) == 0.0


def test_an_average_by_support_takes_the_group_out_of_the_support():
    one = GroupValues(0.5, np.array([0.4, 0.6]), np.array([0.5, 0.5]), 2.0)
    other = GroupValues(1.0, np.array([0.8, 1.0]), np.array([1.0, 1.0]), 1.5)
    found = mean_of_classes([one, other], np.array([[3.0, 1.0], [1.0, 3.0]]))
    assert found.value == 0.75
    # Without the first group 1 and 3 are left, without the second 3 and 1.
    assert found.without == pytest.approx([(0.4 + 3 * 0.8) / 4, (3 * 0.6 + 1.0) / 4])
    assert found.twice == pytest.approx([(7 * 0.5 + 5) / 12, (5 * 0.5 + 7) / 12])
    assert found.units == 1.5
