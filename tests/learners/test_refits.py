"""One refit: what is trained, what is asked, what is told when it goes wrong."""

import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from truerisk.errors import InputError, ResourceError
from truerisk.estimation.refits.plans import Folds, HeldOut
from truerisk.learners.naive_bayes import NaiveBayes
from truerisk.learners.refits import (
    LIKELIEST,
    PLAIN,
    checked_once,
    fresh_copy,
    is_of_libraries,
    positions,
    refit,
    rows_of,
    scores_of,
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(30, 2))
Y = np.array(["ham", "spam"])[(X[:, 0] + 0.5 * RNG.normal(size=30) > 0).astype(int)]
PARTS = np.arange(30)[None] % 3


def shared(model, y=Y, rows=X, seed=1, **more):
    values = np.unique(y)
    plan = Folds(PARTS[:, : len(y)])
    return {"model": model, "X": rows, "y": y, "values": values, "plan": plan, "seed": seed, **more}


class Careless(ClassifierMixin, BaseEstimator):
    """Answers with the first class; subclasses go wrong."""

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, rows):
        return np.repeat(self.classes_[:1], len(rows))


def test_it_trains_on_the_other_parts_and_judges_its_own():
    found = refit(shared(LogisticRegression()), 1)
    test = PARTS[0] == 1
    model = LogisticRegression().fit(X[~test], Y[~test])
    assert found["predicted"].dtype == np.int32
    assert np.array_equal(np.unique(Y)[found["predicted"]], model.predict(X[test]))
    assert np.array_equal(found["score"], model.predict_proba(X[test])[:, 1])
    assert found["probabilities"]
    assert (found["seconds"] >= 0).all()
    assert found["seconds"].shape == (2,)
    assert "failed" not in found


def test_the_callers_model_is_not_touched():
    model = LogisticRegression()
    refit(shared(model), 0)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("kind", ["frame", "polars", "sparse", "list"])
def test_rows_of_any_kind_are_judged_alike(kind):
    rows = {
        "frame": pd.DataFrame(X, index=np.arange(30)[::-1]),
        "polars": pl.DataFrame(X),
        "sparse": sparse.csr_array(X),
        "list": X.tolist(),
    }[kind]
    expected = refit(shared(LogisticRegression()), 2)
    found = refit(shared(LogisticRegression(), rows=rows), 2)
    assert np.array_equal(found["predicted"], expected["predicted"])


def test_rows_are_taken_by_place_and_not_by_name():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[2, 1, 0])
    assert rows_of(frame, np.array([0, 2]))["a"].tolist() == [1, 3]
    assert rows_of(("x", "y", "z"), np.array([2, 0])) == ["z", "x"]
    drawn = rows_of(pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}), np.array([2, 0, 2]))
    assert drawn.to_dict(as_series=False) == {"a": [3, 1, 3], "b": ["z", "x", "z"]}


def test_decision_values_are_scores_but_no_probabilities():
    found = refit(shared(LinearSVC()), 0)
    test = PARTS[0] == 0
    model = LinearSVC(random_state=0).fit(X[~test], Y[~test])
    assert not found["probabilities"]
    assert found["score"] == pytest.approx(model.decision_function(X[test]), abs=1e-3)


def test_a_model_without_scores_has_none():
    assert "score" not in refit(shared(Careless()), 0)


def test_scores_that_are_no_numbers_are_none():
    class Blank(Careless):
        def predict_proba(self, rows):
            return np.full((len(rows), 2), np.nan)

    assert "score" not in refit(shared(Blank()), 0)


def test_a_class_that_was_not_trained_on_has_probability_zero():
    values = np.array([0, 1, 2])
    model = DummyClassifier().fit(X[:4], [0, 2, 2, 2])
    score = scores_of(model, X[:2], values)["score"]
    assert score.tolist() == [[0.25, 0.0, 0.75]] * 2
    only = DummyClassifier().fit(X[:2], [0, 0])
    assert scores_of(only, X[:2], values[:2])["score"].tolist() == [0.0, 0.0]


def test_a_class_that_was_not_trained_on_has_no_decision_value():
    model = LinearSVC().fit(X, (X[:, 0] > 0).astype(int))
    assert scores_of(model, X, np.array([0, 1, 2])) == {}
    three = LinearSVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert scores_of(three, X, np.arange(4)) == {}
    assert scores_of(three, X, np.arange(3))["score"].shape == (30, 3)


THREE = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
PAIRS = SVC(decision_function_shape="ovo")


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(PAIRS, id="alone"),
        pytest.param(make_pipeline(StandardScaler(), PAIRS), id="in a pipeline"),
        pytest.param(GridSearchCV(PAIRS, {"C": [1]}, cv=2), id="in a search"),
        pytest.param(
            make_pipeline(GridSearchCV(SVC(), {"decision_function_shape": ["ovo"]}, cv=2)),
            id="chosen in a search",
        ),
    ],
)
def test_decision_values_of_pairs_are_no_scores_of_classes(model):
    assert model.fit(X, THREE).decision_function(X).shape == (30, 3)
    assert scores_of(model, X, np.arange(3)) == {}


def test_decision_values_of_classes_are_scores_whatever_is_said_of_pairs():
    model = OneVsRestClassifier(PAIRS).fit(X, THREE)
    assert np.array_equal(scores_of(model, X, np.arange(3))["score"], model.decision_function(X))
    model = SVC().fit(X, THREE)
    assert np.array_equal(scores_of(model, X, np.arange(3))["score"], model.decision_function(X))
    two = SVC(decision_function_shape="ovo").fit(X, Y)
    assert np.array_equal(scores_of(two, X, np.unique(Y))["score"], two.decision_function(X))


class Certain(Careless):
    """Gives the first class a probability that 1 minus the other rounds to 0."""

    def predict_proba(self, rows):
        return np.tile([1e-20, 1.0], (len(rows), 1))


def test_a_small_probability_of_the_first_of_two_classes_is_kept():
    found = refit(shared(Certain()), 0)
    assert found["complement"].tolist() == [1e-20] * 10
    assert found["score"].tolist() == [1.0] * 10


def test_what_was_trained_on_one_class_gives_it_all_there_is():
    only = DummyClassifier().fit(X[:2], [7, 7])
    found = scores_of(only, X[:2], np.array([5, 7]))
    assert (found["score"].tolist(), found["complement"].tolist()) == ([1.0] * 2, [0.0] * 2)


def test_only_two_probabilities_have_a_complement():
    assert "complement" not in refit(shared(LinearSVC()), 0)
    assert "complement" not in refit(shared(LogisticRegression(), y=THREE), 0)


@pytest.mark.parametrize(
    ("given", "kept"),
    [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i4", "f8")],
)
def test_narrow_probabilities_stay_narrow_so_that_their_rounding_is_known(given, kept):
    class Narrow(Careless):
        def predict_proba(self, rows):
            return np.tile(np.array([0, 1, 0], dtype=given), (len(rows), 1))

    assert refit(shared(Narrow(), y=THREE), 0)["score"].dtype == kept


@pytest.mark.parametrize("answer", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("shape", [(3, 2), (3,), ()])
def test_scores_of_other_examples_than_those_judged_are_a_named_failure(answer, shape):
    class Short(Careless):
        pass

    setattr(Short, answer, lambda _, __: np.ones(shape) / 2)
    told = f"InputError: `model` must score each of 10 examples; got {answer} of shape {shape}."
    assert str(refit(shared(Short()), 0)["failed"]) == told


@pytest.mark.parametrize("shape", [(10, 2), (20,), (1, 10), (9,), ()])
def test_predictions_of_a_wrong_shape_are_a_named_failure(shape):
    class Wide(Careless):
        def predict(self, _):
            return np.full(shape, "ham")

    told = f"InputError: `model` must predict one label for each of 10 examples; got shape {shape}."
    assert str(refit(shared(Wide()), 0)["failed"]) == told


def test_predictions_may_be_a_table_of_one_column():
    class Column(Careless):
        def predict(self, rows):
            return super().predict(rows)[:, None]

    assert refit(shared(Column()), 0)["predicted"].tolist() == [0] * 10


def test_predicted_labels_are_found_among_the_known():
    assert positions(["b", "a"], np.array(["a", "b"])).tolist() == [1, 0]
    assert positions(np.array([[3.0], [1.0]]), np.array([1, 3])).tolist() == [1, 0]
    assert positions([True, False], np.array([False, True])).tolist() == [1, 0]


@pytest.mark.parametrize("stranger", [2, 0, -5, 1.5, np.nan])
def test_a_label_that_nobody_knows_is_refused(stranger):
    with pytest.raises(InputError, match=r"`model` must predict one of the labels \[1, 3\]; got"):
        positions([1, stranger], np.array([1, 3]))


def test_open_seeds_are_set_and_given_ones_kept():
    model = make_pipeline(StandardScaler(), RandomForestClassifier())
    one, again, other = (fresh_copy(model, [7, at]) for at in (0, 0, 1))
    name = "randomforestclassifier__random_state"
    assert one.get_params()[name] == again.get_params()[name] is not None
    assert one.get_params()[name] != other.get_params()[name]
    assert model.get_params()[name] is None
    assert fresh_copy(RandomForestClassifier(random_state=5), [7, 0]).random_state == 5


def test_a_refit_is_the_same_whenever_it_is_done():
    forest = RandomForestClassifier(n_estimators=3)
    one, again = (refit(shared(forest), 2) for _ in range(2))
    assert np.array_equal(one["score"], again["score"])
    other = refit(shared(forest, seed=2), 2)
    assert not np.array_equal(one["score"], other["score"])


def test_refits_on_the_same_examples_draw_anew():
    held = HeldOut(np.repeat(PARTS == 0, 2, axis=0))
    one, other = (
        refit(shared(DummyClassifier(strategy="uniform"), plan=held), at) for at in (0, 1)
    )
    assert not np.array_equal(one["predicted"], other["predicted"])


def test_the_seconds_are_those_to_induce_and_to_classify():
    class Slow(Careless):
        def fit(self, rows, y):
            time.sleep(0.05)
            return super().fit(rows, y)

    induce, classify = refit(shared(Slow()), 0)["seconds"]
    assert induce >= 0.05 > classify


def test_a_model_that_raises_is_no_end_but_a_message():
    class Broken(Careless):
        def fit(self, *_):
            raise ZeroDivisionError("no rows of this kind")

    found = refit(shared(Broken()), 0)
    assert str(found["failed"]) == "ZeroDivisionError: no rows of this kind"
    assert "predicted" not in found


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        pytest.param(
            MemoryError("unable to allocate 12 GiB"),
            "Memory ran out in fold 2 of repetition 1: unable to allocate 12 GiB. Use fewer",
            id="told",
        ),
        pytest.param(
            MemoryError(), "Memory ran out in fold 2 of repetition 1. Use fewer", id="bare"
        ),
        pytest.param(ResourceError("No room for 9 GB."), "No room for 9 GB.", id="by our own"),
    ],
)
def test_what_the_machine_lacks_is_no_failure_of_the_model(problem, message):
    class Hungry(Careless):
        def fit(self, *_):
            raise problem

    plan = Folds(np.repeat(PARTS, 2, axis=0))
    with pytest.raises(ResourceError) as caught:
        refit(shared(Hungry(), plan=plan), 1)
    assert str(caught.value).startswith(message)


def test_the_first_warning_is_told():
    class Worried(Careless):
        def predict(self, rows):
            warnings.warn("deprecated", FutureWarning, stacklevel=1)
            warnings.warn("did not converge " + "x" * 1000, UserWarning, stacklevel=1)
            warnings.warn("second", UserWarning, stacklevel=1)
            return super().predict(rows)

    told = str(refit(shared(Worried()), 0)["warned"][0])
    assert told.startswith("UserWarning: did not converge xxx")
    assert len(told) == 300
    assert "warned" not in refit(shared(DecisionTreeClassifier()), 0)


CLASSIFIERS = {
    f"{one.__module__}.{one.__qualname__}": one
    for _, one in [*all_estimators(type_filter="classifier"), ("ours", NaiveBayes)]
}


def table_with_ties(classes, seed):
    """Give small whole numbers, on which many examples are alike and many votes are tied."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (60, 3)).astype(float), rng.integers(0, classes, 60)


def fitted_part(name):
    model = CLASSIFIERS[name]()
    few = {"n_estimators": 5, "max_iter": 20, "random_state": 0}
    return model.set_params(**{k: v for k, v in few.items() if k in model.get_params()})


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", sorted(LIKELIEST | PLAIN))
@pytest.mark.filterwarnings("ignore")
def test_labels_and_scores_are_those_of_the_model_however_they_are_obtained(name, classes):
    rows, y = table_with_ties(classes, seed=classes)
    plan = Folds(np.arange(60)[None] % 3)
    model = fitted_part(name)
    base = {"model": model, "y": y, "values": np.unique(y), "plan": plan, "seed": 1}
    found = refit({**base, "X": rows, "checked_once": checked_once(model, rows)}, 0)
    train, test = plan.train_and_test(0)
    own = fresh_copy(model, [1, 0]).fit(rows[train], y[train])
    np.testing.assert_array_equal(found["predicted"], own.predict(rows[test]))
    if hasattr(own, "predict_proba"):
        scores = own.predict_proba(rows[test])
        np.testing.assert_array_equal(found["score"], scores[:, 1] if classes == 2 else scores)


def test_plain_classes_are_of_scikit_learn():
    assert set(CLASSIFIERS) >= LIKELIEST | PLAIN


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (GaussianNB(), np.where(X > 1, np.nan, X)),
        (KNeighborsClassifier(), np.where(X > 1, np.inf, X)),
        (DecisionTreeClassifier(), np.where(X > 1, 1e39, X)),  # no float32
        (LogisticRegression(C=-1.0), X),
        (KNeighborsClassifier(metric="nobody's"), X),
    ],
)
def test_bad_examples_and_settings_are_told_as_scikit_learn_does(model, rows):
    assert not checked_once(model, rows)
    found = refit(shared(model, rows=rows, checked_once=checked_once(model, rows)), 0)
    train = shared(model)["plan"].train_and_test(0)[0]
    with pytest.raises(ValueError, match=r"Input|must be") as told:
        model.fit(rows[train], Y[train])
    assert str(told.value) in str(found["failed"])


def test_examples_are_checked_once_only_for_plain_classes_and_plain_tables():
    assert checked_once(GaussianNB(), X)
    assert not checked_once(make_pipeline(StandardScaler(), GaussianNB()), X)
    assert not checked_once(GaussianNB(), pd.DataFrame(X))
    assert not checked_once(KNeighborsClassifier(weights=lambda distances: 1 / distances), X)
    assert not checked_once(Careless(), X)


def test_code_of_the_user_is_told_from_that_of_libraries():
    assert is_of_libraries(make_pipeline(StandardScaler(), GaussianNB()))
    assert not is_of_libraries(make_pipeline(StandardScaler(), Careless()))
    assert not is_of_libraries(KNeighborsClassifier(metric=lambda a, b: abs(a - b).sum()))
