import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.intervals.delta import normal_interval
from truerisk.intervals.resampled_tests import (
    ConservativeZRuns,
    conservative_z_interval,
    corrected_standard_error,
    rho_based_deviation,
)


def test_the_corrected_standard_error_by_hand():
    # Mean .02; squares .0001 + .0009 + .0004 + 0 = .0014; s² = .0014/3; · (1/4 + 1/3)
    error = corrected_standard_error([0.03, -0.01, 0.04, 0.02], 1 / 3)
    assert error == pytest.approx(math.sqrt(0.0014 / 3 * 7 / 12))
    for value in (0.0, 0.1):
        assert corrected_standard_error([value] * 10, 1 / 9) == 0


RUNS = ConservativeZRuns(n=41, test=4, subsamples=3, divisions=5, seed=1)

shares = st.floats(0, 1)
levels = st.sampled_from([0.5, 0.8, 0.95, 0.999])


def test_the_interval_by_hand():
    # Means of the halves: .2 and .3, .3 and .1; (.01 + .04)/(2 · 2) = .0125; mean .25.
    halves = [[[0.1, 0.3], [0.3, 0.3]], [[0.2, 0.4], [0.0, 0.2]]]
    found = conservative_z_interval([0.2, 0.3], halves)
    half = 1.959964 * math.sqrt(0.0125)
    assert [found.low, found.high] == pytest.approx([0.25 - half, 0.25 + half], abs=1e-6)
    assert found.method == "conservative_z"
    of_means = conservative_z_interval([0.2, 0.3], [[0.2, 0.3], [0.3, 0.1]])
    assert [of_means.low, of_means.high] == pytest.approx([found.low, found.high])


def test_it_is_cut_at_the_range_of_the_measure():
    assert conservative_z_interval([0.1], [[0.0, 0.5]]).low == 0
    assert conservative_z_interval([0.1], [[0.0, 0.5]], measure_range=(-1, 1)).low < 0


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(shares, min_size=1, max_size=8),
    halves=st.lists(st.tuples(shares, shares), min_size=1, max_size=8),
    level=levels,
)
def test_it_keeps_the_laws_of_intervals(values, halves, level):
    found = conservative_z_interval(values, halves, level=level)
    if found is None:
        return
    assert 0 <= found.low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= found.high <= 1
    wider = conservative_z_interval(values, halves, level=(1 + level) / 2)
    assert wider.low <= found.low <= found.high <= wider.high
    turned = [second[::-1] for second in halves[::-1]]
    mixed = conservative_z_interval(values[::-1], turned, level=level)
    assert [mixed.low, mixed.high] == pytest.approx([found.low, found.high], abs=1e-9)


def test_halves_that_never_differ_have_no_interval():
    assert conservative_z_interval([0.2, 0.3], [[0.2, 0.2], [0.3, 0.3]]) is None
    assert conservative_z_interval([0.2], [[[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]]) is None


def test_the_variance_is_without_bias_for_half_the_examples():
    # A rule that does not learn: a half's mean over all its 50 losses has the variance p(1 − p)/50.
    rng = np.random.default_rng(1)
    squares = []
    for _ in range(800):
        losses = rng.random(100) < 0.3
        halves = [np.split(rng.permutation(losses).astype(float), 2) for _ in range(4)]
        found = conservative_z_interval([0.5], np.array(halves), measure_range=(-9, 9))
        squares.append(0 if found is None else (found.width / 2 / 1.959964) ** 2)
    assert np.mean(squares) == pytest.approx(0.3 * 0.7 / 50, rel=0.1)


def test_the_runs_train_and_try_on_different_examples_of_one_part():
    assert len(RUNS) == 3 * (1 + 2 * 5)
    for at in range(len(RUNS)):
        train, test = RUNS.train_and_test(at)
        assert len(test) == 4
        assert len(train) == (37 if at < 3 else 16)
        assert not set(train) & set(test)


def test_the_halves_of_a_division_share_nothing_and_stay_the_same():
    def members(at):
        return frozenset(np.concatenate(RUNS.train_and_test(at)).tolist())

    for division in range(5):
        at = 3 + 6 * division
        first, second = members(at), members(at + 3)
        assert first == members(at + 1) == members(at + 2)
        assert second == members(at + 4) == members(at + 5)
        assert not first & second
        assert len(first) == len(second) == 20
    assert members(3) != members(9)


def test_a_run_depends_on_its_number_and_the_seed_alone():
    again = pickle.loads(pickle.dumps(RUNS))  # noqa: S301  (our own)
    other = ConservativeZRuns(n=41, test=4, subsamples=3, divisions=5, seed=2)
    for at in (0, 1, 7):
        assert np.array_equal(RUNS.train_and_test(at)[1], again.train_and_test(at)[1])
        assert not np.array_equal(RUNS.train_and_test(at)[1], other.train_and_test(at)[1])
    assert not np.array_equal(RUNS.train_and_test(0)[1], RUNS.train_and_test(1)[1])


@pytest.mark.parametrize("rare", [0, 3], ids=["no strata", "three of a rare class"])
def test_every_example_is_tried_equally_often(rare):
    strata = (np.arange(20) < rare).astype(np.intp)
    runs = ConservativeZRuns(n=20, test=3, subsamples=4000, divisions=1, seed=3, strata=strata)
    tried = np.bincount(np.concatenate([runs.train_and_test(at)[1] for at in range(4000)]))
    assert tried / 4000 == pytest.approx(np.full(20, 3 / 20), abs=0.025)


def test_with_strata_each_part_has_its_share_of_each_class():
    strata = (np.arange(100) % 5 == 0).astype(np.intp)
    runs = ConservativeZRuns(n=100, test=10, subsamples=2, divisions=3, seed=1, strata=strata)
    for at in range(len(runs)):
        train, test = runs.train_and_test(at)
        assert strata[test].sum() in {1, 2, 3}
        assert strata[train].sum() + strata[test].sum() == (20 if at < 2 else 10)


def test_a_run_has_a_name_and_the_values_are_arranged():
    assert RUNS.name(2) == "subsample 3"
    assert RUNS.name(3) == "subsample 1 of half 1 of division 1"
    assert RUNS.name(32) == "subsample 3 of half 2 of division 5"
    whole, halves = RUNS.arrange(np.arange(33) / 33)
    assert whole.tolist() == [0, 1 / 33, 2 / 33]
    assert halves.shape == (5, 2, 3)
    assert halves[4, 1, 2] == 32 / 33


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ConservativeZRuns(n=20, test=9, seed=1), r"`test` must lie in \[1, 8\]; got 9"),
        (
            lambda: ConservativeZRuns(n=20, test=2, seed=1, strata=np.zeros(3, np.intp)),
            "`strata` must have 20 examples; got 3",
        ),
        (lambda: RUNS.arrange([0.1]), "`values` must be 33, one per refit; got 1"),
        (lambda: conservative_z_interval([0.1], [[0.1, 0.2, 0.3]]), "divisions × 2 × subsamples"),
        (lambda: conservative_z_interval([math.nan], [[0.1, 0.2]]), "must all be defined"),
    ],
    ids=["test", "strata", "values", "halves", "nan"],
)
def test_slips_of_the_conservative_z_are_reported(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_variance_is_that_of_evenly_correlated_values():
    values, test, train = [0.1, 0.3, 0.2, 0.6], 20, 60
    rho = test / (test + train)
    variance = (0.2**2 + 0.0**2 + 0.1**2 + 0.3**2) / 3  # around .3
    expected = math.sqrt((1 / 4 + rho / (1 - rho)) * variance)
    assert rho_based_deviation(values, test=test, train=train) == pytest.approx(expected, rel=1e-12)


def test_it_is_without_bias_where_the_correlation_is_the_share_of_test_examples():
    # v_j = a + e_j with variances ρ and 1 − ρ: the mean of J has variance ρ + (1 − ρ)/J.
    rho, refits = 0.2, 8
    rng = np.random.default_rng(0)
    values = math.sqrt(rho) * rng.normal(size=(20_000, 1))
    values = values + math.sqrt(1 - rho) * rng.normal(size=(20_000, refits))
    found = [rho_based_deviation(row, test=1, train=4) ** 2 for row in values[:4000]]
    assert np.mean(found) == pytest.approx(values.mean(axis=1).var(), rel=0.03)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.integers(1, 50), st.integers(1, 50))
def test_more_test_examples_make_it_larger_and_equal_values_make_it_nothing(values, test, train):
    first = rho_based_deviation(values, test=test, train=train)
    second = rho_based_deviation(values, test=test + 1, train=train)
    assert second >= first >= 0
    assert rho_based_deviation([values[0]] * 3, test=test, train=train) == 0


def test_the_normal_interval_is_cut_off_where_the_measure_ends():
    found = normal_interval(0.1, 0.1, level=0.9, method="x")
    assert (found.low, found.level, found.method) == (0.0, 0.9, "x")
    assert found.high == pytest.approx(0.1 + 0.1 * 1.6448536269514722, rel=1e-12)


@pytest.mark.parametrize("values", [[0.1], [[0.1, 0.2]], [0.1, math.nan]])
def test_too_few_or_broken_values_are_refused(values):
    with pytest.raises(InputError, match="`values` must be at least two finite numbers"):
        rho_based_deviation(values, test=1, train=4)


def test_a_deviation_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="`deviation` must be a finite number; got nan"):
        normal_interval(0.1, math.nan, level=0.95, method="x")
