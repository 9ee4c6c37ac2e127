"""What is believed of two classifiers after n data sets: the Bayesian signed-rank test."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array
from truerisk.checks import check_number, check_random_state, check_whole_number
from truerisk.comparison.datasets.signed_rank import check_differences

PRIOR_STRENGTH = 0.5  # of one data set on which both classifiers do equally well
DRAWS = 20_000
MAX_CELLS = 2**21  # drawn at a time


@dataclass(frozen=True, kw_only=True)
class PracticalPosterior:
    """Probabilities that the second classifier is practically worse, equivalent or better.

    Within ± region the two are equivalent; with a region of 0, only where nothing differs at all.
    """

    worse: float
    equivalent: float
    better: float
    region: float
    method: str

    @property
    def reversed(self) -> "PracticalPosterior":
        """The same of the first classifier, against the second."""
        return PracticalPosterior(
            worse=self.better,
            equivalent=self.equivalent,
            better=self.worse,
            region=self.region,
            method=self.method,
        )


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    region: float = 0.0,
    strength: float = PRIOR_STRENGTH,
    draws: int = DRAWS,
    random_state: int | np.random.Generator | None = 0,
) -> PracticalPosterior:
    r"""Give the probabilities that a classifier is better than, or equivalent to, another one.

    The differences over data sets have an unknown distribution, whose prior is a Dirichlet process
    of strength s about a difference of 0.  Its posterior gives the n differences, and z₀ = 0,
    random weights :math:`w \sim \mathrm{Dirichlet}(s, 1, \dots, 1)`, and with them the chances that
    the mean of the differences of two data sets lies above, within, or below the region,

    .. math:: \theta_{above} = \sum_{i,j} w_i w_j [z_i + z_j > 2r], \quad
              \theta_{within} = \sum_{i,j} w_i w_j [|z_i + z_j| \le 2r].

    Each probability is the share of draws of w in which that chance is the largest.  With a region
    of 0 only above and below are compared.  Found by simulation: with 20,000 draws the standard
    error is at most 0.0035.  Neither the order of the data sets nor which classifier comes first
    changes the result.

    Parameters
    ----------
    differences
        Second classifier less first, positive where the second is better.
    region
        Differences of at most this much do not matter.
    strength
        s, the weight of the prior in data sets.

    References
    ----------
    .. [1] A. Benavoli, F. Mangili, G. Corani, M. Zaffalon and F. Ruggeri, "A Bayesian Wilcoxon
       signed-rank test based on the Dirichlet process", ICML 2014, 1026-1034.
    .. [2] A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis", JMLR 18(77), 1-36, 2017.

    Examples
    --------
    >>> found = bayesian_signed_rank([0.03, -0.01, 0.04, 0.02, 0.05], region=0.01)
    >>> found.better > 0.8, found.worse < 0.01
    (True, True)
    """
    column = check_differences(differences)
    check_number(region, "region", low=0.0)
    check_number(strength, "strength", low=np.finfo(float).tiny)
    check_whole_number(draws, "draws", low=1)
    rng = check_random_state(random_state)
    # The same draws for the differences as they are and turned round: swapping the classifiers
    # then swaps the result exactly.
    wins = np.zeros(3)
    for weights in _weights(column.size, strength, draws, rng):
        wins += _largest(weights, column, region) + _largest(weights, -column, region)[::-1]
    worse, equivalent, better = (wins / (2 * draws)).tolist()
    return PracticalPosterior(
        worse=worse,
        equivalent=equivalent,
        better=better,
        region=float(region),
        method="bayesian_signed_rank",
    )


def _weights(n: int, strength: float, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Draw the weights of the prior and of n differences, a bounded number at a time.

    They are not divided by their sum: which of three chances is the largest does not need that.
    """
    most = max(1, MAX_CELLS // (n + 1))
    for start in range(0, draws, most):
        size = min(most, draws - start)
        prior = rng.standard_gamma(strength, (size, 1))
        yield np.concatenate([prior, rng.standard_exponential((size, n))], axis=1)


def _largest(weights: Array, differences: Array, region: float) -> Array:
    """Count the draws in which below, within and above have the largest chance."""
    # Weights go by the size of a difference, not by its row.
    order = np.lexsort((differences, np.abs(differences)))
    z = np.concatenate([[0.0], differences[order]])
    rising = np.argsort(z, kind="stable")
    z, sorted_weights = z[rising], weights[:, rising]
    upto = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(sorted_weights, axis=1)], axis=1)
    # zᵢ + zⱼ > 2r holds for all j from a place on, zᵢ + zⱼ < −2r for all before another.
    above_from = np.searchsorted(z, 2 * region - z, side="right")
    below_to = np.searchsorted(z, -2 * region - z, side="left")
    above = (sorted_weights * (upto[:, -1:] - upto[:, above_from])).sum(axis=1)
    below = (sorted_weights * upto[:, below_to]).sum(axis=1)
    total = upto[:, -1]
    within = np.maximum(total**2 - above - below, 0.0) if region > 0 else np.zeros(len(weights))
    is_above = above > np.maximum(below, within)
    is_below = below > np.maximum(above, within)
    rest = len(weights) - is_above.sum() - is_below.sum()
    return np.array([is_below.sum(), rest, is_above.sum()], dtype=np.float64)
