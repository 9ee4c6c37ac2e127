"""α, ξ and R² of scikit-learn's `SVC` and `NuSVC`, which keep y·α of their support vectors."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.svm import SVC, NuSVC
from sklearn.utils.validation import check_array

from truerisk.aliases import Array, Indices
from truerisk.checks import shown
from truerisk.errors import InputError, NotConvergedWarning
from truerisk.results import Finding
from truerisk.svm.fitted_dual import NOT_THE_EXAMPLES, FittedDual, signs_of, smallest_proven_rho
from truerisk.svm.kernels import Kernel, settle_kernel
from truerisk.svm.radius import squared_radius
from truerisk.svm.solution import Solution
from truerisk.svm.training_kernel import TrainingKernel

AT_BOUND = 1e-9  # relative: libsvm sets α to its bound but for rounding
LOOSEST = 0.01  # what a margin may be off, at the least, before the rows are taken for others


def dual_of_libsvm(
    fitted: SVC | NuSVC,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    sample_weight: ArrayLike | None,
) -> tuple[FittedDual, ...]:
    r"""Read the solution of a binary `SVC` or `NuSVC`.

    libsvm hands out the ν-SVM scaled to a margin of 1.  So scaled it solves

    .. math:: \min \tfrac12 w \cdot w - \nu \rho + \tfrac1n \sum_i \xi_i, \qquad
              y_i (w \cdot x_i + b) \ge \rho - \xi_i

    divided by ρ², with w/ρ, b/ρ, ξ/ρ in place of w, b, ξ: it is the SVM with C = 1/(nρ), the
    value that α has where it is at its bound.
    """
    if len(fitted.classes_) > 2:
        raise InputError(
            f"`fitted` must decide between two classes, or one against the rest; got "
            f"{type(fitted).__name__} with {len(fitted.classes_)} classes, which trains one "
            "SVM for each pair. Use OneVsRestClassifier, LinearSVM or KernelSVM."
        )
    examples = _same_rows(fitted, X)
    signs = signs_of(y, fitted.classes_)
    weights = _weights(fitted, signs, sample_weight)
    alpha = _alpha(fitted, signs, _support(fitted, examples, weights))
    decision = np.asarray(fitted.decision_function(examples), dtype=float)
    cost = fitted.C if isinstance(fitted, SVC) else _nu_cost(alpha, weights)
    tolerance = max(10.0 * fitted.tol, LOOSEST)
    if fitted.fit_status_:
        warnings.warn(
            f"{type(fitted).__name__} stopped at `max_iter` before its tolerance: α and ξ are not "
            "those of the optimum.",
            NotConvergedWarning,
            stacklevel=4,
        )
        tolerance = np.inf
    margins = signs * decision
    upper = _upper(alpha, margins, cost * weights, tolerance, sample_weight is not None)
    alpha = np.where(alpha >= upper * (1.0 - AT_BOUND), upper, alpha)
    alpha[alpha <= upper * AT_BOUND] = 0.0
    _check_margins(alpha, margins, upper, tolerance)
    solution = Solution(
        y=signs,
        upper=upper,
        alpha=alpha,
        bias=float(fitted.intercept_[0]),
        decision=decision,
        gap=_gap(alpha, upper, signs, decision),
        passes=int(np.max(fitted.n_iter_)),
    )
    kernel = _kernel(fitted, examples)
    radius, rule = squared_radius(kernel, examples)
    return (
        FittedDual(
            label=_plain(fitted.classes_[1]),
            rest=_plain(fitted.classes_[0]),
            solution=solution,
            squared_radius=radius,
            radius_rule=rule,
            proven_rho=None if fitted.kernel == "sigmoid" else smallest_proven_rho(solution),
            kernel=TrainingKernel(kernel, examples),
            notes=_notes(fitted, cost),
        ),
    )


def _notes(fitted: SVC | NuSVC, cost: float) -> tuple[Finding, ...]:
    if isinstance(fitted, NuSVC):
        note = (
            f"ν = {fitted.nu:g} made the SVM with C = {cost:.4g}; the estimate is of that C, "
            "which ν would change a little on other examples."
        )
        return (Finding(note, code="cost_of_nu"),)
    if fitted.kernel == "sigmoid":
        note = "The sigmoid kernel is not positive semidefinite: nothing is proven for it."
        return (Finding(note, code="kernel_not_definite"),)
    return ()


def _plain(label: Any) -> Any:  # noqa: ANN401
    return label.item() if hasattr(label, "item") else label


def _same_rows(fitted: SVC | NuSVC, X: Any) -> Any:  # noqa: ANN401
    """Give the examples as the SVM takes them, if there are as many and as wide."""
    examples = check_array(X, accept_sparse="csr", dtype=np.float64)
    n, width = fitted.shape_fit_
    if examples.shape[0] != n:
        raise InputError(f"`X` {NOT_THE_EXAMPLES}: there are {examples.shape[0]} rows, not {n}.")
    if examples.shape[1] != width:
        raise InputError(
            f"`X` {NOT_THE_EXAMPLES}: it has {examples.shape[1]} features, not {width}."
        )
    return examples


def _support(fitted: SVC | NuSVC, X: Any, weights: Array) -> Indices:  # noqa: ANN401
    """Give the numbers of the support vectors, if these examples are what was trained on."""
    # libsvm leaves out examples of weight 0 first, and counts those that are left.
    support: Indices = np.flatnonzero(weights > 0.0)[fitted.support_]
    if fitted.kernel == "precomputed" or callable(fitted.kernel):
        return support  # the rows are not kept; their margins will tell
    if np.abs(X[support] - fitted.support_vectors_).max() > 0.0:
        raise InputError(
            f"`X` {NOT_THE_EXAMPLES}, in the same order: its support vectors differ. Pass "
            "`sample_weight` if it was trained with weights of 0."
        )
    return support


def _alpha(fitted: SVC | NuSVC, signs: Array, support: Indices) -> Array:
    signed = fitted.dual_coef_
    signed = np.asarray(signed.todense() if hasattr(signed, "tocsr") else signed).ravel()
    if (signed * signs[support] < 0.0).any():
        raise InputError(f"`y` {NOT_THE_EXAMPLES}: support vectors have another label.")
    alpha = np.zeros(len(signs))
    alpha[support] = np.abs(signed)
    return alpha


def _weights(fitted: SVC | NuSVC, signs: Array, sample_weight: ArrayLike | None) -> Array:
    weights = np.ones(len(signs))
    if isinstance(fitted, SVC):  # libsvm's ν-SVM takes no notice of class weights
        weights = np.where(signs > 0, fitted.class_weight_[1], fitted.class_weight_[0])
    if sample_weight is None:
        return weights
    own = np.asarray(sample_weight, dtype=float)
    if own.shape != signs.shape or not (own >= 0.0).all():
        raise InputError(
            f"`sample_weight` must be one number ≥ 0 for each of the {len(signs)} examples; got "
            f"shape {own.shape}."
        )
    return np.asarray(weights * own)


def _nu_cost(alpha: Array, weights: Array) -> float:
    """Give 1/(nρ): where α is at its bound, that is α over the weight, and nowhere is it more."""
    return float((alpha[weights > 0.0] / weights[weights > 0.0]).max(initial=0.0))


def _upper(
    alpha: Array,
    margins: Array,
    expected: Array,
    tolerance: float,
    told: bool,  # noqa: FBT001
) -> Array:
    """Give what each α may be at most; where weights were not told, what α itself says of it."""
    inside = margins < 1.0 - tolerance
    fits = (alpha <= expected * (1.0 + 1e-6)) & (~inside | (alpha >= expected * (1.0 - 1e-6)))
    if fits.all():
        return expected
    if told:
        raise InputError(
            f"`sample_weight` must be what the SVM was trained with; α of "
            f"{np.count_nonzero(~fits)} examples does not fit it."
        )
    # An example inside the margin is at its bound; one on it or beyond has a bound above its α.
    return np.where(inside & (alpha > 0.0), alpha, np.maximum(expected, alpha * (1.0 + 1e-6)))


def _check_margins(alpha: Array, margins: Array, upper: Array, tolerance: float) -> None:
    """Refuse examples at which the solution is not optimal: the SVM has not seen them."""
    wrong = (alpha <= 0.0) & (upper > 0.0) & (margins < 1.0 - tolerance)
    wrong |= (alpha > 0.0) & (margins > 1.0 + tolerance)
    wrong |= (alpha > 0.0) & (alpha < upper) & (margins < 1.0 - tolerance)
    if wrong.any():
        raise InputError(
            f"`X` and `y` {NOT_THE_EXAMPLES}: {np.count_nonzero(wrong)} of {len(wrong)} rows do "
            f"not fit its solution, the first is row {wrong.argmax()}."
        )


def _gap(alpha: Array, upper: Array, signs: Array, decision: Array) -> float:
    """Give the largest violation, as `Solution` defines it."""
    v = signs - decision
    counts = upper > 0.0
    rises = np.where(signs > 0, alpha < upper, alpha > 0.0) & counts
    falls = np.where(signs > 0, alpha > 0.0, alpha < upper) & counts
    if not (rises.any() and falls.any()):
        return 0.0
    return max(0.0, float(v[rises].max() - v[falls].min()))


def _kernel(fitted: SVC | NuSVC, X: Any) -> Kernel:  # noqa: ANN401
    if fitted.kernel == "sigmoid":
        gamma = settle_kernel(
            "rbf", X, gamma=fitted.gamma, degree=1, coef0=0.0, sample_weight=np.ones(X.shape[0])
        ).gamma

        def sigmoid(first: Any, second: Any) -> Array:  # noqa: ANN401
            products = first @ second.T
            dense = np.asarray(products.todense() if hasattr(products, "tocsr") else products)
            return np.asarray(np.tanh(gamma * dense + fitted.coef0))

        return Kernel(sigmoid)
    if not callable(fitted.kernel) and fitted.kernel not in {
        "linear",
        "poly",
        "rbf",
        "precomputed",
    }:
        raise InputError(f"`fitted` must have a kernel that is known; got {shown(fitted.kernel)}.")
    return settle_kernel(
        fitted.kernel,
        X,
        gamma=fitted.gamma,
        degree=fitted.degree,
        coef0=fitted.coef0,
        sample_weight=np.ones(X.shape[0]),
    )
