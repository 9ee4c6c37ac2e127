import math

import numpy as np
import pytest
from scipy.special import betainc

from truerisk.errors import InputError
from truerisk.intervals.bands import (
    LOCAL_MISSES,
    TABLE,
    local_level,
    probability_inside,
    simultaneous_bounds,
)
from truerisk.intervals.binomial import clopper_pearson


@pytest.mark.parametrize("level", [0.3, 0.9, 0.95, 0.999])
def test_one_score_has_the_level_itself(level):
    # The band misses when the uniform number is below t or above 1 − t.
    assert local_level(1, level) == level
    assert probability_inside(1, 1 - level) == pytest.approx(level, abs=1e-12)


@pytest.mark.parametrize("miss", [0.2, 0.05, 0.01])
def test_two_scores_worked_by_hand(miss):
    # The smaller of two uniforms lies in [1 − √(1−t), 1 − √t], the larger in [√t, √(1−t)]; the
    # pair has density 2 where the first is smaller.
    t = miss / 2
    a, b, c, d = 1 - math.sqrt(1 - t), 1 - math.sqrt(t), math.sqrt(t), math.sqrt(1 - t)
    area = (c - a) * (d - c) + d * (b - c) - (b**2 - c**2) / 2
    assert probability_inside(2, miss) == pytest.approx(2 * area, abs=1e-12)
    assert local_level(2, 2 * area) == pytest.approx(1 - miss, abs=1e-8)


@pytest.mark.parametrize("n", [20, 100, 1000])
def test_the_band_covers_at_all_thresholds_as_often_as_it_promises(n):
    rng, times, level = np.random.default_rng(n), min(3000, 400_000 // n), 0.8
    uniforms = np.sort(rng.random((times, n)), axis=1)
    k = np.arange(1.0, n + 1)
    tails = betainc(k, n + 1 - k, uniforms)
    miss = 1 - local_level(n, level)
    inside = np.all((tails >= miss / 2) & (tails <= 1 - miss / 2), axis=1)
    assert inside.mean() == pytest.approx(level, abs=3 * math.sqrt(0.16 / times))


@pytest.mark.parametrize("n", [316, 1000])
def test_the_table_is_what_the_recursion_gives(n):
    for miss, crossed in list(zip(LOCAL_MISSES, TABLE[n], strict=True))[::5]:
        assert -math.log(probability_inside(n, miss)) == pytest.approx(crossed, rel=1e-4)


@pytest.mark.parametrize("level", [0.25, 0.8, 0.95, 0.983, 0.999])
@pytest.mark.parametrize("n", [101, 177, 560])
def test_between_the_rows_of_the_table_the_level_is_kept_and_hardly_more(n, level):
    found = probability_inside(n, 1 - local_level(n, level))
    assert level <= found <= level + 0.02 * (1 - level)


@pytest.mark.parametrize("level", [0.3, 0.95, 0.9999])
def test_more_scores_need_a_higher_local_level(level):
    sizes = [1, 2, 3, 10, 99, 100, 101, 315, 316, 317, 10**4, 10**5, 10**6, 10**9, 2**53]
    levels = [local_level(n, level) for n in sizes]
    assert levels == sorted(levels)
    assert levels[-1] < 1


@pytest.mark.parametrize("n", [5, 100, 10**4])
def test_a_higher_level_is_a_higher_local_level(n):
    levels = [local_level(n, level) for level in (0.01, 0.2, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-9)]
    assert levels == sorted(levels)
    assert all(local >= 0.01 for local in levels)


def test_a_hair_s_breadth_from_certainty_is_shared_out_evenly():
    assert 1 - local_level(1000, 1 - 1e-6) == pytest.approx(1e-9, rel=1e-6)


def test_bounds_are_the_exact_intervals_at_the_local_level():
    k = [0, 3, 3, 12]
    low, high = simultaneous_bounds(k, 12, 0.9)
    expected = clopper_pearson(k, 12, local_level(12, 0.9))
    np.testing.assert_array_equal((low, high), expected)
    assert (low[0], high[-1]) == (0, 1)


def test_without_scores_nothing_is_known():
    low, high = simultaneous_bounds([0], 0)
    assert (low.tolist(), high.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize(
    ("n", "level", "message"),
    [
        (10, 95, r"`level` must lie strictly between 0 and 1; got 95. Write 0.95"),
        (-1, 0.9, r"`n` must lie in \[0,"),
        (2.5, 0.9, "`n` must be a whole number"),
    ],
)
def test_what_is_no_number_of_scores_or_no_level_is_refused(n, level, message):
    with pytest.raises(InputError, match=message):
        local_level(n, level)
