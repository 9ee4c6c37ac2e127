"""The .632 and .632+ rules: apparent error and error of examples left out, put together.

In all of them `apparent` is the error of a model on the examples it was trained on, and `left_out`
is Efron and Tibshirani's Err(1), the error of bootstrap refits on the examples they left out.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.checks import check_number, shown
from truerisk.errors import InputError

LARGEST_OVERFITTING = 4 / 3  # beyond it, and far from the pole, the printed formula is left
DRAWN = 0.632  # of the examples are in a bootstrap sample: 1 − 1/e; two rules carry its name

Codes = NDArray[np.int64]


def no_information_rate(y_codes: ArrayLike, predicted: ArrayLike, n_classes: int) -> float:
    r"""Give the error rate that these predictions would have if they had nothing to do with y.

    .. math:: \gamma = \sum_k p_k (1 - q_k)

    with :math:`p_k` the share of class k among the examples and :math:`q_k` among the predictions.

    Examples
    --------
    >>> no_information_rate([0, 0, 0, 1], [0, 0, 1, 1], 2)  # ¾ · ½ + ¼ · ½
    0.5
    """
    y = check_codes(y_codes, n_classes)
    called = check_column(predicted, len(y), "predicted")
    known = called[(called >= 0) & (called < n_classes)]
    of_class = np.bincount(y, minlength=n_classes)
    called_so = np.bincount(known, minlength=n_classes)
    return int(of_class @ (len(y) - called_so)) / len(y) ** 2


def relative_overfitting(apparent: float, left_out: float, no_information: float) -> float:
    r"""Give how far the error of examples left out is on its way to that of no information.

    .. math:: R = \frac{Err^{(1)} - \overline{err}}{\gamma - \overline{err}}

    0 where the model does not overfit (:math:`Err^{(1)}` or γ is not above the apparent error), 1
    where it learned nothing, at most 4/3 where it is worse than that.  [1]_ does not limit it from
    above, nor does the R package ipred; but .632+ has a pole at R = 1/.368.

    References
    ----------
    .. [1] B. Efron and R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92(438), 548-560, 1997. https://doi.org/10.1080/01621459.1997.10474007

    Examples
    --------
    >>> relative_overfitting(0.0, 0.25, 0.5)
    0.5
    """
    if not (left_out > apparent and no_information > apparent):
        return 0.0
    return min((left_out - apparent) / (no_information - apparent), LARGEST_OVERFITTING)


def error_632(apparent: float, left_out: float) -> float:
    r"""Give Efron's .632 estimate: too low by the apparent error, too high by the smaller samples.

    .. math:: .368\,\overline{err} + .632\,Err^{(1)}

    A bootstrap sample holds .632 of the examples, so that :math:`Err^{(1)}` is about a learner with
    fewer; the apparent error makes up for it.  Too low for models that overfit: a nearest neighbour
    that learns nothing gets .632 · ½.

    References
    ----------
    .. [1] B. Efron, "Estimating the error rate of a prediction rule: improvement on
       cross-validation", JASA 78(382), 316-331, 1983.
       https://doi.org/10.1080/01621459.1983.10477973

    Examples
    --------
    >>> round(error_632(0.1, 0.3), 4)
    0.2264
    """
    return (1 - DRAWN) * apparent + DRAWN * left_out


def error_632plus(apparent: float, left_out: float, no_information: float) -> float:
    r"""Give Efron and Tibshirani's .632+ estimate, which trusts the apparent error less if it lies.

    .. math:: Err^{(.632)} + (\min(Err^{(1)}, \gamma) - \overline{err})
              \frac{.368 \cdot .632\,R}{1 - .368\,R}

    with R of `relative_overfitting`: the .632 estimate at R = 0, :math:`Err^{(1)}` at R = 1.

    It equals what ipred gives as long as R does not exceed 4/3 and the estimate not 1.  It is not
    the ".632+" of mlxtend, which takes for the apparent error that of each refit on all examples,
    many of which it was not trained on, and averages over refits instead of examples.

    References
    ----------
    .. [1] B. Efron and R. Tibshirani, "Improvements on cross-validation: the .632+ bootstrap
       method", JASA 92(438), 548-560, 1997. https://doi.org/10.1080/01621459.1997.10474007

    Examples
    --------
    >>> round(error_632plus(0.0, 0.25, 0.5), 4)  # .158 + .25 · .116288 / .816
    0.1936
    """
    r = relative_overfitting(apparent, left_out, no_information)
    excess = min(left_out, no_information) - apparent
    correction = (1 - DRAWN) * DRAWN * r / (1 - (1 - DRAWN) * r)
    plus = error_632(apparent, left_out) + excess * correction
    return plus if plus <= 1 or math.isnan(plus) else 1.0


def check_codes(y_codes: ArrayLike, n_classes: int) -> Codes:
    """Return `y_codes` if each is the code of one of the classes."""
    y = np.asarray(y_codes)
    if y.ndim != 1 or y.size == 0 or y.dtype.kind not in "iu":
        raise InputError(f"`y_codes` must be a column of class codes; got {shown(y_codes)}.")
    for end in (y.min(), y.max()):
        check_number(int(end), "y_codes", low=0, high=n_classes - 1)
    return y.astype(np.int64)


def check_column(values: ArrayLike, n: int, name: str) -> Codes:
    """Return `values` if they are n whole numbers."""
    column = np.asarray(values)
    if column.shape != (n,) or column.dtype.kind not in "iu":
        raise InputError(
            f"`{name}` must hold a whole number for each of {n} examples; got {shown(values)}."
        )
    return column.astype(np.int64, copy=False)
