"""What a reader of one file hands on: columns as Arrow arrays, and where their rows stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from truerisk.inputs.records.places import Places


@dataclass(frozen=True)
class Wanted:
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
    """Some rows of one file: Arrow arrays by column, not yet checked for missing values."""

    columns: Mapping[str, Any]
    count: int
    first_row: int
    places: Places

    @property
    def last_row(self) -> int:
        """The number of the last row in its file, from 1."""
        return self.first_row + self.count - 1


class Reader(Protocol):
    """A file that is open: it knows its columns, and reads those that are wanted.

    `sha256` is known after the last rows, and None when the file was not hashed.
    """

    columns: tuple[str, ...]
    sha256: str | None

    def rows(self, wanted: Wanted) -> Iterator[Rows]:
        """Read the wanted columns from start to end."""
        ...
