import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom, binomtest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.binomial import (
    BINOMIAL,
    binomial_bounds,
    binomial_interval,
    binomial_test,
    blaker_log_odds,
    confidence_curve,
    exact_lower,
    exact_upper,
    fractional_interval,
    jeffreys,
    jeffreys_ends,
    log_probability,
    lower_bound,
    mid_p_log_odds,
    upper_bound,
)

KUBAT = [[50, 50], [40, 850]]

REFERENCE = Path(__file__).parents[1] / "reference"
VECTORS = [
    vector
    for name in ("binomial_ci", "binomial_extreme")
    for vector in json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))["vectors"]
]
EXTREME = [v for v in VECTORS if v["id"].startswith("mp50")]
levels = st.floats(0.5, 0.999)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_it_gives_the_numbers_of_others(vector):
    inputs = vector["inputs"]
    side = inputs.get("alternative", "two-sided")
    # A one-sided interval is an end of the two-sided one that leaves out the same tail.
    level = inputs["confidence"] if side == "two-sided" else 2 * inputs["confidence"] - 1
    interval = binomial_interval(inputs["x"], inputs["n"], level=level, method=vector["method"])
    low = 0.0 if side == "less" else interval.low
    high = 1.0 if side == "greater" else interval.high
    tolerance = vector["tolerance"]
    expected = pytest.approx(
        vector["expected"]["interval"], abs=tolerance.get("abs", 0.0), rel=tolerance.get("rel", 0.0)
    )
    assert [low, high] == expected


@pytest.mark.parametrize("vector", EXTREME, ids=lambda vector: vector["id"])
def test_rare_errors_are_right_to_ten_digits(vector):
    inputs = vector["inputs"]
    interval = binomial_interval(inputs["x"], inputs["n"], level=inputs["confidence"])
    assert [interval.low, interval.high] == pytest.approx(
        vector["expected"]["interval"], rel=1e-10, abs=0.0
    )


@pytest.mark.parametrize("method", BINOMIAL)
@settings(max_examples=40, deadline=None)
@given(n=st.integers(0, 10**12), share=st.floats(0, 1), level=st.floats(0.01, 1 - 1e-12))
def test_every_interval_lies_in_the_unit_interval_and_contains_the_share(method, n, share, level):
    k = round(n * share)
    interval = binomial_interval(k, n, level=level, method=method)
    assert 0 <= interval.low <= (k / n if n else 0.5) <= interval.high <= 1


@pytest.mark.parametrize("method", BINOMIAL)
@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 2000), share=st.floats(0, 1), level=levels)
def test_counting_failures_instead_mirrors_the_interval(method, n, share, level):
    k = round(n * share)
    one = binomial_interval(k, n, level=level, method=method)
    other = binomial_interval(n - k, n, level=level, method=method)
    assert [one.low, one.high] == pytest.approx([1 - other.high, 1 - other.low], abs=1e-10)


@pytest.mark.parametrize("method", [m for m in BINOMIAL if m != "wald"])
@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 500), level=levels)
def test_ends_rise_with_the_count(method, n, level):
    low, high = binomial_bounds(np.arange(n + 1), n, level=level, method=method)
    assert np.all(np.diff(low) >= -1e-12)
    assert np.all(np.diff(high) >= -1e-12)


@pytest.mark.parametrize("method", ["clopper_pearson", "blaker"])
@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 60), p=st.floats(1e-6, 1 - 1e-6), level=levels)
def test_exact_intervals_cover_at_least_as_often_as_they_promise(method, n, p, level):
    k = np.arange(n + 1)
    low, high = binomial_bounds(k, n, level=level, method=method)
    # Blaker's ends lie where the tails of both sides are even: rounding decides which side of p.
    covered = (low <= p + 1e-12) & (p - 1e-12 <= high)
    assert np.sum(binom.pmf(k, n, p)[covered]) >= level - 1e-9


def test_the_ends_of_clopper_and_pearson_by_hand():
    # No error in 10: (1 − p)¹⁰ = 0.025.  One in two: p² = 0.975 above, 1 − (1 − p)² = 0.025 below.
    assert binomial_interval(0, 10).high == pytest.approx(1 - 0.025**0.1, rel=1e-13)
    one_of_two = binomial_interval(1, 2)
    assert one_of_two.low == pytest.approx(1 - math.sqrt(0.975), rel=1e-13)
    assert one_of_two.high == pytest.approx(math.sqrt(0.975), rel=1e-13)


def test_the_ends_of_mid_p_by_hand():
    # No error in 10: ½ (1 − p)¹⁰ = 0.025.  One in two, below: p² + ½ · 2p(1 − p) = p = 0.025.
    assert binomial_interval(0, 10, method="mid_p").high == pytest.approx(1 - 0.05**0.1, rel=1e-13)
    one_of_two = binomial_interval(1, 2, method="mid_p")
    assert [one_of_two.low, one_of_two.high] == pytest.approx([0.025, 0.975], rel=1e-12)


def test_wald_by_hand():
    # 0.2 ± 1.959964 · √(0.2 · 0.8 / 100) = 0.2 ± 0.0783986
    interval = binomial_interval(20, 100, method="wald")
    assert [interval.low, interval.high] == pytest.approx([0.1216014, 0.2783986], abs=5e-8)


def test_wilson_by_hand():
    # z² = 3.841459: (0 + z²) / (10 + z²) at no error in 10
    interval = binomial_interval(0, 10, method="wilson")
    assert [interval.low, interval.high] == pytest.approx([0.0, 3.841459 / 13.841459], abs=1e-7)


def test_jeffreys_keeps_the_ends_where_nothing_or_everything_was_seen():
    assert binomial_interval(0, 20, method="jeffreys").low == 0.0
    assert binomial_interval(20, 20, method="jeffreys").high == 1.0


@pytest.mark.parametrize("method", BINOMIAL)
def test_no_trials_leave_everything_open(method):
    interval = binomial_interval(0, 0, method=method)
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_many_intervals_are_the_single_ones():
    k, n = np.array([[0, 3], [1000, 7]]), np.array([[0, 10], [10**9, 7]])
    low, high = binomial_bounds(k, n, method="mid_p")
    for at in np.ndindex(2, 2):
        single = binomial_interval(int(k[at]), int(n[at]), method="mid_p")
        assert (low[at], high[at]) == (single.low, single.high)


def test_the_interval_is_both_one_sided_bounds():
    interval = binomial_interval(20, 100, level=0.9)
    assert interval.low == pytest.approx(lower_bound(20, 100, delta=0.05), rel=1e-14)
    assert interval.high == pytest.approx(upper_bound(20, 100, delta=0.05), rel=1e-14)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 40), p=st.floats(0.01, 0.99), delta=st.floats(0.01, 0.5))
def test_one_sided_bounds_fail_at_most_as_often_as_they_say(n, p, delta):
    chance = binom.pmf(np.arange(n + 1), n, p)
    below = [upper_bound(k, n, delta=delta) < p for k in range(n + 1)]
    above = [lower_bound(k, n, delta=delta) > p for k in range(n + 1)]
    assert chance[below].sum() <= delta + 1e-9
    assert chance[above].sum() <= delta + 1e-9


def test_the_printed_lower_bound_with_k_for_k_minus_1_is_no_bound():
    n, p, delta = 20, 0.1, 0.05
    # min{p : 1 − Bin(n, k, p) ≥ δ} is the true lower bound of k + 1; at k = n it does not exist.
    printed = np.array([lower_bound(k + 1, n, delta=delta) for k in range(n)])
    chance = binom.pmf(np.arange(n), n, p)
    assert chance[printed > p].sum() > 2 * delta
    right = np.array([lower_bound(k, n, delta=delta) for k in range(n)])
    assert chance[right > p].sum() <= delta


def test_fractional_counts_lie_between_the_whole_ones():
    low, middle, high = (fractional_interval(x, 40, level=0.9) for x in (2, 2.5, 3))
    assert low.low < middle.low < high.low
    assert low.high < middle.high < high.high
    whole = binomial_interval(2, 40, level=0.9)
    assert (low.low, low.high) == (whole.low, whole.high)


@given(m=st.floats(0.001, 1e6), share=st.floats(0, 1))
@settings(max_examples=50, deadline=None)
def test_a_fractional_interval_contains_its_share(m, share):
    x = min(m * share, m)
    assert fractional_interval(x, m).covers(x / m)


def test_the_level_keeps_its_digits_next_to_one():
    # Exact tail: (1 − p)¹⁰⁰ = t, t = (1 − level) / 2
    level = 1 - 2.0**-40
    high = binomial_interval(0, 100, level=level).high
    assert high == pytest.approx(-math.expm1(math.log(2.0**-41) / 100), rel=1e-12)


def test_slips_are_told():
    with pytest.raises(InputError, match=r"`level` must lie .* got 95\. Write 0\.95 for 95 %"):
        binomial_interval(1, 2, level=95)
    with pytest.raises(InputError, match="`k` must lie between 0 and `n`"):
        binomial_interval(3, 2)
    with pytest.raises(InputError, match=r"`method` must be one of clopper_pearson.* got 'exact'"):
        binomial_interval(1, 2, method="exact")
    with pytest.raises(InputError, match="`delta` must lie strictly between 0 and 1"):
        upper_bound(1, 2, delta=0.0)
    with pytest.raises(InputError, match="`x` must lie in"):
        fractional_interval(3.0, 2.5)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 300), share=st.floats(0, 1), tail=st.floats(1e-6, 0.9))
def test_each_end_leaves_the_tail_it_should(n, share, tail):
    k = round(n * share)
    count, total = np.array([float(k)]), np.array([float(n)])
    if k > 0:
        low = exact_lower(count, total, tail)[0]
        assert binom.sf(k - 1, n, low) == pytest.approx(tail, rel=1e-9)
        middle = expit(mid_p_log_odds(count, total, min(tail, 0.49)))[0]
        mid_p = binom.sf(k, n, middle) + 0.5 * binom.pmf(k, n, middle)
        assert mid_p == pytest.approx(min(tail, 0.49), rel=1e-8)
    if k < n:
        high = exact_upper(count, total, tail)[0]
        assert binom.cdf(k, n, high) == pytest.approx(tail, rel=1e-9)


def test_nothing_and_everything_have_open_ends():
    assert exact_lower(np.array([0.0]), np.array([5.0]), 0.1)[0] == 0.0
    assert exact_upper(np.array([5.0]), np.array([5.0]), 0.1)[0] == 1.0
    assert mid_p_log_odds(np.array([0.0]), np.array([5.0]), 0.1)[0] == -np.inf


def acceptabilities(n, grid):
    """Blaker's definition, count by count (rows) and proportion by proportion (columns)."""
    counts = np.arange(n + 1)[:, np.newaxis]
    smaller = np.minimum(binom.sf(counts - 1, n, grid), binom.cdf(counts, n, grid))
    chance = binom.pmf(counts, n, grid)
    return np.array([np.sum(chance * (smaller <= row * (1 + 1e-12)), axis=0) for row in smaller])


@pytest.mark.parametrize(("n", "level"), [(1, 0.95), (5, 0.9), (12, 0.95), (30, 0.99), (47, 0.8)])
def test_the_ends_are_those_of_a_scan_of_the_definition(n, level):
    low, high = binomial_bounds(np.arange(n + 1), n, level=level, method="blaker")
    grid = np.linspace(0, 1, 4001)[1:-1]
    for k, row in enumerate(acceptabilities(n, grid)):
        accepted = grid[row > 1 - level]
        assert low[k] - 1e-9 <= accepted[0] <= low[k] + 3e-4
        assert high[k] - 3e-4 <= accepted[-1] <= high[k] + 1e-9


def test_it_lies_within_clopper_and_pearson():
    k = np.arange(201)
    low, high = binomial_bounds(k, 200, method="blaker")
    outer_low, outer_high = binomial_bounds(k, 200)
    assert np.all(outer_low <= low * (1 + 1e-12))
    assert np.all(high <= outer_high * (1 + 1e-12))
    assert np.mean(high - low) < np.mean(outer_high - outer_low)


def test_the_only_success_of_one_trial_by_hand():
    # P(X ≥ 1) = p and no opposite outcome below p = ½: the end is 1 − level itself.
    assert expit(blaker_log_odds(np.array([1.0]), np.array([1.0]), 0.05))[0] == pytest.approx(0.05)


def test_it_works_where_no_one_can_step():
    low, high = binomial_bounds([3, 1000], 10**12, method="blaker")
    outer_low, outer_high = binomial_bounds([3, 1000], 10**12)
    assert np.all((outer_low <= low) & (low < high) & (high <= outer_high))


TEST_REFERENCE = Path(__file__).parents[1] / "reference"
TEST_VECTORS = json.loads((TEST_REFERENCE / "binomial_test.json").read_text(encoding="utf-8"))[
    "vectors"
] + [
    vector
    for vector in json.loads((TEST_REFERENCE / "binomial_ci.json").read_text(encoding="utf-8"))[
        "vectors"
    ]
    if "pvalue" in vector["expected"]
]


@pytest.mark.parametrize("vector", TEST_VECTORS, ids=lambda vector: vector["id"])
def test_it_gives_the_p_values_of_others(vector):
    inputs, tolerance = vector["inputs"], vector["tolerance"]
    p_value = binomial_test(
        inputs["x"], inputs["n"], inputs["p0"], alternative=inputs["alternative"]
    )
    assert p_value == pytest.approx(
        vector["expected"]["pvalue"], rel=tolerance.get("rel", 0), abs=tolerance.get("abs", 0)
    )


@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(0, 300),
    share=st.floats(0, 1),
    p0=st.one_of(st.floats(0.001, 0.999), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    side=st.sampled_from(["two-sided", "less", "greater"]),
)
def test_it_agrees_with_scipy(n, share, p0, side):
    k = round(n * share)
    if n == 0:
        assert binomial_test(k, n, p0, alternative=side) == 1.0
        return
    expected = binomtest(k, n, p0, alternative=side).pvalue
    assert binomial_test(k, n, p0, alternative=side) == pytest.approx(expected, abs=1e-11)


def test_three_heads_of_three_by_hand():
    # ⅛ for three heads, ⅛ for three tails.
    assert binomial_test(3, 3) == pytest.approx(0.25, rel=1e-14)
    assert binomial_test(3, 3, alternative="greater") == pytest.approx(0.125, rel=1e-14)


@pytest.mark.parametrize(("j", "n", "p"), [(0, 5, 0.1), (5, 5, 0.1), (3, 7, 0.4), (480, 1000, 0.5)])
def test_a_probability_is_scipys(j, n, p):
    assert log_probability(j, n, p) == pytest.approx(binom.logpmf(j, n, p), rel=1e-11)


def test_impossible_outcomes_have_no_probability():
    assert log_probability(1, 2, 0.0) == -math.inf
    assert log_probability(2, 2, 1.0) == 0.0


def test_slips_of_the_test_are_reported():
    with pytest.raises(InputError, match="`p0` must lie in"):
        binomial_test(1, 2, 1.5)
    with pytest.raises(InputError, match="`alternative` must be one of"):
        binomial_test(1, 2, 0.5, alternative="both")


def test_precision_at_a_prior_by_hand():
    # recall 50/100, false positive rate 40/890: 0.005 / (0.005 + 0.99 · 40/890)
    found = tr.evaluate_counts(KUBAT, prior={"1": 0.01})
    assert found["precision"].value == pytest.approx(0.005 / (0.005 + 0.99 * 40 / 890), rel=1e-12)
    assert found["accuracy"].value == pytest.approx(0.01 * 0.5 + 0.99 * 850 / 890, rel=1e-12)


def test_measures_of_one_class_keep_their_exact_interval():
    found = tr.evaluate_counts(KUBAT, prior={"1": 0.01}, level=0.9)
    for name, k, n in (("recall", 50, 100), ("specificity", 850, 890)):
        exact = binomial_interval(k, n, level=0.9)
        assert found[name].value == pytest.approx(k / n, rel=1e-12)
        assert found[name].interval.low == pytest.approx(exact.low, abs=1e-9)
        assert found[name].interval.high == pytest.approx(exact.high, abs=1e-9)


def test_likelihood_ratios_do_not_depend_on_the_prior():
    ends = [
        tr.evaluate_counts(KUBAT, prior={"1": prior})["positive_likelihood_ratio"].interval
        for prior in (0.01, 0.6)
    ]
    assert ends[0].low == pytest.approx(ends[1].low, rel=1e-9)
    assert ends[0].high == pytest.approx(ends[1].high, rel=1e-9)


def precision(p1, p0, prior):
    return prior * p1 / (prior * p1 + (1 - prior) * (1 - p0))


def negative_predictive_value(p1, p0, prior):
    return (1 - prior) * p0 / ((1 - prior) * p0 + prior * (1 - p1))


def accuracy(p1, p0, prior):
    return prior * p1 + (1 - prior) * p0


def f1(p1, p0, prior):
    return 2 * prior * p1 / (prior + prior * p1 + (1 - prior) * (1 - p0))


def matthews(p1, p0, prior):
    called = prior * p1 + (1 - prior) * (1 - p0)
    spread = np.sqrt(prior * (1 - prior) * called * (1 - called))
    return prior * (1 - prior) * (p1 + p0 - 1) / spread


@pytest.mark.parametrize("measure", [precision, negative_predictive_value, accuracy, f1, matthews])
@pytest.mark.parametrize("sizes", [(5, 20), (10, 10), (20, 60), (12, 100)])
def test_it_covers_as_often_as_it_promises_summed_over_all_outcomes(measure, sizes):
    level, prior = 0.95, 0.1
    n1, n0 = sizes
    each = [
        [confidence_curve(np.full(2, k), np.full(2, n), level=level)[:, at] for k in range(n + 1)]
        for at, n in enumerate(sizes)
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = measure(np.array(each[0])[:, None], np.array(each[1])[None], prior)
    low, high = np.nanmin(values, axis=-1), np.nanmax(values, axis=-1)
    for p1 in (0.3, 0.7, 0.9, 0.98):
        for p0 in (0.6, 0.9, 0.97, 0.995):
            truth = measure(p1, p0, prior)
            chance = np.outer(
                binom.pmf(np.arange(n1 + 1), n1, p1), binom.pmf(np.arange(n0 + 1), n0, p0)
            )
            covers = (low - 1e-12 <= truth) & (truth <= high + 1e-12)
            assert (chance * covers).sum() >= level


def test_the_prior_of_the_examples_changes_no_value():
    plain = tr.evaluate_counts(KUBAT)
    same = tr.evaluate_counts(KUBAT, prior={"1": 100 / 990})
    for name, estimate in plain.estimates.items():
        assert same[name].value == pytest.approx(estimate.value, rel=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), [(0.2, 1.0), (3.0, 10.0), (117.3, 512.9), (999.5, 1000.0)])
def test_both_ends_of_one_share_are_those_of_jeffreys_interval(k, n, level):
    assert jeffreys_ends(k, n, level) == tuple(map(float, jeffreys(k, n, level)))
