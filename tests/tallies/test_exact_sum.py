import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.tallies.exact_sum import WeightedSums, as_float, exact_units, units_by_code

finite = st.floats(allow_nan=False, allow_infinity=False, width=64).filter(lambda x: abs(x) < 1e300)


def test_what_rounding_would_lose_is_kept():
    # By hand: 1e16 + 1 rounds to 1e16, so a plain sum gives 0; the true sum is 1.
    assert 1e16 + 1.0 - 1e16 == 0.0
    assert as_float(exact_units([1e16, 1.0, -1e16])) == 1.0


def test_subnormals_count_as_whole_units():
    assert exact_units([5e-324, 5e-324]) == 2
    assert exact_units([2.0**-1060]) == 2**14


@given(st.lists(finite, max_size=40))
def test_it_is_the_correctly_rounded_sum(values):
    assert as_float(exact_units(values)) == math.fsum(values)


@given(st.lists(finite, max_size=40), st.integers(0, 40), st.randoms())
def test_neither_order_nor_chunks_matter(values, cut, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    sums, others = WeightedSums(), WeightedSums()
    sums.add("all", shuffled[:cut])
    others.add("all", shuffled[cut:])
    sums.update(others)
    assert sums["all"] == exact_units(values)


@given(st.lists(st.tuples(finite, st.integers(0, 3)), min_size=1, max_size=40))
def test_each_code_has_its_own_sum(pairs):
    values = np.array([value for value, _ in pairs])
    codes = np.array([code for _, code in pairs])
    sums = [as_float(units) for units in units_by_code(values, codes, 4)]
    assert sums == [math.fsum(v for v, c in pairs if c == code) for code in range(4)]


def test_an_infinity_is_refused():
    with pytest.raises(InputError, match="must be finite to be summed"):
        exact_units([1.0, math.inf])


def test_the_standard_error_of_a_weighted_mean_by_hand():
    sums = WeightedSums()
    sums.add_weights(2, np.ones(2))
    sums.add_values("mean", np.array([0.0, 1.0]), np.ones(2))
    assert sums.standard_error("mean", 0.5, 2) == 0.5  # .707 / √2
