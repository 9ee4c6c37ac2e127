"""One try at many machines on one Gram matrix: a rough start, rounds, and a judgement by K itself.

Problem   that of `batch_gram`
Given     what all replicates share, and the bounds of some of them
Returns   rough states, which further steps improve; and from such a state the decisions of every
          example, with the word whether they are those of the optimum
Link      all products of K with the z of a chunk are one product of matrices
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.svm.solution import ROUNDING, Solution
from truerisk.svm.solvers import batch_gram_rounds as rounds
from truerisk.svm.solvers import batch_gram_steps as steps
from truerisk.svm.solvers.batch_gram_tableau import Tableau

ROUNDS = 6  # more of them mean that steps are the better way
MIN_CURVATURE = 1e-6  # beside the largest K(x, x), in single precision
STEPS_PER_EXAMPLE = 100  # for every try
BALANCED = 1e-9  # part of Σ|z| by which Σz may miss 0
EXCESS = 1e-12  # part of Σ|z| that is no excess but rounding


@dataclass(frozen=True, eq=False)
class Batch:
    """What all replicates share."""

    gram: Array  # of those trained on, with all examples
    among: Array  # of those trained on, with each other
    single: steps.Single  # the same, padded to whole blocks
    train: NDArray[np.intp]
    y: Array
    tableau: Tableau
    middle: Solution  # at the mean of all bounds
    tolerance: float


@dataclass(frozen=True, eq=False)
class Bounds:
    """The bounds of z in some replicates."""

    lower: Array
    upper: Array

    @classmethod
    def of(cls, y: Array, bounds: Array) -> "Bounds":
        """Turn bounds of α into bounds of yα."""
        return cls(np.where(y > 0.0, 0.0, -bounds), np.where(y > 0.0, bounds, 0.0))

    def of_some(self, which: NDArray[np.intp]) -> "Bounds":
        """Take those of some replicates."""
        return Bounds(self.lower[which], self.upper[which])


@dataclass(frozen=True, eq=False)
class Attempt:
    """What rounds have come to: decisions are worth something where `good`."""

    decisions: Array
    good: Flags
    free: Flags
    work: Array  # nanoseconds, by the number of equations


def padded(gram: Array) -> steps.Single:
    """Give K in single precision and whole blocks.

    Examples
    --------
    >>> padded(np.eye(3)).shape
    (64, 64)
    """
    n = len(gram)
    m = -(-n // steps.BLOCK) * steps.BLOCK
    single = np.zeros((m, m), np.float32)
    single[:n, :n] = gram
    return single


def started(batch: Batch, bounds: Bounds) -> steps.Single:
    """Start every replicate from the solution at the mean bounds.

    Who is at a bound there starts at it; the free stay where they are, as far as they may.
    """
    y, lower, upper = batch.y, bounds.lower, bounds.upper
    full = batch.middle.alpha >= (1.0 - ROUNDING) * batch.middle.upper
    z = np.where(full, lower + upper, np.clip(y * batch.middle.alpha, lower, upper))
    z = balanced(z, lower, upper)
    n, m = len(y), len(batch.single)
    states = np.zeros((len(z), steps.ROWS, m), np.float32)
    states[:, steps.LOWER, :n], states[:, steps.UPPER, :n] = lower, upper
    states[:, steps.Z, :n] = z
    states[:, steps.REMAINDER, :n] = y
    states[:, steps.REMAINDER] -= states[:, steps.Z] @ batch.single
    states[:, steps.DIAGONAL] = np.diagonal(batch.single)
    return states


def balanced(z: Array, lower: Array, upper: Array) -> Array:
    """Bring every Σz to 0 within the bounds, first by those that are free.

    Examples
    --------
    >>> balanced(np.array([[1.0, 0.5]]), np.array([[0.0, -1.0]]), np.array([[1.0, 1.0]]))
    array([[ 1., -1.]])
    """
    for who in ((z > lower) & (z < upper), np.ones(z.shape, bool)):
        excess = z.sum(axis=1, keepdims=True)
        # To share rounding out would take bounded examples off their bounds.
        excess[np.abs(excess) <= EXCESS * np.abs(z).sum(axis=1, keepdims=True)] = 0.0
        room = np.where(who, np.where(excess > 0.0, z - lower, upper - z), 0.0)
        total = room.sum(axis=1, keepdims=True)
        share = np.minimum(np.abs(excess) / np.where(total > 0.0, total, 1.0), 1.0)
        z = np.clip(z - np.sign(excess) * share * room, lower, upper)
    return z


def descend(batch: Batch, states: steps.Single, rough: float) -> NDArray[np.int64]:
    """Improve all states until their gaps are at most `rough`; give the steps that took."""
    taken = np.empty(len(states), np.int64)
    floor = np.float32(MIN_CURVATURE * np.abs(np.diagonal(batch.single)).max())
    most = STEPS_PER_EXAMPLE * len(batch.y)
    steps.descend_all(batch.single, states, floor, np.float32(rough), most, taken)
    return taken


def attempt(batch: Batch, rough: steps.Single, bounds: Bounds) -> Attempt:
    """Solve exactly from who is at which bound in rough states, and judge the solutions."""
    z, sides, settled, work = settled_from(batch, rough, bounds)
    decisions = z @ batch.gram
    bias, gap = np.empty(len(z)), np.empty(len(z))
    remainder = batch.y - decisions[:, batch.train]
    judge_all(bounds.lower, bounds.upper, z, remainder, bias, gap)
    good = settled & (gap <= batch.tolerance)
    good &= np.abs(z.sum(axis=1)) <= BALANCED * np.abs(z).sum(axis=1)
    decisions += bias[:, None]
    return Attempt(decisions, good, sides == rounds.FREE, work)


def settled_from(
    batch: Batch, rough: steps.Single, bounds: Bounds
) -> tuple[Array, rounds.Sides, Flags, Array]:
    """Give z, who is at which bound, whether that is settled, and the work that took."""
    n, tableau, lower, upper = len(batch.y), batch.tableau, bounds.lower, bounds.upper
    z = rough[:, steps.Z, :n]
    at_upper = z >= rough[:, steps.UPPER, :n]
    at_lower = (z <= rough[:, steps.LOWER, :n]) & ~at_upper
    sides = at_upper.astype(np.int8) - at_lower
    given = np.where(at_upper, upper, np.where(at_lower, lower, z))
    given[:, tableau.base] = 0.0
    states = np.empty((len(z), rounds.STATE, n))
    states[:, rounds.LOWER], states[:, rounds.UPPER] = lower, upper
    states[:, rounds.GIVEN] = given
    states[:, rounds.GOT] = tableau.own - given @ tableau.values
    verdicts, work = np.empty(len(z), np.int64), np.empty(len(z))
    rounds.settle_all(*tableau.arrays, states, sides, tableau.floor, ROUNDS, verdicts, work)
    exact = np.where(tableau.base, -states[:, rounds.GOT], states[:, rounds.GIVEN])
    exact = np.where(sides > 0, upper, np.where(sides < 0, lower, np.clip(exact, lower, upper)))
    settled = verdicts == rounds.SETTLED
    exact[~settled] = 0.0
    return exact, sides, settled, work


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def judge_all(  # noqa: PLR0917 (a compiled function takes no dataclass)
    lower: Array, upper: Array, z: Array, remainder: Array, bias: Array, gap: Array
) -> None:
    """Write the bias and the gap of each replicate; a bias that nobody pins down is not judged."""
    for r in range(len(z)):
        top, bottom, total, free = -np.inf, np.inf, 0.0, 0
        for i in range(z.shape[1]):
            may_rise, may_fall = z[r, i] < upper[r, i], z[r, i] > lower[r, i]
            if may_rise:
                top = max(top, remainder[r, i])
            if may_fall:
                bottom = min(bottom, remainder[r, i])
            if may_rise and may_fall:
                total += remainder[r, i]
                free += 1
        bias[r] = total / free if free > 0 else 0.0
        gap[r] = max(top - bottom, 0.0) if free > 0 else np.inf
