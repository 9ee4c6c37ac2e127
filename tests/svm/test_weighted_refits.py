"""Refits under weights: every road gives the machine that scikit-learn finds one at a time."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVC

from truerisk import KernelSVM, LinearSVM
from truerisk.errors import InputError
from truerisk.svm import weighted_refits
from truerisk.svm.weighted_refits import decisions_under

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


@pytest.mark.parametrize("apart", [2.0, 0.2], ids=["far apart", "mixed"])
def test_many_features_go_the_shorter_of_two_roads_and_end_in_one_place(apart, monkeypatch) -> None:
    wide = np.random.default_rng(4).normal(size=(N, 25)) + apart * (Y == "b")[:, None]
    taken = []
    for name in ("gram_decisions", "batch_decisions"):
        road = getattr(weighted_refits, name)

        def noted(*arguments, name=name, road=road, **options):
            taken.append(name)
            return road(*arguments, **options)

        monkeypatch.setattr(weighted_refits, name, noted)
    ours = decisions_under(LinearSVM(), wide, Y, EVERYONE, WEIGHTS)
    theirs = one_by_one(SVC(kernel="linear", tol=1e-9), wide)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert taken == ["gram_decisions" if apart > 1 else "batch_decisions"]
