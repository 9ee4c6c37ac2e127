"""Intervals from deviations: worked by hand, held in range, and the test that belongs to them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from truerisk.errors import InputError
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.perturbed import FORMS, ends_of, two_sided_p

DEVIATIONS = np.linspace(-0.1, 0.3, 401)  # quantile q is −.1 + .4 q; skew about 0


def test_the_percentile_interval_turns_the_quantiles_round() -> None:
    # ξ_.975 = .29 goes off the lower end, ξ_.025 = −.09 is added to the upper one.
    low, high = ends_of("percentile", 0.4, DEVIATIONS, 50, 0.95)
    assert (low, high) == pytest.approx((0.4 - 0.29, 0.4 + 0.09), abs=1e-12)


def test_the_normal_interval_takes_their_size_alone() -> None:
    size = np.std(DEVIATIONS, ddof=1)
    low, high = ends_of("normal", 0.4, DEVIATIONS, 50, 0.9)
    assert (low, high) == pytest.approx((0.4 + ndtri(0.05) * size, 0.4 - ndtri(0.05) * size))


def test_the_effective_size_is_that_of_a_binomial_of_one_variance() -> None:
    # Deviations of variance .2 · .8 / 50: as 50 independent examples, whatever n is.
    deviations = np.sqrt(0.16 / 50) * np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    deviations *= np.sqrt(5 / 6)  # n − 1 in the denominator
    exact = binomial_interval(10, 50)
    assert ends_of("effective_size", 0.2, deviations, 200, 0.95) == pytest.approx(
        (exact.low, exact.high), abs=1e-9
    )


def test_the_effective_size_is_never_more_than_n() -> None:
    exact = binomial_interval(10, 50)
    found = ends_of("effective_size", 0.2, 1e-6 * DEVIATIONS, 50, 0.95)
    assert found == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(InputError, match=r"`interval` must be one of percentile, normal"):
        ends_of("bca", 0.2, DEVIATIONS, 50, 0.95)


@given(
    value=st.floats(0, 1),
    seed=st.integers(0, 1000),
    size=st.floats(1e-4, 1),
    form=st.sampled_from(sorted(FORMS)),
)
@settings(max_examples=40)
def test_ends_lie_in_the_range_and_around_the_value(
    value: float, seed: int, size: float, form: str
) -> None:
    deviations = size * np.random.default_rng(seed).normal(0.3, 1, size=101)
    low, high = ends_of(form, value, deviations, 60, 0.95)
    assert 0 <= low <= value <= high <= 1
    wider = ends_of(form, value, deviations, 60, 0.99)
    assert wider[0] <= low
    assert high <= wider[1]


@given(value=st.floats(-1, 1), seed=st.integers(0, 1000), level=st.floats(0.5, 0.99))
@settings(max_examples=40)
def test_the_test_rejects_exactly_where_the_percentile_interval_excludes_0(
    value: float, seed: int, level: float
) -> None:
    # Of 1/64 each, so that some are equal to each other and to the value.
    deviations = np.round(20 * np.random.default_rng(seed).normal(size=999)) / 64
    for centre in (value, round(64 * value) / 64):
        low, high = FORMS["percentile"](centre, deviations, 60, level)
        p = two_sided_p(centre, deviations)
        if abs(p - (1 - level)) > 1e-9:
            assert (p < 1 - level) == (low > 0 or high < 0)


def test_p_is_worked_by_hand() -> None:
    # Quantile q of these is 2q − 1 up to ¾ and ½ + 2(q − ¾) after it: .7 has .85, so has −.7 .15.
    deviations = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    assert two_sided_p(0.7, deviations) == pytest.approx(2 / 6)  # 2 · .15, but one of 6 at least
    many = np.linspace(-1, 1, 401)
    assert two_sided_p(0.7, many) == pytest.approx(0.3)
    assert two_sided_p(-0.7, many) == pytest.approx(0.3)
    # Equal deviations count on both sides.
    assert two_sided_p(0.0, np.array([-1.0, 0.0, 0.0, 0.0, 1.0])) == 1.0


def test_no_deviation_and_no_difference_has_p_1() -> None:
    assert two_sided_p(0.0, np.zeros(100)) == 1.0


def test_the_least_p_is_that_of_one_replicate() -> None:
    assert two_sided_p(0.5, np.zeros(199)) == pytest.approx(2 / 200)
