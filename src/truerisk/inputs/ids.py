"""Ids must be unique: told by 64-bit hashes, 8 bytes a row, and confirmed by the ids themselves."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.records.arrow_views import as_numpy, filled
from truerisk.inputs.records.rows import Rows

Hashes = NDArray[np.uint64]
WORD = 8
EXAMPLES = 3
CONFIRMED = 1000
# Multipliers of the finaliser of MurmurHash3, which is a bijection of 64-bit integers.
FIRST, SECOND, START = (
    np.uint64(0xFF51AFD7ED558CCD),
    np.uint64(0xC4CEB9FE1A85EC53),
    np.uint64(0x9E3779B97F4A7C15),
)


def hashes(ids: Any) -> Hashes:  # noqa: ANN401
    """Hash Arrow large strings without nulls, eight bytes at a time for all rows together."""
    _, offset_buffer, data = ids.buffers()
    ends = np.frombuffer(offset_buffer, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    starts, lengths = ends[:-1], np.diff(ends)
    text = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    text = np.concatenate([text[: ends[-1]], np.zeros(WORD, np.uint8)])
    words = as_strided(text.view(np.uint8), (len(text) - WORD + 1, WORD), (1, 1))
    result: Hashes = lengths.astype(np.uint64) * START
    for position in range(0, int(lengths.max(initial=0)), WORD):
        left = np.flatnonzero(lengths > position)
        # A copy of eight bytes a row; the bytes beyond the end of an id count as zero.
        chunk = words[starts[left] + position].copy()
        over = np.arange(WORD) >= (lengths[left] - position)[:, None]
        chunk[over] = 0
        result[left] = _mixed(result[left] ^ chunk.view(np.uint64)[:, 0])
    return _mixed(result)


def _mixed(values: Hashes) -> Hashes:
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(33))) * FIRST
        values = (values ^ (values >> np.uint64(33))) * SECOND
        return values ^ (values >> np.uint64(33)) ^ (START >> np.uint64(1))


def as_text(rows: Rows, name: str) -> Any:  # noqa: ANN401
    """Give a column of ids as Arrow strings."""
    array = rows.columns[name]
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type) or pa.types.is_nested(array.type):
        raise rows.places.refusal(
            0,
            f"{shown(name)} must hold ids, text or integers; got {array.type}. "
            f"Cast it where it is written: digits may already be lost.",
        )
    return array.cast(pa.large_string())


def is_empty(ids: Any) -> NDArray[np.bool_]:  # noqa: ANN401
    """Tell which rows have no id."""
    from pyarrow import compute  # noqa: PLC0415  (costs start-up time)

    lengths = as_numpy(filled(compute.binary_length(ids), 0))
    return np.asarray(lengths == 0)


class UniqueIds:
    """Collects the hashes of ids as they pass, and refuses them at the end if one came twice.

    Equal hashes are only a suspicion (one among 10⁸ distinct ids by chance about once in 4,000
    sources): `check` reads the ids again and compares their texts before it refuses.
    """

    def __init__(self) -> None:
        self._parts: list[Hashes] = []

    def add(self, ids: Any) -> None:  # noqa: ANN401
        """Take in the ids of one batch."""
        if len(ids):
            self._parts.append(hashes(ids))

    def check(self, column: str, again: Callable[[], Iterator[tuple[str, int, Any]]]) -> None:
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
        found: list[str] = []
        for file, first_row, ids in again():
            for row in np.flatnonzero(np.isin(hashes(ids), suspects)).tolist():
                text = ids[row].as_py()
                place = f"row {first_row + row} of {file}"
                if text in seen and len(found) < EXAMPLES:
                    found.append(f"{shown(text)} in {seen[text]} and {place}")
                seen.setdefault(text, place)
        if found:
            raise InputError(
                f"{shown(column)} must name each example once; {len(twice)} rows repeat an id: "
                f"{'; '.join(found)}. Rows of one patient or document are a --group; "
                f"--id '' leaves the ids aside."
            )
