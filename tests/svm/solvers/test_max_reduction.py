"""The maximum that vectorises is the maximum."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from truerisk.svm.solvers.max_reduction import larger


@njit(cache=True)
def largest(values):
    top = -1e100
    for k in range(len(values)):
        top = larger(top, values[k])
    return top


@given(st.lists(st.floats(-1e50, 1e50), min_size=1, max_size=40))
def test_it_is_the_maximum(values):
    array = np.array(values)
    assert largest(array) == array.max() == largest.py_func(array)


@njit
def larger_of_two(first, second):
    return larger(first, second)


def test_two_numbers_of_single_precision_have_a_single_maximum():
    assert larger_of_two(np.float32(0.1), np.float32(0.3)) == np.float32(0.3)
    larger_of_two(0.1, np.float32(0.3))
    found = {key: str(one.signature.return_type) for key, one in larger_of_two.overloads.items()}
    assert sorted(found.values()) == ["float32", "float64"]
