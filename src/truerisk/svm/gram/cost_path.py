"""The solutions of a SVM on a Gram matrix for many costs, exactly.

Problem   as in `dual`, with the bounds U = C·weight, for a list of costs C
Given     K, the labels, the weights and the costs
Link      z and b are piecewise linear in C: between two costs all bounds move linearly, and the
          path passes every breakpoint on the way
Returns   a solution for each cost; its `passes` is the number of breakpoints since the one before
Source    Hastie, Rosset, Tibshirani and Zhu, "The entire regularization path for the support
          vector machine", JMLR 5 (2004), 1391-1415
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerisk.aliases import Array
from truerisk.svm.gram.dual import EVENTS_PER_EXAMPLE, MAX_FREE, begin, finished, solve_gram
from truerisk.svm.gram.path import (
    ARRIVED,
    EVENTS,
    LOWER,
    LOWER_RATE,
    UPPER,
    UPPER_RATE,
    Path,
    Z,
    follow,
    gradient_of,
    restart_at,
    start_at,
)
from truerisk.svm.solution import Solution

DRIFTED = 1e-9  # a gap that long paths add up to, and at which the next one starts afresh


def cost_path(
    gram: Array,
    y: Array,
    weights: Array,
    costs: Sequence[float],
    *,
    tolerance: float = 1e-6,
) -> list[Solution]:
    """Solve the SVM for each cost, by following the exact path from the smallest one up.

    Every gap is at most `tolerance`; where the path fails the SVM is solved anew.
    """
    gram = np.ascontiguousarray(gram, np.float64)
    y, weights = np.asarray(y, np.float64), np.asarray(weights, np.float64)
    order = np.argsort(costs, kind="stable")
    solutions: dict[int, Solution] = {}
    latest: Solution | None = None
    path: Path | None = None
    for place in order:
        upper = costs[place] * weights
        moved = None if path is None or latest is None else move(path, latest, upper)
        path, latest = moved if moved is not None else (None, None)
        if latest is None or latest.gap > min(tolerance, DRIFTED):
            passed = None if latest is None else latest.passes
            latest = solve_gram(gram, y, upper, tolerance=tolerance, start=latest)
            latest = latest if passed is None else replace(latest, passes=passed)
            path = start_of(gram, latest)
        solutions[int(place)] = latest
    return [solutions[place] for place in range(len(costs))]


def start_of(gram: Array, solution: Solution, max_free: int = MAX_FREE) -> Path | None:
    """Return a path that starts at the solution, made exact if it is not.

    None where it cannot be, or where that costs more than it saves.
    """
    if np.count_nonzero(solution.free) > max_free:
        return None
    dual = begin(gram, solution.y, solution.upper, solution)
    path, verdict = follow(start_at(dual), EVENTS_PER_EXAMPLE * len(solution.y))
    if verdict != ARRIVED:
        return None
    restart_at(path, dual.lower, dual.upper)
    return path


def move(path: Path, solution: Solution, upper: Array) -> tuple[Path, Solution] | None:
    """Follow the path on which the bounds go to `upper`; None if it fails on its way."""
    y = solution.y
    after = begin(path.gram, y, upper, None)
    path.rows[LOWER_RATE] = after.lower - path.rows[LOWER]
    path.rows[UPPER_RATE] = after.upper - path.rows[UPPER]
    path, verdict = follow(path, EVENTS_PER_EXAMPLE * len(y))
    if verdict != ARRIVED:
        return None
    events = int(path.at[EVENTS]) - 1  # the last one is the end
    restart_at(path, after.lower, after.upper)
    z = path.rows[Z].copy()
    dual = after._replace(z=z, gradient=gradient_of(path.gram, y, z))
    return path, finished(dual, y, upper, events)
