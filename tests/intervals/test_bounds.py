import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from truerisk.errors import InputError
from truerisk.intervals.binomial import binomial_interval, upper_bound
from truerisk.intervals.bounds import (
    chernoff_kl,
    empirical_bernstein,
    error_bounds,
    hoeffding,
    holdout_chebyshev,
    kearns_ron,
    leave_one_out_variability,
    sample_compression,
    stability_bound,
    vapnik_chervonenkis,
    vc_bound,
)


def test_hoeffding_by_hand():
    # √(ln(2 / 0.05) / (2 · 100)) = √(3.688879 / 200) = 0.135810
    interval = hoeffding(0.2, 100)
    assert [interval.low, interval.high] == pytest.approx([0.064190, 0.335810], abs=5e-7)


def test_chernoff_by_hand():
    # At mean 0 the divergence is −ln(1 − p): p = 1 − 0.025^(1/100).
    assert chernoff_kl(0.0, 100).high == pytest.approx(1 - 0.025**0.01, rel=1e-12)
    assert chernoff_kl(1.0, 100).low == pytest.approx(0.025**0.01, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(mean=st.floats(0, 1), n=st.integers(1, 10**6), level=st.floats(0.5, 0.9999))
def test_at_the_ends_of_chernoff_the_divergence_is_what_is_allowed(mean, n, level):
    interval = chernoff_kl(mean, n, level=level)
    for p in (interval.low, interval.high):
        if 1e-12 < p < 1 - 1e-12 and 1e-9 < mean < 1 - 1e-9:
            divergence = mean * math.log(mean / p) + (1 - mean) * math.log((1 - mean) / (1 - p))
            assert n * divergence == pytest.approx(math.log(2 / (1 - level)), rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 10**5), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
def test_exact_is_within_chernoff_is_within_hoeffding(n, share, level):
    k = round(n * share)
    exact = binomial_interval(k, n, level=level)
    chernoff, plain = chernoff_kl(k / n, n, level=level), hoeffding(k / n, n, level=level)
    assert plain.low - 1e-9 <= chernoff.low <= exact.low + 1e-9
    assert exact.high - 1e-9 <= chernoff.high <= plain.high + 1e-9


@pytest.mark.parametrize("bound", [hoeffding, chernoff_kl])
def test_they_cover_at_least_as_often_as_they_promise(bound):
    n, p = 30, 0.07
    hits = [bound(k / n, n, level=0.8).covers(p) for k in range(n + 1)]
    assert binom.pmf(np.arange(n + 1), n, p)[hits].sum() >= 0.8


def test_empirical_bernstein_by_hand():
    # ln(4 / 0.05) = 4.382027: √(2 · 0.01 · 4.382027 / 1001) + 7 · 4.382027 / 3000 = 0.0195818
    interval = empirical_bernstein(0.1, 0.01, 1001)
    assert interval.high - 0.1 == pytest.approx(0.0093571 + 0.0102247, abs=5e-7)
    assert 0.1 - interval.low == pytest.approx(interval.high - 0.1, rel=1e-12)


def test_empirical_bernstein_profits_from_a_small_variance():
    assert empirical_bernstein(0.1, 1e-4, 10**5).width < hoeffding(0.1, 10**5).width / 5
    assert empirical_bernstein(0.1, 0.25, 10**5).width > hoeffding(0.1, 10**5).width


def test_vc_by_hand():
    # 11 (ln(2·10⁵ / 11) + 1) − ln(0.0125) = 11 · 10.8082 + 4.3820 = 123.272; 2 √(·/10⁵) = 0.0702204
    assert vc_bound(0.05, 10**5, 11).high == pytest.approx(0.05 + 0.0702204, abs=2e-6)


def test_vc_says_nothing_for_few_examples():
    assert (vc_bound(0.0, 100, 11).low, vc_bound(0.0, 100, 11).high) == (0.0, 1.0)
    assert vc_bound(0.0, 5, 11).high == 1.0


def test_stability_by_hand():
    # 0.0002 + (4·1000·0.0001 + 1) √(ln 20 / 2000) = 0.0002 + 1.4 · 0.0387022
    assert stability_bound(0.05, 1000, 1e-4).high == pytest.approx(0.05 + 0.0543831, abs=2e-7)


def test_leave_one_out_variability_by_hand():
    # √((0.0001 + 6 · 0.0001) / 0.05) = 0.1183216
    interval = leave_one_out_variability(0.5, 10**4, 1e-4)
    assert [interval.low, interval.high] == pytest.approx([0.3816784, 0.6183216], abs=5e-8)


@settings(max_examples=60, deadline=None)
@given(mean=st.floats(0, 1), n=st.integers(2, 10**9), level=st.floats(0.01, 0.9999))
def test_all_lie_in_the_unit_interval_contain_the_mean_and_have_a_width(mean, n, level):
    intervals = [
        hoeffding(mean, n, level=level),
        chernoff_kl(mean, n, level=level),
        empirical_bernstein(mean, 0.0, n, level=level),
        vc_bound(mean, n, 3, level=level),
        stability_bound(mean, n, 1.0 / n, level=level),
        leave_one_out_variability(mean, n, 0.0, level=level),
    ]
    for interval in intervals:
        assert 0 <= interval.low <= mean <= interval.high <= 1
        assert interval.width > 0


def test_slips_are_told():
    with pytest.raises(InputError, match="`mean` must lie in"):
        hoeffding(1.2, 10)
    with pytest.raises(InputError, match="`n` must lie in"):
        empirical_bernstein(0.1, 0.1, 1)
    with pytest.raises(InputError, match="`disagreement` must lie in"):
        leave_one_out_variability(0.1, 10, 2.0)


def test_all_bounds_of_counts_by_hand():
    found = error_bounds(12, 300, vc_dimension=11)
    # 0.04 ± 1.959964 √(0.04 · 0.96 / 300)
    assert [found["gaussian"].low, found["gaussian"].high] == pytest.approx(
        [0.017826, 0.062174], abs=5e-7
    )
    assert binom.cdf(12, 300, found["one_sided"].high) == pytest.approx(0.05, abs=1e-9)
    # Losses of 0 and 1 have the sample variance n/(n − 1) · 0.04 · 0.96.
    variance = 300 / 299 * 0.04 * 0.96
    assert found["empirical_bernstein"] == empirical_bernstein(0.04, variance, 300)
    assert {name: one.side for name, one in found.items() if one.side != "both"} == {
        "one_sided": "upper",
        "vc_bound": "upper",
    }
    assert "vc_bound" not in error_bounds(12, 300)


@given(n=st.integers(2, 500), data=st.data())
def test_what_assumes_less_is_never_shorter(n, data):
    k = data.draw(st.integers(0, n))
    found = error_bounds(k, n)
    exact, loose = found["clopper_pearson"], found["chernoff_kl"]
    assert loose.low <= exact.low + 1e-9
    assert exact.high <= loose.high + 1e-9
    assert loose.width <= found["hoeffding"].width + 1e-9
    assert found["one_sided"].high <= exact.high + 1e-12


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="`errors` must"):
        error_bounds(4, 3)


@given(n=st.integers(2, 80), data=st.data(), level=st.floats(0.5, 0.99))
def test_sample_compression_is_the_exact_bound_with_the_confidence_shared(n, data, level):
    size = data.draw(st.integers(0, n - 1))
    errors = data.draw(st.integers(0, n - size))
    found = sample_compression(errors, n, size, level=level)
    delta = (1 - level) / ((size + 1) * (size + 2) * math.comb(n, size))
    assert found.high == pytest.approx(upper_bound(errors, n - size, delta=delta), rel=1e-8)


def test_sample_compression_where_the_shared_confidence_is_below_all_floats():
    # No error of n - d: (1 - p)^(n - d) = δ / ((d + 1)(d + 2) C(n, d)), in logarithms.
    n, d = 20_000, 4_000
    log_choices = math.lgamma(n + 1) - math.lgamma(d + 1) - math.lgamma(n - d + 1)
    log_share = math.log(0.05 / ((d + 1) * (d + 2))) - log_choices
    assert math.exp(log_share) == 0.0
    expected = -math.expm1(log_share / (n - d))
    assert sample_compression(0, n, d).high == pytest.approx(expected, rel=1e-9)


def test_chebyshev_by_hand():
    # 1/(2√(100 · 0.05)) = 0.223607
    interval = holdout_chebyshev(0.3, 100)
    assert [interval.low, interval.high] == pytest.approx([0.076393, 0.523607], abs=5e-7)


def test_equation_9_by_hand_and_put_back_into_the_probability():
    # 2√((11(ln(1000/11) + 1) + ln 120)/999) = 2√((11 · 5.509860 + 4.787492)/999) = 0.511709
    n, d = 1000, 11
    spread = vapnik_chervonenkis(0.1, n, d).high - 0.1
    assert spread == pytest.approx(0.511709, abs=5e-6)
    log_chance = math.log(6) + d * math.log(math.e * n / d) - spread**2 * (n - 1) / 4
    assert math.exp(log_chance) == pytest.approx(0.05, rel=1e-9)


def test_equation_10_does_not_follow_from_equation_9():
    n, d = 1000, 11
    nine, ten = vapnik_chervonenkis(0.0, n, d).high, vc_bound(0.0, n, d).high
    assert nine < ten  # solved for the error, (9) is the smaller one here
    with_doubled = 2 * math.sqrt((d * (math.log(2 * n / d) + 1) + math.log(4 / 0.05)) / n)
    assert ten == pytest.approx(with_doubled)


def test_kearns_and_ron_by_hand():
    # 8√(12(ln(9e9/11) + 2)/1e9)/0.05 = 160 · √(12 · 22.522606/1e9) = 0.0831799
    found = kearns_ron(0.2, 10**9, 11)
    assert found.high - 0.2 == pytest.approx(0.0831799, abs=1e-6)
    assert (kearns_ron(0.2, 1000, 11).low, kearns_ron(0.2, 1000, 11).high) == (0.0, 1.0)
