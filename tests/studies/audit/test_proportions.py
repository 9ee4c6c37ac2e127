import numpy as np
import pytest
from scipy.stats import binom

from studies.audit.proportions import (
    LEVELS,
    ROUNDING,
    SIZES,
    coverage,
    enumerate_all,
    enumerate_coverage,
    proportions,
)
from truerisk.intervals.binomial import BINOMIAL, binomial_bounds


def test_coverage_by_hand():
    # Two trials, p = ½: outcomes ¼, ½, ¼; only the intervals of 0 and 1 contain it.
    low, high = np.array([0.0, 0.4, 0.6]), np.array([0.5, 0.7, 1.0])
    assert coverage(low, high, np.array([0.5])) == pytest.approx([0.75])


def test_the_sum_is_that_of_scipys_probabilities():
    p = np.array([0.003, 0.4, 0.97])
    low, high = binomial_bounds(np.arange(41), 40, method="wilson")
    expected = [binom.pmf(np.arange(41), 40, q)[(low <= q) & (q <= high)].sum() for q in p]
    np.testing.assert_allclose(coverage(low, high, p), expected, rtol=1e-11)


@pytest.mark.parametrize("method", ["clopper_pearson", "blaker"])
@pytest.mark.parametrize("level", LEVELS)
def test_exact_methods_are_never_under_their_level(method, level):
    for n in (5, 17, 50, 333):
        row = enumerate_coverage(method, n, level)
        assert row.least >= level - ROUNDING
        assert row.share_under == 0.0


def test_the_weakness_of_wald_is_found():
    row = enumerate_coverage("wald", 50, 0.95)
    assert row.least < 0.01  # at p = 1e-4: no error, no width
    assert min(row.least_at, 1 - row.least_at) == pytest.approx(1e-4)
    assert row.share_under > 0.5


def test_shorter_methods_cover_less():
    exact, mid, wilson = (
        enumerate_coverage(method, 50, 0.95) for method in ("clopper_pearson", "mid_p", "wilson")
    )
    assert exact.mean_width > mid.mean_width > 0
    assert exact.mean > mid.mean
    assert 0.94 < wilson.mean < 0.965


def test_the_width_by_hand():
    # One trial: [0, 0.975] or [0.025, 1], whatever happens.
    assert enumerate_coverage("clopper_pearson", 1, 0.95).mean_width == pytest.approx(0.975)


def test_every_method_level_and_size_has_its_row():
    rows = list(enumerate_all(sizes=[5, 8], levels=[0.9, 0.95]))
    assert [row.method for row in rows[::2]] == list(BINOMIAL) * 2
    assert {(row.n, row.level) for row in rows} == {(5, 0.9), (8, 0.9), (5, 0.95), (8, 0.95)}
    assert all(0 <= row.least <= row.mean <= 1 for row in rows)


def test_the_grid_is_the_announced_one():
    p = proportions()
    assert p.size == 550 == np.unique(p).size
    assert (min(SIZES), max(SIZES)) == (5, 1000)
    assert (p > 0).all()
    assert (p < 1).all()
