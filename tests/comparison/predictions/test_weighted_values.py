import numpy as np
import pytest

from truerisk.comparison.predictions.model_scores import ModelScores
from truerisk.comparison.predictions.weighted_values import value_of_scores
from truerisk.evaluation import evaluate


@pytest.mark.parametrize(
    "measure",
    ["roc_auc_macro", "roc_auc_weighted", "average_precision_micro", "log_loss", "brier_score"],
)
def test_an_example_that_counts_twice_is_worth_two(measure):
    rng = np.random.default_rng(6)
    label = rng.choice(3, size=40, p=[0.2, 0.3, 0.5])
    score = rng.dirichlet(np.ones(3), size=40) + 0.2 * np.eye(3)[label]
    score /= score.sum(axis=1, keepdims=True)
    times = rng.integers(0, 3, size=40)
    value = value_of_scores(measure, ModelScores(score, np.eye(3, dtype=bool)[label]))
    rows = np.repeat(np.arange(40), times)
    expected = evaluate(label[rows], y_score=score[rows], probabilities=True, measures=(measure,))
    assert value(times[None].astype(float)) == pytest.approx([expected[measure].value])


def test_examples_that_never_count_leave_nothing():
    value = value_of_scores("log_loss", ModelScores(np.full((2, 1), 0.5), np.ones((2, 1), bool)))
    assert np.isnan(value(np.zeros((1, 2)))).all()
