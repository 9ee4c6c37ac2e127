"""What a fitted SVM has learned from its training examples: α, ξ and R².

Reads the SVMs of this library and of scikit-learn, alone, in a `Pipeline` or in a
`OneVsRestClassifier`.  Nothing is trained again.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.validation import check_array, check_is_fitted

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.svm.classifier import MarginClassifier
from truerisk.svm.dual_of_liblinear import duals_of_liblinear
from truerisk.svm.dual_of_libsvm import dual_of_libsvm
from truerisk.svm.fitted_dual import NOT_THE_EXAMPLES, FittedDual, smallest_proven_rho
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.kernels import Kernel
from truerisk.svm.one_vs_rest import targets_of
from truerisk.svm.training_kernel import TrainingKernel

ACCEPTED = (
    "LinearSVM, KernelSVM, SVC, NuSVC, LinearSVC(loss='hinge'), "
    "or a Pipeline or OneVsRestClassifier of these"
)
ROUNDING = 1e-6  # of a decision value, computed again


def duals_of(
    fitted: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    sample_weight: ArrayLike | None = None,
) -> tuple[FittedDual, ...]:
    """Read the dual solution of every binary problem of a fitted SVM.

    Parameters
    ----------
    fitted
        The SVM, trained.
    X, y
        The examples it was trained on, and their labels; others are refused.
    sample_weight
        The weights it was trained with.  Where they are not given, they are read off α as far as
        they matter.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> dual, = duals_of(SVC(kernel="linear").fit(X, y), X, y)
    >>> dual.label, dual.solution.alpha.round(3), dual.squared_radius, dual.proven_rho
    ('yes', array([0. , 0.5, 0.5, 0. ]), 8.0, 2.0)
    """
    for kind, read in READERS.items():
        if isinstance(fitted, kind):
            _check_fitted(fitted)
            return read(fitted, X, y, sample_weight)
    if hasattr(fitted, "best_estimator_"):
        remedy = "Give its best_estimator_, and mind that it was chosen on these examples."
    elif hasattr(fitted, "calibrated_classifiers_"):
        remedy = "Give the SVM as it was before calibration."
    else:
        remedy = "For another model, refit it: see cross-validation."
    raise InputError(f"`fitted` must be a fitted SVM ({ACCEPTED}); got {shown(fitted)}. {remedy}")


def twin_of(svm: Any, classes: int) -> MarginClassifier | None:  # noqa: ANN401
    """Give the SVM of this library with the same optimum as scikit-learn's; None if there is none.

    `SVC` of two classes, and one `SVC` per class, have the optimum of `KernelSVM`.  The others have
    no twin: `LinearSVC` penalises the intercept, C of `NuSVC` depends on the examples, the sigmoid
    kernel is not positive semidefinite, and `SVC` of more classes has one SVM per pair of them.

    Parameters
    ----------
    svm
        The SVM, trained or not; one of this library is its own twin.
    classes
        How many classes there are.

    Examples
    --------
    >>> twin_of(SVC(C=2.0, gamma=0.1), 2), twin_of(LinearSVC(loss="hinge"), 2)
    (KernelSVM(C=2.0, gamma=0.1), None)
    """
    if isinstance(svm, MarginClassifier):
        return svm
    if isinstance(svm, OneVsRestClassifier):
        inner = svm.estimator
        plain = isinstance(inner, SVC) and not isinstance(inner.class_weight, dict)
        return twin_of(inner, 2) if plain else None
    if not isinstance(svm, SVC) or svm.kernel == "sigmoid" or svm.max_iter != -1 or classes != 2:
        return None
    shared = ("C", "kernel", "gamma", "degree", "coef0", "class_weight")
    return KernelSVM(**{name: getattr(svm, name) for name in shared})


def is_readable(svm: Any) -> bool:  # noqa: ANN401
    """Tell whether `duals_of` can read an SVM, trained or not, alone or in another model.

    Examples
    --------
    >>> is_readable(SVC()), is_readable(LinearSVC(loss="hinge")), is_readable(LinearSVC())
    (True, True, False)
    """
    if isinstance(svm, Pipeline):
        return is_readable(svm[-1])
    if isinstance(svm, OneVsRestClassifier):
        return is_readable(svm.estimator)
    if isinstance(svm, LinearSVC):
        return bool(svm.loss == "hinge")
    return isinstance(svm, (SVC, NuSVC, MarginClassifier))


def _check_fitted(fitted: Any) -> None:  # noqa: ANN401
    try:
        check_is_fitted(fitted)
    except NotFittedError:
        raise InputError(
            f"`fitted` must be trained; got {shown(fitted)} as it was made. Call fit(X, y) first."
        ) from None


def _of_pipeline(
    fitted: Pipeline,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    sample_weight: ArrayLike | None,
) -> tuple[FittedDual, ...]:
    before = fitted[:-1]
    return duals_of(
        fitted[-1],
        before.transform(X) if len(before) else X,
        y,
        sample_weight=sample_weight,
    )


def _of_ours(
    fitted: MarginClassifier,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    sample_weight: ArrayLike | None,  # noqa: ARG001
) -> tuple[FittedDual, ...]:
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    targets = targets_of(np.asarray(y) if isinstance(y, (list, tuple)) else y)
    signs = np.array([solution.y for solution in fitted.solutions_])
    if not np.array_equal(targets.signs, signs):
        raise InputError(f"`y` {NOT_THE_EXAMPLES}: {_differing(targets.signs, signs)}.")
    _check_same_rows(fitted, X)
    kernel = getattr(fitted, "kernel_", Kernel("linear"))
    is_binary = len(signs) == 1 and not targets.is_multilabel
    labels = fitted.classes_[1:] if is_binary else fitted.classes_
    return tuple(
        FittedDual(
            label=label,
            rest=fitted.classes_[0] if is_binary else None,
            solution=solution,
            squared_radius=fitted.squared_radius_,
            radius_rule=fitted.radius_rule_,
            proven_rho=smallest_proven_rho(solution),
            kernel=TrainingKernel(kernel, X),
        )
        for label, solution in zip(labels.tolist(), fitted.solutions_, strict=True)
    )


def _differing(signs: NDArray[Any], trained: NDArray[Any]) -> str:
    if signs.shape != trained.shape:
        (problems, n), (_, trained_n) = signs.shape, trained.shape
        return f"there are {n} in {problems} problems, not {trained_n} in {len(trained)}"
    return f"{np.count_nonzero((signs != trained).any(axis=0))} have another label"


def _check_same_rows(fitted: MarginClassifier, X: Any) -> None:  # noqa: ANN401
    if X.shape[0] != len(fitted.solutions_[0].y):
        raise InputError(
            f"`X` {NOT_THE_EXAMPLES}: there are {X.shape[0]} rows, not "
            f"{len(fitted.solutions_[0].y)}."
        )
    decision = fitted.decision_function(X).reshape(X.shape[0], -1).T
    trained = np.array([solution.decision for solution in fitted.solutions_])
    scale = 1.0 + np.abs(trained).max()
    differ = (np.abs(decision - trained) > ROUNDING * scale).any(axis=0)
    if differ.any():
        raise InputError(
            f"`X` {NOT_THE_EXAMPLES}: {np.count_nonzero(differ)} of {len(differ)} rows have "
            f"another decision value than in training, the first is row {differ.argmax()}."
        )


def _of_one_vs_rest(
    fitted: OneVsRestClassifier,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    sample_weight: ArrayLike | None,
) -> tuple[FittedDual, ...]:
    indicators = fitted.label_binarizer_.transform(y)
    table = np.asarray(indicators.todense() if hasattr(indicators, "tocsr") else indicators)
    constant = [k for k in range(table.shape[1]) if len(set(table[:, k].tolist())) < 2]
    if constant:
        raise InputError(
            f"`y` must hold examples of and not of every class; got one kind only for "
            f"{shown(fitted.classes_[constant[0]])}. Leave the class out."
        )
    found = []
    for k, svm in enumerate(fitted.estimators_):
        (dual,) = duals_of(svm, X, table[:, k], sample_weight=sample_weight)
        found.append(dual)
    if len(found) == 1 and not fitted.multilabel_:
        return (_renamed(found[0], fitted.classes_[1], fitted.classes_[0]),)
    return tuple(
        _renamed(dual, label, None) for dual, label in zip(found, fitted.classes_, strict=True)
    )


def _renamed(dual: FittedDual, label: Any, rest: Any) -> FittedDual:  # noqa: ANN401
    plain = [one.item() if hasattr(one, "item") else one for one in (label, rest)]
    return replace(dual, label=plain[0], rest=plain[1])


READERS: dict[type, Callable[..., tuple[FittedDual, ...]]] = {
    MarginClassifier: _of_ours,
    SVC: dual_of_libsvm,
    NuSVC: dual_of_libsvm,
    LinearSVC: duals_of_liblinear,
    OneVsRestClassifier: _of_one_vs_rest,
    Pipeline: _of_pipeline,
}
