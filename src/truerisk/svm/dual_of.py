"""What a fitted SVM has learned from its training examples: α, ξ and R².

Reads the SVMs of this library and of scikit-learn, alone, in a `Pipeline` or in a
`OneVsRestClassifier`.  Nothing is trained again.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array, check_is_fitted

from truerisk.aliases import Array, ArrayLike, Indices
from truerisk.checks import shown
from truerisk.errors import InputError, NotConvergedWarning
from truerisk.results import Finding
from truerisk.svm.classifier import MarginClassifier
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.kernels import NAMES, Kernel, TrainingKernel, dense, kernel_of, settle_kernel
from truerisk.svm.one_vs_rest import targets_of
from truerisk.svm.radius import largest_squared_length, squared_radius
from truerisk.svm.solution import Solution, bounds_of_bias

NOT_THE_EXAMPLES = "must be that of the examples the SVM was trained on"


@dataclass(frozen=True, kw_only=True)
class FittedDual:
    """The dual solution of one binary problem, and what bounds its leave-one-out errors.

    `proven_rho` is the smallest ρ for which it is proven that an example with ρ·α·R² + ξ < 1 is
    classified rightly by the SVM trained without it; None where no ρ is.
    """

    label: Any  # the class whose examples have y = 1
    rest: Any  # the other class of two; None for one class against all others
    solution: Solution = field(repr=False)
    squared_radius: float
    radius_rule: str
    proven_rho: float | None
    kernel: TrainingKernel = field(repr=False)
    free_bias: bool = True
    notes: tuple[Finding, ...] = ()


def smallest_proven_rho(solution: Solution) -> float | None:
    """Give 2 where all examples that count have one bound, else None.

    With several bounds every other example may come to its bound, and the bias jumps.
    """
    return 2.0 if solution.has_one_bound else None


def signs_of(y: Any, classes: Any) -> Array:
    """Give 1 for the second class and −1 for the first; refuse labels that are neither."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"`y` must be one column of labels; got shape {labels.shape}.")
    known = np.isin(labels, classes)
    if not known.all():
        raise InputError(
            f"`y` must hold the labels of the training, {shown(list(classes))}; got "
            f"{shown(labels[~known][0])}."
        )
    return np.where(labels == classes[1], 1.0, -1.0)


AT_BOUND = 1e-9  # relative: libsvm sets α to its bound but for rounding
LOOSEST = 0.01  # what a margin may be off, at the least, before the rows are taken for others
ENOUGH_FOR_NU = 2.0  # and of a ν-SVM in its tolerance: margins are off by one of it at most


def dual_of_libsvm(
    fitted: SVC | NuSVC, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[FittedDual, ...]:
    """Read the solution of a binary `SVC` or `NuSVC`.

    libsvm scales the ν-SVM to a margin of 1: w/ρ, b/ρ, ξ/ρ solve the SVM with C = 1/(nρ), the value
    of an α at its bound.  It stops before it scales, so its tolerance grows by the same C.
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
    tolerance = max(10.0 * fitted.tol, LOOSEST)
    if isinstance(fitted, SVC):
        cost = fitted.C
    else:
        cost = _nu_cost(alpha, weights)
        tolerance = max(ENOUGH_FOR_NU * fitted.tol * cost, tolerance)
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
    most, least = bounds_of_bias(signs, upper, alpha, margins)
    solution = Solution(
        y=signs,
        upper=upper,
        alpha=alpha,
        bias=float(fitted.intercept_[0]),
        decision=decision,
        gap=max(0.0, most - least),
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
            notes=_notes(fitted, cost, solution.gap),
        ),
    )


def _notes(fitted: SVC | NuSVC, cost: float, gap: float) -> tuple[Finding, ...]:
    if isinstance(fitted, NuSVC):
        note = (
            f"ν = {fitted.nu:g} made the SVM with C = {cost:.4g}; the estimate is of that C, "
            "which ν would change a little on other examples."
        )
        notes = (Finding(note, code="cost_of_nu"),)
        if gap <= LOOSEST:
            return notes
        power = np.floor(np.log10(LOOSEST * fitted.tol / gap))
        note = (
            f"The margins of this SVM are off by up to {gap:.2g}: `tol` is meant before they are "
            f"scaled to 1. Train it with tol=1e{power:.0f}."
        )
        return (*notes, Finding(note, code="loose_tolerance_of_nu"))
    if fitted.kernel == "sigmoid":
        note = "The sigmoid kernel is not positive semidefinite: nothing is proven for it."
        return (Finding(note, code="kernel_not_definite"),)
    return ()


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def _same_rows(fitted: SVC | NuSVC, X: Any) -> Any:
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


def _support(fitted: SVC | NuSVC, X: Any, weights: Array) -> Indices:
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
    signed = dense(fitted.dual_coef_).ravel()
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


def _kernel(fitted: SVC | NuSVC, X: Any) -> Kernel:
    if fitted.kernel == "sigmoid":
        gamma = settle_kernel("rbf", X, gamma=fitted.gamma).gamma

        def sigmoid(first: Any, second: Any) -> Array:
            return np.asarray(np.tanh(gamma * dense(first @ second.T) + fitted.coef0))

        return Kernel(sigmoid)
    if not callable(fitted.kernel) and fitted.kernel not in NAMES:
        raise InputError(f"`fitted` must have a kernel that is known; got {shown(fitted.kernel)}.")
    return kernel_of(fitted, X)


JITTER = 1e-12  # of the mean x·x: rows may be equal
MAX_ROUNDS = 20  # of fixing those α that leave their bounds
WIDENINGS = (10.0, 100.0, 1000.0)  # how near the margin counts as on it, in units of `tol`
GOOD = 1e-3  # the part of |w| that α may leave unexplained without a word
BAD = 0.05  # and the part that says that the examples are others
NO_BIAS_RULE = "no free bias: max k(x, x)"


def duals_of_liblinear(
    fitted: LinearSVC, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[FittedDual, ...]:
    """Recover the solutions of a `LinearSVC` with hinge loss, one per class.

    With no free bias an example that is left out changes its margin by at most α·k(x, x), so ρ = 1
    is proven with R² = max k(x, x), here x·x + s².  Bounds of α may differ.
    """
    if fitted.loss != "hinge" or fitted.multi_class != "ovr":
        raise InputError(
            f"`fitted` must be LinearSVC(loss='hinge', multi_class='ovr'); got "
            f"loss={fitted.loss!r}, multi_class={fitted.multi_class!r}. "
            "Train it so, or use LinearSVM."
        )
    examples = check_array(X, accept_sparse="csr", dtype=np.float64)
    labels = np.asarray(y)
    _check_shapes(fitted, examples, labels)
    scaling = float(fitted.intercept_scaling) if fitted.fit_intercept else 0.0
    kernel = TrainingKernel(Kernel("linear"), examples, added=scaling**2)
    radius = largest_squared_length(kernel.kernel, examples) + scaling**2
    signs, upper = _problems(fitted, labels, sample_weight)
    converged = int(np.max(fitted.n_iter_)) < fitted.max_iter
    if not converged:
        warnings.warn(
            "LinearSVC stopped at `max_iter` before its tolerance: α and ξ are not those of the "
            "optimum.",
            NotConvergedWarning,
            stacklevel=4,
        )
    is_binary = len(signs) == 1
    names = fitted.classes_[1:] if is_binary else fitted.classes_
    duals = []
    for k, name in enumerate(names.tolist()):
        recovery = _Recovery(
            kernel=kernel,
            weights=fitted.coef_[k],
            intercept=float(np.ravel(fitted.intercept_)[k]) if fitted.fit_intercept else 0.0,
            scaling=scaling,
            y=signs[k],
            upper=upper[k],
        )
        alpha, left = recovery.best(fitted.tol)
        if left > BAD and converged:
            raise InputError(
                f"`X` and `y` {NOT_THE_EXAMPLES}: no α gives its weights ({100 * left:.0f} % of "
                "them are left over). Pass `sample_weight` if it was trained with weights, and "
                "lower `tol`."
            )
        note = Finding(
            f"α was recovered from the weights, but for {100 * left:.2g} % of them. Lower `tol`.",
            code="alpha_recovered_in_part",
        )
        duals.append(
            FittedDual(
                label=name,
                rest=fitted.classes_[0].item() if is_binary else None,
                solution=recovery.solution(alpha, int(np.max(fitted.n_iter_))),
                squared_radius=radius,
                radius_rule=NO_BIAS_RULE,
                proven_rho=1.0,
                kernel=kernel,
                free_bias=False,
                notes=(note,) if left > GOOD else (),
            )
        )
    return tuple(duals)


@dataclass(frozen=True, kw_only=True)
class _Recovery:
    """One binary problem, its weights known and its α sought."""

    kernel: TrainingKernel
    weights: Array
    intercept: float
    scaling: float
    y: Array
    upper: Array

    @property
    def decision(self) -> Array:
        return np.asarray(self.kernel.X @ self.weights).ravel() + self.intercept

    def best(self, tolerance: float) -> tuple[Array, float]:
        """Give the α that leaves the least of the weights unexplained, and that part."""
        margins = self.y * self.decision
        chosen: tuple[Array, float] = (np.zeros(len(margins)), np.inf)
        for widening in WIDENINGS:
            near = np.abs(margins - 1.0) <= widening * tolerance
            alpha = self._alpha(margins, np.flatnonzero(near))
            left = self._left_over(alpha)
            if left < chosen[1]:
                chosen = alpha, left
            if left <= GOOD:
                break
        return chosen

    def _alpha(self, margins: Array, near: Indices) -> Array:
        alpha = np.where(margins < 1.0, self.upper, 0.0)
        alpha[near] = 0.0
        if len(near) == 0:
            return alpha
        # The inner products of what is left of w with each yᵢxᵢ on the margin.
        rest, rest_bias = self._left(alpha)
        rows = self.kernel.X[near]
        wanted = self.y[near] * (np.asarray(rows @ rest).ravel() + self.scaling * rest_bias)
        signed = self.y[near][:, None] * self.kernel.block(near, near) * self.y[near][None, :]
        signed[np.diag_indices(len(near))] += JITTER * np.diagonal(signed).mean()
        alpha[near] = _within_bounds(signed, wanted, self.upper[near])
        return alpha

    def _left(self, alpha: Array) -> tuple[Array, float]:
        """Give what Σ αyx leaves of the weights, and of the weight of the constant feature."""
        signed = alpha * self.y
        weights = self.weights - np.asarray(self.kernel.X.T @ signed).ravel()
        if self.scaling == 0.0:
            return weights, 0.0
        return weights, self.intercept / self.scaling - self.scaling * float(signed.sum())

    def _left_over(self, alpha: Array) -> float:
        weights, bias = self._left(alpha)
        whole = float(self.weights @ self.weights)
        whole += (self.intercept / self.scaling) ** 2 if self.scaling else 0.0
        return float(np.sqrt((weights @ weights + bias**2) / max(whole, 1e-300)))

    def solution(self, alpha: Array, passes: int) -> Solution:
        """Give the solution; its gap is the largest violation of a single example."""
        decision = self.decision
        short = 1.0 - self.y * decision
        violation = np.where(alpha < self.upper, np.maximum(short, 0.0), 0.0)
        violation = np.maximum(violation, np.where(alpha > 0.0, np.maximum(-short, 0.0), 0.0))
        return Solution(
            y=self.y,
            upper=self.upper,
            alpha=alpha,
            bias=self.intercept,
            decision=decision,
            gap=float(violation[self.upper > 0.0].max(initial=0.0)),
            passes=passes,
        )


def _within_bounds(matrix: Array, wanted: Array, upper: Array) -> Array:
    """Solve by least squares; what leaves its bounds is set there, and the rest solved again."""
    alpha = np.zeros(len(wanted))
    open_: NDArray[np.bool_] = np.ones(len(wanted), dtype=bool)
    for _ in range(MAX_ROUNDS):
        fixed = matrix[np.ix_(open_, ~open_)] @ alpha[~open_]
        alpha[open_] = np.linalg.solve(matrix[np.ix_(open_, open_)], wanted[open_] - fixed)
        out = open_ & ((alpha < 0.0) | (alpha > upper))
        if not out.any():
            break
        alpha = np.clip(alpha, 0.0, upper)
        open_ &= ~out
    return np.clip(alpha, 0.0, upper)


def _check_shapes(fitted: LinearSVC, X: Any, labels: NDArray[Any]) -> None:
    if X.shape[1] != fitted.coef_.shape[1]:
        raise InputError(
            f"`X` {NOT_THE_EXAMPLES}: it has {X.shape[1]} features, not {fitted.coef_.shape[1]}."
        )
    if labels.shape != (X.shape[0],):
        raise InputError(
            f"`y` must be one label for each of {X.shape[0]} rows; got {labels.shape}."
        )
    unknown = ~np.isin(labels, fitted.classes_)
    if unknown.any():
        raise InputError(
            f"`y` {NOT_THE_EXAMPLES}: {shown(labels[unknown].tolist()[0])} is none of its classes."
        )


def _problems(
    fitted: LinearSVC, labels: NDArray[Any], sample_weight: ArrayLike | None
) -> tuple[Array, Array]:
    """Give the signs and the bounds, one row per problem, as liblinear weighs them.

    Of two classes both are weighed; of more, the class and not the rest.
    """
    classes = fitted.classes_
    own = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    by_class = compute_class_weight(
        fitted.class_weight, classes=classes, y=labels, sample_weight=sample_weight
    )
    if len(classes) == 2:
        signs = np.where(labels == classes[1], 1.0, -1.0)
        return signs[None], (fitted.C * own * np.where(signs > 0, by_class[1], by_class[0]))[None]
    signs = np.where(labels == classes[:, None], 1.0, -1.0)
    return signs, fitted.C * own * np.where(signs > 0, by_class[:, None], 1.0)


ACCEPTED = (
    "LinearSVM, KernelSVM, SVC, NuSVC, LinearSVC(loss='hinge'), "
    "or a Pipeline or OneVsRestClassifier of these"
)
ROUNDING = 1e-6  # of a decision value, computed again


def duals_of(
    fitted: Any, X: Any, y: Any, *, sample_weight: ArrayLike | None = None
) -> tuple[FittedDual, ...]:
    """Read the dual solution of every binary problem of an SVM that was trained on these examples.

    Weights that are not given are read from α as far as they matter.
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


def twin_of(svm: Any, classes: int) -> MarginClassifier | None:
    """Give the SVM of this library with the same optimum as scikit-learn's; None if there is none.

    `LinearSVC` penalises the intercept, C of `NuSVC` depends on the examples, the sigmoid kernel is
    not positive semidefinite, and `SVC` of more classes has one SVM per pair of them.
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


def is_readable(svm: Any) -> bool:
    """Tell whether `duals_of` can read an SVM, trained or not, alone or in another model."""
    if isinstance(svm, Pipeline):
        return is_readable(svm[-1])
    if isinstance(svm, OneVsRestClassifier):
        return is_readable(svm.estimator)
    if isinstance(svm, LinearSVC):
        return bool(svm.loss == "hinge")
    return isinstance(svm, (SVC, NuSVC, MarginClassifier))


def _check_fitted(fitted: Any) -> None:
    try:
        check_is_fitted(fitted)
    except NotFittedError:
        raise InputError(
            f"`fitted` must be trained; got {shown(fitted)} as it was made. Call fit(X, y) first."
        ) from None


def _of_pipeline(
    fitted: Pipeline, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[FittedDual, ...]:
    rows = fitted[:-1].transform(X) if len(fitted) > 1 else X
    return duals_of(fitted[-1], rows, y, sample_weight=sample_weight)


def _of_ours(
    fitted: MarginClassifier,
    X: Any,
    y: Any,
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


def _check_same_rows(fitted: MarginClassifier, X: Any) -> None:
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
    fitted: OneVsRestClassifier, X: Any, y: Any, sample_weight: ArrayLike | None
) -> tuple[FittedDual, ...]:
    table = dense(fitted.label_binarizer_.transform(y))
    constant = [k for k in range(table.shape[1]) if len(set(table[:, k].tolist())) < 2]
    if constant:
        raise InputError(
            f"`y` must hold examples of and not of every class; got one kind only for "
            f"{shown(fitted.classes_[constant[0]])}. Leave the class out."
        )
    is_binary = len(fitted.estimators_) == 1 and not fitted.multilabel_
    labels = fitted.classes_[1:] if is_binary else fitted.classes_
    rest = _plain(fitted.classes_[0]) if is_binary else None
    return tuple(
        replace(dual, label=_plain(label), rest=rest)
        for k, (svm, label) in enumerate(zip(fitted.estimators_, labels, strict=True))
        for dual in duals_of(svm, X, table[:, k], sample_weight=sample_weight)
    )


READERS: dict[type, Callable[..., tuple[FittedDual, ...]]] = {
    MarginClassifier: _of_ours,
    SVC: dual_of_libsvm,
    NuSVC: dual_of_libsvm,
    LinearSVC: duals_of_liblinear,
    OneVsRestClassifier: _of_one_vs_rest,
    Pipeline: _of_pipeline,
}
