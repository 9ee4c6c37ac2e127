from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from truerisk.errors import InputError
from truerisk.inputs.records.arrow import all_finite, as_floats
from truerisk.inputs.records.places import Places

PLACES = Places(Path("p.parquet"), lambda row: f"row {row + 1}")


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (pa.array([1, None, 3], pa.int8()), np.float64),
        (pa.array([1, None, 3], pa.uint64()), np.float64),
        (pa.array([1, None, 3], pa.float32()), np.float32),
        (pa.array([1, None, 3], pa.float64()), np.float64),
        (pa.array(np.array([1, np.nan, 3], np.float16)), np.float32),
        (pa.array([Decimal(1), None, Decimal(3)]), np.float64),
        (pa.array([1.0, None, 3.0]).dictionary_encode(), np.float64),
    ],
)
def test_numbers_keep_their_value_and_their_gaps(array, dtype):
    values = as_floats(array, "score", PLACES)
    assert values.dtype == dtype
    np.testing.assert_array_equal(values, [1, np.nan, 3])


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2)])
def test_lists_are_rows_of_a_matrix(kind):
    values = as_floats(pa.array([[1, 2], None, [3, 4]], kind), "score", PLACES)
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, [[1, 2], [np.nan, np.nan], [3, 4]])


def test_lists_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="row 2: 'score' must be a list of 2 numbers"):
        as_floats(pa.array([[1.0, 2.0], [3.0]]), "score", PLACES)


def test_integers_that_a_float_cannot_tell_apart_are_refused():
    with pytest.raises(InputError, match=r"row 2: 'score' must lie within ±2\*\*53"):
        as_floats(pa.array([1, 2**53 + 1]), "score", PLACES)


def test_booleans_are_no_scores():
    with pytest.raises(InputError, match="'score' must hold numbers; got bool"):
        as_floats(pa.array([True]), "score", PLACES)


def test_large_finite_numbers_are_finite():
    assert all_finite(np.full(3, np.finfo(np.float32).max))
    assert not all_finite(np.array([1.0, np.inf]))
    assert not all_finite(np.array([1.0, np.nan]))
