import math

import numpy as np
import pytest
from scipy import stats

from truerisk.intervals.binomial import wilson
from truerisk.intervals.student import hull, normal_quantile, score_ends, student_quantile


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("freedom", [1, 1.5, 2, 3.7, 30, 1e4, 1e8])
def test_the_quantile_is_that_of_scipy(freedom, level):
    expected = stats.t.isf((1 - level) / 2, freedom)
    assert student_quantile(freedom, level) == pytest.approx(expected, rel=1e-9)


def test_one_degree_is_cauchys_and_fewer_count_as_one():
    # The Cauchy distribution has the quantile tan(π/2 · level).
    assert student_quantile(1, 0.9) == pytest.approx(math.tan(math.pi / 2 * 0.9))
    assert student_quantile(0.2, 0.9) == student_quantile(1, 0.9)


def test_the_normal_quantile():
    assert normal_quantile(0.95) == pytest.approx(1.959963984540054)


def test_score_ends_are_wilsons():
    low, high = wilson(np.array([8.0]), np.array([10.0]), 0.95)
    found = score_ends(0.8, 10, normal_quantile(0.95))
    assert found == pytest.approx((low[0], high[0]), rel=1e-12)
    # Worked by hand at z = 2: (8 + 2 ± 2 √(8 · .2 + 1))/(10 + 4).
    root = 2 * math.sqrt(2.6)
    assert score_ends(0.8, 10, 2.0) == pytest.approx(((10 - root) / 14, (10 + root) / 14))


def test_ends_of_all_and_of_nothing():
    assert score_ends(1.0, 20, 2.0) == (pytest.approx(20 / 24), 1.0)
    assert score_ends(0.0, 20, 2.0) == (0.0, pytest.approx(4 / 24))


def test_a_hull_holds_the_value_and_every_interval():
    assert hull(0.5, (0.6, 0.7), (0.55, 0.9)) == (0.5, 0.9)
