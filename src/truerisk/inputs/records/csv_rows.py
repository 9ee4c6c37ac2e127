"""CSV files: strict, and parsed in blocks of whole records."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import refusal, such_rows
from truerisk.inputs.records.rows import Column, Rows, Selection, Strings, ahead, in_order
from truerisk.inputs.records.text_blocks import (
    Block,
    TextFile,
    cells_of_records,
    check_line_ends,
    check_no_blank,
    check_quotes,
)
from truerisk.kernels import text

DELIMITERS = ",;\t|"
SNIFFED_LINES = 100
MISSING_NUMBERS = [
    "", "NA", "N/A", "#N/A", "na", "n/a", "nan", "NaN", "NAN", "-nan", "-NaN", "null", "NULL",
    "None", "none", "?",
]  # fmt: skip


class CsvFile(TextFile):
    """One CSV file whose header has been read.

    Labels and ids are text, whatever they look like; only the columns named as numbers are parsed
    as numbers.  So nothing depends on what the first rows happen to hold.
    """

    empty_is_missing = True
    has_cells = True

    def __init__(self, path: Path, compression: str | None, options: ReadingOptions) -> None:
        super().__init__(path, compression, options)
        first = self.first_block()
        check_line_ends(first)
        if not first.text_of(0).strip():
            raise refusal(path, "must start with a header; the first line is blank.", "line 1")
        self.delimiter = options.delimiter or sniff(first, options.decimal)
        check_quotes(first, self.delimiter)
        self.columns = tuple(_cells(first.text_of(0), self.delimiter))

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end."""
        data = ahead(self._after_header())
        return in_order(lambda block: self._parsed(block, selection), data)

    def _after_header(self) -> Iterator[Block]:
        data = self.blocks()
        first = next(data).without_header()
        if first.rows:
            yield first
        yield from data

    def _parsed(self, block: Block, selection: Selection) -> Rows:
        self.check(block)
        check_line_ends(block)
        check_quotes(block, self.delimiter)
        cells = self._cells(block, selection)
        columns: dict[str, Column] = {}
        for name, strings in cells.items():
            if name in selection.numbers:
                columns[name] = Column(self._numbers(block, name, strings), "double")
            elif name in selection.labels:
                codes, words = strings.encoded()
                columns[name] = Column(codes, "string", words=words)
            else:
                columns[name] = Column(strings, "string")
        return Rows(columns, block.rows, block.first_row, self.places(block))

    def _cells(self, block: Block, selection: Selection) -> dict[str, Strings]:
        # Columns go by their position: names may be doubled among those that are not used.
        names = list(dict.fromkeys(selection.columns))
        slots = np.full(len(self.columns), -1, np.int32)
        for slot, name in enumerate(names):
            slots[self.columns.index(name)] = slot
        starts = np.empty((len(names), block.rows), np.int64)
        ends = np.empty_like(starts)
        doubled = np.zeros((len(names), block.rows if block.quoted else 0), np.uint8)
        delimiter = ord(self.delimiter)
        ragged = text.split_cells(block.data, delimiter, slots, starts, ends, doubled)
        if ragged >= 0:
            check_no_blank(block)
            raise self._ragged(block)
        cells = {}
        for slot, name in enumerate(names):
            data = block.data
            rows = np.flatnonzero(doubled[slot])
            if len(rows):
                tail = np.empty(int((ends[slot, rows] - starts[slot, rows]).sum()), np.uint8)
                size = text.undouble(data, starts[slot], ends[slot], rows, tail, len(data))
                data += tail[:size].tobytes()
            cells[name] = Strings(data, starts[slot], ends[slot])
        return cells

    def _numbers(self, block: Block, name: str, cells: Strings) -> Array:
        values, states = cells.numbers(self.options.decimal)
        rows = np.flatnonzero(states)
        wrong = []
        for row, cell in zip(rows.tolist(), cells[rows].tolist(), strict=True):
            number = self._number(cell.strip())
            if number is None:
                wrong.append(row)
            else:
                values[row] = number
        if wrong:
            raise self._not_a_number(block, name, cells.text(wrong[0]), wrong)
        return values

    def _number(self, cell: str) -> float | None:
        """Read what is no plain number of at most 19 digits: more of them, or a word."""
        if cell in MISSING_NUMBERS:
            return float("nan")
        mark = re.escape(self.options.decimal)
        number = rf"[+-]?((\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?|inf|infinity|nan)"
        if re.fullmatch(number, cell, re.IGNORECASE | re.ASCII) is None:
            return None
        return float(cell.replace(self.options.decimal, "."))

    def _not_a_number(self, block: Block, name: str, cell: str, wrong: list[int]) -> InputError:
        other = "," if self.options.decimal == "." else "."
        remedy = " Choose the score column with --score."
        if re.fullmatch(rf"\s*[+-]?\d*\{other}\d+([eE][+-]?\d+)?\s*", cell):
            remedy = f" Use --decimal {other} if that is the decimal mark."
        many = such_rows(len(wrong), block.first_row + block.rows - 1)
        sentence = f"{shown(name)} must be a number; got {shown(cell)}{many}.{remedy}"
        return block.refuse(wrong[0], sentence)

    def _ragged(self, block: Block) -> InputError:
        expected = len(self.columns)
        cells = cells_of_records(block, self.delimiter)
        wrong = np.flatnonzero(cells != expected)
        first = int(wrong[0])
        record = block.text_of(first)
        remedy = ""
        if cells[first] > expected:
            remedy = " Put cells that hold the delimiter in quotes."
            if self.delimiter == "," and re.search(r"\d,\d", record):
                remedy = " Numbers with decimal commas need another delimiter, or quotes."
        return block.refuse(
            first,
            f"must have {expected} cells, as the header has; got {cells[first]}: {shown(record)}"
            f"{such_rows(len(wrong), block.first_row + block.rows - 1)}.{remedy}",
        )


def sniff(first: Block, decimal: str = ".") -> str:
    """Find the delimiter by which the header and the lines after it have equally many cells.

    Without one, the delimiter that splits the header most; a comma when none does.
    """
    count = min(first.rows, SNIFFED_LINES + 1)
    text = "\n".join(first.text_of(record) for record in range(count))
    best, best_rank = ",", (False, 1)
    for delimiter in DELIMITERS:
        try:
            widths = [len(cells) for cells in islice(csv.reader(io.StringIO(text, newline=""),
                      delimiter=delimiter), count)]  # fmt: skip
        except csv.Error:
            continue
        rank = (len(set(widths)) == 1 and widths[0] > 1, widths[0])
        if rank > best_rank and delimiter != decimal:
            best, best_rank = delimiter, rank
    return best


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter))
