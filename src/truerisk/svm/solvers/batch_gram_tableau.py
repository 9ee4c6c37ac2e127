"""K with the condition Σz = 0, pivoted on examples that are free in most of many similar problems.

Problem   z of those pivoted on, and the remainder y − Kz − b of all others, given the rest
Given     K, the labels, and who may be pivoted on
Returns   T and `own` of `own − T q`, with q the remainder of the pivoted and z of the others
Source    the pivots: M. J. Tsatsomeros, Linear Algebra and its Applications 307 (2000), 151-165
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.svm.gram.path import empty_block, fill_block, members_of, spread

RIDGE = 1e-12  # of the largest K(x, x), added to each: equal examples share α then, in one way
PIVOT = 1e-14  # of the largest K(x, x): a pivot no larger is rounding


@dataclass(frozen=True, eq=False)
class Tableau:
    """K, pivoted on the examples of `base`."""

    values: Array
    own: Array
    base: NDArray[np.bool_]
    reach: Array  # how far z goes for one unit of the margin, at least
    floor: float

    @property
    def arrays(self) -> tuple[Array, NDArray[np.bool_], Array]:
        """What compiled functions take of it."""
        return self.values, self.base, self.reach

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
