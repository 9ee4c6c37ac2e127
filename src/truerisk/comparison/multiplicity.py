"""Many tests at once: p-values adjusted to keep a false finding among all of them rare."""

import numpy as np
from numpy.typing import ArrayLike

from truerisk.aliases import Array
from truerisk.checks import shown
from truerisk.errors import InputError


def holm(p_values: ArrayLike) -> Array:
    r"""Adjust p-values by Holm's step-down rule.

    With the m p-values in rising order,

    .. math:: \tilde p_{(i)} = \max_{j \le i}\, \min(1,\, (m - j + 1)\, p_{(j)})

    The probability of one false finding or more among all is at most t if every adjusted p-value up
    to t counts as a finding, however the tests depend on each other.  Never larger than
    `bonferroni`, under the same promise.  NaN, an undefined test, stays NaN and is not counted.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
       of Statistics 6(2), 65-70, 1979.

    Examples
    --------
    >>> print(holm([0.01, 0.04, 0.03]))  # 3 · 0.01, then 2 · 0.03, then no less than that
    [0.03 0.06 0.06]
    """
    raw = _checked(p_values)
    adjusted = np.full(raw.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(raw))
    order = defined[np.argsort(raw[defined], kind="stable")]
    steps = np.arange(order.size, 0, -1) * raw[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def bonferroni(p_values: ArrayLike) -> Array:
    r"""Adjust p-values by their number: :math:`\min(1,\, m\, p)`.

    The promise is Holm's, at a higher price.  NaN, an undefined test, stays NaN and is not counted.

    References
    ----------
    .. [1] O. J. Dunn, "Multiple comparisons among means", JASA 56(293), 52-64, 1961.
       https://doi.org/10.1080/01621459.1961.10482090

    Examples
    --------
    >>> print(bonferroni([0.01, 0.04, 0.5]))
    [0.03 0.12 1.  ]
    """
    raw = _checked(p_values)
    return np.minimum(np.count_nonzero(~np.isnan(raw)) * raw, 1.0)


def hochberg(p_values: ArrayLike) -> Array:
    r"""Adjust p-values by Hochberg's step-up rule.

    With the m p-values in rising order,

    .. math:: \tilde p_{(i)} = \min_{j \ge i}\, (m - j + 1)\, p_{(j)}

    Never larger than Holm's; promises as much for independent tests and for those positively
    dependent, not for all.

    References
    ----------
    .. [1] Y. Hochberg, "A sharper Bonferroni procedure for multiple tests of significance",
       Biometrika 75(4), 800-802, 1988.

    Examples
    --------
    >>> print(hochberg([0.01, 0.04, 0.03]))  # 0.04, then min(0.04, 2 · 0.03), then 3 · 0.01
    [0.03 0.04 0.04]
    """
    raw = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(-raw, kind="stable")
    adjusted = np.empty_like(raw)
    steps = np.arange(1, raw.size + 1) * raw[order]
    adjusted[order] = np.minimum(np.minimum.accumulate(steps), 1.0)
    return adjusted


def _checked(p_values: ArrayLike) -> Array:
    raw = np.asarray(p_values, dtype=np.float64)
    if raw.ndim != 1:
        raise InputError(f"`p_values` must be a list of numbers; got the shape {raw.shape}.")
    wrong = raw[(raw < 0) | (raw > 1)]
    if wrong.size:
        raise InputError(f"`p_values` must lie in [0, 1]; got {shown(wrong[0].item())}.")
    return raw
