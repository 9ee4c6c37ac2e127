"""JSON lines: one object per line, strict; a number that is a label keeps its spelling."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.rows import (
    Column,
    LogFacts,
    Rows,
    Selection,
    Strings,
    ahead,
    in_order,
    text_column,
)
from truerisk.inputs.records.text_blocks import Block, TextFile
from truerisk.kernels import text as kernel

MAX_NESTED = 1000  # dotted names that messages choose from
MAX_KEYS = 64  # an object with more goes through Python's own decoder
# Kinds of values, as the kernel numbers them; ODD ones are Python's.
ABSENT, NULL, TRUE, FALSE, NUMBER, STRING, ESCAPED, LIST, ODD = range(9)


class Literal(str):
    """A number as it was written."""

    __slots__ = ()


@dataclass(frozen=True)
class Values:
    """The values of one key: where they lie in a block, their kinds, and those of odd rows."""

    data: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    odd: dict[int, Any]

    def value(self, row: int) -> Any:
        """Return a value as Python has it, a number as it is written."""
        kind, text = self.kinds[row], self.data[self.starts[row] : self.ends[row]].decode()
        if kind in {ABSENT, NULL}:
            return None
        if kind == ODD:
            return self.odd[row]
        if kind in {TRUE, FALSE}:
            return bool(kind == TRUE)
        if kind == STRING:
            return text
        return DECODER.decode(f'"{text}"' if kind == ESCAPED else text)


class JsonLinesFile(TextFile):
    """One JSON lines file whose first object has been read; its keys are the columns."""

    empty_is_missing = False

    def __init__(self, path: Path, compression: str | None, options: ReadingOptions) -> None:
        super().__init__(path, compression, options)
        first = self.first_block()
        record = self._object(first, 0, first.data.split(b"\n", 1)[0])
        self.columns = tuple(record)
        self.nested = tuple(islice(nested_names(record), MAX_NESTED))
        self.log = _lm_eval_log(record, path)

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected keys from start to end."""
        return in_order(lambda block: self._parsed(block, selection), ahead(self.blocks()))

    def records(
        self, names: tuple[str, ...]
    ) -> Iterator[tuple[dict[str, Any], Callable[[str], InputError]]]:
        """Give the values of each object as they are, and how to refuse it."""
        for block in ahead(self.blocks()):
            for row, record in self._objects(block):
                refuse = partial(block.refuse, row)
                yield {name: reach(record, name) for name in names}, refuse

    def all_keys(self) -> tuple[str, ...]:
        """Read the whole file for the keys of all its objects, in the order of appearance."""
        keys = dict.fromkeys(self.columns)
        for block in self.blocks():
            for _, record in self._objects(block):
                keys |= dict.fromkeys(record)
        return tuple(keys)

    def _objects(self, block: Block) -> Iterator[tuple[int, dict[str, Any]]]:
        self.check(block)
        for row, line in enumerate(block.data.split(b"\n")[:-1]):
            yield row, self._object(block, row, line)

    def _parsed(self, block: Block, selection: Selection) -> Rows:
        self.check(block)
        names = list(dict.fromkeys(selection.columns))
        values = self._values(block, names)
        columns: dict[str, Column] = {}
        for name, cells in zip(names, values, strict=True):
            if name in selection.numbers:
                columns[name] = self._numbers(block, name, cells)
            else:
                text = self._label if name in selection.labels else self._text
                columns[name] = self._texts(block, name, cells, text)
        return Rows(columns, block.rows, block.first_row, self.places(block))

    def _values(self, block: Block, names: list[str]) -> list["Values"]:
        """Find the values of the keys; rows that are not plain go through Python's decoder."""
        data = block.data
        parts = [name.encode() for name in names]
        name_ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        starts = np.zeros((len(names), block.rows), np.int64)
        ends = np.zeros_like(starts)
        kinds = np.zeros(starts.shape, np.uint8)
        keys = np.empty((MAX_KEYS, 3), np.int64)
        odd: list[dict[int, Any]] = [{} for _ in names]
        row = position = 0
        while True:
            row, position = kernel.split_objects(
                data, row, position, b"".join(parts), name_ends, keys, starts, ends, kinds
            )
            if row == block.rows:
                break
            end = data.index(b"\n", position)
            record = self._object(block, row, data[position:end])
            kinds[:, row] = ODD
            for name, of_row in zip(names, odd, strict=True):
                of_row[row] = reach(record, name)
            row, position = row + 1, end + 1
        return [Values(data, *column) for column in zip(starts, ends, kinds, odd, strict=True)]

    def _object(self, block: Block, row: int, line: bytes) -> dict[str, Any]:
        try:
            text = line.decode().strip(" \t\r")
            value, end = DECODER.raw_decode(text)
            if end != len(text):
                _refuse_rest(text[end:])
        except RecursionError:
            raise block.refuse(row, "must not be nested so deeply.") from None
        except ValueError as error:
            raise block.refuse(
                row,
                f"must be one JSON object; got {shown(line.decode(errors='replace'))} ({error}).",
            ) from None
        if not isinstance(value, dict):
            raise block.refuse(row, f"must be one JSON object; got {shown(text)}.")
        return value

    def _texts(
        self,
        block: Block,
        name: str,
        cells: "Values",
        text: Callable[[Block, int, str, object], str | None],
    ) -> Column:
        """Make a column of texts; `text` makes one of a value that is none."""
        null = (cells.kinds == ABSENT) | (cells.kinds == NULL)
        strings = Strings(block.data, cells.starts, cells.ends)
        rows = np.flatnonzero((cells.kinds != NUMBER) & (cells.kinds != STRING) & ~null)
        if len(rows):
            others = [text(block, row, name, cells.value(row)) for row in rows.tolist()]
            half = f"{shown(name)} must be text; got {{}}, half of a character."
            made = text_column(
                others, lambda at, cell: block.refuse(int(rows[at]), half.format(shown(cell)))
            )
            strings = strings.followed_by(made.values, rows)
            if made.null is not None:
                null[rows[made.null]] = True
        return Column(strings, "string", null=null if null.any() else None)

    def _text(self, block: Block, row: int, name: str, value: object) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return str(value)
        raise block.refuse(row, f"{shown(name)} must be a string or a number; got {shown(value)}.")

    def _label(self, block: Block, row: int, name: str, value: object) -> str | None:
        if not isinstance(value, list):
            return self._text(block, row, name, value)
        separator = self.options.multilabel_separator
        if separator is None:
            raise block.refuse(
                row,
                f"{shown(name)} must be one label; got the list {shown(value)}. "
                f"Use --multilabel-sep for several labels per example.",
            )
        labels = [self._text(block, row, name, label) for label in value]
        if any(not label or separator in label for label in labels):
            raise block.refuse(
                row,
                f"{shown(name)} must hold labels that are not empty and do not contain "
                f"{separator!r}; got {shown(value)}. Choose another --multilabel-sep.",
            )
        return separator.join(label for label in labels if label is not None)

    def _numbers(self, block: Block, name: str, cells: "Values") -> Column:
        kinds = cells.kinds
        if (kinds == LIST).any() or any(isinstance(one, list) for one in cells.odd.values()):
            return Column(self._matrix(block, name, cells), "list")
        plain = kinds == NUMBER
        strings = Strings(block.data, cells.starts, cells.ends)
        values, states = strings.numbers()
        values[~plain] = np.nan
        rows = np.flatnonzero((plain & (states != 0)) | (~plain & (kinds > NULL)))
        for row in rows.tolist():
            values[row] = self._number(block, row, name, cells.value(row))
        return Column(values, "double")

    def _matrix(self, block: Block, name: str, cells: "Values") -> NDArray[np.float64]:
        plain = cells.kinds == LIST
        if plain.all():
            first = cells.value(0)
            shape = (len(plain), max(len(first), 1))
            starts, ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
            if kernel.split_lists(block.data, cells.starts, cells.ends, starts, ends) < 0:
                values, states = Strings(block.data, starts.ravel(), ends.ravel()).numbers()
                for place in np.flatnonzero(states).tolist():
                    start, end = starts.flat[place], ends.flat[place]
                    values[place] = float(block.data[start:end])
                return values.reshape(shape)
        return self._matrix_of(block, name, [cells.value(row) for row in range(len(plain))])

    def _matrix_of(self, block: Block, name: str, values: list[Any]) -> NDArray[np.float64]:
        width = next(len(value) for value in values if isinstance(value, list))
        table = np.full((len(values), width), np.nan)
        for row, value in enumerate(values):
            if value is None:
                continue
            if not isinstance(value, list) or len(value) != width or width == 0:
                raise block.refuse(
                    row,
                    f"{shown(name)} must be a list of {width} numbers, as in the rows before; "
                    f"got {shown(value)}.",
                )
            table[row] = [self._number(block, row, name, entry) for entry in value]
        return table

    def _number(self, block: Block, row: int, name: str, value: object) -> float:
        if value is None:
            return float("nan")
        if not isinstance(value, Literal):
            raise block.refuse(
                row,
                f"{shown(name)} must be a number; got {shown(value)}. Write it without quotes.",
            )
        return float(value)


def reach(record: dict[str, Any], name: str) -> Any:
    """Return the value of a key, or of a key within objects by its dotted name; None if absent."""
    if name in record or "." not in name:
        return record.get(name)
    value: Any = record
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def nested_names(record: dict[str, Any], before: str = "") -> Iterator[str]:
    """List the dotted names of values within objects."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from nested_names(value, f"{before}{key}.")
        elif before:
            yield f"{before}{key}"


def _lm_eval_log(record: dict[str, Any], path: Path) -> LogFacts | None:
    """Recognise the samples that lm-evaluation-harness logs, in a folder for each model."""
    if not {"doc_id", "filter", "filtered_resps"} <= set(record):
        return None
    listed = record.get("metrics")
    metrics = listed if isinstance(listed, list) else []
    model = path.absolute().parent.name
    return LogFacts(tuple(one for one in metrics if one in record), model, single="filter")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {shown(double)} appears twice")
    return record


def _refuse_rest(rest: str) -> NoReturn:
    raise ValueError(f"followed by {shown(rest)}")


DECODER = json.JSONDecoder(
    parse_int=Literal, parse_float=Literal, parse_constant=Literal, object_pairs_hook=_no_key_twice
)
