"""The variance of a linear SVM's error by the formula of the document, without resampling."""

import math
import warnings
from typing import Any

import numpy as np

from truerisk.aliases import Array, ArrayLike
from truerisk.errors import InputError, UnstableWarning
from truerisk.intervals.delta import normal_interval
from truerisk.results import Interval

METHOD = "perturbation_plug_in"
MAX_FEATURES = 500  # beyond it H, a table of features by features, is of no use


def plug_in_interval(
    X: ArrayLike,
    y: ArrayLike,
    theta: ArrayLike,
    C: float,
    *,
    value: float | None = None,
    level: float = 0.95,
) -> Interval:
    r"""Give the normal interval with the plug-in variance of the error of a linear SVM.

    .. math:: \eta_i = 1[y_i f_i \le 0] - \hat D - \dot d\, H^{-1} M_i, \qquad
       \hat\sigma^2 = \frac{1}{n^2} \sum_i \eta_i^2

    with M the gradient of the hinge loss and its penalty, and the two densities at the margins by
    a normal kernel K of width h, Silverman's for the margins :math:`m_i = y_i f_i`:

    .. math:: H = \frac{1}{n} \sum_i K_h(1 - m_i)\, \tilde x_i \tilde x_i' + \frac{1}{Cn} I_w,
       \qquad \dot d = -\frac{1}{n} \sum_i K_h(m_i)\, y_i \tilde x_i

    The document names this variance, and calls its estimation difficult; the widths are ours.  It
    is right for n large beside the features; docs/coverage-of-perturbation.md says what it covers.

    Parameters
    ----------
    X, y
        The examples, and −1 or 1 for each.
    theta
        The weights of the features, then the bias.
    C
        The price of a loss, as in `tr.LinearSVM`.
    value
        The error that the interval is about; the error in training when not given.
    level
        Confidence level.

    References
    ----------
    .. [1] B. Jiang, X. Zhang and T. Cai, "Estimating the confidence interval for prediction errors
       of support vector machine classifiers", JMLR 9, 521-540, 2008, equations (7) and (14).

    Examples
    --------
    >>> X = [[2.0], [1.0], [0.5], [-0.5], [-1.0], [-2.0]]
    >>> print(plug_in_interval(X, [1, 1, -1, 1, -1, -1], [1.0, 0.0], 1.0))
    [0.000, 0.715] at 95 %
    """
    rows, signs, parameters = (np.asarray(one, dtype=np.float64) for one in (X, y, theta))
    if rows.ndim != 2 or rows.shape != (len(signs), len(parameters) - 1):
        raise InputError(
            "`X` must have one row for each of `y` and one column for each weight of `theta` but "
            f"the bias; got shapes {rows.shape}, {signs.shape} and {parameters.shape}."
        )
    wrong, influence = _influence(rows, signs, parameters, C)
    error = math.sqrt(float(influence @ influence)) / len(signs)
    return normal_interval(
        float(wrong.mean()) if value is None else value, error, level=level, method=METHOD
    )


def _influence(X: Array, signs: Array, theta: Array, C: float) -> tuple[Array, Array]:
    n = len(signs)
    wide = np.column_stack([X, np.ones(n)])
    margins = signs * (wide @ theta)
    width = max(1.06 * float(np.std(margins)) * n**-0.2, np.finfo(float).tiny)

    def density(distance: Array) -> Array:
        return np.asarray(np.exp(-0.5 * (distance / width) ** 2) / (width * math.sqrt(2 * np.pi)))

    penalty = np.append(theta[:-1], 0.0) / (C * n)
    hessian = (wide.T * density(1 - margins)) @ wide / n
    hessian[np.arange(len(theta) - 1), np.arange(len(theta) - 1)] += 1 / (C * n)
    slope = -(signs * density(margins)) @ wide / n
    gradients = -np.where(margins < 1, signs, 0.0)[:, None] * wide + penalty
    wrong = (margins <= 0).astype(np.float64)
    moved = gradients @ np.linalg.lstsq(hessian, slope, rcond=None)[0]
    return wrong, wrong - wrong.mean() - moved


def theta_of(model: Any, X: Any, y: Any) -> tuple[Array, Array, Array, float] | None:
    """Train a linear SVM; give examples, signs, weights with bias and C; None for other models."""
    from sklearn.svm import SVC, LinearSVC

    from truerisk.svm.kernels import dense
    from truerisk.svm.linear import LinearSVM

    is_linear = isinstance(model, (LinearSVM, LinearSVC)) or (
        isinstance(model, SVC) and model.kernel == "linear"
    )
    if not is_linear or model.class_weight is not None or X.shape[1] > MAX_FEATURES:
        return None
    rows = dense(X, np.float64)
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)  # told where the model itself is trained
        # Whole numbers: they need no look at what kind of labels they are.
        fitted = LinearSVM(C=model.C).fit(rows, signs.astype(np.int64))
    theta = np.append(np.ravel(fitted.coef_), np.ravel(fitted.intercept_))
    return rows, signs, theta, float(model.C)
