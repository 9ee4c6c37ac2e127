import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.intervals.choose import distance_of_mean
from truerisk.measures.from_scores import document_precision
from truerisk.tallies.losses import LOSSES, ProbabilityTally
from truerisk.tallies.ranking import rank
from truerisk.tallies.scored_rows import (
    GroupedScores,
    JointScores,
    document_averages,
    error_of_mean,
    joined,
    loss_of_rows,
)

RNG = np.random.default_rng(0)
Y = RNG.random(120) < 0.4
P = np.clip(0.3 + 0.3 * Y + RNG.normal(size=120) / 8, 0.01, 0.99)
CLASSES = RNG.integers(0, 3, 120)
TABLE = RNG.dirichlet([1, 1, 1], 120)


def rows(group, weight=None, score=P, pos_label=Y):
    return GroupedScores(score, pos_label, np.asarray(group), weight)


def columns():
    return {
        str(k): rows(np.arange(120), score=TABLE[:, k], pos_label=k == CLASSES) for k in range(3)
    }


def test_the_error_of_a_mean_worked_by_hand():
    # Weights 1, 1, 2, values 0, 1, 1, groups a, a, b: mean ¾, influences (−¾ + ¼) and 2 · ¼:
    # √(2 · (¼ + ¼))/4 = ¼.
    found = error_of_mean(
        np.array([0.0, 1.0, 1.0]),
        GroupedScores(np.zeros(3), np.zeros(3, bool), np.array([7, 7, 9]), np.array([1.0, 1, 2])),
    )
    assert found == pytest.approx(0.25)


def test_rows_without_a_value_or_a_weight_are_left_out():
    values = np.array([0.0, 1.0, 1.0, np.nan, 5.0])
    group, weight = np.array([7, 7, 9, 9, 3]), np.array([1.0, 1, 2, 4, 0])
    kept = GroupedScores(np.zeros(5), np.zeros(5, bool), group, weight)
    assert error_of_mean(values, kept) == pytest.approx(0.25)


def test_one_group_has_no_error():
    assert np.isnan(error_of_mean(P, rows(np.zeros(120, int))))


@pytest.mark.parametrize("weight", [None, RNG.random(120)])
def test_a_group_for_every_row_gives_the_error_of_independent_rows(weight):
    tally = ProbabilityTally().add(P, Y, weight)
    one_each = rows(np.arange(120), weight)
    for name in LOSSES:
        values = loss_of_rows(name, {"1": one_each})
        assert np.average(values, weights=weight) == pytest.approx(tally.mean(name))
        expected = tally.standard_error(name)
        assert error_of_mean(values, one_each) == pytest.approx(expected, rel=1e-12), name


def test_losses_of_several_classes_are_those_of_the_tally():
    tally = ProbabilityTally().add(TABLE, CLASSES)
    for name in LOSSES:
        expected = tally.mean(name)
        assert loss_of_rows(name, columns()).mean() == pytest.approx(expected)


def test_averages_of_documents_are_those_of_the_tally():
    expected = document_precision(TABLE, np.eye(3, dtype=bool)[CLASSES])
    found = document_averages(columns())
    assert found.mean() == pytest.approx(expected.value)
    assert error_of_mean(found, rows(np.arange(120))) == pytest.approx(expected.standard_error)


@given(st.permutations(range(24)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_rows_changes_no_bit(order):
    order, group, weight = np.array(order), np.arange(24) // 3, 1 + np.arange(24) / 7
    first = joined([rows(group, weight, P[:24], Y[:24])])
    second = joined([rows(group[order], weight[order], P[:24][order], Y[:24][order])])
    for name in LOSSES:
        values, other = loss_of_rows(name, {"1": first}), loss_of_rows(name, {"1": second})
        assert error_of_mean(values, first) == error_of_mean(other, second)


def test_groups_widen_every_interval_of_scores():
    # Every row four times over, told to belong together: what one row each is worth.
    four = np.arange(480) % 120
    options = {"probabilities": True, "random_state": 1, "replicates": 300}
    for y, score, names in (
        (Y, P, ("log_loss", "brier_score", "roc_auc", "average_precision")),
        (CLASSES, TABLE, ("log_loss", "brier_score", "eleven_point_documents", "roc_auc_micro")),
    ):
        once = tr.evaluate(y, y_score=score, **options)
        rows_only = tr.evaluate(y[four], y_score=score[four], **options)
        grouped = tr.evaluate(y[four], y_score=score[four], groups=four, **options)
        for name in names:
            width = grouped[name].interval.width
            assert width == pytest.approx(once[name].interval.width, rel=0.15), name
            assert rows_only[name].interval.width < 0.75 * width, name
            assert grouped[name].interval.method != rows_only[name].interval.method, name


TRUTH = RNG.random((400, 3)) < 0.4
NOISE = RNG.normal(size=(400, 1))


def test_distances_that_go_together_add_up_and_independent_ones_cancel():
    distances, shares = np.array([0.3, 0.4]), np.array([0.5, 0.5])
    assert distance_of_mean(distances, shares, np.ones((2, 2))) == pytest.approx(0.35)
    assert distance_of_mean(distances, shares, np.eye(2)) == pytest.approx(0.25)  # ½ √(.09 + .16)


def test_copies_of_one_class_err_together_and_unrelated_classes_do_not():
    score = TRUTH[:, :1] + NOISE
    copies = JointScores(np.hstack([score, score]), np.hstack([TRUTH[:, :1]] * 2))
    assert copies.correlations(["roc_auc"])["roc_auc"] == pytest.approx(np.ones((2, 2)))
    apart = JointScores(TRUTH + RNG.normal(size=TRUTH.shape), TRUTH)
    found = apart.correlations(["roc_auc"])["roc_auc"]
    assert np.abs(found[np.triu_indices(3, 1)]).max() < 0.4


def test_the_influence_of_a_row_is_what_leaving_it_out_changes():
    joint = JointScores(TRUTH + NOISE, TRUTH)
    values = {"roc_auc": [], "average_precision": []}
    for at in range(len(TRUTH)):
        kept = np.delete(np.arange(len(TRUTH)), at)
        each = [rank((TRUTH + NOISE)[kept, k], TRUTH[kept, k]).summary for k in range(3)]
        values["roc_auc"].append([one.auc for one in each])
        values["average_precision"].append([one.average_precision for one in each])
    for name, left_out in values.items():
        expected = np.corrcoef(np.array(left_out).T)
        assert joint.correlations([name])[name] == pytest.approx(expected, abs=0.03), name


def test_a_class_that_never_varies_errs_on_its_own():
    perfect = JointScores(np.hstack([TRUTH[:, :1] * 1.0, TRUTH[:, 1:2] + NOISE]), TRUTH[:, :2])
    assert perfect.correlations(["roc_auc"])["roc_auc"].tolist() == np.eye(2).tolist()


def test_many_classes_average_to_a_narrow_interval():
    truth = RNG.random((300, 12)) < 0.3
    score = truth + RNG.normal(size=truth.shape)
    evaluation = tr.evaluate(truth, y_score=score, multilabel=True, random_state=1)
    macro = evaluation["average_precision_macro"]
    widths = [each["average_precision"].interval.width for each in evaluation.by_class.values()]
    assert macro.interval.method == "mean_of_correlated"
    assert macro.interval.width < 0.5 * np.mean(widths)
    assert evaluation.by_class["3"]["average_precision"].interval.method == "precision_influence"


def test_too_many_entries_leave_the_dependence_unknown(monkeypatch):
    monkeypatch.setattr("truerisk.evaluation.prediction_tally.MAX_ENTRIES", 100)
    evaluation = tr.evaluate(TRUTH, y_score=TRUTH + NOISE, multilabel=True, random_state=1)
    assert evaluation["roc_auc_macro"].interval.method == "mean_of_intervals"
