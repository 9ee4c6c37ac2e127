"""Tallies of parts that numbered their labels on their own → codes that all parts share."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerisk.evaluation.prediction_tally import MADE_CODES, PredictionTally
from truerisk.tallies.cells import CODE_BITS, CellTally, cell_code

LOWEST_BITS = 2**CODE_BITS - 1


def merge_recoded(
    whole: PredictionTally, part: PredictionTally, labels: Sequence[int], groups: Sequence[int]
) -> PredictionTally:
    """Add to a tally what another one has seen; return the tally.

    Parameters
    ----------
    whole
        The tally that grows.
    part
        The one that is added; it must not be used afterwards.
    labels, groups
        The code in `whole` of each code in `part`.

    Examples
    --------
    >>> from truerisk.evaluation.prediction_tally import Columns
    >>> from truerisk.evaluation.request import Request
    >>> whole, part = PredictionTally(Request()), PredictionTally(Request())
    >>> truth = np.array([0, 0, 1])
    >>> _ = whole.add(Columns(truth, [("cat",), ("dog",)], predicted=truth))
    >>> _ = part.add(Columns(truth, [("dog",), ("cat",)], predicted=truth))
    >>> merged = merge_recoded(whole, part, labels=[1, 0], groups=[])
    >>> merged.cells.codes(), sorted(merged.cells.counts.values())
    ({0, 1}, [3, 3])
    """
    codes = dict(enumerate(labels))
    for label_set, code in part.made.items():
        codes[code] = whole.made.setdefault(label_set, _next_made(whole))
    new_group = np.asarray(groups, dtype=np.int64)
    recoded = replace(
        part,
        made=whole.made,
        truth_codes={codes[code] for code in part.truth_codes},
        cells=None if part.cells is None else _recoded_cells(part.cells, codes, groups),
        grouped_rows={
            name: [replace(one, group=new_group[one.group]) for one in rows]
            for name, rows in part.grouped_rows.items()
        },
    )
    return whole.merge(recoded)


def _next_made(tally: PredictionTally) -> int:
    return MADE_CODES + len(tally.made)


def _recoded_cells(cells: CellTally, codes: dict[int, int], groups: Sequence[int]) -> CellTally:
    def pair(old: int) -> int:
        return cell_code(codes[old >> CODE_BITS], codes[old & LOWEST_BITS])

    def crossed(counter: Counter[tuple[int, int]]) -> Counter[tuple[int, int]]:
        return Counter({(groups[group], pair(old)): n for (group, old), n in counter.items()})

    return replace(
        cells,
        counts=Counter({pair(old): n for old, n in cells.counts.items()}),
        units=Counter({pair(old): n for old, n in cells.units.items()}),
        square_units=Counter({pair(old): n for old, n in cells.square_units.items()}),
        group_counts=crossed(cells.group_counts),
        group_units=crossed(cells.group_units),
    )
