"""Eight SVMs side by side: each lane as the loops of one SVM, compiled and uncompiled."""

import numpy as np
import pytest

from truerisk.kernels import lanes as compiled
from truerisk.kernels import rows as single
from truerisk.kernels import uncompiled
from truerisk.svm.rows.dual import newton_step
from truerisk.svm.rows.matrix import as_rows

plain = uncompiled("lanes")
COSTS = np.geomspace(0.05, 3.0, 8)
both = pytest.mark.parametrize("kernel", [compiled, plain], ids=["compiled", "plain"])


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((24, 60)) * (rng.random((24, 60)) < 0.3)
    y = np.where(X[:, 0] + rng.standard_normal(24) > 0, 1.0, -1.0)
    return as_rows(X), X, y, rng


def arrays_of(rows):
    return rows.data.astype(np.float32), rows.indices, rows.indptr


@both
def test_products_and_sums_are_those_of_eight_weights(kernel, problem):
    rows, X, _, rng = problem
    weights = rng.standard_normal((60, 8)).astype(np.float32)
    which, products = np.array([3, 0, 20]), np.empty((3, 8), np.float32)
    kernel.multiply(*arrays_of(rows), weights.reshape(-1), which, products)
    np.testing.assert_allclose(products, X[which] @ weights, atol=1e-5)
    coefficients = rng.standard_normal((3, 8)).astype(np.float32)
    expected = weights + X[which].T @ coefficients
    kernel.add_rows(*arrays_of(rows), which, coefficients, weights.reshape(-1))
    np.testing.assert_allclose(weights, expected, atol=1e-5)


@both
def test_copied_rows_have_the_columns_that_occur_in_them(kernel, problem):
    rows, X, _, _ = problem
    which = np.array([20, 3, 7])
    lengths = np.diff(rows.indptr)[which]
    data, indices = np.empty(lengths.sum(), np.float32), np.empty(lengths.sum(), np.int32)
    places = np.full(60, -1, np.int32)
    count = kernel.copy_rows(*arrays_of(rows), which, places, data, indices)
    occur = (X[which] != 0.0).any(axis=0)
    assert count == occur.sum()
    np.testing.assert_array_equal(places >= 0, occur)
    copied = np.zeros((3, count))
    copied[np.repeat(range(3), lengths), indices] = data
    np.testing.assert_allclose(copied[:, places[occur]], X[which][:, occur], rtol=1e-6)
    np.testing.assert_array_equal(indices[: lengths[0]], range(lengths[0]))


def swept(kernel, problem, *, live, drop=np.inf):
    rows, X, y, _ = problem
    bounds = np.linspace(0.5, 2.0, 24)
    alpha = np.minimum(np.linspace(0.0, 1.0, 24), COSTS[:, None] * bounds)
    weights = ((y * alpha) @ X).T.astype(np.float32, order="C")
    order, bias, balance = np.arange(24, dtype=np.int32), np.linspace(-0.2, 0.2, 8), alpha @ y
    highest, lowest, changes, kept = np.empty(8), np.empty(8), *np.empty((2, 8), np.int64)
    before = alpha.copy(), bias.copy(), balance.copy()
    remaining = kernel.sweep(
        *arrays_of(rows),
        y,
        bounds,
        COSTS,
        rows.squared_norms,
        alpha,
        weights.reshape(-1),
        order,
        0.1,
        bias,
        balance,
        np.full(8, drop),
        live,
        highest,
        lowest,
        changes,
        kept,
        np.empty((1, 8), np.float32),
        np.empty((1, 8), np.float32),
    )
    return before, bounds, (alpha, weights, order[:remaining], bias, balance, changes, kept)


@both
@pytest.mark.parametrize("drop", [np.inf, 0.2])
def test_a_sweep_is_that_of_one_svm_in_every_lane(kernel, problem, drop):
    rows, X, y, _ = problem
    before, bounds, (alpha, weights, order, bias, balance, changes, kept) = swept(
        kernel, problem, live=np.ones(8, np.uint8), drop=drop
    )
    remaining = set()
    for lane, cost in enumerate(COSTS):
        one, own = before[0][lane].copy(), np.arange(24, dtype=np.int32)
        w = (y * one) @ X
        count, s, b, *_, moved, _ = single.sweep(
            *rows.arrays,
            y,
            cost * bounds,
            rows.squared_norms + 0.1,
            one,
            w,
            own,
            0.1,
            before[1][lane],
            before[2][lane],
            drop,
            1,
        )
        np.testing.assert_allclose(alpha[lane], one, atol=1e-5)
        np.testing.assert_allclose(weights[:, lane], w, atol=1e-5)
        assert (bias[lane], balance[lane]) == pytest.approx((b, s), abs=1e-5)
        assert (changes[lane], kept[lane]) == (moved, count)
        remaining |= set(own[:count].tolist())
    assert set(order.tolist()) == remaining


@both
def test_a_lane_that_is_not_live_stays(kernel, problem):
    live = np.array([1, 0] * 4, np.uint8)
    before, _, (alpha, _, _, _, balance, _, kept) = swept(kernel, problem, live=live)
    np.testing.assert_array_equal(alpha[1::2], before[0][1::2])
    np.testing.assert_array_equal(balance[1::2], before[2][1::2])
    assert (kept[1::2] == 0).all()
    assert (alpha[::2] != before[0][::2]).any(axis=1).all()


@both
def test_newtons_step_is_that_of_one_svm_in_every_lane(kernel, problem):
    rows, X, y, rng = problem
    bounds, which = np.full(24, 40.0), np.arange(1, 24)
    alpha = rng.uniform(0.1, 1.0, (8, 24)) * COSTS[:, None]
    alpha[2, 5] = 0.0  # at its bound, and content there
    bias = np.zeros(8)
    residual = np.array([y - (y * one) @ X @ X.T for one in alpha])[:, which].copy()
    residual[2, 4] = -y[5]
    total, live, accuracy = np.linspace(-0.1, 0.1, 8), np.ones(8, np.uint8), np.full(8, 1e-4)
    live[3] = 0
    free, step, low, high = np.empty((4, 8, 23))
    members, arguments = np.empty(8), (y, bounds, COSTS, alpha, which)
    kernel.begin_step(*arguments, residual, total, live, 1e-6, free, step, low, high, members, bias)
    assert members.tolist() == [23.0, 23.0, 22.0, 0.0, 23.0, 23.0, 23.0, 23.0]
    spread = np.array([one @ X[which] @ X[which].T for one in step])
    left = (residual - spread) * free
    mean = left.sum(axis=1) / np.maximum(members, 1.0)
    shift, before = np.empty(8), alpha.copy()
    change = np.empty((23, 8), np.float32)
    kernel.conjugate_gradients(
        *arrays_of(rows.take(which)),
        left - mean[:, None] * free,
        free,
        step,
        low,
        high,
        np.zeros(480, np.float32),
        np.empty((8, 23)),
        change,
        live.copy(),
        np.empty(23, np.uint8),
        accuracy,
        shift,
        np.empty(8),
        float(rows.squared_norms.max()),
        50,
    )
    kernel.end_step(*arguments, free, step, low, high, 1e-12, change)
    for lane in (0, 1, 2, 4, 5, 6, 7):
        some = which[free[lane] > 0]
        own = free[lane] > 0
        expected, b, _ = newton_step(
            rows.take(some),
            residual[lane][own],
            (low[lane][own], high[lane][own]),
            total[lane],
            accuracy=1e-4,
            max_steps=50,
        )
        moved = rows.take(some).total(step[lane][own])
        np.testing.assert_allclose(moved, rows.take(some).total(expected), atol=2e-3)
        assert mean[lane] + shift[lane] == pytest.approx(b, abs=2e-3)
        cut = np.clip(step[lane], low[lane], high[lane])
        np.testing.assert_allclose(change[:, lane], cut * free[lane], atol=1e-5)
        np.testing.assert_allclose(
            alpha[lane][which], before[lane][which] + y[which] * cut * free[lane], atol=1e-9
        )
    np.testing.assert_array_equal(alpha[3], before[3])


@both
def test_who_objects_to_its_bound_is_free_in_newtons_step(kernel):
    # y·f − 1 = y(b − r): −0.5 at α = 0 objects, 0.5 does not; at the upper bound the reverse
    y, alpha = np.array([1.0, -1.0, 1.0, -1.0]), np.tile([0.0, 0.0, 2.0, 2.0], (8, 1))
    residual = np.tile([0.5, 0.5, 0.5, 0.5], (8, 1))
    free, step, low, high = np.empty((4, 8, 4))
    kernel.begin_step(
        y,
        np.full(4, 2.0),
        np.ones(8),
        alpha,
        np.arange(4),
        residual,
        np.full(8, 0.3),
        np.ones(8, np.uint8),
        0.1,
        free,
        step,
        low,
        high,
        np.empty(8),
        np.zeros(8),
    )
    np.testing.assert_array_equal(free[0], [1.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(step[0], [0.15, 0.0, 0.0, 0.15])
    np.testing.assert_array_equal(low[0], [0.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(high[0], [2.0, 0.0, 0.0, 2.0])
