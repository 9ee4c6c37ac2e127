"""Bare values of measures on folds are those of an evaluation of the same predictions."""

import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.evaluation.evaluate import evaluate
from truerisk.learners.measured_folds import mean_over_folds, needed_scores, over_all_folds
from truerisk.measures.registry import MEASURES

RNG = np.random.default_rng(8)
TRUTH = RNG.integers(0, 2, 70)
CALLED = np.where(RNG.random(70) < 0.3, 1 - TRUTH, TRUTH)
SCORES = np.clip(TRUTH * 0.3 + RNG.random(70) * 0.7, 0, 1)
COUNTED = [
    name
    for name, measure in MEASURES.items()
    if measure.needs in {"class counts", "binary counts"}
    and name not in {"cost", "f_beta", "e_beta", "hamming_loss"}
]
SCORED = [
    name for name, measure in MEASURES.items() if measure.needs in {"ranking", "probabilities"}
]


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("pos_label", ["0", "1"])
def test_counts_give_what_an_evaluation_gives(name, pos_label):
    expected = evaluate(TRUTH, CALLED, pos_label=pos_label, measures=(name,))[name].value
    found = over_all_folds(MEASURES[name], TRUTH, CALLED, np.array([0, 1]), pos_label)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("name", SCORED)
def test_scores_give_what_an_evaluation_gives(name):
    expected = evaluate(TRUTH, y_score=SCORES, probabilities=True, measures=(name,))[name].value
    fold = TRUTH, SCORES
    found = mean_over_folds(MEASURES[name], [fold, fold], np.array([0, 1]))
    assert found == pytest.approx(expected)


def test_scores_of_the_other_class_are_turned():
    fold = [(TRUTH, SCORES)]
    first = mean_over_folds(MEASURES["roc_auc"], fold, np.array(["a", "b"]), "a")
    second = mean_over_folds(MEASURES["roc_auc"], fold, np.array(["a", "b"]), "b")
    assert first == pytest.approx(second)
    ap = [
        mean_over_folds(MEASURES["average_precision"], fold, np.array(["a", "b"]), p) for p in "ab"
    ]
    assert ap[0] != pytest.approx(ap[1])


def test_several_classes_are_averaged():
    truth = np.array([0, 1, 2, 0, 1, 2])
    scores = np.eye(3)[truth] * 0.5 + RNG.random((6, 3)) / 10
    found = mean_over_folds(MEASURES["roc_auc"], [(truth, scores)], np.arange(3))
    assert found == 1.0


def test_models_without_scores_are_refused():
    with pytest.raises(InputError, match="must be one of labels for a model that gives no scores"):
        needed_scores({}, MEASURES["roc_auc"])
