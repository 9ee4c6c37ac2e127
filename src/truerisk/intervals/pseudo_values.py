r"""The interval of a score of which only values are known, from refits, by pseudo-values.

The pseudo-values p of `truerisk.learners.scoring` are to a score what losses are to a mean
loss.  Less their mean they take the place of the influences ψ of
`truerisk.intervals.variance_components`, whose :math:`V_1`, u and :math:`s^2` give

.. math:: V = \frac{n}{n - 1} \bigl(V_1 (1 + u) + \max(0, s^2)\bigr), \qquad
          v \pm t_\nu \sqrt V

The range of the score is not known, so the interval is Student's.  With :math:`\bar\psi_i` the mean
of an example over its judgements, the degrees of freedom ν fall with their kurtosis
(`kurtosis_degrees`), and the end on the side to which they are skewed is further out by

.. math:: \frac{1 + 2 z^2}{6} \cdot \frac{|\sum_i \bar\psi_i^3|}{n^3 V}
          + \frac{\max_i |\bar\psi_i|}{n}

The first term is that of Johnson's t [1]_ and Hall [2]_, the second what one more example like the
most extreme one would add.  The form was chosen among 17 by simulation on 14 problems;
`studies/audit/scorers.py` measures it on others.

References
----------
.. [1] N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical populations",
   Journal of the American Statistical Association 73(363), 536-544, 1978.
.. [2] P. Hall, "On the removal of skewness by transformation", Journal of the Royal Statistical
   Society B 54(1), 221-228, 1992.
"""

import math

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Ends
from truerisk.intervals.distributions import normal_quantile, student_quantile
from truerisk.intervals.group_jackknife import EVEN, kurtosis_degrees
from truerisk.intervals.variance_components import NO_VARIANCE, OTHER, Components, components
from truerisk.results import Interval

METHOD = "pseudo_values"
MIN_UNITS = 3  # examples or groups; two have one degree of freedom


def pseudo_value_interval(
    value: float,
    pseudo: Array,
    refits: NDArray[np.integer],
    *,
    level: float,
    weights: Array | None = None,
    groups: NDArray[np.generic] | None = None,
) -> Interval | None:
    """Give the interval of a score from the pseudo-values of its examples; None without a spread.

    `value` is the mean of the scores of the refits.  `pseudo` and `refits`, R × n, are the
    pseudo-value of example i in repetition r, NaN where it was not judged, and the number of the
    refit that judged it.  `weights` says how many examples each column stands for.  With `groups`
    the units are groups, and `weights` must be left out.
    """
    judged = ~np.isnan(pseudo)
    ever = judged.any(axis=0)
    pseudo, refits, judged = pseudo[:, ever], refits[:, ever], judged[:, ever]
    counts = np.ones(pseudo.shape[1]) if weights is None else weights[ever]
    of_examples = np.where(judged, pseudo, 0.0).sum(axis=0) / judged.sum(axis=0)
    centre = float(np.average(of_examples, weights=counts))
    moved, size = of_examples - centre, float(counts.sum())
    if groups is None:
        parts, few = _weighted(pseudo - centre, refits, counts), size / max(size - 1, 1)
    else:
        # V₁ of groups is G/(G − 1) times as large already.
        parts, few = components(pseudo - centre, refits, groups[ever]), 1.0
        _, numbers = np.unique(groups[ever], return_inverse=True)
        moved = np.bincount(numbers, moved) * parts.units / size
        size, counts = float(parts.units), np.ones(parts.units)
    # Pseudo-values that differ by less differ by rounding.
    scale = max(value**2, float(np.mean(of_examples**2)))
    if len(moved) < MIN_UNITS or not parts.independent > NO_VARIANCE * scale:
        return None
    below, above = _reach(moved, counts, few * parts.variance(OTHER), level)
    method = METHOD if groups is None else f"cluster_{METHOD}"
    interval = Interval(value - below, value + above, float(level), method)
    return parts.described(interval, OTHER) if parts.repeated else interval


def _weighted(influence: Array, refits: NDArray[np.integer], counts: Array) -> Components:
    """Give the components of n examples of which some stand for several.

    Squares count once for each example that a column stands for, sums in a refit as often.
    """
    if (counts == 1).all():
        return components(influence, refits)
    n, columns = float(counts.sum()), len(counts)
    squares = components(influence * np.sqrt(counts * columns / n), refits)
    sums = components(influence * counts * columns / n, refits)
    return Components(
        squares.independent * columns / n, squares.disagreement, sums.together, squares.units
    )


def _reach(moved: Array, counts: Array, variance: float, level: float) -> Ends:
    """Give how far the interval reaches below and above the value."""
    tail, size = (1 - level) / 2, float(counts.sum())
    degrees = max(kurtosis_degrees(moved * np.sqrt(counts)), 1.0)
    half = -student_quantile(degrees, tail) * math.sqrt(variance)
    cubes = math.fsum(counts * moved**3)
    skewness = cubes / math.fsum(counts * np.abs(moved) ** 3)
    z = float(normal_quantile(tail))
    further = (1 + 2 * z * z) / 6 * abs(cubes) / (size**3 * variance)
    further += float(np.abs(moved).max()) / size
    # Rounding must not decide which side is the far one: even examples have none.
    return half + further * (skewness < -EVEN), half + further * (skewness > EVEN)
