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

from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from truerisk.aliases import Array, Flags
from truerisk.execution.threads import few_blas_threads
from truerisk.kernels import batch as kernel
from truerisk.kernels import gram as gram_kernel
from truerisk.kernels import in_threads
from truerisk.svm.gram.cost_path import move, start_of
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.gram.path import (
    FreeBlock,
    Path,
    Pivots,
    block_of,
    empty_block,
    fill_block,
    members_of,
    pivots_on,
    spread,
    times_others,
)
from truerisk.svm.solution import ROUNDING, Solution

Single = NDArray[np.float32]
Sides = NDArray[np.int8]

CHUNK, MAX_CHUNK = 64, 512  # replicates; not a matter of workers, so that these change no bit
CHUNK_NUMBERS = 80_000  # by trial: small chunks take long to call, arrays of large ones to read
ROUGH = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)  # gaps at which rounds may be tried
FIRST = ROUGH.index(0.01)  # where nothing is known
PILOTS = 8  # replicates
WORTH_A_PILOT = 64  # replicates
STEP, STEP_PER_EXAMPLE = 150.0, 0.7  # nanoseconds, as measured

ROUNDS = 6  # more of them mean that steps are the better way
MIN_CURVATURE = 1e-6  # beside the largest K(x, x), in single precision
STEPS_PER_EXAMPLE = 100  # for every try
GROWTHS = 6  # of the tableau, in one try
NEARLY = 1e-4  # a gap that the ridge or rounding may leave
INSIDE = 1e-8  # part of its range by which a free example is off its bounds for sure
BALANCED = 1e-9  # part of Σ|z| by which Σz may miss 0
ON_THE_MARGIN = 1e-6  # units of it: who is nearer to it in a solution is free
WORTH_A_CORE = 256  # replicates
OBJECTING = 0.005  # share of the SVMs that may show an example on the other side of its margin
MAX_CORE = 0.9  # share of the examples above which all are taken
EXCESS = 1e-12  # part of Σ|z| that is no excess but rounding

# Of the largest K(x, x), added to each: equal examples share α then, in one way.  With more of it
# less depends on rounding; with less of it the solution is nearer to the optimum.
RIDGE, LARGEST_RIDGE = 1e-12, 1e-10
RIDGE_OF_GAP = 0.1  # part of the tolerance that the ridge may take
INDEPENDENT = 1e-7  # of it, squared: who is nearer to the flat of the others is not pivoted on
PIVOT = 1e-14  # of the largest K(x, x): a pivot no larger is rounding

BLOCK = 64  # examples, as in the kernel
# Rows of a rough state: where z stands and may go, y − Kz, K(x, x); the others are the kernel's.
Z, LOWER, UPPER, GRADIENT, DIAGONAL, STEP_ROWS = 0, 1, 2, 3, 4, 7
# Rows of an exact state: bounds, what the tableau is given and what it gives.
LOW, HIGH, GIVEN, GOT, ROUND_ROWS = range(5)
SETTLED, NEEDED = 0, 3  # verdicts
NO_ORDER = np.empty(0, np.int64)


# --- the tableau


class KnownRows(NamedTuple):
    """Rows of a tableau of the same pivots that leaving one out has made; see `svm.gram`."""

    effects: Array
    place: NDArray[np.int64]
    columns: NDArray[np.intp]  # the examples of this tableau among all

    def write(self, examples: NDArray[np.int64], rows: Array) -> None:
        """Write the rows of some examples; with "clip" NumPy makes no copy of them first."""
        places = self.place[self.columns[examples]]
        if len(self.columns) == self.effects.shape[1]:
            np.take(self.effects, places, axis=0, out=rows, mode="clip")
        else:
            gram_kernel.take_block(self.effects, places, self.columns, rows)

    def has(self, examples: NDArray[np.int64]) -> Flags:
        """Tell whose rows are there."""
        return np.asarray(self.place[self.columns[examples]] >= 0)


class Tableau:
    """K, pivoted on the examples of `base`; rows of T are there for those that were added."""

    def __init__(
        self,
        gram: Array,
        y: Array,
        candidates: NDArray[np.int64],
        *,
        ridge: float = 0.0,
        whole: bool = True,
        pivots: Pivots | None = None,
        known: KnownRows | None = None,
    ) -> None:
        """Pivot on the candidates, but for those that depend on the others.

        With `pivots` that has been done, and with `known` rows of some examples are there.
        """
        n, scale = len(y), spread(gram)
        self.gram, self.floor, self.known = gram, PIVOT * scale, known
        self.ridge = min(max(ridge, RIDGE * scale), LARGEST_RIDGE * scale)
        if pivots is None:
            among = block_of(gram, candidates, candidates)
            among.flat[:: len(candidates) + 1] += self.ridge
            block = empty_block(len(candidates))
            fill_block(among, np.arange(len(candidates)), block, INDEPENDENT * scale)
            pivots = pivots_on(gram, block, candidates[members_of(block)])
        self.members, self.inverse, self.across, self.reply = pivots
        self.base = np.zeros(n, bool)
        self.base[self.members] = True
        self.own = self.answer_to(y)
        diagonal = np.diagonal(gram)
        # How far z goes for one unit of the margin, at least.
        self.reach = 1.0 / np.where(diagonal > 0.0, diagonal, scale)
        self.values, self.place, self.size = np.empty((0, n)), np.full(n, -1), 0
        self.is_whole = whole
        if whole:
            self.add(np.arange(n))

    @property
    def arrays(self) -> tuple[Array, NDArray[np.int64], NDArray[np.uint8], Array]:
        """What compiled functions take of it."""
        return self.values, self.place, self.base.view(np.uint8), self.reach

    def add(self, examples: NDArray[np.int64]) -> None:
        """Add the rows of further examples."""
        is_new = np.zeros(len(self.place), bool)
        is_new[examples] = True
        examples = np.flatnonzero(is_new & (self.place < 0))
        taken = examples[:0]
        if self.known is not None:
            there, is_free = self.known.has(examples), self.base[examples]
            taken = np.concatenate([examples[there & is_free], examples[there & ~is_free]])
            examples = np.concatenate([taken, examples[~there]])
        first, self.size = self.size, self.size + len(examples)
        if self.size > len(self.values):
            room = min(self.size + self.size // 4, len(self.place))
            larger = np.empty((room, len(self.place)))
            larger[:first] = self.values[:first]
            self.values = larger
        self.place[examples] = np.arange(first, self.size)
        if self.known is not None and len(taken):
            # Rows of the pivoted have the other sign there, and those of the others no ridge.
            rows, negated = self.values[first : first + len(taken)], self.base[taken].sum()
            self.known.write(taken, rows)
            np.negative(rows[:negated], out=rows[:negated])
            rows[np.arange(negated, len(taken)), taken[negated:]] += self.ridge
            examples = examples[len(taken) :]
        is_free = self.base[examples]
        bounded, free = examples[~is_free], examples[is_free]
        of_bounded = self.gram[bounded]
        of_bounded -= times_others(self.across[:, bounded].T, self.reply, self.members)
        of_bounded[np.arange(len(bounded)), bounded] += self.ridge
        of_bounded[:, self.members] = -self.reply[1:, bounded].T
        order = np.argsort(self.members)
        at = order[np.searchsorted(self.members, free, sorter=order)] + 1
        of_free = -self.reply[at]
        of_free[:, self.members] = -self.inverse[at, 1:]
        self.values[self.place[bounded]], self.values[self.place[free]] = of_bounded, of_free

    def answer_to(self, targets: Array, totals: "Array | float" = 0.0) -> Array:
        """Return what the tableau gives for these targets and Σz, and nothing given."""
        inside = targets[..., self.members]
        answer = np.asarray(targets - inside @ self.reply[1:] - totals * self.reply[0])
        answer[..., self.members] = -inside @ self.inverse[1:, 1:] - totals * self.inverse[0, 1:]
        return answer

    def pivoted(self, given: Array, effect: Array, total: Array) -> Array:
        """Return Tq of rows of q from Kq and Σq; both may know of examples outside the tableau."""
        inside = np.column_stack([total, effect[:, self.members]])
        effect = effect + self.ridge * given
        effect -= inside @ self.reply
        effect[:, self.members] = -(inside @ self.inverse)[:, 1:]
        return effect


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
    middle: Solution  # at the mean of all bounds, or near it
    tolerance: float

    @property
    def columns(self) -> "NDArray[np.intp] | slice":
        """Those trained on; nothing is copied where these are all."""
        return slice(None) if len(self.train) == self.gram.shape[1] else self.train


@dataclass(frozen=True, eq=False)
class Bounds:
    """The bounds of z in some replicates, and what examples that take no part add to them."""

    lower: Array
    upper: Array
    targets: Array = field(default_factory=lambda: np.empty(0))  # y − Kz of those who do not
    totals: "Array | float" = 0.0  # Σz of those who do, one row per replicate
    pulls: "Array | float" = 0.0  # K z of those who do not, on all examples

    @classmethod
    def of(cls, y: Array, bounds: Array) -> "Bounds":
        """Turn bounds of α into bounds of yα."""
        return cls(np.minimum(y, 0.0) * bounds, np.maximum(y, 0.0) * bounds, y)

    def of_some(self, which: NDArray[np.intp]) -> "Bounds":
        """Take those of some replicates."""
        lower, upper = self.lower[which], self.upper[which]
        if isinstance(self.totals, float) or isinstance(self.pulls, float):
            return Bounds(lower, upper, self.targets)
        targets = self.targets[which] if self.targets.ndim > 1 else self.targets
        return Bounds(lower, upper, targets, self.totals[which], self.pulls[which])

    def has_inside(self, z: Array) -> Flags:
        """Tell in which replicates somebody is free for sure, and pins the bias down.

        It may be rounding that keeps an example off its bound.
        """
        found = np.empty(len(z), bool)
        lower, upper = np.ascontiguousarray(self.lower), np.ascontiguousarray(self.upper)
        kernel.find_inside(lower, upper, z, INSIDE, found.view(np.uint8))
        return found

    def misses(self, z: Array) -> Flags:
        """Tell in which replicates Σz is not what it must be."""
        missing = np.empty(len(z), bool)
        kernel.miss_all(z, each(self.totals, len(z)), BALANCED, missing.view(np.uint8))
        return missing


def each(totals: "Array | float", count: int) -> Array:
    """Return one total for each replicate."""
    return np.full(count, totals) if isinstance(totals, float) else np.ravel(totals)


@dataclass(frozen=True, eq=False)
class Attempt:
    """What rounds have come to: decisions are worth something where `good`."""

    decisions: Array
    good: Flags
    free: Flags
    work: Array  # nanoseconds, by the number of equations
    gap: Array

    def replace(self, which: NDArray[np.intp], other: "Attempt") -> None:
        """Take some of the solutions from another attempt, and add its work."""
        for mine, its in (
            (self.decisions, other.decisions),
            (self.good, other.good),
            (self.free, other.free),
            (self.gap, other.gap),
        ):
            mine[which] = its
        self.work[which] += other.work


class Ends(NamedTuple):
    """Where rounds have ended: z, who is at which bound, whether that is settled, the work."""

    z: Array
    sides: Sides
    settled: Flags
    work: Array

    def of_some(self, which: NDArray[np.intp]) -> "Ends":
        """Take some replicates."""
        return Ends(self.z[which], self.sides[which], self.settled[which], self.work[which])


def padded(gram: Array) -> Single:
    """Return K in single precision and whole blocks."""
    k = len(gram)
    m = -(-k // BLOCK) * BLOCK
    single = np.zeros((m, m), np.float32)
    single[:k, :k] = gram
    return single


def started(batch: Batch, bounds: Bounds) -> Single:
    """Start every replicate from the solution at the mean bounds; return the states of steps.

    Who is at a bound there starts at it; the free stay where they are, as far as they may.
    """
    lower, upper, alpha = bounds.lower, bounds.upper, batch.middle.alpha
    full = alpha >= (1.0 - ROUNDING) * batch.middle.upper
    z = np.clip(batch.y * np.where(full, np.inf, alpha), lower, upper)
    (count, k), m = lower.shape, batch.single.shape[1]
    states = np.zeros((count, STEP_ROWS, m), np.float32)
    states[:, LOWER, :k], states[:, UPPER, :k] = lower, upper
    states[:, Z, :k] = balanced(z, lower, upper, bounds.totals)
    states[:, GRADIENT, :k] = bounds.targets
    states[:, GRADIENT] -= states[:, Z] @ batch.single
    states[:, DIAGONAL] = np.diagonal(batch.single)
    return states


def balanced(
    z: Array,
    lower: Array,
    upper: Array,
    total: "Array | float" = 0.0,
    order: NDArray[np.int64] = NO_ORDER,
) -> Array:
    """Bring every Σz to its total within the bounds, first by those that are free.

    Where these do not suffice, by all in proportion, or one after the other in the order given.
    To share rounding out would take bounded examples off their bounds.
    """
    z = np.array(z, order="C")
    lower, upper = np.ascontiguousarray(lower), np.ascontiguousarray(upper)
    kernel.balance_all(z, lower, upper, each(total, len(z)), order, EXCESS)
    return z


def descend(batch: Batch, states: Single, gap: float) -> NDArray[np.int64]:
    """Improve all states until their gaps are at most `gap`; return the steps that took."""
    taken = np.empty(len(states), np.int64)
    floor = float(MIN_CURVATURE * np.abs(np.diagonal(batch.single)).max())
    most = STEPS_PER_EXAMPLE * len(batch.y)
    kernel.descend_all(batch.single, states, floor, gap, most, taken)
    return taken


def attempt(batch: Batch, steps: Single, bounds: Bounds) -> Attempt:
    """Solve exactly from who is at which bound after steps, and judge the solutions.

    What the ridge and rounding left over at the free examples is made up for once.
    """
    states, sides = begun(batch, steps, bounds)
    ends = settled_from(batch.tableau, states, sides, bounds.lower, bounds.upper)
    if 2.0 * batch.tableau.ridge * np.abs(ends.z).max() > batch.tolerance:
        left_over = np.where(ends.sides == 0, batch.tableau.ridge * ends.z, 0.0)
        ends = mended(batch, states, ends, bounds, left_over)
    outcome = judged(batch, bounds, ends)
    again = np.flatnonzero(ends.settled & ~outcome.good & (outcome.gap <= NEARLY))
    if len(again):
        some, part = bounds.of_some(again), ends.of_some(again)
        left_over = batch.y - outcome.decisions[again][:, batch.columns]
        left_over = np.where(part.sides == 0, left_over, 0.0)
        once_more = mended(batch, states[again], part, some, left_over)
        outcome.replace(again, judged(batch, some, once_more))
    return outcome


def mended(batch: Batch, states: Array, ends: Ends, bounds: Bounds, left_over: Array) -> Ends:
    """Go on from where rounds have ended, with targets that make up for what was left over."""
    states[:, GOT] += batch.tableau.answer_to(left_over)
    more = settled_from(batch.tableau, states, ends.sides, bounds.lower, bounds.upper)
    return more._replace(settled=more.settled & ends.settled, work=more.work + ends.work)


def judged(batch: Batch, bounds: Bounds, ends: Ends) -> Attempt:
    """Measure on K itself what `settled_from` returned."""
    z, sides, settled, work = ends
    decisions = z @ batch.gram
    decisions += bounds.pulls
    bias, gap = np.empty(len(z)), np.empty(len(z))
    gradient = np.ascontiguousarray(batch.y - decisions[:, batch.columns])
    kernel.measure_all(bounds.lower, bounds.upper, z, gradient, bias, gap)
    good = settled & (gap <= batch.tolerance)
    good &= bounds.has_inside(z) & ~bounds.misses(z)
    decisions += bias[:, None]
    return Attempt(decisions, good, sides == 0, work, gap)


def begun(batch: Batch, steps: Single, bounds: Bounds) -> tuple[Array, Sides]:
    """Return the states that rounds start from, and who is at which bound."""
    tableau, shape, takes_all = batch.tableau, bounds.lower.shape, isinstance(bounds.totals, float)
    states, sides = np.empty((shape[0], ROUND_ROWS, shape[1])), np.empty(shape, np.int8)
    is_base = tableau.base.view(np.uint8)
    kernel.begin_all(steps, bounds.lower, bounds.upper, is_base, states, sides)
    own = tableau.own if takes_all else tableau.answer_to(bounds.targets, bounds.totals)
    np.subtract(own, states[:, GIVEN] @ tableau.values, out=states[:, GOT])
    return states, sides


def settled_from(tableau: Tableau, start: Array, sides: Sides, lower: Array, upper: Array) -> Ends:
    """Take rounds from states; they are left in `start` as far as they came."""
    if not tableau.is_whole:
        tableau.add(np.flatnonzero(((sides == 0) != tableau.base).any(axis=0)))
    sides = sides.copy()
    verdicts, work = np.full(len(start), NEEDED), np.zeros(len(start))
    for _ in range(GROWTHS):
        needed = np.zeros(len(tableau.base), np.uint8)
        kernel.settle_all(
            *tableau.arrays, start, sides, tableau.floor, ROUNDS, needed, verdicts, work
        )
        if not needed.any():
            break
        tableau.add(np.flatnonzero(needed))
    z, is_base = np.empty(sides.shape), tableau.base.view(np.uint8)
    lower, upper = np.ascontiguousarray(lower), np.ascontiguousarray(upper)
    kernel.end_all(start, sides, lower, upper, is_base, verdicts, z)
    return Ends(z, sides, verdicts == SETTLED, work)


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
    with few_blas_threads(gram, workers):
        batch = shared(gram, y[train].astype(np.float64), train, bounds, tolerance)
        plan = piloted(batch, bounds) if len(bounds) >= WORTH_A_PILOT else Plan(batch, FIRST)
        decisions, core, done = np.empty((len(bounds), gram.shape[1])), None, 0
        if len(bounds) >= WORTH_A_CORE and plan.first < len(ROUGH):
            decisions[:CHUNK] = decisions_of(plan, bounds[:CHUNK])
            core, done = Core.of(plan, decisions[:CHUNK]), CHUNK
        left = np.arange(done, len(bounds))
        if core is not None:
            parts = in_threads(core.decisions_of, chunks_of(bounds[done:]), threads=workers)
            np.concatenate([part for part, _ in parts], out=decisions[done:])
            left = left[~np.concatenate([solved for _, solved in parts])]
        if len(left):
            chunks = chunks_of(bounds[left])
            others = in_threads(partial(decisions_of, plan), chunks, threads=workers)
            decisions[left] = np.concatenate(others)
    return decisions


def chunks_of(bounds: Array) -> list[Array]:
    """Cut replicates into even chunks, an even number of them: two workers end at one time.

    The fewer examples, the more replicates are in a chunk.
    """
    size = min(max(CHUNK_NUMBERS // max(bounds.shape[1], 1), CHUNK), MAX_CHUNK)
    chunks = -(-len(bounds) // size)
    return np.array_split(bounds, chunks + chunks % 2 if chunks > 1 else 1)


def core_of(margins: Array) -> tuple[Flags, Flags]:
    """Say who may be on either side of the margin, and who of the others is at its bound.

    Margins of further SVMs are taken to be normal with the mean and the spread of those given: the
    surest are left out, as long as few SVMs are expected to have one of them on its other side.
    Who is on the margin in one of those given is not: its side of it there is rounding.
    """
    core, mean = np.ones(margins.shape[1], bool), margins.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = ndtr(np.nan_to_num(-np.abs(mean - 1.0) / margins.std(axis=0)))
    chances[(np.abs(margins - 1.0) <= ON_THE_MARGIN).any(axis=0)] = 1.0
    surest = np.argsort(chances, kind="stable")
    core[surest[np.cumsum(chances[surest]) <= OBJECTING]] = False
    if core.mean() > MAX_CORE or not core.any():
        core[:] = True
    return core, ~core & (mean < 1.0)


@dataclass(frozen=True, eq=False)
class Core:
    """Those who may be on either side of the margin; the others keep their sides."""

    plan: Plan
    y: Array
    inside: NDArray[np.intp]
    outside: NDArray[np.intp]
    held: Flags
    rows: Array  # of K: those held, with all examples
    train: NDArray[np.intp]

    @classmethod
    def of(cls, plan: Plan, pilots: Array) -> "Core | None":
        """Choose them by the decisions of some replicates; None if nearly all take part."""
        batch = plan.batch
        if not len(pilots):
            return None
        margins = batch.y * pilots[:, batch.columns]
        inside, held = core_of(margins)
        if inside.all():
            return None
        who, y = np.flatnonzero(inside), batch.y[inside]
        among = np.ascontiguousarray(batch.among[np.ix_(who, who)])
        often_free = (np.abs(margins - 1.0) <= ON_THE_MARGIN).mean(axis=0)[who] > 0.5
        base = np.flatnonzero(often_free) if often_free.any() else np.arange(1)
        middle = replace(
            batch.middle,
            y=y,
            upper=batch.middle.upper[who],
            alpha=batch.middle.alpha[who],
            decision=batch.middle.decision[who],
        )
        own = Batch(
            gram=batch.gram[who],
            among=among,
            single=padded(among),
            train=batch.train[who],
            y=y,
            tableau=Tableau(among, y, base, ridge=batch.tableau.ridge),
            middle=middle,
            tolerance=batch.tolerance,
        )
        return cls(
            plan=Plan(own, plan.first),
            y=batch.y,
            inside=who,
            outside=np.flatnonzero(~inside),
            held=held,
            rows=batch.gram[held],
            train=batch.train,
        )

    def decisions_of(self, bounds: Array) -> tuple[Array, Flags]:
        """Return the decisions of a chunk of replicates, and which of them are solved."""
        batch = self.plan.batch
        fixed = self.y[self.held] * np.compress(self.held, bounds, axis=1)
        pulls = fixed @ self.rows
        chunk = replace(
            Bounds.of(batch.y, np.take(bounds, self.inside, axis=1)),
            targets=batch.y - pulls[:, batch.train],
            totals=-fixed.sum(axis=1, keepdims=True),
            pulls=pulls,
        )
        decisions, left, _ = attempts(self.plan, chunk)
        solved = np.ones(len(bounds), bool)
        solved[left] = False
        margins = self.y[self.outside] * decisions[:, self.train[self.outside]]
        objects = np.where(self.held[self.outside], margins > 1.0, margins < 1.0)
        objects &= bounds[:, self.outside] > 0.0
        return decisions, solved & ~objects.any(axis=1)


def shared(
    gram: Array, y: Array, train: NDArray[np.intp], bounds: Array, tolerance: float
) -> Batch:
    """Solve the SVM at the mean bounds, and pivot on who is free there."""
    rows = gram[train]
    among = np.ascontiguousarray(rows[:, train])
    middle = solve_gram(among, y, bounds.mean(axis=0), tolerance=tolerance)
    ridge = RIDGE_OF_GAP * tolerance / float(bounds.max() or 1.0)
    tableau = Tableau(among, y, free_in(middle), ridge=ridge)
    return Batch(rows, among, padded(among), train, y, tableau, middle, tolerance)


def free_in(solution: Solution) -> NDArray[np.intp]:
    """Name who is free; a tableau needs somebody to see the others from."""
    free = np.flatnonzero(solution.free)
    return free if len(free) else np.arange(1)


def piloted(batch: Batch, bounds: Array) -> Plan:
    """Try every rough gap on a few replicates; plan for the cheapest, with the base that suits."""
    pilots = Bounds.of(batch.y, bounds[:PILOTS])
    start, n = started(batch, pilots), len(batch.y)
    given_up = cost_of_a_path(n, int(np.count_nonzero(batch.middle.free)))
    walked, free = np.zeros(len(start)), np.zeros((0, n), bool)
    tries: list[tuple[Array, Attempt]] = []
    for gap in ROUGH:
        walked = walked + (STEP + STEP_PER_EXAMPLE * n) * descend(batch, start, gap)
        outcome = attempt(batch, start, pilots)
        tries.append((walked, outcome))
        free = outcome.free[outcome.good] if outcome.good.any() else free
        # Steps alone, and one round at least, are now dearer than the best that was found.
        if walked.mean() + outcome.work.mean() / ROUNDS > min(costs_of(tries, given_up)):
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
    for walked, outcome in reversed(tries):
        after = np.where(outcome.good, walked, after) + outcome.work
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
    tableau = Tableau(batch.among, batch.y, base, ridge=batch.tableau.ridge)
    return replace(batch, tableau=tableau)


def decisions_of(plan: Plan, bounds: Array) -> Array:
    """Solve the replicates of one chunk."""
    batch = plan.batch
    if plan.first == len(ROUGH):
        path = start_of(batch.among, batch.middle)
        return np.array([finished(batch, upper, batch.middle, path) for upper in bounds])
    decisions, left, steps = attempts(plan, Bounds.of(batch.y, bounds))
    stands = steps[:, Z, : len(batch.y)].astype(np.float64)
    for place, z in zip(left, stands, strict=True):
        start = replace(batch.middle, alpha=np.abs(z))
        decisions[place] = finished(batch, bounds[place], start, None)
    return decisions


def attempts(plan: Plan, chunk: Bounds) -> tuple[Array, NDArray[np.intp], Single]:
    """Return the decisions of a chunk of replicates, who is not settled, and where these stand."""
    batch, count = plan.batch, len(chunk.lower)
    decisions = np.empty((count, batch.gram.shape[1]))
    left, steps = np.arange(count), started(batch, chunk)
    for gap in ROUGH[plan.first :]:
        descend(batch, steps, gap)
        outcome = attempt(batch, steps, chunk)
        if len(left) == count:
            decisions = outcome.decisions
        decisions[left[outcome.good]] = outcome.decisions[outcome.good]
        again = np.flatnonzero(~outcome.good)
        left, steps, chunk = left[again], steps[again], chunk.of_some(again)
        if not len(left):
            break
    return decisions, left, steps


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
