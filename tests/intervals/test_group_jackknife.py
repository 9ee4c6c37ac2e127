import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.comparison.conclusion import Spread
from truerisk.intervals.binomial import fractional_interval
from truerisk.intervals.group_jackknife import (
    REACHES,
    difference_spread,
    group_jackknife,
    jackknife_error,
    kurtosis_degrees,
    mover_ends,
)
from truerisk.tallies.group_values import GroupValues, ratio_values

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "group_jackknife.json").read_text("utf-8")
)
RANGES = {"share": (0.0, 1.0), "mcc": (-1.0, 1.0), "loss": (0.0, math.inf)}


def ends(interval):
    return interval.low, interval.high


def values_of(case):
    values = ratio_values(np.array(case["tops"], float), np.array(case["bottoms"], float))
    if case["scale"] != "mcc":
        return values
    return GroupValues(
        2 * values.value - 1, 2 * values.without - 1, 2 * values.twice - 1, values.units
    )


def test_three_groups_worked_by_hand():
    # 1 of 4, 0 of 4, 3 of 4: θ = ⅓; without 3/8, ½, ⅛: u = −1/24, −1/6, 5/24; Σu² = 42/576,
    # se² = ⅔ · 42/576.  Σu³ > 0: up, θ* = 7/16 at the third group counted twice.
    values = ratio_values(np.array([1.0, 0, 3]), np.array([4.0, 4, 4]))
    assert values.without == pytest.approx([3 / 8, 1 / 2, 1 / 8])
    assert values.twice == pytest.approx([5 / 16, 1 / 4, 7 / 16])
    spread = math.sqrt(2 / 3 * 42 / 576) / (1 / 3 * 2 / 3)
    # Σu⁴ = (1 + 256 + 625)/24⁴: 882/42² = ½, ν = min(2, 2/(½ − ⅓)) = 2: t₂ at both ends.
    near = 4.302652729911275 * spread
    shift = math.log(7 / 9) - math.log(1 / 2)
    low, high = (
        1 / (1 + 2 * math.exp(near)),
        1 / (1 + 2 * math.exp(-near - shift)),
    )
    assert ends(group_jackknife(values)) == pytest.approx((low, high), rel=1e-9)
    # Of losses and precisions twice the shift; the degrees of freedom are those of G − 1 anyhow.
    twice = 1 / (1 + 2 * math.exp(-near - 2 * shift))
    for reach in ("losses", "precision"):
        assert group_jackknife(values, reach=reach).high == pytest.approx(twice, rel=1e-9)
    # Stretched by refits: the standard error, not the shift.
    longer = 1 / (1 + 2 * math.exp(1.5 * near)), 1 / (1 + 2 * math.exp(-1.5 * near - shift))
    assert ends(group_jackknife(values, stretch=1.5)) == pytest.approx(longer, rel=1e-9)


@pytest.mark.parametrize("case", REFERENCE["intervals"])
def test_intervals_are_those_of_the_reference(case):
    interval = group_jackknife(
        values_of(case),
        level=case["level"],
        measure_range=RANGES[case["scale"]],
        reach="losses" if case["of_losses"] else "shares",
    )
    assert ends(interval) == pytest.approx((case["low"], case["high"]), abs=2e-9)


@pytest.mark.parametrize("case", REFERENCE["differences"])
def test_differences_are_those_of_the_reference(case):
    values = ratio_values(np.array(case["tops"], float), np.array(case["bottoms"], float))
    spread = Spread(*difference_spread(values.value, values.without, values.units))
    expected = (case["low"], case["high"])
    assert spread.ends(values.value, 0.95) == pytest.approx(expected, abs=1e-10)
    assert spread.p_value(values.value) == pytest.approx(case["p_value"], abs=1e-10)


tables = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: sum(pair) > 0),
    min_size=3,
    max_size=20,
)


@settings(max_examples=100, deadline=None)
@given(
    table=tables,
    level=st.floats(0.5, 0.999),
    reach=st.sampled_from(sorted(REACHES)),
    data=st.data(),
)
def test_it_contains_the_value_in_any_order_and_under_any_weight(table, level, reach, data):
    right, wrong = np.array(table, float).T
    values = ratio_values(right, right + wrong)
    options = {"level": level, "reach": reach}
    interval = group_jackknife(values, **options)
    assert 0 <= interval.low <= values.value <= interval.high <= 1
    assert interval.low < interval.high
    order = data.draw(st.permutations(range(len(table))))
    turned = ratio_values(right[order], (right + wrong)[order])
    assert ends(group_jackknife(turned, **options)) == ends(interval)
    scaled = ratio_values(3.7 * right, 3.7 * (right + wrong))
    assert ends(group_jackknife(scaled, **options)) == pytest.approx(ends(interval), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(k=st.integers(1, 30), n=st.integers(2, 30))
def test_one_row_per_group_has_the_standard_error_of_independent_rows(k, n):
    outcomes = np.repeat([1.0, 0.0], [k, n])
    values = ratio_values(outcomes, np.ones(k + n))
    p = k / (k + n)
    error = jackknife_error(values.value - values.without)
    assert error == pytest.approx(math.sqrt(p * (1 - p) / (k + n - 1)))


@settings(max_examples=50, deadline=None)
@given(table=tables)
def test_swapping_right_and_wrong_mirrors_the_interval(table):
    right, wrong = np.array(table, float).T
    one, other = (group_jackknife(ratio_values(part, right + wrong)) for part in (right, wrong))
    assert ends(one) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-7)


def test_groups_that_are_all_right_or_all_alike_count_as_equal_groups():
    for tops, bottoms, units in (
        ([3, 3, 3, 3], [3, 3, 3, 3], 4.0),
        ([2, 2, 2], [3, 3, 3], 3.0),
        ([8, 1, 1], [8, 1, 1], 100 / 66),
    ):
        values = ratio_values(np.array(tops, float), np.array(bottoms, float))
        interval = group_jackknife(values)
        expected = fractional_interval(values.value * units, units)
        assert ends(interval) == pytest.approx(ends(expected), rel=1e-9)
        assert interval.method == "binomial_of_groups"


def test_what_is_undefined_without_a_group_counts_as_equal_groups():
    values = GroupValues(0.2, np.array([0.1, np.nan, 0.3]), np.array([0.2, 0.3, 0.1]), 2.5)
    scaled = group_jackknife(values, measure_range=(-1.0, 1.0))
    expected = fractional_interval(0.6 * 2.5, 2.5)
    assert ends(scaled) == pytest.approx((2 * expected.low - 1, 2 * expected.high - 1))
    assert ends(group_jackknife(values, measure_range=(0.0, math.inf))) == (0.0, math.inf)


def test_two_groups_leave_the_whole_range():
    values = ratio_values(np.array([1.0, 2.0]), np.array([4.0, 5.0]))
    interval = group_jackknife(values, measure_range=(-1.0, 1.0))
    assert (ends(interval), interval.method) == ((-1.0, 1.0), "whole_range")


def test_an_undefined_value_leaves_the_whole_range():
    nothing = GroupValues(math.nan, np.full(4, np.nan), np.full(4, np.nan), 0.0)
    assert ends(group_jackknife(nothing)) == (0.0, 1.0)


def test_a_measure_without_ends_is_symmetric_but_for_the_shift():
    values = GroupValues(1.0, np.array([1.1, 0.9, 1.0]), np.array([0.9, 1.2, 1.0]), 3.0)
    interval = group_jackknife(values, measure_range=(-math.inf, math.inf))
    assert interval.low < 1 < interval.high
    below = group_jackknife(values, measure_range=(-math.inf, 3.0))
    assert below.low < 1 < below.high < 3


def test_one_group_that_is_all_has_two_degrees_of_freedom():
    assert kurtosis_degrees(np.array([1.0] + [0.0] * 999)) == pytest.approx(2, rel=0.01)
    assert kurtosis_degrees(np.array([1e-200, -1e-200, 1e-200])) == 2.0
    normal = np.random.default_rng(0).normal(size=4000)
    assert kurtosis_degrees(normal) == pytest.approx(3999, rel=0.2)


def test_few_effective_groups_leave_few_degrees_of_freedom():
    without = np.array([0.1, 0.12, 0.08, 0.11, 0.09])
    assert difference_spread(0.1, without, 1.5)[1] == 1.0
    assert difference_spread(0.1, np.full(5, 0.1), 5.0) == (0.0, 4.0)


def test_mover_combines_both_intervals():
    # Unrelated values: the distances add as squares; equal ones cancel.
    first = GroupValues(0.5, np.array([0.4, 0.6, 0.5, 0.5]), np.array([0.55, 0.45, 0.5, 0.5]), 4.0)
    second = GroupValues(0.5, np.array([0.5, 0.5, 0.4, 0.6]), np.array([0.5, 0.5, 0.55, 0.45]), 4.0)
    one, other = mover_ends(first, second, level=0.95)
    # t₃ = 3.182446, se = √(¾ · 0.02), slope 4; both sides have the shift: Σu³ = 0.
    spread = 3.182446305284263 * math.sqrt(0.75 * 0.02) * 4
    shift = math.log(0.55 / 0.45)
    far = 0.5 - 1 / (1 + math.exp(spread + shift))
    assert (one, other) == pytest.approx((-math.hypot(far, far), math.hypot(far, far)))
    assert mover_ends(first, first, level=0.95) == pytest.approx((0, 0), abs=1e-7)


def test_mover_of_a_perfect_value_takes_its_equal_groups():
    perfect = GroupValues(1.0, np.ones(5), np.ones(5), 5.0)
    other = GroupValues(0.9, np.linspace(0.88, 0.92, 5), np.linspace(0.88, 0.92, 5), 5.0)
    low, high = mover_ends(perfect, other, level=0.95)
    assert low < -0.1 < high
