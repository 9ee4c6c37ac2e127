"""Tables from files with columns: CSV, Parquet and JSON lines."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.byte_streams import TextBytes
from truerisk.inputs.records.csv_rows import CsvFile
from truerisk.inputs.records.encoding import LabelEncoder, encode
from truerisk.inputs.records.formats import FileFacts
from truerisk.inputs.records.json_lines import JsonLinesFile
from truerisk.inputs.records.line_blocks import check_block
from truerisk.inputs.records.parquet import ParquetFile
from truerisk.inputs.records.places import refusal
from truerisk.inputs.records.rows import Reader, Wanted
from truerisk.inputs.table_cells import Cells
from truerisk.inputs.table_kinds import (
    Kind,
    check_category,
    check_number_column,
    check_target,
    note_of_words,
)
from truerisk.inputs.table_roles import SettledRoles, TableRoles
from truerisk.inputs.tables import Column, Table, TableSource

LISTED = 5


class TableReading:
    """One file on its way to a table."""

    def __init__(
        self,
        path: Path,
        facts: FileFacts,
        roles: TableRoles,
        missing: frozenset[str],
        options: ReadingOptions,
    ) -> None:
        self.path = path
        self.facts = facts
        self.given = roles
        self.missing = missing
        self.options = options
        self.notes: list[str] = []
        self.reader = _reader(facts, path, options)
        try:
            self.roles: SettledRoles = roles.found_in(self.reader.columns)
        except InputError as error:
            raise refusal(path, str(error)) from None

    def table(self) -> Table:
        """Read the file, a second time for columns that turned out late to hold no numbers."""
        labels = [name for name in (self.roles.target, self.roles.group) if name is not None]
        kinds = {name: self._kind(name) for name in self.roles.features}
        cells, codes, books = self._read(kinds, labels)
        broken = {name: "category" for name, column in cells.items() if column.broken}
        if broken:
            cells |= self._read(broken, [])[0]
        rows = len(codes[0])
        if rows == 0:
            raise refusal(self.path, "must hold examples; the file has 0 data rows.")
        kept = self._kept(codes, labels)
        columns, X = self._columns(cells, kept)
        y = np.array(books[0].texts)[codes[0][kept]]
        in_use = tuple(dict.fromkeys(y.tolist()))
        check_target(self.path, self.roles.target, in_use, len(y), self.options)
        self.notes += books[0].notes("labels", "")
        groups = None if self.roles.group is None else np.array(books[1].texts)[codes[1][kept]]
        return Table(
            X=X,
            y=y,
            columns=columns,
            target=self.roles.target,
            groups=groups,
            source=TableSource(
                path=self.facts.path,
                format=self.facts.format,
                bytes=self.facts.bytes,
                rows=rows,
                dropped=rows - len(y),
                sha256=self.reader.sha256,
            ),
            notes=tuple(self.notes),
        )

    def _kind(self, name: str) -> str:
        if name in self.given.text:
            return "text"
        return "category" if name in self.given.categorical else "any"

    def _read(
        self, kinds: dict[str, str], labels: Sequence[str]
    ) -> tuple[dict[str, Cells], list[NDArray[np.int32]], list[LabelBook]]:
        cells = {
            name: Cells(name, kind, self.missing, self.options) for name, kind in kinds.items()
        }
        books = [LabelBook() for _ in labels]
        encoders = [
            LabelEncoder(name, book, self.options, may_be_empty=False)
            for name, book in zip(labels, books, strict=True)
        ]
        found: list[list[NDArray[np.int32]]] = [[np.empty(0, np.int32)] for _ in labels]
        for rows in self.reader.rows(Wanted(labels=tuple(labels), texts=tuple(kinds))):
            for name, column in cells.items():
                column.add(rows.columns[name], rows.places)
            for encoder, parts in zip(encoders, found, strict=True):
                parts.extend(encode([encoder], [rows.columns[encoder.column]], rows.places))
        return cells, [np.concatenate(parts) for parts in found], books

    def _kept(self, codes: Sequence[NDArray[np.int32]], labels: Sequence[str]) -> NDArray[np.bool_]:
        kept = np.ones(len(codes[0]), np.bool_)
        for name, column in zip(labels, codes, strict=True):
            lost = column < 0
            if lost.any() and self.options.missing == "refuse":
                raise refusal(
                    self.path,
                    f"{shown(name)} must have a value in every row; {np.count_nonzero(lost)} of "
                    f"{len(lost)} have none. Use --missing drop to leave them out.",
                    f"row {np.argmax(lost) + 1}",
                )
            kept &= ~lost
        if not kept.all():
            self.notes.append(
                f"{np.count_nonzero(~kept)} of {len(kept)} rows dropped for a missing value "
                f"({', '.join(labels)})."
            )
        return kept

    def _columns(
        self, cells: dict[str, Cells], kept: NDArray[np.bool_]
    ) -> tuple[tuple[Column, ...], NDArray[Any]]:
        has_text = any(column.is_text for column in cells.values())
        X = np.empty((np.count_nonzero(kept), len(cells)), object if has_text else np.float64)
        columns: list[Column] = []
        for place, name in enumerate(self.roles.features):
            column = cells.pop(name)
            kind: Kind = "number"
            words: tuple[str, ...] = ()
            if column.is_text:
                kind = "text"
                X[:, place] = np.array([*column.texts, None], object)[:-1][kept]
            elif column.may_be_numbers:
                values = column.numbers()[kept]
                X[:, place] = values
                self.notes += filter(None, [check_number_column(self.path, name, values)])
            else:
                kind = "category"
                codes, words = column.codes()
                if name not in self.given.categorical:
                    check_category(self.path, name, codes, words, self.options)
                    self.notes += note_of_words(name, words)
                X[:, place] = np.where(codes < 0, np.nan, codes)[kept]
            columns.append(Column(name=name, kind=kind, values=X[:, place], categories=words))
        self._note_constants(columns)
        return tuple(columns), X

    def _note_constants(self, columns: Sequence[Column]) -> None:
        constant = [column.name for column in columns if _is_constant(column)]
        if constant:
            rest = len(constant) - LISTED
            more = f" and {rest} more" if rest > 0 else ""
            self.notes.append(
                f"{', '.join(constant[:LISTED])}{more}: the same value in every row, which says "
                f"nothing of the label."
            )


def _is_constant(column: Column) -> bool:
    if column.kind == "text":
        return False
    values = column.values.astype(np.float64)
    return bool((values == values[0]).all() or np.isnan(values).all())


def _reader(facts: FileFacts, path: Path, options: ReadingOptions) -> Reader:
    if facts.format == "parquet":
        return ParquetFile(path, None, options)
    if facts.format == "json lines":
        return JsonLinesTable(path, facts.compression, options)
    return CsvFile(path, facts.compression, options)


class JsonLinesTable(JsonLinesFile):
    """A JSON lines file whose columns are the keys of all its objects; an absent key is missing."""

    def __init__(self, path: Path, compression: str | None, options: ReadingOptions) -> None:
        super().__init__(path, compression, options)
        keys = dict.fromkeys(self.columns)
        source = TextBytes(path, compression, options)
        for block in self._blocks(source, options.block_bytes):
            check_block(block, max_line=options.max_line_bytes)
            for row, line in enumerate(block.data.split(b"\n")[:-1]):
                keys |= dict.fromkeys(self._object(block, row, line))
        self.columns = tuple(keys)
