import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, logit

from truerisk.errors import InputError
from truerisk.intervals.cross_validation import (
    VARIANCES,
    ConservativeZRuns,
    all_pairs,
    conservative_z_interval,
    corrected_standard_error,
    cross_validation_clt,
    nested_cells,
    nested_interval,
    nested_runs,
    rho_based_deviation,
    within_folds,
)
from truerisk.intervals.delta import normal_interval

LOSSES = [0, 0, 0, 1, 0, 1, 1, 1]
FOLDS = [0, 0, 0, 0, 1, 1, 1, 1]

designs = st.tuples(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=40), st.integers(2, 4)
).map(lambda both: (np.array(both[0] * 2), np.arange(2 * len(both[0])) % both[1]))
levels = st.sampled_from([0.5, 0.8, 0.95, 0.999])


def test_both_variances_by_hand():
    losses, folds = np.array(LOSSES, float), np.array(FOLDS)
    # About the own mean, ¼ and ¾: squares 3/4 each, over 3, mean of the two folds.
    assert within_folds(losses, folds) == pytest.approx(0.25)
    # About ½: 8 · ¼ over 8; the folds differ, and that counts here.
    assert all_pairs(losses, folds) == pytest.approx(0.25)
    assert all_pairs(np.array([0.0, 1.0, 1.0, 1.0]), folds[:4]) == pytest.approx(3 / 16)


def test_folds_that_differ_show_between_them_only():
    losses, folds = np.repeat([0.0, 1.0], 4), np.repeat([0, 1], 4)
    assert within_folds(losses, folds) == 0
    assert all_pairs(losses, folds) == 0.25
    assert cross_validation_clt(losses, folds, variance="within_folds") is None


def test_unequal_folds_weigh_by_their_size():
    # Folds of 2 and 3: variances ½ and 1/3; (2 · ½ + 3 · ⅓)/5
    losses, folds = np.array([0.0, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 1])
    assert within_folds(losses, folds) == pytest.approx(2 / 5)


def test_the_interval_by_hand():
    # se = √(¼/8) = .1767767; on the logit scale divided by p(1 − p) = ¼.
    half = 1.959964 * math.sqrt(0.25 / 8)
    ends = expit(logit(0.5) + np.array([-1, 1]) * 4 * half)
    for variance in VARIANCES:
        found = cross_validation_clt(LOSSES, FOLDS, variance=variance)
        assert [found.low, found.high] == pytest.approx(ends.tolist(), abs=1e-6)
        assert found.method == f"cross_validation_clt_{variance}"


@pytest.mark.parametrize("variance", VARIANCES)
@settings(max_examples=30, deadline=None)
@given(design=designs, level=levels, seed=st.integers(0, 99))
def test_it_keeps_the_laws_of_intervals(variance, design, level, seed):
    losses, folds = design
    found = cross_validation_clt(losses, folds, level=level, variance=variance)
    if found is None:
        return
    assert 0 <= found.low <= losses.mean() <= found.high <= 1
    wider = cross_validation_clt(losses, folds, level=(1 + level) / 2, variance=variance)
    assert wider.low <= found.low <= found.high <= wider.high
    order = np.random.default_rng(seed).permutation(losses.size)
    mixed = cross_validation_clt(losses[order], 7 - folds[order], level=level, variance=variance)
    assert [mixed.low, mixed.high] == pytest.approx([found.low, found.high], abs=1e-9)


@pytest.mark.parametrize("loss", [0.0, 0.1, 1.0])
def test_without_variance_there_is_no_interval(loss):
    for variance in VARIANCES:
        found = cross_validation_clt([loss] * 11, np.arange(11) % 5, variance=variance)
        assert found is None


def test_it_covers_the_error_of_a_rule_that_does_not_learn():
    # A constant rule has independent losses, so that the theorem is the ordinary one.
    rng = np.random.default_rng(1)
    folds = np.arange(400) % 10
    covered = [
        cross_validation_clt(rng.random(400) < 0.3, folds, variance="within_folds").covers(0.3)
        for _ in range(1000)
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 1000))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_validation_clt([0, 1, 2], [0, 0, 1]), r"must lie in \[0, 1\]; got 2.0"),
        (lambda: cross_validation_clt([0, np.nan], [0, 1]), r"must lie in \[0, 1\]; got nan"),
        (lambda: cross_validation_clt([0, 1], [0, 0]), "`folds` must be at least two; got 1"),
        (lambda: cross_validation_clt([0, 1], [0]), "All columns must have one length"),
        (
            lambda: cross_validation_clt([0, 1], [0, 1], variance="within_folds"),
            "two examples each; got one of 1. Take all_pairs for leave-one-out",
        ),
        (lambda: cross_validation_clt([0, 1], [0, 1], variance="in"), "must be one of all_pairs"),
    ],
    ids=["range", "nan", "one fold", "lengths", "leave one out", "variance"],
)
def test_slips_are_told(call, message):
    with pytest.raises(InputError, match=message):
        call()


NESTED_FOLDS = [0, 0, 1, 1, 2, 2]
# Row k: when fold k is set aside.
NESTED_LOSSES = [[0, 1, 1, 1, 0, 1], [1, 1, 0, 1, 0, 0], [0, 1, 1, 0, 0, 1]]

tables = st.tuples(st.integers(1, 3), st.integers(3, 5)).flatmap(
    lambda shape: arrays(
        np.float64, (shape[0], shape[1], 3 * shape[1]), elements=st.sampled_from([0.0, 1.0])
    )
)


def by_the_paper(losses, folds, level_quantile):
    """Algorithm 1 of the source, loop by loop, with its recommended correction and limits."""
    repetitions, size, n = losses.shape
    a_list, b_list, inner, outer, spreads = [], [], [], [], []
    for r in range(repetitions):
        plain = []
        for k in range(size):
            out = losses[r, k][folds[r] == k]
            into = losses[r, k][folds[r] != k]
            a_list.append((np.mean(into) - np.mean(out)) ** 2)
            b_list.append(np.var(out, ddof=1) / len(out))
            inner.extend(into)
            plain.extend(out)
        outer.extend(plain)
        spreads.append(np.var(plain, ddof=1))
    mse = np.mean(a_list) - np.mean(b_list)
    naive = math.sqrt(np.mean(spreads) / n)
    error = math.sqrt(max(mse, 0) * (size - 1) / size)
    error = max(naive, min(error, math.sqrt(size) * naive))
    bias = (1 + (size - 2) / size) * (np.mean(inner) - np.mean(outer))
    value = np.mean(inner) - bias
    return value, error, value - level_quantile * error, value + level_quantile * error


def test_a_small_table_worked_by_hand():
    found = nested_interval(NESTED_LOSSES, NESTED_FOLDS)
    # Outer means ½, ½, ½; inner means ¾, ½, ½: E′ = 7/12, E = ½.
    assert found.uncorrected == pytest.approx(7 / 12)
    assert found.cross_validated == pytest.approx(0.5)
    # 7/12 − (1 + 1/3)(1/12) = 17/36
    assert found.value == pytest.approx(17 / 36)
    # (¼)², 0, 0 less ½/2 each is negative: the standard error is √(.3/6), which takes them apart.
    assert found.standard_error == pytest.approx(math.sqrt(0.05))
    assert found.inflation == 1
    half = 1.959964 * math.sqrt(0.05)
    assert found.interval.low == pytest.approx(17 / 36 - half, abs=1e-6)
    assert found.interval.high == pytest.approx(17 / 36 + half, abs=1e-6)
    assert found.interval.method == "nested_cross_validation"


def test_a_mean_squared_error_within_its_limits_worked_by_hand():
    # Fold 0 is all wrong, the others never, whoever judges: 4 examples a fold.
    folds = np.repeat([0, 1, 2], 4)
    losses = np.tile(np.repeat([1.0, 0.0, 0.0], 4), (3, 1))
    found = nested_interval(losses, folds)
    # (0 − 1)², (½ − 0)², (½ − 0)², no variance within: mean ½; times 2/3 is 1/3.
    # Naive: variance 12/11 · 2/9, over 12: 2/99.  √(1/3) exceeds √3 √(2/99).
    assert found.standard_error == pytest.approx(math.sqrt(3 * 2 / 99))
    assert found.inflation == pytest.approx(math.sqrt(3))
    losses = np.tile([1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], (3, 1))
    found = nested_interval(losses, folds)
    # (0 − ½)² − ⅓/4 = 1/6; (¼)² twice: mean (1/6 + 1/8)/3 = 7/72; times 2/3 is 7/108.
    # Naive: 12/11 · 5/36 over 12 is 5/396; the root of the ratio is √(7 · 396 / (108 · 5)) > √3.
    assert found.inflation == pytest.approx(math.sqrt(3))


@settings(max_examples=60, deadline=None)
@given(losses=tables, seed=st.integers(0, 99))
def test_it_is_the_algorithm_of_the_source(losses, seed):
    repetitions, size, n = losses.shape
    rng = np.random.default_rng(seed)
    folds = np.stack([rng.permutation(np.arange(n) % size) for _ in range(repetitions)])
    found = nested_interval(losses, folds)
    value, error, low, high = by_the_paper(losses, folds, 1.959963984540054)
    clipped = min(max(value, 0.0), 1.0)
    assert found.value == pytest.approx(clipped, abs=1e-12)
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    if found.interval is not None and clipped == value:
        ends = [max(low, 0.0), min(high, 1.0)]
        assert [found.interval.low, found.interval.high] == pytest.approx(ends, abs=1e-12)


def test_some_mean_squared_error_is_between_its_limits():
    rng = np.random.default_rng(5)
    folds = np.stack([rng.permutation(np.arange(60) % 5) for _ in range(4)])
    shift = rng.normal(0, 0.15, (4, 5, 1))
    found = nested_interval((rng.random((4, 5, 60)) < 0.4 + shift).astype(float), folds)
    assert 1 < found.inflation < math.sqrt(5)


@settings(max_examples=40, deadline=None)
@given(losses=tables, level=levels, seed=st.integers(0, 99))
def test_nested_intervals_keep_the_laws(losses, level, seed):
    repetitions, size, n = losses.shape
    folds = np.tile(np.arange(n) % size, (repetitions, 1))
    found = nested_interval(losses, folds, level=level)
    assert 0 <= found.value <= 1
    if found.interval is None:
        return
    assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1
    wider = nested_interval(losses, folds, level=(1 + level) / 2).interval
    assert wider.low <= found.interval.low <= found.interval.high <= wider.high
    order = np.random.default_rng(seed).permutation(n)
    mixed = nested_interval(losses[:, :, order], folds[:, order], level=level).interval
    assert [mixed.low, mixed.high] == pytest.approx(
        [found.interval.low, found.interval.high], abs=1e-9
    )


@pytest.mark.parametrize("loss", [0, 1])
def test_nested_losses_without_variance_have_no_interval(loss):
    found = nested_interval(np.full((3, 6), loss), NESTED_FOLDS)
    assert found.interval is None
    assert found.value == loss
    assert math.isnan(found.inflation)


@given(size=st.integers(3, 8), seed=st.integers(0, 99))
def test_the_runs_fill_every_cell_once_by_a_model_that_left_out_the_right_folds(size, seed):
    n = 3 * size
    folds = np.random.default_rng(seed).permutation(np.arange(n) % size)
    runs = nested_runs(size)
    assert len(runs) == size * (size + 1) // 2
    filled = np.zeros((size, n), dtype=int)
    for run in runs:
        rows, examples = nested_cells(run, folds)
        np.add.at(filled, (rows, examples), 1)
        for row, example in zip(rows, examples, strict=True):
            # The model without the fold of the example and without the one set aside.
            assert {row, folds[example]} == set(run)
    assert (filled == 1).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nested_runs(2), r"`folds` must lie in \[3, "),
        (lambda: nested_interval(NESTED_LOSSES, [0, 0, 0, 1, 2, 2]), "two examples each; got 1"),
    ],
    ids=["two folds", "small folds"],
)
def test_slips_of_nested_losses_are_reported(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_corrected_standard_error_by_hand():
    # Mean .02; squares .0001 + .0009 + .0004 + 0 = .0014; s² = .0014/3; · (1/4 + 1/3)
    error = corrected_standard_error([0.03, -0.01, 0.04, 0.02], 1 / 3)
    assert error == pytest.approx(math.sqrt(0.0014 / 3 * 7 / 12))
    for value in (0.0, 0.1):
        assert corrected_standard_error([value] * 10, 1 / 9) == 0


RUNS = ConservativeZRuns(n=41, test=4, subsamples=3, divisions=5, seed=1)

shares = st.floats(0, 1)


def test_the_conservative_z_by_hand():
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
def test_the_conservative_z_keeps_the_laws_of_intervals(values, halves, level):
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
    ],
    ids=["test", "strata", "values"],
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


def test_a_deviation_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="`deviation` must be a finite number; got nan"):
        normal_interval(0.1, math.nan, level=0.95, method="x")
