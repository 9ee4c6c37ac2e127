"""Rows as they were read → checked batches of predictions, labels as codes of a LabelBook.

A column is first turned into *keys*, small integers that stand for its distinct values: the
indices of a dictionary, or integers less their minimum.  A table from keys to codes does the rest.
Rows that may not stay are refused, or dropped when that is allowed.  Ids must be unique: that is
seen by 64-bit hashes, 8 bytes per row, and confirmed by the ids themselves.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Codes, Flags, Indices
from truerisk.checks import LARGEST_COUNT, shown
from truerisk.errors import InputError
from truerisk.inputs.labels import LabelBook, LabelColumn
from truerisk.inputs.options import DROP, ReadingOptions
from truerisk.inputs.records.places import Places, refusal, such_rows
from truerisk.inputs.records.rows import (
    Batch,
    Column,
    Floats,
    Hashes,
    Rows,
    Strings,
    as_floats,
    as_strings,
    as_values,
)
from truerisk.inputs.roles import ResolvedRoles
from truerisk.kernels import counts as kernel
from truerisk.labels import Spelling

UNKNOWN, MISSING = -1, -2
FLOATING = {"halffloat", "float", "double"}
LARGEST_SHORT = 127
FIRST_ROWS = 1000
TABLE_RANGE = 2**20  # integers whose range is below this go through a table, others through a hash
EXAMPLES = 3
CONFIRMED = 1000


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


class BatchMaker:
    """Turns rows as they were read into checked batches; one for all files of a source."""

    def __init__(
        self, roles: ResolvedRoles, options: ReadingOptions, labels: LabelBook, groups: LabelBook
    ) -> None:
        self.roles = roles
        self.options = options
        self.dropped: Counter[str] = Counter()
        several = options.multilabel_separator is not None
        self.labels = tuple(
            LabelEncoder(name, labels, options, may_be_empty=several)
            for name in (roles.truth, roles.pred, roles.correct)
            if name is not None
        )
        # Groups may be as many as rows; only labels are few.
        unlimited = replace(options, max_labels=2**31, numeric_labels=False, label_map={})
        self.groups = tuple(
            LabelEncoder(name, groups, unlimited, may_be_empty=False)
            for name in (roles.group,)
            if name is not None
        )
        self._score_width: int | None = None

    def batch(self, rows: Rows) -> tuple[Batch, int]:
        """Give the checked batch, and how many rows were dropped from it."""
        missing: dict[str, Flags] = {}
        codes = self._codes(rows, missing)
        numbers = {name: self._numbers(rows, name) for name in self.roles.number_columns}
        unusual = [name for name, column in numbers.items() if not _all_finite(column)]
        for name in unusual:
            nan = np.isnan(numbers[name])
            if nan.any():
                missing[name] = _by_row(nan)
        ids = self._ids(rows, missing)
        keep = self._staying(rows, missing)
        if keep is not None:
            codes = {name: column[keep] for name, column in codes.items()}
            numbers = {name: column[keep] for name, column in numbers.items()}
            ids = ids[keep] if ids is not None else None
        self._check_infinite(rows, {name: numbers[name] for name in unusual}, keep)
        self._check_weight(rows, numbers, keep)

        def labels(name: str | None, encoders: tuple[LabelEncoder, ...]) -> LabelColumn | None:
            return None if name is None else LabelColumn(codes[name], encoders[0].book)

        roles = self.roles
        weight = None if roles.weight is None else numbers[roles.weight].astype(np.float64)
        batch = Batch(
            file=str(rows.places.path),
            first_row=rows.first_row,
            truth=labels(roles.truth, self.labels),
            pred=labels(roles.pred or roles.correct, self.labels),
            score=self._score(numbers),
            group=labels(roles.group, self.groups),
            weight=weight,
            ids=ids,
            by={
                name: as_values(rows.columns[name])[... if keep is None else keep]
                for name in roles.by
            },
        )
        return batch, 0 if keep is None else rows.count - int(keep.sum())

    def _codes(self, rows: Rows, missing: dict[str, Flags]) -> dict[str, Codes]:
        by_column: dict[str, Codes] = {}
        for encoders in (self.labels, self.groups):
            if not encoders:
                continue
            labels = [rows.columns[encoder.column] for encoder in encoders]
            columns = encode(encoders, labels, rows.places)
            for encoder, codes in zip(encoders, columns, strict=True):
                by_column[encoder.column] = codes
                if len(codes) and codes.min() < 0:
                    missing[encoder.column] = codes == MISSING
        return by_column

    def _numbers(self, rows: Rows, name: str) -> Floats:
        values = as_floats(rows.columns[name], name, rows.places)
        if values.ndim == 2:
            if self._score_width is None:
                self._score_width = values.shape[1]
            if values.shape[1] != self._score_width or name not in self.roles.score_columns:
                raise rows.places.refusal(
                    0,
                    f"{shown(name)} must hold {self._score_width} numbers per row, as before; "
                    f"got {values.shape[1]}.",
                )
        return values

    def _ids(self, rows: Rows, missing: dict[str, Flags]) -> Strings | None:
        name = self.roles.id
        if name is None:
            return None
        ids, empty = as_strings(rows.columns[name], name, rows.places)
        if empty.any():
            missing[name] = empty
        return ids

    def _staying(self, rows: Rows, missing: dict[str, Flags]) -> Flags | None:
        if not missing:
            return None
        if self.options.missing == "refuse":
            name = min(missing, key=lambda column: int(np.argmax(missing[column])))
            line = rows.places.text(int(np.argmax(missing[name])))
            inside = "" if line is None else f" in the line {shown(line)}"
            raise self._refused(
                rows,
                missing[name],
                f"{shown(name)} must have a value in every row; got none{inside}",
                f"{DROP} to leave such rows out.",
            )
        for name, mask in missing.items():
            self.dropped[name] += int(mask.sum())
        keep: Flags = ~np.logical_or.reduce(list(missing.values()))
        return keep

    def _check_infinite(self, rows: Rows, numbers: dict[str, Floats], keep: Flags | None) -> None:
        for name, column in numbers.items():
            allowed = self.options.allow_inf or name not in self.roles.score_columns
            if allowed or _all_finite(column):
                continue
            wrong = _by_row(np.isinf(column))
            raise self._refused(
                rows,
                _spread(wrong, keep),
                f"{shown(name)} must be finite; got an infinite score",
                "Use --allow-inf where only the order of the scores counts.",
            )

    def _check_weight(self, rows: Rows, numbers: dict[str, Floats], keep: Flags | None) -> None:
        name = self.roles.weight
        if name is None:
            return
        values = numbers[name]
        wrong = (values < 0) | np.isinf(values)
        if wrong.any():
            got = shown(values[int(np.argmax(wrong))].item())
            raise self._refused(
                rows,
                _spread(wrong, keep),
                f"{shown(name)} must be a weight, finite and not negative; got {got}",
                "Choose the weights with --weight.",
            )

    @staticmethod
    def _refused(rows: Rows, wrong: Flags, sentence: str, remedy: str) -> Exception:
        many = such_rows(int(wrong.sum()), rows.last_row)
        return rows.places.refusal(int(np.argmax(wrong)), f"{sentence}{many}. {remedy}")

    def _score(self, numbers: dict[str, Floats]) -> Floats | None:
        columns = [numbers[name] for name in self.roles.score_columns]
        if isinstance(self.roles.score, tuple):
            table: Floats = np.stack(columns, axis=1).astype(np.result_type(*columns), copy=False)
            return table
        return columns[0] if columns else None


def _all_finite(values: Floats) -> bool:
    """Return whether no value is NaN or infinite; no array is made for it."""
    return bool(np.isfinite(values.min(initial=0)) and np.isfinite(values.max(initial=0)))


def _by_row(mask: Flags) -> Flags:
    """Return which rows have it in any of their columns."""
    return np.asarray(mask.any(axis=1)) if mask.ndim == 2 else mask


def _spread(wrong: Flags, keep: Flags | None) -> Flags:
    """Put a mask of the rows that stay back among all rows."""
    if keep is None:
        return wrong
    full = np.zeros(len(keep), bool)
    full[keep] = wrong
    return full


class UniqueIds:
    """Collects the hashes of ids as they pass, and refuses them at the end if one came twice.

    Equal hashes are only a suspicion (one among 10⁸ distinct ids by chance about once in 4,000
    sources): `check` reads the ids again and compares their texts before it refuses.
    """

    def __init__(self) -> None:
        self._parts: list[Hashes] = []

    def add(self, ids: Strings) -> None:
        """Take in the ids of one batch."""
        if len(ids):
            self._parts.append(ids.hashes())

    def check(self, column: str, again: Callable[[], Iterator[tuple[str, int, Strings]]]) -> None:
        """Refuse ids that came twice; `again` reads (file, first row, ids) once more."""
        if not self._parts:
            return
        everything = np.concatenate(self._parts)
        self._parts = []
        everything.sort()
        twice = everything[1:][everything[1:] == everything[:-1]]
        if not len(twice):
            return
        suspects = np.unique(twice)[:CONFIRMED]
        seen: dict[str, str] = {}
        repeated: list[str] = []
        for file, first_row, ids in again():
            for row in np.flatnonzero(np.isin(ids.hashes(), suspects)).tolist():
                text = ids.text(row)
                place = f"row {first_row + row} of {file}"
                if text in seen and len(repeated) < EXAMPLES:
                    repeated.append(f"{shown(text)} in {seen[text]} and {place}")
                seen.setdefault(text, place)
        if repeated:
            raise InputError(
                f"{shown(column)} must name each example once; {len(twice)} rows repeat an id: "
                f"{'; '.join(repeated)}. Rows of one patient or document are a --group; "
                f"--id '' leaves the ids aside."
            )
