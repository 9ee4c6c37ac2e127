"""One SVM trained many times on the same examples, each time with other weights of them.

A weight multiplies what an example's loss costs: α of example i may be at most C · weight i.  All
refits of one training part go to a solver as one batch, which shares what they have in common: the
features or the Gram matrix, and the solution at even weights to start from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils import _safe_indexing

from truerisk.aliases import Array, Indices
from truerisk.checks import shown
from truerisk.errors import InputError, RefitError
from truerisk.execution.threads import few_blas_threads
from truerisk.kernels import in_threads
from truerisk.svm.batch.features import batch_decisions
from truerisk.svm.batch.gram import gram_decisions
from truerisk.svm.batch.logistic import logistic_decisions
from truerisk.svm.batch.rows import row_decisions
from truerisk.svm.dense.features import pivoted_features, solve_features
from truerisk.svm.example_forms import as_numbers, centred, check_gram, has_one_scale, linear_gram
from truerisk.svm.freed_memory import keep_freed_memory
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.kernels import dense, kernel_of
from truerisk.svm.linear import LinearSVM
from truerisk.svm.one_vs_rest import Targets, check_cost, upper_bounds
from truerisk.svm.problems import FEW_FEATURES as FEATURES
from truerisk.svm.problems import gram_problem
from truerisk.svm.rows.matrix import as_rows

Solver = Callable[..., Array]  # of bounds, a row a refit, and a number of workers
ACCEPTED = (
    "LinearSVM, KernelSVM, SVC, NuSVC, LinearSVC(loss='hinge'), LogisticRegression with an L2 "
    "penalty, or a Pipeline or OneVsRestClassifier of one of these"
)
LOW_RANK = 64  # up to so many features a batch of interior points beats steps on the Gram matrix
# By trial, so many features and so many of the examples let steps from the SVM at even weights take
# half of the time of an interior point; with fewer they take up to 12 times as much.
FULL_RANK, NEARLY_FULL = 40, 0.6
# Where classes are nearly apart, steps take a half to an eighth of the time: with so many features,
# and on the margin at most this part of as many examples.  Who is beyond it counts three times.
SOME_FEATURES, FEW_DECIDE, BEYOND = 30, 0.75, 3
GRAM_EXAMPLES = 4000  # up to here the matrix of all products fits beside the work on it


def decisions_under(
    model: Any, X: Any, y: NDArray[Any], train: Indices, weights: Array, *, workers: int = 1
) -> Array:
    """Return the decision values by row of `weights`, one column per example of X.

    What depends on the data beside the optimum (steps of a pipeline, gamma="scale", "balanced") is
    settled once, on the training part as it is.
    """
    return prepared(model, X, y, train, workers=workers).decisions(weights)


@dataclass(frozen=True, eq=False)
class Prepared:
    """An SVM whose examples are in the form that its solver takes: what all its refits share."""

    solver: Solver
    prices: Array  # what α of each example in training may be at most, at weight 1
    examples: Any
    workers: int

    def decisions(self, weights: Array) -> Array:
        """Return the decision value of every example, one row per row of weights."""
        with few_blas_threads(self.examples, self.workers):
            return self.solver(self.prices * weights, workers=self.workers)


def prepared(model: Any, X: Any, y: NDArray[Any], train: Indices, *, workers: int = 1) -> Prepared:
    """Settle what depends on the data beside the optimum, once for any number of weights."""
    if isinstance(model, Pipeline):
        rows = _transformed(model, X, y, train) if len(model) > 1 else X
        return prepared(model[-1], rows, y, train, workers=workers)
    if isinstance(model, OneVsRestClassifier):
        return prepared(model.estimator, X, y, train, workers=workers)
    if isinstance(model, NuSVC):
        columns = train if model.kernel == "precomputed" else slice(None)
        model = _with_cost_of_nu(model, as_numbers(X)[train][:, columns], y[train])
    keep_freed_memory()
    signs, among = _targets(y).signs[0], _targets(y[train])
    prices = upper_bounds(among, model.C, model.class_weight, np.ones(len(train)))[0]
    examples = as_numbers(X)
    with few_blas_threads(examples, workers):
        solver = _solver(model, examples, signs, train)
    return Prepared(solver, prices, examples, workers)


def _targets(y: NDArray[Any]) -> Targets:
    """Take any labels that come in two kinds; the second in their order is the positive one."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) != 2:
        raise InputError(
            f"`y` must hold at least two classes in training, and no more; got {classes.tolist()}."
        )
    return Targets(classes, np.where(codes == 1, 1.0, -1.0)[None, :], is_multilabel=False)


def _transformed(model: Pipeline, X: Any, y: NDArray[Any], train: Indices) -> Any:
    """Fit the steps before the SVM to the training part, and let them transform everything."""
    before = clone(model[:-1])
    try:
        before.fit(_safe_indexing(X, train), y[train])
        # One by one: a part of a pipeline whose last step has no state takes itself for unfitted.
        for _, step in before.steps:
            X = step.transform(X) if hasattr(step, "transform") else X
    except Exception as problem:  # whatever a user's own step raises
        raise RefitError(
            f"The steps before {type(model[-1]).__name__} failed on {len(train)} examples: "
            f"{type(problem).__name__}: {problem}"
        ) from problem
    return X


def check_model(model: Any) -> None:
    """Refuse a model whose refits cannot be batched, and say what can be done."""
    last = model[-1] if isinstance(model, Pipeline) else model
    last = last.estimator if isinstance(last, OneVsRestClassifier) else last
    known = (LinearSVM, KernelSVM, SVC, NuSVC, LinearSVC, LogisticRegression)
    is_squared = isinstance(last, LinearSVC) and last.loss != "hinge"
    if not isinstance(last, known) or isinstance(last, LogisticRegressionCV) or is_squared:
        remedy = "Set loss='hinge'." if is_squared else "For another model use tr.estimate."
        raise InputError(f"`model` must be {ACCEPTED}; got {shown(last)}. {remedy}")
    if isinstance(last, (SVC, NuSVC)) and last.kernel == "sigmoid":
        raise InputError(
            "`model` must have a kernel that is positive semidefinite; got 'sigmoid'. Use 'rbf' or "
            "'poly'."
        )
    if isinstance(last, LogisticRegression) and not _is_ridge(last):
        raise InputError(
            f"`model` must be a LogisticRegression with an L2 penalty and a bias; got "
            f"{shown(last)}. Set l1_ratio=0 and fit_intercept=True."
        )
    if not isinstance(last, NuSVC):
        check_cost(last.C)


def _with_cost_of_nu(model: NuSVC, X: Any, y: NDArray[Any]) -> SVC:
    """Return the SVC that ν makes of these examples: its C is α where α is at its bound."""
    fitted = clone(model).fit(X, y)
    cost = float(np.abs(dense(fitted.dual_coef_)).max())
    shared = ("kernel", "gamma", "degree", "coef0")
    return SVC(C=cost, **{name: getattr(model, name) for name in shared})


def _by_training(
    model: LinearSVC, X: Any, signs: Array, train: Indices, bounds: Array, *, workers: int
) -> Array:
    """Train scikit-learn's SVM under each row of bounds: no solver here penalises the intercept."""

    def decision(row: Array) -> Array:
        seed = 0 if model.random_state is None else model.random_state
        svm = clone(model).set_params(C=1.0, class_weight=None, random_state=seed)
        values: Array = svm.fit(X[train], signs[train], sample_weight=row).decision_function(X)
        return values

    return np.array(in_threads(decision, bounds, threads=workers))


def _is_ridge(model: LogisticRegression) -> bool:
    """Tell whether the penalty is that of squares, under either of the names it has had."""
    given = model.get_params()
    return (
        given.get("penalty") in {"l2", "deprecated"}
        and not given.get("l1_ratio")
        and bool(model.fit_intercept)
        and np.isfinite(model.C)
    )


def _solver(model: Any, X: Any, signs: Array, train: Indices) -> Solver:
    """Choose the solver: by the loss, then by the form that costs least."""
    if isinstance(model, LogisticRegression):
        penalty = np.append(np.ones(X.shape[1]), _bias_penalty(model))
        return partial(logistic_decisions, dense(X, np.float64), signs, train, penalty=penalty)
    if isinstance(model, LinearSVC):
        return partial(_by_training, model, X, signs, train)
    if isinstance(model, LinearSVM) or model.kernel == "linear":
        return _linear_solver(X, signs, train)
    if model.kernel == "precomputed":
        return _by_gram(centred(check_gram(dense(X, np.float64))), signs, train)
    kernel = kernel_of(model, X[train])
    gram = gram_problem(kernel, X).gram
    return _by_gram(gram if kernel.name == "rbf" else centred(gram), signs, train)


def _linear_solver(X: Any, signs: Array, train: Indices) -> Solver:
    """Multiply examples with each other only where that loses no digits of a feature."""
    if X.shape[1] <= LOW_RANK:
        return partial(_by_features, dense(X, np.float64), signs, train)
    if X.shape[0] <= GRAM_EXAMPLES and has_one_scale(X):
        return _by_gram(linear_gram(X), signs, train)
    if X.shape[0] <= GRAM_EXAMPLES and X.shape[1] <= FEATURES:
        return partial(batch_decisions, dense(X, np.float64), signs, train)
    return partial(row_decisions, as_rows(X), signs, train)


def _bias_penalty(model: LogisticRegression) -> float:
    """Return the penalty of b²: LIBLINEAR takes the bias for the weight of one more feature."""
    return float(model.intercept_scaling) ** -2.0 if model.solver == "liblinear" else 0.0


def _by_gram(gram: Array, signs: Array, train: Indices) -> Solver:
    """Take a kernel of low rank for what it is, a linear SVM on few features."""
    features = pivoted_features(gram, LOW_RANK)
    if features is None:
        return partial(gram_decisions, gram, signs, train)
    return partial(_by_features, features, signs, train, gram=gram)


def _by_features(
    features: Array,
    signs: Array,
    train: Indices,
    bounds: Array,
    gram: Array | None = None,
    *,
    workers: int,
) -> Array:
    fits = len(features) <= GRAM_EXAMPLES and has_one_scale(features)
    rank = features.shape[1]
    is_full = rank >= max(FULL_RANK, NEARLY_FULL * len(train))
    may_be = (fits or gram is not None) and rank >= SOME_FEATURES and len(bounds) > 0
    if may_be and (is_full or _few_decide(features[train], signs[train], bounds)):
        products = linear_gram(features) if gram is None else gram
        return gram_decisions(products, signs, train, bounds, workers=workers)
    return batch_decisions(features, signs, train, bounds, workers=workers)


def _few_decide(features: Array, y: Array, bounds: Array) -> bool:
    """Tell whether the SVM at the mean bounds depends on fewer examples than it has features."""
    middle = solve_features(features, y, bounds.mean(axis=0))
    beyond = (middle.alpha > 0.0) & ~middle.free
    count = np.count_nonzero(middle.free) + BEYOND * np.count_nonzero(beyond)
    return bool(count <= FEW_DECIDE * features.shape[1])
