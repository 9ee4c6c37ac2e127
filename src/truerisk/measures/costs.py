"""What each kind of mistake costs: a K × K table, rows truth, columns predicted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.tallies.cells import Cells

OUTCOMES = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True)
class CostMatrix:
    """The cost of each (true, predicted) pair of labels."""

    labels: tuple[str, ...]
    values: Array

    @classmethod
    def of(cls, costs: Any, labels: Sequence[str], pos_label: str | None) -> "CostMatrix":
        """Read costs given by outcome (`{"fp": 1, "fn": 5}`), by label pair, or as a table.

        Pairs are `{(true, predicted): cost}`; what is not named costs 0.
        """
        names = tuple(labels)
        if isinstance(costs, CostMatrix):
            return costs
        if isinstance(costs, Mapping) and set(costs) <= set(OUTCOMES):
            return cls(names, _by_outcome(costs, names, pos_label))
        if isinstance(costs, Mapping):
            return cls(names, _by_pair(costs, names))
        table = np.asarray(costs, dtype=np.float64)
        if table.shape != (len(names), len(names)):
            raise InputError(
                f"`costs` must be a {len(names)} × {len(names)} table, rows truth and columns "
                f"predicted, in the order {', '.join(names)}; got shape {table.shape}."
            )
        return cls(names, _finite(table))

    @property
    def measure_range(self) -> tuple[float, float]:
        """The least and the most that one example can cost."""
        return float(self.values.min()), float(self.values.max())

    def of_cells(self, cells: Cells) -> Array:
        """Give the cost of each cell."""
        if cells.multilabel:
            raise InputError(
                "`costs` must not be given for sets of labels: cells have no one cost."
            )
        place = [self.labels.index(label) for label in cells.labels]
        table = self.values[np.ix_(place, place)]
        return np.asarray(table[cells.codes])


def _by_outcome(
    costs: Mapping[str, float], labels: tuple[str, ...], pos_label: str | None
) -> Array:
    if len(labels) > 2 or pos_label is None:
        raise InputError(
            f"`costs` must be given by pairs of labels when there are {len(labels)} classes; "
            f"got {shown(dict(costs))}."
        )
    table = np.zeros((len(labels), len(labels)))
    for row, truth in enumerate(labels):
        for column, predicted in enumerate(labels):
            right = "t" if truth == predicted else "f"
            called = "p" if predicted == pos_label else "n"
            table[row, column] = costs.get(right + called, 0.0)
    return _finite(table)


def _by_pair(costs: Mapping[Any, float], labels: tuple[str, ...]) -> Array:
    table = np.zeros((len(labels), len(labels)))
    for pair, value in costs.items():
        known = isinstance(pair, tuple) and len(pair) == 2 and {str(x) for x in pair} <= set(labels)
        if not known:
            raise InputError(
                f"`costs` must name outcomes ({', '.join(OUTCOMES)}) or pairs of the labels "
                f"{', '.join(labels)}; got {shown(pair)}."
            )
        table[labels.index(str(pair[0])), labels.index(str(pair[1]))] = value
    return _finite(table)


def _finite(table: Array) -> Array:
    if not np.isfinite(table).all():
        raise InputError("`costs` must be finite numbers; got NaN or an infinity.")
    return table
