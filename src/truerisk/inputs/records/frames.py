"""Frames of pandas, polars, pyarrow, modin, DuckDB or another library, as columns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.checks import listed, shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Places
from truerisk.inputs.records.rows import (
    Column,
    Rows,
    Selection,
    joined_labels,
    matrix_of,
    text_column,
)

FRAME = Path("frame")
TEXTS = ("String", "Categorical", "Enum")
KINDS = {"Boolean": "bool", "Float16": "halffloat", "Float32": "float", "Float64": "double"}


class Frame:
    """A frame of pandas, polars, pyarrow, modin or another library."""

    sha256: str | None = None
    empty_is_missing = False

    def __init__(self, frame: Any, options: ReadingOptions) -> None:
        import narwhals

        try:
            native = narwhals.from_native(_known_frame(frame))
        except TypeError:
            raise InputError(
                f"`frame` must be a frame of pandas, polars, pyarrow or modin; got "
                f"{type(frame).__name__}. Use evaluate for arrays, evaluate_files for files."
            ) from None
        except ValueError:  # pandas and Arrow allow several columns of one name
            raise InputError(
                f"`frame` must have different column names{_twice(frame)}. Rename or drop all but "
                "one of them."
            ) from None
        self.frame: Any = native.collect() if isinstance(native, narwhals.LazyFrame) else native
        self.options = options
        self.columns = tuple(map(str, self.frame.columns))
        self.count = len(self.frame)

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end."""
        for first in range(0, self.count, self.options.batch_rows):
            part = self.frame[first : first + self.options.batch_rows]
            places = Places(FRAME, lambda row, first=first: f"row {first + 1 + row}")  # type: ignore[misc]
            columns = {
                name: self._column(part, name, selection, places)
                for name in dict.fromkeys(selection.columns)
            }
            yield Rows(columns, len(part), first + 1, places)

    def _column(self, part: Any, name: str, selection: Selection, places: Places) -> Column:
        series = part[part.columns[self.columns.index(name)]]
        kind = str(series.dtype).split("(")[0]
        if kind in TEXTS:
            return text_column(_texts(series.to_list()))
        if kind == "Boolean" or series.dtype.is_integer() or series.dtype.is_float():
            return _numbers(series, KINDS.get(kind, kind.lower()))
        cells = series.to_list()
        if kind in {"List", "Array"}:
            return self._lists(cells, name, selection, places, str(series.dtype))
        if kind in {"Object", "Unknown"}:
            return self._objects(cells, name, selection, places)
        if kind == "Decimal":
            return _floats(cells, kind)
        return _of_objects(cells, kind)

    def _lists(
        self, cells: list[Any], name: str, selection: Selection, places: Places, kind: str
    ) -> Column:
        if name in selection.numbers:
            return Column(matrix_of(cells, name, places.refusal), kind)
        if name in selection.labels:
            separator = self.options.multilabel_separator
            return joined_labels(cells, name, separator, f"a {kind}", places)
        return _of_objects(cells, kind)

    def _objects(self, cells: list[Any], name: str, selection: Selection, places: Places) -> Column:
        """Look at the cells themselves where a column has no type."""
        present = [cell for cell in cells if cell is not None and cell == cell]  # noqa: PLR0124
        kinds = {type(cell) for cell in present}
        if not kinds:
            everywhere = np.ones(len(cells), np.bool_)
            return Column(np.zeros(len(cells), np.int32), "null", words=(), null=everywhere)
        if kinds == {str}:
            return text_column(_texts(cells))
        if kinds <= {list, tuple, np.ndarray}:
            return self._lists(cells, name, selection, places, "list")
        if kinds in ({bool}, {int}):
            null = np.array([cell is None or cell != cell for cell in cells], np.bool_)  # noqa: PLR0124
            values = np.array([0 if gone else cell for cell, gone in zip(cells, null, strict=True)])
            typed = values.astype(bool) if kinds == {bool} else values
            return Column(typed, "bool" if kinds == {bool} else "int64", null=null)
        if kinds <= {int, float}:
            return _floats(cells, "double")
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(f"frame: {shown(name)} must hold values of one type; got {names}.")


def _twice(frame: Any) -> str:
    """Say which names of columns a frame has several times, if it tells its names."""
    own = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    names = list(map(str, own)) if own is not None and not callable(own) else []
    several = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    return f"; got {listed(several, 5)} several times" if several else ""


def _known_frame(frame: Any) -> Any:
    """Make an Arrow table of data sets of Hugging Face and of what exports Arrow, as ADBC does."""
    if hasattr(frame, "with_format") and hasattr(frame, "column_names"):
        return frame.with_format("arrow")[:]
    module = type(frame).__module__.split(".")[0]
    if hasattr(frame, "__arrow_c_stream__") and module not in {"pandas", "polars", "modin"}:
        import pyarrow as pa

        return pa.table(frame)
    return frame


def _texts(cells: list[Any]) -> list[str | None]:
    return [cell if isinstance(cell, str) else None for cell in cells]


def _numbers(series: Any, kind: str) -> Column:
    if series.dtype.is_float():
        values = series.to_numpy()
        return Column(values.astype(np.float32) if values.dtype.itemsize == 2 else values, kind)
    null = series.is_null().to_numpy()
    if null.any():
        series = series.fill_null(value=kind != "bool" and 0)
        return Column(np.array(series.to_list()), kind, null=null)
    return Column(series.to_numpy(), kind)


def _floats(cells: list[Any], kind: str) -> Column:
    return Column(np.array([np.nan if cell is None else float(cell) for cell in cells]), kind)


def _of_objects(cells: list[Any], kind: str) -> Column:
    values = np.empty(len(cells), object)
    values[:] = cells
    return Column(values, kind, null=np.array([cell is None for cell in cells], np.bool_))
