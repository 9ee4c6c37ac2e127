"""What goes wrong when a learner is estimated: failing models, missing classes, wrong settings."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from truerisk.errors import InputError, RefitError
from truerisk.estimation.estimate import estimate

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
    told = str(caught.value)
    assert "it failed in 2 of 8: fold " in told
    assert len(re.findall(r"fold \d of repetition \d: RuntimeError: where is the first", told)) == 2
    assert "allow_failed=True" in told


def test_a_failing_fold_that_is_allowed_is_told_and_its_examples_are_missing():
    found = estimate(NeedsTheFirstExample(), X, Y, allow_failed=True, **FEW)
    failed = [note for note in found.notes if "failed and is left out" in note]
    assert len(failed) == 2
    judged = (found.called >= 0).any(axis=0)
    assert not judged[0]
    assert found.n == judged.sum() == found["error_rate"].n
    share = np.mean([(row[row >= 0] != Y[row >= 0]).mean() for row in found.called])
    assert found["error_rate"].value == pytest.approx(share, abs=0.1)
    assert len(found["error_rate"].replicates) == 6


def test_a_model_that_always_fails_is_no_result_even_if_allowed():
    with pytest.raises(RefitError, match=r"failed in 8 of 8: .*must predict one of the labels"):
        estimate(PredictsNoLabel(), X, Y, allow_failed=True, **FEW)


def test_a_regressor_is_told_by_its_predictions():
    with pytest.raises(RefitError, match=r"`model` must predict one of the labels \[0, 1\]; got"):
        estimate(LinearRegression(), X, Y, **FEW)


def test_a_fold_without_a_class_to_train_on_is_named():
    groups = np.where(np.arange(N) < 3, 0, np.arange(N))  # all positives are one group
    with pytest.raises(RefitError, match=r"failed in 2 of 8: fold \d of repetition 1: ValueError"):
        estimate(LogisticRegression(), X, RARE, groups=groups, **FEW)
    found = estimate(TREE, X, RARE, groups=groups, **FEW)
    assert found["recall"].value == 0.0


def test_a_fold_without_a_class_to_judge_is_pooled_with_the_others():
    found = estimate(TREE, X, RARE, allow_small_classes=True, **FEW)
    assert np.isnan(found["recall"].replicates).sum() == 2  # a fold in each repetition
    assert found["recall"].n == pytest.approx(3)
    assert found["roc_auc"].is_defined


def test_decision_values_are_left_out_where_a_refit_lacks_a_class():
    y = np.where(np.arange(N) == 0, 2, Y)
    found = estimate(LinearSVC(), X, y, allow_small_classes=True, **FEW)
    assert not any(name.startswith("roc_auc") for name in found)
    assert found["error_rate"].is_defined


def test_a_class_that_no_bootstrap_sample_need_hold():
    once = np.where(np.arange(N) < 1, 1, 0)  # missing in 1/e of the samples
    found = estimate(TREE, X, once, method="bootstrap", repeats=20, random_state=1)
    assert found["error_rate"].is_defined
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
    ("labels of another length", {"y": Y[:-1]}, "`y` must have a label for each of 40 rows"),
    ("sets of labels", {"y": np.c_[Y, Y]}, "`y` must be one label for each example"),
    ("no row", {"X": X[:0], "y": Y[:0]}, "`X` must have at least two rows"),
    ("a class for an instance", {"model": LogisticRegression}, "write LogisticRegression()"),
    ("a model without predict", {"model": StandardScaler()}, "a StandardScaler without predict"),
    ("no model", {"model": None}, "a NoneType without fit, predict, get_params"),
    ("an unknown option", {"fold": 5}, "must be given options it knows"),
    ("an option of predictions", {"threshold": 0.5}, "must be given options it knows"),
    ("an unknown method", {"method": "loo"}, "`method` must be one of cross_validation"),
    ("an unknown interval", {"interval": "wald"}, "`interval` must be one of agreement"),
    ("an unknown measure", {"measures": ["acc"]}, "`measure` must be one of accuracy"),
    ("a level in per cent", {"level": 95}, "Write 0.95 for 95 %"),
    ("a seed that is no number", {"random_state": "a"}, "`random_state` must be a whole number"),
    ("resampled cells", {"cell_interval": "bca"}, "`cell_interval` must be smoothed_delta or"),
    ("no workers", {"n_jobs": 0}, "`n_jobs` must be a positive whole number"),
    (
        "two NaN in groups",
        {"groups": np.where(np.arange(N) < 2, np.nan, np.arange(N) % 5)},
        "`groups` must have a value for every example; 2 are missing",
    ),
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
    given = {"model": DummyClassifier(), "X": X, "y": Y, **FEW, **change}
    with pytest.raises(InputError, match=re.escape(message)):
        estimate(given.pop("model"), given.pop("X"), given.pop("y"), **given)
