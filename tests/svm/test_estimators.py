"""Both classifiers, in the contract of scikit-learn and beyond it."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from truerisk.errors import InputError, NotConvergedWarning, UnstableWarning
from truerisk.svm.classifier import solve_one
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM
from truerisk.svm.problems import Effort

IRIS, SPECIES = load_iris(return_X_y=True)
KINDS = {"linear": LinearSVM, "kernel": KernelSVM}


@pytest.mark.filterwarnings("ignore::truerisk.errors.UnstableWarning")
@parametrize_with_checks([LinearSVM(), KernelSVM(), KernelSVM(kernel="linear")])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def duality_gap(svm, gram):
    """The gap between the primal and the dual value, which bounds how far both are off."""
    signed = svm.alpha_ * svm.targets_.signs[0]
    norm = signed @ gram @ signed
    return norm / 2 + svm.upper_ @ svm.slack_ - (svm.alpha_.sum() - norm / 2)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("unscaled", [load_breast_cancer, load_wine])
def test_the_optimum_is_exact_on_data_as_it_comes(unscaled, C):
    X, y = unscaled(return_X_y=True)
    svm = LinearSVM(C=C).fit(X, y == 1)
    primal = svm.coef_[0] @ svm.coef_[0] / 2 + C * svm.slack_.sum()
    assert svm.gap_ <= 1e-6
    assert abs(duality_gap(svm, X @ X.T)) <= 1e-5 * (1 + primal)
    assert abs(svm.alpha_ @ svm.targets_.signs[0]) <= 1e-9 * svm.upper_.sum()


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 3, "gamma": 0.2, "coef0": 1.0},
        {"kernel": "rbf", "gamma": 0.3},
    ],
    ids=lambda kernel: kernel["kernel"],
)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_it_agrees_with_libsvm(kernel, C):
    # libsvm keeps its kernel values in single precision, so its fourth decimal is its own.
    X, y = scale(IRIS[50:]), SPECIES[50:] == 2
    theirs = SVC(C=C, tol=1e-9, **kernel).fit(X, y)
    ours = KernelSVM(C=C, **kernel).fit(X, y)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=5e-4)
    signed = np.zeros(len(X))
    signed[theirs.support_] = theirs.dual_coef_[0]
    value = np.abs(signed).sum() - signed @ ours.kernel_.between(X, X) @ signed / 2
    signed = ours.alpha_ * ours.targets_.signs[0]
    ours_value = np.abs(signed).sum() - signed @ ours.kernel_.between(X, X) @ signed / 2
    assert ours_value == pytest.approx(value, rel=1e-6)


def test_gamma_scale_is_that_of_scikit_learn():
    theirs = SVC(C=2.0, tol=1e-9).fit(IRIS[50:], SPECIES[50:])
    ours = KernelSVM(C=2.0).fit(IRIS[50:], SPECIES[50:])
    expected = theirs.decision_function(IRIS[50:])
    assert ours.decision_function(IRIS[50:]) == pytest.approx(expected, abs=5e-4)


def test_a_callable_and_a_precomputed_kernel_give_what_the_name_gives():
    X, y = IRIS[50:], SPECIES[50:]
    named = KernelSVM(C=1.0, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    called = KernelSVM(C=1.0, kernel=lambda a, b: (a @ b.T + 1.0) ** 2).fit(X, y)
    gram = (X @ X.T + 1.0) ** 2
    given = KernelSVM(C=1.0, kernel="precomputed").fit(gram, y)
    assert called.decision_function(X) == pytest.approx(named.decision_function(X), abs=1e-6)
    assert given.decision_function(gram) == pytest.approx(named.decision_function(X), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_three_classes_are_three_machines(kind):
    svm = KINDS[kind](C=1.0).fit(IRIS, SPECIES)
    single = OneVsRestClassifier(KINDS[kind](C=1.0)).fit(IRIS, SPECIES)
    assert svm.alpha_.shape == svm.slack_.shape == (3, 150)
    assert svm.decision_function(IRIS) == pytest.approx(single.decision_function(IRIS), abs=1e-6)
    assert (svm.predict(IRIS) == single.predict(IRIS)).all()


def test_workers_change_nothing():
    one = LinearSVM(C=1.0).fit(IRIS, SPECIES)
    two = LinearSVM(C=1.0, n_jobs=2).fit(IRIS, SPECIES)
    assert (one.alpha_ == two.alpha_).all()
    assert (one.coef_ == two.coef_).all()


def test_labels_are_columns_and_one_that_never_occurs_is_never_given():
    labels = np.column_stack([SPECIES == 0, SPECIES == 2, np.zeros(150)]).astype(int)
    svm = LinearSVM(C=1.0).fit(IRIS, labels)
    called = svm.predict(IRIS)
    assert (called[:, 0] == labels[:, 0]).all()
    assert not called[:, 2].any()
    assert (svm.decision_function(IRIS)[:, 2] == -1.0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_is_a_bound_and_weight_0_leaves_out(kind):
    X, y = IRIS[50:], SPECIES[50:]
    weights = np.ones(100)
    weights[::7] = 0.0
    weights[1::7] = 3.0
    weighted = KINDS[kind](C=0.5).fit(X, y, sample_weight=weights)
    assert (weighted.upper_ == 0.5 * weights).all()
    assert (weighted.alpha_[::7] == 0.0).all()
    times = weights.astype(int)
    repeated = KINDS[kind](C=0.5).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    expected = repeated.decision_function(X)
    assert weighted.decision_function(X) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("kernel", ["precomputed", lambda a, b: np.broadcast_to(a @ b.T, (4, 4))])
def test_a_matrix_that_cannot_be_written_to_is_solved(kernel):
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    given = X @ X.T if kernel == "precomputed" else X
    given.flags.writeable = False
    svm = KernelSVM(C=10.0, kernel=kernel).fit(given, [0, 0, 1, 1])
    assert svm.alpha_ == pytest.approx([0.0, 0.5, 0.5, 0.0], abs=1e-9)


def test_class_weights_are_those_of_libsvm():
    X, y = IRIS[50:], SPECIES[50:]
    for weight in ({1: 5.0, 2: 0.5}, "balanced"):
        theirs = SVC(kernel="linear", class_weight=weight, tol=1e-9).fit(X[:80], y[:80])
        ours = LinearSVM(class_weight=weight).fit(X[:80], y[:80])
        expected = theirs.decision_function(X)
        assert ours.decision_function(X) == pytest.approx(expected, abs=5e-4)


def test_sparse_and_dense_are_one_problem():
    X, y = make_classification(120, 260, n_informative=20, random_state=3)
    X[np.abs(X) < 0.8] = 0.0
    dense = LinearSVM(C=0.1).fit(X, y)
    sparse = LinearSVM(C=0.1).fit(csr_matrix(X), y)
    kernel = KernelSVM(C=0.1, kernel="linear").fit(csr_matrix(X), y)
    assert sparse.coef_ == pytest.approx(dense.coef_, abs=1e-6)
    assert kernel.decision_function(csr_matrix(X)) == pytest.approx(
        dense.decision_function(X), abs=1e-5
    )


def test_a_warm_start_ends_where_a_cold_one_does():
    X, y = make_classification(200, 300, n_informative=10, flip_y=0.1, random_state=1)
    warm = LinearSVM(C=0.01, warm_start=True).fit(X, y)
    warm.set_params(C=0.1).fit(X, y)
    cold = LinearSVM(C=0.1).fit(X, y)
    assert warm.coef_ == pytest.approx(cold.coef_, abs=1e-5)
    other = warm.fit(X, 1 - y)  # other labels: it starts anew
    assert other.coef_ == pytest.approx(-cold.coef_, abs=1e-5)


def test_few_passes_end_in_a_warning_that_tells_the_gap():
    X, y = make_classification(300, 300, n_informative=10, flip_y=0.3, random_state=0)
    with pytest.warns(NotConvergedWarning, match=r"gap of \d"):
        svm = LinearSVM(C=10.0, max_iter=1, tol=1e-12).fit(X, y)
    assert svm.gap_ > 1e-12


def test_a_bias_that_nothing_pins_down_is_told():
    with pytest.warns(UnstableWarning, match="at its bound"):
        svm = LinearSVM(C=1e-4).fit([[0.0], [1.0]], [0, 1])
    assert svm.stable_ is False


@pytest.mark.parametrize(
    ("parameters", "data", "message"),
    [
        ({"C": 0.0}, None, "`C` must be positive"),
        ({"C": -1.0}, None, "`C` must lie in"),
        ({"C": float("nan")}, None, "`C` must lie in"),
        ({"kernel": "sigmoid"}, None, "`kernel` must be one of linear, poly, rbf"),
        ({"gamma": -1.0}, None, "`gamma` must lie in"),
        ({"class_weight": {7: 1.0}}, None, "`class_weight` must name classes"),
        ({"class_weight": "heavy"}, None, "`class_weight` must be one of balanced"),
        ({"kernel": "precomputed"}, np.ones((4, 3)), "square matrix"),
        ({"kernel": "precomputed"}, np.arange(16.0).reshape(4, 4), "`X` must be symmetric"),
        ({"kernel": lambda a, b: a @ b.T + np.arange(4.0)}, None, "`kernel` must be symmetric"),
        ({"kernel": lambda a, _: a[:, 0]}, None, "`kernel` must return a matrix"),
        ({"kernel": lambda a, b: a @ b.T * np.nan}, None, "finite"),
    ],
)
def test_what_cannot_be_is_refused_and_says_what_to_do(parameters, data, message):
    X = np.array([[0.0], [1.0], [2.0], [3.0]]) if data is None else data
    with pytest.raises(InputError, match=message):
        KernelSVM(**parameters).fit(X, [0, 0, 1, 1])


def test_one_class_is_refused():
    with pytest.raises(InputError, match="at least two classes"):
        LinearSVM().fit([[0.0], [1.0]], ["a", "a"])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_where_one_class_alone_counts_it_is_said_and_nothing_solved(sign):
    y = np.array([-1.0, 1.0, 1.0, -1.0])
    solution = solve_one(None, y, np.where(y == sign, 2.0, 0.0), Effort())
    np.testing.assert_array_equal(solution.decision, sign)
    np.testing.assert_array_equal(solution.alpha, 0.0)


@pytest.mark.parametrize("svm", [LinearSVM(), KernelSVM(), KernelSVM(kernel="poly")])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_features_whose_products_overflow_are_refused(svm, form):
    X = np.arange(1.0, 9.0).reshape(4, 2)
    X[2, 1] = -2e155
    with pytest.raises(InputError, match=r"squares sum to a finite number; got -2e\+155\."):
        svm.fit(form(X), [0, 1, 0, 1])


@pytest.mark.parametrize("svm", [LinearSVM(), LinearSVM(tol=1e-3), KernelSVM()])
@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "contains NaN"), (-np.inf, "contains infinity"), (-2e155, r"got -2e\+155\.")],
)
def test_many_features_must_be_finite_and_so_must_their_products(svm, value, message):
    X = np.eye(4, 500)
    X[2, 7] = value
    for form in (np.asarray, csr_matrix, csc_matrix):
        with pytest.raises(ValueError, match=message):
            svm.fit(form(X), [0, 1, 0, 1])


@pytest.mark.parametrize("kind", KINDS)
def test_training_changes_neither_parameters_nor_data(kind):
    X, y = IRIS[50:].copy(), SPECIES[50:].copy()
    svm = KINDS[kind](C=2.0)
    before = clone(svm).get_params()
    svm.fit(X, y)
    assert svm.get_params() == before
    assert (IRIS[50:] == X).all()
    assert (y == SPECIES[50:]).all()


@pytest.mark.parametrize("scale", [1e6, 1e7, 1e8])
def test_features_of_any_size_are_learnt_or_the_gap_is_told(scale):
    rng = np.random.default_rng(0)
    X = scale * rng.standard_normal((60, 4))
    separable, noisy = X[:, 0] > 0, X[:, 0] + scale * rng.standard_normal(60) > 0
    svm = KernelSVM(kernel="linear").fit(X, separable)
    np.testing.assert_array_equal(svm.predict(X), separable)
    with pytest.warns(NotConvergedWarning, match="with a gap of"):
        KernelSVM(kernel="linear").fit(X, noisy)


@pytest.mark.parametrize("of", [np.array, csr_matrix], ids=["table", "sparse rows"])
def test_examples_that_are_changed_in_place_have_no_radius(of):
    X, y = load_breast_cancer(return_X_y=True)
    examples = of(scale(X))
    before = LinearSVM().fit(examples, y)
    svm = LinearSVM().fit(examples, y)
    expected = before.squared_radius_
    examples *= 2.0
    assert before.squared_radius_ == expected  # it was read in time
    with pytest.raises(InputError, match="changed in place"):
        assert svm.squared_radius_
    with pytest.raises(InputError, match="changed in place"):
        assert pickle.loads(pickle.dumps(svm)).squared_radius_  # noqa: S301  (our own)
    examples /= 2.0
    assert LinearSVM().fit(examples, y).squared_radius_ == expected


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_the_columns_in_memory_changes_nothing(kind):
    X, y = make_classification(80, random_state=3)
    by_row, by_column = (KINDS[kind]().fit(np.array(X, order=order), y) for order in "CF")
    np.testing.assert_array_equal(by_row.alpha_, by_column.alpha_)
    assert by_column.n_features_in_ == 20


@pytest.mark.parametrize("form", [csr_array, csr_matrix])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_sparse_examples_that_are_not_finite_are_refused(form, value):
    X = np.eye(4, 300)
    X[1, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        LinearSVM().fit(form(X), np.array([0, 0, 1, 1]))
