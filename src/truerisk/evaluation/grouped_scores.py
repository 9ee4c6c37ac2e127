"""The scored rows of grouped examples: what their ranking is resampled from, group by group."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class GroupedScores:
    """Scores, whether the rows are positive, and the group that each row belongs to."""

    score: NDArray[Any]
    is_positive: NDArray[np.bool_]
    group: NDArray[Any]
    weight: NDArray[np.float64] | None


def joined(parts: Sequence[GroupedScores]) -> GroupedScores:
    """Put the rows of several batches together, their groups numbered by content."""
    weights = [part.weight for part in parts if part.weight is not None]
    rows = GroupedScores(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.is_positive for part in parts]),
        np.concatenate([part.group for part in parts]),
        np.concatenate(weights) if weights else None,
    )
    return replace(rows, group=_numbered_by_content(rows))


def _numbered_by_content(rows: GroupedScores) -> NDArray[np.intp]:
    """Give each group a number that depends on what is in it, not on the order of the rows."""
    keys = [rows.score.astype(np.float64), rows.is_positive]
    keys += [] if rows.weight is None else [rows.weight]
    ranks = np.unique(np.column_stack(keys), axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((ranks, rows.group))
    members = np.split(order, np.flatnonzero(np.diff(rows.group[order])) + 1)
    numbers = np.empty(len(ranks), dtype=np.intp)
    for number, one in enumerate(sorted(members, key=lambda rows_of: ranks[rows_of].tolist())):
        numbers[one] = number
    return numbers
