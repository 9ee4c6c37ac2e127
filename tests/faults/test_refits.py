"""What goes wrong when a learner is estimated: failing models, missing classes, wrong settings."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.errors import InputError, RefitError, ResourceError
from truerisk.estimation.refits.estimate import estimate

RNG = np.random.default_rng(2)
N = 40
X = RNG.normal(size=(N, 2))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
RARE = np.where(np.arange(N) < 3, 1, 0)
TREE = DecisionTreeClassifier(max_depth=2)
FEW = {"folds": 4, "repeats": 2, "random_state": 1, "replicates": 100}


class NeedsTheFirstExample(ClassifierMixin, BaseEstimator):
    """Fails wherever the first example is not among those it is trained on."""

    def fit(self, rows, y):
        if not (rows == X[0]).all(axis=1).any():
            raise RuntimeError("where is the first example?")
        self.classes_ = np.unique(y)
        return self

    def predict(self, rows):
        return (rows[:, 0] > 0).astype(int)


class PredictsNoLabel(NeedsTheFirstExample):
    """Predicts what is no label."""

    def fit(self, *_):
        return self

    def predict(self, rows):
        return rows[:, 0]


def test_a_failing_fold_is_named_and_ends_the_estimate():
    with pytest.raises(RefitError) as caught:
        estimate(NeedsTheFirstExample(), X, Y, **FEW)
    printed = str(caught.value)
    assert "it failed in 2 of 8: fold " in printed
    assert (
        len(re.findall(r"fold \d of repetition \d: RuntimeError: where is the first", printed)) == 2
    )
    assert "allow_failed=True" in printed


def test_a_failing_fold_that_is_allowed_is_told_and_its_examples_are_missing():
    result = estimate(NeedsTheFirstExample(), X, Y, allow_failed=True, **FEW)
    failed = [note for note in result.notes if "failed and is left out" in note]
    assert len(failed) == 2
    judged = (result.called >= 0).any(axis=0)
    assert not judged[0]
    assert result.n == judged.sum() == result["error_rate"].n
    share = np.mean([(row[row >= 0] != Y[row >= 0]).mean() for row in result.called])
    assert result["error_rate"].value == pytest.approx(share, abs=0.1)
    assert len(result["error_rate"].replicates) == 6


def test_a_model_that_always_fails_is_no_result_even_if_allowed():
    with pytest.raises(RefitError, match=r"failed in 8 of 8: .*must predict one of the labels"):
        estimate(PredictsNoLabel(), X, Y, allow_failed=True, **FEW)


def test_a_regressor_is_refused_before_any_refit():
    with pytest.raises(InputError, match=r"`model` must be a classifier; got LinearRegression, a"):
        estimate(LinearRegression(), X, Y, **FEW)


class Threshold(ClassifierMixin, BaseEstimator):
    """Goes by the sign of the first column; subclasses go wrong."""

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, rows):
        return self.classes_[(rows[:, 0] > 0).astype(int)]


class PredictsTwoColumns(Threshold):
    """Predicts two labels for each example."""

    def predict(self, rows):
        return np.c_[super().predict(rows), super().predict(rows)]


class ScoresThreeExamples(Threshold):
    """Gives probabilities for three examples, however many there are."""

    def predict_proba(self, _):
        return np.full((3, 2), 0.5)


class HasNoMemory(Threshold):
    """Needs more memory than there is."""

    def fit(self, *_):
        raise MemoryError("12 GiB")


class RoundsToFloat32(Threshold):
    """Gives probabilities of three classes that miss 1 by `off`."""

    def __init__(self, off=0.0, dtype="f4"):
        self.off = off
        self.dtype = dtype

    def predict_proba(self, rows):
        shares = np.abs(np.c_[rows, rows[:, 0]]) + 0.1
        return (shares / shares.sum(axis=1, keepdims=True) * (1 + self.off)).astype(self.dtype)

    def predict(self, rows):
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]


def test_predictions_of_a_wrong_shape_are_named_by_their_fold():
    printed = r"failed in 8 of 8: fold 1 of repetition 1: .*must predict one label for each of 10 "
    with pytest.raises(RefitError, match=printed):
        estimate(PredictsTwoColumns(), X, Y, **FEW)


def test_probabilities_of_a_wrong_length_are_named_by_their_fold():
    printed = r"failed in 8 of 8: fold 1 of repetition 1: .*predict_proba of shape \(3, 2\)"
    with pytest.raises(RefitError, match=printed):
        estimate(ScoresThreeExamples(), X, Y, **FEW)


def test_a_model_out_of_memory_is_the_machines_fault_even_if_failures_are_allowed():
    with pytest.raises(ResourceError, match="Memory ran out in fold 1 of repetition 1: 12 GiB"):
        estimate(HasNoMemory(), X, Y, allow_failed=True, **FEW)


THREE = np.arange(N) % 3


def test_probabilities_may_miss_1_by_the_rounding_of_their_type():
    assert estimate(RoundsToFloat32(4e-6), X, THREE, **FEW)["log_loss"].is_defined
    for off, dtype in ((2e-3, "f4"), (4e-6, "f8")):
        with pytest.raises(InputError, match="must add up to 1"):
            estimate(RoundsToFloat32(off, dtype), X, THREE, **FEW)


def test_decision_values_of_pairs_rank_no_classes():
    pairs = estimate(SVC(decision_function_shape="ovo"), X, THREE, **FEW)
    classes = estimate(SVC(), X, THREE, **FEW)
    assert "roc_auc_macro" in classes
    assert "roc_auc_macro" not in pairs
    assert pairs["error_rate"].value == classes["error_rate"].value


def test_the_columns_of_a_polars_frame_keep_their_names():
    model = make_pipeline(make_column_transformer(("passthrough", ["a"])), TREE)
    rows = pd.DataFrame(X, columns=["a", "b"])
    result = estimate(model, pl.DataFrame(X, schema=["a", "b"]), Y, **FEW)
    assert np.array_equal(result.called, estimate(model, rows, Y, **FEW).called)


def test_no_number_of_workers_is_one():
    result = estimate(TREE, X, Y, n_jobs=None, **FEW)
    assert result["error_rate"] == estimate(TREE, X, Y, **FEW)["error_rate"]


def test_a_fold_without_a_class_to_train_on_is_named():
    groups = np.where(np.arange(N) < 3, 0, np.arange(N))  # all positives are one group
    with pytest.raises(RefitError, match=r"failed in 2 of 8: fold \d of repetition 1: ValueError"):
        estimate(LogisticRegression(), X, RARE, groups=groups, **FEW)
    result = estimate(TREE, X, RARE, groups=groups, **FEW)
    assert result["recall"].value == 0.0


def test_a_fold_without_a_class_to_judge_is_pooled_with_the_others():
    result = estimate(TREE, X, RARE, allow_small_classes=True, **FEW)
    assert np.isnan(result["recall"].replicates).sum() == 2  # a fold in each repetition
    assert result["recall"].n == pytest.approx(3)
    assert result["roc_auc"].is_defined


def test_decision_values_are_left_out_where_a_refit_lacks_a_class():
    y = np.where(np.arange(N) == 0, 2, Y)
    result = estimate(LinearSVC(), X, y, allow_small_classes=True, **FEW)
    assert not any(name.startswith("roc_auc") for name in result)
    assert result["error_rate"].is_defined


def test_a_class_that_no_bootstrap_sample_need_hold():
    once = np.where(np.arange(N) < 1, 1, 0)  # missing in 1/e of the samples
    result = estimate(TREE, X, once, method="bootstrap", repeats=20, random_state=1)
    assert result["error_rate"].is_defined
    with pytest.raises(RefitError, match=r"of 20: bootstrap sample \d+: ValueError"):
        estimate(LogisticRegression(), X, once, method="bootstrap", repeats=20, random_state=1)


REFUSED = [
    ("more folds than the rarest class", {"y": RARE}, "must not exceed the examples of any class"),
    ("the class counts are listed", {"y": RARE}, "with 3 of '1', 37 of '0'"),
    ("more folds than examples", {"folds": 41}, "`folds` must not exceed the 40 examples; got 41"),
    ("one fold", {"folds": 1}, "`folds` must lie in [2, "),
    ("half a fold", {"folds": 2.5}, "`folds` must be a whole number; got 2.5"),
    ("fewer than one repetition", {"repeats": -1}, "`repeats` must lie in [1, "),
    ("one class", {"y": np.ones(N)}, "`y` must hold two classes or more; all 40 are '1'"),
    ("missing labels", {"y": np.where(Y, 1, np.nan)}, "must have a label everywhere; "),
    (
        "NaN among texts",
        {"y": ["a" if one else np.nan for one in Y], "pos_label": "a"},
        "`y` must have a label everywhere; ",
    ),
    (
        "'1' and 1 in one list",
        {"y": ["1", 1, *[2] * 38], "pos_label": "2"},
        "`y` must hold labels of one type; got int, str",
    ),
    ("empty labels", {"y": np.where(Y, "a", ""), "pos_label": "a"}, "the first at index 0. Drop"),
    ("measurements", {"y": Y / 2}, "`y` must hold labels; got 0.5. Numbers with a fraction"),
    (
        "NA of pandas as label",
        {"y": pd.Series([*np.where(Y, "a", "b")[1:], pd.NA], dtype="string"), "pos_label": "a"},
        "`y` must have a label everywhere; 1 is missing",
    ),
    ("rows of several lengths", {"X": [[1], [1, 2]] * 20}, "`X` must have rows of one length"),
    ("labels of another length", {"y": Y[:-1]}, "`y` must have a label for each of 40 rows"),
    ("sets of labels", {"y": np.c_[Y, Y]}, "`y` must be one label for each example"),
    ("no row", {"X": X[:0], "y": Y[:0]}, "`X` must have at least two rows"),
    ("a class for an instance", {"model": LogisticRegression}, "write LogisticRegression()"),
    ("a model without predict", {"model": StandardScaler()}, "a StandardScaler without predict"),
    ("no model", {"model": None}, "a NoneType without fit, predict, get_params"),
    ("an unknown method", {"method": "loo"}, "`method` must be one of cross_validation"),
    (
        "an unknown interval",
        {"interval": "wald"},
        "`interval` must be one of variance_components, agreement",
    ),
    ("an unknown measure", {"measures": ["acc"]}, "`measure` must be one of accuracy"),
    ("a level in per cent", {"level": 95}, "Write 0.95 for 95 %"),
    ("a seed that is no number", {"random_state": "a"}, "`random_state` must be a whole number"),
    (
        "resampled cells",
        {"cell_interval": "bca"},
        "`cell_interval` must be by_measure, smoothed_delta or",
    ),
    ("no workers", {"n_jobs": 0}, "`n_jobs` must be a positive whole number"),
    (
        "two NaN in groups",
        {"groups": np.where(np.arange(N) < 2, np.nan, np.arange(N) % 5)},
        "`groups` must have a value for every example; 2 are missing",
    ),
    (
        "NaN among the texts of groups",
        {"groups": [*[str(at % 5) for at in range(N - 2)], np.nan, np.nan]},
        "`groups` must have a value for every example; 2 are missing",
    ),
    (
        "NA of pandas as group",
        {"groups": pd.Series([*[str(at % 5) for at in range(N - 1)], pd.NA], dtype="string")},
        "`groups` must have a value for every example; 1 is missing",
    ),
    ("two columns of groups", {"groups": np.c_[Y, Y]}, "`groups` must be one group for each"),
    ("fewer groups than folds", {"groups": np.arange(N) % 3}, "must not exceed the 3 groups"),
    (
        "groups where none can be kept",
        {"groups": np.arange(N) % 5, "method": "leave_one_out"},
        "`method` must keep groups together",
    ),
    (
        "a test set of everything",
        {"method": "holdout", "test_size": 1.0},
        "`test_size` must leave something on both sides",
    ),
    (
        "a rule that does not fit",
        {"method": "bootstrap", "repeats": 20, "interval": "corrected_t"},
        "`interval` must be left out for bootstrap",
    ),
    (
        "a seed that is drawn anew",
        {"resume": "nowhere", "random_state": None},
        "`random_state` must be given with `resume`",
    ),
]


@pytest.mark.parametrize(
    ("change", "message"), [pytest.param(*rest, id=fault) for fault, *rest in REFUSED]
)
def test_what_cannot_be_meant_is_refused(change, message):
    few = {"random_state": 1} if "method" in change else FEW  # not every method has folds
    given = {"model": DummyClassifier(), "X": X, "y": Y, **few, **change}
    with pytest.raises(InputError, match=re.escape(message)):
        estimate(given.pop("model"), given.pop("X"), given.pop("y"), **given)


FEATURES = pd.DataFrame({"x": np.arange(40.0) % 7, "z": np.arange(40.0) % 3})
LABELS = pd.Series((np.arange(40) % 7 > 3).astype(int))
REVERSED = LABELS.iloc[::-1]


@pytest.mark.parametrize(
    "call",
    [
        lambda: tr.estimate("knn", FEATURES, REVERSED),
        lambda: tr.estimate("knn", FEATURES, LABELS, groups=REVERSED),
        lambda: tr.estimate(GaussianNB(), FEATURES, LABELS, sample_weight=REVERSED),
        lambda: tr.learning_curve("knn", FEATURES, REVERSED),
        lambda: tr.compare_models("knn", "tree", FEATURES, REVERSED),
        lambda: tr.best_of(["knn", "tree"], FEATURES, REVERSED),
        lambda: tr.perturbation("linear_svm", FEATURES, REVERSED),
        lambda: tr.select(SVC(), FEATURES, REVERSED),
        lambda: tr.leave_one_out(SVC(), FEATURES, REVERSED),
        lambda: tr.xi_alpha(SVC().fit(FEATURES, LABELS), FEATURES, REVERSED),
        lambda: tr.without_resampling(SVC(), FEATURES, REVERSED),
        lambda: tr.evaluate_model(GaussianNB().fit(FEATURES, LABELS), FEATURES, REVERSED),
    ],
)
def test_rows_and_labels_in_different_orders_are_refused(call):
    with pytest.raises(InputError, match=r"in different orders\. Align them \(\w+\.loc\[X\.index"):
        call()


def test_a_failure_of_every_refit_is_told_once():
    gaps = FEATURES.mask(FEATURES["x"] == 1)
    with pytest.raises(RefitError) as failed:
        tr.estimate(GaussianNB(), gaps, LABELS, repeats=1)
    message = str(failed.value)
    assert "it failed in 10 of 10: fold 1: ValueError: Input X contains NaN." in message
    assert "; fold 2: the same; fold 3: the same." in message
    assert message.count("Input X contains NaN") == 1
    assert "\n" not in message
