"""The SVM on a Gram matrix, exactly.

Problem   max  Σᵢ αᵢ − ½ Σᵢⱼ αᵢαⱼyᵢyⱼKᵢⱼ   with  0 ≤ αᵢ ≤ Uᵢ  and  Σᵢ yᵢαᵢ = 0
Given     K, the labels ±1 and the bounds U; one may be 0, which leaves that example out
Returns   a `Solution`; its gap says how exact it is
Source    sequential minimal optimisation to a rough gap, then a parametric active set to the exact
          optimum (`path`), then again the first if the second fails
"""

import numpy as np

from truerisk.aliases import Array
from truerisk.kernels import gram as kernel
from truerisk.svm.gram.path import (
    ARRIVED,
    EVENTS,
    ROUNDING,
    Dual,
    Path,
    Z,
    end_of,
    follow,
    gradient_of,
    spread,
    start_at,
)
from truerisk.svm.solution import Solution, settled

ROUGH = 1e-3  # gap at which the active set takes over
ROUGH_STEPS = 5  # for every example, after which it takes over anyway
MIN_CURVATURE = 1e-12  # beside the largest K(x, x)
MAX_FREE = 1500  # more free examples than this make the active set dearer than small steps
STEPS_PER_EXAMPLE = 10_000
EVENTS_PER_EXAMPLE = 20
PATHS = 4  # of which each mends what rounding did to the one before
EXACT = 1e-10  # a gap that no further path is taken for


def solve_gram(
    gram: Array,
    y: Array,
    upper: Array,
    *,
    tolerance: float = 1e-6,
    start: Solution | None = None,
    max_passes: int | None = None,
) -> Solution:
    """Solve one soft-margin problem with a free bias on a symmetric Gram matrix.

    The gap is at most `tolerance` unless `max_passes` steps or rounding in K stand in the way.  An
    indefinite K ends where no pair of examples improves.
    Sources: R.-E. Fan, P.-H. Chen and C.-J. Lin, JMLR 6, 1889-1918, 2005; G. Cauwenberghs and
    T. Poggio, NIPS 2000, 409-415.
    """
    solution, _ = solve_with_path(
        gram, y, upper, tolerance=tolerance, start=start, max_passes=max_passes
    )
    return solution


def solve_with_path(
    gram: Array,
    y: Array,
    upper: Array,
    *,
    tolerance: float = 1e-6,
    start: Solution | None = None,
    max_passes: int | None = None,
) -> tuple[Solution, Path | None]:
    """Solve the same, and return the path at its end, if one led straight to the solution."""
    gram = np.ascontiguousarray(gram, np.float64)
    y = np.ascontiguousarray(y, np.float64)
    upper = np.ascontiguousarray(upper, np.float64)
    most = STEPS_PER_EXAMPLE * len(y) if max_passes is None else max_passes
    dual = begin(gram, y, upper, start)
    floor = MIN_CURVATURE * spread(gram)
    steps, _, _ = kernel.improve(
        dual, floor, max(ROUGH, tolerance), min(most, ROUGH_STEPS * len(y))
    )
    events, dual, path = polished(dual, y)
    steps += events
    _, gap = kernel.bias_and_gap(dual)
    while gap > tolerance and steps < most:
        taken, _, _ = kernel.improve(dual, floor, tolerance, most - steps)
        steps, path = steps + taken, None
        dual = dual._replace(gradient=gradient_of(gram, y, dual.z))
        _, gap = kernel.bias_and_gap(dual)
        if taken == 0:
            break
    return finished(dual, y, upper, steps), path


def begin(gram: Array, y: Array, upper: Array, start: Solution | None) -> Dual:
    """Make a feasible start, and compute its gradient."""
    lower, higher, z = feasible(y, upper, start)
    diagonal = np.ascontiguousarray(np.diagonal(gram))
    return Dual(gram, diagonal, lower, higher, z, gradient_of(gram, y, z))


def feasible(y: Array, upper: Array, start: Solution | None) -> tuple[Array, Array, Array]:
    """Return the bounds of z, and 0 or the z nearest to a solution of another problem."""
    lower, higher = np.where(y > 0.0, 0.0, -upper), np.where(y > 0.0, upper, 0.0)
    if start is None:
        return lower, higher, np.zeros(len(y))
    return lower, higher, balanced(np.clip(y * start.alpha, lower, higher), lower, higher)


def balanced(z: Array, lower: Array, upper: Array, total: float = 0.0) -> Array:
    """Bring Σz to `total` within the bounds, first by those that are free."""
    for who in ((z > lower) & (z < upper), np.ones(len(z), bool)):
        excess = z.sum() - total
        # Rounding is no excess: to share it out would take bounded examples off their bounds.
        if abs(excess) <= ROUNDING * np.abs(z).sum():
            break
        room = np.where(who, z - lower if excess > 0.0 else upper - z, 0.0)
        most = room.sum()
        if most > 0.0:
            share = min(abs(excess) / most, 1.0)
            z = np.clip(z - np.sign(excess) * share * room, lower, upper)
    return z


def polished(dual: Dual, y: Array, total: float = 0.0) -> tuple[int, Dual, Path | None]:
    """Return the number of events and the best solution that paths led to.

    The last path comes with them if its end is exact and nobody changed sides on it: its inverse is
    fresh then.  A path that fails leaves a feasible point, from which the next one starts.
    """
    events, best, straight = 0, dual, None
    _, least = kernel.bias_and_gap(dual)
    for _ in range(PATHS):
        free = np.count_nonzero((dual.z > dual.lower) & (dual.z < dual.upper))
        if free > MAX_FREE:
            break
        path, verdict = follow(start_at(dual), EVENTS_PER_EXAMPLE * len(y))
        events += int(path.at[EVENTS])
        if not np.isfinite(path.rows[Z]).all():
            break
        z = balanced(end_of(path, dual.lower, dual.upper), dual.lower, dual.upper, total)
        dual = dual._replace(z=z, gradient=gradient_of(dual.gram, y, z))
        _, gap = kernel.bias_and_gap(dual)
        if gap >= least:
            break
        least, best = gap, dual
        if gap <= EXACT:
            straight = path if verdict == ARRIVED and path.at[EVENTS] <= 1.0 else None
            break
    return events, best, straight


def finished(dual: Dual, y: Array, upper: Array, steps: int) -> Solution:
    """Return what the dual has come to as a solution.

    What is a rounding error away from its bound is put there, lest it pin down the bias; the gap is
    that of the numbers that are returned.
    """
    alpha = settled(np.abs(dual.z), upper)
    gradient = dual.gradient.copy()
    kernel.subtract_product(dual.gram, y * alpha - dual.z, gradient)
    return as_solution(dual._replace(z=y * alpha, gradient=gradient), y, upper, alpha, steps)


def as_solution(dual: Dual, y: Array, upper: Array, alpha: Array, steps: int) -> Solution:
    """Return a dual at `alpha`, its gradient up to date, as a solution."""
    bias, gap = kernel.bias_and_gap(dual)
    return Solution(
        y=y,
        upper=upper,
        alpha=alpha,
        bias=bias,
        decision=y - dual.gradient + bias,
        gap=gap,
        passes=steps,
    )
