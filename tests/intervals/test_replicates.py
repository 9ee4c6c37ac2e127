import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from truerisk.errors import InputError
from truerisk.intervals.delta import cell_gradient
from truerisk.intervals.replicates import (
    REPLICATES,
    acceleration_of,
    basic,
    bca_probabilities,
    dirichlet_cells,
    multinomial_cells,
    percentile,
    replicate_interval,
    replicates_for,
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
