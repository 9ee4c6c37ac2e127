"""The columns of a table: numbers, categories or texts; and what is refused as any of them."""

import dataclasses
import re
from pathlib import Path
from typing import Literal

import numpy as np

from truerisk.aliases import Array, Codes
from truerisk.checks import LARGEST_COUNT, shown
from truerisk.errors import InputError
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.columns import Column, Strings, as_floats
from truerisk.inputs.records.encoding import LabelEncoder, encode
from truerisk.inputs.records.places import Places, refusal
from truerisk.inputs.roles import USUAL_NAMES

Kind = Literal["number", "category", "text"]
FEW = 10  # so few distinct numbers lose nothing as categories
MANY_CATEGORIES = 50
UNLIKELY_SHARE = 0.5  # of the rows: more distinct values are ids or texts, not categories
MISSING_WORDS = {"?", "NA", "N/A", "na", "n/a", "nan", "NaN", "null", "NULL", "None", "none"}
OTHER_MARK = {".": ",", ",": "."}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(r"[+-]?\d+")


class Cells:
    """The cells of one feature so far: numbers for as long as all are, else codes of a book.

    A column that turns out late to hold something else than numbers is `broken`: the file is then
    read again with that column as a category: nothing depends on how blocks were cut.
    """

    def __init__(
        self, name: str, kind: str, missing: frozenset[str], options: ReadingOptions
    ) -> None:
        self.name = name
        self.missing = missing
        self.options = options
        self.may_be_numbers = kind == "any"
        self.is_text = kind == "text"
        self.broken = False
        self.texts: list[str | None] = []
        self.book = LabelBook()
        as_written = dataclasses.replace(options, numeric_labels=False, label_map={})
        self._encoder = LabelEncoder(name, self.book, as_written, may_be_empty=False)
        self._codes: list[Codes] = []
        self._numbers: list[Array] = []

    def add(self, column: Column, places: Places) -> None:
        """Take in the cells of one block."""
        if self.broken:
            return
        if self.is_text:
            self.texts += self._words(column, places)
            return
        if self.may_be_numbers:
            numbers = self._as_numbers(column, places)
            if numbers is not None:
                self._numbers.append(numbers)
                return
            self.may_be_numbers = False
            self.broken = bool(self._numbers)
            if self.broken:
                self._numbers = []
                return
        self._codes += encode([self._encoder], [column], places)

    def numbers(self) -> Array:
        """Give all numbers, NaN where a cell is missing."""
        return np.concatenate(self._numbers)

    def codes(self) -> tuple[Codes, tuple[str, ...]]:
        """Give a code for each cell, −1 where it is missing, and the sorted words they stand for.

        Sorted: the order of the rows does not decide the order of the features.
        """
        codes = np.concatenate(self._codes)
        every = self.book.texts
        words = sorted(word for word in every if word.strip() not in self.missing)
        place = {word: code for code, word in enumerate(words)}
        table = np.array([*(place.get(word, -1) for word in every), -1], np.int32)
        # Missing cells have negative codes of their own: all end at the last entry.
        return table[np.maximum(codes, -1)], tuple(words)

    def _as_numbers(self, column: Column, places: Places) -> Array | None:
        values = column.values
        if column.is_text:
            return self._parsed(column)
        if values.dtype.kind == "b":
            return _with_gaps(values.astype(np.float64), column)
        if values.dtype.kind == "O":
            raise refusal(
                places.path,
                f"{shown(self.name)} must hold numbers or words; got {column.kind}. "
                f"Cast it, or leave it out with --drop.",
            )
        numbers = np.asarray(as_floats(column, self.name, places), np.float64)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise places.refusal(
                row, f"{shown(self.name)} must be a finite number; got {numbers[row]}."
            )
        return numbers

    def _parsed(self, column: Column) -> Array | None:
        values, words = column.values, column.words
        if isinstance(values, Strings):
            numbers, states = values.numbers(self.options.decimal)
            present = numbers[~np.isnan(numbers)]
            # The digits of long ids would be rounded, and what is infinite is no number.
            if not states.any() and (np.abs(present) <= LARGEST_COUNT).all():
                return _with_gaps(numbers, column)
            values, words = values.encoded()
        table = np.full(len(words or ()) + 1, np.nan)
        for place, text in enumerate(words or ()):
            number = float("nan") if text is None else self._number(text)
            if number is None:
                return None
            table[place] = number
        return _with_gaps(table[values], column)

    def _number(self, text: str) -> float | None:
        return float("nan") if text.strip() in self.missing else as_number(text, self.options)

    def _words(self, column: Column, places: Places) -> list[str | None]:
        if not column.is_text:
            raise refusal(places.path, f"{shown(self.name)} must hold texts; got {column.kind}.")
        missing = self.missing
        cells = column.tolist()
        return [None if cell is None or cell.strip() in missing else cell for cell in cells]


def _with_gaps(numbers: Array, column: Column) -> Array:
    if column.null is not None:
        numbers[column.null] = np.nan
    return numbers


def as_number(text: str, options: ReadingOptions) -> float | None:
    """Read a finite number, None if a text is something else.

    Whole numbers beyond 2⁵³ are something else: neighbours would become one number.
    """
    word = text.strip()
    if options.decimal == ",":
        if "." in word:
            return None
        word = word.replace(",", ".")
    if NUMBER.fullmatch(word) is None:
        return None
    number = float(word)
    if not np.isfinite(number):
        return None
    return None if abs(number) > LARGEST_COUNT and WHOLE.fullmatch(word) else number


def check_category(
    path: Path,
    name: str,
    codes: Codes,
    words: tuple[str, ...],
    options: ReadingOptions,
) -> None:
    """Refuse a column of words which are ids, texts, or numbers with a few strays."""
    numbers = [word for word in words if as_number(word, options) is not None]
    if len(numbers) > FEW and len(numbers) > len(words) / 2:
        raise _strays(path, name, codes, words, options)
    other = OTHER_MARK[options.decimal]
    marked = [word for word in words if _is_marked(word, other)]
    if len(marked) > FEW and len(marked) > len(words) / 2:
        raise refusal(
            path,
            f"{shown(name)} must hold numbers with the decimal mark {options.decimal!r}; "
            f"got {shown(marked[0])}. Use --decimal {other} if that is the decimal mark.",
        )
    if len(words) > max(MANY_CATEGORIES, UNLIKELY_SHARE * len(codes)):
        several = sum(len(word.split()) > 1 for word in words) > len(words) / 2
        what = "texts" if several else "ids"
        remedy = f"Use --text {name} for texts, or" if several else "Use"
        raise refusal(
            path,
            f"{shown(name)} must be a category; {len(words)} distinct values in {len(codes)} rows, "
            f"such as {shown(words[0])}, are probably {what}. {remedy} --drop {name} to leave it "
            f"out, or --categorical {name} if it is one.",
        )


def note_of_words(name: str, words: tuple[str, ...]) -> list[str]:
    """Say which words look as if they said that a value is missing."""
    return [
        f"{name}: {word.strip()!r} is a category of its own; --missing-values {word.strip()!r} "
        f"says that the value is missing."
        for word in words
        if word.strip() in MISSING_WORDS
    ]


def check_number_column(path: Path, name: str, values: Array) -> str | None:
    """Refuse what is named as an id and numbers the rows; give a note when only one is so."""
    present = values[~np.isnan(values)]
    if len(present) < len(values) or len(present) < 3 or (present != np.floor(present)).any():
        return None
    if name.strip().lower() in USUAL_NAMES["id"] and len(np.unique(present)) == len(present):
        raise refusal(
            path,
            f"{shown(name)} must be a feature; its {len(present)} whole numbers are all different, "
            f"and its name says that they are ids. Use --drop {name}, or rename it.",
        )
    if (np.diff(present) == 1).all():
        return (
            f"{name}: numbers the rows; if that is no feature, a learner can read from it in "
            f"which order the file was written. --drop {name} leaves it out."
        )
    return None


def check_target(
    path: Path, name: str, labels: tuple[str, ...], n: int, options: ReadingOptions
) -> None:
    """Refuse a target that is no set of classes."""
    if n < 2:
        raise refusal(path, f"must hold at least 2 examples; got {n}.")
    if len(labels) == 1:
        raise refusal(
            path,
            f"{shown(name)} must have at least two classes; all {n} examples are of "
            f"{shown(labels[0])}.",
        )
    if len(labels) <= 20:
        return
    numbers = [as_number(label, options) for label in labels]
    if any(number is not None and number != np.floor(number) for number in numbers) and all(
        number is not None for number in numbers
    ):
        raise refusal(
            path,
            f"{shown(name)} must hold classes; {len(labels)} distinct numbers such as "
            f"{shown(labels[0])} are a quantity. Cut it into classes, or choose another --target.",
        )
    if len(labels) > UNLIKELY_SHARE * n:
        raise refusal(
            path,
            f"{shown(name)} must hold classes; {len(labels)} distinct labels in {n} rows are too "
            f"many to learn. Was an id chosen? Choose another --target.",
        )


def _strays(
    path: Path,
    name: str,
    codes: Codes,
    words: tuple[str, ...],
    options: ReadingOptions,
) -> InputError:
    wrong = [code for code, word in enumerate(words) if as_number(word, options) is None]
    rows = np.flatnonzero(np.isin(codes, wrong))
    stray = words[codes[rows[0]]]
    return refusal(
        path,
        f"{shown(name)} must be a finite number, as in most rows; got {shown(stray)} "
        f"({len(rows)} such rows). Use --missing-values {stray.strip()!r} if it says that the "
        f"value is missing, or --categorical {name}.",
        f"row {rows[0] + 1}",
    )


def _is_marked(word: str, mark: str) -> bool:
    return mark in word and as_number(word, ReadingOptions(decimal=mark)) is not None
