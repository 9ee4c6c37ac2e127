import mpmath
import numpy as np
import pytest

from truerisk.kernels import special, uncompiled

plain = uncompiled("special")


def tails(module, a, b, log_odds):
    a, b, log_odds = (np.array(column, float) for column in (a, b, log_odds))
    x, y = 1 / (1 + np.exp(-log_odds)), 1 / (1 + np.exp(log_odds))
    kernel = [
        float(mpmath.mpf(p) ** s * mpmath.mpf(q) ** t / mpmath.beta(s, t))
        for s, t, p, q in zip(a, b, x, y, strict=True)
    ]
    out = np.empty_like(x)
    module.beta_tails(a, b, x, y, np.array(kernel), out)
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
    a = np.array([n / 2])
    log_odds = -0.01 * np.sqrt(4 / n)
    x, y = np.array([1 / (1 + np.exp(-log_odds))]), np.array([1 / (1 + np.exp(log_odds))])
    log_kernel = 0.5 * np.log(n / 4) - 0.5 * np.log(2 * np.pi) - 0.01**2 / 2
    out = np.empty(1)
    special.beta_tails(a, a, x, y, np.exp([log_kernel]), out)
    assert out[0] == pytest.approx(0.4960106436853684, rel=1e-9)


def test_the_normal_functions_have_the_values_of_their_source():
    p = np.array([1e-300, 1e-10, 0.025, 0.4, 0.6, 0.999])
    z, again, back = np.empty_like(p), np.empty_like(p), np.empty_like(p)
    special.normal_quantiles(p, z)
    plain.normal_quantiles(p, again)
    special.normal_tails(z, back)
    np.testing.assert_allclose(z, again, rtol=1e-15)
    np.testing.assert_allclose(back, p, rtol=1e-12)


def test_quantiles_by_hand():
    # I(2, 1; x) = x² and I(1, 2; x) = 1 − (1 − x)²: the quantiles of 1/16 and of 7/16 are both 1/4.
    got = np.empty(2)
    special.beta_quantiles(np.array([2.0, 1.0]), np.array([1.0, 2.0]), np.array([1, 7]) / 16, got)
    np.testing.assert_allclose(got, -np.log(3), rtol=1e-14)


def test_quantiles_peaks_and_deviances_are_those_of_the_plain_source():
    shapes = [(0.5, 0.5), (1e-100, 3), (0.01, 40), (300, 0.5), (1.5, 2), (30, 900), (2e6, 1.5e6)]
    a, b = np.repeat(np.array(shapes).T, 4, axis=1)
    tail = np.tile([1e-12, 0.025, 0.6, 0.999], len(shapes))
    ours, twin = np.empty((2, 3, len(a)))
    for module, out in ((special, ours), (plain, twin)):
        module.beta_quantiles(a, b, tail, out[0])
        module.log_peaks(a, b, out[1])
        module.deviances(a, b, out[0], out[2])
    np.testing.assert_allclose(ours, twin, rtol=1e-9)
    with mpmath.workdps(40):
        back = [
            float(mpmath.betainc(p, q, 0, 1 / (1 + mpmath.exp(-mpmath.mpf(t))), regularized=True))
            for p, q, t in zip(a[:2], b[:2], ours[0, :2], strict=True)
        ]
    np.testing.assert_allclose(back, tail[:2], rtol=1e-10)
    kernel = mpmath.mpf(30) ** 30 * mpmath.mpf(900) ** 900 / mpmath.mpf(930) ** 930
    peak = mpmath.log(kernel / mpmath.beta(30, 900))
    np.testing.assert_allclose(ours[1, 20], float(peak), rtol=1e-13)
