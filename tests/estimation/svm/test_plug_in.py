"""The plug-in variance: by hand for one feature, and against the spread over many samples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.distributions import normal_quantile


def test_one_feature_by_hand():
    # f = x, b = 0: margins 2, 1, −0.5, −0.5, 1, 2.
    x = np.array([2.0, 1.0, 0.5, -0.5, -1.0, -2.0])
    y = np.array([1.0, 1.0, -1.0, 1.0, -1.0, -1.0])
    n, C = 6, 1.0
    margins = y * x
    h = 1.06 * margins.std() * n**-0.2
    at = [math.exp(-0.5 * (m / h) ** 2) / (h * math.sqrt(2 * math.pi)) for m in margins]
    near = [math.exp(-0.5 * ((1 - m) / h) ** 2) / (h * math.sqrt(2 * math.pi)) for m in margins]
    h11 = sum(k * v * v for k, v in zip(near, x, strict=True)) / n + 1 / (C * n)
    h12 = sum(k * v for k, v in zip(near, x, strict=True)) / n
    h22 = sum(near) / n
    d = [-sum(k * s * v for k, s, v in zip(at, y, x, strict=True)) / n,
         -sum(k * s for k, s in zip(at, y, strict=True)) / n]  # fmt: skip
    det = h11 * h22 - h12**2
    a = ((h22 * d[0] - h12 * d[1]) / det, (h11 * d[1] - h12 * d[0]) / det)
    total = 0.0
    for s, v, m in zip(y, x, margins, strict=True):
        hinge = -s if m < 1 else 0.0
        moved = a[0] * (hinge * v + 1 / (C * n)) + a[1] * hinge
        total += (float(m <= 0) - 1 / 3 - moved) ** 2
    half = -float(normal_quantile(0.05)) * math.sqrt(total) / n
    found = tr.plug_in_interval(x[:, None], y, [1.0, 0.0], C, level=0.9)
    assert found.high == pytest.approx(1 / 3 + half, rel=1e-9)
    assert found.low == pytest.approx(max(0.0, 1 / 3 - half), rel=1e-9)


def test_with_many_examples_it_is_the_spread_of_the_error_over_samples():
    # With the weights at their optimum the error varies as a share; here by 1/√n times √(p(1 − p)).
    rng = np.random.default_rng(0)
    y = np.where(rng.random(4000) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(4000, 2)) + y[:, None]
    svm = tr.LinearSVM().fit(X, y)
    theta = np.append(svm.coef_.ravel(), svm.intercept_)
    found = tr.plug_in_interval(X, y, theta, 1.0)
    error = float(np.mean(svm.predict(X) != y))
    assert found.width / 2 / 1.96 == pytest.approx(math.sqrt(error * (1 - error) / 4000), rel=0.1)


def test_shapes_that_do_not_belong_together_are_refused():
    with pytest.raises(InputError, match="one row for each"):
        tr.plug_in_interval([[1.0]], [1, -1], [1.0, 0.0], 1.0)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), cost=st.sampled_from([0.1, 1.0, 10.0]))
def test_laws_of_the_plug_in_variance(seed, cost):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    y = np.where(X[:, 0] + rng.normal(size=25) > 0, 1.0, -1.0)
    theta = rng.normal(size=4)

    def ends(rows, signs, parameters, **options):
        one = tr.plug_in_interval(rows, signs, parameters, cost, **options)
        return np.array([one.low, one.high])

    found = ends(X, y, theta)
    wrong = np.mean(y * (X @ theta[:-1] + theta[-1]) <= 0)
    assert 0 <= found[0] <= wrong <= found[1] <= 1
    order = rng.permutation(25)
    assert ends(X[order], y[order], theta) == pytest.approx(found, abs=1e-8)
    assert ends(X, -y, -theta) == pytest.approx(found, abs=1e-8)  # the classes exchanged
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned = np.append(turn.T @ theta[:-1], theta[-1])
    assert ends(X @ turn, y, turned) == pytest.approx(found, abs=1e-6)  # other axes
    narrow = ends(X, y, theta, level=0.8)
    assert found[0] <= narrow[0] <= narrow[1] <= found[1]
    moved = ends(X, y, theta, value=0.5)
    assert moved.mean() == pytest.approx(0.5) or (moved[0], moved[1]) == (0.0, 1.0)
