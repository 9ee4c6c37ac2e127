"""The SVM by blocks: the optimum is that on the whole Gram matrix."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.svm import SVC

from truerisk import KernelSVM
from truerisk.svm import problems
from truerisk.svm.gram import blocks
from truerisk.svm.gram.blocks import solve_blocks
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.kernels import Kernel
from truerisk.svm.problems import Effort, GramProblem, KernelProblem, kernel_problem


def rings(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.where((X**2).sum(axis=1) + rng.standard_normal(n) > 2.5, 1.0, -1.0)
    return X, y


def values_of(gram):
    return lambda rows, columns: gram[rows][:, columns]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 40)
    monkeypatch.setattr(blocks, "NEW", 20)
    monkeypatch.setattr(blocks, "CACHED", 1000)


def test_two_points_by_hand():
    # x = −1, 1: the margin is met at w = 1, so both α are ½, and the bias is 0
    gram = np.array([[1.0, -1.0], [-1.0, 1.0]])
    found = solve_blocks(values_of(gram), np.ones(2), np.array([-1.0, 1.0]), np.ones(2))
    np.testing.assert_allclose(found.alpha, [0.5, 0.5])
    assert found.bias == pytest.approx(0.0)
    np.testing.assert_allclose(found.decision, [-1.0, 1.0])
    assert found.gap <= 1e-12


@pytest.mark.parametrize("cost", [0.05, 1.0, 50.0])
@pytest.mark.usefixtures("small_blocks")
def test_the_optimum_is_that_on_the_whole_matrix(cost):
    X, y = rings(300)
    upper = cost * np.random.default_rng(1).uniform(0.5, 2.0, 300)
    upper[:5] = 0.0
    gram = Kernel("rbf", gamma=0.5).between(X, X)
    whole = solve_gram(gram, y, upper)
    found = solve_blocks(values_of(gram), np.ones(300), y, upper)
    assert found.gap <= 1e-6
    np.testing.assert_allclose(found.alpha, whole.alpha, atol=1e-8 * cost)
    np.testing.assert_allclose(found.decision, whole.decision, atol=1e-8)
    np.testing.assert_allclose(found.decision, gram @ (y * found.alpha) + found.bias, atol=1e-9)
    again = solve_blocks(values_of(gram), np.ones(300), y, upper, start=found)
    assert again.passes <= 2
    np.testing.assert_allclose(again.decision, found.decision, atol=2e-6)


@pytest.mark.usefixtures("small_blocks")
def test_it_stops_when_told_and_tells_its_gap():
    X, y = rings(300)
    gram = Kernel("rbf", gamma=0.5).between(X, X)
    found = solve_blocks(values_of(gram), np.ones(300), y, np.ones(300), max_passes=2)
    assert found.passes == 2
    gradient = y - gram @ (y * found.alpha)
    rises = np.where(y > 0, found.alpha < 1.0, found.alpha > 0.0)
    falls = np.where(y > 0, found.alpha > 0.0, found.alpha < 1.0)
    assert found.gap == pytest.approx(gradient[rises].max() - gradient[falls].min())
    assert found.gap > 1e-3


@pytest.mark.usefixtures("small_blocks")
def test_an_indefinite_kernel_ends():
    rng = np.random.default_rng(2)
    gram = rng.standard_normal((120, 120))
    gram = gram + gram.T
    y = np.where(rng.random(120) < 0.5, 1.0, -1.0)
    found = solve_blocks(values_of(gram), np.diagonal(gram), y, np.ones(120))
    assert (found.alpha >= 0.0).all()
    assert (found.alpha <= 1.0).all()
    assert y @ found.alpha == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel("rbf", gamma=0.3, shift=np.array([1.0, 0.0, -2.0])),
        Kernel("poly", gamma=0.5, degree=2, coef0=1.0),
        Kernel("linear"),
    ],
    ids=["rbf", "poly", "linear"],
)
@pytest.mark.parametrize("as_given", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_values_by_number_are_those_of_the_matrix(kernel, as_given):
    X, _ = rings(20)
    rows, columns = np.array([3, 1, 7]), np.array([0, 3, 5, 19])
    values, whole = kernel.of_examples(as_given(X)), kernel.between(X, X)
    np.testing.assert_allclose(values(rows, columns), whole[np.ix_(rows, columns)], atol=1e-12)
    np.testing.assert_allclose(values(rows, slice(None)), whole[rows], atol=1e-12)


def test_many_examples_need_no_gram_matrix(monkeypatch):
    X, y = rings(900)
    whole = KernelSVM(C=2.0, gamma=0.5).fit(X, y)
    monkeypatch.setattr(problems, "MANY_EXAMPLES", 500)
    monkeypatch.setattr(problems, "_free_memory", lambda: 1000)
    problem = kernel_problem(Kernel("rbf", gamma=0.5), X)
    assert isinstance(problem, KernelProblem)
    blocked = KernelSVM(C=2.0, gamma=0.5).fit(X, y)
    np.testing.assert_allclose(blocked.alpha_, whole.alpha_, atol=1e-8)
    np.testing.assert_allclose(blocked.decision_function(X), whole.decision_function(X), atol=2e-6)
    peer = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(blocked.decision_function(X), peer.decision_function(X), atol=1e-4)
    assert isinstance(kernel_problem(Kernel("precomputed"), X @ X.T), GramProblem)


def test_both_forms_leave_out_the_same():
    X, y = rings(200)
    kernel = Kernel("rbf", gamma=0.5)
    found = []
    for problem in (KernelProblem(kernel, X), GramProblem(kernel.between(X, X))):
        solution = problem.solve(y, np.ones(200), Effort())
        found.append(problem.margins_without(solution, np.flatnonzero(solution.alpha)) < 0.0)
    np.testing.assert_array_equal(found[0], found[1])
    assert KernelProblem(kernel, X).radius[0] >= GramProblem(kernel.between(X, X)).radius[0] - 1e-12


def test_a_prediction_is_made_in_pieces(monkeypatch):
    X, y = rings(200)
    svm = KernelSVM(gamma=0.5).fit(X, y)
    expected = svm.decision_function(X)
    monkeypatch.setattr("truerisk.svm.kernel.VALUES", 700)
    np.testing.assert_allclose(svm.decision_function(X), expected, atol=1e-12)
