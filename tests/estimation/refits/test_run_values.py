"""The value of each measure in each refit, against scikit-learn's on the same examples."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)

from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.judging import Judging
from truerisk.estimation.refits.plans import Folds
from truerisk.estimation.refits.run_values import RunValues

N = 45
PARTS = np.stack([np.random.default_rng(at).permutation(N) % 3 for at in range(2)])
TWO = np.random.default_rng(2).integers(2, size=N)
THREE = np.random.default_rng(3).permutation(N) % 3


def judged(y, pos_label=None, *, scored=False):
    rng = np.random.default_rng(5)
    examples = Examples.of(np.zeros((N, 1)), y, pos_label=pos_label)
    plan, k = Folds(PARTS), len(examples.labels)
    answers = []
    for at in range(len(plan)):
        test = plan.train_and_test(at)[1]
        guess = np.where(rng.random(len(test)) < 0.4, rng.integers(k, size=len(test)), 0)
        predicted = np.where(guess, guess, examples.codes[test]).astype(np.int32)
        found = {"predicted": predicted, "seconds": np.zeros(2)}
        if scored:
            score = 0.3 * examples.codes[test] + rng.random(len(test))
            found |= {"score": score, "probabilities": np.bool_(0)}
        answers.append(found)
    judging = Judging(examples, plan).gather(answers)
    refits = [
        (examples.codes[plan.train_and_test(at)[1]], one["predicted"], one.get("score"))
        for at, one in enumerate(answers)
    ]
    return RunValues(judging), refits


@pytest.mark.parametrize("pos_label", ["no", "yes"])
@pytest.mark.parametrize("name", ["accuracy", "precision", "recall", "f1", "cohen_kappa"])
def test_measures_of_two_classes(name, pos_label):
    scorer = {
        "accuracy": lambda y, p, _: accuracy_score(y, p),
        "precision": lambda y, p, at: precision_score(y, p, pos_label=at),
        "recall": lambda y, p, at: recall_score(y, p, pos_label=at),
        "f1": lambda y, p, at: f1_score(y, p, pos_label=at),
        "cohen_kappa": lambda y, p, _: cohen_kappa_score(y, p),
    }[name]
    values, refits = judged(np.array(["no", "yes"])[TWO], pos_label)
    at = ["no", "yes"].index(pos_label)
    assert values.of(name) == pytest.approx([scorer(y, p, at) for y, p, _ in refits])


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_averages_over_three_classes(average):
    values, refits = judged(THREE)
    expected = [f1_score(y, p, average=average) for y, p, _ in refits]
    assert values.of(f"f1_{average}") == pytest.approx(expected)


def test_measures_of_all_classes_at_once():
    values, refits = judged(THREE)
    for name, scorer in (
        ("balanced_accuracy", balanced_accuracy_score),
        ("matthews_correlation", matthews_corrcoef),
    ):
        assert values.of(name) == pytest.approx([scorer(y, p) for y, p, _ in refits])


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_rankings_are_of_the_positive_label_wherever_it_stands(pos_label):
    values, refits = judged(np.repeat(["no", "yes"], [25, 20]), pos_label, scored=True)
    sign = 1 if pos_label == "yes" else -1
    is_positive = [(y == 1) if pos_label == "yes" else (y == 0) for y, *_ in refits]
    for name, scorer in (
        ("roc_auc", roc_auc_score),
        ("average_precision", average_precision_score),
    ):
        expected = [
            scorer(right, sign * score)
            for right, (*_, score) in zip(is_positive, refits, strict=True)
        ]
        assert values.of(name) == pytest.approx(expected)


def test_without_scores_nothing_is_ranked():
    values, _ = judged(np.arange(N) % 2)
    assert values.of("roc_auc") == ()
    assert values.of("log_loss") == ()
    assert values.of("roc_auc_macro") == ()


def test_a_refit_in_which_a_measure_is_undefined_has_no_value():
    examples = Examples.of(np.zeros((4, 1)), [0, 0, 1, 1])
    answers = [
        {"predicted": np.array(p, dtype=np.int32), "seconds": np.zeros(2)} for p in ((0, 0),) * 2
    ]
    judging = Judging(examples, Folds(np.array([[0, 0, 1, 1]]))).gather(answers)
    recalls = RunValues(judging).of("recall")
    assert np.isnan(recalls[0])
    assert recalls[1] == 0.0


def test_a_refit_that_failed_has_no_value():
    examples = Examples.of(np.zeros((4, 1)), [0, 0, 1, 1])
    right = {"predicted": np.array([0, 1], dtype=np.int32), "seconds": np.zeros(2)}
    judging = Judging(examples, Folds(np.array([[0, 1, 0, 1]])))
    judging.gather([{"failed": np.array("E: e")}, right])
    assert RunValues(judging).of("accuracy") == (1.0,)
