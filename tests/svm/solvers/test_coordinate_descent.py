"""One sweep: each α at the minimum of its own line, and the dual never worse for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.svm.solvers.coordinate_descent import sweep
from truerisk.svm.solvers.rows import as_rows


def one_sweep(X, y, upper, alpha, *, bias=0.0, penalty=0.1, drop=np.inf, function=sweep):
    rows, alpha, order = as_rows(X), alpha.copy(), np.arange(len(X), dtype=np.int32)
    weights = (y * alpha) @ X
    result = function(
        *rows.arrays,
        y,
        upper,
        rows.squared_norms + penalty,
        alpha,
        weights,
        order,
        penalty,
        bias,
        float(y @ alpha),
        drop,
    )
    return alpha, weights, order, result


def lagrangian(X, y, alpha, *, bias, penalty):
    """½|w|² − Σα + b·s + ½ρs²."""
    w, s = (y * alpha) @ X, y @ alpha
    return w @ w / 2 - alpha.sum() + bias * s + penalty * s * s / 2


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6))
    return X, np.where(X[:, 0] + rng.standard_normal(40) > 0, 1.0, -1.0), rng.uniform(0.1, 2, 40)


def test_one_step_by_hand():
    # g = −1 at α = 0 with curvature |x|² + ρ = 4.5, so that α = 1/4.5 and s = α
    alpha, weights, _, (kept, balance, highest, lowest, changes) = one_sweep(
        np.array([[2.0]]), np.ones(1), np.ones(1), np.zeros(1), penalty=0.5
    )
    assert alpha[0] == pytest.approx(1 / 4.5)
    assert weights[0] == pytest.approx(2 / 4.5)
    assert balance == pytest.approx(1 / 4.5)
    assert (kept, highest, lowest, changes) == (1, -1.0, -1.0, 1)


def test_the_bias_and_the_balance_enter_the_gradient():
    # g = y(b + ρs) − 1 = 0.3 + 2·0.25 − 1 before the only step
    *_, (_, _, highest, _, _) = one_sweep(
        np.zeros((1, 1)), np.ones(1), np.ones(1), np.full(1, 0.25), bias=0.3, penalty=2.0
    )
    assert highest == pytest.approx(-0.2)


@given(st.integers(0, 2**32 - 1))
def test_no_sweep_raises_the_lagrangian_or_leaves_the_box(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((8, 3)), rng.choice([-1.0, 1.0], 8)
    upper = rng.choice([0.0, 0.5, 3.0], 8)
    before = upper * rng.choice([0.0, 0.5, 1.0], 8)
    terms = {"bias": rng.standard_normal(), "penalty": 0.3}
    after, weights, _, (_, balance, _, _, _) = one_sweep(X, y, upper, before, **terms)
    assert np.all((after >= 0.0) & (after <= upper))
    assert lagrangian(X, y, after, **terms) <= lagrangian(X, y, before, **terms) + 1e-12
    np.testing.assert_allclose(weights, (y * after) @ X, atol=1e-12)
    assert balance == pytest.approx(y @ after, abs=1e-12)


def test_who_is_held_at_a_bound_by_more_than_the_limit_is_dropped():
    X = np.array([[3.0], [0.1], [-1.0], [0.2]])
    y, upper = np.ones(4), np.ones(4)
    alpha = np.array([0.0, 0.0, 1.0, 0.5])  # w = −0.9, and the bias is 2
    _, _, order, (kept, *_) = one_sweep(X, y, upper, alpha, bias=2.0, penalty=0.0, drop=0.5)
    # gradients −1.7, about .9 and 1.9: only the second is held, at 0, and it goes
    assert kept == 3
    np.testing.assert_array_equal(order[:kept], [0, 2, 3])


def test_the_uncompiled_loop_does_the_same(problem):
    X, y, upper = problem
    compiled = one_sweep(X, y, upper, upper / 2, drop=1.0)
    plain = one_sweep(X, y, upper, upper / 2, drop=1.0, function=sweep.py_func)
    for ours, theirs in zip(compiled[:3], plain[:3], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)
    assert compiled[3] == pytest.approx(plain[3])
