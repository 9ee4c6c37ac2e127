from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.arrow import plain_columns
from truerisk.inputs.records.places import Places
from truerisk.inputs.records.rows import Selection, as_floats

PLACES = Places(Path("p.parquet"), lambda row: f"row {row + 1}")


def floats(array):
    batch = pa.RecordBatch.from_arrays([array], ["score"])
    selection = Selection(numbers=("score",))
    column = plain_columns(batch, selection, PLACES, ReadingOptions())["score"]
    return as_floats(column, "score", PLACES)


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
    values = floats(array)
    assert values.dtype == dtype
    np.testing.assert_array_equal(values, [1, np.nan, 3])


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2)])
def test_lists_are_rows_of_a_matrix(kind):
    values = floats(pa.array([[1, 2], None, [3, 4]], kind))
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, [[1, 2], [np.nan, np.nan], [3, 4]])


def test_lists_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="row 2: 'score' must be a list of 2 numbers"):
        floats(pa.array([[1.0, 2.0], [3.0]]))


def test_integers_that_a_float_cannot_tell_apart_are_refused():
    with pytest.raises(InputError, match=r"row 2: 'score' must lie within ±2\*\*53"):
        floats(pa.array([1, 2**53 + 1]))


def test_booleans_are_no_scores():
    with pytest.raises(InputError, match="'score' must hold numbers; got bool"):
        floats(pa.array([True]))
