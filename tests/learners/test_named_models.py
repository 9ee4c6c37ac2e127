"""Models by name: each learns, on mixed columns too, without a warning; files are never loaded."""

import os
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import IsolationForest, StackingClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from truerisk.errors import InputError
from truerisk.inputs.tables import read_table
from truerisk.learners.named_models import (
    ALIASES,
    MODELS,
    as_learner,
    find_grid,
    find_model,
    models_by_name,
    which_are_categories,
    whose_columns,
)

IRIS, SPECIES = load_iris(return_X_y=True)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)
KINDS = ("number", "category", "number")
TEXTS = ("number", "text")


def refused(message):
    return pytest.raises(InputError, match=re.escape(message))


@pytest.fixture(autouse=True)
def _one_thread():
    """Keep threads from waiting for each other on a machine with other work."""
    with threadpool_limits(1):
        yield


def quick(name, kinds=None, random_state=1):
    """Make a model that is as the named one, but has few trees."""
    model = find_model(name, kinds, random_state)
    few = {"gradient_boosting": {"max_iter": 15}, "random_forest": {"n_estimators": 15}}
    model.named_steps["model"].set_params(**few.get(name, {}))
    return model


def mixed(n=90):
    """Three classes told by a number and a category, both missing now and then."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, n)
    X = np.column_stack([rng.normal(3 * y, 1), (y + (rng.random(n) < 0.1)) % 3, rng.normal(size=n)])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.array(["a", "b", "c"])[y]


def with_texts():
    X, y = mixed(60)
    words = {"a": "wheat and corn", "b": "gold and tin", "c": None}
    return np.column_stack([X[:, :1].astype(object), [words[one] for one in y]]), y


@pytest.mark.parametrize("name", MODELS)
def test_every_model_tells_three_classes_apart_on_mixed_columns(name):
    X, y = mixed()
    called = cross_val_predict(quick(name, KINDS), X, y, cv=FOLDS)
    floor = {"majority": 0.3, "tree": 0.7, "adaboost": 0.6}.get(name, 0.8)
    assert np.mean(called == y) >= floor


@pytest.mark.parametrize("name", MODELS)
def test_every_model_takes_plain_numbers_texts_and_sparse_rows(name):
    quick(name).fit(IRIS, SPECIES).predict(IRIS)
    X, y = with_texts()
    quick(name, TEXTS).fit(X, y).predict(X)
    quick(name).fit(csr_matrix(IRIS), SPECIES).predict(csr_matrix(IRIS[:3]))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_gives_scores_and_the_same_twice(name):
    X, y = mixed()
    first, second = (clone(quick(name, KINDS, 7)).fit(X, y) for _ in range(2))
    method = "predict_proba" if hasattr(first, "predict_proba") else "decision_function"
    scores = getattr(first, method)(X)
    assert scores.shape == (len(y), 3)
    assert np.array_equal(scores, getattr(second, method)(X))


@pytest.mark.parametrize("name", MODELS)
def test_seeds_are_open_until_one_is_given(name):
    def seeds(model):
        own = {"model__random_state"} & set(model.get_params())
        return [model.get_params()[key] for key in own]

    assert set(seeds(find_model(name))) <= {None}
    assert set(seeds(find_model(name, None, 3))) <= {3}


@pytest.mark.parametrize("name", [name for name in MODELS if name != "majority"])
def test_every_grid_names_settings_of_its_model(name):
    model = find_model(name, KINDS)
    grid = find_grid(name)
    for setting, values in grid.items():
        assert setting in model.get_params()
        assert len(values) > 1


def test_one_who_has_no_settings_cannot_be_tuned():
    with refused("`model` must have settings to choose from for --tune; 'majority' has none."):
        find_grid("majority")


def test_majority_says_the_most_frequent_class_and_the_shares():
    model = find_model("majority").fit(np.zeros((4, 1)), ["b", "a", "b", "b"])
    assert model.predict([[1.0]]).tolist() == ["b"]
    assert model.predict_proba([[1.0]]).tolist() == [[0.25, 0.75]]


def test_svm_is_the_linear_one():
    assert ALIASES["svm"] == "linear_svm"
    assert type(find_model("svm").named_steps["model"]).__name__ == "LinearSVM"


def test_models_that_need_it_are_scaled():
    scaled = {name for name, model in MODELS.items() if model.scaled}
    assert scaled == {"linear_svm", "rbf_svm", "logistic_regression", "knn", "set_covering"}
    X = IRIS * [1, 1e-3, 1e3, 1]
    for name in sorted(scaled):
        plain, stretched = (
            cross_val_predict(find_model(name), Z, SPECIES, cv=FOLDS) for Z in (IRIS, X)
        )
        assert np.mean(plain == stretched) > 0.98


def test_too_many_examples_for_a_kernel_are_refused():
    find_model("rbf_svm", examples=9000)
    with refused("rbf_svm keeps a matrix of all pairs and takes at most 9000. Use linear_svm"):
        find_model("rbf_svm", examples=9001)


def test_an_unknown_name_is_told_the_nearest():
    with refused("got 'random_forst'. Did you mean random_forest"):
        find_model("random_forst")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a module of one's own into the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    (tmp_path / "my_own_models.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "ready = LogisticRegression(C=3.0)\n"
        "class Space:\n    inner = LogisticRegression\n"
        "class Bare:\n    def fit(self, X, y): return self\n"
        "class Odd(Bare):\n    def predict(self, X): return X\n"
    )
    yield tmp_path
    sys.modules.pop("my_own_models", None)


def test_ones_own_model_is_imported_from_the_current_folder(own):
    model = find_model("my_own_models:ready", KINDS)
    assert model.named_steps["model"].C == 3.0
    assert model.named_steps["model"] is not sys.modules["my_own_models"].ready
    X, y = mixed()
    assert np.mean(model.fit(X, y).predict(X) == y) > 0.8
    inner = find_model("my_own_models:Space.inner").named_steps["model"]
    assert isinstance(inner, LogisticRegression)
    assert str(own) == sys.path[-1]


def test_a_class_of_an_installed_package_is_called():
    model = find_model("sklearn.linear_model:LogisticRegression")
    assert isinstance(model.named_steps["model"], LogisticRegression)


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_own_models:redy", "my_own_models has no 'redy'. Did you mean ready?"),
        ("my_own_models:Bare", "`model` must have fit and predict; 'my_own_models:Bare' has no"),
        ("my_own_models:Odd", "`model` must be one that scikit-learn can clone"),
        ("no_such_module:x", "`model` must name a module that can be imported"),
        ("my_own_models.py:ready", "Write my_own_models:attribute, in the folder of"),
    ],
    ids=["attribute", "no predict", "no clone", "module", "file"],
)
def test_what_is_no_model_is_refused(name, message):
    with refused(message):
        find_model(name)


def test_a_class_that_needs_arguments_is_refused(own):
    (own / "my_own_models.py").write_text("class Needy:\n    def __init__(self, a): self.a = a\n")
    with refused("'my_own_models:Needy' cannot be called with no argument"):
        find_model("my_own_models:Needy")


@pytest.mark.parametrize("name", ["model.pkl", "m.joblib", "M.PICKLE", "there.sav", "folder/x.pkl"])
def test_a_pickle_is_never_loaded(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with refused("Models are never unpickled, as that runs whatever the file says."):
        find_model(name)


def test_a_file_of_any_name_is_never_loaded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").write_bytes(pickle.dumps(print))
    with refused("got the file 'model'. Models are never unpickled"):
        find_model("model")


def data(name):
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("TRUERISK_DATA names no folder")
    return read_table(Path(folder) / "tabular" / f"{name}.csv.gz", target="target")


SETS = ("usvotes", "heart_cleveland_full303", "haberman")
FAST = ("linear_svm", "logistic_regression", "naive_bayes", "knn", "tree", "rbf_svm")


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
def test_the_fast_models_run_on_real_sets_without_a_warning(name):
    table = data(name)
    most = max(np.mean(table.y == label) for label in table.labels)
    for model in FAST:
        called = cross_val_predict(find_model(model, table.kinds, 1), table.X, table.y, cv=FOLDS)
        floor = most - 0.15 if name == "haberman" else most + 0.15
        assert np.mean(called == table.y) > floor, model


@pytest.mark.data
def test_the_slow_models_run_on_a_real_set_without_a_warning():
    table = data("heart_cleveland_full303")
    for model in ("random_forest", "gradient_boosting", "adaboost"):
        called = cross_val_predict(quick(model, table.kinds), table.X, table.y, cv=FOLDS)
        assert np.mean(called == table.y) > 0.7, model


@pytest.mark.data
def test_one_fast_model_runs_on_every_small_set():
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("TRUERISK_DATA names no folder")
    paths = sorted((Path(folder) / "tabular").glob("*.csv.gz"))
    small = [path for path in paths if path.stat().st_size < 10**6 and "raw" not in path.name]
    assert len(small) == 34
    for path in small:
        table = read_table(path, target="target")
        called = cross_val_predict(find_model("naive_bayes", table.kinds), table.X, table.y, cv=3)
        assert np.mean(called == table.y) > 0.35, path.name


class Wrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    def __init__(self, model=None, *, prefit=False):
        self.model = model
        self.prefit = prefit

    def fit(self, X, y):
        self.model_ = clone(self.model).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


FROZEN = FrozenEstimator(KNeighborsClassifier(1).fit([[0.0], [1.0]], [0, 1]))


@pytest.mark.parametrize(
    "model",
    [
        FROZEN,
        make_pipeline(StandardScaler(), FROZEN),
        Wrapper(FROZEN),
        Wrapper(KNeighborsClassifier(), prefit=True),
        make_pipeline(SelectFromModel(DecisionTreeClassifier(), prefit=True), GaussianNB()),
        StackingClassifier([("tree", DecisionTreeClassifier())], cv="prefit"),
    ],
    ids=["alone", "in a pipeline", "wrapped", "prefit", "a prefit step", "stacked"],
)
def test_a_model_that_does_not_train_in_its_refits_is_refused(model):
    with pytest.raises(InputError, match="`model` must be trained anew in each refit; got"):
        as_learner(model)


def test_a_frozen_step_that_only_transforms_is_allowed():
    model = make_pipeline(FrozenEstimator(StandardScaler().fit([[0.0], [1.0]])), GaussianNB())
    assert as_learner(model) is model


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "objects": lambda columns: np.array(list(zip(*columns.values(), strict=True)), dtype=object),
}


@pytest.mark.parametrize("name", ["logistic_regression", "naive_bayes", "gradient_boosting"])
@pytest.mark.parametrize("form", FRAMES)
def test_a_named_model_prepares_a_frame_as_a_table_file_is_prepared(name, form, tmp_path):
    rng = np.random.default_rng(3)
    age = rng.normal(50, 10, size=40).round(1)
    columns = {
        "age": [None if at == 5 else float(one) for at, one in enumerate(age)],
        "sex": [("m", "f", None)[at % 7 % 3] for at in range(40)],
    }
    y = np.where(age + rng.normal(0, 10, size=40) > 50, "ill", "well")
    rows = zip(*columns.values(), y, strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (tmp_path / "table.csv").write_text("\n".join(["age,sex,target", *lines]) + "\n")
    table = read_table(tmp_path / "table.csv")
    expected = find_model(name, table.kinds, 0).fit(table.X, table.y).predict_proba(table.X)
    X = FRAMES[form](columns)
    model = as_learner(name, X)
    params = {k: 0 for k in model.get_params() if k.endswith("random_state")}
    found = model.set_params(**params).fit(X, y).predict_proba(X)
    assert found == pytest.approx(expected, abs=1e-9)


def test_texts_and_numbers_need_no_frame():
    texts = ["good film", "bad film", "good book", "bad book"] * 3
    model = as_learner("linear_svm", texts).fit(texts, [1, 0] * 6)
    assert model.predict(["a good one"]) == [1]
    assert [name for name, _ in as_learner("tree", np.zeros((3, 2))).steps] == ["columns", "model"]


def test_a_column_of_ids_is_refused_as_in_a_table_file():
    frame = pd.DataFrame({"id": [f"id{at}" for at in range(80)], "size": range(80)})
    with pytest.raises(InputError, match=r"'id' has 80 distinct values in 80 rows.*probably ids"):
        as_learner("tree", frame)


def test_what_learners_know_of_the_columns():
    assert whose_columns(["number"]) == {"kinds": ("number",)}
    assert which_are_categories(["number", "category"]) == {"categorical_features": [False, True]}
    assert which_are_categories(["text", "category"]) == {}


def test_a_list_of_learners_takes_the_names_of_their_classes():
    tree = DecisionTreeClassifier()
    assert models_by_name(["svm", tree]) == {"svm": "svm", "DecisionTreeClassifier": tree}
    assert models_by_name(tree) == {"DecisionTreeClassifier": tree}
    assert models_by_name({3: tree}) == {"3": tree}


def test_two_learners_of_one_name_are_refused():
    with pytest.raises(InputError, match="got 'tree' 2 times"):
        models_by_name(["tree", "svm", "tree"])


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LinearRegression(), "LinearRegression, a regressor"),
        (make_pipeline(StandardScaler(), LinearRegression()), "Pipeline, a regressor"),
        (KMeans(2), "KMeans, a clusterer"),
        (IsolationForest(), "IsolationForest, an outlier detector"),
    ],
)
def test_what_predicts_no_classes_is_refused_before_any_refit(model, kind):
    with pytest.raises(InputError, match=f"`model` must be a classifier; got {kind}"):
        as_learner(model)
