"""The SVM with any kernel, on its Gram matrix."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import Tags

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.execution.threads import few_blas_threads
from truerisk.svm.classifier import MarginClassifier, Prepared
from truerisk.svm.example_forms import check_gram, sum_of_squares
from truerisk.svm.kernels import KernelFunction, kernel_of
from truerisk.svm.one_vs_rest import ClassWeight
from truerisk.svm.problems import GramProblem, Problem, kernel_problem
from truerisk.svm.rows.matrix import check_intact

VALUES = 10**7  # of the kernel that a prediction computes at a time


class KernelSVM(MarginClassifier):
    r"""A support vector machine with hinge loss, a free bias and any kernel, solved exactly.

    .. math:: \min_\alpha \; \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j k(x_i, x_j)
              - \sum_i \alpha_i, \qquad 0 \le \alpha_i \le C v_i, \quad \sum_i y_i \alpha_i = 0

    Up to 3,000 examples it is solved on the Gram matrix, which is computed once for all classes:
    sequential minimal optimisation to come near, then the active set to the exact optimum.  More
    examples are solved a block at a time, without a Gram matrix; exact leave-one-out needs one, of
    8 n² bytes and more.

    Parameters
    ----------
    C
        The price of an error.  Example i has the price C · sample weight · class weight.
    kernel
        "linear", "poly", "rbf", "precomputed", or a function of two matrices that returns the
        matrix of values.
    gamma, degree, coef0
        As in scikit-learn's `SVC`: (γ x·x′ + coef0)^degree and ``exp(−γ|x − x′|²)``.
    tol, class_weight, max_iter, warm_start, n_jobs
        As in `LinearSVM`.

    Attributes
    ----------
    alpha_, slack_, upper_, squared_radius_, radius_rule_, stable_, gap_, intercept_
        As in `LinearSVM`.
    support_, support_vectors_, dual_coef_
        The training examples with α > 0 in some problem, and y·α of them, one row per problem.

    Examples
    --------
    >>> circle = [[0.0, 0.0], [0.1, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> svm = KernelSVM(C=10, kernel="rbf", gamma=1.0).fit(circle, [1, 1, 0, 0, 0, 0])
    >>> svm.predict([[0.0, 0.1], [0.9, 0.9]])
    array([1, 0])
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: str | float = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-6,
        class_weight: ClassWeight = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _problem_of(self, X: Any, weights: Array) -> Problem:
        check_intact(X)
        self._check_squares(X, sum_of_squares(X))
        self.kernel_ = kernel_of(self, X, weights)
        if self.kernel == "precomputed":
            if issparse(X):
                raise InputError(
                    "`X` must be a dense matrix for a precomputed kernel; got a sparse one."
                )
            check_gram(X)
        with few_blas_threads(X):
            problem = kernel_problem(self.kernel_, X)
        if callable(self.kernel) and isinstance(problem, GramProblem):
            check_gram(problem.gram, "kernel")
        return problem

    def _keep(self, prepared: Prepared) -> None:
        signed = np.array([solution.y * solution.alpha for solution in self.solutions_])
        self.support_ = np.flatnonzero(signed.any(axis=0))
        rows = self.support_[:0] if self.kernel == "precomputed" else self.support_
        self.support_vectors_ = prepared.X[rows]
        self.dual_coef_ = signed[:, self.support_]
        self.squared_radius_, self.radius_rule_ = prepared.problem.radius

    def _decide(self, X: Any) -> Array:
        if self.kernel == "precomputed":
            given: Array = np.asarray(X[:, self.support_] @ self.dual_coef_.T) + self.intercept_
            return given
        decision = np.tile(self.intercept_, (X.shape[0], 1))
        piece = max(VALUES // max(len(self.support_), 1), 1)
        for first in range(0, X.shape[0], piece):
            part = slice(first, first + piece)
            products = self.kernel_.between(X[part], self.support_vectors_)
            decision[part] += np.asarray(products @ self.dual_coef_.T)
        return decision

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
