"""Cochran's Q, the test of whether several models are equally good on the same examples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from truerisk.checks import shown
from truerisk.errors import InputError


@dataclass(frozen=True, kw_only=True)
class OmnibusTest:
    """A test of whether several models are equally good: its statistic, degrees and p-value."""

    statistic: float
    degrees: int
    p_value: float
    method: str


def cochran_q(right: ArrayLike) -> OmnibusTest:
    r"""Test whether k models judge the same n examples rightly equally often.

    .. math:: Q = (k - 1)\, \frac{k \sum_j G_j^2 - N^2}{k N - \sum_i L_i^2}

    with G right answers of each model, L right answers on each example and N in all.  If every
    model is right equally often *and* the models are exchangeable, Q follows χ² with k − 1 degrees
    of freedom for many independent examples; those on which all models agree do not count.  For two
    models it is McNemar's asymptotic test.  Where no example tells the models apart, Q is 0 and the
    p-value 1.

    Parameters
    ----------
    right
        n × k: 1 or True where the model of the column judges the example of the row rightly.

    References
    ----------
    .. [1] W. G. Cochran, "The comparison of percentages in matched samples", Biometrika 37(3/4),
       256-266, 1950. https://doi.org/10.2307/2332378

    Examples
    --------
    >>> test = cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])
    >>> round(test.statistic, 4), test.degrees, round(test.p_value, 4)
    (5.2, 2, 0.0743)
    """
    table = np.asarray(right)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise InputError(
            "`right` must have a row for every example and a column for each of two models or "
            f"more; got the shape {table.shape}."
        )
    if table.dtype.kind not in "biuf" or not np.all((table == 0) | (table == 1)):
        wrong = [value for value in table.ravel().tolist() if value not in {0, 1}]
        raise InputError(f"`right` must hold 0 and 1 only; got {shown(wrong[0])}.")
    models = table.shape[1]
    # Python's integers: the squares of counts of many millions stay exact.
    by_model = [int(count) for count in np.count_nonzero(table, axis=0)]
    by_example = np.bincount(np.count_nonzero(table, axis=1), minlength=models + 1)
    total = sum(by_model)
    open_to_doubt = sum(
        count * int(rows) * (models - count) for count, rows in enumerate(by_example)
    )
    if open_to_doubt == 0:
        return OmnibusTest(statistic=0.0, degrees=models - 1, p_value=1.0, method="cochran_q")
    apart = models * sum(count * count for count in by_model) - total * total
    statistic = (models - 1) * apart / open_to_doubt
    return OmnibusTest(
        statistic=statistic,
        degrees=models - 1,
        p_value=float(chdtrc(models - 1, statistic)),
        method="cochran_q",
    )
