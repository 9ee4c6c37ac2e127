"""The plug-in variance: by hand for one feature, and against the spread over many samples."""

import math

import numpy as np
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.intervals.normal import normal_quantile


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
