"""What LinearSVM and KernelSVM share: labels in, one exact optimum a class, what it keeps."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, assert_all_finite
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_number, check_whole_number
from truerisk.errors import InputError, NotConvergedWarning, UnstableWarning
from truerisk.execution.threads import few_blas_threads, libraries
from truerisk.kernels import in_threads
from truerisk.svm.one_vs_rest import (
    ClassWeight,
    Targets,
    check_cost,
    is_plain_target,
    targets_of,
    upper_bounds,
)
from truerisk.svm.problems import Effort, Problem
from truerisk.svm.rows.matrix import check_intact
from truerisk.svm.solution import Solution

libraries()  # looked for before the first fit, which takes as long


@dataclass(frozen=True)
class Prepared:
    """Checked examples, their binary problems, their weights, and the form the solver takes."""

    X: Any
    targets: Targets
    weights: Array
    problem: Problem


class MarginClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A soft-margin SVM, hinge loss and free bias, one-vs-rest."""

    C: float
    tol: float
    max_iter: int | None
    class_weight: ClassWeight
    warm_start: bool
    n_jobs: int | None

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train on the examples.

        Parameters
        ----------
        X, y
            Examples, dense or sparse, and their labels: two classes, more, or a matrix of 0 and 1
            with one column per label.
        sample_weight
            α of example i may be at most C · weight i; weight 0 leaves the example out.
        """
        self.train(X, y, sample_weight)
        return self

    def train(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, for_many: bool = False
    ) -> Problem:
        """Train as `fit` does, and give the examples in the form their solver took them.

        `for_many` SVMs on the same examples, that form may be another.
        """
        prepared = self.prepare(X, y, sample_weight)
        if for_many:
            prepared = replace(prepared, problem=prepared.problem.for_many)
        targets = prepared.targets
        upper = self.upper_of(prepared, self.C)
        starts = self._starts(targets)
        self.targets_ = targets
        self.classes_ = targets.classes
        with few_blas_threads(prepared.X, effective_n_jobs(self.n_jobs)):
            self.solutions_ = self._solve(prepared.problem, targets, upper, starts)
            self._keep(prepared)
        self._tell()
        return prepared.problem

    def prepare(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> "Prepared":
        """Check the examples and bring them into the form that every class and every C share."""
        if _is_plain(X) and is_plain_target(y) and X.shape[0] == len(y):
            X = X if issparse(X) else np.ascontiguousarray(X)
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        else:
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, order="C"
            )
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if sample_weight is None:
            weights = np.ones(X.shape[0])
        else:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        return Prepared(X, targets_of(y), weights, self._problem_of(X, weights))

    def upper_of(self, prepared: "Prepared", C: float) -> Array:
        """Return what each α may be at most, one row per binary problem."""
        return upper_bounds(prepared.targets, check_cost(C), self.class_weight, prepared.weights)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row, or the matrix of labels the SVM was trained on."""
        decision = self.decision_function(X)
        return self.targets_.labels_of(decision[None, :] if decision.ndim == 1 else decision.T)

    def decision_function(self, X: Any) -> Array:
        """Return w·x + b of each row; for more than two classes, one column per class."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        check_intact(X)
        with few_blas_threads(X):
            decision = self._decide(X)
        is_binary = len(self.solutions_) == 1 and not self.targets_.is_multilabel
        return decision[:, 0] if is_binary else decision

    @abstractmethod
    def _problem_of(self, X: Any, weights: Array) -> Problem:
        """Bring the examples into the form the solver takes, if their products are finite."""

    def _check_squares(self, X: Any, squares: ArrayLike) -> None:
        """Refuse features that are not finite, or whose squares have a sum that is not.

        `squares` adds up to that sum.  Where it is finite, so is every product of two examples.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = bool(np.isfinite(np.sum(squares)))
        if not is_finite:
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            values = X.data if issparse(X) else X.ravel()
            raise InputError(
                "`X` must have features whose squares sum to a finite number; got "
                f"{values[np.abs(values).argmax()]:g}. Divide the features by their scale, or take "
                "out the value that stands for a missing one."
            )

    @abstractmethod
    def _keep(self, prepared: "Prepared") -> None:
        """Keep what a decision needs."""

    @abstractmethod
    def _decide(self, X: Any) -> Array:
        """Return the decision values, one column per problem."""

    def _solve(
        self, problem: Problem, targets: Targets, upper: Array, starts: Sequence[Solution | None]
    ) -> tuple[Solution, ...]:
        effort = self.effort()

        def solve(k: int) -> Solution:
            return solve_one(problem, targets.signs[k], upper[k], effort, starts[k])

        workers = min(effective_n_jobs(self.n_jobs), len(targets.signs))
        return tuple(in_threads(solve, range(len(targets.signs)), threads=workers))

    def effort(self) -> Effort:
        """Return how far the solver is to go."""
        passes = self.max_iter
        return Effort(
            tolerance=check_number(self.tol, "tol", low=0.0),
            passes=None if passes is None else check_whole_number(passes, "max_iter", low=1),
        )

    def _starts(self, targets: Targets) -> Sequence[Solution | None]:
        """Return the solutions to start from: those of the last fit, if of the same labels."""
        if self.warm_start and hasattr(self, "solutions_"):
            same = len(self.solutions_) == len(targets.signs) and all(
                np.array_equal(solution.y, signs)
                for solution, signs in zip(self.solutions_, targets.signs, strict=True)
            )
            if same:
                return self.solutions_
        return [None] * len(targets.signs)

    def _tell(self) -> None:
        """Set the attributes that are read off the solutions; warn of what is not as it should."""

        def stack(values: list[Any]) -> Any:
            is_binary = len(values) == 1 and not self.targets_.is_multilabel
            return values[0] if is_binary else np.array(values)

        stable = [solution.stable for solution in self.solutions_]
        self.alpha_: Array = stack([solution.alpha for solution in self.solutions_])
        self.slack_: Array = stack([solution.slack for solution in self.solutions_])
        self.upper_: Array = stack([solution.upper for solution in self.solutions_])
        self.stable_ = stack(stable)
        self.gap_ = max(solution.gap for solution in self.solutions_)
        self.n_iter_ = max(1, *(solution.passes for solution in self.solutions_))
        self.intercept_ = np.array([solution.bias for solution in self.solutions_])
        if not all(solution.is_within(self.tol) for solution in self.solutions_):
            warnings.warn(
                f"The solver stopped after {self.n_iter_} passes with a gap of {self.gap_:.2g}, "
                f"above `tol` = {self.tol:g}. Scale the features, raise `max_iter`, or lower `C`.",
                NotConvergedWarning,
                stacklevel=4,
            )
        unstable = sum(
            not is_stable and bool(one.alpha.any())
            for one, is_stable in zip(self.solutions_, stable, strict=True)
        )
        if unstable:
            of = "" if len(self.solutions_) == 1 else f" of {unstable} classes"
            warnings.warn(
                f"Every support vector{of} is at its bound: the bias is one of many that are as "
                "good. A larger `C` usually helps.",
                UnstableWarning,
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


def solve_one(
    problem: Problem, y: Array, upper: Array, effort: Effort, start: Solution | None = None
) -> Solution:
    """Solve one binary problem; where all examples that count are of one class, say so always."""
    if _has_both_classes(y, upper):
        return problem.solve(y, upper, effort, start)
    sign = 1.0 if (y[upper > 0] > 0).any() else -1.0
    return Solution(
        y=y,
        upper=upper,
        alpha=np.zeros(len(y)),
        bias=sign,
        decision=np.full(len(y), sign),
        gap=0.0,
        passes=0,
    )


def solve_along(
    problem: Problem, y: Array, weights: Array, costs: Sequence[float], effort: Effort
) -> list[Solution]:
    """Solve one binary problem for each cost, in rising order."""
    if _has_both_classes(y, weights):
        return problem.solve_along(y, weights, costs, effort)
    return [solve_one(problem, y, cost * weights, effort) for cost in costs]


def _has_both_classes(y: Array, upper: Array) -> bool:
    counts, is_positive = upper > 0.0, y > 0.0
    return bool((counts & is_positive).any() and (counts & ~is_positive).any())


def _is_plain(X: Any) -> bool:
    """Whether examples need none of scikit-learn's checks, which take as long as a small fit.

    Whether they are finite shows when they are in the form the solver takes.
    """
    return (
        type(X) in {np.ndarray, csr_array, csr_matrix}
        and X.dtype == np.float64
        and X.ndim == 2
        and 0 not in X.shape
    )
