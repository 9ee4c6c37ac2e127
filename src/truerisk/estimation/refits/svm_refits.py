"""Refits of the project's own support vector SVMs, all from one prepared problem.

A problem knows the examples and no labels (`svm/problems.py`): a refit on some of the examples is
the problem with U = C · (how often the example is in the training part).  So the examples are
checked and brought into form once a process, not once a refit, and where the solver can make use of
it, every refit starts from the solution of all examples.  It never starts from another refit, so
that nothing depends on the order of the refits or on who does them.  On a Gram matrix the refits of
a plan are solved ahead, many at a time, from the one tableau of that solution.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.errors import ResourceError
from truerisk.estimation.refits.plans import Folds, Plan
from truerisk.learners.refits import Arrays, positions, refit

if TYPE_CHECKING:
    from truerisk.svm.classifier import MarginClassifier
    from truerisk.svm.kernels import Kernel
    from truerisk.svm.one_vs_rest import Targets
    from truerisk.svm.problems import Problem
    from truerisk.svm.solution import Solution

MIN_REFITS = 3  # to solve the problem of all examples first must pay
MIN_AHEAD, MAX_AHEAD = 8, 512  # refits of a plan that are solved ahead
MAX_MATRIX = 5000  # examples: what is solved ahead takes three matrices more
AT_A_TIME = 64  # refits solved together: fixed, so that nothing else changes a bit
CLOSE = 1e-8  # a gap at which refits that are solved ahead are solved
LOOSEST = 1e-5  # the gap at which a solution may stand for the optimum
# Bad examples or settings, or no memory for a matrix: an ordinary refit says so in its own words.
UNFIT = (ResourceError, ValueError, TypeError)
FEW_EXAMPLES = 3000  # up to here a wide table that is no text is better solved on its Gram matrix
LOW_RANK = 0.3  # features per example up to which they serve better than K, by trial
FILLED = 0.1  # share of the entries of a table that is no text


def svm_start(
    model: Any,
    X: Any,
    y: NDArray[Any],
    plan: Plan,
    trained: "tuple[MarginClassifier, Problem] | None" = None,
) -> dict[str, Any] | None:
    """Give what `svm_refit` needs in `shared` beside what `refit` does; None if it cannot help.

    It can for `LinearSVM`, and for kernels that are positive semidefinite and the same in every
    training part: linear, or poly and rbf with a `gamma` other than "scale".  `trained` is the
    model trained on all examples and what it solved, where somebody has done that.
    """
    is_matrix = isinstance(X, np.ndarray) or hasattr(X, "tocsr")
    if len(plan) < MIN_REFITS or not is_matrix or not _is_ours(model):
        return None
    from truerisk.execution.batches import one_thread

    try:
        # As in the refits: a second thread may change the last bit.
        with one_thread():
            form = SolverForm.of(model, X, y) if trained is None else SolverForm.from_(X, *trained)
            start = SVMStart(model, form)
            if trained is not None and form.takes_starts_of(trained[1]):
                start.starts = tuple(trained[0].solutions_)
            if not form.has_one_end or not start.solve():
                return None
            start.solve_ahead(plan)
    except UNFIT:
        return None
    return {"svm_start": start}


def svm_refit(shared: Mapping[str, Any], at: int) -> Arrays:
    """Train and predict as refit `at` of the plan says; the same as `refit`, and sooner.

    Left to `refit` where the optimum is not unique, the solver stopped early, or a class is
    missing.
    """
    try:
        outcome = _solved_and_judged(shared, at)
    except UNFIT:
        outcome = None
    return refit(shared, at) if outcome is None else outcome


class SVMStart:
    """The SVM of all examples, from which refits start.

    Sent to a worker, it leaves the examples behind, and makes its form of them there: once, since
    a worker keeps what it was sent.
    """

    def __init__(self, model: "MarginClassifier", form: "SolverForm") -> None:
        self.model = model
        self.starts: tuple[Solution | None, ...] = (None,) * len(form.targets.signs)
        self._form: SolverForm | None = form
        self.ahead: dict[int, Array] = {}  # decision values of whom a refit judges
        self.seconds = 0.0  # that each of these took

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_form": None}

    def form(self, shared: Mapping[str, Any]) -> "SolverForm":
        """Give the examples as the solver takes them."""
        if self._form is None:
            self._form = SolverForm.of(self.model, shared["X"], shared["y"])
        return self._form

    def solve(self) -> bool:
        """Solve the problem of all examples; tell whether its optimum is one."""
        from truerisk.svm.problems import DenseProblem

        form = self._form
        if form is None:
            return True
        if None in self.starts:
            self.starts = form.solve(np.ones(form.X.shape[0]), self.starts)
        # Of a table, a start says only which examples matter.
        is_table = isinstance(form.problem, DenseProblem)
        return is_table or all(start is not None and start.stable for start in self.starts)

    def solve_ahead(self, plan: Plan) -> None:
        """Solve the refits of a plan many at a time, where they share a Gram matrix.

        Refits of which the optimum is not one are left out.
        """
        from truerisk.svm.batch.nearby import solver_of
        from truerisk.svm.problems import GramProblem

        form, n = self._form, self._form.X.shape[0] if self._form else 0
        if (
            form is None
            or not isinstance(form.problem, GramProblem)
            or not MIN_AHEAD <= len(plan) <= MAX_AHEAD
            or n > MAX_MATRIX
        ):
            return
        began, tolerance = time.perf_counter(), min(form.svm.effort().tolerance, CLOSE)
        solvers = [
            solver_of(
                form.problem.gram,
                solution,
                form.X,
                tolerance=tolerance,
                made=form.problem.tableau_of(solution),
            )
            for solution in self.starts
            if solution is not None
        ]
        for first in range(0, len(plan), AT_A_TIME):
            refits = range(first, min(first + AT_A_TIME, len(plan)))
            counts, judged = _parts(plan, refits, n)
            upper = form.upper_of_all(counts)
            by_label = [solver.decisions(upper[:, k]) for k, solver in enumerate(solvers)]
            for row, at in enumerate(refits):
                if all(solved[row] for _, solved in by_label):
                    values = [decisions[row, judged[row]] for decisions, _ in by_label]
                    self.ahead[at] = np.array(values).T
        self.seconds = (time.perf_counter() - began) / len(plan)

    def predicted(self, plan: Folds, values: NDArray[Any]) -> NDArray[np.int32] | None:
        """Tell which of the values the refits call for, fold after fold, a row per repetition.

        None where some refits were not solved ahead.
        """
        if self._form is None or len(self.ahead) < len(plan):
            return None
        decision = np.concatenate([self.ahead[at] for at in range(len(plan))])
        return self._form.predicted_of(decision, values).reshape(plan.repetitions, -1)


@dataclass(frozen=True)
class SolverForm:
    """Checked examples in the form their solver takes, and the SVM that checked them."""

    svm: "MarginClassifier"
    X: Any
    targets: "Targets"
    problem: "Problem"

    @classmethod
    def of(cls, model: "MarginClassifier", X: Any, y: NDArray[Any]) -> "SolverForm":
        """Check the examples and choose the form that is best for many refits."""
        from sklearn.base import clone

        svm = clone(model)
        # A worker's arrays are read-only, for which all sweeps would be compiled once more.
        prepared = svm.prepare(X.copy(), y)
        svm.targets_ = prepared.targets
        return cls.from_(prepared.X, svm, prepared.problem)

    @classmethod
    def from_(cls, rows: Any, svm: "MarginClassifier", problem: "Problem") -> "SolverForm":
        """Choose the form by the problem of an SVM that has seen the examples."""
        from truerisk.svm.problems import (
            DenseProblem,
            GramProblem,
            KernelProblem,
            SparseProblem,
        )

        kernel = getattr(svm, "kernel_", None)
        features = None if kernel is None else _few_features(kernel, rows, problem)
        if features is not None:
            return cls(svm, features, svm.targets_, DenseProblem(features))
        if isinstance(problem, KernelProblem) or (
            isinstance(problem, SparseProblem) and problem.has_long_rows
        ):
            problem = problem.whole
        if (
            isinstance(problem, SparseProblem)
            and not hasattr(rows, "tocsr")
            and len(rows) <= FEW_EXAMPLES
            and np.count_nonzero(rows) >= FILLED * rows.size
        ):
            # A shift of all examples changes the bias alone, and spares the products their digits.
            shifted = rows - rows.mean(axis=0)
            problem = GramProblem(shifted @ shifted.T)
        return cls(svm, rows, svm.targets_, problem)

    def takes_starts_of(self, problem: "Problem") -> bool:
        """Tell whether a solution of this problem, which may know no weights, is a start here."""
        from truerisk.svm.problems import DenseProblem

        return isinstance(problem, DenseProblem) or not isinstance(self.problem, DenseProblem)

    @property
    def has_one_end(self) -> bool:
        """Whether the solver ends in the same place wherever it starts.

        One that stops early stops nearer to the solution that has seen the judged examples; and an
        indefinite kernel has several optima.
        """
        kernel = getattr(self.svm, "kernel_", None)
        is_definite = kernel is None or kernel.name != "poly" or kernel.coef0 >= 0.0
        return is_definite and self.svm.effort().tolerance <= LOOSEST

    def solve(self, counts: Array, starts: "tuple[Solution | None, ...]") -> "tuple[Solution, ...]":
        """Solve each binary problem with each example counted so many times."""
        from truerisk.svm.classifier import solve_one

        effort, upper = self.svm.effort(), self.upper_of(counts)
        return tuple(
            solve_one(self.problem, signs, bounds, effort, start)
            for signs, bounds, start in zip(self.targets.signs, upper, starts, strict=True)
        )

    def upper_of(self, counts: Array) -> Array:
        """Return the bounds of α with each example counted so many times, a row per problem."""
        from truerisk.svm.classifier import Prepared

        counted = Prepared(self.X, self.targets, counts, self.problem)
        return self.svm.upper_of(counted, self.svm.C)

    def upper_of_all(self, counts: Array) -> Array:
        """Return the bounds of α of several refits, a row of counts each."""
        if isinstance(self.svm.class_weight, str):  # which depends on the counts of both sides
            return np.array([self.upper_of(row) for row in counts])
        return self.upper_of(np.ones(counts.shape[1])) * counts[:, None]

    def predicted_of(self, decision: Array, values: NDArray[Any]) -> NDArray[np.int32]:
        """Tell which of the values each row of decision values calls for."""
        return positions(self.targets.labels_of(decision.T), values)

    def decision_of(self, solutions: "tuple[Solution, ...]", judged: NDArray[np.intp]) -> Array:
        """Compute the decision values of some examples, one column per problem."""
        if not hasattr(solutions[0], "weights"):  # on a Gram matrix the solver has computed them
            return np.array([solution.decision[judged] for solution in solutions]).T
        weights = np.array([solution.weights for solution in solutions])  # type: ignore[attr-defined]
        bias = np.array([solution.bias for solution in solutions])
        values: Array = np.asarray(self.X[judged] @ weights.T) + bias
        return values


def _solved_and_judged(shared: Mapping[str, Any], at: int) -> Arrays | None:
    """Solve one refit; None where the optimum is not one."""
    start: SVMStart = shared["svm_start"]
    train, test = shared["plan"].train_and_test(at)
    form = start.form(shared)
    targets = form.targets
    began = time.perf_counter()
    decision = start.ahead.get(at)
    if decision is None:
        solutions = form.solve(_counts(train, len(shared["y"])), start.starts)
        # Where a class is missing there is no support vector, and so none within its bounds.
        if any(not one.is_within(form.svm.tol) or not one.stable for one in solutions):
            return None
    induced = time.perf_counter()
    if decision is None:
        decision = form.decision_of(solutions, test)
    else:
        began -= start.seconds
    values = shared["values"]
    predicted = form.predicted_of(decision, values)
    classified = time.perf_counter()
    score = decision[:, 0] if len(values) == 2 else np.empty_like(decision)
    if len(values) > 2:
        score[:, positions(targets.classes, values)] = decision
    return {
        "predicted": predicted,
        "score": score,
        "probabilities": np.array(False),  # noqa: FBT003
        "seconds": np.array([induced - began, classified - induced]),
    }


def _few_features(kernel: "Kernel", rows: Any, problem: "Problem") -> Array | None:
    """Return features of which the kernel is the product, where they are few; None elsewhere.

    On a Gram matrix of low rank, steps of two examples take long to end.
    """
    from truerisk.svm.dense.features import pivoted_features
    from truerisk.svm.example_forms import centred
    from truerisk.svm.kernels import dense
    from truerisk.svm.problems import FEW_FEATURES, GramProblem, KernelProblem

    n, d = rows.shape
    most = min(FEW_FEATURES, int(LOW_RANK * n))
    if kernel.name == "linear" and d <= most:
        return np.ascontiguousarray(dense(rows), dtype=float)
    if kernel.name != "poly" or math.comb(d + kernel.degree, d) > most:
        return None
    whole = problem.whole if isinstance(problem, KernelProblem) else problem
    return pivoted_features(centred(whole.gram), most) if isinstance(whole, GramProblem) else None


def _parts(plan: Plan, refits: range, n: int) -> tuple[Array, Sequence[NDArray[Any]]]:
    """Count the examples in the training part of each refit, and say whom it judges."""
    if isinstance(plan, Folds):
        is_judged = plan.parts.repeat(plan.folds, axis=0)[refits.start : refits.stop]
        is_judged = is_judged == np.arange(refits.start, refits.stop)[:, None] % plan.folds
        return (~is_judged).astype(float), list(is_judged)
    parts = [plan.train_and_test(at) for at in refits]
    return np.array([_counts(train, n) for train, _ in parts]), [test for _, test in parts]


def _counts(train: NDArray[np.intp], n: int) -> Array:
    """Count how often each example is in a training part."""
    return np.bincount(train, minlength=n).astype(float)


def _is_ours(model: Any) -> bool:
    """Tell whether a model is an SVM of this library whose kernel is the same in every refit."""
    # By name: whoever has another model does not load these.
    name = f"{type(model).__module__}.{type(model).__name__}"
    if name == "truerisk.svm.kernel.KernelSVM":
        kernel, gamma = model.kernel, model.gamma
        return kernel == "linear" or (kernel in {"rbf", "poly"} and gamma != "scale")
    return name == "truerisk.svm.linear.LinearSVM"
