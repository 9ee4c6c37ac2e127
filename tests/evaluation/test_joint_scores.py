import numpy as np
import pytest

import truerisk as tr
from truerisk.evaluation.joint_scores import JointScores, distance_of_mean

RNG = np.random.default_rng(0)
TRUTH = RNG.random((400, 3)) < 0.4
NOISE = RNG.normal(size=(400, 1))


def test_distances_that_go_together_add_up_and_independent_ones_cancel():
    distances, shares = np.array([0.3, 0.4]), np.array([0.5, 0.5])
    assert distance_of_mean(distances, shares, np.ones((2, 2))) == pytest.approx(0.35)
    assert distance_of_mean(distances, shares, np.eye(2)) == pytest.approx(0.25)  # ½ √(.09 + .16)


def test_copies_of_one_class_err_together_and_unrelated_classes_do_not():
    score = TRUTH[:, :1] + NOISE
    copies = JointScores(np.hstack([score, score]), np.hstack([TRUTH[:, :1]] * 2))
    assert copies.correlations(["roc_auc"], 1)["roc_auc"] == pytest.approx(np.ones((2, 2)))
    apart = JointScores(TRUTH + RNG.normal(size=TRUTH.shape), TRUTH)
    found = apart.correlations(["roc_auc"], 1)["roc_auc"]
    assert np.abs(found[np.triu_indices(3, 1)]).max() < 0.4


def test_a_class_that_never_varies_errs_on_its_own():
    perfect = JointScores(np.hstack([TRUTH[:, :1] * 1.0, TRUTH[:, 1:2] + NOISE]), TRUTH[:, :2])
    assert perfect.correlations(["roc_auc"], 1)["roc_auc"].tolist() == np.eye(2).tolist()


def test_many_classes_average_to_a_narrow_interval():
    truth = RNG.random((300, 12)) < 0.3
    score = truth + RNG.normal(size=truth.shape)
    evaluation = tr.evaluate(truth, y_score=score, multilabel=True, random_state=1)
    macro = evaluation["average_precision_macro"]
    widths = [each["average_precision"].interval.width for each in evaluation.by_class.values()]
    assert macro.interval.method == "mean_of_correlated"
    assert macro.interval.width < 0.5 * np.mean(widths)
    assert evaluation.by_class["3"]["average_precision"].interval.method == "binomial_of_positives"


def test_too_many_entries_leave_the_dependence_unknown(monkeypatch):
    monkeypatch.setattr("truerisk.evaluation.prediction_tally.MAX_ENTRIES", 100)
    evaluation = tr.evaluate(TRUTH, y_score=TRUTH + NOISE, multilabel=True, random_state=1)
    assert evaluation["roc_auc_macro"].interval.method == "mean_of_intervals"
