import numpy as np
import pytest

from truerisk.comparison.predictions.compare import compare
from truerisk.results import has_code


def scored(n=90, classes=2, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    if classes == 2:
        return truth, [truth + rng.normal(size=n) for _ in range(2)]
    return truth, [
        np.array([rng.dirichlet(1 + 3 * np.eye(classes)[label]) for label in truth])
        for _ in range(2)
    ]


def test_rows_written_twice_say_no_more_when_they_are_grouped():
    truth, scores = scored()
    alone = compare(truth, None, None, scores=scores, measures=["roc_auc"])["roc_auc"]
    twice = compare(
        np.tile(truth, 2),
        None,
        None,
        scores=[np.tile(score, 2) for score in scores],
        groups=np.tile(np.arange(90), 2),
        measures=["roc_auc"],
    )["roc_auc"]
    assert twice.difference.value == pytest.approx(alone.difference.value)
    assert twice.difference.interval.width == pytest.approx(
        alone.difference.interval.width, rel=0.01
    )


def test_every_average_of_several_classes_is_compared():
    truth, scores = scored(classes=3)
    result = compare(truth, None, None, scores=scores, probabilities=True, replicates=200)
    for average in ("macro", "weighted", "micro"):
        for name in ("roc_auc", "average_precision"):
            assert result[f"{name}_{average}"].method == "paired_influences"
    assert result["log_loss"].method == "paired_mean"
    assert result["error_rate"].method == "mcnemar_mid_p"


def test_mean_losses_differ_as_a_paired_t_test_says():
    truth, scores = scored()
    probabilities = [1 / (1 + np.exp(-score)) for score in scores]
    found = compare(
        truth, None, None, scores=probabilities, probabilities=True, measures=["brier_score"]
    )["brier_score"]
    apart = (probabilities[1] - truth) ** 2 - (probabilities[0] - truth) ** 2
    assert found.difference.value == pytest.approx(apart.mean())
    half = 1.959964 * apart.std(ddof=1) / np.sqrt(90)
    assert found.difference.interval.high == pytest.approx(apart.mean() + half, rel=1e-4)


def test_a_perfect_ranking_is_told_from_scores_that_are_all_equal():
    truth = np.repeat([0, 1], 20)
    result = compare(truth, None, None, scores=[np.zeros(40), truth.astype(float)])
    found = result["roc_auc"]
    assert found.difference.value == 0.5
    assert found.finding == "better"
    assert found.difference.interval.method == "no_spread"
    assert found.p_value < 0.001


def test_one_positive_tells_nothing_of_areas():
    found = compare([1, 0, 0, 0], None, None, scores=[[3, 1, 2, 0], [1, 0, 2, 3]])["roc_auc"]
    assert np.isnan(found.p_value)
    assert found.finding == "no evidence"
    assert (found.difference.interval.low, found.difference.interval.high) == (-1.0, 1.0)


def test_equal_losses_are_bounded_by_the_largest_one_seen():
    truth, scores = scored()
    probabilities = 1 / (1 + np.exp(-scores[0]))
    settings = {"probabilities": True, "measures": ["log_loss"]}
    both = [probabilities, probabilities.copy()]
    found = compare(truth, None, None, scores=both, region=0.5, **settings)["log_loss"]
    largest = max(-np.log(np.where(truth == 1, probabilities, 1 - probabilities)))
    share = found.difference.interval.high / largest
    assert found.difference.interval.low == -found.difference.interval.high
    assert (1 - share) ** min(truth.sum(), 90 - truth.sum()) == pytest.approx(0.025)
    assert (found.p_value, found.finding) == (1.0, "equivalent")
    assert has_code(found.notes, "no_spread")
