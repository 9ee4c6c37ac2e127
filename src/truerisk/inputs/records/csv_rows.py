"""CSV files: strict, and parsed by Arrow in blocks of whole records."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Places, refusal, such_rows
from truerisk.inputs.records.rows import Rows, Selection, ahead, in_order
from truerisk.inputs.records.text_blocks import (
    BOM,
    Block,
    TextBytes,
    blocks,
    check_block,
    check_line_ends,
    check_quotes,
)

DELIMITERS = ",;\t|"
SNIFFED_LINES = 100
HEAD_BYTES = 2**16
MISSING_NUMBERS = [
    "", "NA", "N/A", "#N/A", "na", "n/a", "nan", "NaN", "NAN", "-nan", "-NaN", "null", "NULL",
    "None", "none", "?",
]  # fmt: skip
LABEL = pa.dictionary(pa.int32(), pa.string())


class CsvFile:
    """One CSV file whose header has been read.

    Labels and ids are text, whatever they look like; only the columns named as numbers are parsed
    as numbers.  So nothing depends on what the first rows happen to hold.
    """

    empty_is_missing = True

    def __init__(self, path: Path, compression: str | None, options: ReadingOptions) -> None:
        self.path = path
        self.compression = compression
        self.options = options
        self.sha256: str | None = None
        first = next(self._blocks(TextBytes(path, compression, options), HEAD_BYTES), None)
        if first is None:
            raise refusal(path, "must hold predictions; the file is empty.")
        check_block(first, max_line=options.max_line_bytes)
        check_line_ends(first, may_be_blank=True)
        if not first.text_of(0).strip():
            raise refusal(path, "must start with a header; the first line is blank.", "line 1")
        self.delimiter = options.delimiter or sniff(first, options.decimal)
        check_quotes(first, self.delimiter)
        self.columns = tuple(_cells(first.text_of(0), self.delimiter))

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end."""
        source = TextBytes(self.path, self.compression, self.options)
        data = self._after_header(self._blocks(source, self.options.block_bytes))
        yield from in_order(lambda block: self._parsed(block, selection), ahead(data))
        self.sha256 = source.sha256

    def _blocks(self, source: TextBytes, size: int) -> Iterator[Block]:
        limit = self.options.max_line_bytes
        return blocks(source, size, quotes=True, has_header=True, max_line=limit)

    @staticmethod
    def _after_header(data: Iterator[Block]) -> Iterator[Block]:
        first = next(data).without_header()
        if first.rows:
            yield first
        yield from data

    def _parsed(self, block: Block, selection: Selection) -> Rows:
        check_block(block, max_line=self.options.max_line_bytes)
        check_line_ends(block, may_be_blank=len(self.columns) == 1)
        check_quotes(block, self.delimiter)
        try:
            table = self._table(block, selection)
        except pa.ArrowInvalid as error:
            raise self._explained(block, selection, error) from None
        if table.num_rows != block.rows:
            raise refusal(
                self.path,
                f"must have one row per record; {block.rows} records gave {table.num_rows} rows.",
                f"from line {block.first_line}",
            )
        arrays = {
            name: table.column(str(self.columns.index(name))).combine_chunks()
            for name in selection.columns
        }
        columns = {
            name: array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
            for name, array in arrays.items()
        }
        places = Places(self.path, lambda row: f"line {block.line_of(row)}", block.text_of)
        return Rows(columns, block.rows, block.first_row, places)

    def _table(self, block: Block, selection: Selection, handler: object = None) -> pa.Table:
        # Columns go by their position: names may be doubled among those that are not used.
        kinds = dict.fromkeys(selection.labels, LABEL)
        kinds |= dict.fromkeys(selection.numbers, pa.float64())
        kinds |= dict.fromkeys(selection.texts, pa.string())
        types = {str(self.columns.index(name)): kind for name, kind in kinds.items()}
        # Arrow drops a byte order mark, though one that opens a block belongs to its first cell.
        data = BOM + block.data if block.data.startswith(BOM) else block.data
        return arrow_csv.read_csv(
            pa.BufferReader(data),
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=len(data) + 1,
                column_names=[str(position) for position in range(len(self.columns))],
            ),
            arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=block.quoted,
                ignore_empty_lines=False,
                invalid_row_handler=handler,
            ),
            arrow_csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=MISSING_NUMBERS,
                strings_can_be_null=False,
                check_utf8=False,
                decimal_point=self.options.decimal,
            ),
        )

    def _explained(self, block: Block, selection: Selection, error: Exception) -> InputError:
        """Find the row that Arrow could not parse; slow, once, and only for the message."""
        ragged: list[arrow_csv.InvalidRow] = []

        def keep(row: arrow_csv.InvalidRow) -> str:
            ragged.append(row)
            return "skip"

        as_text = Selection(texts=selection.columns)
        table = self._table(block, as_text, keep)
        if ragged:
            return self._ragged(block, ragged)
        for name in selection.numbers:
            cells = table.column(str(self.columns.index(name))).to_pylist()
            wrong = [row for row, cell in enumerate(cells) if not self._is_number(cell)]
            if wrong:
                return self._not_a_number(block, name, cells[wrong[0]], wrong)
        return refusal(self.path, f"cannot be parsed ({error}).", f"from line {block.first_line}")

    def _is_number(self, cell: str) -> bool:
        mark = re.escape(self.options.decimal)
        number = rf"[+-]?((\d+({mark}\d*)?|{mark}\d+)([eE][+-]?\d+)?|inf|infinity|nan)"
        text = cell.strip()
        return text in MISSING_NUMBERS or re.fullmatch(number, text, re.IGNORECASE) is not None

    def _not_a_number(self, block: Block, name: str, cell: str, wrong: list[int]) -> InputError:
        other = "," if self.options.decimal == "." else "."
        remedy = " Choose the score column with --score."
        if re.fullmatch(rf"\s*[+-]?\d*\{other}\d+([eE][+-]?\d+)?\s*", cell):
            remedy = f" Use --decimal {other} if that is the decimal mark."
        many = such_rows(len(wrong), block.first_row + block.rows - 1)
        return refusal(
            self.path,
            f"{shown(name)} must be a number; got {shown(cell)}{many}.{remedy}",
            f"line {block.line_of(wrong[0])}",
        )

    def _ragged(self, block: Block, ragged: list[arrow_csv.InvalidRow]) -> InputError:
        first = ragged[0]
        remedy = ""
        if first.actual_columns > first.expected_columns:
            remedy = " Put cells that hold the delimiter in quotes."
            if self.delimiter == "," and re.search(r"\d,\d", first.text):
                remedy = " Numbers with decimal commas need another delimiter, or quotes."
        return refusal(
            self.path,
            f"must have {first.expected_columns} cells, as the header has; "
            f"got {first.actual_columns}: {shown(first.text)}"
            f"{such_rows(len(ragged), block.first_row + block.rows - 1)}.{remedy}",
            f"line {block.line_of(first.number - 1)}",
        )


def sniff(first: Block, decimal: str = ".") -> str:
    r"""Find the delimiter by which the header and the lines after it have equally many cells.

    Without one, the delimiter that splits the header most; a comma when none does.

    Examples
    --------
    >>> sniff(Block(Path("p.csv"), b"y;p\n1;0,5\n", 1, 0, 2, 0, False))
    ';'
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
