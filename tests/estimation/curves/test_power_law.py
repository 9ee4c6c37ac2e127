"""The inverse power law: recovered where it holds, bounded where it does not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from truerisk.estimation.curves.power_law import PowerLaws, fit_power_laws

SIZES = np.array([10, 21, 46, 100, 215, 464, 1000])


def _fit(losses, weights=None, sizes=SIZES):
    law = fit_power_laws(
        sizes, np.asarray(losses)[None], np.ones(len(sizes)) if weights is None else weights
    )
    return tuple(float(part[0]) for part in (law.a, law.b, law.c))


@settings(max_examples=30)
@given(a=st.floats(0, 0.5), b=st.floats(0.1, 3), c=st.floats(0.1, 1.8))
def test_an_exact_law_is_recovered(a, b, c):
    assert _fit(a + b * SIZES**-c) == pytest.approx((a, b, c), rel=1e-4, abs=1e-5)


@settings(max_examples=10)
@given(scale=st.floats(0.01, 100))
def test_only_the_ratios_of_weights_matter(scale):
    losses = 0.1 + 0.8 * SIZES**-0.4 + 0.01 * np.sin(SIZES)
    weights = 1 / np.arange(1.0, 8)
    assert _fit(losses, scale * weights) == pytest.approx(_fit(losses, weights), rel=1e-5)


def test_the_fit_is_that_of_scipy():
    noisy = 0.08 + 0.9 * SIZES**-0.5 + np.array([0.01, -0.012, 0.006, -0.004, 0.003, 0.002, -0.001])
    deviations = np.linspace(0.02, 0.005, 7)
    theirs, _ = curve_fit(
        lambda n, a, b, c: a + b * n**-c, SIZES, noisy, p0=(0.1, 1.0, 0.5), sigma=deviations
    )
    assert _fit(noisy, deviations**-2) == pytest.approx(tuple(theirs), rel=1e-4)


def test_a_weight_draws_the_law_to_its_size():
    losses = 0.1 + 0.8 * SIZES**-0.4
    losses[3] += 0.05
    near, far = np.ones(7), np.ones(7)
    near[3], far[3] = 1e6, 1e-6
    at = [PowerLaws(*map(np.array, _fit(losses, weights))).at(SIZES[3]) for weights in (near, far)]
    assert at[0] == pytest.approx(losses[3], abs=1e-4)
    assert at[1] == pytest.approx(losses[3] - 0.05, abs=1e-4)


def test_no_law_levels_off_below_nothing():
    a, b, _ = _fit(0.9 * SIZES**-0.7 - 0.005)  # the free fit has a = −.005
    assert a == 0
    assert b > 0


def test_a_rising_curve_is_level():
    a, b, _ = _fit(0.1 + 0.0001 * SIZES)
    assert b == 0
    assert a == pytest.approx(np.mean(0.1 + 0.0001 * SIZES))


def test_each_row_is_fitted_by_itself():
    rows = np.stack([0.1 + 0.5 * SIZES**-0.5, 0.2 + 0.9 * SIZES**-1.0, np.full(7, 0.3)])
    together = fit_power_laws(SIZES, rows, np.ones(7))
    for at, row in enumerate(rows):
        alone = fit_power_laws(SIZES, row[None], np.ones(7))
        assert together.at(300)[at] == pytest.approx(alone.at(300)[0], rel=1e-9)


def test_the_size_for_a_loss_worked_by_hand():
    law = PowerLaws(np.array([0.1]), np.array([0.9]), np.array([0.5]))
    assert law.at(81)[0] == pytest.approx(0.2)  # .1 + .9/9
    assert law.size_for(0.2)[0] == pytest.approx(81)
    assert law.size_for(0.1)[0] == math.inf
    assert law.size_for(0.05)[0] == math.inf


def test_a_level_law_is_at_its_loss_always_or_never():
    law = PowerLaws(np.array([0.1]), np.array([0.0]), np.array([0.5]))
    assert law.size_for(0.1)[0] == 0
    assert law.size_for(0.09)[0] == math.inf
