import numpy as np
import pytest
from scipy.stats import binom

from truerisk.intervals import installation as checks
from truerisk.intervals.binomial import binomial_bounds
from truerisk.results import Interval


def test_this_installation_is_sound():
    results = checks.check_installation()
    assert len(results) == len(checks.EXTREMES) + 2
    assert [result.name for result in results if not result.passed] == []


def test_a_wrong_bound_is_noticed(monkeypatch):
    def wrong(k, n, *, level):
        del k, n
        return Interval(1.903e-06, 2e-06, level, "clopper_pearson")  # SciPy's for 1000 in 1e9

    monkeypatch.setattr(checks, "binomial_interval", wrong)
    results = checks.check_installation()
    assert not any(result.passed for result in results[: len(checks.EXTREMES)])


def test_a_wrong_test_is_noticed(monkeypatch):
    monkeypatch.setattr(checks, "binomial_test", lambda *_: 0.99)
    assert not checks.check_installation()[-1].passed


@pytest.mark.parametrize("row", checks.EXTREMES)
def test_the_expected_ends_enclose_the_share(row):
    k, n, _, low, high = row
    assert low <= k / n <= high


def test_an_interval_that_covers_too_little_is_noticed(monkeypatch):
    def narrow(k, n, *, level):
        low, high = binomial_bounds(k, n, level=level)
        return low + 1e-2, high

    monkeypatch.setattr(checks, "binomial_bounds", narrow)
    failed = [result.name for result in checks.check_installation() if not result.passed]
    assert failed == ["clopper_pearson covers at n = 50"]


def test_theleast_coverage_is_the_sum_over_all_outcomes():
    p = np.arange(1, 1000) / 1000
    low, high = binomial_bounds(np.arange(21), 20, level=0.9)
    inside = (low[:, None] <= p) & (p <= high[:, None])
    summed = np.sum(binom.pmf(np.arange(21)[:, None], 20, p) * inside, axis=0)
    assert checks.least_coverage(20, 0.9) == pytest.approx(summed.min(), abs=1e-12)
