"""Arrow columns as NumPy arrays, and frames of any library as Arrow columns.

Arrow's own conversion imports pandas wherever that is installed, which takes a fifth of a second;
its compute functions, which casting and filling need, take a twentieth.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truerisk.aliases import Flags
from truerisk.checks import LARGEST_COUNT, shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Places, refusal
from truerisk.inputs.records.rows import Floats, Rows, Selection

FRAME = Path("frame")


def as_numpy(array: Any) -> NDArray[Any]:  # noqa: ANN401
    """View a column of numbers or booleans; NaN where a floating-point one has no value.

    Columns of other types must have no null.
    """
    if pa.types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pa.uint8())).view(np.bool_)
    if array.null_count and pa.types.is_floating(array.type):
        array = array.cast(pa.float32()) if pa.types.is_float16(array.type) else array
        array = array.fill_null(float("nan"))
    return np.from_dlpack(array)


def filled(array: Any, value: Any) -> Any:  # noqa: ANN401
    """Put a value where there is none.

    Arrow imports pandas to make the value one of its own, hence only where there is a null.
    """
    return array.fill_null(value) if array.null_count else array


def nulls(array: Any) -> Flags:  # noqa: ANN401
    """Return which rows have no value."""
    if not array.null_count:
        return np.zeros(len(array), dtype=np.bool_)
    return as_numpy(array.is_null())


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
    """Whether no value is NaN or infinite."""
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
    present = lengths.drop_null()
    width = present[0].as_py() if len(present) else 1
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


class Frame:
    """A frame of pandas, polars, pyarrow, modin or another library."""

    sha256: str | None = None
    empty_is_missing = False

    def __init__(self, frame: Any, options: ReadingOptions) -> None:  # noqa: ANN401
        import narwhals  # noqa: PLC0415  (only frames need it)

        try:
            native = narwhals.from_native(frame)
        except TypeError:
            raise InputError(
                f"`frame` must be a frame of pandas, polars, pyarrow or modin; got "
                f"{type(frame).__name__}. Use evaluate for arrays, evaluate_files for files."
            ) from None
        except ValueError as error:  # pandas allows several columns of one name
            raise InputError(f"`frame` must have different column names; {error}.") from None
        self.frame: Any = native.collect() if isinstance(native, narwhals.LazyFrame) else native
        self.options = options
        self.columns = tuple(map(str, self.frame.columns))
        self.count = len(self.frame)

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end."""
        names = list(dict.fromkeys(selection.columns))
        table = pa.table({name: self._column(name) for name in names})
        first_row = 1
        for batch in table.to_batches(max_chunksize=self.options.batch_rows):
            columns = {name: batch.column(name) for name in names}
            yield Rows(columns, batch.num_rows, first_row, _places(first_row))
            first_row += batch.num_rows

    def _column(self, name: str) -> Any:  # noqa: ANN401
        try:
            column = self.frame[self.frame.columns[self.columns.index(name)]].to_arrow()
        except (pa.ArrowException, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"frame: {shown(name)} must hold values of one type; Arrow says: {reason}."
            ) from None
        return _plain_strings(column)


def _plain_strings(column: Any) -> Any:  # noqa: ANN401
    """Turn views of strings, which the readers of files never make, into strings."""
    kind = column.type
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return column.cast(pa.dictionary(pa.int32(), pa.large_string()))
    return column


def _places(first_row: int) -> Places:
    return Places(FRAME, lambda row: f"row {first_row + row}")
