"""Columns → codes of a LabelBook, with work for each distinct value, not each row.

A column is first turned into *keys*, small integers that stand for its distinct values: the
indices of a dictionary, or integers less their minimum.  A table from keys to codes does the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Codes, Flags, Indices
from truerisk.checks import LARGEST_COUNT, shown
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.columns import Column, Floats, Strings
from truerisk.inputs.records.places import Places, refusal
from truerisk.kernels import counts as kernel
from truerisk.labels import Spelling

UNKNOWN, MISSING = -1, -2
FLOATING = {"halffloat", "float", "double"}
LARGEST_SHORT = 127
FIRST_ROWS = 1000
TABLE_RANGE = 2**20  # integers whose range is below this go through a table, others through a hash


@dataclass
class Keys:
    """One batch of a column: one key per row, one code per key, and which rows have no value.

    The key of a row is its value less `lowest`.  `at_once` are the codes of the rows, if the keys
    were found by looking them up.
    """

    values: NDArray[Any]
    codes: Codes
    text_of: Callable[[int], str]
    null: Flags | None
    lowest: int = 0
    at_once: Codes | None = None

    def looked_up(self, rows: int | None = None) -> Codes:
        """Give the codes of the first rows, or of all; negative where there is none (yet)."""
        codes = None
        if rows is None:
            codes, self.at_once = self.at_once, None
        if codes is None:
            codes = _look_up(self.values[:rows], self.lowest, self.codes)
        if codes is None:
            raise IndexError("Every key has its place in the table.")
        if self.null is not None:
            codes[self.null[:rows]] = MISSING
        return codes

    def keys_of(self, rows: Indices) -> Indices:
        """Give the keys of some rows."""
        return _signed(self.values[rows]) - _signed(np.array(self.lowest, self.values.dtype))


def _look_up(values: NDArray[Any], lowest: int, table: Codes) -> Codes | None:
    """Give the entry of the table at each value less `lowest`; None if one lies outside of it."""
    plain = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if plain.dtype == np.uint64:
        # Differences of unsigned numbers are those of their bits read as signed ones.
        plain, lowest = _signed(plain), int(_signed(np.array(lowest, np.uint64)))
    # Few labels are the rule, and codes of one byte take a quarter of the time of all that follows.
    kind = np.int8 if table.max(initial=0) <= LARGEST_SHORT else np.int32
    entries: NDArray[Any] = np.empty(len(plain), kind)
    outside = kernel.look_up(plain, lowest, table.astype(kind, copy=False), entries)
    return None if outside else entries


def _signed(values: NDArray[Any]) -> NDArray[np.int64]:
    """Give integers as int64; those beyond 2⁶³ turn negative."""
    return values.astype(np.int64)


class LabelEncoder:
    """Turns the batches of one label column into codes of a book."""

    def __init__(
        self, column: str, book: LabelBook, options: ReadingOptions, *, may_be_empty: bool
    ) -> None:
        self.column = column
        self.book = book
        self.options = options
        self.may_be_empty = may_be_empty
        # A cell of several labels is trimmed as a whole; its parts are spelt where it is split.
        self._spell = Spelling(strip=options.strip) if may_be_empty else options.spelling
        self.whole_floats = False
        self._words: Sequence[str | None] | None = None
        self._texts: list[str] = []
        self._word_codes: Codes = np.empty(0, np.int32)
        self._integer_codes: Codes = np.empty(0, np.int32)
        self._lowest = 0
        self._kind = ""

    def keys(self, column: Column, places: Places) -> Keys:
        """Prepare a batch; the book is not changed."""
        values = column.values
        if column.words is not None:
            return self._of_words(values, column.words, column.null)
        if isinstance(values, Strings):
            return self._of_words(*values.encoded(), column.null)
        if values.dtype.kind in "biu":
            return self._of_integers(values, column.null)
        if values.dtype.kind == "f" and values.ndim == 1 and column.kind in FLOATING:
            return self._of_integers(*self._whole(values, places))
        raise refusal(
            places.path,
            f"{shown(self.column)} must hold labels: text, integers or booleans; "
            f"got {column.kind}. Cast it to strings.",
        )

    def _of_words(
        self, keys: NDArray[Any], words: Sequence[str | None], null: Flags | None
    ) -> Keys:
        if self._words is None or self._words != words:
            self._words = words
            self._texts = ["" if text is None else text for text in words]
            if self._spell:
                self._texts = [self._spell(text) for text in self._texts]
            codes = np.array(self.book.find(self._texts, UNKNOWN), np.int32)
            if len(codes) == 0:
                codes = np.array([MISSING], np.int32)  # every row is null
            elif not self.may_be_empty:
                codes[[text == "" for text in self._texts]] = MISSING
            codes[[place for place, text in enumerate(words) if text is None]] = MISSING
            self._word_codes = codes
        return Keys(keys, self._word_codes, self._texts.__getitem__, null)

    def _of_integers(self, values: NDArray[Any], null: Flags | None) -> Keys:
        if values.dtype.kind == "b":
            self._range("bool", 0, 1)
            return Keys(
                values.view(np.uint8),
                self._integer_codes,
                lambda key: self._spell(str(bool(key))),
                null,
            )
        if null is None and len(values) and self._kind == str(values.dtype):
            # Most batches have the labels of those before: one pass looks them up, and sees it.
            codes = _look_up(values, self._lowest, self._integer_codes)
            if codes is not None:
                return self._integer_keys(values, null, codes)
        if null is not None and null.any():
            # A value that is there, and not zero: the range stays that of the column.
            values = np.where(null, values[int(np.argmin(null))], values)
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        if high - low >= TABLE_RANGE or not self._range(str(values.dtype), low, high):
            distinct, places = np.unique(values, return_inverse=True)
            return self._of_words(places, list(map(str, distinct.tolist())), null)
        return self._integer_keys(values, null)

    def _integer_keys(
        self, values: NDArray[Any], null: Flags | None, at_once: Codes | None = None
    ) -> Keys:
        lowest = self._lowest

        def text_of(key: int) -> str:
            return self._spell(str(key + lowest))

        return Keys(values, self._integer_codes, text_of, null, lowest, at_once)

    def _range(self, kind: str, low: int, high: int) -> bool:
        """Make the table reach from `low` to `high`, keeping what it knows; False if too far."""
        if self._kind != kind:
            self._kind, self._lowest, self._integer_codes = kind, low, np.empty(0, np.int32)
        old = self._integer_codes
        highest = self._lowest + len(old) - 1
        if self._lowest <= low and high <= highest:
            return True
        low, high = min(low, self._lowest), max(high, highest)
        if high - low >= TABLE_RANGE:
            return False
        codes = np.full(high - low + 1, UNKNOWN, np.int32)
        codes[self._lowest - low : self._lowest - low + len(old)] = old
        self._integer_codes, self._lowest = codes, low
        return True

    def _whole(self, values: Floats, places: Places) -> tuple[NDArray[np.int64], Flags]:
        missing = np.isnan(values)
        whole = np.where(missing, 0.0, values).astype(np.float64)
        wrong = (np.floor(whole) != whole) | (np.abs(whole) > LARGEST_COUNT)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise places.refusal(
                row,
                f"{shown(self.column)} must hold labels; got the number "
                f"{shown(values[row].item())}. Use --score if these are scores; otherwise cast the "
                "column to integers or strings.",
            )
        self.whole_floats = True
        return whole.astype(np.int64), missing


def encode(
    encoders: Sequence[LabelEncoder], columns: Sequence[Column], places: Places
) -> tuple[Codes, ...]:
    """Give the codes of columns that share one book; MISSING where there is no label.

    New labels enter the book row by row, in a row in the order of the columns: codes do
    not depend on how the rows were cut into batches.
    """
    prepared = [
        encoder.keys(column, places) for encoder, column in zip(encoders, columns, strict=True)
    ]
    # Most labels are among the first rows: the others are then looked up once.
    if _enter_new(encoders, prepared, [keys.looked_up(FIRST_ROWS) for keys in prepared], places):
        for keys in prepared:
            keys.at_once = None
    codes = tuple(keys.looked_up() for keys in prepared)
    if _enter_new(encoders, prepared, codes, places):
        codes = tuple(keys.looked_up() for keys in prepared)
    return codes


def _enter_new(
    encoders: Sequence[LabelEncoder],
    prepared: Sequence[Keys],
    looked_up: Sequence[Codes],
    places: Places,
) -> bool:
    """Give codes to the labels of these rows that have none; return whether there are any."""
    new: list[tuple[int, int, int]] = []
    for place, codes in enumerate(looked_up):
        if len(codes) and codes.min() < 0:
            rows = np.flatnonzero(codes == UNKNOWN)
            # Of several writes to one place the last stays: written backwards, the first row.
            first_row = np.full(len(prepared[place].codes), -1)
            first_row[prepared[place].keys_of(rows[::-1])] = rows[::-1]
            keys_met = np.flatnonzero(first_row >= 0).tolist()
            new += [(int(first_row[key]), place, key) for key in keys_met]
    for row, place, key in sorted(new):
        encoder, keys = encoders[place], prepared[place]
        keys.codes[key] = encoder.book.add(keys.text_of(key))
        if len(encoder.book) > encoder.options.max_labels:
            raise places.refusal(
                row,
                f"{shown(encoder.column)} must have at most {encoder.options.max_labels} distinct "
                f"labels. Was an id or a score chosen? Otherwise raise --max-labels.",
            )
    return bool(new)
