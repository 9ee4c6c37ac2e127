import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from truerisk.errors import InputError
from truerisk.svm.dual_of import duals_of, is_readable, twin_of
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
TWO = Y > 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_our_machines_agree_with_libsvm(form):
    examples, labels = form(X[TWO]), NAMES[TWO]
    for ours, theirs in (
        (LinearSVM(C=0.5), SVC(kernel="linear", C=0.5, tol=1e-8)),
        (KernelSVM(C=2.0, gamma=0.5), SVC(C=2.0, gamma=0.5, tol=1e-8)),
    ):
        (first,) = duals_of(ours.fit(examples, labels), examples, labels)
        (second,) = duals_of(theirs.fit(examples, labels), examples, labels)
        assert first.solution.slack == pytest.approx(second.solution.slack, abs=1e-4)
        assert first.squared_radius == pytest.approx(second.squared_radius)
        assert first.label == second.label == "virginica"
        assert first.rest == second.rest == "versicolor"
        assert first.proven_rho == second.proven_rho == 2.0


def test_one_against_the_rest_is_one_problem_a_class():
    for machine in (
        LinearSVM(),
        KernelSVM(gamma=0.5),
        OneVsRestClassifier(SVC(gamma=0.5)),
        OneVsRestClassifier(KernelSVM(gamma=0.5)),
    ):
        duals = duals_of(machine.fit(X, NAMES), X, NAMES)
        assert [dual.label for dual in duals] == ["setosa", "versicolor", "virginica"]
        for dual in duals:
            assert dual.rest is None
            assert np.array_equal(NAMES[dual.solution.y > 0], NAMES[dual.label == NAMES])


def test_label_indicators_are_one_problem_a_column():
    table = np.column_stack([Y == 0, Y > 0, X[:, 0] > 6]).astype(int)
    for machine in (KernelSVM(gamma=0.5), OneVsRestClassifier(SVC(gamma=0.5))):
        duals = duals_of(machine.fit(X, table), X, table)
        assert [dual.label for dual in duals] == [0, 1, 2]
        assert np.array_equal([dual.solution.y > 0 for dual in duals], table.T == 1)


def test_two_classes_of_a_one_vs_rest_machine_keep_their_names():
    machine = OneVsRestClassifier(SVC()).fit(X[TWO], NAMES[TWO])
    (dual,) = duals_of(machine, X[TWO], NAMES[TWO])
    assert (dual.label, dual.rest) == ("virginica", "versicolor")


def test_a_pipeline_transforms_first():
    scaled = StandardScaler().fit_transform(X[TWO])
    (inner,) = duals_of(SVC().fit(scaled, Y[TWO]), scaled, Y[TWO])
    machine = make_pipeline(StandardScaler(), SVC()).fit(X[TWO], Y[TWO])
    (outer,) = duals_of(machine, X[TWO], Y[TWO])
    assert np.array_equal(inner.solution.alpha, outer.solution.alpha)
    (alone,) = duals_of(make_pipeline(SVC()).fit(scaled, Y[TWO]), scaled, Y[TWO])
    assert np.array_equal(inner.solution.alpha, alone.solution.alpha)


@pytest.mark.parametrize("machine", [LinearSVM(), KernelSVM()])
def test_other_examples_are_refused(machine):
    machine.fit(X[TWO], Y[TWO])
    with pytest.raises(InputError, match=r"`y` must be that of the examples.*2 have another label"):
        duals_of(machine, X[TWO], np.r_[2, Y[TWO][1:-1], 1])
    with pytest.raises(InputError, match="there are 99 in 1 problems, not 100 in 1"):
        duals_of(machine, X[TWO][1:], Y[TWO][1:])
    with pytest.raises(InputError, match="there are 99 rows, not 100"):
        duals_of(machine, X[TWO][1:], Y[TWO])
    others = X[TWO].copy()
    others[[3, 5]] += 1.0
    with pytest.raises(InputError, match=r"2 of 100 rows have another decision value.*row 3"):
        duals_of(machine, others, Y[TWO])


@pytest.mark.parametrize("machine", [SVC(), LinearSVC(), LinearSVM(), make_pipeline(SVC())])
def test_a_machine_that_is_not_trained_is_refused(machine):
    with pytest.raises(InputError, match="`fitted` must be trained"):
        duals_of(machine, X, Y)


def test_what_wraps_a_machine_is_refused_with_a_remedy():
    search = GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, Y)
    with pytest.raises(InputError, match="Give its best_estimator_"):
        duals_of(search, X, Y)
    calibrated = CalibratedClassifierCV(SVC(), cv=2).fit(X, Y)
    with pytest.raises(InputError, match="as it was before calibration"):
        duals_of(calibrated, X, Y)
    with pytest.raises(InputError, match=r"must be a fitted SVM.*got Logistic"):
        duals_of(LogisticRegression(max_iter=1000).fit(X, Y), X, Y)


def test_a_class_without_examples_is_refused():
    table = np.column_stack([Y == 0, Y > 0, np.zeros(150)]).astype(int)
    with pytest.warns(UserWarning, match="Label not 2 is present in all"):
        machine = OneVsRestClassifier(SVC()).fit(X, table)
    with pytest.raises(InputError, match="one kind only for"):
        duals_of(machine, X, table)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (LinearSVM(), True),
        (KernelSVM(), True),
        (make_pipeline(SVC()), True),
        (LinearSVC(), False),
        (GaussianNB(), False),
    ],
    ids=["ours", "ours with a kernel", "in a pipeline", "squared hinge", "no SVM"],
)
def test_an_svm_is_recognised(model, expected):
    assert is_readable(model) is expected


@pytest.mark.parametrize(
    "svm",
    [
        LinearSVC(loss="hinge"),
        NuSVC(),
        SVC(kernel="sigmoid"),
        SVC(max_iter=5),
        OneVsRestClassifier(LinearSVC(loss="hinge")),
        OneVsRestClassifier(SVC(class_weight={1: 2.0})),
    ],
    ids=repr,
)
def test_an_svm_with_another_optimum_has_no_twin(svm):
    assert twin_of(svm, 2) is None


def test_an_svm_of_pairs_of_classes_has_no_twin():
    assert twin_of(SVC(), 3) is None
    assert isinstance(twin_of(OneVsRestClassifier(SVC()), 3), KernelSVM)
