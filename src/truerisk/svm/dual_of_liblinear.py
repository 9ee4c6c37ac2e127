"""α of scikit-learn's `LinearSVC(loss="hinge")`, which keeps only its weights.

Problem   find α with w = Σ αᵢyᵢxᵢ and 0 ≤ αᵢ ≤ Uᵢ
Given     the weights, and so the margin of each example: below 1 it is αᵢ = Uᵢ, above 1 it is 0
Returns   α; on the margin by least squares, since w − Σ over the others = Σ over these
Link      the intercept is regularised: it is the weight of one more feature with the value s
          (`intercept_scaling`), the kernel is x·x′ + s², and no bias is free
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_array

from truerisk.aliases import Array, Indices
from truerisk.checks import shown
from truerisk.errors import InputError, NotConvergedWarning
from truerisk.results import Finding
from truerisk.svm.fitted_dual import NOT_THE_EXAMPLES, FittedDual
from truerisk.svm.kernels import Kernel
from truerisk.svm.radius import largest_squared_length
from truerisk.svm.solution import Solution
from truerisk.svm.training_kernel import TrainingKernel

JITTER = 1e-12  # of the mean x·x: rows may be equal
MAX_ROUNDS = 20  # of fixing those α that leave their bounds
WIDENINGS = (10.0, 100.0, 1000.0)  # how near the margin counts as on it, in units of `tol`
GOOD = 1e-3  # the part of |w| that α may leave unexplained without a word
BAD = 0.05  # and the part that says that the examples are others
NO_BIAS_RULE = "no free bias: max k(x, x)"


def duals_of_liblinear(
    fitted: LinearSVC,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    sample_weight: ArrayLike | None,
) -> tuple[FittedDual, ...]:
    r"""Recover the solutions of a `LinearSVC` with hinge loss, one a class.

    With no free bias an example that is left out changes its own margin by at most α·k(x, x), so
    that ρ = 1 is proven with R² = max k(x, x), here x·x + s²: for rows of unit length and s = 1
    that is 2.  Bounds of α may differ from example to example.
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
        found: tuple[Array, float] = (np.zeros(len(margins)), np.inf)
        for widening in WIDENINGS:
            near = np.abs(margins - 1.0) <= widening * tolerance
            alpha = self._alpha(margins, np.flatnonzero(near))
            left = self._left_over(alpha)
            if left < found[1]:
                found = alpha, left
            if left <= GOOD:
                break
        return found

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


def _check_shapes(fitted: LinearSVC, X: Any, labels: NDArray[Any]) -> None:  # noqa: ANN401
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
