import numpy as np
import pytest

from truerisk.comparison.predictions.model_scores import (
    ModelScores,
    auc_influences,
    mean_influences,
)
from truerisk.intervals.auc import delong_covariance, placements
from truerisk.tallies.ranking import rank

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
