import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr

RNG = np.random.default_rng(3)
Y = np.arange(300) % 2
X = RNG.normal(size=(300, 3)) + 0.8 * Y[:, None]
TRAIN, TEST = slice(0, 150), slice(150, 300)


def test_it_is_what_evaluate_gives_for_the_model_s_own_predictions():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[TRAIN], Y[TRAIN])
    evaluation = tr.evaluate_model(model, X[TEST], Y[TEST])
    by_hand = tr.evaluate(
        Y[TEST],
        model.predict(X[TEST]),
        y_score=model.predict_proba(X[TEST]),
        probabilities=True,
    )
    assert list(evaluation) == list(by_hand)
    for name, one in evaluation.items():
        np.testing.assert_equal(one.value, by_hand[name].value)
    probability = model.predict_proba(X[TEST])
    assert evaluation["roc_auc"].value == pytest.approx(roc_auc_score(Y[TEST], probability[:, 1]))
    assert evaluation["log_loss"].value == pytest.approx(log_loss(Y[TEST], probability))


def test_decision_values_are_scores_and_no_probabilities():
    model = SVC().fit(X[TRAIN], Y[TRAIN])
    evaluation = tr.evaluate_model(model, X[TEST], Y[TEST])
    expected = roc_auc_score(Y[TEST], model.decision_function(X[TEST]))
    assert evaluation["roc_auc"].value == pytest.approx(expected)
    assert "log_loss" not in evaluation


def test_many_classes_and_text_labels():
    y = np.array(["a", "b", "c"])[np.arange(300) % 3]
    model = GaussianNB().fit(X[TRAIN], y[TRAIN])
    evaluation = tr.evaluate_model(model, X[TEST], y[TEST])
    assert evaluation.labels == ("a", "b", "c")
    assert "roc_auc_macro" in evaluation


def test_a_class_that_the_model_never_met_had_the_probability_0():
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    y = Y[TEST].copy()
    y[:5] = 2
    evaluation = tr.evaluate_model(model, X[TEST], y)
    assert evaluation["log_loss"].value == np.inf


def test_the_positive_label_may_be_either():
    y = np.array(["ham", "spam"])[Y]
    model = LogisticRegression().fit(X[TRAIN], y[TRAIN])
    spam = tr.evaluate_model(model, X[TEST], y[TEST], pos_label="spam")
    ham = tr.evaluate_model(model, X[TEST], y[TEST], pos_label="ham")
    assert spam["recall"].value == ham["specificity"].value
    assert spam["roc_auc"].value == pytest.approx(ham["roc_auc"].value)


def test_the_model_is_not_changed():
    model = DecisionTreeClassifier(random_state=0).fit(X[TRAIN], Y[TRAIN])
    before = model.tree_.node_count
    tr.evaluate_model(model, X[TEST], Y[TEST])
    assert model.tree_.node_count == before


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(), "must be fitted; got LogisticRegression before training"),
        (LinearRegression().fit(X, Y), "must be a classifier"),
        ("tree", "must be a classifier"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(model, message):
    with pytest.raises(tr.InputError, match=message):
        tr.evaluate_model(model, X[TEST], Y[TEST])


def test_groups_and_weights_reach_evaluate():
    model = GaussianNB().fit(X[TRAIN], Y[TRAIN])
    groups = np.arange(150) // 5
    grouped = tr.evaluate_model(model, X[TEST], Y[TEST], groups=groups)
    plain = tr.evaluate_model(model, X[TEST], Y[TEST])
    assert grouped["accuracy"].interval.method != plain["accuracy"].interval.method
