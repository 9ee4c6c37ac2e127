"""Many support vector machines on one Gram matrix, which differ in their bounds only.

Problem   that of `gram_dual` for every row of a table of bounds
Given     K of all examples, the labels, who is trained on, and the bounds of each replicate
Returns   the decision value of every example under each replicate
Method    From the solution at the mean bounds, steps of two examples (`batch_gram_steps`) until it
          is roughly known who is at which bound; then rounds of equations (`batch_gram_rounds`)
          until it is known exactly.  A few replicates, solved first in every way, tell how rough is
          best, and on whom to pivot.  What K does not confirm is left to `gram_dual`; and where
          that is most, because few examples are free and many depend on them, all of it is left to
          the paths of `cost_path`.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.gram.cost_path import move, start_of
from truerisk.svm.gram.dual import solve_gram
from truerisk.svm.gram.path import FreeBlock, Path
from truerisk.svm.solution import Solution
from truerisk.svm.solvers import batch_gram_steps as steps
from truerisk.svm.solvers.batch_gram_tableau import Tableau
from truerisk.svm.solvers.batch_gram_tries import (
    ROUNDS,
    Attempt,
    Batch,
    Bounds,
    attempt,
    descend,
    padded,
    started,
)

CHUNK = 64  # replicates; not a matter of workers, so that these do not change a bit
ROUGH = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)  # gaps at which rounds may be tried
FIRST = ROUGH.index(0.01)  # where nothing is known
PILOTS = 8  # replicates
WORTH_A_PILOT = 64  # replicates
STEP, STEP_PER_EXAMPLE = 150.0, 0.7  # nanoseconds, as measured


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
    r"""Solve one machine for every row of bounds; give its decision value of every example.

    .. math:: f(x) = \sum_i \alpha_i y_i K(x_i, x) + b, \qquad 0 \le \alpha_i \le U_i, \quad
              \sum_i \alpha_i y_i = 0

    The gap of every solution is at most `tolerance`, measured on the Gram matrix itself and mostly
    a rounding error; so f is that of the optimum, and its sign is right wherever f is not within
    rounding of 0.  Where the bias is one of many it is the middle of them.  An indefinite matrix
    ends, as in `solve_gram`, where no pair of examples wants to move; K must be symmetric.

    Parameters
    ----------
    gram
        K(x, x′) of every pair of examples, trained on or not.
    y
        Labels −1 and 1 of every example.
    train
        Which examples are trained on, in ascending order.
    bounds
        What each α of those may be at most, one row a replicate; 0 leaves the example out.
    tolerance
        The gap that is good enough.
    workers
        Threads; their number changes no bit of the result.

    References
    ----------
    .. [1] M. Hintermüller, K. Ito and K. Kunisch, "The primal-dual active set strategy as a
       semismooth Newton method", SIAM Journal on Optimization 13(3), 865-888, 2002.
       https://doi.org/10.1137/S1052623401383558

    Examples
    --------
    >>> x = np.array([-2.0, -1.0, 1.0, 3.0])
    >>> y = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> gram_decisions(np.outer(x, x), y, np.arange(4), np.array([[1.0, 1.0, 1.0, 1.0],
    ...                                                           [1.0, 0.0, 0.0, 1.0]])).round(9)
    array([[-2. , -1. ,  1. ,  3. ],
           [-1. , -0.6,  0.2,  1. ]])
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
    """Solve the machine at the mean bounds, and pivot on who is free there."""
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
    """Give what it costs to begin with each try and, where that fails, to go on with the next."""
    after = tries[-1][0] + given_up
    costs = []
    for walked, found in reversed(tries):
        after = np.where(found.good, walked, after) + found.work
        costs.append(float(after.mean()))
    return costs[::-1]


def cost_of_a_path(n: int, free: int) -> float:
    """Give the nanoseconds of a path, as measured: an event for every third example."""
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
        alpha = np.abs(state[steps.Z, : len(batch.y)].astype(np.float64))
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
