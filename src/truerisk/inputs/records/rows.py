"""What readers hand on: columns, rows of them, then checked batches; all ahead of their use.

A column is a NumPy array, or texts as places in one buffer of bytes.
"""

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Codes, Flags, Indices
from truerisk.checks import LARGEST_COUNT, shown
from truerisk.errors import InputError
from truerisk.inputs.labels import LabelColumn
from truerisk.inputs.records.places import Places, refusal
from truerisk.kernels import text

Floats = NDArray[np.float32] | Array
Hashes = NDArray[np.uint64]
Positions = NDArray[np.int64]
FIRST_TABLE = 2**12
POWERS = range(-342, 309)  # of ten: all that a double can have, with 19 digits before them
T = TypeVar("T")
S = TypeVar("S")
WORKERS = 2  # parsing saturates the memory bus of small machines beyond this


@dataclass(frozen=True)
class Strings:
    """Texts, each a piece of one buffer of UTF-8."""

    data: Any  # bytes, or a view of them
    starts: Positions
    ends: Positions

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Strings":
        """Put texts into one buffer; half a character raises UnicodeEncodeError."""
        parts = [one.encode() for one in texts]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        return cls(b"".join(parts), np.append(0, ends)[:-1], ends)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: NDArray[Any]) -> "Strings":
        return Strings(self.data, self.starts[rows], self.ends[rows])

    @property
    def lengths(self) -> Positions:
        """How many bytes each text has."""
        return self.ends - self.starts

    def text(self, row: int) -> str:
        """Return the text of one row."""
        return str(self.data[self.starts[row] : self.ends[row]], "utf-8")

    def tolist(self) -> list[str]:
        """Return all texts."""
        places = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        if isinstance(self.data, bytes) and self.data.isascii():
            whole = self.data.decode()
            return [whole[start:end] for start, end in places]
        return [str(self.data[start:end], "utf-8") for start, end in places]

    def followed_by(self, others: "Strings", rows: NDArray[Any]) -> "Strings":
        """Put other texts at some rows."""
        starts, ends = self.starts.copy(), self.ends.copy()
        starts[rows], ends[rows] = others.starts + len(self.data), others.ends + len(self.data)
        return Strings(self.data + others.data, starts, ends)

    def hashes(self) -> Hashes:
        """Hash each text to 64 bits."""
        hashes = np.empty(len(self), np.uint64)
        text.hash_texts(self.data, self.starts, self.ends, hashes)
        return hashes

    def encoded(self) -> tuple[Codes, list[str]]:
        """Give equal texts one code, in order of appearance, and list the distinct ones."""
        codes = np.empty(len(self), np.int32)
        size = FIRST_TABLE
        while True:
            first_rows = np.empty(size // 2, np.int64)
            distinct = text.encode_texts(
                self.data,
                self.starts,
                self.ends,
                np.empty(size, np.uint64),
                np.full(size, -1, np.int64),
                codes,
                first_rows,
                np.full(256, -1, np.int32),
            )
            if distinct >= 0:
                return codes, self[first_rows[:distinct]].tolist()
            size *= 8

    def numbers(self, decimal: str = ".") -> tuple[Array, NDArray[np.uint8]]:
        """Read each text as a number, NaN if it is empty; a state other than 0: none yet."""
        values, states = np.empty(len(self)), np.empty(len(self), np.uint8)
        bits = values.view(np.uint64)
        table = _powers_of_five()
        text.parse_numbers(self.data, self.starts, self.ends, ord(decimal), table, bits, states)
        return values, states


@functools.cache
def _powers_of_five() -> memoryview:
    """List the leading 128 bits of 5^q for each power q, as two words of 64."""
    table = np.empty((len(POWERS), 2), np.uint64)
    for place, q in enumerate(POWERS):
        power = 5 ** abs(q)
        if q < 0:
            # Rounded up: a product is then never below the true one.
            width = (power - 1).bit_length()
            power = (1 << (width + 127 if q >= -27 else 2 * width + 128)) // power + 1
        excess = power.bit_length() - 128
        power = power >> excess if excess > 0 else power << -excess
        table[place] = power >> 64, power & (2**64 - 1)
    return table.data


@dataclass(frozen=True)
class Column:
    """One column of some rows; `kind` is its type as messages name it.

    `values` are booleans, integers, floats (NaN where there is none, two dimensions where a cell
    is a list), `Strings`, places in `words`, or Python objects.  `null` marks rows without a value.
    """

    values: Any
    kind: str
    words: Sequence[str | None] | None = None
    null: Flags | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts."""
        return self.words is not None or isinstance(self.values, Strings)

    def taken(self, rows: NDArray[Any] | slice) -> "Column":
        """Take some rows, in this order."""
        null = None if self.null is None else self.null[rows]
        return replace(self, values=self.values[rows], null=null)

    def tolist(self) -> list[Any]:
        """Return the cells as Python values, None where there is none."""
        cells: list[Any] = self.values.tolist()
        if self.words is not None:
            words = self.words
            cells = [words[place] for place in cells] if words else [None] * len(cells)
        if self.null is not None and self.null.any():
            for row in np.flatnonzero(self.null).tolist():
                cells[row] = None
        return cells


def text_column(
    texts: Sequence[str | None], refuse: Callable[[int, str], Exception] | None = None
) -> Column:
    """Make a column of texts; `refuse` makes the error of a row with half a character."""
    null = np.array([one is None for one in texts], np.bool_)
    present = ["" if one is None else one for one in texts]
    try:
        strings = Strings.of(present)
    except UnicodeEncodeError as error:
        if refuse is None:
            raise
        raise refuse(present.index(error.object), error.object) from None
    return Column(strings, "string", null=null if null.any() else None)


def as_floats(column: Column, name: str, places: Places) -> Floats:
    """Give a column as float32 or float64, NaN where there is no value."""
    values = column.values
    if column.kind == "null":
        return np.full(len(column), np.nan)
    if column.words is None and isinstance(values, np.ndarray):
        if values.dtype.kind == "f":
            return values
        if values.dtype.kind in "iu":
            return _from_integers(column, name, places)
    raise refusal(
        places.path,
        f"{shown(name)} must hold numbers; got {column.kind}. Cast it, or choose another column.",
    )


def _from_integers(column: Column, name: str, places: Places) -> Floats:
    whole, null = column.values, column.null
    wrong = (whole > LARGEST_COUNT) | (whole < -LARGEST_COUNT)
    if null is not None:
        wrong &= ~null
    if wrong.any():
        row = int(np.argmax(wrong))
        raise places.refusal(
            row,
            f"{shown(name)} must lie within ±2**53, beyond which neighbours become one number; "
            f"got {shown(whole[row].item())}.",
        )
    values: Array = whole.astype(np.float64)
    if null is not None:
        values[null] = np.nan
    return values


def as_strings(column: Column, name: str, places: Places) -> tuple[Strings, Flags]:
    """Give a column of ids as texts, and which of them are missing."""
    values = column.values
    if column.words is not None:
        words = ["" if word is None else word for word in column.words] or [""]
        strings = Strings.of(words)[values]
    elif isinstance(values, Strings):
        strings = values
    elif values.dtype.kind in "biu":
        strings = Strings.of([str(value) for value in values.tolist()])
    else:
        raise places.refusal(
            0,
            f"{shown(name)} must hold ids, text or integers; got {column.kind}. "
            f"Cast it where it is written: digits may already be lost.",
        )
    empty: Flags = strings.lengths == 0
    return strings, empty if column.null is None else empty | column.null


def as_values(column: Column) -> NDArray[Any]:
    """Give a column as an array of what is in it: numbers, or Python objects, None for nothing."""
    values = column.values
    if isinstance(values, Strings):
        codes, distinct = values.encoded()
        cells = np.array(distinct, dtype=object)[codes]
    elif column.words is None and column.null is None and values.ndim == 1:
        return np.asarray(values)
    else:
        cells = np.empty(len(column), dtype=object)
        cells[:] = column.tolist()
    if column.null is not None:
        cells[column.null] = None
    return cells


def matrix_of(lists: Sequence[Any], name: str, refuse: Callable[[int, str], Exception]) -> Floats:
    """Make rows of a matrix of lists of equal length, NaN where one is None."""
    width = next((len(one) for one in lists if one is not None), 1)
    for row, one in enumerate(lists):
        if one is not None and (len(one) != width or width == 0):
            raise refuse(
                row,
                f"{shown(name)} must be a list of {width} numbers, as in the rows before; "
                f"got {shown(one)}.",
            )
    gap = [np.nan] * width
    return np.array([gap if one is None else one for one in lists], np.float64)


def joined_labels(
    lists: Sequence[Any], name: str, separator: str | None, kind: str, places: Places
) -> Column:
    """Make one text of each list of labels."""
    if separator is None:
        raise refusal(
            places.path,
            f"{shown(name)} must hold one label per row; got {kind}. "
            f"Use --multilabel-sep for several labels per example.",
        )
    cells = [None if one is None else [str(label) for label in one] for one in lists]
    if any(
        label is None or not str(label) or separator in str(label)
        for one in lists
        if one is not None
        for label in one
    ):
        raise refusal(
            places.path,
            f"{shown(name)} must hold labels that are not empty and do not contain "
            f"{separator!r}. Choose another --multilabel-sep.",
        )
    return text_column([None if one is None else separator.join(one) for one in cells])


@dataclass(frozen=True)
class Selection:
    """The columns to read: labels as text with few distinct values, numbers, and ids as text."""

    labels: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.labels, *self.numbers, *self.texts)


@dataclass(frozen=True)
class Rows:
    """Some rows of one file: their columns, not yet checked for missing values."""

    columns: Mapping[str, Column]
    count: int
    first_row: int
    places: Places

    @property
    def last_row(self) -> int:
        """The number of the last row in its file, from 1."""
        return self.first_row + self.count - 1

    def taken(self, rows: Indices) -> "Rows":
        """Take some rows; their places stay those in the file."""
        before = self.places
        places = Places(
            before.path,
            lambda row: before.where(int(rows[row])),
            lambda row: before.text(int(rows[row])),
        )
        columns = {name: column.taken(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, count=len(rows), places=places)


@dataclass(frozen=True)
class LogFacts:
    """What a log of evaluated questions says of itself.

    `metrics` are the columns of results, `single` a column that must have one value throughout;
    `model` is what was evaluated.
    """

    metrics: tuple[str, ...]
    model: str
    single: str | None = None
    notes: tuple[str, ...] = ()


class Reader(Protocol):
    """A file that is open: it has columns, and reads those that are selected.

    `sha256` is there after the last rows, and None when the file was not hashed.
    `empty_is_missing` says that the format has no other sign of a missing value than nothing.
    Some readers have `nested`, names of columns within columns, and `log`, what the tool that
    wrote the file says of it.
    """

    columns: tuple[str, ...]
    sha256: str | None
    empty_is_missing: bool

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns from start to end."""
        ...


def records(
    reader: Reader, names: tuple[str, ...]
) -> Iterator[tuple[dict[str, Any], Callable[[str], InputError]]]:
    """Give each row as Python values, and how to refuse it."""
    own = getattr(reader, "records", None)
    if own is not None:  # of JSON lines, whose values have no common type
        yield from own(names)
        return
    for rows in reader.rows(Selection(texts=names)):
        columns = [rows.columns[name].tolist() for name in names]
        for row, cells in enumerate(zip(*columns, strict=True)):
            yield dict(zip(names, cells, strict=True)), partial(rows.places.refusal, row)


@dataclass(frozen=True)
class Batch:
    """Some rows of one file, checked; what plays no role is None.

    `first_row` is the number of the first row in its file, from 1; `score` has one column, or one
    for each class.  Arrays may be read-only views of the reader's memory.
    """

    file: str
    first_row: int
    truth: LabelColumn | None
    pred: LabelColumn | None
    score: Floats | None
    group: LabelColumn | None
    weight: Array | None
    ids: Strings | None
    by: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        columns = (self.truth, self.pred, self.score, self.group, self.weight, self.ids)
        return next(len(column) for column in columns if column is not None)


def ahead(items: Iterable[T], depth: int = 2) -> Iterator[T]:
    """Produce up to `depth` items in a thread of their own before they are needed."""
    iterator = iter(items)
    end = object()
    pool = ThreadPoolExecutor(1)
    pending: deque[Future[T | object]] = deque()
    try:
        while True:
            while len(pending) < depth:
                pending.append(pool.submit(next, iterator, end))
            item = pending.popleft().result()
            if item is end:
                return
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        close = getattr(iterator, "close", None)
        if close is not None:
            close()


def in_order(function: Callable[[T], S], items: Iterable[T], workers: int = WORKERS) -> Iterator[S]:
    """Apply `function` to the items in threads; what fails first in the file fails first here."""
    iterator = iter(items)
    pool = ThreadPoolExecutor(workers)
    pending: deque[Future[S]] = deque()
    failure: Exception | None = None
    more = True
    try:
        while True:
            while more and len(pending) <= workers:
                try:
                    pending.append(pool.submit(function, next(iterator)))
                except StopIteration:
                    more = False
                except Exception as error:  # noqa: BLE001 - it is raised after the earlier items
                    failure, more = error, False
            if not pending:
                break
            yield pending.popleft().result()
        if failure is not None:
            raise failure
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
