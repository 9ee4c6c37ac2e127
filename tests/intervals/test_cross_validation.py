import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, logit

from truerisk.errors import InputError
from truerisk.intervals.cross_validation import (
    VARIANCES,
    all_pairs,
    cross_validation_clt,
    nested_cells,
    nested_interval,
    nested_runs,
    within_folds,
)

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
        (lambda: nested_interval(NESTED_LOSSES, NESTED_FOLDS[:5]), "got 3 × 6 and 5"),
        (
            lambda: nested_interval(np.multiply(NESTED_LOSSES, 2), NESTED_FOLDS),
            r"must lie in \[0, 1\]; got 2.0",
        ),
        (
            lambda: nested_interval(NESTED_LOSSES, [0, 0, 1, 1, 3, 3]),
            r"must lie in \[0, 2\]; got 3",
        ),
        (lambda: nested_interval(NESTED_LOSSES, [0, 0, 0, 1, 2, 2]), "two examples each; got 1"),
        (lambda: nested_interval(NESTED_LOSSES[:2], [0, 0, 0, 1, 1, 1]), "at least three; got 2"),
    ],
    ids=["two folds", "shapes", "range", "numbers", "small folds", "two rows"],
)
def test_slips_of_nested_losses_are_reported(call, message):
    with pytest.raises(InputError, match=message):
        call()
