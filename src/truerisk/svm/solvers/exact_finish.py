"""From an interior point to the vertex: every α exactly 0, exactly U, or on the margin.

Problem   that of `interior_point`, whose answer is strictly inside: no α is 0 or U
Given     an interior point close enough that share and surplus tell most examples apart
Returns   α and u, and how far they are from optimal
Method    Each example is held at 0, held at U, or free with its margin at 1.  The free ones and u
          solve metric·u = Rᵀα and r·u = 1 by the method of multipliers, with the weights of the
          interior point: the system has the size of u however many are free, and where α is not
          unique (equal examples, lattices) it is the one next to the analytic centre.  A free α
          that leaves its box is then held, and an example on the wrong side of its margin freed.
Source    R. T. Rockafellar, Math. Oper. Res. 1 (1976) 97-116, for the method of multipliers
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truerisk.svm.solvers.interior_point import (
    BLOCK,
    REST,
    SHARE,
    SLACK,
    SURPLUS,
    factorise,
    solve_factored,
    weighted_gram,
)

Array = NDArray[np.float64]

MOST_ROUNDS = 50
MOST_CORRECTIONS = 12
ON_THE_MARGIN = 1e-9  # no example is freed for less
NEGLIGIBLE = 1e-14  # of the largest share: what is freed to so little is held at 0
ROUNDING = 1e-11  # of Σ|r|α, what metric·u = Rᵀα may lack: α has no more digits than float64


@dataclass(frozen=True)
class Vertex:
    """α and u; `gap` is the largest violation of optimality, in units of the margin."""

    alpha: Array
    u: Array
    gap: float


def finish(rows: Array, upper: Array, metric: Array, u: Array, state: Array) -> Vertex:
    """Find the optimum next to an interior point; give the best vertex met."""
    share, rest = state[SHARE], state[REST]
    top = share.max()
    free = (share > top * state[SURPLUS]) & (rest > state[SLACK])
    alpha = np.where(free, upper * share, np.where(share > rest, upper, 0.0))
    weights = upper / (state[SURPLUS] / share + state[SLACK] / rest)
    ordinary = np.median(weights / upper)
    vertices = []
    for _ in range(MOST_ROUNDS):
        held = rows.T @ np.where(free, 0.0, alpha)
        alpha[free], u = _balance(rows[free], weights[free], metric, held, alpha[free], u)
        low = free & (alpha <= NEGLIGIBLE * top * upper)
        high = free & (alpha >= upper)
        alpha[low], alpha[high] = 0.0, upper[high]
        free &= ~(low | high)
        if not free.any():
            u = _centred(rows, upper, alpha, u)
        margin = rows @ u
        wrong = ~free & np.where(alpha > 0.0, margin > 1.0, margin < 1.0)
        wrong &= np.abs(margin - 1.0) > ON_THE_MARGIN
        if not (low.any() or high.any()):
            vertices.append(vertex_of(rows, upper, metric, alpha, u))
            if not wrong.any():
                break
        free |= wrong
        weights[wrong] = ordinary * upper[wrong]
    vertices.append(vertex_of(rows, upper, metric, alpha, u))
    return min(vertices, key=lambda vertex: vertex.gap)


def bounds_of_bias(y: Array, upper: Array, alpha: Array, margin: Array) -> tuple[float, float]:
    """Give the largest y − f of those that may rise, and the smallest of those that may fall."""
    short = y * (1.0 - margin)
    rises = np.where(y > 0.0, alpha < upper, alpha > 0.0)
    falls = np.where(y > 0.0, alpha > 0.0, alpha < upper)
    return float(short[rises].max(initial=-np.inf)), float(short[falls].min(initial=np.inf))


def vertex_of(rows: Array, upper: Array, metric: Array, alpha: Array, u: Array) -> Vertex:
    """Measure a vertex; where α and u disagree by more than rounding, α has the last word."""
    y, allowed = rows[:, -1], ROUNDING * (np.abs(rows).T @ alpha)
    lacking = np.abs(rows.T @ alpha - metric * u)
    if lacking[-1] > allowed[-1]:
        positive, negative = alpha[y > 0.0].sum(), alpha[y < 0.0].sum()
        side = np.where(y > 0.0, positive, negative)
        alpha = alpha * min(positive, negative) / np.where(side > 0.0, side, 1.0)
    if np.any(lacking > allowed):
        u = np.append((rows.T @ alpha)[:-1] / metric[:-1], u[-1])
        u = _centred(rows, upper, alpha, u)
    most, least = bounds_of_bias(y, upper, alpha, rows @ u)
    return Vertex(alpha.copy(), u, max(0.0, most - least))


def _centred(rows: Array, upper: Array, alpha: Array, u: Array) -> Array:
    """Move the bias to the middle of where the examples allow it to be."""
    bounds = bounds_of_bias(rows[:, -1], upper, alpha, rows @ u)
    finite = [bound for bound in bounds if np.isfinite(bound)]
    return np.append(u[:-1], u[-1] + np.mean(finite))


def _balance(  # noqa: PLR0917 - the six letters of one system
    rows: Array, weights: Array, metric: Array, held: Array, alpha: Array, u: Array
) -> tuple[Array, Array]:
    """Solve metric·u = held + Rᵀα and R u = 1 next to the given α and u."""
    m = rows.shape[1]
    factor, product = np.empty((m, m)), np.empty((m, m))
    weighted_gram(rows, weights, np.zeros((max(1, min(len(rows), BLOCK)), m)), product, factor)
    factor[np.diag_indices(m)] += metric
    factorise(factor)
    for _ in range(MOST_CORRECTIONS):
        short = 1.0 - rows @ u
        du = held + rows.T @ (alpha + weights * short) - metric * u
        solve_factored(factor, du)
        alpha = alpha + weights * (short - rows @ du)
        u = u + du
    return alpha, u
