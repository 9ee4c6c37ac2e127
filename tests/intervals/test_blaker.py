import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from truerisk.intervals.binomial import binomial_bounds
from truerisk.intervals.blaker import blaker_log_odds


def acceptabilities(n, grid):
    """Blaker's definition, count by count (rows) and proportion by proportion (columns)."""
    counts = np.arange(n + 1)[:, np.newaxis]
    smaller = np.minimum(binom.sf(counts - 1, n, grid), binom.cdf(counts, n, grid))
    chance = binom.pmf(counts, n, grid)
    return np.array([np.sum(chance * (smaller <= row * (1 + 1e-12)), axis=0) for row in smaller])


@pytest.mark.parametrize(("n", "level"), [(1, 0.95), (5, 0.9), (12, 0.95), (30, 0.99), (47, 0.8)])
def test_the_ends_are_those_of_a_scan_of_the_definition(n, level):
    low, high = binomial_bounds(np.arange(n + 1), n, level=level, method="blaker")
    grid = np.linspace(0, 1, 4001)[1:-1]
    for k, row in enumerate(acceptabilities(n, grid)):
        accepted = grid[row > 1 - level]
        assert low[k] - 1e-9 <= accepted[0] <= low[k] + 3e-4
        assert high[k] - 3e-4 <= accepted[-1] <= high[k] + 1e-9


def test_it_lies_within_clopper_and_pearson():
    k = np.arange(201)
    low, high = binomial_bounds(k, 200, method="blaker")
    outer_low, outer_high = binomial_bounds(k, 200)
    assert np.all(outer_low <= low * (1 + 1e-12))
    assert np.all(high <= outer_high * (1 + 1e-12))
    assert np.mean(high - low) < np.mean(outer_high - outer_low)


def test_the_only_success_of_one_trial_by_hand():
    # P(X ≥ 1) = p and no opposite outcome below p = ½: the end is 1 − level itself.
    assert expit(blaker_log_odds(np.array([1.0]), np.array([1.0]), 0.05))[0] == pytest.approx(0.05)


def test_it_works_where_no_one_can_step():
    low, high = binomial_bounds([3, 1000], 10**12, method="blaker")
    outer_low, outer_high = binomial_bounds([3, 1000], 10**12)
    assert np.all((outer_low <= low) & (low < high) & (high <= outer_high))
