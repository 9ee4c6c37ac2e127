"""Arrow IPC, files (Feather) and streams, and the columns of Arrow, which Parquet gives too.

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
from truerisk.checks import shown
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Places, refusal, sha256_of
from truerisk.inputs.records.rows import (
    Column,
    Rows,
    Selection,
    Strings,
    ahead,
    as_floats,
    joined_labels,
)

FILE_MAGIC = b"ARROW1"


class ArrowFile:
    """One Arrow file or stream whose schema has been read."""

    empty_is_missing = False

    def __init__(self, path: Path, _compression: str | None, options: ReadingOptions) -> None:
        self.path = path
        self.options = options
        self.sha256: str | None = None
        with path.open("rb") as file:
            self.is_file = file.read(len(FILE_MAGIC)) == FILE_MAGIC
        try:
            with pa.memory_map(str(path)) as source:
                self.columns = tuple(self._reader(source).schema.names)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end, in pieces of bounded size."""
        row = 1
        names = list(dict.fromkeys(selection.columns))
        for batch in ahead(self._batches(names)):
            first = row
            places = Places(self.path, lambda at, first=first: f"row {first + at}")  # type: ignore[misc]
            columns = plain_columns(batch, selection, places, self.options)
            yield Rows(columns, batch.num_rows, first, places)
            row += batch.num_rows
        self.sha256 = self._sha256()

    def _batches(self, names: list[str]) -> Iterator[Any]:
        size = self.options.batch_rows
        try:
            with pa.memory_map(str(self.path)) as source:
                reader = self._reader(source)
                whole = (
                    (reader.get_batch(at) for at in range(reader.num_record_batches))
                    if self.is_file
                    else reader
                )
                for batch in whole:
                    batch.validate(full=True)
                    chosen = batch.select(names)
                    for start in range(0, batch.num_rows, size):
                        yield chosen.slice(start, size)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _reader(self, source: Any) -> Any:
        return pa.ipc.open_file(source) if self.is_file else pa.ipc.open_stream(source)

    def _sha256(self) -> str | None:
        if not self.options.hash_all and self.path.stat().st_size > self.options.max_hashed_bytes:
            return None
        return sha256_of(self.path)

    def _damaged(self, error: Exception) -> Exception:
        reason = " ".join(str(error).split()).rstrip(".")
        return refusal(self.path, f"must be an intact Arrow file; {reason}. Write it again.")


def plain_columns(
    batch: Any, selection: Selection, places: Places, options: ReadingOptions
) -> dict[str, Column]:
    """Give the columns of a record batch; lists are scores or labels by what they are read for."""
    columns = {}
    for name in batch.schema.names:
        array = batch.column(name)
        try:
            if name in selection.numbers:
                columns[name] = _numbers(array, name, places)
            elif name in selection.labels:
                columns[name] = _labels(array, name, places, options)
            else:
                columns[name] = plain(array)
        except UnicodeDecodeError as error:
            raise refusal(
                places.path, f"{shown(name)} must be UTF-8; got {shown(error.object)}."
            ) from None
    return columns


def plain(array: Any) -> Column:  # noqa: PLR0911
    """Give an Arrow array as a column."""
    kind, name = array.type, str(array.type)
    if pa.types.is_dictionary(kind):
        is_text = _is_string(kind.value_type)
        return _of_dictionary(array) if is_text else plain(array.dictionary_decode())
    if _is_string(kind):
        return Column(_strings(array), "string", null=_nulls(array))
    if pa.types.is_boolean(kind):
        return Column(as_numpy(_filled(array, value=False)), name, null=_nulls(array))
    if pa.types.is_integer(kind):
        return Column(as_numpy(_filled(array, value=0)), name, null=_nulls(array))
    if pa.types.is_floating(kind):
        return Column(as_numpy(array), name)
    if pa.types.is_null(kind):
        everywhere = np.ones(len(array), np.bool_)
        return Column(np.zeros(len(array), np.int32), "null", words=(), null=everywhere)
    cells = np.empty(len(array), object)
    cells[:] = array.to_pylist()
    return Column(cells, name, null=_nulls(array))


def as_numpy(array: Any) -> NDArray[Any]:
    """View a column of numbers or booleans; NaN where a floating-point one has no value.

    Columns of other types must have no null.
    """
    if pa.types.is_boolean(array.type):
        return np.from_dlpack(array.cast(pa.uint8())).view(np.bool_)
    if pa.types.is_float16(array.type):
        return as_numpy(array.cast(pa.float32()))
    if array.null_count and pa.types.is_floating(array.type):
        array = array.fill_null(float("nan"))
    return np.from_dlpack(array)


def _numbers(array: Any, name: str, places: Places) -> Column:
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _numbers(array.dictionary_decode(), name, places)
    if pa.types.is_decimal(kind):
        return Column(as_numpy(array.cast(pa.float64())), str(kind))
    if _is_list(kind):
        return Column(_matrix(array, name, places), str(kind))
    return plain(array)


def _labels(array: Any, name: str, places: Places, options: ReadingOptions) -> Column:
    if pa.types.is_dictionary(array.type):
        return _of_dictionary(array)
    if _is_list(array.type):
        separator = options.multilabel_separator
        return joined_labels(array.to_pylist(), name, separator, str(array.type), places)
    return plain(array)


def _of_dictionary(array: Any) -> Column:
    words = [None if word is None else str(word) for word in array.dictionary.to_pylist()]
    places = as_numpy(_filled(array.indices, value=0))
    return Column(places, "string", words=words, null=_nulls(array))


def _is_string(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_list(kind: Any) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _strings(array: Any) -> Strings:
    wide = array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array
    kind = np.int64 if pa.types.is_large_string(wide.type) else np.int32
    _, offsets, data = wide.buffers()
    ends = np.frombuffer(offsets, kind)[wide.offset : wide.offset + len(wide) + 1].astype(np.int64)
    view = np.frombuffer(data, np.uint8).data if data is not None and data.size else b""
    return Strings(view, ends[:-1], ends[1:])


def _filled(array: Any, *, value: Any) -> Any:
    # Arrow imports pandas to make the value one of its own, hence only where there is a null.
    return array.fill_null(value) if array.null_count else array


def _nulls(array: Any) -> Flags | None:
    return as_numpy(array.is_null()) if array.null_count else None


def _matrix(array: Any, name: str, places: Places) -> NDArray[Any]:
    lengths = array.value_lengths()
    present = lengths.drop_null()
    width = present[0].as_py() if len(present) else 1
    null = _nulls(array)
    wrong = as_numpy(_filled(lengths, value=width)) != width
    if null is not None:
        wrong &= ~null
    if wrong.any() or width == 0:
        row = int(np.argmax(wrong))
        raise places.refusal(
            row,
            f"{shown(name)} must be a list of {width} numbers, as in the rows before; "
            f"got {shown(array[row].as_py())}.",
        )
    flat = as_floats(_numbers(array.flatten(), name, places), name, places)
    if null is None:
        return flat.reshape(-1, width)
    table = np.full((len(array), width), np.nan, flat.dtype)
    table[~null] = flat.reshape(-1, width)
    return table
