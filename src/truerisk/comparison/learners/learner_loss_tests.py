"""Tests of two learners by the losses of single examples, each judged in several refits."""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from truerisk.aliases import Ends
from truerisk.comparison.learners.learner_outcome import (
    Outcome,
    normal_ends,
    student_ends,
    without_spread,
)
from truerisk.intervals.cross_validation import nested_interval
from truerisk.tallies.votes import GroupedJudgements, Judgements

LOSSES = np.array([-1.0, 0.0, 1.0])  # by which the loss of the second exceeds that of the first


def by_nested_cross_validation(differences: NDArray[np.int8], parts: NDArray[np.intp]) -> Outcome:
    r"""Test by nested cross-validation: the interval and the z of the corrected difference.

    The losses −1, 0, 1 are brought to 0, ½, 1, of which everything that nested cross-validation
    finds is an affine function.

    Parameters
    ----------
    differences
        R × K × n: second loss less first, laid out as `nested_interval` wants the losses.
    parts
        R × n: the fold of each example.

    Examples
    --------
    >>> parts = np.arange(60)[None] % 3
    >>> losses = np.tile((np.arange(60) % 5 == 0).astype(np.int8), (1, 3, 1))
    >>> found = by_nested_cross_validation(losses, parts)
    >>> [round(end, 3) for end in found.ends_at(0.95)]
    [0.098, 0.302]
    """
    name, n = "nested_cross_validation", differences.shape[2]
    found = nested_interval((differences + 1) / 2, parts)
    value = 2 * found.value - 1
    if found.interval is None:
        return without_spread(value, n, name)
    error = 2 * found.standard_error
    p_value = 2 * float(ndtr(-abs(value) / error))
    return Outcome(ends_at=partial(normal_ends, value, error), p_value=p_value, method=name)


def by_agreement(differences: NDArray[np.int8], groups: NDArray[np.intp] | None) -> Outcome:
    r"""Test by the variance of the votes: how far refits agree which of two is wrong.

    With :math:`d_{ri}` the difference of the losses of example i in repetition r, m its mean,
    :math:`s_i` the mean square of :math:`(d_{ri} - m)/n` over r and :math:`w_i` its variance

    .. math:: V = (1 + u) \sum_i s_i, \qquad u = \min\bigl(1,\ \sum_i w_i / \sum_i s_i\bigr)

    and the interval is m ± z √V.  With groups the sums over a group are the units, and Student's t
    of one degree less than there are groups takes the place of z.

    Parameters
    ----------
    differences
        R × n, each −1, 0 or 1.
    groups
        The group of each example, numbered from 0.

    Examples
    --------
    >>> always = np.repeat([1, -1, 0], [20, 10, 70])  # every repetition says the same: u = 0
    >>> found = by_agreement(np.tile(always, (3, 1)).astype(np.int8), None)
    >>> [round(end, 4) for end in found.ends_at(0.95)]  # .1 ± 1.96 √(.29 / 100)
    [-0.0055, 0.2055]
    """
    repetitions, n = differences.shape
    value = float(differences.mean())
    gradient = (LOSSES - value) / n
    cells = (differences + 1).astype(np.intp)
    if groups is None:
        votes = np.stack([(cells == cell).sum(axis=0) for cell in range(3)], axis=1)
        places = np.tile(np.arange(3), (n, 1))
        single = Judgements(places, votes.astype(np.float64), np.ones(n))
        variance, _ = single.variance(gradient)
        units, name = n, "agreement"
    else:
        grouped = GroupedJudgements(cells, groups)
        variance, _ = grouped.variance(gradient)
        units, name = grouped.units, "cluster_agreement"
    name = name if repetitions > 1 else name.replace("agreement", "pooled")
    if variance == 0:
        return _always_apart(value, units, name) if value else without_spread(0.0, units, name)
    error = math.sqrt(variance)
    if groups is None:
        ends, below = partial(normal_ends, value, error), float(ndtr(-abs(value) / error))
    else:
        ends = partial(student_ends, value, error, units - 1)
        below = float(stdtr(units - 1, -abs(value) / error))
    return Outcome(ends_at=ends, p_value=2 * below, method=name)


def _always_apart(sign: float, units: float, method: str) -> Outcome:
    """Test by the signs: one learner is wrong and the other right in all of n examples.

    If q is the chance of that, δ ≥ q − (1 − q), and n examples all show it with probability qⁿ.
    """

    def ends(level: float) -> Ends:
        least = 2 * math.exp(math.log(min((1 - level) / 2, 0.5)) / units) - 1
        return (least, 1.0) if sign > 0 else (-1.0, -least)

    return Outcome(ends_at=ends, p_value=min(1.0, 2 * 0.5**units), method=f"{method}, signs")
