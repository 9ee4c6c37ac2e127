import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import beta

from truerisk.errors import InputError
from truerisk.intervals.agreement import (
    VARIANTS,
    agreement,
    agreement_interval,
)
from truerisk.intervals.binomial import binomial_interval

levels = st.sampled_from([0.5, 0.8, 0.95, 0.999])


def zero_one(repetitions, examples):
    shape = st.tuples(repetitions, examples)
    return shape.flatmap(
        lambda both: arrays(np.float64, both, elements=st.sampled_from([0.0, 1.0]))
    )


tables = zero_one(st.integers(2, 6), st.integers(2, 30))


def as_written(losses, level):
    """The rule as the method is written down, word by word, for whole tables of 0 and 1."""
    repetitions, n = losses.shape
    q = losses.mean(axis=0)
    p = q.mean()
    u = 0.0
    if 0 < p < 1:
        u = min(1.0, repetitions / (repetitions - 1) * np.mean(q * (1 - q)) / (p * (1 - p)))
    m = n / (1 + u)
    x = m * p
    tail = (1 - level) / 2
    low = beta.ppf(tail, x, m - x + 1) if x > 0 else 0.0
    high = beta.ppf(1 - tail, x + 1, m - x) if x < m else 1.0
    return u, low, high


def test_a_small_table_worked_by_hand():
    # q = 0, 1, ½, 1: p = 5/8, p(1 − p) = 15/64; 2/1 · (1/4)/4 = 1/8; u = (1/8)(64/15) = 8/15.
    losses = [[0, 1, 0, 1], [0, 1, 1, 1]]
    assert agreement(losses).disagreement == pytest.approx(8 / 15, abs=1e-15)
    # m = 4/(23/15) = 60/23, x = 5/8 · 60/23 = 75/46
    interval = agreement_interval(losses)
    assert interval.low == pytest.approx(beta.ppf(0.025, 75 / 46, 45 / 46 + 1), abs=1e-9)
    assert interval.high == pytest.approx(beta.ppf(0.975, 75 / 46 + 1, 45 / 46), abs=1e-9)
    assert (interval.level, interval.method) == (0.95, "agreement")


def test_jeffreys_counts_the_disagreement_twice():
    # m = 4/(1 + 16/15) = 60/31, x = 75/62
    interval = agreement_interval([[0, 1, 0, 1], [0, 1, 1, 1]], method="agreement_jeffreys")
    assert interval.low == pytest.approx(beta.ppf(0.025, 75 / 62 + 0.5, 45 / 62 + 0.5), abs=1e-9)
    assert interval.high == pytest.approx(beta.ppf(0.975, 75 / 62 + 0.5, 45 / 62 + 0.5), abs=1e-9)
    assert interval.method == "agreement_jeffreys"


def test_damped_counts_most_where_half_of_the_variance_is_disagreement():
    # u = 8/15: 5/4 · 8/15 · 7/15 = 14/45, m = 4 · 45/59 = 180/59, x = 5/8 of it = 112.5/59
    interval = agreement_interval([[0, 1, 0, 1], [0, 1, 1, 1]], method="agreement_damped")
    shapes = 112.5 / 59 + 0.5, 67.5 / 59 + 0.5
    assert interval.low == pytest.approx(beta.ppf(0.025, *shapes), abs=1e-9)
    assert interval.high == pytest.approx(beta.ppf(0.975, *shapes), abs=1e-9)
    assert interval.method == "agreement_damped"
    # Full and no agreement are worth n examples.
    for losses in ([[0, 1, 0, 1]] * 2, [[0, 1, 0, 1], [1, 0, 1, 0]]):
        assert agreement(losses).size(method="agreement_damped") == 4


@settings(max_examples=60, deadline=None)
@given(losses=tables, level=levels)
def test_it_is_the_rule_as_written(losses, level):
    u, low, high = as_written(losses, level)
    found = agreement_interval(losses, level=level)
    assert agreement(losses).disagreement == pytest.approx(u, abs=1e-12)
    assert [found.low, found.high] == pytest.approx([low, high], abs=1e-8)


@settings(max_examples=40, deadline=None)
@given(losses=tables, level=levels, seed=st.integers(0, 99))
def test_it_lies_in_the_range_contains_the_value_and_grows_with_the_level(losses, level, seed):
    for method in VARIANTS:
        found = agreement_interval(losses, level=level, method=method)
        assert 0 <= found.low <= losses.mean() + 1e-12
        assert losses.mean() - 1e-12 <= found.high <= 1
        wider = agreement_interval(losses, level=(1 + level) / 2, method=method)
        assert wider.low <= found.low <= found.high <= wider.high
        order = np.random.default_rng(seed).permutation(losses.shape[1])
        mixed = agreement_interval(losses[::-1, order], level=level, method=method)
        assert [mixed.low, mixed.high] == pytest.approx([found.low, found.high], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(losses=tables)
def test_accuracy_mirrors_error(losses):
    error, accuracy = agreement_interval(losses), agreement_interval(1 - losses)
    assert [accuracy.low, accuracy.high] == pytest.approx([1 - error.high, 1 - error.low], abs=1e-9)


def test_full_agreement_is_the_exact_binomial():
    once = np.arange(40) < 7
    found = agreement_interval(np.tile(once, (5, 1)))
    exact = binomial_interval(7, 40)
    assert agreement(np.tile(once, (5, 1))).disagreement == 0
    assert [found.low, found.high] == pytest.approx([exact.low, exact.high], abs=1e-12)


def test_no_agreement_beyond_chance_halves_the_examples():
    # Each example is wrong in one of two repetitions: q = p = ½ and u = 2 > 1, cut to 1.
    losses = np.array([[0, 1] * 10, [1, 0] * 10])
    assert agreement(losses).disagreement == 1
    found, half = agreement_interval(losses), binomial_interval(5, 10)
    assert [found.low, found.high] == pytest.approx([half.low, half.high], abs=1e-12)


@pytest.mark.parametrize("loss", [0, 1])
def test_where_all_are_right_or_all_wrong_nothing_disagrees(loss):
    losses = np.full((5, 30), loss)
    assert agreement(losses).disagreement == 0
    exact = binomial_interval(30 * loss, 30)
    found = agreement_interval(losses)
    assert [found.low, found.high] == pytest.approx([exact.low, exact.high], abs=1e-12)


def test_one_repetition_cannot_disagree_and_says_binomial():
    losses = np.arange(40) < 7
    assert agreement(losses).disagreement is None
    found, exact = agreement_interval(losses), binomial_interval(7, 40)
    assert found.method == "binomial"
    assert [found.low, found.high] == pytest.approx([exact.low, exact.high], abs=1e-12)


def test_ragged_judgements_worked_by_hand():
    # Example 1 judged three times (1, 0, 1), example 2 twice (0, 0), example 3 once (1).
    losses = [[1, 0, np.nan], [0, np.nan, np.nan], [1, 0, 1]]
    found = agreement(losses)
    # q = 2/3, 0, 1: p = 5/9.  Variances 1/3 and 0 of those judged twice: u = (1/6)/(20/81) = .675.
    assert found.value == pytest.approx(5 / 9)
    assert found.n == 3
    assert found.disagreement == pytest.approx(0.675)
    assert found.size() == pytest.approx(3 / 1.675)


def test_an_example_that_nobody_judged_is_as_if_it_were_not_there():
    rng = np.random.default_rng(1)
    losses = (rng.random((5, 30)) < 0.3).astype(float)
    more = np.concatenate([losses, np.full((5, 3), np.nan)], axis=1)
    assert agreement(more) == agreement(losses)
    assert agreement_interval(more, groups=[*range(15)] * 2 + [99] * 3) == agreement_interval(
        losses, groups=[*range(15)] * 2
    )


def test_counted_leaves_examples_out_of_the_denominator():
    # Called positive (counted) and wrong: repetition 1 has 1 of 3, repetition 2 has 1 of 2.
    losses = [[1, 0, 0, 0], [1, 0, 0, 0]]
    counted = [[1, 1, 1, 0], [1, 0, 1, 0]]
    found = agreement(losses, counted=counted)
    assert found.value == pytest.approx(2 / 5)
    assert found.n == pytest.approx(2.5)
    # z is .6, .6 for example 1; −.4, 0 for example 2: variance .08; −.4, −.4; 0, 0.
    assert found.disagreement == pytest.approx(0.08 / (2.5 * 0.24))


def test_nothing_counted_leaves_all_open():
    found = agreement_interval([[0, 1], [1, 0]], counted=np.zeros((2, 2)))
    assert (found.low, found.high, found.method) == (0.0, 1.0, "undefined")
    assert np.isnan(agreement([[np.nan, np.nan]]).value)


def test_groups_of_one_are_no_groups():
    rng = np.random.default_rng(2)
    losses = rng.random((5, 40)) < 0.3
    assert agreement_interval(losses, groups=np.arange(40)) == agreement_interval(losses)


def test_groups_worked_by_hand():
    # p = ½, z = ±½.  Group sums: (1, 0, −1) and (1, −1, 0).
    losses = [[1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 0, 1]]
    found = agreement(losses, groups=["a", "a", "b", "b", "c", "c"])
    # Mean squares 1, ½, ½ sum to 2; times 3/2, over n p(1 − p) = 1.5: spread 2.
    assert found.spread == pytest.approx(2.0)
    # Variances over the repetitions 0, ½, ½: u = 1/2.
    assert found.disagreement == pytest.approx(0.5)
    assert found.groups == 3
    # t₂ over z at 95 %: 4.302653/1.959964, squared 4.819217: 6 / (2 · 4.819217 · 1.5)
    assert found.size() == pytest.approx(6 / (2 * 4.819217 * 1.5), rel=1e-6)
    assert agreement_interval(losses, groups=list("aabbcc")).method == "cluster_agreement"


def test_copies_of_an_example_add_nothing():
    rng = np.random.default_rng(3)
    losses = rng.random((5, 400)) < np.where(rng.random(400) < 0.3, 0.8, 0.02)
    once = agreement_interval(losses)
    copied = agreement_interval(np.repeat(losses, 3, axis=1), groups=np.repeat(np.arange(400), 3))
    assert copied.width == pytest.approx(once.width, rel=0.01)
    assert agreement_interval(np.repeat(losses, 3, axis=1)).width < 0.6 * once.width


def test_groups_without_an_error_are_worth_one_example_each():
    found = agreement_interval(np.zeros((5, 60)), groups=np.arange(60) // 3)
    assert found.high == pytest.approx(binomial_interval(0, 20).high, abs=1e-12)


def test_half_a_group_stands_for_the_whole():
    # Two groups of two alike; in the second repetition only one of each is judged.
    losses = [[1, 1, 0, 0], [1, np.nan, 0, np.nan]]
    found = agreement(losses, groups=[0, 0, 1, 1])
    assert found.disagreement == 0
    assert found.spread == pytest.approx(2 * 2 / 1)  # (1 + 1) · 2/1 over 4 · ¼


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: agreement([[0, 2]]), r"`losses` must lie in \[0, 1\]; got 2.0"),
        (lambda: agreement([[]]), "`losses` must be a table of repetitions by examples; got 1 × 0"),
        (lambda: agreement([[0, 1]], counted=[[1]]), "`counted` must be 1 × 2 as `losses` is"),
        (lambda: agreement([[0, 1]], groups=[1]), "each of 2 examples; got 1"),
        (lambda: agreement([[0, 1]], groups=[1, 1]), "at least two groups; got 1"),
        (lambda: agreement_interval([[0, 1]], level=95), "Write 0.95 for 95 %"),
        (lambda: agreement_interval([[0, 1]], method="t"), "`method` must be one of agreement"),
    ],
    ids=["range", "empty", "counted", "groups", "one group", "level", "method"],
)
def test_slips_are_told(call, message):
    with pytest.raises(InputError, match=message):
        call()
