"""Where in a file something was found, and the sentences that say so."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from truerisk.checks import SHOWN_CHARACTERS
from truerisk.errors import InputError, ResourceError


def shown_path(path: Path | str) -> str:
    r"""Write a path as a message shows it: escaped, and its end kept when it is long.

    Examples
    --------
    >>> shown_path("a/b.csv")
    'a/b.csv'
    >>> print(shown_path("red\x1b[31m.csv"))
    red\x1b[31m.csv
    """
    text = repr(os.fspath(path))[1:-1]
    return text if len(text) <= SHOWN_CHARACTERS else "…" + text[1 - SHOWN_CHARACTERS :]


def refusal(path: Path, sentence: str, place: str = "") -> InputError:
    """Make the error that names the file, and the place in it."""
    at = f", {place}" if place else ""
    return InputError(f"{shown_path(path)}{at}: {sentence}")


def machine_failure(path: Path, error: OSError) -> ResourceError:
    """Make the error of a disk or a network that failed while the file was read."""
    return ResourceError(f"{shown_path(path)}: reading failed ({error.strerror or error}).")


@dataclass(frozen=True)
class Places:
    """Where the rows of one batch stand in their file, worked out only when it is asked.

    `where` turns a row of the batch into words ("line 7"), `text` into the line itself, when the
    file has lines.
    """

    path: Path
    where: Callable[[int], str]
    text: Callable[[int], str | None] = lambda _: None

    def refusal(self, row: int, sentence: str) -> InputError:
        """Make the error that names the place of a row."""
        return refusal(self.path, sentence, self.where(row))


def such_rows(count: int, last_row: int) -> str:
    """Say how many rows share a fault, among those seen so far."""
    return f" ({count} such rows up to row {last_row})" if count > 1 else ""
