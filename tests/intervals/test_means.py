import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.bounds import chernoff_kl
from truerisk.intervals.means import (
    bounded_mean_interval,
    empirical_bernstein,
    gamma_ends,
    loss_interval,
)
from truerisk.tallies.losses import LossMoments, ProbabilityTally

REFERENCE = Path(__file__).parents[1] / "reference" / "holdout.json"
VECTORS = [
    pytest.param(one, id=one["id"])
    for one in json.loads(REFERENCE.read_text())["vectors"]
    if one["method"] == "log_loss"
]

values = st.lists(st.floats(0, 1), min_size=1, max_size=40)
methods = st.sampled_from(["betting", "empirical_bernstein"])


def test_three_ones_by_hand():
    # The stakes of n = 3, with variances 1/4, 0.15625 and 0.1134 before each value.
    limit = math.log(40)
    stakes = [math.sqrt(2 * limit / 3 / v) for v in (0.25, (0.25 + 0.0625) / 2, 0.3402777777 / 3)]
    interval = bounded_mean_interval(np.ones(3))
    capital = math.prod(
        1 + min(stake, 0.75 / interval.low) * (1 - interval.low) for stake in stakes
    )
    assert capital == pytest.approx(40)
    assert interval.high == 1


def test_empirical_bernstein_by_hand():
    # 0 and 1, five times each: mean 1/2, variance 5/18.
    reach = math.sqrt(2 * 5 / 18 * math.log(80) / 10) + 7 * math.log(80) / 27
    low, high = empirical_bernstein(np.repeat([0.0, 1.0], 5), 0.95)
    assert (low, high) == (pytest.approx(0.5 - reach), pytest.approx(0.5 + reach))


@given(values, methods)
def test_it_lies_in_the_range_and_holds_the_mean(sample, method):
    interval = bounded_mean_interval(np.array(sample), method=method)
    assert 0 <= interval.low <= math.fsum(sample) / len(sample) + 1e-12
    assert math.fsum(sample) / len(sample) - 1e-12 <= interval.high <= 1


@given(values, methods, st.floats(-100, 100), st.floats(0.1, 100))
def test_it_moves_with_the_range(sample, method, low, width):
    plain = bounded_mean_interval(np.array(sample), method=method)
    moved = bounded_mean_interval(
        low + width * np.array(sample), value_range=(low, low + width), method=method
    )
    assert moved.low == pytest.approx(low + width * plain.low, abs=1e-9 * (abs(low) + width))
    assert moved.high == pytest.approx(low + width * plain.high, abs=1e-9 * (abs(low) + width))


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(sample, random):
    shuffled = list(sample)
    random.shuffle(shuffled)
    assert bounded_mean_interval(np.array(shuffled)) == bounded_mean_interval(np.array(sample))


@pytest.mark.parametrize("n", [5, 40])
def test_it_covers_at_least_as_often_as_it_promises(n):
    rng = np.random.default_rng(n)
    held = [
        bounded_mean_interval(rng.beta(0.5, 0.1, n), level=0.9, random_state=at).covers(5 / 6)
        for at in range(300)
    ]
    assert np.mean(held) >= 0.9 - 2 * math.sqrt(0.09 / 300)


def test_it_is_shorter_than_empirical_bernstein():
    sample = np.random.default_rng(1).beta(4, 2, 200)
    widths = [
        bounded_mean_interval(sample, method=method).width
        for method in ("betting", "empirical_bernstein")
    ]
    assert widths[0] < 0.6 * widths[1]


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="`method` must be one of"):
        bounded_mean_interval(np.ones(3), method="hoeffding")


def ends(interval):
    return interval.low, interval.high


@pytest.mark.parametrize("vector", VECTORS)
def test_log_loss_is_that_of_the_reference(vector):
    given_, expected = vector["inputs"], vector["expected"]
    found = tr.evaluate(given_["truth"], y_score=given_["probabilities"], probabilities=True)
    assert found["log_loss"].value == pytest.approx(expected["value"])
    assert ends(found["log_loss"].interval) == pytest.approx(tuple(expected["interval"]), rel=1e-9)


def test_the_losses_worked_by_hand():
    # Probabilities ½ and ¾ of the positive class, truth 1 and 0: losses ln 2, ln 4; ¼, 9/16.
    found = tr.evaluate([1, 0], y_score=[0.5, 0.75], probabilities=True)
    widening = (stats.t.isf(0.025, 1) / stats.norm.isf(0.025)) ** 2
    shares = np.array([[0.5, 0.5], [0.75, 0.25]])
    for name, of_class in (
        ("log_loss", -np.log(shares)),
        ("brier_score", (1 - shares) ** 2),
    ):
        losses = np.array([of_class[0, 0], of_class[1, 1]])
        first, second, third = ((shares * of_class**power).sum() / 2 for power in (1, 2, 3))
        variance, implied = losses.var(ddof=1) / 2, (second - first**2) / 2
        event = losses.max() / 2
        if variance < implied:
            event = max(event, third / second / 2)
        expected = gamma_ends(
            losses.mean(), max(variance, implied / 4) * widening, event, level=0.95
        )
        high = expected[1] if name == "log_loss" else min(expected[1], 1.0)
        assert found[name].value == pytest.approx(losses.mean())
        assert ends(found[name].interval) == pytest.approx((expected[0], high), rel=1e-9), name


def test_a_calm_sample_is_not_surer_than_its_probabilities_allow():
    # All 50 right at probability .9: the losses do not vary, but one in ten should have been wrong.
    tally = ProbabilityTally().add(np.full(50, 0.9), np.ones(50, dtype=bool))
    found = loss_interval(tally.moments("log_loss"), level=0.95, measure_range=(0.0, math.inf))
    expected = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert found.low < 0.1054
    assert found.high > 0.2
    assert tally.moments("log_loss").implied[0] == pytest.approx(expected)


def test_what_cannot_vary_says_nothing_or_little():
    certain = LossMoments(0.0, 0.0, (0.0, 0.0, 0.0), 0.0, 20)
    found = loss_interval(certain, level=0.95, measure_range=(0.0, math.inf))
    assert ends(found) == (0, math.inf)
    bounded = loss_interval(certain, level=0.95, measure_range=(0.0, 2.0))
    share = chernoff_kl(0.0, 20)
    assert ends(bounded) == pytest.approx((0.0, 2 * share.high))


@pytest.mark.parametrize("loss", ["log_loss", "brier_score"])
def test_moments_of_parts_merge_exactly(loss):
    rng = np.random.default_rng(1)
    table, weight = rng.dirichlet([0.3, 1, 1], 60), rng.random(60)
    truth = rng.integers(0, 3, 60)
    whole = ProbabilityTally().add(table, truth, weight)
    order = rng.permutation(60)
    parts = [
        ProbabilityTally().add(table[one], truth[one], weight[one])
        for one in np.split(order, [7, 20])
    ]
    merged = parts[2].merge(parts[0]).merge(parts[1])
    assert merged.moments(loss) == whole.moments(loss)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=2, max_size=30),
    st.sampled_from(["log_loss", "brier_score"]),
)
def test_intervals_hold_the_mean_grow_with_the_level_and_ignore_equal_weights(rows, loss):
    probabilities, truth = map(np.array, zip(*rows, strict=True))
    plain = ProbabilityTally().add(probabilities, truth).moments(loss)
    heavy = ProbabilityTally().add(probabilities, truth, np.full(len(truth), 4.0)).moments(loss)
    limits = (0.0, math.inf if loss == "log_loss" else 1.0)
    narrow, wide, weighted = (
        loss_interval(one, level=level, measure_range=limits)
        for one, level in ((plain, 0.9), (plain, 0.99), (heavy, 0.9))
    )
    assert wide.low <= narrow.low <= plain.mean <= narrow.high <= wide.high
    assert ends(weighted) == pytest.approx(ends(narrow), rel=1e-9)


def test_a_whole_further_event_would_be_the_exact_interval_of_a_poisson_count():
    # Garwood: the quantiles of gamma(4) and gamma(5); with half an event the upper end has the
    # shape 4.5²/4.5 and the scale 1 less what the event's square adds.
    low, high = gamma_ends(4.0, 4.0, 1.0, level=0.95)
    assert low == pytest.approx(stats.gamma.ppf(0.025, 4))
    assert high == pytest.approx(stats.gamma.ppf(0.975, 4.5))
    assert high < stats.gamma.ppf(0.975, 5)


def test_nothing_seen_leaves_the_next_event():
    # Mean w/2 and variance w²/2: shape ½ and scale w.
    low, high = gamma_ends(0.0, 0.0, 0.1, level=0.95)
    assert low == 0
    assert high == pytest.approx(0.1 * stats.gamma.ppf(0.975, 0.5))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_ends_hold_the_mean(level):
    low, high = gamma_ends(0.3, 5.0, 0.01, level=level)
    assert 0 <= low <= 0.3 <= high
