"""From a nearly optimal to the exact solution of a support vector machine on a Gram matrix.

Problem   as in `smo`
Given     any feasible z with its remainder y − Kz, and a bias
Link      z is the exact solution for other targets and, where images depend on each other, for
          other bounds; the path on which these go to their true values ends at the exact solution
Returns   the path at its end, from which others start
Source    Ferreau, Bock and Diehl, "An online active set strategy to overcome the limitations of
          explicit MPC", 2008, which starts every path this way
"""

import numpy as np

from truerisk.aliases import Array
from truerisk.svm.solvers.active_set import FULL, NOBODY, SINGULAR, STALE, Limits, follow
from truerisk.svm.solvers.free_block import fill_block, grown, members_of
from truerisk.svm.solvers.path_state import (
    BIAS,
    CLOCK,
    EVENTS,
    LOWER,
    LOWER_RATE,
    RESIDUAL,
    SIDE,
    TARGET_RATE,
    UPPER,
    UPPER_RATE,
    Path,
    Z,
    arrive,
    depart,
    empty_path,
)
from truerisk.svm.solvers.smo import Dual, bias_between, take_out

DEPENDENT = 1e-10  # squared distance, beside the largest K(x, x), that is none
ROUNDING = 1e-13  # a rate, beside all that add up to it, that is none
STALLING = 10  # the part of all events that may pass with the clock standing still
GOLDEN = 0.5 * (5.0**0.5 - 1.0)  # its multiples are spread evenly over [0, 1)
STANDING = 1e-10  # a rate of Σz, beside the fastest bound, that is none


def spread(gram: Array) -> float:
    """Give the scale of squared distances; 1 if all images are 0."""
    return float(np.abs(np.diagonal(gram)).max()) or float(np.abs(gram).max()) or 1.0


def limits_of(path: Path, max_events: int) -> Limits:
    """Say what is rounding beside the rates of this path."""
    scale = spread(path.gram)
    of_bounds = np.abs(path.rows[[LOWER_RATE, UPPER_RATE]]).max()
    of_targets = np.abs(path.rows[TARGET_RATE]).max()
    return limits_at(scale, float(of_bounds + of_targets / scale), max_events)


def limits_at(scale: float, fastest: float, max_events: int) -> Limits:
    """Say what is rounding where squared distances and rates are of this size."""
    return Limits(
        floor=DEPENDENT * scale,
        noise=ROUNDING * scale,
        still=STANDING * fastest,
        fastest=fastest,
        max_events=max_events,
        max_stall=max_events // STALLING,
    )


def set_out(dual: Dual) -> Path:
    """Make the path from where z is optimal to the true targets and bounds."""
    bias, _ = bias_between(dual)
    is_free = (dual.z > dual.lower) & (dual.z < dual.upper)
    free = np.flatnonzero(is_free)
    path = empty_path(dual.gram, len(free) + max(32, len(free) // 4))
    rows = path.rows
    rows[Z], rows[LOWER], rows[UPPER] = dual.z, dual.lower, dual.upper
    path.at[BIAS] = bias
    at_lower, at_upper = dual.z <= dual.lower, dual.z >= dual.upper
    rows[SIDE] = at_lower * 1.0 - at_upper
    outside = fill_block(dual.gram, free, path.block, DEPENDENT * spread(dual.gram))
    # Dependent examples wait at a bound of their own, which goes to the nearer true one.
    low = dual.z[outside] - dual.lower[outside] < dual.upper[outside] - dual.z[outside]
    lows, highs = outside[low], outside[~low]
    rows[SIDE, lows], rows[SIDE, highs] = 1.0, -1.0
    rows[LOWER_RATE, lows] = dual.lower[lows] - dual.z[lows]
    rows[UPPER_RATE, highs] = dual.upper[highs] - dual.z[highs]
    rows[LOWER, lows], rows[UPPER, highs] = dual.z[lows], dual.z[highs]
    residual = bias - dual.remainder
    # Who has no choice may keep any residual, and must not be made to follow a target.
    kept = ((rows[SIDE] * residual > 0.0) & ~is_free) | (at_lower & at_upper)
    # Of the others each starts at a distance of its own, so that they come free one by one.
    violation = float(np.abs(residual[~kept]).max(initial=0.0))
    distances = violation * (0.5 + 0.5 * (np.arange(len(residual)) * GOLDEN % 1.0))
    rows[RESIDUAL] = np.where(kept, residual, rows[SIDE] * distances)
    rows[TARGET_RATE] = np.where(kept, 0.0, rows[RESIDUAL] - residual)
    return path


def travel(path: Path, max_events: int) -> tuple[Path, int]:
    """Follow the path from clock 0, with more room whenever the free block needs it."""
    limits = limits_of(path, max_events)
    depart(path)
    verdict = follow(path, NOBODY, limits)
    renewed_at = -1.0
    while verdict == FULL or (verdict == STALE and path.at[EVENTS] > renewed_at):
        if verdict == FULL:
            capacity = len(path.block.members)
            path = path._replace(block=grown(path.block, capacity + capacity // 2))
        else:
            if len(fill_block(path.gram, members_of(path.block), path.block, 0.0)) > 0:
                return path, SINGULAR
            renewed_at = path.at[EVENTS] + 1.0
        verdict = follow(path, NOBODY, limits)
    arrive(path)
    return path, verdict


def stay(path: Path, lower: Array, upper: Array) -> None:
    """Let the end of a path be the start of further ones: nothing moves yet."""
    path.rows[Z] = standing(path, lower, upper)
    path.rows[LOWER], path.rows[UPPER] = lower, upper
    path.rows[[LOWER_RATE, UPPER_RATE, TARGET_RATE]] = 0.0


def standing(path: Path, lower: Array, upper: Array) -> Array:
    """Give z where the path has ended, with no rounding between a bounded example and its bound."""
    side = path.rows[SIDE]
    z: Array = np.clip(path.rows[Z], lower, upper)
    if path.at[CLOCK] == 1.0:
        z = np.where(side > 0.0, lower, np.where(side < 0.0, upper, z))
    return z


def remainder_of(gram: Array, y: Array, z: Array) -> Array:
    """Compute y − Kz."""
    remainder = y.copy()
    take_out(gram, z, remainder)
    return remainder
