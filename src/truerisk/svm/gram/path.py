"""The path of exact solutions of an SVM on a Gram matrix: its state, its start and its end.

Problem   max  pᵀz − ½ zᵀKz   with  lowerᵢ ≤ zᵢ ≤ upperᵢ  and  Σᵢ zᵢ = 0;  z = yα is signed
Given     any feasible z with its gradient y − Kz, and a bias
Link      z is the exact solution for other targets p and, where images depend on each other, for
          other bounds; the path on which these go to their true values ends at the exact solution
Returns   the path at its end, from which others start
Source    Ferreau, Bock and Diehl, "An online active set strategy to overcome the limitations of
          explicit MPC", 2008, which starts every path this way; the first inverse of the free block
          by a Cholesky factor with pivoting, which finds the members whose images depend on the
          others'.  The loops are in `truerisk.kernels.gram`
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpstrf

from truerisk.aliases import Array
from truerisk.kernels import gram as kernel

# Rows of the vectors of a free block: right side, solution, and a second solution.
QUESTION, ANSWER, MENDED, VECTORS = range(4)
# Rows of `rows`: z of free examples, and of the others once `arrive` has set it; Kz + b − p; 1 at
# the lower bound, −1 at the upper one, 0 free or without a choice; …
Z, RESIDUAL, SIDE = range(3)
# … bounds at clock 0 and the rates of bounds and targets …
LOWER, UPPER, LOWER_RATE, UPPER_RATE, TARGET_RATE = range(3, 8)
# … rate of the residual by what is neither free nor the bias; its whole rate; 1 / time until free.
DRIFT, SLOPE, URGENCY, ROWS = range(8, 12)
# Places in `at`: the clock, the bias, the rate of Σz without the free, events so far and those
# since the clock went on.
CLOCK, BIAS, IMBALANCE, EVENTS, STALLED, AT_SIZE = range(6)
# Verdicts of a path.
GOING, ARRIVED, WRONG, RIGHT, FULL, STALE, TOO_MANY, NO_PARTNER, SINGULAR, NEEDED = range(10)

DEPENDENT = 1e-10  # squared distance, beside the largest K(x, x), that is none
CLEARLY = 1e3  # times that: no pivots are needed
CLEAR = 1e-5  # squared distance, beside the largest K(x, x), of which no digits are missed
ROUNDING = 1e-13  # a rate, beside all that add up to it, that is none
STALLING = 10  # the part of all events that may pass with the clock standing still
GOLDEN = 0.5 * (5.0**0.5 - 1.0)  # its multiples are spread evenly over [0, 1)
STANDING = 1e-10  # a rate of Σz, beside the fastest bound, that is none
MANY_MEMBERS = 0.2  # of the examples: to pick the columns of the others costs less then


class Dual(NamedTuple):
    """One problem and where its solution stands."""

    gram: Array
    diagonal: Array
    lower: Array
    upper: Array
    z: Array
    gradient: Array


class FreeBlock(NamedTuple):
    """The free examples and the inverse of the equations that they obey.

    Place 0 of everything belongs to the bias, and places 1 … size to the members; `members[0]` is
    the size.
    """

    members: NDArray[np.int64]
    inverse: Array
    vectors: Array


class Path(NamedTuple):
    """Where the solution stands, where the bounds and targets go, and room to work in."""

    gram: Array
    rows: Array
    at: Array
    block: FreeBlock


class Limits(NamedTuple):
    """What counts as nothing, and when to give up."""

    floor: float  # squared distance below which an image depends on the members' images
    noise: float  # rate of a residual that is nothing but rounding, for every unit of |dz|
    still: float  # rate of Σz that is nothing but rounding
    fastest: float  # largest rate of a bound, or of a target beside K
    max_events: int
    max_stall: int  # events with the clock standing still


class Watch(NamedTuple):
    """An example whose margin alone is asked for: stop as soon as its sign is sure."""

    example: int  # −1: none
    sign: float  # its label
    reach: float  # how much its margin can fall at most as its α falls by 1
    tolerance: float


NOBODY = Watch(-1, 0.0, 0.0, 0.0)


def empty_block(capacity: int) -> FreeBlock:
    """Make room for `capacity` free examples."""
    m = capacity + 1
    return FreeBlock(np.zeros(m, np.int64), np.zeros((m, m)), np.zeros((VECTORS, m)))


def grown(block: FreeBlock, capacity: int) -> FreeBlock:
    """Return the same block with more room."""
    larger, m = empty_block(capacity), int(block.members[0]) + 1
    larger.members[:m], larger.inverse[:m, :m] = block.members[:m], block.inverse[:m, :m]
    return larger


def members_of(block: FreeBlock) -> NDArray[np.int64]:
    """Return the free examples."""
    return block.members[1 : block.members[0] + 1].copy()


def fill_block(
    gram: Array, candidates: NDArray[np.int64], block: FreeBlock, floor: float
) -> NDArray[np.int64]:
    """Let in the candidates whose images are affinely independent; return those left outside.

    With r the first candidate, M = K − K_r − K_rᵀ + K_rr is the Gram matrix seen from r.  With its
    inverse P, z is answered by H = EPEᵀ, E = [−1ᵀ; I], and the sum by u = e_r − H K e_r.
    """
    block.members[0] = 0
    if len(candidates) == 0:
        return candidates
    first, others = candidates[0], candidates[1:]
    own = gram[first, others]
    seen = block_of(gram, others, others)
    seen -= own[:, None]
    seen -= own[None, :]
    seen += gram[first, first]
    kept, precision = invert_independent(seen, floor)
    members = np.concatenate([[first], others[kept]])
    m = len(members)
    answers = np.empty((m, m))
    answers[1:, 1:] = precision
    answers[0, 1:] = answers[1:, 0] = -precision.sum(axis=0)
    answers[0, 0] = precision.sum()
    row = gram[first, members]
    weights = -answers @ row
    weights[0] += 1.0
    block.members[0], block.members[1 : m + 1] = m, members
    block.inverse[0, 0] = -(row @ weights)
    block.inverse[0, 1 : m + 1] = block.inverse[1 : m + 1, 0] = weights
    block.inverse[1 : m + 1, 1 : m + 1] = answers
    is_left = np.ones(len(candidates), bool)
    is_left[0] = is_left[kept + 1] = False
    return candidates[is_left]


def invert_independent(matrix: Array, floor: float) -> tuple[NDArray[np.int64], Array]:
    """Choose rows with a positive definite submatrix; return their places and its inverse."""
    if len(matrix) == 0 or not matrix.diagonal().max() > floor:
        return np.zeros(0, np.int64), matrix[:0, :0]
    # Most often all are clearly independent, and then pivots would only take time.
    factor, failed = dpotrf(matrix, lower=1)
    chosen = np.arange(len(matrix))
    if failed or not np.diagonal(factor).min() ** 2 > CLEARLY * floor:
        factor, pivots, rank, _ = dpstrf(matrix, tol=floor, lower=1)
        factor, chosen = np.asfortranarray(factor[:rank, :rank]), pivots[:rank].astype(np.int64) - 1
    inverse, _ = dpotri(factor, lower=1)
    kernel.mirror(inverse.T)
    return chosen, inverse


class Pivots(NamedTuple):
    """K with the condition Σz = 0, pivoted on free examples: what every tableau of it is made of.

    With A the equations of the members (see `FreeBlock`), `across` is G = [1; K] of the members
    with everyone, and `reply` is A⁻¹G, but 0 for the members themselves.
    """

    members: NDArray[np.int64]
    inverse: Array
    across: Array
    reply: Array

    def are_clear(self, scale: float) -> bool:
        """Tell whether every member is off the flat of the others: 1 / A⁻¹ is that distance²."""
        return float(np.diagonal(self.inverse)[1:].max(initial=0.0)) * CLEAR * scale <= 1.0

    def others_are_clear(self, diagonal: Array, scale: float) -> bool:
        """Tell whether everyone else is off the flat of the members, too."""
        squares = diagonal - np.einsum("ij,ij->j", self.across, self.reply)
        squares[self.members] = scale
        return float(squares.min(initial=scale)) >= CLEAR * scale

    def among(self, near: NDArray[np.intp]) -> "Pivots | None":
        """Return the same of some examples, numbered among these; None if a member is missing."""
        place = np.full(self.reply.shape[1], -1)
        place[near] = np.arange(len(near))
        members = place[self.members]
        if len(members) and members.min() < 0:
            return None
        across, reply = (columns_of(one, near) for one in (self.across, self.reply))
        return Pivots(members, self.inverse, across, reply)


def pivots_on(gram: Array, block: FreeBlock, members: NDArray[np.int64]) -> Pivots:
    """Pivot on the members of a block, by their numbers in K."""
    m = len(members) + 1
    across = np.ones((m, len(gram)))
    np.take(gram, members, axis=0, out=across[1:], mode="clip")
    inverse = block.inverse[:m, :m]
    return Pivots(members, inverse, across, times_others(inverse, across, members))


def times_others(left: Array, right: Array, members: NDArray[np.int64]) -> Array:
    """Return left · right, but 0 in the columns of the members; many of these are left out."""
    n = right.shape[1]
    if len(members) < MANY_MEMBERS * n:
        product = left @ right
        product[:, members] = 0.0
        return product
    is_other = np.ones(n, bool)
    is_other[members] = False
    others, product = np.flatnonzero(is_other), np.zeros((len(left), n))
    product[:, others] = left @ columns_of(right, others)
    return product


def empty_path(gram: Array, capacity: int) -> Path:
    """Make room for a path over n examples of which `capacity` may be free at once."""
    return Path(gram, np.zeros((ROWS, len(gram))), np.zeros(AT_SIZE), empty_block(capacity))


def block_of(table: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
    """Return what a table has in some rows and columns; NumPy takes two to eight times as long."""
    block = np.empty((len(rows), len(columns)))
    kernel.take_block(table, rows, columns, block)
    return block


def columns_of(table: Array, columns: NDArray[np.intp]) -> Array:
    """Return some columns of a table."""
    return block_of(table, np.arange(len(table)), columns)


def spread(gram: Array) -> float:
    """Return the scale of squared distances; 1 if all images are 0."""
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


def start_at(dual: Dual) -> Path:
    """Make the path from where z is optimal to the true targets and bounds."""
    bias, _ = kernel.bias_and_gap(dual)
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
    residual = bias - dual.gradient
    # Who has no choice may keep any residual, and must not be made to follow a target.
    kept = ((rows[SIDE] * residual > 0.0) & ~is_free) | (at_lower & at_upper)
    # Of the others each starts at a distance of its own, so that they come free one by one.
    violation = float(np.abs(residual[~kept]).max(initial=0.0))
    distances = violation * (0.5 + 0.5 * (np.arange(len(residual)) * GOLDEN % 1.0))
    rows[RESIDUAL] = np.where(kept, residual, rows[SIDE] * distances)
    rows[TARGET_RATE] = np.where(kept, 0.0, rows[RESIDUAL] - residual)
    return path


def follow(path: Path, max_events: int) -> tuple[Path, int]:
    """Follow the path from clock 0, with more room whenever the free block needs it."""
    limits = limits_of(path, max_events)
    kernel.start_path(path)
    verdict = kernel.follow_path(path, NOBODY, limits)
    renewed_at = -1.0
    while verdict == FULL or (verdict == STALE and path.at[EVENTS] > renewed_at):
        if verdict == FULL:
            capacity = len(path.block.members)
            path = path._replace(block=grown(path.block, capacity + capacity // 2))
        else:
            if len(fill_block(path.gram, members_of(path.block), path.block, 0.0)) > 0:
                return path, SINGULAR
            renewed_at = path.at[EVENTS] + 1.0
        verdict = kernel.follow_path(path, NOBODY, limits)
    kernel.end_path(path)
    return path, verdict


def restart_at(path: Path, lower: Array, upper: Array) -> None:
    """Let the end of a path be the start of further ones: nothing moves yet."""
    path.rows[Z] = end_of(path, lower, upper)
    path.rows[LOWER], path.rows[UPPER] = lower, upper
    path.rows[[LOWER_RATE, UPPER_RATE, TARGET_RATE]] = 0.0


def end_of(path: Path, lower: Array, upper: Array) -> Array:
    """Return z at the end of the path; a bounded example is exactly at its bound."""
    side = path.rows[SIDE]
    z: Array = np.clip(path.rows[Z], lower, upper)
    if path.at[CLOCK] == 1.0:
        z = np.where(side > 0.0, lower, np.where(side < 0.0, upper, z))
    return z


def gradient_of(gram: Array, y: Array, z: Array) -> Array:
    """Compute y − Kz."""
    gradient = y.copy()
    kernel.subtract_product(gram, z, gradient)
    return gradient
