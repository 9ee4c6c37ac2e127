"""The SVM on a Gram matrix: optimal, whatever the matrix, the bounds and the start."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from truerisk.svm.gram.dual import balanced, solve_gram


def gap_of(gram, solution):
    """Primal less dual value, beside the primal one: 0 at the optimum and nowhere else."""
    z = solution.y * solution.alpha
    norm = z @ gram @ z
    primal = norm / 2 + solution.upper @ solution.slack
    return (primal - (solution.alpha.sum() - norm / 2)) / max(primal, 1e-12)


def check(gram, solution):
    """Check feasibility, the duality gap and what the solution says of itself."""
    y, alpha = solution.y, solution.alpha
    assert np.all((alpha >= 0.0) & (alpha <= solution.upper))
    assert abs(y @ alpha) <= 1e-9 * max(alpha.sum(), 1e-9)
    decision = gram @ (y * alpha) + solution.bias
    rounding = 1e-12 * (1.0 + (np.abs(gram) @ alpha).max())
    np.testing.assert_allclose(solution.decision, decision, atol=rounding)
    assert solution.gap <= 1e-6
    assert abs(gap_of(gram, solution)) < 1e-6


def data(seed, n=60, d=4, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)


def kernel(X, kind):
    if kind == "linear":
        return X @ X.T
    if kind == "cubic":
        return (X @ X.T / X.shape[1] + 1.0) ** 3
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / X.shape[1])


def test_three_points_by_hand():
    # x = 0, 2 and 3 with labels −, + and +: the SVM is x − 1, held by the first two
    x, y = np.array([0.0, 2.0, 3.0]), np.array([-1.0, 1.0, 1.0])
    solution = solve_gram(np.outer(x, x), y, np.full(3, 10.0))
    assert solution.alpha == pytest.approx([0.5, 0.5, 0.0])
    assert solution.bias == pytest.approx(-1.0)
    assert solution.decision == pytest.approx([-1.0, 1.0, 2.0])


@pytest.mark.parametrize("kind", ["linear", "cubic", "RBF"])
@pytest.mark.parametrize("cost", [0.01, 1.0, 100.0])
def test_it_is_optimal_and_agrees_with_libsvm(kind, cost):
    X, y = data(1)
    gram = kernel(X, kind)
    solution = solve_gram(gram, y, np.full(60, cost))
    check(gram, solution)
    SVM = SVC(C=cost, kernel="precomputed", tol=1e-8).fit(gram, y)
    # libsvm keeps K in single precision
    decision = SVM.decision_function(gram)
    np.testing.assert_allclose(solution.decision, decision, rtol=1e-5, atol=1e-4)


@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 8))
def test_it_is_optimal_for_any_weights(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    upper = rng.exponential(size=n) * (rng.random(n) < 0.8) * 10.0 ** rng.integers(-2, 3)
    check(X @ X.T, solve_gram(X @ X.T, y, upper))


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 30.0]))
def test_it_is_optimal_on_lattices_full_of_ties(seed, cost):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (30, 2)).astype(np.float64)
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    check(X @ X.T, solve_gram(X @ X.T, y, np.full(30, cost)))


@pytest.mark.parametrize("cost", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(
    "name", ["large", "small", "duplicates", "constant", "zero", "identity", "wide", "narrow"]
)
def test_odd_matrices_are_solved_too(name, cost):
    X, y = data(2)
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    gram = {
        "large": 1e6 * X @ X.T,
        "small": 1e-8 * X @ X.T,
        "duplicates": np.tile(X[:15] @ X[:15].T, (4, 4)),
        "constant": np.ones((60, 60)),
        "zero": np.zeros((60, 60)),
        "identity": np.eye(60),
        "wide": np.exp(-1e-6 * squared),
        "narrow": np.exp(-1e3 * squared),
    }[name]
    check(gram, solve_gram(gram, y, np.full(60, cost)))


@pytest.mark.parametrize("diagonal", [0.0, 1.0, -1.0])
@pytest.mark.parametrize("cost", [0.1, 100.0])
def test_an_indefinite_matrix_ends_where_no_pair_wants_to_move(diagonal, cost):
    rng = np.random.default_rng(8)
    gram = rng.standard_normal((40, 40))
    gram = gram + gram.T
    np.fill_diagonal(gram, diagonal * np.abs(np.diagonal(gram)))
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    solution = solve_gram(gram, y, np.full(40, cost))
    assert np.isfinite(solution.alpha).all()
    assert np.isfinite(solution.decision).all()
    assert solution.gap <= 1e-6


def test_unscaled_data_are_solved():
    bundled = load_breast_cancer()
    X, y = bundled.data[:150], np.where(bundled.target[:150] == 1, 1.0, -1.0)
    for cost in (1e-6, 1e-3, 1.0):
        solution = solve_gram(X @ X.T, y, np.full(150, cost))  # entries up to 10⁷
        assert solution.gap < 1e-6
        assert gap_of(X @ X.T, solution) < 1e-6


def test_who_is_left_out_has_a_decision_value_all_the_same():
    X, y = data(3)
    upper = np.ones(60)
    upper[10:20] = 0.0
    kept = upper > 0.0
    solution = solve_gram(X @ X.T, y, upper)
    without = solve_gram(X[kept] @ X[kept].T, y[kept], upper[kept])
    np.testing.assert_allclose(solution.decision[kept], without.decision, atol=1e-8)
    weights = (without.alpha * y[kept]) @ X[kept]
    np.testing.assert_allclose(
        solution.decision[10:20], X[10:20] @ weights + without.bias, atol=1e-8
    )


@pytest.mark.parametrize("y", [np.ones(5), -np.ones(5)])
def test_one_class_alone_is_called_by_its_name(y):
    solution = solve_gram(np.eye(5), y, np.ones(5))
    assert not solution.alpha.any()
    assert solution.decision.tolist() == y.tolist()
    assert solution.gap == 0.0


def test_with_nobody_at_all_the_bias_is_0():
    assert solve_gram(np.eye(3), np.array([1.0, -1.0, 1.0]), np.zeros(3)).bias == 0.0


@pytest.mark.parametrize("change", [0.1, 1.0, 10.0])
def test_a_start_saves_steps_and_changes_nothing(change):
    X, y = data(4, n=120)
    gram = kernel(X, "RBF")
    first = solve_gram(gram, y, np.ones(120))
    upper = change * np.random.default_rng(0).uniform(0.9, 1.1, 120)
    cold, warm = solve_gram(gram, y, upper), solve_gram(gram, y, upper, start=first)
    check(gram, warm)
    np.testing.assert_allclose(warm.decision, cold.decision, atol=1e-6)
    if change == 1.0:
        assert warm.passes < cold.passes


def test_a_cap_is_kept_and_the_gap_told():
    rng = np.random.default_rng(1)
    gram = rng.standard_normal((50, 50))
    gram = gram + gram.T
    y = np.where(rng.random(50) < 0.5, 1.0, -1.0)
    stopped = solve_gram(gram, y, np.full(50, 10.0), max_passes=2)
    gradient = y - gram @ (y * stopped.alpha)
    z, upper = y * stopped.alpha, np.where(y > 0, 10.0, 0.0)
    gap = gradient[z < upper].max() - gradient[z > upper - 10.0].min()
    assert stopped.gap == pytest.approx(gap)


def test_float32_and_transposed_matrices_are_taken():
    X, y = data(5)
    gram = X @ X.T
    exact = solve_gram(gram, y, np.ones(60))
    other = solve_gram(np.asfortranarray(gram).astype(np.float32), y.astype(int), np.ones(60, int))
    np.testing.assert_allclose(other.decision, exact.decision, atol=1e-3)


@given(st.integers(0, 10**6))
def test_balance_is_brought_about_within_the_bounds(seed):
    rng = np.random.default_rng(seed)
    lower, upper = -rng.exponential(size=12), rng.exponential(size=12)
    z = balanced(rng.uniform(lower, upper), lower, upper)
    assert z.sum() == pytest.approx(0.0, abs=1e-12)
    assert np.all((lower <= z) & (z <= upper))


def test_balance_leaves_bounded_examples_alone_if_it_can():
    lower, upper = np.full(4, -1.0), np.ones(4)
    z = balanced(np.array([1.0, -1.0, 0.5, 0.0]), lower, upper)
    assert z[:2].tolist() == [1.0, -1.0]
    # the free had 1.5 and 1 above the lower bound, and give up 0.5 in that proportion
    assert z[2:] == pytest.approx([0.2, -0.2])


def gap_again(gram, solution):
    """The gap, computed anew from what was returned."""
    y, z = solution.y, solution.y * solution.alpha
    gradient = y - gram @ z
    lower, upper = np.minimum(y, 0.0) * solution.upper, np.maximum(y, 0.0) * solution.upper
    return max(gradient[z < upper].max() - gradient[z > lower].min(), 0.0)


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e7, 1e8])
def test_alphas_far_below_their_bounds_are_not_rounded_away(scale):
    X, _ = data(6)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)  # separable: every α is of the size of 1 / K
    gram = (scale * X) @ (scale * X).T
    solution = solve_gram(gram, y, np.ones(60))
    assert np.all(y * solution.decision > 1.0 - 1e-6)
    assert solution.alpha.any()
    assert solution.stable
    assert gap_again(gram, solution) < 1e-6


@pytest.mark.parametrize("scale", [1e5, 1e6, 1e7])
def test_the_gap_is_that_of_the_numbers_that_are_returned(scale):
    X, y = data(7)
    gram = (scale * X) @ (scale * X).T  # the bounds times K have more digits than there are
    solution = solve_gram(gram, y, np.ones(60))
    again = gap_again(gram, solution)
    assert solution.gap == pytest.approx(again, rel=0.5, abs=1e-15 * np.abs(gram).max())
