"""JSON lines: one object per line, strict; a number that is a label keeps its spelling."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Places, refusal
from truerisk.inputs.records.rows import Rows, Selection, ahead
from truerisk.inputs.records.text_blocks import Block, TextBytes, blocks, check_block

HEAD_BYTES = 2**16


class Literal(str):
    """A number as it was written."""

    __slots__ = ()


class JsonLinesFile:
    """One JSON lines file whose first object has been read; its keys are the columns."""

    empty_is_missing = False

    def __init__(self, path: Path, compression: str | None, options: ReadingOptions) -> None:
        self.path = path
        self.compression = compression
        self.options = options
        self.sha256: str | None = None
        first = next(self._blocks(TextBytes(path, compression, options), HEAD_BYTES), None)
        if first is None:
            raise refusal(path, "must hold predictions; the file is empty.")
        check_block(first, max_line=options.max_line_bytes)
        self.columns = tuple(self._object(first, 0, first.data.split(b"\n", 1)[0]))

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected keys from start to end."""
        source = TextBytes(self.path, self.compression, self.options)
        for block in ahead(self._blocks(source, self.options.block_bytes)):
            yield self._parsed(block, selection)
        self.sha256 = source.sha256

    def records(
        self, names: tuple[str, ...]
    ) -> Iterator[tuple[dict[str, Any], Callable[[str], InputError]]]:
        """Give the values of each object as they are, and how to refuse it."""
        source = TextBytes(self.path, self.compression, self.options)
        for block in ahead(self._blocks(source, self.options.block_bytes)):
            for row, record in self._objects(block):
                refuse = partial(self._refusal, block, row)
                yield {name: record.get(name) for name in names}, refuse
        self.sha256 = source.sha256

    def all_keys(self) -> tuple[str, ...]:
        """Read the whole file for the keys of all its objects, in the order of appearance."""
        keys = dict.fromkeys(self.columns)
        source = TextBytes(self.path, self.compression, self.options)
        for block in self._blocks(source, self.options.block_bytes):
            for _, record in self._objects(block):
                keys |= dict.fromkeys(record)
        return tuple(keys)

    def _objects(self, block: Block) -> Iterator[tuple[int, dict[str, Any]]]:
        check_block(block, max_line=self.options.max_line_bytes)
        for row, line in enumerate(block.data.split(b"\n")[:-1]):
            yield row, self._object(block, row, line)

    def _blocks(self, source: TextBytes, size: int) -> Iterator[Block]:
        limit = self.options.max_line_bytes
        return blocks(source, size, quotes=False, has_header=False, max_line=limit)

    def _parsed(self, block: Block, selection: Selection) -> Rows:
        names = selection.columns
        cells: tuple[list[Any], ...] = tuple([] for _ in names)
        # Objects do not stay: thousands of live ones would be walked by the collector.
        for _, record in self._objects(block):
            for name, column in zip(names, cells, strict=True):
                column.append(record.get(name))
        columns: dict[str, Any] = {}
        for name, column in zip(names, cells, strict=True):
            if name in selection.numbers:
                columns[name] = self._numbers(block, name, column)
            elif name in selection.labels:
                texts = [self._label(block, row, name, cell) for row, cell in enumerate(column)]
                columns[name] = self._strings(block, name, texts).dictionary_encode()
            else:
                texts = [self._text(block, row, name, cell) for row, cell in enumerate(column)]
                columns[name] = self._strings(block, name, texts)
        places = Places(self.path, lambda row: f"line {block.line_of(row)}", block.text_of)
        return Rows(columns, block.rows, block.first_row, places)

    def _object(self, block: Block, row: int, line: bytes) -> dict[str, Any]:
        try:
            text = line.decode().strip(" \t\r")
            value, end = DECODER.raw_decode(text)
            if end != len(text):
                _refuse_rest(text[end:])
        except RecursionError:
            raise self._refusal(block, row, "must not be nested so deeply.") from None
        except ValueError as error:
            raise self._refusal(
                block,
                row,
                f"must be one JSON object; got {shown(line.decode(errors='replace'))} ({error}).",
            ) from None
        if not isinstance(value, dict):
            raise self._refusal(block, row, f"must be one JSON object; got {shown(text)}.")
        return value

    def _strings(self, block: Block, name: str, texts: list[str | None]) -> pa.Array:
        try:
            return pa.array(texts, pa.string())
        except UnicodeEncodeError as error:
            row = texts.index(error.object)
            raise self._refusal(
                block,
                row,
                f"{shown(name)} must be text; got {shown(error.object)}, half of a character.",
            ) from None

    def _text(self, block: Block, row: int, name: str, value: object) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return str(value)
        raise self._refusal(
            block, row, f"{shown(name)} must be a string or a number; got {shown(value)}."
        )

    def _label(self, block: Block, row: int, name: str, value: object) -> str | None:
        if not isinstance(value, list):
            return self._text(block, row, name, value)
        separator = self.options.multilabel_separator
        if separator is None:
            raise self._refusal(
                block,
                row,
                f"{shown(name)} must be one label; got the list {shown(value)}. "
                f"Use --multilabel-sep for several labels per example.",
            )
        labels = [self._text(block, row, name, label) for label in value]
        if any(not label or separator in label for label in labels):
            raise self._refusal(
                block,
                row,
                f"{shown(name)} must hold labels that are not empty and do not contain "
                f"{separator!r}; got {shown(value)}. Choose another --multilabel-sep.",
            )
        return separator.join(label for label in labels if label is not None)

    def _numbers(self, block: Block, name: str, values: list[Any]) -> pa.Array:
        if not any(isinstance(value, list) for value in values):
            numbers = [self._number(block, row, name, value) for row, value in enumerate(values)]
            return pa.array(np.array(numbers, np.float64))
        width = next(len(value) for value in values if isinstance(value, list))
        table = np.full((len(values), width), np.nan)
        for row, value in enumerate(values):
            if value is None:
                continue
            if not isinstance(value, list) or len(value) != width or width == 0:
                raise self._refusal(
                    block,
                    row,
                    f"{shown(name)} must be a list of {width} numbers, as in the rows before; "
                    f"got {shown(value)}.",
                )
            table[row] = [self._number(block, row, name, entry) for entry in value]
        return pa.FixedSizeListArray.from_arrays(pa.array(table.ravel()), width)

    def _number(self, block: Block, row: int, name: str, value: object) -> float:
        if value is None:
            return float("nan")
        if not isinstance(value, Literal):
            raise self._refusal(
                block,
                row,
                f"{shown(name)} must be a number; got {shown(value)}. Write it without quotes.",
            )
        return float(value)

    def _refusal(self, block: Block, row: int, sentence: str) -> InputError:
        return refusal(self.path, sentence, f"line {block.line_of(row)}")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        _refuse_double(pairs)
    return record


def _refuse_double(pairs: list[tuple[str, Any]]) -> NoReturn:
    names = [name for name, _ in pairs]
    double = next(name for name in names if names.count(name) > 1)
    raise ValueError(f"the key {shown(double)} appears twice")


def _refuse_rest(rest: str) -> NoReturn:
    raise ValueError(f"followed by {shown(rest)}")


DECODER = json.JSONDecoder(
    parse_int=Literal,
    parse_float=Literal,
    parse_constant=Literal,
    object_pairs_hook=_no_key_twice,
)
