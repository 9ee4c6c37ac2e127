import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.intervals import auc
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import (
    FORMULAS,
    INFLUENCES,
    RankedRows,
    SortedRows,
    mean_influences,
    placements,
    ranking_influences,
    share_below,
    values_of,
)

NAMES = list(FORMULAS)


def problem(n, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    return np.round(rng.normal(size=n) + positive, decimals), positive


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_a_weighting_counts_each_row_as_often_as_it_says(decimals):
    scores, positive = problem(40, decimals=decimals)
    times = np.random.default_rng(7).integers(0, 3, size=(20, 40))
    found = SortedRows.of(scores, positive).values(times.astype(float), NAMES)
    for row, drawn in enumerate(times):
        rows = np.repeat(np.arange(40), drawn)
        ranking = rank(scores[rows], positive[rows])
        for name in NAMES:
            assert found[name][row] == pytest.approx(values_of(ranking, name)), name


def test_weights_are_those_of_a_weighted_ranking():
    scores, positive = problem(60)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=(3, 60))
    found = SortedRows.of(scores, positive).values(weight, NAMES)
    for row, one in enumerate(weight):
        ranking = rank(scores, positive, one)
        for name in NAMES:
            assert found[name][row] == pytest.approx(values_of(ranking, name)), name


def test_a_weighting_without_a_class_is_undefined():
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    found = SortedRows.of([2.0, 1.0], [True, False]).values(weights, NAMES)
    assert np.isnan(found["roc_auc"]).all()
    assert np.isnan(found["average_precision"]).tolist() == [False, True, True]


def test_an_unknown_measure_is_refused():
    with pytest.raises(InputError, match=r"`names` must be one of roc_auc, .*; got 'auc'"):
        SortedRows.of([2.0, 1.0], [True, False]).values(np.ones((1, 2)), ["auc"])


columns = st.lists(st.integers(0, 5), min_size=1, max_size=20)

RNG = np.random.default_rng(5)
TRUTH = RNG.random(60) < 0.4
SCORE = np.round(TRUTH + RNG.normal(size=60), 1)
WEIGHT = RNG.uniform(0.5, 2, 60)


def test_the_area_worked_by_hand():
    # The positive .9 is above both negatives, .3 above one of two: placements 1 and ½, area ¾.
    score, positive = np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, False, True, True])
    area = ranking_influences(score, positive, None, "roc_auc")
    assert area.tolist() == [1 / 8, -1 / 8, -1 / 8, 1 / 8]


def test_average_precision_worked_by_hand():
    # + − +: AP = (1 + ⅔)/2 = 5/6.  U = ⅓ · ⅓ = 1/9 from the first on, D₁ = 1 + ⅔ · ⅓, D₂ = 2/9.
    found = ranking_influences(
        np.array([3.0, 2.0, 1.0]), np.array([True, False, True]), None, "average_precision"
    )
    assert found == pytest.approx([(1 - 5 / 6 + 1 / 9) / 2, -1 / 9, (2 / 3 - 5 / 6 + 1 / 9) / 2])


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "best_f1", "ks"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["counts", "weights"])
def test_influences_are_derivatives_by_the_weights(name, weight):
    found = ranking_influences(SCORE, TRUTH, weight, name)
    base = np.ones(60) if weight is None else weight
    value = values_of(rank(SCORE, TRUTH, base), name)
    step = 1e-6
    for row in range(0, 60, 7):
        moved = base.copy()
        moved[row] *= 1 + step
        slope = (values_of(rank(SCORE, TRUTH, moved), name) - value) / step
        assert found[row] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("name", INFLUENCES)
def test_influences_add_up_to_nothing_and_do_not_depend_on_the_scale_of_weights(name):
    found = ranking_influences(SCORE, TRUTH, WEIGHT, name)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    scaled = ranking_influences(SCORE, TRUTH, 1000 * WEIGHT, name)
    assert scaled == pytest.approx(found, rel=1e-9)


def test_the_squares_add_up_to_the_variance_of_delong():
    found = ranking_influences(SCORE, TRUTH, None, "roc_auc")
    parts = [found[rows] for rows in (TRUTH, ~TRUTH)]
    variance = sum((one**2).sum() * len(one) / (len(one) - 1) for one in parts)
    placed = auc.placements(SCORE[TRUTH], SCORE[~TRUTH])
    assert variance == pytest.approx(auc.delong_covariance(placed)[0, 0])


@pytest.mark.parametrize(
    ("name", "slack"),
    [("average_precision", 0.15), ("best_f1", 0.2), ("ks", 0.2), ("breakeven_point", 0.15)],
)
def test_the_squares_add_up_to_the_variance_of_many_samples(name, slack):
    rng = np.random.default_rng(2)
    values, variances = [], []
    for _ in range(300):
        truth = rng.random(400) < 0.3
        score = 1.5 * truth + rng.normal(size=400)
        values.append(values_of(rank(score, truth), name))
        variances.append((ranking_influences(score, truth, None, name) ** 2).sum())
    assert np.sqrt(np.mean(variances)) == pytest.approx(np.std(values), rel=slack)


def test_a_missing_class_has_no_influences():
    for name in ("roc_auc", "ks"):
        found = ranking_influences(np.arange(3.0), np.ones(3, bool), None, name)
        assert np.isnan(found).all()


def test_a_mean_is_moved_by_what_lies_off_it():
    assert mean_influences(np.array([0.0, 4.0]), np.array([3.0, 1.0])).tolist() == [-0.75, 0.75]
    assert mean_influences(np.array([1.0, np.nan, 2.0]), np.ones(3))[1] == 0
    assert np.isnan(mean_influences(np.array([1.0, np.inf]), np.ones(2))).all()


def test_two_ties_and_one_below_of_four_are_one_half():
    # 1 lies under 2, and the two ties count half each: (1 + 2 · ½) / 4.
    assert share_below(np.array([2.0]), np.array([2.0, 3.0, 1.0, 2.0])) == pytest.approx(0.5)


@given(columns, columns)
def test_it_is_the_mean_over_all_pairs(scores, others):
    ours, theirs = np.array(scores, float), np.array(others, float)
    won = (ours[:, None] > theirs) + 0.5 * (ours[:, None] == theirs)
    assert share_below(ours, theirs) == pytest.approx(won.mean(axis=1))


@given(columns, columns)
def test_placements_are_the_pairs_of_each_example_that_are_in_order(positives, negatives):
    score = np.array([*positives, *negatives], float)
    is_positive = np.arange(len(score)) < len(positives)
    above = score[is_positive][:, None] - score[~is_positive]
    won = (above > 0) + 0.5 * (above == 0)
    want = np.concatenate([won.mean(axis=1), won.mean(axis=0)])
    assert placements(score, is_positive) == pytest.approx(want)
    assert np.isnan(placements(score, np.ones(len(score), bool))).all()


@given(columns, columns)
def test_a_weight_of_three_counts_as_three_of_them(scores, others):
    ours, theirs = np.array(scores, float), np.array(others, float)
    times = 1 + np.arange(len(others)) % 3
    repeated = share_below(ours, np.repeat(theirs, times))
    assert share_below(ours, theirs, times.astype(float)) == pytest.approx(repeated)


def test_a_negative_at_the_very_top_takes_what_a_small_part_of_one_takes():
    rng = np.random.default_rng(3)
    score, positive = rng.normal(size=40), rng.random(40) < 0.4
    part = 1e-6
    score_with = np.append(score, 9.0)
    weight = np.append(np.ones(40), part)

    def precision(scores, flags, weights):
        order = np.argsort(-scores)
        hits = weights[order] * flags[order]
        return float(hits @ (np.cumsum(hits) / np.cumsum(weights[order])) / hits.sum())

    before = precision(score, positive, np.ones(40))
    after = precision(score_with, np.append(positive, False), weight)
    assert (before - after) / part == pytest.approx(
        RankedRows.of(score, positive, None).top_negative, rel=1e-4
    )
