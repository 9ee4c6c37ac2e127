"""Sample compression: the arithmetic by hand, and that the examples named rebuild the rule."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from truerisk import (
    CondensedNeighbors,
    KernelSVM,
    LinearSVM,
    SetCoveringMachine,
    compression_bound,
    upper_bound,
)
from truerisk.errors import InputError
from truerisk.estimation.compression import _scheme
from truerisk.results import has_code

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
FRESH = np.random.default_rng(0).normal(size=(400, X.shape[1]))
REBUILT = {
    "linear": LinearSVM(),
    "kernel": KernelSVM(gamma=0.03),
    "libsvm": SVC(gamma=0.03, tol=1e-6),
    "liblinear": LinearSVC(loss="hinge", max_iter=200_000, tol=1e-8),
    "condensed": CondensedNeighbors(),
    "perceptron": Perceptron(shuffle=False, tol=None, max_iter=7),
}


@pytest.mark.parametrize("name", REBUILT)
def test_trained_on_those_examples_alone_the_classifier_is_the_same(name):
    model = clone(REBUILT[name]).fit(X, Y)
    rows = _scheme(model, X, Y).rows
    assert len(rows) < len(Y) / 2
    again = clone(REBUILT[name]).fit(X[rows], Y[rows])
    assert np.mean(again.predict(FRESH) != model.predict(FRESH)) <= 0.005  # rounding of libsvm


def test_a_multiclass_svm_is_determined_by_the_support_vectors_of_all_its_problems():
    A, labels = load_iris(return_X_y=True)
    for svm in (LinearSVM(), SVC(gamma=0.3)):
        model = clone(svm).fit(A, labels)
        rows = _scheme(model, A, labels).rows
        again = clone(svm).fit(A[rows], labels[rows])
        assert_array_equal(again.predict(A), model.predict(A))
        assert compression_bound(model, A, labels).interval.high < 1


def test_the_bound_by_hand():
    model = SetCoveringMachine(max_balls=1, kind="disjunction").fit(X, Y)
    found = compression_bound(model, X, Y, tried=4)
    d, n = len(model.compression_set_), len(Y)
    assert d == 2
    outside = np.setdiff1d(np.arange(n), model.compression_set_)
    wrong = int(np.sum(model.predict(X[outside]) != Y[outside]))
    # (d + 1)(d + 2) sizes, C(n, 2) sets, (1 + 1)(1 + 2) · C(2b, 1) messages, 4 settings.
    borders = int((Y[model.compression_set_] == 0).sum())
    delta = 0.05 / (12 * n * (n - 1) / 2 * 6 * 2 * borders * 4)
    assert found.interval.high == pytest.approx(upper_bound(wrong, n - d, delta=delta), rel=1e-9)
    assert (found.value, found.n) == (wrong / (n - d), n - d)
    assert found.interval.side == "upper"


def test_a_pipeline_is_read_and_its_steps_are_named():
    A, labels = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LinearSVM()).fit(A, labels)
    found = compression_bound(pipeline, A, labels)
    alone = compression_bound(LinearSVM().fit(X, Y), X, Y)
    assert found.interval.high == pytest.approx(alone.interval.high)
    assert has_code(found.notes, "not_given_beforehand")
    assert not has_code(alone.notes, "not_given_beforehand")
    assert has_code(compression_bound(KernelSVM().fit(X, Y), X, Y).notes, "not_given_beforehand")


def test_one_against_the_rest_of_two_classes_is_the_model_within():
    inner = SetCoveringMachine().fit(X, Y)
    outer = OneVsRestClassifier(SetCoveringMachine()).fit(X, Y)
    assert compression_bound(outer, X, Y) == compression_bound(inner, X, Y)


def test_an_unstable_svm_has_no_bound():
    A, labels = [[0.0], [1.0], [0.2], [0.8]], [0, 1, 1, 0]
    with pytest.warns(UserWarning, match="unstable|bias"):
        model = KernelSVM(kernel="linear", C=0.01).fit(A, labels)
    found = compression_bound(model, np.array(A), labels)
    assert found.interval is None
    assert has_code(found.notes, "unstable")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (DummyClassifier(), "`fitted` must be an SVM of truerisk or scikit-learn"),
        (NuSVC(), "determined by its support vectors; got NuSVC"),
        (Perceptron(), "with shuffle=False"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_classifiers_are_refused(model, message):
    with pytest.raises(InputError, match=message):
        compression_bound(model.fit(X, Y), X, Y)


def test_other_examples_are_refused():
    model = Perceptron(shuffle=False).fit(X, Y)
    with pytest.raises(InputError, match="training again gives other weights"):
        compression_bound(model, X[::-1], Y[::-1])
    machine = SetCoveringMachine().fit(X, Y)
    with pytest.raises(InputError, match="must hold the examples that it was trained on"):
        compression_bound(machine, X[:20], Y[:20])
