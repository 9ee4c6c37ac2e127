"""How strictly files are read, and where reading stops."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from truerisk.checks import check_choice, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.labels import Spelling

MIB = 2**20
Missing = Literal["refuse", "drop"]
# The remedy that refusals of missing values end with.
DROP = "Use --missing drop (options=tr.ReadingOptions(missing='drop') in Python)"


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """What is allowed in a file of predictions.

    Every option has its counterpart on the command line (``--missing drop``, ``--allow-inf`` …),
    and a refusal names the one that would permit it.

    Parameters
    ----------
    delimiter
        What separates the cells of a CSV file; recognised from the header and 100 lines when None.
    encoding
        How the text is encoded, by a name Python knows.
    decimal
        The decimal mark of numbers in CSV files.
    where
        Only rows in which these columns have these values: ``{"split": "test"}``.
    missing
        What happens to a row in which a used cell is empty or NaN.
    allow_inf
        Whether a score may be infinite.
    strip
        Whether white space around labels is removed.
    numeric_labels
        Whether labels that are numbers get one spelling: 1.0, 01 and True are 1.
    label_map
        Labels that get another name: ``{"Yes": "yes"}``.
    multilabel_separator
        What separates the labels of one cell; None says that a cell is one label.
    max_line_bytes, max_expanded_bytes, max_ratio
        Limits on one line, on one expanded file, and on how much a compressed file may expand.
    max_labels
        How many distinct labels may appear before the column is taken for a wrong one.
    batch_rows, block_bytes
        How much is in memory at once: rows of a Parquet batch, bytes of a text block.
    hash_all
        Whether Parquet files over `max_hashed_bytes` get a SHA-256 too, which reads them twice.

    Examples
    --------
    >>> ReadingOptions(missing="drop").missing
    'drop'
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    where: Mapping[str, str] = field(default_factory=dict)
    missing: Missing = "refuse"
    allow_inf: bool = False
    strip: bool = False
    numeric_labels: bool = False
    label_map: Mapping[Any, Any] = field(default_factory=dict)
    multilabel_separator: str | None = None
    max_line_bytes: int = 16 * MIB
    max_expanded_bytes: int = 2**40
    max_ratio: int = 1000
    max_labels: int = 1_000_000
    batch_rows: int = 2**18
    block_bytes: int = 4 * MIB
    hash_all: bool = False
    max_hashed_bytes: int = 2 * 2**30

    def __post_init__(self) -> None:
        check_choice(self.missing, ("refuse", "drop"), "missing")
        check_choice(self.decimal, (".", ","), "decimal")
        limits = ("max_line_bytes", "max_expanded_bytes", "max_ratio", "max_labels")
        for name in (*limits, "batch_rows", "block_bytes"):
            check_whole_number(getattr(self, name), name, low=1)
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)
        if self.delimiter == self.decimal:
            raise InputError(f"`decimal` must differ from `delimiter`; both are {self.decimal!r}.")
        Spelling.of(label_map=self.label_map)
        if self.multilabel_separator == "":
            raise InputError("`multilabel_separator` must have at least one character; got ''.")
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise InputError(
                f"`encoding` must be an encoding Python knows, such as utf-8, utf-16 or latin-1; "
                f"got {shown(self.encoding)}."
            ) from None

    @property
    def multilabel(self) -> bool:
        """Whether a cell may hold several labels."""
        return self.multilabel_separator is not None

    @cached_property
    def spelling(self) -> Spelling:
        """How labels are rewritten."""
        return Spelling.of(
            strip=self.strip, numeric_labels=self.numeric_labels, label_map=self.label_map
        )

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes of the file can be parsed as they are."""
        return codecs.lookup(self.encoding).name in {"utf-8", "utf-8-sig", "ascii"}


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            f"`delimiter` must be one ASCII character, and no quote or line end; "
            f"got {shown(delimiter)}. Write '\\t' for a tab."
        )
