"""Counts of calls that are wrong, against evaluating the calls themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.estimation.svm.one_vs_rest_counts import estimates_of, measure_values
from truerisk.evaluation.evaluate import evaluate


def calls(seed, problems, n=40):
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random((problems, n)) < 0.4, 1.0, -1.0)
    return signs, rng.random((problems, n)) < 0.2


def test_one_problem_worked_by_hand():
    signs = np.array([[1.0, 1, 1, -1, -1]])
    wrong = np.array([[[True, False, False, True, False]]])  # TP 2, FN 1, FP 1, TN 1
    assert measure_values("precision", signs, wrong) == pytest.approx([2 / 3])
    assert measure_values("recall", signs, wrong) == pytest.approx([2 / 3])
    assert measure_values("error_rate", signs, wrong) == pytest.approx([2 / 5])
    weights = np.array([[0.0, 1, 1, 2, 0], [5, 0, 0, 0, 1]])
    assert measure_values("error_rate", signs, wrong, weights) == pytest.approx(
        np.array([[2 / 4, 5 / 6]])
    )


@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize(
    "measure", ["error_rate", "f1", "matthews_correlation", "recall", "balanced_accuracy"]
)
def test_two_classes_are_what_evaluate_says(measure, seed):
    signs, wrong = calls(seed, 1)
    truth = (signs[0] > 0).astype(int)
    expected = evaluate(truth, truth ^ wrong[0], measures=(measure,))[measure]
    assert measure_values(measure, signs, wrong[None])[0] == pytest.approx(
        expected.value, nan_ok=True
    )
    (found,) = estimates_of(measure, signs, wrong[None], method="xi_alpha", level=0.95)
    assert found.value == pytest.approx(expected.value, nan_ok=True)
    assert found.interval == expected.interval
    assert (found.n, found.notes) == (expected.n, expected.notes)


@given(seed=st.integers(0, 10**6))
@pytest.mark.parametrize("measure", ["hamming_loss", "f1_micro", "f1_macro", "accuracy"])
def test_several_labels_are_what_evaluate_says(measure, seed):
    signs, wrong = calls(seed, 3)
    truth = (signs.T > 0).astype(int)
    expected = evaluate(truth, truth ^ wrong.T, multilabel=True, measures=(measure,))[measure]
    assert measure_values(measure, signs, wrong[None])[0] == pytest.approx(expected.value)
    (found,) = estimates_of(measure, signs, wrong[None], method="xi_alpha", level=0.9)
    assert found.value == pytest.approx(expected.value)
    assert found.target == "the learner at this sample size"


@given(seed=st.integers(0, 10**6))
def test_a_weight_counts_as_so_many_examples(seed):
    signs, wrong = calls(seed, 2, 15)
    times = np.random.default_rng(seed).integers(0, 3, 15)
    if not times.any():
        return
    repeated = measure_values(
        "f1_micro", np.repeat(signs, times, axis=1), np.repeat(wrong, times, axis=1)[None]
    )
    weighted = measure_values("f1_micro", signs, wrong[None], times[None].astype(float))
    assert weighted[:, 0] == pytest.approx(repeated, nan_ok=True)
