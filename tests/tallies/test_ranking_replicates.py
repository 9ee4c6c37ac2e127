import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.tallies import ranking_replicates
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_replicates import (
    FORMULAS,
    MAX_BINS,
    Binned,
    _counts_drawn,
    _rows_drawn,
    bins_of,
    evaluate,
    replicates,
    values_of,
    values_of_weights,
)

NAMES = list(FORMULAS)


def problem(n, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    scores = rng.normal(size=n) + positive
    return (scores if decimals is None else np.round(scores, decimals)), positive


def by_resampling_rows(scores, positive, times, rng):
    drawn = {name: np.empty(times) for name in NAMES}
    for at in range(times):
        rows = rng.integers(0, len(scores), len(scores))
        ranking = rank(scores[rows], positive[rows])
        for name in NAMES:
            drawn[name][at] = values_of(ranking, name)
    return drawn


def assert_alike(found, expected):
    """Mean and spread differ by no more than 4 standard errors of their difference."""
    for name in NAMES:
        ours, theirs = found[name], expected[name]
        error = np.sqrt(ours.var() / len(ours) + theirs.var() / len(theirs))
        assert abs(ours.mean() - theirs.mean()) < 4 * error, name
        error = np.sqrt(1 / (2 * len(ours)) + 1 / (2 * len(theirs)))
        assert abs(np.log(ours.std() / theirs.std())) < 4 * error * 1.2, name


# Of 300 scores every one is another; rounded to whole numbers, a dozen are left.
@pytest.mark.parametrize("decimals", [None, 1, 0])
def test_few_scores_are_resampled_as_rows_are(decimals):
    scores, positive = problem(300, decimals=decimals)
    found = replicates(rank(scores, positive), NAMES, replicates=4000, rng=np.random.default_rng(1))
    rng = np.random.default_rng(2)
    assert_alike(found, by_resampling_rows(scores, positive, 1500, rng))


@pytest.mark.parametrize("draw", [_counts_drawn, _rows_drawn])
def test_both_ways_to_draw_are_multinomial(draw):
    cells = np.array([3, 0, 1, 6])
    drawn = draw(cells, 10, 20_000, np.random.default_rng(1))
    share = cells / 10
    assert (drawn.sum(axis=1) == 10).all()
    assert drawn.mean(axis=0) == pytest.approx(10 * share, abs=0.05)
    covariance = 10 * (np.diag(share) - np.outer(share, share))
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.1)


def test_many_scores_are_resampled_as_rows_are():
    scores, positive = problem(20_000)
    found = replicates(rank(scores, positive), NAMES, replicates=1000, rng=np.random.default_rng(1))
    expected = by_resampling_rows(scores, positive, 400, np.random.default_rng(2))
    assert_alike(found, expected)


def test_what_binning_does_to_the_value_is_taken_off(monkeypatch):
    # bins far wider than the runs in which the positives stand
    monkeypatch.setattr(ranking_replicates, "BIN_STEPS", 4)
    positive = np.arange(40_000) % 4_000 < 1_200
    ranking = rank(np.arange(40_000, 0, -1), positive)
    name = "average_precision"
    found = replicates(ranking, [name], replicates=400, rng=np.random.default_rng(1))[name]
    bins = bins_of(ranking)
    binned = Binned(bins.positives[None], bins.negatives[None], bins.inside_auc, bins.spread)
    error = 4 * found.std() / np.sqrt(400)
    assert abs(evaluate(binned, [name])[name][0] - ranking.summary.average_precision) > 2 * error
    assert found.mean() == pytest.approx(ranking.summary.average_precision, abs=error)


def test_the_spread_of_the_auc_is_that_of_delong():
    scores, positive = problem(200_000)
    ranking = rank(scores, positive)
    found = replicates(ranking, ["roc_auc"], replicates=2000, rng=np.random.default_rng(1))
    # the spread of 2000 replicates is itself known to 1.6 %
    assert found["roc_auc"].std() == pytest.approx(np.sqrt(ranking.delong_variance), rel=0.06)
    assert found["roc_auc"].mean() == pytest.approx(ranking.auc, abs=1e-4)


def test_the_same_seed_gives_the_same_replicates():
    ranking = rank(*problem(500))
    first, second = (
        replicates(ranking, ["roc_auc", "ks"], replicates=20, rng=np.random.default_rng(3))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first["ks"], second["ks"])


def test_bins_keep_every_example_and_the_order_inside():
    scores, positive = problem(30_000)
    ranking = rank(scores, positive)
    bins = bins_of(ranking)
    assert len(bins.positives) <= MAX_BINS
    assert bins.positives.sum() == ranking.n_positive
    assert bins.negatives.sum() == ranking.n_negative
    binned = Binned(bins.positives[None], bins.negatives[None], bins.inside_auc, bins.spread)
    assert evaluate(binned, ["roc_auc"])["roc_auc"][0] == pytest.approx(ranking.auc, abs=1e-13)


def test_the_order_inside_a_bin_matters():
    scores, positive = problem(30_000)
    bins = bins_of(rank(scores, positive))
    tied = Binned(
        bins.positives[None], bins.negatives[None], np.full_like(bins.inside_auc, 0.5), bins.spread
    )
    auc = evaluate(tied, ["roc_auc"])["roc_auc"][0]
    assert auc != pytest.approx(rank(scores, positive).auc, abs=1e-9)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=25).filter(
        lambda rows: {label for _, label in rows} == {True, False}
    )
)
def test_the_formulas_agree_with_the_summary(rows):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    ranking = rank(scores, positive)
    bins = bins_of(ranking)
    found = evaluate(
        Binned(bins.positives[None], bins.negatives[None], bins.inside_auc, bins.spread), NAMES
    )
    for name in NAMES:
        assert found[name][0] == pytest.approx(values_of(ranking, name), abs=1e-12), name


def test_precision_inside_a_spread_bin_worked_by_hand():
    # 1 of 1 found, then 2 positives and 2 negatives, evenly: ∫ (1+2u)/(1+4u) du = ½ + ln(5)/8
    bins = np.array([[1, 2]]), np.array([[0, 2]]), np.array([0.5, 0.5]), np.array([False, True])
    found = evaluate(Binned(*bins), ["average_precision", "breakeven_point"])
    expected = (1 + 2 * (0.5 + np.log(5) / 8)) / 3
    assert found["average_precision"][0] == pytest.approx(expected, rel=1e-14)
    # 3 are found half-way through the bin, with 2 of 3 positives
    assert found["breakeven_point"][0] == pytest.approx(2 / 3)


def test_a_replicate_without_a_class_is_undefined():
    ranking = rank([2.0, 1.0], [True, False])
    found = replicates(ranking, NAMES, replicates=200, rng=np.random.default_rng(0))
    # one class alone is drawn in half of the cases, no positive in a quarter
    assert 0.35 < np.isnan(found["roc_auc"]).mean() < 0.65
    for name in ("average_precision", "breakeven_point", "eleven_point_precision", "best_f1"):
        assert 0.15 < np.isnan(found[name]).mean() < 0.35


def test_a_weighted_ranking_spreads_as_its_effective_size_does():
    scores, positive = problem(4000)
    weight = np.where(np.random.default_rng(5).random(4000) < 0.5, 1.0, 9.0)
    ranking = rank(scores, positive, weight)
    found = replicates(ranking, ["roc_auc"], replicates=1500, rng=np.random.default_rng(1))
    assert found["roc_auc"].std() == pytest.approx(np.sqrt(ranking.delong_variance), rel=0.12)


def test_an_unknown_measure_is_refused():
    ranking = rank([2.0, 1.0], [True, False])
    with pytest.raises(InputError, match=r"`names` must be one of roc_auc, .*; got 'auc'"):
        replicates(ranking, ["auc"], rng=np.random.default_rng(0))


def test_a_weighting_counts_each_row_as_often_as_it_says():
    scores, positive = problem(40, decimals=1)
    times = np.random.default_rng(7).integers(0, 3, size=(5, 40))
    found = values_of_weights(scores, positive, times.astype(float), NAMES)
    for row, drawn in enumerate(times):
        rows = np.repeat(np.arange(40), drawn)
        ranking = rank(scores[rows], positive[rows])
        for name in NAMES:
            assert found[name][row] == pytest.approx(values_of(ranking, name)), name
