"""Refits under weights: every road gives the machine that scikit-learn finds one at a time."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC

from truerisk import KernelSVM, LinearSVM
from truerisk.errors import InputError, RefitError
from truerisk.svm import weighted_refits
from truerisk.svm.dense.features import solve_features
from truerisk.svm.weighted_refits import check_model, decisions_under, prepared

RNG = np.random.default_rng(1)
N = 40
Y = np.repeat(["a", "b"], N // 2)
X = RNG.normal(size=(N, 3)) + 0.8 * (Y == "b")[:, None]
WIDE = np.hstack([X, RNG.normal(size=(N, 90))])
WEIGHTS = RNG.exponential(size=(4, N))
EVERYONE = np.arange(N)


def one_by_one(model, X, train=EVERYONE, weights=WEIGHTS):
    fitted = (clone(model).fit(X[train], Y[train], sample_weight=row) for row in weights)
    return np.array([one.decision_function(X) for one in fitted])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("table", [X, WIDE], ids=["few features", "more than examples"])
def test_the_linear_machine_by_features_or_by_products(table, form) -> None:
    theirs = one_by_one(SVC(kernel="linear", C=0.3, tol=1e-9), table)
    ours = decisions_under(LinearSVM(C=0.3), form(table), Y, EVERYONE, WEIGHTS)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize(("apart", "unused"), [(1.0, "batch_decisions"), (0.1, "gram_decisions")])
def test_many_features_are_multiplied_where_few_examples_decide(monkeypatch, apart, unused) -> None:
    monkeypatch.setattr(weighted_refits, unused, None)
    table = np.random.default_rng(0).standard_normal((N, 32))
    y = np.where(table @ np.full(32, 32**-0.5) > 0.0, 1.0, -1.0)
    table += apart * y[:, None]
    y[:4] *= 1.0 if apart == 1.0 else -1.0
    theirs = [
        SVC(kernel="linear", C=0.3, tol=1e-9).fit(table, y, sample_weight=row) for row in WEIGHTS
    ]
    ours = decisions_under(LinearSVM(C=0.3), table, y, EVERYONE, WEIGHTS)
    np.testing.assert_allclose(ours, [one.decision_function(table) for one in theirs], atol=1e-5)


def test_no_weights_give_no_decisions() -> None:
    for table in (X, WIDE[:, :32], WIDE):
        assert decisions_under(LinearSVM(), table, Y, EVERYONE, WEIGHTS[:0]).shape == (0, N)


def test_the_linear_machine_without_a_gram_matrix(monkeypatch) -> None:
    monkeypatch.setattr(weighted_refits, "GRAM_EXAMPLES", 10)
    theirs = one_by_one(SVC(kernel="linear", C=0.3, tol=1e-9), WIDE)
    ours = decisions_under(LinearSVM(C=0.3), WIDE, Y, EVERYONE, WEIGHTS)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_gamma_is_settled_on_the_training_part() -> None:
    train = np.arange(5, N)
    theirs = one_by_one(SVC(gamma="scale", tol=1e-9), X, train, WEIGHTS[:, 5:])
    for model in (SVC(gamma="scale"), KernelSVM(gamma="scale")):
        ours = decisions_under(model, X, Y, train, WEIGHTS[:, 5:])
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_balanced_weights_are_those_of_the_training_part() -> None:
    train = np.arange(10, N)  # 10 of the one class and 20 of the other
    even = np.ones((1, 30))
    theirs = one_by_one(SVC(kernel="linear", class_weight="balanced", tol=1e-9), X, train, even)
    ours = decisions_under(LinearSVM(class_weight="balanced"), X, Y, train, even)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_weight_of_0_leaves_an_example_out() -> None:
    weights = np.ones((1, N))
    weights[0, :7] = 0.0
    left = decisions_under(LinearSVM(), X, Y, EVERYONE, weights)
    fewer = decisions_under(LinearSVM(), X, Y, np.arange(7, N), np.ones((1, N - 7)))
    np.testing.assert_allclose(left, fewer, atol=1e-7)


def test_one_class_in_training_is_refused() -> None:
    with pytest.raises(InputError, match="at least two classes"):
        decisions_under(LinearSVM(), X, Y, np.arange(20), np.ones((1, 20)))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (np.where(np.eye(N, 3, -4) > 0, np.inf, X), "inf in row 4, column 0"),
        (sparse.csr_matrix(np.where(np.eye(N, 3) > 0, np.nan, X)), "sparse matrix"),
        (np.array([["red", "blue"]] * N), "table of numbers"),
        (np.zeros(N), "rows and columns"),
    ],
    ids=["infinite", "sparse NaN", "words", "one column"],
)
def test_what_is_no_table_of_numbers_is_refused(broken, words) -> None:
    with pytest.raises(InputError, match=words):
        decisions_under(LinearSVM(), broken, Y, EVERYONE, WEIGHTS)


@pytest.mark.parametrize(
    ("features", "name"), [(22, "batch_decisions"), (45, "gram_decisions")], ids=["some", "many"]
)
@pytest.mark.parametrize("apart", [2.0, 0.2], ids=["far apart", "mixed"])
def test_the_solver_is_chosen_by_the_features(apart, features, name, monkeypatch) -> None:
    wide = np.random.default_rng(4).normal(size=(N, features)) + apart * (Y == "b")[:, None]
    taken = []
    for each in ("gram_decisions", "batch_decisions"):
        solver = getattr(weighted_refits, each)

        def noted(*arguments, each=each, solver=solver, **options):
            taken.append(each)
            return solver(*arguments, **options)

        monkeypatch.setattr(weighted_refits, each, noted)
    ours = decisions_under(LinearSVM(), wide, Y, EVERYONE, WEIGHTS)
    theirs = one_by_one(SVC(kernel="linear", tol=1e-9), wide)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert taken == [name]


@pytest.mark.parametrize("scaling", [1.0, 3.0])
def test_liblinear_penalises_the_bias_too(scaling) -> None:
    model = LogisticRegression(
        solver="liblinear", C=0.05, intercept_scaling=scaling, tol=1e-10, max_iter=5000
    )
    moved = X + 3.0  # so that the bias is far from 0
    ours = decisions_under(model, moved, Y, EVERYONE, WEIGHTS)
    np.testing.assert_allclose(ours, one_by_one(model, moved), atol=1e-5)


def test_weights_of_classes_go_by_their_names() -> None:
    # The name of the one class is the number of the other among the classes.
    named = {"a": 5.0, "b": 1.0}
    numbered = np.where(Y == "a", 1, 2)
    theirs = one_by_one(SVC(kernel="linear", class_weight=named, tol=1e-9), X)
    ours = decisions_under(LinearSVM(class_weight=named), X, Y, EVERYONE, WEIGHTS)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    by_number = LinearSVM(class_weight={1: 5.0})
    ours = decisions_under(by_number, X, numbered, EVERYONE, WEIGHTS)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_what_is_settled_once_serves_any_number_of_weights() -> None:
    class Counted(TransformerMixin, BaseEstimator):
        def fit(self, X, y):  # noqa: ARG002
            fits.append(len(X))
            return self

        def transform(self, X):
            return X

    fits: list[int] = []
    machine = prepared(make_pipeline(Counted(), LinearSVM()), X, Y, np.arange(5, N))
    parts = [machine.decisions(WEIGHTS[k : k + 1, 5:]) for k in range(4)]
    assert fits == [N - 5]
    whole = decisions_under(LinearSVM(), X, Y, np.arange(5, N), WEIGHTS[:, 5:])
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-6)


def test_columns_are_chosen_by_the_training_part_alone() -> None:
    train = np.arange(0, N, 2)
    model = make_pipeline(SelectKBest(k=2), SVC(kernel="linear", tol=1e-9))
    weights = np.ones((1, len(train)))
    theirs = clone(model).fit(WIDE[train], Y[train]).decision_function(WIDE)
    ours = decisions_under(model, WIDE, Y, train, weights)[0]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("away", [0.0, 3e3], ids=["near 0", "far from 0"])
def test_a_matrix_of_products_is_as_good_as_the_features(away) -> None:
    moved, train = X + away, np.arange(3, N)
    weights = 100 * WEIGHTS[:, 3:]
    ours = decisions_under(SVC(kernel="precomputed"), moved @ moved.T, Y, train, weights)
    theirs = decisions_under(LinearSVM(), X, Y, train, weights)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (X, "square matrix of k"),
        (X @ X.T + np.eye(N, k=3), "symmetric, .* = .*; got .* in row"),
    ],
    ids=["features", "not symmetric"],
)
def test_what_is_no_kernel_matrix_is_refused(matrix, words) -> None:
    with pytest.raises(InputError, match=words):
        decisions_under(SVC(kernel="precomputed"), matrix, Y, EVERYONE, WEIGHTS)


def test_a_step_that_fails_is_named() -> None:
    model = make_pipeline(KernelCenterer(), SVC(kernel="precomputed"))
    with pytest.raises(RefitError, match=r"steps before SVC failed on 35 examples: ValueError"):
        decisions_under(model, X @ X.T, Y, np.arange(5, N), WEIGHTS[:, 5:])


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SVC(C=-1.0), "`C` must lie in"),
        (LinearSVM(C=0.0), "`C` must be positive"),
        (LogisticRegressionCV(), "`model` must be LinearSVM"),
    ],
    ids=["negative C", "no C", "tuned"],
)
def test_machines_that_cannot_be_trained_so_are_refused(model, words) -> None:
    with pytest.raises(InputError, match=words):
        check_model(model)


@pytest.mark.parametrize("features", [25, 70])
def test_features_in_very_different_units_keep_their_digits(features) -> None:
    rng = np.random.default_rng(6)
    units = 10.0 ** rng.integers(-6, 7, size=features)
    mixed, train = rng.normal(size=(N, features)) * units, np.arange(N // 4, N)
    signs, bounds = np.where(Y == "b", 1.0, -1.0), 1e5 * WEIGHTS[:, N // 4 :]
    ours = decisions_under(LinearSVM(C=1e5), mixed, Y, train, WEIGHTS[:, N // 4 :])
    for found, upper in zip(ours, bounds, strict=True):
        exact = solve_features(mixed[train], signs[train], upper)
        expected = mixed @ exact.weights + exact.bias
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
