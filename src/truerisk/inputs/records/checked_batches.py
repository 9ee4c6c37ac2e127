"""Rows as they were read → checked batches of predictions; ids are compared by their hashes.

Rows that may not stay are refused, or dropped when that is allowed.  Ids must be unique: that is
seen by 64-bit hashes, 8 bytes per row, and confirmed by the ids themselves.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from truerisk.aliases import Codes, Flags
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.labels import LabelBook, LabelColumn
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.columns import (
    Floats,
    Hashes,
    Strings,
    as_floats,
    as_strings,
    as_values,
)
from truerisk.inputs.records.encoding import MISSING, LabelEncoder, encode
from truerisk.inputs.records.places import such_rows
from truerisk.inputs.records.rows import Batch, Rows
from truerisk.inputs.roles import ResolvedRoles

EXAMPLES = 3
CONFIRMED = 1000


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
        numbers = {name: self._numbers(rows, name, missing) for name in self.roles.number_columns}
        ids = self._ids(rows, missing)
        keep = self._staying(rows, missing)
        if keep is not None:
            codes = {name: column[keep] for name, column in codes.items()}
            numbers = {name: column[keep] for name, column in numbers.items()}
            ids = ids[keep] if ids is not None else None
        self._check_infinite(rows, numbers, keep)
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

    def _numbers(self, rows: Rows, name: str, missing: dict[str, Flags]) -> Floats:
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
        if not _all_finite(values):
            nan = np.isnan(values)
            if nan.any():
                missing[name] = _by_row(nan)
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
                "Use --missing drop to leave such rows out.",
            )
        for name, mask in missing.items():
            self.dropped[name] += int(mask.sum())
        keep: Flags = ~np.logical_or.reduce(list(missing.values()))
        return keep

    def _check_infinite(self, rows: Rows, numbers: dict[str, Floats], keep: Flags | None) -> None:
        for name in self.roles.score_columns:
            if self.options.allow_inf or _all_finite(numbers[name]):
                continue
            wrong = _by_row(np.isinf(numbers[name]))
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
