"""One machine trained many times on the same examples, each time with other weights of them.

A weight multiplies what an example's loss costs: α of example i may be at most C · weight i.  All
refits of one training part go to a solver as one batch, which shares what they have in common: the
features or the Gram matrix, and the solution at even weights to start from.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.kernels import Kernel, settle_kernel
from truerisk.svm.linear import LinearSVM
from truerisk.svm.one_vs_rest import targets_of, upper_bounds
from truerisk.svm.problems import gram_problem
from truerisk.svm.solvers.batch_gram import gram_decisions
from truerisk.svm.solvers.batch_interior_point import batch_decisions
from truerisk.svm.solvers.batch_logistic import logistic_decisions
from truerisk.svm.solvers.batch_rows import row_decisions
from truerisk.svm.solvers.low_rank import solve_features
from truerisk.svm.solvers.pivoted_cholesky import pivoted_features
from truerisk.svm.solvers.rows import as_rows

Array = NDArray[np.float64]
Which = NDArray[np.intp]
ACCEPTED = (
    "LinearSVM, KernelSVM, SVC, LogisticRegression with an L2 penalty, or a Pipeline that ends in "
    "one of these"
)
LOW_RANK = 64  # up to so many features a batch of interior points beats steps on the Gram matrix
FEW_FEATURES = 20  # under so many an interior point takes less than anything else
FEW_AT_BOUND = 0.05  # of the examples
PINNED = 0.85  # of the rank: so many free examples leave the machine no room
AT_BOUND = 1e-9  # relative
GRAM_EXAMPLES = 4000  # up to here the matrix of all products fits beside the work on it


def decisions_under(
    model: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: NDArray[Any],
    train: Which,
    weights: Array,
    *,
    workers: int = 1,
) -> Array:
    """Give the decision value of every example, by the model trained under each row of weights.

    What depends on the data beside the optimum (the steps of a pipeline, gamma="scale", "balanced"
    class weights) is settled once, on the training part as it is.

    Parameters
    ----------
    model
        The machine; it is cloned, not changed.
    X, y
        All examples, and their labels, of two classes.
    train
        The numbers of those that are trained on, rising.
    weights
        A row for each refit, a column for each example of `train`, none negative.
    workers
        Threads.

    Returns
    -------
    decisions
        A row for each refit, a column for each example of X.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> weights = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]])
    >>> decisions_under(LinearSVM(C=10), X, y, np.arange(4), weights).round(3)
    array([[-2.   , -1.   ,  1.   ,  2.   ],
           [-1.   , -0.333,  1.   ,  1.667]])
    """
    if isinstance(model, Pipeline):
        before = clone(model[:-1])
        rows = before.fit(_safe_indexing(X, train), y[train]).transform(X) if len(before) else X
        return decisions_under(model[-1], rows, y, train, weights, workers=workers)
    signs = targets_of(y).signs[0]
    prices = upper_bounds(targets_of(y[train]), model.C, model.class_weight, np.ones(len(train)))
    bounds = prices[0] * weights
    examples = _examples(X)
    with few_blas_threads(examples.shape[0], workers):
        return _decide(model, examples, signs, train, bounds, workers)


def check_model(model: Any) -> None:  # noqa: ANN401
    """Refuse a model whose refits cannot be batched, and say what can be done."""
    last = model[-1] if isinstance(model, Pipeline) else model
    if not isinstance(last, (LinearSVM, KernelSVM, SVC, LogisticRegression)):
        remedy = "For another model use tr.estimate."
        if type(last).__name__ == "LinearSVC":
            remedy = "Use LinearSVM, which leaves the bias free, or SVC(kernel='linear')."
        raise InputError(f"`model` must be {ACCEPTED}; got {shown(last)}. {remedy}")
    if isinstance(last, SVC) and last.kernel == "sigmoid":
        raise InputError(
            "`model` must have a kernel that is positive semidefinite; got 'sigmoid'. Use 'rbf' or "
            "'poly'."
        )
    if isinstance(last, LogisticRegression) and not _is_ridge(last):
        raise InputError(
            f"`model` must be a LogisticRegression with an L2 penalty and a bias; got "
            f"{shown(last)}. Set l1_ratio=0 and fit_intercept=True."
        )


def _is_ridge(model: LogisticRegression) -> bool:
    """Tell whether the penalty is that of squares, under either of the names it has had."""
    given = model.get_params()
    return (
        given.get("penalty") in {"l2", "deprecated"}
        and not given.get("l1_ratio")
        and bool(model.fit_intercept)
        and np.isfinite(model.C)
    )


def _decide(  # noqa: PLR0917 - what every solver takes
    model: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    signs: Array,
    train: Which,
    bounds: Array,
    workers: int,
) -> Array:
    """Choose the solver: by the loss, then by the form that costs least."""
    if isinstance(model, LogisticRegression):
        features = _dense(X)
        penalty = np.append(np.ones(features.shape[1]), 0.0)  # the bias is free
        return logistic_decisions(features, signs, train, bounds, penalty=penalty, workers=workers)
    if isinstance(model, LinearSVM) or model.kernel == "linear":
        if X.shape[1] <= LOW_RANK:
            return _by_features(_dense(X), signs, train, bounds, workers)
        if X.shape[0] > GRAM_EXAMPLES:
            return row_decisions(as_rows(X), signs, train, bounds, workers=workers)
        return _by_gram(_products(X), signs, train, bounds, workers)
    if model.kernel == "precomputed":
        return _by_gram(_dense(X), signs, train, bounds, workers)
    kernel = settle_kernel(
        model.kernel,
        X[train],
        gamma=model.gamma,
        degree=model.degree,
        coef0=model.coef0,
        sample_weight=np.ones(len(train)),
    )
    return _by_gram(gram_problem(kernel, X).gram, signs, train, bounds, workers)


def _by_gram(gram: Array, signs: Array, train: Which, bounds: Array, workers: int) -> Array:
    """Take a kernel of low rank for what it is, a linear machine on few features."""
    features = pivoted_features(gram, LOW_RANK)
    if features is None or _moves_little(features, signs, train, bounds):
        return gram_decisions(gram, signs, train, bounds, workers=workers)
    return batch_decisions(features, signs, train, bounds, workers=workers)


def _by_features(features: Array, signs: Array, train: Which, bounds: Array, workers: int) -> Array:
    if _moves_little(features, signs, train, bounds):
        return gram_decisions(_products(features), signs, train, bounds, workers=workers)
    return batch_decisions(features, signs, train, bounds, workers=workers)


def _moves_little(features: Array, signs: Array, train: Which, bounds: Array) -> bool:
    """Tell whether other weights hardly change the machine, so that steps from it are few.

    So it is where hardly an example is at its bound, and where the free ones do not pin the machine
    down to the last direction: by trial, steps on the Gram matrix then take a half to a seventh of
    the time of an interior point, which starts from the centre; elsewhere they take up to 12 times.
    """
    rank = features.shape[1]
    if rank < FEW_FEATURES or len(bounds) == 0:
        return False
    middle = bounds.mean(axis=0)
    found = solve_features(features[train], signs[train], middle)
    at_bound = np.count_nonzero(found.alpha >= middle * (1 - AT_BOUND))
    free = np.count_nonzero(found.alpha > middle * AT_BOUND) - at_bound
    return bool(at_bound <= FEW_AT_BOUND * len(train) and free <= PINNED * rank)


def _examples(X: Any) -> Any:  # noqa: ANN401
    """Give the examples as numbers, all of them finite."""
    if hasattr(X, "tocsr"):
        rows = X.tocsr()
        if not np.isfinite(rows.data).all():
            raise InputError("`X` must be finite; got NaN or infinity in a sparse matrix.")
        return rows
    try:
        table = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "`X` must be a table of numbers; got others. Encode them in a Pipeline, by a "
            "OneHotEncoder, say."
        ) from None
    if table.ndim != 2:
        raise InputError(f"`X` must have rows and columns; got shape {table.shape}.")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise InputError(
            f"`X` must be finite; got {table[row, column]} in row {row}, column {column}. Leave "
            "the example out, or fill gaps in a Pipeline, by a SimpleImputer, say."
        )
    return table


def _dense(X: Any) -> Array:  # noqa: ANN401
    return np.asarray(X.todense(), dtype=np.float64) if hasattr(X, "tocsr") else X


def _products(X: Any) -> Array:  # noqa: ANN401
    """Give the linear Gram matrix; a shift changes the bias alone, and spares it its digits."""
    if hasattr(X, "tocsr"):
        return Kernel("linear").between(X, X)
    shifted = X - X.mean(axis=0)
    gram: Array = shifted @ shifted.T
    return gram
