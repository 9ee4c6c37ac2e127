"""Standard errors and intervals for any smooth measure of cell totals: the delta method.

A measure is a function of the totals of the cells of a table (for two classes tp, fp, fn, tn).  Its
gradient comes from complex steps, exact to rounding, no derivative is worked out by hand.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array
from truerisk.checks import check_level, check_number
from truerisk.errors import InputError
from truerisk.intervals.normal import logistic, normal_quantile
from truerisk.intervals.student import student_quantile
from truerisk.results import Interval

CellFunction = Callable[[NDArray[np.complex128]], NDArray[np.complex128]]

STEP = 1e-100  # nothing is subtracted, so it can be as small as one likes
BLOCK = 2**20  # entries of the table of steps that are held at a time


def cell_gradient(function: CellFunction, cells: ArrayLike) -> Array:
    r"""Give the derivative of a measure by each cell total.

    .. math:: \frac{\partial f}{\partial c_j} = \mathrm{Im}\, f(c + i h e_j) / h, \qquad h \to 0

    Exact to rounding wherever the function is made of + − × ÷, roots and powers (no absolute
    values, no maxima, no conjugates: those are not functions of a complex number).

    `function` maps an array (…, m) of complex cell totals to (…).

    References
    ----------
    .. [1] W. Squire and G. Trapp, "Using complex variables to estimate derivatives of real
       functions", SIAM Review 40(1), 110-112, 1998. https://doi.org/10.1137/S003614459631241X

    Examples
    --------
    >>> def recall(cells):  # of tp, fp, fn, tn
    ...     return cells[..., 0] / (cells[..., 0] + cells[..., 2])
    >>> cell_gradient(recall, [30, 5, 10, 55])
    array([ 0.00625,  0.     , -0.01875,  0.     ])
    """
    totals = np.asarray(cells, dtype=np.float64).ravel()
    m = totals.size
    gradient = np.empty(m)
    rows = max(1, BLOCK // max(m, 1))
    for first in range(0, m, rows):
        at = np.arange(first, min(first + rows, m))
        steps = np.tile(totals.astype(np.complex128), (at.size, 1))
        steps[np.arange(at.size), at] += 1j * STEP
        with np.errstate(divide="ignore", invalid="ignore"):  # undefined comes out as NaN
            gradient[at] = np.imag(function(steps)) / STEP
    return gradient


def standard_error(gradient: ArrayLike, cell_squares: ArrayLike) -> float:
    r"""Give the standard error of a measure that depends on the *shares* of the cells only.

    .. math:: \sqrt{\sum_c s_c\, g_c^2}

    With :math:`s_c` the counts this is the multinomial delta method: the variance is
    :math:`\sum n_c g_c^2 - (\sum n_c g_c)^2 / n`, and the last term is 0 because a function that
    does not change when all totals are multiplied has :math:`\sum n_c g_c = 0` (Euler).  With
    weights each example moves its cell by its weight: its squared influence is
    :math:`w_i^2 g_c^2`, and :math:`s_c` is the sum of the squared weights in the cell.  Right for
    many independent examples.

    Examples
    --------
    >>> round(standard_error([0.00625, 0, -0.01875, 0], [30, 5, 10, 55]), 5)  # √(¾·¼/40)
    0.06847
    """
    slopes, squares = np.asarray(gradient, float).ravel(), np.asarray(cell_squares, float).ravel()
    used = squares > 0  # an empty cell adds nothing, whatever its slope
    return math.sqrt(float(np.sum(squares[used] * slopes[used] ** 2)))


def student_factor(units: float, level: float) -> float:
    r"""Say how much wider than the normal quantile few independent units make an interval.

    .. math:: t_{units - 1} / z

    A variance estimated from few units is itself uncertain, and as often too small as too large.

    Examples
    --------
    >>> round(student_factor(5, 0.95), 3), round(student_factor(1000, 0.95), 3)
    (1.417, 1.001)
    """
    tail = (1 - check_level(level)) / 2
    return float(student_quantile(max(units - 1, 1), tail) / normal_quantile(tail))


def wald_interval(
    value: float, standard_error: float, *, level: float = 0.95, method: str = "wald"
) -> Interval:
    """Give value ± z · standard error, unclipped: the form in which others print their intervals.

    For comparison only; it may leave the range of the measure.

    Examples
    --------
    >>> print(wald_interval(0.78, 0.14))
    [0.506, 1.054] at 95 %
    """
    spread = -float(normal_quantile((1 - check_level(level)) / 2)) * check_number(
        standard_error, "standard_error", low=0.0
    )
    return Interval(value - spread, value + spread, float(level), method)


def normal_interval(value: float, deviation: float, *, level: float, method: str) -> Interval:
    r"""Give value ± z · deviation, cut off at 0 and 1.

    Covers as promised if what is estimated by `value` is normal around the truth, with this
    deviation.

    Examples
    --------
    >>> print(normal_interval(0.1, 0.02, level=0.95, method="rho_based"))
    [0.061, 0.139] at 95 %
    """
    if not math.isfinite(deviation):
        raise InputError(f"`deviation` must be a finite number; got {deviation!r}.")
    whole = wald_interval(value, deviation, level=level)
    return Interval(max(whole.low, 0.0), min(whole.high, 1.0), float(level), method)


def delta_interval(
    value: float,
    standard_error: float,
    *,
    measure_range: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
    method: str = "delta",
) -> Interval | None:
    r"""Give a normal interval on the scale on which the measure has no end, mapped back.

    .. math:: T(f) \pm z\, T'(f)\, se, \qquad T = \mathrm{logit},\ \ln \text{ or identity}

    for a finite range, one that is bounded on one side, and none.  It lies in the range and
    contains the value.  Covers about as often as it promises for many examples and a value away
    from the ends.

    `standard_error` is on the measure's own scale; `measure_range` is infinite where there is no
    end.

    Returns
    -------
    None where the method degenerates: no standard error or one of 0, or a value at an end of the
    range.  The caller then needs an interval that does not (`replicates.dirichlet_cells`).

    Examples
    --------
    >>> print(delta_interval(0.78, 0.14))
    [0.417, 0.946] at 95 %
    >>> print(delta_interval(1.0, 0.0))
    None
    """
    z = -float(normal_quantile((1 - check_level(level)) / 2))
    low, high = measure_range
    usable = math.isfinite(value) and math.isfinite(standard_error) and standard_error > 0
    if not usable or not low < value < high:
        return None
    if math.isfinite(low) and math.isfinite(high):
        # Both distances keep their digits where a share of the range would be rounded to 0 or 1.
        below, above = value - low, high - value
        spread = z * standard_error * (high - low) / (below * above)
        centre = math.log(below) - math.log(above)
        ends = [low + (high - low) * float(logistic(centre + s)) for s in (-spread, spread)]
    elif math.isfinite(low):
        ratio = math.exp(min(z * standard_error / (value - low), 700.0))
        ends = [low + (value - low) / ratio, low + (value - low) * ratio]
    elif math.isfinite(high):
        ratio = math.exp(min(z * standard_error / (high - value), 700.0))
        ends = [high - (high - value) * ratio, high - (high - value) / ratio]
    else:
        ends = [value - z * standard_error, value + z * standard_error]
    # Rounding must not put an end on the wrong side of the value.
    return Interval(min(ends[0], value), max(ends[1], value), float(level), method)
