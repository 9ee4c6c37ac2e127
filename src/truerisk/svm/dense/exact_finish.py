"""From an interior point to the vertex: every α exactly 0, exactly U, or on the margin.

Problem   that of the interior point, whose answer is strictly inside: no α is 0 or U
Given     an interior point close enough that share and surplus tell most examples apart
Returns   α and u, and how far they are from optimal
Method    Each example is held at 0, held at U, or free with its margin at 1.  The free ones and u
          solve metric·u = Rᵀα and r·u = 1; where α is not unique (equal examples, lattices), it is
          the one next to the analytic centre.  On the way there the first free α to reach its
          bound is held; once there, the example furthest on the wrong side of its margin is freed.
          The dual objective falls with every round.
Source    active sets: J. Nocedal and S. Wright, Numerical Optimization, 2nd ed. 2006, §16.5
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dgeqp3, dorgqr, dtrtrs

from truerisk.aliases import Array
from truerisk.svm.solution import bounds_of_bias

SHARE, REST, SURPLUS, SLACK = range(4)  # the rows of `state`: α/U, 1 − α/U, r·u over 1, ξ
CORRECTIONS = 2  # solve, and once more for the rounding of the first
RANK = 1e-12  # of its column: what QR leaves of it, if less, is nothing
PATIENCE = 8  # rounds
PIECE = 2**14  # examples
LAPACK_BLOCK = 32  # columns
ON_THE_MARGIN = 1e-9  # units of the margin: what is closer to it than this is on it
NEGLIGIBLE = 1e-14  # of the largest share: a free α of so little is held at 0
ROUNDING = 1e-13  # of Σ|r|α, what metric·u = Rᵀα may lack: α has no more digits than float64


@dataclass(frozen=True)
class Problem:
    """The rows y(z, 1), the bounds U and the metric of the interior point."""

    rows: Array
    upper: Array
    metric: Array

    @cached_property
    def y(self) -> Array:
        """The classes, in one piece of memory."""
        return np.ascontiguousarray(self.rows[:, -1])

    def magnitude(self, alpha: Array) -> Array:
        """Sum |r|α, in pieces: no second table is held."""
        total = np.zeros(self.rows.shape[1])
        for i in range(0, len(alpha), PIECE):
            total += np.abs(self.rows[i : i + PIECE]).T @ alpha[i : i + PIECE]
        return total


@dataclass(frozen=True)
class Vertex:
    """α and u; `gap` is the largest violation of optimality, in units of the margin."""

    alpha: Array
    u: Array
    gap: float


@dataclass(frozen=True)
class Aim:
    """Where the free α should go: `step`, at most `longest` times, and u at its end.

    `excess` is by how many they are more than can all be on the margin, if no two are equal.
    """

    u: Array
    step: Array
    longest: float
    excess: int = 0


def finish(
    problem: Problem, u: Array, state: Array, *, tolerance: float, max_rounds: int
) -> Vertex:
    """Find the optimum next to an interior point; return the best vertex met.

    The first rounds go on for as long as anything can be gained, later ones to `tolerance` only.
    They end at once where more are free than they can hold, one in a round.
    """
    rows, upper, share, rest = problem.rows, problem.upper, state[SHARE], state[REST]
    least = NEGLIGIBLE * share.max() * upper
    free = (share > share.max() * state[SURPLUS]) & (rest > state[SLACK])
    alpha = np.where(free, upper * share, np.where(share > rest, upper, 0.0))
    allowed = ROUNDING * problem.magnitude(upper * share)
    weights = upper * share * rest
    best = None
    for taken in range(max_rounds):
        enough = min(tolerance, ON_THE_MARGIN) if taken < PATIENCE else tolerance
        held = rows.T @ np.where(free, 0.0, alpha)
        aim = balance(rows[free], weights[free], problem.metric, held, alpha[free], u)
        if aim.excess > max_rounds - taken:
            break
        if not _go(alpha, free, aim, least, upper):
            continue
        u = aim.u if free.any() else _centred(problem, alpha, aim.u)
        vertex = vertex_of(problem, alpha, u, allowed)
        best = vertex if best is None or vertex.gap < best.gap else best
        if vertex.gap <= enough:
            return vertex
        freed = _furthest(rows @ u, upper, alpha)
        free[freed] = True
        weights[freed] = share.max() * upper[freed]
    return best or vertex_of(problem, alpha, u, allowed)


def _go(alpha: Array, free: NDArray[np.bool_], aim: Aim, least: Array, upper: Array) -> bool:
    """Move the free α towards their aim, in place; hold those that meet a bound on the way."""
    start, low, high = alpha[free], least[free], upper[free]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(aim.step < 0.0, start / -aim.step, (high - start) / aim.step)
    room = np.where(aim.step == 0.0, np.inf, room)
    length = min(aim.longest, room.min(initial=np.inf))
    moved = start + length * aim.step
    moved = np.where((room <= length) & (aim.step < 0.0) | (moved <= low), 0.0, moved)
    moved = np.where((room <= length) & (aim.step > 0.0) | (moved >= high), high, moved)
    alpha[free] = moved
    free[free] = (moved > 0.0) & (moved < high)
    return bool(length == aim.longest)


def _furthest(margin: Array, upper: Array, alpha: Array) -> int:
    """Name the held example that is furthest on the wrong side of its margin."""
    beyond = np.where(alpha >= upper, margin - 1.0, np.where(alpha <= 0.0, 1.0 - margin, 0.0))
    return int(np.argmax(beyond))


def vertex_of(problem: Problem, alpha: Array, u: Array, allowed: Array) -> Vertex:
    """Measure a vertex; where α and u disagree by more than is allowed, α has the last word."""
    rows, y, metric = problem.rows, problem.y, problem.metric
    lacking = np.abs(rows.T @ alpha - metric * u)
    if lacking[-1] > allowed[-1]:
        positive, negative = alpha[y > 0.0].sum(), alpha[y < 0.0].sum()
        side = np.where(y > 0.0, positive, negative)
        alpha = alpha * (min(positive, negative) / np.where(side > 0.0, side, 1.0))
    if np.any(lacking > allowed):
        u = np.append((rows.T @ alpha)[:-1] / metric[:-1], u[-1])
        u = _centred(problem, alpha, u)
    most, least = bounds_of_bias(y, problem.upper, alpha, rows @ u)
    return Vertex(alpha.copy(), u, max(0.0, most - least))


def _centred(problem: Problem, alpha: Array, u: Array) -> Array:
    """Move the bias to the middle of where the examples allow it to be."""
    bounds = bounds_of_bias(problem.y, problem.upper, alpha, problem.rows @ u)
    finite = [bound for bound in bounds if np.isfinite(bound)]
    return np.append(u[:-1], u[-1] + np.mean(finite))


def balance(  # noqa: PLR0917 - the six letters of one system
    rows: Array, weights: Array, metric: Array, held: Array, alpha: Array, u: Array
) -> Aim:
    """Solve metric·u = held + Rᵀα and R u = 1 next to the given α and u.

    R u = 1 fixes u but for the null space of R, where metric·u = held fixes it; the rest is made up
    by the smallest change of α in its weights.  Where R u = 1 has no solution, its residual is a
    direction along which the objective falls, without end but the bounds, and u stays.
    """
    if not len(rows):
        return Aim(np.append(held[:-1] / metric[:-1], u[-1]), alpha, 1.0)
    plane = _Plane.of(rows, np.sqrt(weights), metric)
    end = alpha
    for _ in range(CORRECTIONS):
        u = u + plane.towards(1.0 - rows @ u)
        u = u + plane.along(held + rows.T @ end - metric * u)
        end = end + plane.across(metric * u - held - rows.T @ end)
    short = 1.0 - rows @ u
    if np.abs(short).max() > ON_THE_MARGIN:
        return Aim(u, weights * short, np.inf, len(rows) - len(plane.first))
    return Aim(u, end - alpha, 1.0)


@dataclass(frozen=True)
class _Plane:
    """All u with R u = 1, by QR with pivoting of √weights·R in units where the metric is 1.

    Large columns go first, so the null space N = (−G, I), G = R₁⁻¹R₂, is exact in every column.
    """

    roots: Array
    units: Array
    q: Array
    r: Array
    first: NDArray[np.intp]
    others: NDArray[np.intp]
    g: Array
    curvature: Array

    @classmethod
    def of(cls, rows: Array, roots: Array, metric: Array) -> Self:
        units = np.append(metric[:-1] ** -0.5, 0.0)
        # The bias has no metric: in the largest units of all it is always among the first.
        units[-1] = 1e3 * units.max(initial=1.0)
        scaled = roots[:, None] * rows * units
        q, r, order = _pivoted_qr(scaled)
        lost = np.abs(np.diagonal(r)) <= RANK * np.linalg.norm(scaled, axis=0)[order[: len(r)]]
        rank = int(np.argmax(lost)) if lost.any() else len(r)
        g = _solve(r[:rank, :rank], r[:rank, rank:])
        weighs = order[:rank] != len(metric) - 1
        return cls(
            roots=roots,
            units=units,
            q=q[:, :rank],
            r=r[:rank, :rank],
            first=order[:rank],
            others=order[rank:],
            g=g,
            curvature=np.eye(len(order) - rank) + g.T @ (weighs[:, None] * g),
        )

    def towards(self, short: Array) -> Array:
        """Return the change of u which makes up for what R u is short of."""
        change = np.zeros(len(self.units))
        change[self.first] = _solve(self.r, self.q.T @ (self.roots * short))
        return change * self.units

    def along(self, lacking: Array) -> Array:
        """Return the change of u in the null space which the metric lacks."""
        pull = lacking * self.units
        step = np.linalg.solve(self.curvature, pull[self.others] - self.g.T @ pull[self.first])
        change = np.zeros(len(pull))
        change[self.others], change[self.first] = step, -self.g @ step
        return change * self.units

    def across(self, lacking: Array) -> Array:
        """Return the smallest change of α, in its weights, that Rᵀα lacks."""
        change = _solve(self.r, (lacking * self.units)[self.first], transposed=True)
        return self.roots * (self.q @ change)


def _pivoted_qr(matrix: Array) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return Q, R and the order of the columns, by LAPACK itself, as `_solve` does."""
    columns, size = matrix.shape[1], min(matrix.shape)
    packed, order, tau, _, _ = dgeqp3(matrix, lwork=2 * columns + LAPACK_BLOCK * (columns + 1))
    q, _, _ = dorgqr(packed[:, :size], tau, lwork=LAPACK_BLOCK * size)
    return np.asarray(q), np.triu(packed[:size]), np.asarray(order, np.intp) - 1


def _solve(triangle: Array, right: Array, *, transposed: bool = False) -> Array:
    """Solve with an upper triangle, by LAPACK itself: SciPy's checks take four times as long."""
    if not right.size:
        return np.zeros(right.shape)
    if triangle.flags.f_contiguous:
        solution, singular = dtrtrs(triangle, right, trans=int(transposed))
    else:  # its transpose needs no copy
        solution, singular = dtrtrs(triangle.T, right, lower=1, trans=int(not transposed))
    if singular:
        raise LinAlgError("A triangle of a problem's rows is singular.")
    return np.asarray(solution).reshape(right.shape)
