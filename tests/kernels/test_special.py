import mpmath
import numpy as np
import pytest

from truerisk.kernels import special, uncompiled

plain = uncompiled("special")


def tails(module, a, b, log_odds):
    a, b, log_odds = (np.array(column, float) for column in (a, b, log_odds))
    out = np.empty_like(log_odds)
    module.beta_tails(a, b, log_odds, out)
    return out


def test_two_uniforms_by_hand():
    # I(2, 1; x) = x² and I(1, 2; x) = 1 − (1 − x)²; the log-odds of 1/4 are −log 3.
    got = tails(special, [2, 1], [1, 2], [-np.log(3)] * 2)
    np.testing.assert_allclose(got, [1 / 16, 1 - 9 / 16], rtol=1e-14)


@pytest.mark.parametrize("shift", [-5.0, -1.0, -0.01, 0.01, 1.0, 5.0])
def test_tails_agree_with_mpmath_on_both_sides_of_the_mean(shift):
    shapes = [(0.5, 0.5), (0.5, 40), (300, 0.5), (1, 1), (2.5, 7), (30, 900), (2000, 1500)]
    a, b = np.array(shapes).T
    log_odds = np.log(a / b) + shift * np.sqrt(1 / a + 1 / b)
    with mpmath.workdps(30):
        want = [
            float(mpmath.betainc(p, q, 0, 1 / (1 + mpmath.exp(-mpmath.mpf(t))), regularized=True))
            for p, q, t in zip(a, b, log_odds, strict=True)
        ]
    np.testing.assert_allclose(tails(special, a, b, log_odds), want, rtol=2e-12)
    np.testing.assert_allclose(tails(plain, a, b, log_odds), want, rtol=2e-12)


def test_large_shapes_are_nearly_normal():
    # Far beyond the sizes at which libraries lose their digits: n = 10¹², one percent of a
    # standard error below the mean, Φ(−0.01) = 0.4960106436853684.
    n = 1e12
    out = tails(special, [n / 2], [n / 2], [-0.01 * np.sqrt(4 / n)])
    assert out[0] == pytest.approx(0.4960106436853684, rel=1e-9)


def test_quantiles_by_hand():
    # I(2, 1; x) = x² is 1/16 at 1/4, I(1, 1; x) = x; no tail of 0 or 1 has a quantile.
    a, b = np.array([2.0, 1.0, 3.0, 3.0]), np.array([1.0, 1.0, 4.0, 4.0])
    tail, got, again = np.array([1 / 16, 0.3, 0.0, 1.0]), np.empty(4), np.empty(4)
    special.beta_quantiles(a, b, tail, got)
    plain.beta_quantiles(a, b, tail, again)
    want = [-np.log(3), np.log(3 / 7), np.nan, np.nan]
    np.testing.assert_allclose(got, want, rtol=1e-14)
    np.testing.assert_allclose(again, want, rtol=1e-14)


def test_quantiles_of_extreme_shapes_are_the_same_uncompiled():
    shapes = [(1e-300, 10), (10, 1e-300), (0.05, 0.05), (1000, 1e9), (0.3, 1e6), (5e5, 2)]
    a, b = (np.array(column, float) for column in zip(*shapes, strict=True))
    for tail in (1e-12, 0.025, 0.999):
        got, again = np.empty(len(a)), np.empty(len(a))
        special.beta_quantiles(a, b, np.full(len(a), tail), got)
        plain.beta_quantiles(a, b, np.full(len(a), tail), again)
        np.testing.assert_allclose(got, again, rtol=1e-12)


def test_the_normal_functions_have_the_values_of_their_source():
    p = np.array([1e-300, 1e-10, 0.025, 0.4, 0.6, 0.999])
    z, again, back = np.empty_like(p), np.empty_like(p), np.empty_like(p)
    special.normal_quantiles(p, z)
    plain.normal_quantiles(p, again)
    special.normal_tails(z, back)
    np.testing.assert_allclose(z, again, rtol=1e-13)
    np.testing.assert_allclose(back, p, rtol=1e-12)
