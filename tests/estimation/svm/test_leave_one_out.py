"""Leave-one-out, against the loop that it stands for."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from truerisk.errors import InputError
from truerisk.estimation.refits.estimate import estimate
from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.results import has_code
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM

pytestmark = pytest.mark.filterwarnings("ignore::truerisk.errors.UnstableWarning")

IRIS, SPECIES = load_iris(return_X_y=True)


def loop(svm, X, y, weights=None):
    """The calls of machines each trained without the example it calls."""
    calls = []
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        part = None if weights is None else weights[kept]
        calls.append(clone(svm).fit(X[kept], y[kept], sample_weight=part).predict(X[i : i + 1])[0])
    return np.array(calls)


def noise(n=60, width=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)), rng.integers(0, 2, n)


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "gamma": 0.2, "coef0": 1.0},
        {"kernel": "rbf", "gamma": 0.4},
    ],
    ids=lambda kernel: kernel["kernel"],
)
@pytest.mark.parametrize("data", ["iris", "noise"])
def test_the_set_of_errors_is_that_of_libsvm_in_a_loop(data, kernel, C):
    X, y = (IRIS[50:], SPECIES[50:] - 1) if data == "iris" else noise()
    found = leave_one_out(KernelSVM(C=C, **kernel), X, y)
    theirs = loop(SVC(C=C, tol=1e-6, **kernel), X, y)
    wrong = set(np.flatnonzero(theirs != y).tolist())
    assert set(found.errors) ^ wrong <= set(found.ties)
    assert found["error_rate"].value == pytest.approx(len(found.errors) / len(y))


@pytest.mark.parametrize("C", [0.01, 0.3])
def test_sparse_rows_give_the_errors_of_the_loop(C):
    X, y = make_classification(80, 300, n_informative=15, flip_y=0.2, random_state=2)
    X = np.maximum(X, 0)
    found = leave_one_out(LinearSVM(C=C), csr_matrix(X), y, n_jobs=2)
    theirs = loop(SVC(C=C, kernel="linear", tol=1e-9), X, y)
    assert set(found.errors) == set(np.flatnonzero(theirs != y).tolist())


def test_weights_are_bounds_in_every_refit():
    X, y = noise(50, seed=3)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 50)
    found = leave_one_out(KernelSVM(C=1.0, gamma=0.3), X, y, sample_weight=weights)
    theirs = loop(SVC(C=1.0, gamma=0.3, tol=1e-9), X, y, weights)
    assert set(found.errors) == set(np.flatnonzero(theirs != y).tolist())


@pytest.mark.parametrize("svm", [LinearSVM(C=0.5), KernelSVM(C=2.0, gamma=0.2)])
def test_with_three_classes_the_calls_are_those_of_the_loop(svm):
    X, y = IRIS[::2], SPECIES[::2]
    found = leave_one_out(svm, X, y)
    wrong = np.flatnonzero(loop(svm, X, y) != y)
    assert found.errors == tuple(wrong.tolist())
    assert set(found.by_class) == {"0", "1", "2"}


def test_labels_are_left_out_one_machine_at_a_time():
    labels = np.column_stack([SPECIES == 0, SPECIES == 2]).astype(int)
    found = leave_one_out(LinearSVM(C=1.0), IRIS, labels)
    alone = leave_one_out(LinearSVM(C=1.0), IRIS, labels[:, 1])
    assert found.by_class["1"]["recall"].value == alone["recall"].value


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_xi_alpha_at_2_never_says_less(C):
    for X, y in [(IRIS[50:], SPECIES[50:] - 1), noise(80, 3, 5), noise(80, 3, 6)]:
        svm = KernelSVM(C=C, gamma=0.5)
        exact = leave_one_out(svm, X, y)
        if svm.fit(X, y).stable_:
            bound = xi_alpha(svm, X, y, rho=2.0)
            assert bound["error_rate"].value >= exact["error_rate"].value


def test_the_only_example_of_a_class_is_an_error():
    found = leave_one_out(LinearSVM(C=10.0), [[0.0], [0.2], [0.4], [3.0]], [0, 0, 0, 1])
    assert 3 in found.errors


def test_a_margin_of_0_is_listed_as_a_tie():
    # Without the middle point, the boundary lies on it.
    X = [[-2.0], [-1.0], [0.0], [1.0], [2.0]]
    found = leave_one_out(LinearSVM(C=0.01), [*X, [-3.0], [3.0]], [0, 0, 1, 1, 1, 0, 1])
    loose = leave_one_out(LinearSVM(C=100.0), X, [0, 0, 1, 1, 1])
    assert isinstance(found.ties, tuple)
    assert 2 in loose.ties
    assert any("arbitrary" in note for note in loose.notes)


def test_it_says_what_it_is_about():
    found = leave_one_out(LinearSVM(C=1.0), IRIS[50:], SPECIES[50:] - 1)
    assert found["recall"].target == "this model"
    assert found["recall"].method == "leave_one_out"
    assert 0 < found.refits < 100


def predictions_of_refits(model, X, y):
    return np.flatnonzero(cross_val_predict(model, X, y, cv=LeaveOneOut()) != y)


def test_any_other_model_is_trained_without_each_example():
    X, y = IRIS[50:, :2], SPECIES[50:] - 1
    found = leave_one_out(DecisionTreeClassifier(random_state=0), X, y)
    theirs = predictions_of_refits(DecisionTreeClassifier(random_state=0), X, y)
    assert found.errors == tuple(theirs.tolist())
    assert found.refits == 100
    assert found["recall"].target == "the learner at this sample size"


@pytest.mark.parametrize(
    "model",
    [
        SVC(C=1.0, gamma=0.3),
        SVC(C=2.0, kernel="linear"),
        SVC(C=2.0, kernel="poly", gamma=0.3, coef0=1.0, class_weight={0: 2.0}),
        LinearSVC(loss="hinge", C=0.5, tol=1e-6, max_iter=200_000),
        OneVsRestClassifier(SVC(gamma=0.3)),
        Pipeline([("same", "passthrough"), ("svm", SVC(gamma=0.3))]),
    ],
    ids=["rbf", "linear", "weights", "LinearSVC", "one against the rest", "an empty pipeline"],
)
def test_scikit_learns_svms_are_left_out_by_their_duals(model):
    X, y = IRIS[50:, :2], SPECIES[50:] - 1
    found = leave_one_out(model, X, y)
    assert set(found.errors) ^ set(predictions_of_refits(model, X, y)) <= set(found.ties)
    assert 0 < found.refits < 60
    assert not has_code(found.notes, "preparation_fitted_once")


@pytest.mark.parametrize(
    "model",
    [
        SVC(C=1.0, gamma=0.3),
        OneVsRestClassifier(SVC(C=1.0, gamma=0.3)),
        LinearSVC(loss="hinge", C=0.5, tol=1e-6, max_iter=200_000),
    ],
    ids=["pairs", "one against the rest", "LinearSVC"],
)
def test_several_classes_are_trained_without_support_vectors_only(model):
    X, y = IRIS[::2, 1:3], SPECIES[::2]
    found = leave_one_out(model, X, y, n_jobs=2)
    assert set(found.errors) == set(predictions_of_refits(model, X, y))
    assert found.refits < 75 or isinstance(model, OneVsRestClassifier)


def test_what_depends_on_the_data_is_settled_once():
    X, y = IRIS[:, 1:3], SPECIES
    found = leave_one_out(SVC(class_weight="balanced"), X, y)
    gamma = 1 / (2 * X.var())
    settled = SVC(gamma=gamma, class_weight={0: 1.0, 1: 1.0, 2: 1.0})
    assert set(found.errors) == set(predictions_of_refits(settled, X, y))


def test_the_preparation_in_a_pipeline_is_fitted_once_and_that_is_said():
    X, y = IRIS[50:, :2] * [1.0, 50.0], SPECIES[50:] - 1
    found = leave_one_out(make_pipeline(StandardScaler(), SVC(gamma=0.3)), X, y)
    assert found.errors == leave_one_out(SVC(gamma=0.3), scale(X), y).errors
    assert has_code(found.notes, "preparation_fitted_once")
    assert found.refits < 100


def test_a_preparation_that_uses_the_labels_is_fitted_without_each_example():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 300)), np.repeat([0, 1], 20)
    model = make_pipeline(SelectKBest(k=3), SVC(kernel="linear"))
    found = leave_one_out(model, X, y)
    assert found.errors == tuple(predictions_of_refits(model, X, y).tolist())
    assert found.refits == 40
    assert found["error_rate"].value > 0.3  # noise, of which three columns of 300 look good


def test_a_name_stands_for_an_svm_with_its_preparation():
    X, y = IRIS[50:, :2], SPECIES[50:] - 1
    frame = pd.DataFrame({"width": X[:, 0], "size": np.where(X[:, 1] > 2.8, "large", "small")})
    found = leave_one_out("linear_svm", frame, y)
    assert found.refits < 100
    assert found["error_rate"].value < 0.5


def test_a_precomputed_kernel_is_taken():
    X, y = IRIS[50:, :2] - 3.0, SPECIES[50:] - 1
    found = leave_one_out(SVC(kernel="precomputed"), X @ X.T, y)
    assert found.errors == leave_one_out(SVC(kernel="linear"), X, y).errors


def test_weights_are_for_svms():
    weights = np.where(SPECIES[50:] == 1, 1.0, 2.0)
    X, y = IRIS[50:, :2], SPECIES[50:] - 1
    found = leave_one_out(SVC(gamma=0.3), X, y, sample_weight=weights)
    calls = loop(SVC(gamma=0.3, tol=1e-9), X, y, weights)
    assert set(found.errors) ^ set(np.flatnonzero(calls != y)) <= set(found.ties)
    with pytest.raises(InputError, match="`sample_weight` must be left out where the model is tr"):
        leave_one_out(DecisionTreeClassifier(), X, y, sample_weight=weights)


def test_errors_on_positive_and_on_negative_examples_have_their_names():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)[:100]
    y = y[:100]
    left = leave_one_out(LinearSVM(), X, y)
    wrong = np.array(left.errors)
    assert left.loo_plus == np.sum(y[wrong] == 1)
    assert left.loo_minus == np.sum(y[wrong] == 0)
    assert left.loo_plus != left.loo_minus


def test_the_folds_behind_the_intervals_have_the_gamma_of_all_examples():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120] / X[:120].std(axis=0), y[:120]
    gamma = 1.0 / (X.shape[1] * X.var())
    scaled, given = (leave_one_out(KernelSVM(gamma=value), X, y) for value in ("scale", gamma))
    assert scaled.errors == given.errors
    for name, one in scaled.items():
        other = given[name].interval
        assert one.interval == other or one.interval.low == pytest.approx(other.low, abs=1e-9)


@pytest.mark.parametrize("measure", ["error_rate", "recall"])
def test_the_interval_holds_that_of_the_folds_too(measure):
    """With nothing to learn, leave-one-out of balanced classes is too high, and folds are not."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    left = leave_one_out(LinearSVM(), X, y, pos_label=1, measures=(measure,))
    folds = estimate(LinearSVM(), X, y, pos_label=1, measures=(measure,), random_state=0)
    ends, inner = left[measure].interval, folds[measure].interval
    assert left[measure].value != folds[measure].value
    assert ends.low <= min(inner.low, left[measure].value)
    assert ends.high >= max(inner.high, left[measure].value)
    assert inner.low in (ends.low, pytest.approx(ends.low)) or inner.high == pytest.approx(
        ends.high
    )


def test_the_verdict_speaks_of_the_lengthened_intervals():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    left = leave_one_out(LinearSVM(), X, y, pos_label=1)
    folds = estimate(LinearSVM(), X, y, pos_label=1, random_state=0)
    high = left["accuracy"].interval.high
    assert high == pytest.approx(folds["accuracy"].interval.high)  # the end that was lengthened
    right = next(finding for finding in left.verdict if finding.code == "right_share")
    assert f"to {100 * high:.1f} %" in right
