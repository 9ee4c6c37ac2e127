"""Many SVMs on one Gram matrix, which differ in their bounds only.

Problem   that of `gram.dual` for every row of a table of bounds
Given     K of all examples, the labels, who is trained on, and the bounds of each replicate
Returns   the decision value of every example under each replicate
Method    From the solution at the mean bounds, steps of two examples until it
          is roughly known who is at which bound; then rounds of equations
          until it is known exactly.  A few replicates, solved first in every way, tell how rough is
          best, and on whom to pivot.  What K does not confirm is left to `gram.dual`; and where
          that is most, because few examples are free and many depend on them, all of it is left to
          the paths of `gram.cost_path`.
Tableau   K with the condition Σz = 0, pivoted on examples that are free in most of many similar
          problems: T and `own` of `own − T q`, with q the gradient of the pivoted and z of the
          others (M. J. Tsatsomeros, Linear Algebra and its Applications 307, 2000, 151-165)
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.kernels import batch as kernel
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.gram.cost_path import move, start_of
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.gram.path import (
    FreeBlock,
    Path,
    empty_block,
    fill_block,
    members_of,
    spread,
)
from truerisk.svm.solution import ROUNDING, Solution

Single = NDArray[np.float32]
Sides = NDArray[np.int8]

CHUNK = 64  # replicates; not a matter of workers, so that these do not change a bit
ROUGH = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)  # gaps at which rounds may be tried
FIRST = ROUGH.index(0.01)  # where nothing is known
PILOTS = 8  # replicates
WORTH_A_PILOT = 64  # replicates
STEP, STEP_PER_EXAMPLE = 150.0, 0.7  # nanoseconds, as measured

ROUNDS = 6  # more of them mean that steps are the better way
MIN_CURVATURE = 1e-6  # beside the largest K(x, x), in single precision
STEPS_PER_EXAMPLE = 100  # for every try
BALANCED = 1e-9  # part of Σ|z| by which Σz may miss 0
EXCESS = 1e-12  # part of Σ|z| that is no excess but rounding

RIDGE = 1e-12  # of the largest K(x, x), added to each: equal examples share α then, in one way
PIVOT = 1e-14  # of the largest K(x, x): a pivot no larger is rounding

BLOCK = 64  # examples, as in the kernel
# Rows of a rough state: where z stands and may go, y − Kz, K(x, x); the others are the kernel's.
Z, LOWER, UPPER, GRADIENT, DIAGONAL, STEP_ROWS = 0, 1, 2, 3, 4, 8
# Rows of an exact state: bounds, what the tableau is given and what it gives.
LOW, HIGH, GIVEN, GOT, ROUND_ROWS = range(5)
SETTLED = 0  # a verdict


# --- the tableau


@dataclass(frozen=True, eq=False)
class Tableau:
    """K, pivoted on the examples of `base`."""

    values: Array
    own: Array
    base: NDArray[np.bool_]
    reach: Array  # how far z goes for one unit of the margin, at least
    floor: float

    @property
    def arrays(self) -> tuple[Array, NDArray[np.uint8], Array]:
        """What compiled functions take of it."""
        return self.values, self.base.view(np.uint8), self.reach

    @classmethod
    def of(cls, gram: Array, y: Array, candidates: NDArray[np.int64]) -> "Tableau":
        """Pivot on the candidates, but for those that depend on the others."""
        n, scale = len(y), spread(gram)
        gram = gram.copy()
        gram.flat[:: n + 1] += RIDGE * scale
        block = empty_block(len(candidates))
        fill_block(gram, candidates, block, RIDGE * scale)
        members = members_of(block)
        m = len(members) + 1
        inverse = block.inverse[:m, :m]
        base = np.zeros(n, bool)
        base[members] = True
        others = np.flatnonzero(~base)
        across = np.ones((m, len(others)))
        across[1:] = gram[np.ix_(members, others)]
        reply = inverse @ across
        values = np.empty((n, n))
        values[np.ix_(members, members)] = -inverse[1:, 1:]
        values[np.ix_(members, others)] = -reply[1:]
        values[np.ix_(others, members)] = -reply[1:].T
        values[np.ix_(others, others)] = gram[np.ix_(others, others)] - across.T @ reply
        own = np.empty(n)
        right = np.append(0.0, y[members])
        own[members] = -(inverse @ right)[1:]
        own[others] = y[others] - right @ reply
        diagonal = np.diagonal(gram)
        reach = 1.0 / np.where(diagonal > 0.0, diagonal, scale)
        return cls(values, own, base, reach, PIVOT * scale)


# --- one try at some replicates


@dataclass(frozen=True, eq=False)
class Batch:
    """What all replicates share."""

    gram: Array  # of those trained on, with all examples
    among: Array  # of those trained on, with each other
    single: Single  # the same, padded to whole blocks
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


def padded(gram: Array) -> Single:
    """Return K in single precision and whole blocks."""
    n = len(gram)
    m = -(-n // BLOCK) * BLOCK
    single = np.zeros((m, m), np.float32)
    single[:n, :n] = gram
    return single


def started(batch: Batch, bounds: Bounds) -> Single:
    """Start every replicate from the solution at the mean bounds.

    Who is at a bound there starts at it; the free stay where they are, as far as they may.
    """
    y, lower, upper = batch.y, bounds.lower, bounds.upper
    full = batch.middle.alpha >= (1.0 - ROUNDING) * batch.middle.upper
    z = np.where(full, lower + upper, np.clip(y * batch.middle.alpha, lower, upper))
    z = balanced(z, lower, upper)
    n, m = len(y), len(batch.single)
    states = np.zeros((len(z), STEP_ROWS, m), np.float32)
    states[:, LOWER, :n], states[:, UPPER, :n] = lower, upper
    states[:, Z, :n] = z
    states[:, GRADIENT, :n] = y
    states[:, GRADIENT] -= states[:, Z] @ batch.single
    states[:, DIAGONAL] = np.diagonal(batch.single)
    return states


def balanced(z: Array, lower: Array, upper: Array) -> Array:
    """Bring every Σz to 0 within the bounds, first by those that are free."""
    for who in ((z > lower) & (z < upper), np.ones(z.shape, bool)):
        excess = z.sum(axis=1, keepdims=True)
        # To share rounding out would take bounded examples off their bounds.
        excess[np.abs(excess) <= EXCESS * np.abs(z).sum(axis=1, keepdims=True)] = 0.0
        room = np.where(who, np.where(excess > 0.0, z - lower, upper - z), 0.0)
        total = room.sum(axis=1, keepdims=True)
        share = np.minimum(np.abs(excess) / np.where(total > 0.0, total, 1.0), 1.0)
        z = np.clip(z - np.sign(excess) * share * room, lower, upper)
    return z


def descend(batch: Batch, states: Single, rough: float) -> NDArray[np.int64]:
    """Improve all states until their gaps are at most `rough`; return the steps that took."""
    taken = np.empty(len(states), np.int64)
    floor = float(MIN_CURVATURE * np.abs(np.diagonal(batch.single)).max())
    most = STEPS_PER_EXAMPLE * len(batch.y)
    kernel.descend_all(batch.single, states, floor, rough, most, taken)
    return taken


def attempt(batch: Batch, rough: Single, bounds: Bounds) -> Attempt:
    """Solve exactly from who is at which bound in rough states, and judge the solutions."""
    z, sides, settled, work = settled_from(batch, rough, bounds)
    decisions = z @ batch.gram
    bias, gap = np.empty(len(z)), np.empty(len(z))
    gradient = np.ascontiguousarray(batch.y - decisions[:, batch.train])
    kernel.measure_all(bounds.lower, bounds.upper, z, gradient, bias, gap)
    good = settled & (gap <= batch.tolerance)
    good &= np.abs(z.sum(axis=1)) <= BALANCED * np.abs(z).sum(axis=1)
    decisions += bias[:, None]
    return Attempt(decisions, good, sides == 0, work)


def settled_from(batch: Batch, rough: Single, bounds: Bounds) -> tuple[Array, Sides, Flags, Array]:
    """Return z, who is at which bound, whether that is settled, and the work that took."""
    n, tableau, lower, upper = len(batch.y), batch.tableau, bounds.lower, bounds.upper
    z = rough[:, Z, :n]
    at_upper = z >= rough[:, UPPER, :n]
    at_lower = (z <= rough[:, LOWER, :n]) & ~at_upper
    sides = at_upper.astype(np.int8) - at_lower
    given = np.where(at_upper, upper, np.where(at_lower, lower, z))
    given[:, tableau.base] = 0.0
    states = np.empty((len(z), ROUND_ROWS, n))
    states[:, LOW], states[:, HIGH] = lower, upper
    states[:, GIVEN] = given
    states[:, GOT] = tableau.own - given @ tableau.values
    verdicts, work = np.empty(len(z), np.int64), np.empty(len(z))
    kernel.settle_all(*tableau.arrays, states, sides, tableau.floor, ROUNDS, verdicts, work)
    exact = np.where(tableau.base, -states[:, GOT], states[:, GIVEN])
    exact = np.where(sides > 0, upper, np.where(sides < 0, lower, np.clip(exact, lower, upper)))
    settled = verdicts == SETTLED
    exact[~settled] = 0.0
    return exact, sides, settled, work


# --- all replicates


@dataclass(frozen=True)
class Plan:
    """With which of the rough gaps to begin; their number if rounds are of no use."""

    batch: Batch
    first: int


def gram_decisions(
    gram: Array,
    y: Array,
    train: NDArray[np.intp],
    bounds: Array,
    *,
    tolerance: float = 1e-8,
    workers: int = 1,
) -> Array:
    """Solve one SVM for every row of bounds; return its decision value of every example.

    The gap of every solution is at most `tolerance`, measured on the symmetric Gram matrix.  A bias
    that is not unique is the middle of its interval.  An indefinite matrix ends as in `solve_gram`.
    Source: M. Hintermüller, K. Ito and K. Kunisch, SIAM J. Optimization 13(3), 865-888, 2002.
    """
    gram = np.ascontiguousarray(gram, np.float64)
    bounds = np.ascontiguousarray(bounds, np.float64)
    if not len(bounds):
        return np.empty((0, len(gram)))
    with few_blas_threads(len(gram), workers):
        batch = shared(gram, y[train].astype(np.float64), train, bounds, tolerance)
        plan = piloted(batch, bounds) if len(bounds) >= WORTH_A_PILOT else Plan(batch, FIRST)
        chunks = [bounds[i : i + CHUNK] for i in range(0, len(bounds), CHUNK)]
        with ThreadPoolExecutor(workers) as pool:
            parts = list(pool.map(lambda chunk: decisions_of(plan, chunk), chunks))
    return np.concatenate(parts)


def shared(
    gram: Array, y: Array, train: NDArray[np.intp], bounds: Array, tolerance: float
) -> Batch:
    """Solve the SVM at the mean bounds, and pivot on who is free there."""
    rows = gram[train]
    among = np.ascontiguousarray(rows[:, train])
    middle = solve_gram(among, y, bounds.mean(axis=0), tolerance=tolerance)
    free = np.flatnonzero(middle.free)
    # A tableau needs somebody to see the others from.
    tableau = Tableau.of(among, y, free if len(free) else np.arange(1))
    return Batch(rows, among, padded(among), train, y, tableau, middle, tolerance)


def piloted(batch: Batch, bounds: Array) -> Plan:
    """Try every rough gap on a few replicates; plan for the cheapest, with the base that suits."""
    pilots = Bounds.of(batch.y, bounds[:PILOTS])
    states, n = started(batch, pilots), len(batch.y)
    given_up = cost_of_a_path(n, int(np.count_nonzero(batch.middle.free)))
    walked, free = np.zeros(len(states)), np.zeros((0, n), bool)
    tries: list[tuple[Array, Attempt]] = []
    for rough in ROUGH:
        walked = walked + (STEP + STEP_PER_EXAMPLE * n) * descend(batch, states, rough)
        found = attempt(batch, states, pilots)
        tries.append((walked, found))
        free = found.free[found.good] if found.good.any() else free
        # Steps alone, and one round at least, are now dearer than the best that was found.
        if walked.mean() + found.work.mean() / ROUNDS > min(costs_of(tries, given_up)):
            break
    costs = costs_of(tries, given_up)
    first = int(np.argmin(costs))
    if costs[first] >= given_up:
        return Plan(batch, len(ROUGH))
    return Plan(with_base(batch, free), first)


def costs_of(tries: list[tuple[Array, Attempt]], given_up: float) -> list[float]:
    """Return what it costs to begin with each try and, where that fails, to go on with the next."""
    after = tries[-1][0] + given_up
    costs = []
    for walked, found in reversed(tries):
        after = np.where(found.good, walked, after) + found.work
        costs.append(float(after.mean()))
    return costs[::-1]


def cost_of_a_path(n: int, free: int) -> float:
    """Return the nanoseconds of a path, as measured: an event for every third example."""
    return 1e5 + n / 3.0 * (2000.0 + 0.6 * free**2 + 0.3 * free * n)


def with_base(batch: Batch, free: NDArray[np.bool_]) -> Batch:
    """Pivot on who is free in most of some solutions: nobody else differs from so few."""
    base = np.flatnonzero(free.mean(axis=0) > 0.5) if len(free) else np.zeros(0, np.intp)
    if not len(base):
        return batch
    return replace(batch, tableau=Tableau.of(batch.among, batch.y, base))


def decisions_of(plan: Plan, bounds: Array) -> Array:
    """Solve the replicates of one chunk."""
    batch, chunk = plan.batch, Bounds.of(plan.batch.y, bounds)
    decisions = np.empty((len(bounds), batch.gram.shape[1]))
    if plan.first == len(ROUGH):
        path = start_of(batch.among, batch.middle)
        return np.array([finished(batch, upper, batch.middle, path) for upper in bounds])
    left, states = np.arange(len(bounds)), started(batch, chunk)
    for rough in ROUGH[plan.first :]:
        descend(batch, states, rough)
        found = attempt(batch, states, chunk.of_some(left))
        decisions[left[found.good]] = found.decisions[found.good]
        left, states = left[~found.good], states[~found.good]
        if not len(left):
            break
    for place, state in zip(left, states, strict=True):
        alpha = np.abs(state[Z, : len(batch.y)].astype(np.float64))
        decisions[place] = finished(batch, bounds[place], replace(batch.middle, alpha=alpha), None)
    return decisions


def finished(batch: Batch, upper: Array, start: Solution, path: Path | None) -> Array:
    """Solve one replicate exactly: along a path from the mean bounds, or from a start."""
    moved = None if path is None else move(copied(path), start, upper)
    solution = None if moved is None else moved[1]
    if solution is None or solution.gap > batch.tolerance:
        solution = solve_gram(batch.among, batch.y, upper, tolerance=batch.tolerance, start=start)
    decisions: Array = (solution.alpha * batch.y) @ batch.gram + solution.bias
    return decisions


def copied(path: Path) -> Path:
    """Copy what a path changes on its way."""
    members, inverse, vectors = path.block
    block = FreeBlock(members.copy(), inverse.copy(), vectors.copy())
    return path._replace(rows=path.rows.copy(), at=path.at.copy(), block=block)
