"""The linear SVM: dense or sparse, never a Gram matrix."""

from typing import Any

import numpy as np

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.svm.classifier import MarginClassifier, Prepared
from truerisk.svm.one_vs_rest import ClassWeight
from truerisk.svm.problems import Problem, linear_problem
from truerisk.svm.solution import LinearSolution

CHANGED = 1e-6  # of the largest decision value: further off, they are of other examples


class LinearSVM(MarginClassifier):
    r"""A linear support vector machine with hinge loss and a free bias, solved exactly.

    .. math:: \min_{w, b} \; \tfrac12 w \cdot w + C \sum_i v_i \max(0,\; 1 - y_i (w \cdot x_i + b))

    The bias is not regularised, as in Joachims [1]_ and libsvm (and unlike scikit-learn's
    `LinearSVC`), so that the leave-one-out theory holds; `tr.xi_alpha` and `tr.leave_one_out` read
    what it keeps.  Sparse rows and many features are solved by coordinate descent with Newton
    steps, few features by an interior point; both end within `tol` of the exact optimum, or warn.
    A loose `tol`, as 1e-3, takes sweeps of coordinate descent alone where they suffice.

    Parameters
    ----------
    C
        The price of an error.  Example i has the price C · sample weight · class weight.
    tol
        How far from the optimum the solver may stop: the largest violation of the optimality
        conditions, in units of the margin.  From 1e-4 on, an objective that is within this part of
        its optimum, by the duality gap, is enough.
    class_weight
        None, "balanced", or a mapping of class to weight.
    max_iter
        How often a solver may go over the data before it stops with `NotConvergedWarning`; each
        has its own cap where none is given.
    warm_start
        Whether a further `fit` on the same labels starts from the last solution.
    n_jobs
        How many classes are solved at a time; −1 takes all cores.

    Attributes
    ----------
    alpha_, slack_, upper_
        α, ξ and the bound of α for each training example; a row a class if there are more than two.
    squared_radius_, radius_rule_
        R², the bound of k(x, x) − k(x, x′), and how it was found; computed when first read.
    coef_, intercept_
        w, one row per problem, and b.
    stable_
        Whether a support vector lies strictly within its bounds, which pins b down.
    gap_
        The largest violation of the optimality conditions over all classes.

    References
    ----------
    .. [1] T. Joachims, "Estimating the generalization performance of an SVM efficiently",
       ICML 2000, 431-438.

    Examples
    --------
    >>> svm = LinearSVM(C=10).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> svm.predict([[1.5], [2.5]])
    array([0, 1])
    >>> svm.alpha_.round(6), svm.intercept_.round(6)
    (array([0. , 0.5, 0.5, 0. ]), array([-2.]))
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        tol: float = 1e-6,
        class_weight: ClassWeight = None,
        max_iter: int | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.tol = tol
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _problem_of(self, X: Any, weights: Array) -> Problem:  # noqa: ARG002
        problem = linear_problem(X)
        self._check_squares(X, problem.squares)
        return problem

    def _keep(self, prepared: Prepared) -> None:
        none = np.zeros(prepared.X.shape[1])
        self.coef_ = np.array(
            [
                solution.weights if isinstance(solution, LinearSolution) else none
                for solution in self.solutions_
            ]
        )
        self._trained_on: Prepared | None = prepared

    @property
    def squared_radius_(self) -> float:
        """R², computed when it is first read: on a table that takes as long as a loose fit."""
        return self._radius()[0]

    @property
    def radius_rule_(self) -> str:
        """How R² was found."""
        return self._radius()[1]

    def _radius(self) -> tuple[float, str]:
        self._measure()
        if self._radius_and_rule is None:
            raise InputError(
                "`X` must be as it was in fit for R² to be computed; it was changed in place. Fit "
                "again, or read squared_radius_ before the examples are changed."
            )
        return self._radius_and_rule

    def _measure(self) -> None:
        """Compute R² and let the examples go; None if they are not what was trained on."""
        trained_on = self._trained_on
        if trained_on is not None:
            first = self.solutions_[0]
            size = 1.0 + float(np.abs(first.decision).max(initial=0.0))
            moved = np.abs(self._decide(trained_on.X)[:, 0] - first.decision).max(initial=0.0)
            same = not isinstance(first, LinearSolution) or bool(moved <= CHANGED * size)
            self._radius_and_rule = trained_on.problem.radius if same else None
            self._trained_on = None  # last: another thread may be reading

    def __getstate__(self) -> dict[str, Any]:
        if hasattr(self, "_trained_on"):
            self._measure()  # a stored SVM does not hold its examples
        state: dict[str, Any] = super().__getstate__()
        return state

    def _decide(self, X: Any) -> Array:
        decision: Array = np.asarray(X @ self.coef_.T) + self.intercept_
        return decision
