import math

import numpy as np
import pytest

from truerisk.intervals.binomial import wilson
from truerisk.intervals.score_share import hull, score_ends, size_of, two_sided_t


def test_fewer_degrees_than_one_count_as_one():
    # The Cauchy distribution has the quantile tan(π/2 · level).
    assert two_sided_t(1, 0.9) == pytest.approx(math.tan(math.pi / 2 * 0.9))
    assert two_sided_t(0.2, 0.9) == two_sided_t(1, 0.9)


def test_score_ends_are_wilsons():
    low, high = wilson(np.array([8.0]), np.array([10.0]), 0.95)
    found = score_ends(0.8, 10, 1.959963984540054)
    assert found == pytest.approx((low[0], high[0]), rel=1e-12)
    # Worked by hand at z = 2: (8 + 2 ± 2 √(8 · .2 + 1))/(10 + 4).
    root = 2 * math.sqrt(2.6)
    assert score_ends(0.8, 10, 2.0) == pytest.approx(((10 - root) / 14, (10 + root) / 14))


def test_ends_of_all_and_of_nothing():
    assert score_ends(1.0, 20, 2.0) == (pytest.approx(20 / 24), 1.0)
    assert score_ends(0.0, 20, 2.0) == (0.0, pytest.approx(4 / 24))


def test_a_hull_holds_the_value_and_every_interval():
    assert hull(0.5, (0.6, 0.7), (0.55, 0.9)) == (0.5, 0.9)


def test_a_share_of_so_many_units_varies_so_much():
    assert size_of(0.5, 0.01) == pytest.approx(25)
    assert size_of(0.5, 10.0) == 1
