"""From a difference to what may be said: every finding, its words, and what would settle it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from truerisk.comparison.conclusion import (
    Spread,
    TestOutcome,
    conclude,
    decide,
    examples_to_settle,
    growth_to_settle,
    planned_difference,
    planned_in_words,
    satterthwaite,
    spread_of_groups,
    spread_of_influences,
    undetermined,
    with_refit_caveat,
    without_spread,
)
from truerisk.comparison.predictions.right_answers import paired_difference_ends
from truerisk.results import Estimate, Interval

values = st.floats(-1, 1).filter(lambda value: abs(value) > 1e-6)


def an_estimate(value, measure="error_rate", n=400):
    return Estimate(value=value, interval=None, measure=measure, method="counts", n=n)


def concluded(
    first, second, half, *, measure="error_rate", p_value=None, settled_by=None, **options
):
    """Compare two values whose difference is known to ± half at 95 %, ± .84 · half at 90 %."""
    value = second - first

    def ends_at(level):
        width = half * {0.95: 1.0, 0.9: 0.84}[round(level, 9)]
        return value - width, value + width

    outcome = TestOutcome(
        ends_at=ends_at,
        p_value=p_value,
        method="mcnemar_mid_p",
        interval_method="tango",
        settled_by=settled_by,
    )
    both = an_estimate(first, measure), an_estimate(second, measure)
    return conclude(("a", "b"), *both, outcome, level=0.95, **options)


def test_a_lower_error_is_better_and_a_higher_one_worse() -> None:
    assert concluded(0.16, 0.10, 0.03).finding == "better"
    assert concluded(0.10, 0.16, 0.03).finding == "worse"


def test_a_higher_recall_is_better() -> None:
    assert concluded(0.6, 0.7, 0.03, measure="recall").finding == "better"
    assert concluded(0.6, 0.7, 0.03, measure="f1_macro").finding == "better"


@pytest.mark.parametrize(
    ("measure", "said"),
    [("roc_auc", "its ROC AUC is"), ("f1_macro", "its macro F1 is"), ("recall", "its recall is")],
)
def test_the_verdict_calls_a_measure_by_its_title(measure, said) -> None:
    assert said in concluded(0.6, 0.7, 0.03, measure=measure).verdict


def test_an_interval_around_0_is_no_evidence() -> None:
    found = concluded(0.16, 0.14, 0.03)
    assert found.finding == "no evidence"
    assert "No evidence either way" in found.verdict
    assert "is lower by 0.020 [-0.010, 0.050]" in found.verdict


def test_a_test_that_does_not_reject_holds_the_finding_back() -> None:
    assert concluded(0.16, 0.10, 0.03, p_value=0.06).finding == "no evidence"
    assert concluded(0.16, 0.10, 0.03, p_value=0.05).finding == "better"


def test_equivalence_is_decided_by_the_interval_of_two_one_sided_tests() -> None:
    # ± .03 at 95 % is ± .0252 at 90 %: within ± .026 only by the latter.
    assert concluded(0.10, 0.10, 0.03, region=0.026).finding == "equivalent"
    assert concluded(0.10, 0.10, 0.03, region=0.025).finding == "no evidence"


def test_a_real_difference_can_be_too_small_to_matter() -> None:
    found = concluded(0.10, 0.09, 0.005, region=0.02)
    assert found.finding == "equivalent"
    assert "real, but too small to matter" in found.verdict


def test_an_undefined_measure_is_no_evidence_and_has_the_widest_interval() -> None:
    found = concluded(math.nan, 0.2, 0.01, measure="precision")
    assert found.finding == "no evidence"
    assert (found.difference.interval.low, found.difference.interval.high) == (-1.0, 1.0)
    assert "undefined" in found.verdict
    assert found.settled_by is None


def test_a_correlation_may_differ_by_two() -> None:
    found = concluded(-0.9, 0.9, 5.0, measure="matthews_correlation")
    assert (found.difference.interval.low, found.difference.interval.high) == (-2.0, 2.0)


def test_what_would_settle_it_is_worked_by_hand() -> None:
    # s = .08/(2 · 1.96) = .02041; n = 400 ((1.96 + .8416) .02041/.02)² = 3269.5…
    assert examples_to_settle(0.02, Interval(-0.02, 0.06, 0.95, "tango"), 400) == 3270
    assert examples_to_settle(0.0, Interval(-0.04, 0.04, 0.95, "tango"), 400) is None


def test_what_is_settled_needs_no_more_examples() -> None:
    assert concluded(0.16, 0.10, 0.03, settled_by=999).settled_by is None
    assert concluded(0.16, 0.14, 0.03, settled_by=999).settled_by == 999


def test_an_undefined_test_extrapolates_nothing() -> None:
    assert concluded(0.16, 0.14, 0.03, p_value=math.nan).settled_by is None


def test_sentence_and_table_write_the_ends_alike() -> None:
    found = concluded(0.10, 0.135, 0.034978)
    assert found.finding == "worse"
    assert str(found.difference.interval) == "[2.20e-05, 0.070] at 95 %"
    assert "higher by 0.035 [2.20e-05, 0.070]" in found.verdict


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (concluded(0.16, 0.10, 0.03), "better"),
        (concluded(0.10, 0.16, 0.03), "worse"),
        (concluded(0.10, 0.09, 0.005, region=0.02), "equivalent"),
        (concluded(0.16, 0.14, 0.03), "no_evidence"),
        (concluded(math.nan, 0.2, 0.01, measure="precision"), "undefined"),
    ],
)
def test_the_verdict_has_the_code_of_its_conclusion(found, code) -> None:
    assert found.verdict.code == code


def test_the_caveat_of_refits_keeps_the_code() -> None:
    found = with_refit_caveat(concluded(0.16, 0.14, 0.03))
    assert found.verdict.endswith("compare them again then.")
    assert found.verdict.code == "no_evidence"
    settled = concluded(0.16, 0.10, 0.03)
    assert with_refit_caveat(settled) is settled


def test_a_region_larger_than_what_is_seen_is_planned_for() -> None:
    seen, region = concluded(0.10, 0.107, 0.03), concluded(0.10, 0.107, 0.03, region=0.02)
    interval = region.difference.interval
    assert region.settled_by == examples_to_settle(0.02, interval, 400) < seen.settled_by
    assert "a difference of 0.02, the smallest that matters" in region.verdict
    nothing = concluded(0.10, 0.10, 0.03, region=0.02)
    assert nothing.settled_by == examples_to_settle(0.02, nothing.difference.interval, 400)


@given(
    first=st.floats(0, 1),
    second=st.floats(0, 1),
    half=st.floats(0, 0.5),
    region=st.none() | st.floats(0.001, 0.5),
)
@settings(max_examples=60)
def test_swapping_the_models_swaps_the_finding(first, second, half, region) -> None:
    one = concluded(first, second, half, region=region)
    other = concluded(second, first, half, region=region)
    swapped = {"better": "worse", "worse": "better"}
    assert other.finding == swapped.get(one.finding, one.finding)
    assert other.difference.value == pytest.approx(-one.difference.value)
    interval = one.difference.interval
    assert -1 <= interval.low <= one.difference.value <= interval.high <= 1
    assert other.difference.interval.low == pytest.approx(-interval.high)
    assert other.settled_by == one.settled_by


@pytest.mark.parametrize(
    ("is_equivalent", "is_different", "improves", "finding"),
    [
        (False, True, True, "better"),
        (False, True, False, "worse"),
        (False, False, True, "no evidence"),
        (True, True, True, "equivalent"),
        (True, False, False, "equivalent"),
    ],
)
def test_equivalence_comes_before_a_difference(is_equivalent, is_different, improves, finding):
    decided = decide(is_equivalent=is_equivalent, is_different=is_different, improves=improves)
    assert decided == finding


def test_the_planned_difference_is_the_larger_of_the_one_seen_and_the_region():
    assert (planned_difference(-0.007, 0.02), planned_difference(-0.05, 0.02)) == (0.02, 0.05)
    assert planned_in_words(-0.007, 0.02) == "of 0.02, the smallest that matters"
    assert planned_in_words(-0.007, None) == "as large as the one seen"


def test_growth_to_settle_by_hand():
    assert growth_to_settle(1.4, 0.95) == pytest.approx(((1.959964 + 0.841621) / 1.4) ** 2)


def test_the_ends_and_the_test_are_the_normal_ones():
    low, high = Spread(0.02).ends(0.05, 0.9)
    assert (low, high) == pytest.approx(norm.interval(0.9, 0.05, 0.02))
    assert Spread(0.02).p_value(-0.05) == pytest.approx(2 * norm.sf(2.5))


def test_few_degrees_of_freedom_widen_the_interval_to_that_of_student():
    assert Spread(0.02, 4.0).ends(0.05, 0.95) == pytest.approx(t.interval(0.95, 4, 0.05, 0.02))
    assert Spread(0.02, 4.0).p_value(0.05) == pytest.approx(2 * t.sf(2.5, 4))


@settings(max_examples=30, deadline=None)
@given(value=values, error=st.floats(1e-3, 1.0), degrees=st.sampled_from([2.0, 30.0, math.inf]))
def test_zero_leaves_the_interval_at_one_less_the_p_value(value, error, degrees):
    spread = Spread(error, degrees)
    p_value = spread.p_value(value)
    if 1e-9 < p_value < 1 - 1e-9:
        nearest = min(spread.ends(value, 1 - p_value), key=abs)
        assert nearest == pytest.approx(0, abs=1e-6)


def test_without_a_standard_error_nothing_is_said():
    assert Spread(math.nan).ends(0.1, 0.95) == (-math.inf, math.inf)
    assert math.isnan(Spread(math.nan).p_value(0.1))
    assert math.isnan(Spread(0.1).p_value(math.nan))


def test_no_difference_has_a_p_value_of_one_whatever_is_known():
    assert Spread(math.nan).p_value(0.0) == Spread(0.0).p_value(0.0) == 1.0


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_without_any_spread_the_interval_is_about_that_of_no_discordant_pair(level):
    expected = paired_difference_ends(3000, 0, 0, 2000, level=level)
    assert without_spread(0.0, 5000, method="").ends_at(level) == pytest.approx(expected, rel=0.7)


def test_without_any_spread_the_bound_is_exact_and_scales_with_the_range():
    low, high = without_spread(0.0, 50, method="", width=2.0).ends_at(0.95)
    assert (1 - high / 2) ** 50 == pytest.approx(0.025)
    assert low == -high
    # From a difference of 0.3 a unit can be off by 1.3 downwards and by 0.7 upwards.
    low, high = without_spread(0.3, 50, method="").ends_at(0.95)
    assert (1 - (0.3 - low) / 1.3) ** 50 == pytest.approx(0.025)
    assert (1 - (high - 0.3) / 0.7) ** 50 == pytest.approx(0.025)


def test_an_unbounded_measure_without_spread_is_never_certain():
    same = without_spread(0.1, 50, method="paired_mean", width=math.inf)
    assert same.ends_at(0.95) == (-math.inf, math.inf)
    assert same.p_value == 1.0


def test_a_standard_error_within_rounding_counts_as_none():
    assert Spread(3e-16).ends(0.0, 0.95) == (-math.inf, math.inf)
    assert Spread(3e-16, scale=1e-6).is_known
    assert Spread(0.0, scale=0.0).is_zero


def test_degrees_of_freedom_do_not_depend_on_the_size_of_the_variance():
    strata, size = np.array([0, 0, 1]), np.array([8.0, 3.0, 9.0])
    expected = satterthwaite(np.array([0.2, 0.1, 0.3]), strata, size)
    for factor in (1e-200, 1e200):
        scaled = satterthwaite(factor * np.array([0.2, 0.1, 0.3]), strata, size)
        assert scaled == pytest.approx(expected)


def test_what_is_undetermined_has_an_open_interval_and_no_test():
    outcome = undetermined("corrected_t", "no spread")
    assert outcome.ends_at(0.95) == (-math.inf, math.inf)
    assert math.isnan(outcome.p_value)


@settings(max_examples=30, deadline=None)
@given(value=values.filter(lambda value: abs(value) < 0.999), units=st.integers(1, 50))
def test_the_test_without_spread_inverts_its_interval(value, units):
    outcome = without_spread(value, units, method="")
    if 1e-9 < outcome.p_value < 1 - 1e-9:
        ends = outcome.ends_at(1 - outcome.p_value)
        assert min(ends, key=abs) == pytest.approx(0, abs=1e-6)


def test_the_largest_difference_without_spread_is_a_sign_test():
    assert without_spread(1.0, 3, method="").p_value == 2 / 2**3


def test_influences_are_squared_and_added():
    influences = np.array([0.1, 0.2, -0.3, 0.1])
    alone = spread_of_influences(influences)
    assert alone.error == pytest.approx(math.sqrt(4 / 3 * 0.15))
    assert alone.degrees == math.inf
    assert not spread_of_influences(np.array([0.1])).is_known


def test_groups_are_left_out_in_turn():
    # d = 0.1, without each group 0.05, 0.1, 0.15: √(⅔ · 0.005), and no more than two degrees.
    spread = spread_of_groups(0.1, np.array([0.05, 0.1, 0.15]), 3.0)
    assert (spread.error, spread.degrees) == (pytest.approx(math.sqrt(0.01 / 3)), 2.0)


@pytest.mark.parametrize("without", [[0.1, 0.2], [0.1, math.nan, 0.2]], ids=["two", "undefined"])
def test_too_few_groups_and_undefined_differences_bound_nothing(without):
    assert not spread_of_groups(0.1, np.array(without), 3.0).is_known
