import numpy as np
import pytest

from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.model_scores import (
    BlockDraw,
    ModelScores,
    auc_influences,
    mean_influences,
)
from truerisk.intervals.auc import delong_covariance, placements
from truerisk.measures.registry import find_measure
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_replicates import cluster_replicates

RNG = np.random.default_rng(5)

TRUTH = RNG.random(60) < 0.4

SCORES = TRUTH[:, None] + RNG.normal(size=(60, 2))


def classes_of(n=80, classes=3):
    rng = np.random.default_rng(8)
    label = rng.integers(classes, size=n)
    truth = np.eye(classes, dtype=bool)[label]
    return ModelScores(truth + rng.normal(size=truth.shape), truth)


def test_the_squared_influences_add_up_to_the_variance_of_delong():
    area, influences = auc_influences(SCORES[:, 0], TRUTH, np.ones(60))
    placed = placements(SCORES[TRUTH, 0], SCORES[~TRUTH, 0])
    parts = [influences[rows] for rows in (TRUTH, ~TRUTH)]
    variance = sum((one**2).sum() * len(one) / (len(one) - 1) for one in parts)
    assert area == pytest.approx(placed.areas[0])
    assert variance == pytest.approx(delong_covariance(placed)[0, 0])


def test_a_weight_is_worth_as_many_copies():
    weight = np.where(TRUTH, 2.0, 3.0)
    times = weight.astype(int)
    area, influences = auc_influences(SCORES[:, 0], TRUTH, weight)
    copied = auc_influences(
        np.repeat(SCORES[:, 0], times), np.repeat(TRUTH, times), np.ones(times.sum())
    )
    assert area == pytest.approx(copied[0])
    assert influences == pytest.approx(times * copied[1][np.cumsum(times) - 1])


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_the_influences_of_an_average_are_its_derivatives(average):
    scores = classes_of()
    found = scores.influences(f"roc_auc_{average}")

    def value(weight):
        if average == "micro":
            flat = (scores.score.ravel(), scores.truth.ravel(), np.repeat(weight, 3))
            return rank(*flat).auc
        areas = [rank(scores.score[:, k], scores.truth[:, k], weight).auc for k in range(3)]
        return np.average(areas, weights=weight @ scores.truth if average == "weighted" else None)

    step = 1e-6
    for row in (0, 11, 42):
        moved = np.ones(80)
        moved[row] += step
        assert found[row] == pytest.approx((value(moved) - value(np.ones(80))) / step, abs=1e-5)


def test_a_missing_class_has_no_influences():
    area, influences = auc_influences(np.arange(3.0), np.ones(3, bool), np.ones(3))
    assert np.isnan(area)
    assert np.isnan(influences).all()


def test_a_mean_is_moved_by_what_lies_off_it():
    assert mean_influences(np.array([0.0, 4.0]), np.array([3.0, 1.0])).tolist() == [-0.75, 0.75]
    assert mean_influences(np.array([1.0, np.nan, 2.0]), np.ones(3))[1] == 0
    assert np.isnan(mean_influences(np.array([1.0, np.inf]), np.ones(2))).all()


def test_losses_of_examples_average_to_the_measures():
    probabilities = np.clip(0.5 + 0.2 * SCORES[:, 0], 0.01, 0.99)
    scores = ModelScores(probabilities[:, None], TRUTH[:, None])
    of_truth = np.where(TRUTH, probabilities, 1 - probabilities)
    assert scores.rows_of_loss("log_loss") == pytest.approx(-np.log(of_truth))
    assert scores.rows_of_loss("brier_score") == pytest.approx((1 - of_truth) ** 2)
    assert scores.rows_of_loss("roc_auc") is None


def test_two_models_with_one_seed_are_drawn_on_the_same_examples():
    first, second = (ModelScores(SCORES[:, [k]], TRUTH[:, None]) for k in (0, 1))
    turned = ModelScores(2 * SCORES[:, [0]] + 1, TRUTH[:, None])
    names = ["average_precision", "ks"]
    drawn = [one.replicates(names, None, 300, [1, 2]) for one in (first, second, turned)]
    assert drawn[0]["ks"].tolist() == drawn[2]["ks"].tolist()
    paired = np.std(drawn[1]["average_precision"] - drawn[0]["average_precision"])
    assert 0 < paired < 0.3


def test_replicates_of_an_average_lie_around_it():
    scores = classes_of(200)
    for average in ("macro", "weighted", "micro"):
        drawn = scores.replicates(["average_precision"], average, 300, [3])["average_precision"]
        assert abs(np.median(drawn) - np.mean(drawn)) < 0.02
        assert 0 < np.std(drawn) < 0.1


def test_the_rarest_class_is_counted_in_groups_where_there_are_groups():
    truth = np.array([[True], [True], [False], [False], [False]])
    alone = ModelScores(np.zeros((5, 1)), truth)
    grouped = ModelScores(np.zeros((5, 1)), truth, group=np.array([0, 0, 1, 1, 2]))
    assert alone.rarest == 2
    assert grouped.rarest == 1


RANKED = ("average_precision", "breakeven_point", "eleven_point_precision", "ks", "best_f1")


def two_rankings(n, seed=0, decimals=9):
    rng = np.random.default_rng(seed)
    pos_label, shared = rng.random(n) < 0.3, rng.normal(size=n)
    scores = [1.5 * pos_label + 0.7 * shared + 0.7 * rng.normal(size=n) for _ in range(2)]
    return pos_label, [score.round(decimals) for score in scores]


def test_a_resample_is_the_blocks_it_draws_as_often_as_it_draws_them():
    pos_label, (score, _) = two_rankings(40, decimals=1)
    block = np.arange(40) % 8
    times = np.array([[1.0] * 8, [2.0, 0, 0, 3.0, 1.0, 0, 2.0, 0]])
    found = BlockDraw(block, times).replicates(score, pos_label, RANKED)
    for row, drawn in enumerate(times):
        rows = np.repeat(np.arange(40), drawn[block].astype(int))
        for name in RANKED:
            expected = find_measure(name).value(rank(score[rows], pos_label[rows]))
            assert found[name][row] == pytest.approx(expected)


def test_weights_stay_with_their_examples():
    pos_label, (score, _) = two_rankings(30, decimals=1)
    draw = BlockDraw(np.arange(30) % 5, np.array([[1.0, 0, 2.0, 1.0, 1.0]]))
    weight = np.random.default_rng(1).integers(1, 4, size=30)
    rows = np.repeat(np.arange(30), weight)
    twice = BlockDraw(draw.block[rows], draw.times)
    found = draw.replicates(score, pos_label, RANKED, weight.astype(float))
    expected = twice.replicates(score[rows], pos_label[rows], RANKED)
    for name in RANKED:
        assert found[name] == pytest.approx(expected[name])


def test_standard_errors_are_those_of_resampled_rows():
    n, many = 3000, 4  # classes, of which the more the fewer blocks are drawn
    pos_label, scores = two_rankings(n)
    draw = BlockDraw.of(np.arange(n), many, np.random.default_rng(2))
    assert draw.times.shape == (500, 1000)
    blocks = [draw.replicates(score, pos_label, RANKED) for score in scores]
    rows = [
        cluster_replicates(
            score, pos_label, np.arange(n), RANKED, replicates=300, rng=np.random.default_rng(3)
        )
        for score in scores
    ]
    for name in RANKED:
        by_block, by_row = (np.std(two[1][name] - two[0][name]) for two in (blocks, rows))
        assert by_block == pytest.approx(by_row, rel=0.2)


def test_a_comparison_of_very_many_examples_says_what_was_drawn(monkeypatch):
    monkeypatch.setattr("truerisk.comparison.predictions.model_scores.MANY_ROWS", 999)
    monkeypatch.setattr("truerisk.comparison.predictions.model_scores.RESAMPLES", 500)
    pos_label, scores = two_rankings(1000, decimals=1)
    options = {"measures": ["ks"], "replicates": 100}
    result = compare(pos_label, None, None, scores=scores, **options)
    assert result["ks"].notes == ("from 500 resamples of 1,000 blocks of examples",)
    other = compare(pos_label, None, None, scores=scores[::-1], **options)
    assert other["ks"].p_value == pytest.approx(result["ks"].p_value)
