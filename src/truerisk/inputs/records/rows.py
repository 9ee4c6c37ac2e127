"""What readers hand on: rows as columns, then checked batches; both ahead of their use."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.errors import InputError
from truerisk.inputs.labels import LabelColumn
from truerisk.inputs.records.columns import Column, Floats, Strings
from truerisk.inputs.records.places import Places

T = TypeVar("T")
S = TypeVar("S")
WORKERS = 2  # parsing saturates the memory bus of small machines beyond this


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
        places = self.places
        kept = Places(
            places.path,
            lambda row: places.where(int(rows[row])),
            lambda row: places.text(int(rows[row])),
        )
        columns = {name: column.taken(rows) for name, column in self.columns.items()}
        return replace(self, columns=columns, count=len(rows), places=kept)


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
