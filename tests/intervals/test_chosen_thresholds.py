import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from truerisk.intervals.chosen_thresholds import (
    accepted_for,
    at_most,
    kept_by_order,
    kept_in_sequence,
    level_after_choice,
    sequence_starts,
    times_needed,
)

ROWS = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8)), min_size=1, max_size=40)


def test_of_60_positives_one_may_be_missed_where_recall_090_is_promised_at_95_percent():
    # .9⁶⁰ = .0018, + 60·.1·.9⁵⁹ = .0138, + 1770·.01·.9⁵⁸ = .0530 > .05
    assert kept_by_order([0, 1, 2], 60, 0.1, 0.05).tolist() == [True, True, False]
    assert at_most(np.array([1.0, 2.0]), np.full(2, 60.0), 0.1) == pytest.approx(
        [0.0138, 0.0530], abs=5e-5
    )


def test_59_examples_without_error_are_the_fewest_for_5_percent():
    # .95⁵⁹ = .0485, .95⁵⁸ = .0510
    assert accepted_for(0, 0.05, 0.05) == 59
    assert accepted_for(0, 0.05, 0.05, most=40) == 40


@given(st.integers(0, 30), st.floats(0.01, 0.5), st.floats(0.001, 0.2))
def test_the_fewest_examples_pass_and_one_less_does_not(errors, rate, delta):
    n = accepted_for(errors, rate, delta)
    assert binom.cdf(errors, n, rate) <= delta * (1 + 1e-9)
    assert n == errors + 1 or binom.cdf(errors, n - 1, rate) > delta * (1 - 1e-9)


@given(st.integers(1, 80), st.floats(0.02, 0.6), st.floats(0.01, 0.3))
def test_order_statistics_break_their_promise_with_at_most_delta_exactly(n, rate, delta):
    # U of the first threshold that is not kept: the (k + 1)-th of n uniform numbers.
    kept = kept_by_order(np.arange(n + 1), n, rate, delta)
    k = int(kept.sum()) - 1
    assert kept.tolist() == sorted(kept.tolist(), reverse=True)
    if k >= 0:
        # broken if fewer than k + 1 of the numbers lie under `rate`
        assert binom.cdf(k, n, rate) <= delta + 1e-12


@given(ROWS, st.floats(0.05, 0.5), st.floats(0.01, 0.4), st.floats(0.1, 1.0))
def test_order_statistics_keep_less_at_a_higher_level(rows, rate, delta, part):
    errors = np.cumsum([wrong for _, wrong in rows])
    n = int(errors[-1]) + 5
    more, fewer = (kept_by_order(errors, n, rate, one) for one in (delta, delta * part))
    assert not np.any(fewer & ~more)


def test_a_sequence_worked_by_hand():
    # One start: rank 4, as ¾·¾·¾ = .42 ≤ .45 for three right ones above it; 2 errors would need 7.
    assert sequence_starts(5, 0.25, 0.45) == ((4, 0.45),)
    accepted = np.arange(1, 7)
    tails = binom.cdf([0, 0, 0, 0, 0, 1], accepted, 0.25)
    assert (tails <= 0.45).tolist() == [False, False, True, True, True, False]
    kept = kept_in_sequence(accepted[:5], [0] * 5, 0.25, 0.45)
    assert kept.tolist() == [False, False, False, True, True]
    # An error above the start fails it, and what comes after is not tested.
    assert not kept_in_sequence(accepted[:5], [1] * 5, 0.25, 0.45).any()


def test_a_sequence_that_fails_begins_again_at_the_next_start():
    starts = sequence_starts(150, 0.1, 0.05)
    assert [share for _, share in starts] == pytest.approx(0.05 / np.array([1, 2, 3]) * 6 / 11)
    accepted = np.arange(1, 151)
    errors = (accepted >= 40).astype(int)  # one error after the first start
    kept = kept_in_sequence(accepted, errors, 0.1, 0.05)
    first, second, _ = (rank for rank, _ in starts)
    alone = binom.cdf(errors, accepted, 0.1)
    assert kept[first - 1 : 39].all()
    assert not kept[39 : second - 1].any()
    assert kept[second - 1 :].all()
    assert alone[second - 1] <= starts[1][1]


def test_a_sequence_that_arrives_at_a_start_adds_its_share():
    (_, first), (second, share), (third, _) = sequence_starts(150, 0.1, 0.05)
    accepted = np.arange(1, 151)
    sizes = np.arange(second, third)
    tails = binom.cdf(3, sizes, 0.1)  # three errors at once
    size = int(sizes[(tails > first) & (tails <= first + share)][0])
    kept = kept_in_sequence(accepted, np.where(accepted >= size, 3, 0), 0.1, 0.05)
    assert kept[size - 1]
    # With an error before, the sequence begins anew at the second start, and has its share only.
    late = np.where(accepted >= size, 3, np.where(accepted >= 30, 1, 0))
    assert not kept_in_sequence(accepted, late, 0.1, 0.05)[size - 1]


@given(st.integers(0, 40), st.floats(0.005, 0.5), st.floats(0.001, 0.3))
def test_a_start_fails_where_those_above_it_have_too_many_errors(errors, rate, delta):
    # Then its own example need not be left out of its test.
    above = accepted_for(errors, rate, delta)
    assert binom.cdf(errors + 1, above + 1, rate) > delta


def test_without_enough_examples_nothing_is_kept():
    assert sequence_starts(20, 0.1, 0.05) == ()
    assert not kept_in_sequence(np.arange(1, 21), np.zeros(20), 0.1, 0.05).any()
    assert kept_in_sequence([], [], 0.1, 0.05).tolist() == []


@given(ROWS, st.floats(0.1, 0.6), st.floats(0.02, 0.4))
def test_what_a_sequence_keeps_passes_its_own_exact_test(rows, rate, delta):
    accepted = np.cumsum([size for size, _ in rows])
    errors = np.cumsum([min(size, wrong) for size, wrong in rows])
    kept = kept_in_sequence(accepted, errors, rate, delta)
    assert np.all(binom.cdf(errors, accepted, rate)[kept] <= delta * (1 + 1e-9))
    starts = sequence_starts(int(accepted[-1]), rate, delta)
    assert math.fsum(share for _, share in starts) <= delta * (1 + 1e-9)
    assert np.all(accepted[kept] >= min((rank for rank, _ in starts), default=0))


@pytest.mark.parametrize("ties", [1, 25])
def test_a_risk_that_is_just_too_large_everywhere_is_promised_with_at_most_delta(ties):
    # The hardest case: whatever is kept is wrong.  2,000 samples: 2.6 standard errors.
    rng = np.random.default_rng(0)
    wrong = rng.random((2000, 500)) < 0.2
    accepted = np.arange(1, 501)[ties - 1 :: ties]
    errors = np.cumsum(wrong, axis=1)[:, ties - 1 :: ties]
    broken = np.mean([kept_in_sequence(accepted, row, 0.2, 0.1).any() for row in errors])
    assert broken <= 0.1 + 2.6 * math.sqrt(0.1 * 0.9 / 2000)
    assert broken > 0.02  # a rule that promises nothing would pass, too


def test_how_many_times_as_many_examples_would_do():
    times = times_needed(2, 100, 0.05, 0.05)
    assert binom.cdf(3, 157, 0.05) <= 0.05 < binom.cdf(3, 150, 0.05)
    assert 1.5 < times < 1.6
    assert times_needed(5, 100, 0.05, 0.05) == math.inf
    assert times_needed(0, 0, 0.05, 0.05) == math.inf


def test_half_a_standard_error_is_added_on_either_side():
    assert level_after_choice(0.95) == pytest.approx(1 - 2 * 0.006948, abs=1e-5)  # Φ(−2.46)
