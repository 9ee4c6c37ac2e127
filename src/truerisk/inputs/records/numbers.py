"""Columns of numbers: kept in the precision they came in, checked in one pass."""

from typing import Any

import numpy as np
import pyarrow as pa

from truerisk.checks import LARGEST_COUNT, shown
from truerisk.inputs.records.arrow_views import as_numpy, filled, nulls
from truerisk.inputs.records.batch import Floats
from truerisk.inputs.records.places import Places, refusal


def as_floats(array: Any, column: str, places: Places) -> Floats:  # noqa: ANN401, PLR0911
    """Give an Arrow column as float32 or float64, NaN where there is no value.

    Lists of equal length become the columns of a matrix.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        return as_floats(array.dictionary_decode(), column, places)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _matrix(array, column, places)
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return as_numpy(array)
    if pa.types.is_float16(kind):
        return as_numpy(array).astype(np.float32)
    if pa.types.is_integer(kind):
        return _from_integers(array, column, places)
    if pa.types.is_decimal(kind):
        return as_numpy(array.cast(pa.float64()))
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    raise refusal(
        places.path,
        f"{shown(column)} must hold numbers; got {kind}. Cast it, or choose another column.",
    )


def all_finite(values: Floats) -> bool:
    """Tell whether no value is NaN or infinite."""
    return bool(np.isfinite(values).all())


def _from_integers(array: Any, column: str, places: Places) -> Floats:  # noqa: ANN401
    whole = as_numpy(filled(array, 0))
    wrong = (whole > LARGEST_COUNT) | (whole < -LARGEST_COUNT)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise places.refusal(
            row,
            f"{shown(column)} must lie within ±2**53, beyond which neighbours become one number; "
            f"got {shown(whole[row].item())}.",
        )
    values = np.asarray(whole, np.float64).copy()
    if array.null_count:
        values[nulls(array)] = np.nan
    return values


def _matrix(array: Any, column: str, places: Places) -> Floats:  # noqa: ANN401
    lengths = array.value_lengths()
    known = lengths.drop_null()
    width = known[0].as_py() if len(known) else 1
    wrong = (as_numpy(filled(lengths, width)) != width) & ~nulls(array)
    if wrong.any() or width == 0:
        row = int(np.argmax(wrong))
        raise places.refusal(
            row,
            f"{shown(column)} must be a list of {width} numbers, as in the rows before; "
            f"got {shown(array[row].as_py())}.",
        )
    flat = as_floats(array.flatten(), column, places)
    if not array.null_count:
        return flat.reshape(-1, width)
    table = np.full((len(array), width), np.nan, flat.dtype)
    table[~nulls(array)] = flat.reshape(-1, width)
    return table
