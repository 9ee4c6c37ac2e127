import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from truerisk.errors import InputError
from truerisk.evaluation.evaluate import evaluate
from truerisk.learners.named_models import find_grid, find_model
from truerisk.learners.refits import needed_scores
from truerisk.learners.scoring import value_of_scores
from truerisk.learners.tuning import (
    TunedModel,
    over_all_folds,
    tuned,
)
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
    found = over_all_folds(name, TRUTH, CALLED, np.array([0, 1]), pos_label)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("name", SCORED)
def test_scores_give_what_an_evaluation_gives(name):
    expected = evaluate(TRUTH, y_score=SCORES, probabilities=True, measures=(name,))[name].value
    assert value_of_scores(name, TRUTH, SCORES, 1) == pytest.approx(expected)


def test_scores_of_the_other_class_are_turned():
    auc = [value_of_scores("roc_auc", TRUTH, SCORES, at) for at in (0, 1)]
    assert auc[0] == pytest.approx(auc[1])
    ap = [value_of_scores("average_precision", TRUTH, SCORES, at) for at in (0, 1)]
    assert ap[0] != pytest.approx(ap[1])


def test_several_classes_are_averaged():
    truth = np.array([0, 1, 2, 0, 1, 2])
    scores = np.eye(3)[truth] * 0.5 + RNG.random((6, 3)) / 10
    assert value_of_scores("roc_auc", truth, scores, None) == 1.0


def test_models_without_scores_are_refused():
    with pytest.raises(InputError, match="must be one of labels for a model that gives no scores"):
        needed_scores({}, "roc_auc")


IRIS, SPECIES = load_iris(return_X_y=True)
X, Y = make_classification(120, n_features=5, flip_y=0.2, class_sep=0.7, random_state=3)
NEIGHBOURS = {"n_neighbors": (15, 9, 5, 3, 1)}


def refused(message):
    return pytest.raises(InputError, match=re.escape(message))


@pytest.fixture(autouse=True)
def _one_thread():
    """Keep threads from waiting for each other on a machine with other work."""
    with threadpool_limits(1):
        yield


@parametrize_with_checks(
    [TunedModel(LogisticRegression(), {"C": (0.1, 1.0)}, cv=2, random_state=1)]
)
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("measure", ["accuracy", "roc_auc"])
def test_it_chooses_as_a_grid_search_on_the_same_folds(measure):
    ours = tuned(KNeighborsClassifier(), NEIGHBOURS, measure=measure, random_state=4).fit(X, Y)
    folds = StratifiedKFold(5, shuffle=True, random_state=4)
    theirs = GridSearchCV(KNeighborsClassifier(), NEIGHBOURS, scoring=measure, cv=folds).fit(X, Y)
    # All folds have 24 examples: the share of all is the mean of the shares.
    np.testing.assert_allclose(ours.values_, theirs.cv_results_["mean_test_score"])
    assert ours.best_settings_ == theirs.best_params_
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_less_is_better_where_the_measure_says_so():
    more = tuned(KNeighborsClassifier(), NEIGHBOURS, random_state=4).fit(X, Y)
    less = tuned(KNeighborsClassifier(), NEIGHBOURS, measure="error_rate", random_state=4).fit(X, Y)
    assert more.best_settings_ == less.best_settings_
    assert less.best_value_ == pytest.approx(1 - more.best_value_)


@pytest.mark.parametrize(
    "measure", ["f1", "balanced_accuracy", "brier_score", "log_loss", "average_precision", "f2"]
)
def test_any_measure_of_labels_or_scores_can_choose(measure):
    found = tuned(LogisticRegression(), {"C": (0.01, 1.0)}, measure=measure, random_state=1)
    found.fit(X, Y)
    assert np.isfinite(found.values_).all()


@pytest.mark.parametrize("measure", ["balanced_accuracy", "cohen_kappa", "roc_auc", "log_loss"])
def test_several_classes_can_be_tuned(measure):
    found = tuned(LogisticRegression(max_iter=500), {"C": (0.01, 1.0)}, measure=measure)
    found.fit(IRIS, SPECIES)
    assert np.isfinite(found.values_).all()


def test_the_first_of_equals_wins():
    found = tuned(LogisticRegression(), {"verbose": (0, False)}, random_state=1).fit(X, Y)
    assert found.values_[0] == found.values_[1]
    assert found.best_settings_["verbose"] is not False


def test_the_same_seed_gives_the_same_choice_and_no_example_outside_has_a_say():
    model = tuned(find_model("tree"), find_grid("tree"), random_state=2)
    first, second = clone(model).fit(X[:80], Y[:80]), clone(model).fit(X[:80], Y[:80])
    assert first.values_ == second.values_
    assert np.array_equal(first.predict_proba(X), second.predict_proba(X))
    called = cross_val_predict(model, X, Y, cv=3)
    assert set(called) == {0, 1}


def test_scores_are_those_of_the_chosen_model():
    found = tuned(find_model("linear_svm"), find_grid("linear_svm"), random_state=1).fit(X, Y)
    assert np.array_equal(found.decision_function(X), found.best_model_.decision_function(X))
    assert not hasattr(found, "predict_proba")


def test_a_data_frame_stays_one():
    columns = make_column_transformer((StandardScaler(), ["left", "right"]))
    frame = pd.DataFrame({"left": X[:, 0], "right": X[:, 1], "other": ["?"] * len(X)})
    model = make_pipeline(columns, LogisticRegression())
    found = tuned(model, {"logisticregression__C": (0.1, 1.0)}, random_state=1).fit(frame, Y)
    assert set(found.predict(frame)) == {0, 1}


def test_a_small_class_has_fewer_folds_and_a_single_one_is_refused():
    few = np.r_[np.zeros(20, int), 1, 1, 1]
    rows = np.arange(23.0)[:, None]
    model = tuned(KNeighborsClassifier(), {"n_neighbors": (3, 1)}, random_state=1)
    assert model.fit(rows, few).best_value_ > 0.8
    with refused("must have at least 2 examples of each class"):
        model.fit(rows[:21], few[:21])


def test_settings_without_a_value_lose_and_all_such_are_refused():
    lopsided = np.r_[np.zeros(30, int), np.ones(6, int)]
    rows = np.random.default_rng(0).normal(size=(36, 1))
    grid = {"C": (1e-9, 1e-8)}
    with refused("precision is undefined for all 2 of them"):
        tuned(LogisticRegression(), grid, measure="precision", random_state=1).fit(rows, lopsided)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": {}}, "`grid` must have at least one value"),
        ({"grid": {"C": ()}}, "`grid` must have at least one value"),
        ({"grid": {"c": (1,)}}, "it has no 'c'. In a pipeline of `find_model` write model__c."),
        ({"measure": "accurate"}, "`measure` must be one of"),
        ({"measure": "rejection_rate"}, "`measure` must be one of labels or scores"),
        ({"measure": "cost"}, "`measure` must be one of labels or scores"),
        ({"cv": 1}, "`cv` must lie in [2, "),
    ],
    ids=["empty", "no value", "unknown", "measure", "rejections", "cost", "folds"],
)
def test_what_cannot_be_chosen_by_is_refused(change, message):
    with refused(message):
        tuned(LogisticRegression(), **{"grid": {"C": (1.0,)}, **change}).fit(X, Y)


def test_a_measure_the_model_cannot_give_is_refused():
    grid = {"model__C": (1.0,)}
    with refused("`measure` must not need probabilities, which the model does not give"):
        tuned(find_model("linear_svm"), grid, measure="log_loss").fit(X, Y)
    with refused("`pos_label` must be given: the labels are 'no', 'yes'"):
        tuned(find_model("linear_svm"), grid, measure="f1").fit(X, np.array(["no", "yes"])[Y])
    told = tuned(find_model("linear_svm"), grid, measure="f1", pos_label="no")
    assert 0 < told.fit(X, np.array(["no", "yes"])[Y]).best_value_ < 1
    with refused("f1 is of one against the rest, and there are 3."):
        tuned(find_model("linear_svm"), grid, measure="f1").fit(IRIS, SPECIES)


def test_settings_that_so_few_examples_cannot_be_trained_with_are_passed_over():
    X, y = np.arange(12.0)[:, None], np.arange(12) // 6
    grid = {"n_neighbors": (3, 21)}
    found = tuned(KNeighborsClassifier(), grid, cv=2, random_state=1).fit(X, y)
    assert found.best_settings_ == {"n_neighbors": 3}
    assert np.isnan(found.values_[1])


def test_where_no_setting_can_be_trained_the_model_says_why():
    X, y = np.arange(12.0)[:, None], np.arange(12) // 6
    with pytest.raises(ValueError, match="n_neighbors"):
        tuned(KNeighborsClassifier(), {"n_neighbors": (20, 21)}, cv=2).fit(X, y)
