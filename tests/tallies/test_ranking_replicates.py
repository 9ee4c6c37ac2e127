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
    cluster_auc_variance,
    cluster_replicates,
    evaluate,
    replicates,
    values_of,
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


def test_groups_are_drawn_together():
    scores, positive = problem(60)
    twice = np.tile(scores, 2), np.tile(positive, 2)
    groups = np.tile(np.arange(60), 2)
    found = cluster_replicates(*twice, groups, NAMES, replicates=3000, rng=np.random.default_rng(1))
    # a row given twice and drawn as one group is worth no more than the row
    rng = np.random.default_rng(2)
    plain = replicates(rank(scores, positive), NAMES, replicates=3000, rng=rng)
    assert_alike(
        {name: values[~np.isnan(values)] for name, values in found.items()},
        {name: values[~np.isnan(values)] for name, values in plain.items()},
    )


def test_weights_stay_with_their_groups():
    scores, positive, weight = [3.0, 2.0, 1.0], np.array([True, False, True]), [1.0, 2.0, 3.0]
    found = cluster_replicates(
        scores, positive, [7, 7, 7], ["roc_auc"],
        weight=weight, replicates=3, rng=np.random.default_rng(0),
    )  # fmt: skip
    assert found["roc_auc"].tolist() == [0.25] * 3


def test_rows_of_their_own_have_delongs_variance():
    scores, positive = problem(200, decimals=1)
    found = cluster_auc_variance(scores, positive, np.arange(200))
    assert found == pytest.approx(rank(scores, positive).delong_variance, rel=1e-12)


def test_a_cluster_variance_takes_the_weights():
    scores, positive = problem(200, decimals=1)
    weight = 1.0 + np.arange(200) % 4
    alone = cluster_auc_variance(scores, positive, np.arange(200), weight)
    assert alone == pytest.approx(rank(scores, positive, weight).delong_variance, rel=1e-12)
    # a row of weight 3 is three rows of one group
    times = np.repeat(np.arange(200), weight.astype(int))
    copied = cluster_auc_variance(scores[times], positive[times], times)
    assert alone == pytest.approx(copied, rel=1e-12)


def test_a_cluster_variance_worked_by_hand():
    # scores 4 + (g0), 3 − (g0), 2 + (g1), 1 − (g1): A = ¾, V = 1, ½; W = ½, 1
    # X = ¼, −¼; Y = −¼, ¼; 2·(2/16)/4 + 2·(2/16)/4 − 2·2·(2/16)/4 = 0
    scores, positive = [4.0, 3.0, 2.0, 1.0], [True, False, True, False]
    assert cluster_auc_variance(scores, positive, [0, 0, 1, 1]) == pytest.approx(0, abs=1e-16)
    # paired the other way round, Y changes sign, and the three terms add up to ¼
    assert cluster_auc_variance(scores, positive, [0, 1, 1, 0]) == pytest.approx(0.25)


def test_the_cluster_variance_is_that_of_many_samples():
    rng = np.random.default_rng(4)

    def sample(n_groups):
        groups = np.repeat(np.arange(n_groups), 4)
        positive = rng.random(4 * n_groups) < 0.5
        common = np.repeat(rng.normal(size=n_groups), 4)
        return common + rng.normal(size=4 * n_groups) + positive, positive, groups

    samples = [sample(60) for _ in range(400)]
    aucs = [rank(scores, positive).auc for scores, positive, _ in samples]
    variances = [cluster_auc_variance(*some) for some in samples]
    plain = [rank(scores, positive).delong_variance for scores, positive, _ in samples]
    # the variance of 400 values is known to about 7 %
    assert np.mean(variances) == pytest.approx(np.var(aucs), rel=0.25)
    assert abs(np.mean(plain) / np.var(aucs) - 1) > abs(np.mean(variances) / np.var(aucs) - 1)


def test_a_class_in_one_group_has_no_cluster_variance():
    assert np.isnan(cluster_auc_variance([3.0, 2.0, 1.0], [True, False, False], [0, 1, 2]))


def test_groups_of_another_length_are_refused():
    with pytest.raises(InputError, match="`groups` must have one entry per example"):
        cluster_auc_variance([1.0, 2.0], [True, False], [0])


def test_a_cluster_variance_is_the_same_to_the_last_digit_in_any_order():
    rng = np.random.default_rng(3)
    scores, positive = problem(60, decimals=1)
    weight, groups = rng.choice([0.1, 0.7, 3.0], 60), rng.integers(0, 9, 60)
    found = set()
    for _ in range(20):
        order, renamed = rng.permutation(60), rng.permutation(9)
        rows = scores[order], positive[order], renamed[groups[order]]
        found.add(cluster_auc_variance(*rows, weight=weight[order]))
    assert len(found) == 1
