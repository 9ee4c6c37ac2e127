import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import bootstrap

from truerisk.errors import InputError
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.delta import cell_gradient
from truerisk.intervals.replicates import (
    FORMS,
    REPLICATES,
    acceleration_of,
    basic,
    bca_probabilities,
    dirichlet_cells,
    ends_of,
    multinomial_cells,
    percentile,
    replicate_interval,
    replicates_for,
    two_sided_p,
)


def accuracy(cells):
    return cells[..., 0] / cells.sum(axis=-1)


def test_percentile_and_basic_by_hand():
    # 39 replicates 1, …, 39: the first and the last leave out 2.5 % on either side.
    values = np.arange(1.0, 40.0)
    assert percentile(values, 15.0, 0.95, 0.0) == pytest.approx((1.0, 39.0))
    assert basic(values, 15.0, 0.95, 0.0) == pytest.approx((-9.0, 29.0))


def test_bca_without_bias_and_skewness_is_percentile():
    values = np.arange(1.0, 100.0)
    assert bca_probabilities(values, 50.0, 0.9, 0.0) == pytest.approx((0.05, 0.95))


def test_the_probabilities_of_bca_by_hand():
    # A quarter under the value: z₀ = −0.6744898; level 0.9: z = ∓1.6448536; a = 0.1.
    # Low: −0.6744898 − 2.3193434 / 1.2319343 = −2.5571768 → Φ = 0.0052763
    # High: −0.6744898 + 0.9703638 / 0.9029636 = 0.4001539 → Φ = 0.6554785
    values = np.arange(1.0, 5.0)
    assert bca_probabilities(values, 1.5, 0.9, 0.1) == pytest.approx(
        (0.0052763, 0.6554785), abs=1e-6
    )


def test_bca_is_scipys():
    data = np.random.default_rng(1).gamma(2.0, size=40)
    mean = float(data.mean())
    scipys = bootstrap(
        (data,), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(2)
    )
    values = scipys.bootstrap_distribution
    influence = data - mean  # SciPy's jackknife of a mean is this, but for a factor
    acceleration = float(np.sum(influence**3) / (6 * np.sum(influence**2) ** 1.5))
    at = bca_probabilities(values, mean, 0.95, acceleration)
    ours = np.quantile(values, at)  # SciPy's definition of a quantile
    expected = [scipys.confidence_interval.low, scipys.confidence_interval.high]
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_the_acceleration_by_hand():
    # 8 right, 2 wrong: influences 0.02 and −0.08; Σ³ = 6.4e-5 − 1.024e-3, Σ² = 0.016
    gradient = cell_gradient(accuracy, [8.0, 2.0])
    expected = (8 * 0.02**3 - 2 * 0.08**3) / (6 * 0.016**1.5)
    assert acceleration_of(gradient, [8, 2]) == pytest.approx(expected, rel=1e-12)
    assert acceleration_of([0.0, 0.0], [5, 5]) == 0.0


def test_undefined_replicates_are_counted_and_left_out():
    values = np.r_[np.arange(1.0, 100.0), [math.nan] * 7]
    interval, undefined = replicate_interval(values, 50.0, method="percentile", level=0.9)
    assert undefined == 7
    assert (interval.low, interval.high) == pytest.approx((5.0, 95.0))


def test_too_few_replicates_are_refused():
    with pytest.raises(InputError, match=r"at least 39 defined replicates .* got 38 of 40"):
        replicate_interval(np.r_[np.arange(38.0), math.nan, math.nan], 3.0)


def test_where_bca_degenerates_percentile_says_so():
    interval, _ = replicate_interval(np.arange(1.0, 100.0), 0.5, method="bca")
    assert interval.method == "percentile"
    assert interval.low == 0.5


@pytest.mark.parametrize("method", REPLICATES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), observed=st.floats(0, 1), skew=st.floats(-0.3, 0.3))
def test_the_interval_lies_in_the_range_and_contains_the_value(method, seed, observed, skew):
    values = np.random.default_rng(seed).beta(2, 5, size=200)
    interval, _ = replicate_interval(
        values, observed, method=method, acceleration=skew, measure_range=(0.0, 1.0)
    )
    assert 0 <= interval.low <= observed <= interval.high <= 1


def test_the_number_of_replicates_follows_the_level():
    assert replicates_for(0.9) == 1000
    assert replicates_for(0.99) == 5000


def test_resampled_cells_have_the_moments_of_the_multinomial():
    counts = np.array([60, 0, 30, 10])
    drawn = multinomial_cells(counts, 20_000, np.random.default_rng(3))
    assert np.all(drawn.sum(axis=1) == 100)
    assert np.all(drawn[:, 1] == 0)
    # Standard errors of the mean are √(24 / 20,000) = 0.035 at most.
    np.testing.assert_allclose(drawn.mean(axis=0), counts, atol=0.15)
    np.testing.assert_allclose(drawn.var(axis=0), counts * (1 - counts / 100), rtol=0.06, atol=1e-9)


def test_a_trillion_examples_cost_no_more():
    drawn = multinomial_cells([10**12 - 3, 3, 0], 50, np.random.default_rng(1))
    assert np.all(drawn.sum(axis=1) == 10**12)
    assert np.all(drawn[:, 2] == 0)


def test_nothing_resampled_is_nothing():
    assert not multinomial_cells([0, 0], 5, np.random.default_rng(1)).any()


def test_weighted_totals_are_not_resampled_as_counts():
    with pytest.raises(InputError, match="`counts` must be whole numbers"):
        multinomial_cells([1.5, 2.0], 10, np.random.default_rng(1))


def test_dirichlet_cells_have_the_moments_of_their_posterior():
    drawn = dirichlet_cells([6, 2, 0, 0], 40_000, np.random.default_rng(7))
    # Shapes 6.5, 2.5, 0.5, 0.5 of 10 in all; totals are 8 · share.
    np.testing.assert_allclose(
        drawn.mean(axis=0), 8 * np.array([0.65, 0.25, 0.05, 0.05]), rtol=0.03
    )
    assert drawn[:, 0].var() == pytest.approx(64 * 0.65 * 0.35 / 11, rel=0.05)


def test_no_replicate_from_the_posterior_is_ever_degenerate():
    counts = np.zeros(400)
    counts[0] = 5
    drawn = dirichlet_cells(counts, 300, np.random.default_rng(1))
    table = drawn.reshape(-1, 20, 20)
    with np.errstate(all="raise"):
        recalls = np.diagonal(table, axis1=1, axis2=2) / table.sum(axis=2)
    assert np.all((recalls >= 0) & (recalls <= 1))
    np.testing.assert_allclose(drawn.sum(axis=1), 5)


def test_a_level_that_resampling_cannot_reach_is_refused():
    assert replicates_for(0.9999) == 500_000
    with pytest.raises(InputError, match=r"at most 0\.9999 .* got 0\.999999999999\. Lower it"):
        replicates_for(1 - 1e-12)


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
