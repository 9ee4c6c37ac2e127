"""The cells of one column, gathered block by block; whether they are numbers is seen on the way."""

import dataclasses
import re
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.checks import LARGEST_COUNT, shown
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.arrow_views import as_numpy
from truerisk.inputs.records.encoding import LabelEncoder, encode
from truerisk.inputs.records.numbers import as_floats
from truerisk.inputs.records.places import Places, refusal

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(r"[+-]?\d+")


class Cells:
    """The cells of one feature so far: numbers for as long as all are, else codes of a book.

    A column that turns out late to hold something else than numbers is `broken`: the file is then
    read again with that column as a category, so that nothing depends on how blocks were cut.
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
        self._codes: list[NDArray[np.int32]] = []
        self._numbers: list[Array] = []

    def add(self, array: Any, places: Places) -> None:  # noqa: ANN401
        """Take in the cells of one block."""
        if self.broken:
            return
        if self.is_text:
            self.texts += self._words(array, places)
            return
        if self.may_be_numbers:
            found = self._as_numbers(array, places)
            if found is not None:
                self._numbers.append(found)
                return
            self.may_be_numbers = False
            self.broken = bool(self._numbers)
            if self.broken:
                self._numbers = []
                return
        self._codes += encode([self._encoder], [array], places)

    def numbers(self) -> Array:
        """Give all numbers, NaN where a cell is missing."""
        return np.concatenate(self._numbers)

    def codes(self) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        """Give a code for each cell, −1 where it is missing, and the sorted words they stand for.

        Sorted, so that the order of the rows does not decide the order of the features.
        """
        found = np.concatenate(self._codes)
        met = self.book.texts
        words = sorted(word for word in met if word.strip() not in self.missing)
        place = {word: code for code, word in enumerate(words)}
        table = np.array([*(place.get(word, -1) for word in met), -1], np.int32)
        # Missing cells have negative codes of their own: all end at the last entry.
        return table[np.maximum(found, -1)], tuple(words)

    def _as_numbers(self, array: Any, places: Places) -> Array | None:  # noqa: ANN401
        kind = array.type
        if pa.types.is_dictionary(kind):
            return self._as_numbers(array.dictionary_decode(), places)
        if pa.types.is_boolean(kind):
            array = array.cast(pa.uint8())
            kind = array.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return self._parsed(array)
        if pa.types.is_nested(kind) or pa.types.is_temporal(kind) or pa.types.is_binary(kind):
            raise refusal(
                places.path,
                f"{shown(self.name)} must hold numbers or words; got {kind}. "
                f"Cast it, or leave it out with --drop.",
            )
        values = np.asarray(as_floats(array, self.name, places), np.float64)
        if np.isinf(values).any():
            row = int(np.argmax(np.isinf(values)))
            raise places.refusal(
                row, f"{shown(self.name)} must be a finite number; got {values[row]}."
            )
        return values

    def _parsed(self, array: Any) -> Array | None:  # noqa: ANN401
        if self.missing == {""} and self.options.decimal == "." and not array.null_count:
            try:
                values = np.array(as_numpy(array.cast(pa.float64())))
            except pa.ArrowInvalid:
                pass
            else:
                # Arrow takes "nan" and "inf" for numbers, and rounds the digits of long ids.
                if (np.abs(values) <= LARGEST_COUNT).all():
                    return values
        encoded = array.dictionary_encode()
        table = np.empty(len(encoded.dictionary) + 1)
        table[-1] = np.nan
        for place, text in enumerate(encoded.dictionary.to_pylist()):
            number = self._number(text)
            if number is None:
                return None
            table[place] = number
        indices = encoded.indices
        rows = as_numpy(indices.fill_null(-1) if indices.null_count else indices)
        return np.asarray(table[rows])

    def _number(self, text: str) -> float | None:
        return float("nan") if text.strip() in self.missing else as_number(text, self.options)

    def _words(self, array: Any, places: Places) -> list[str | None]:  # noqa: ANN401
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
            raise refusal(places.path, f"{shown(self.name)} must hold texts; got {array.type}.")
        cells: list[str | None] = array.to_pylist()
        missing = self.missing
        return [None if cell is None or cell.strip() in missing else cell for cell in cells]


def as_number(text: str, options: ReadingOptions) -> float | None:
    """Read a finite number, None if a text is something else.

    Whole numbers beyond 2⁵³ are something else: neighbours would become one number.

    Examples
    --------
    >>> as_number(" 1.5 ", ReadingOptions()), as_number("1,5", ReadingOptions(decimal=","))
    (1.5, 1.5)
    >>> as_number("nan", ReadingOptions()), as_number("12345678901234567890", ReadingOptions())
    (None, None)
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
