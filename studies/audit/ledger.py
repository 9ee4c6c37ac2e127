"""Ledgers: what the audits measured, as CSV; and tables of the pages made from them.

A ledger is a sequence of rows of one dataclass whose fields are text, whole numbers and numbers.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, TypeVar

from truerisk.errors import InputError

ROOT = Path(__file__).parents[2]
LEDGERS = ROOT / "studies" / "ledgers"
DOCS = ROOT / "docs"
READ: Mapping[type, Callable[[str], Any]] = {int: int, float: float, str: str}

Row = TypeVar("Row")


def as_csv(kind: type[Row], rows: Iterable[Row]) -> str:
    """Write rows, numbers with nine digits.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Share:
    ...     method: str
    ...     value: float
    >>> print(as_csv(Share, [Share("t, corrected", 0.95)]), end="")
    method,value
    "t, corrected",0.95
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_columns(kind))
    for row in rows:
        cells = astuple(row)  # type: ignore[call-overload]
        lines.writerow([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in cells])
    return text.getvalue()


def from_csv(kind: type[Row], text: str, name: str = "The ledger") -> tuple[Row, ...]:
    """Read rows; refuse a table with other columns."""
    lines = csv.DictReader(text.splitlines())
    columns = _columns(kind)
    if tuple(lines.fieldnames or ()) != tuple(columns):
        raise InputError(f"{name} must have the columns {', '.join(columns)}.")
    return tuple(
        kind(**{column: READ[columns[column]](cell) for column, cell in line.items()})
        for line in lines
    )


def is_ledger_of(kind: type[Any], path: Path) -> bool:
    """Whether a file has the columns of this kind of row."""
    with path.open(encoding="utf-8") as file:
        return file.readline().strip().split(",") == list(_columns(kind))


def read_ledger(kind: type[Row], name: str, folder: Path = LEDGERS) -> tuple[Row, ...]:
    """Read a ledger by its name."""
    path = folder / f"{name}.csv"
    return from_csv(kind, path.read_text(encoding="utf-8"), path.name)


def write_ledger(kind: type[Row], name: str, rows: Iterable[Row], folder: Path = LEDGERS) -> Path:
    """Write a ledger by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.csv"
    path.write_text(as_csv(kind, rows), encoding="utf-8")
    return path


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a table of a page.

    Examples
    --------
    >>> print(markdown_table(["method", "least"], [["wilson", "0.84"]]))
    | method | least |
    | --- | --- |
    | wilson | 0.84 |
    """
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def mean(values: Sequence[float]) -> float:
    """Give the mean of at least one value."""
    return sum(values) / len(values)


def _columns(kind: type[Any]) -> dict[str, type]:
    return {field.name: field.type for field in fields(kind)}  # type: ignore[misc]
