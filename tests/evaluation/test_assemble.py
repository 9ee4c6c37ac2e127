import numpy as np
import pytest
from sklearn import metrics

import truerisk as tr
from truerisk.results import has_code

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.3
SCORE = Y + RNG.normal(size=300)
PRED = SCORE > 0.5


@pytest.mark.parametrize("name", ["f1_macro", "f1_micro", "recall_weighted", "f2", "gmean_macro"])
def test_a_measure_that_is_not_usual_for_two_classes_is_there_on_request(name):
    requested = tr.evaluate(Y, PRED, measures=(name,), random_state=1)
    assert list(requested) == [name]
    assert requested[name].is_defined
    assert name not in tr.evaluate(Y, PRED, random_state=1)


def test_averages_of_two_classes_are_those_of_scikit_learn():
    names = ("f1_macro", "precision_micro", "recall_weighted")
    requested = tr.evaluate(Y, PRED, measures=names, random_state=1)
    expected = (
        metrics.f1_score(Y, PRED, average="macro"),
        metrics.precision_score(Y, PRED, average="micro"),
        metrics.recall_score(Y, PRED, average="weighted"),
    )
    assert [requested[name].value for name in names] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("roc_auc", "there are no scores"),
        ("roc_auc_macro", "there are no scores"),
        ("log_loss", "there are no scores"),
        ("cost", "there are no costs"),
        ("rejection_rate", "no label means rejected"),
        ("hamming_loss", "each example has one label"),
        ("f1_samples", "each example has one label"),
    ],
)
def test_a_requested_measure_that_cannot_be_computed_says_why(name, reason):
    evaluation = tr.evaluate(Y, PRED, measures=(name,), random_state=1)
    assert not evaluation[name].is_defined
    assert reason in evaluation[name].notes[0]
    assert has_code(evaluation[name].notes, "unavailable")
    assert has_code(evaluation.verdict, "undefined")


def test_scores_alone_say_why_they_lack_a_measure():
    requested = ("log_loss", "f1", "roc_auc_macro", "eleven_point_documents")
    evaluation = tr.evaluate(Y, y_score=SCORE, measures=requested, random_state=1)
    reasons = [evaluation[name].notes[0] for name in requested]
    assert "not said to be probabilities" in reasons[0]
    assert "no predicted labels" in reasons[1]
    assert "one column of scores" in reasons[2]
    assert "one column of scores" in reasons[3]


def test_measures_of_one_class_are_there_for_every_class_on_request():
    evaluation = tr.evaluate([0, 1, 2, 2], [0, 1, 2, 1], measures=("youden",), random_state=1)
    assert list(evaluation) == []
    assert [list(one) for one in evaluation.by_class.values()] == [["youden"]] * 3


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("f1_marco", "Did you mean 'f1_macro'"),
        ("acuracy", "Did you mean 'accuracy'"),
        ("accuracy_macro", "must not be an average of accuracy"),
        (len, "must be names of measures"),
        (3, "got 3"),
    ],
)
def test_what_is_no_measure_is_refused(measure, message):
    with pytest.raises(tr.InputError, match=message):
        tr.evaluate(Y, PRED, measures=(measure,))
