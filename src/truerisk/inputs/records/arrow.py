"""Frames in memory, of any library that narwhals knows, read as a file is: in Arrow batches."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Places
from truerisk.inputs.records.rows import Rows, Wanted

FRAME = Path("frame")


class Frame:
    """A frame of pandas, polars, pyarrow, modin or another library."""

    sha256: str | None = None

    def __init__(self, frame: Any, options: ReadingOptions) -> None:  # noqa: ANN401
        import narwhals  # noqa: PLC0415  (only frames need it)

        try:
            known = narwhals.from_native(frame)
        except TypeError:
            raise InputError(
                f"`frame` must be a frame of pandas, polars, pyarrow or modin; got "
                f"{type(frame).__name__}. Use evaluate for arrays, evaluate_files for files."
            ) from None
        except ValueError as error:  # pandas allows several columns of one name
            raise InputError(f"`frame` must have different column names; {error}.") from None
        self.frame: Any = known.collect() if isinstance(known, narwhals.LazyFrame) else known
        self.options = options
        self.columns = tuple(map(str, self.frame.columns))
        self.count = len(self.frame)

    def rows(self, wanted: Wanted) -> Iterator[Rows]:
        """Read the wanted columns from start to end."""
        names = list(dict.fromkeys(wanted.columns))
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
