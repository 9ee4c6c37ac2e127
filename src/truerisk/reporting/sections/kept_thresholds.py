"""Which of many thresholds a page keeps: so few, and none of the best ones left out."""

import numpy as np

from truerisk.aliases import Indices
from truerisk.measures.curves import upper_hull
from truerisk.measures.thresholds import Sweep

MAX_THRESHOLDS = 1000


def kept_rows(table: Sweep, always: list[int]) -> Indices:
    """Choose at most 1,000 rows of a sweep: all, or evenly many by what is found, and the best.

    Kept in any case are the first and the last row, the corners of the convex hull of the ROC
    curve (whatever the costs, one of them is cheapest), and those asked for.  A hull of more
    corners than there is room for is thinned evenly.

    Examples
    --------
    >>> from truerisk.measures.thresholds import sweep
    >>> from truerisk.tallies.ranking import rank
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.3
    >>> table = sweep(rank(rng.normal(size=5000) + truth, truth))
    >>> len(table), len(kept_rows(table, [7])), 7 in kept_rows(table, [7])
    (5001, 1000, True)
    """
    n = len(table)
    if n <= MAX_THRESHOLDS:
        return np.arange(n)
    first = np.unique([0, n - 1, *always])
    hull = _hull(table)
    room = MAX_THRESHOLDS - len(first)
    if len(hull) > room:
        hull = hull[np.linspace(0, len(hull) - 1, room).round().astype(np.intp)]
    chosen = np.union1d(first, hull)
    # As many steps as fit: rows that are chosen twice leave room for further ones.
    few, many = 0, MAX_THRESHOLDS
    while few < many:
        steps = (few + many + 1) // 2
        if len(np.union1d(chosen, _even(table, steps))) <= MAX_THRESHOLDS:
            few = steps
        else:
            many = steps - 1
    return np.union1d(chosen, _even(table, few))


def _even(table: Sweep, steps: int) -> Indices:
    """Give the rows that find so many equal parts of the positives, and of the negatives."""
    rows = [
        np.searchsorted(found, np.linspace(0, float(found[-1]), steps))
        for found in (table.tp, table.fp)
    ]
    return np.unique(np.concatenate(rows)).clip(max=len(table) - 1)


def _hull(table: Sweep) -> Indices:
    """Give the corners of the convex hull of the ROC curve, above and below it."""
    x, y = table.fp.astype(np.float64), table.tp.astype(np.float64)
    return np.union1d(upper_hull(x, y), upper_hull(x, -y))
