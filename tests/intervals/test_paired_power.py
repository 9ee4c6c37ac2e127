import numpy as np
import pytest
from scipy.stats import binom

from truerisk.intervals.paired_power import at_least, paired_power, rejected_from


def by_summing(n, discordant, difference, level):
    """The definition: every number of discordances, every split of them."""
    wins, total = 0.5 * (1 + difference / discordant), 0.0
    for m in range(n + 1):
        k = np.arange(m + 1)
        mid_p = 2 * (binom.sf(np.maximum(k, m - k), m, 0.5)) + binom.pmf(k, m, 0.5)
        mid_p = np.where(2 * k == m, 1.0, mid_p)
        reject = mid_p <= 1 - level
        total += binom.pmf(m, n, discordant) * binom.pmf(k, m, wins)[reject].sum()
    return total


@pytest.mark.parametrize(
    ("n", "discordant", "difference", "level"),
    [(40, 0.3, 0.15, 0.95), (25, 1.0, 0.4, 0.9), (60, 0.2, 0.2, 0.99), (30, 0.5, 0.0, 0.8)],
)
def test_it_is_the_sum_of_the_definition(n, discordant, difference, level):
    expected = by_summing(n, discordant, difference, level)
    assert paired_power(n, discordant, difference, level) == pytest.approx(expected, abs=1e-10)


def test_summing_over_every_few_changes_little(monkeypatch):
    sparse = paired_power(20_000, 0.1, 0.005, 0.95)
    monkeypatch.setattr("truerisk.intervals.paired_power.NUMBERS", 10**9)
    assert sparse == pytest.approx(paired_power(20_000, 0.1, 0.005, 0.95), abs=2e-3)


def test_six_of_six_is_the_first_rejection_by_hand():
    # mid-p of all m heads is 2 · ½ · 2⁻ᵐ: 1/32 at m = 5, which is under 0.05.
    assert rejected_from(np.array([4.0, 5.0, 6.0]), 0.025).tolist() == [5.0, 5.0, 6.0]


def test_tails_beyond_the_trials():
    got = at_least(np.array([0.0, 3.0, 4.0]), np.array([3.0, 3.0, 3.0]), 0.5)
    np.testing.assert_allclose(got, [1.0, 0.125, 0.0])
