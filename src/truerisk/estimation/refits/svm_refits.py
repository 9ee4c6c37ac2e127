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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from truerisk.aliases import Array, Indices
from truerisk.errors import ResourceError
from truerisk.estimation.refits.plans import Folds, Plan
from truerisk.execution.threads import one_thread
from truerisk.learners.refits import Arrays, positions, refit
from truerisk.svm.batch.nearby import solver_of
from truerisk.svm.classifier import MarginClassifier, solve_one
from truerisk.svm.dense.features import pivoted_features
from truerisk.svm.example_forms import centred
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.kernels import Kernel, dense
from truerisk.svm.linear import LinearSVM
from truerisk.svm.one_vs_rest import Targets, check_cost, upper_bounds
from truerisk.svm.problems import (
    FEW_FEATURES,
    DenseProblem,
    GramProblem,
    KernelProblem,
    Problem,
    SparseProblem,
)
from truerisk.svm.solution import LinearSolution, Solution

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
    trained: tuple[MarginClassifier, Problem] | None = None,
) -> dict[str, Any] | None:
    """Give what `svm_refit` needs in `shared` beside what `refit` does; None if it cannot help.

    It can for `LinearSVM`, and for kernels that are positive semidefinite and the same in every
    training part: linear, or poly and rbf with a `gamma` other than "scale".  `trained` is the
    model trained on all examples and what it solved, where somebody has done that.
    """
    is_matrix = isinstance(X, np.ndarray) or hasattr(X, "tocsr")
    if len(plan) < MIN_REFITS or not is_matrix or not _has_one_kernel(model):
        return None
    try:
        # As in the refits: a second thread may change the last bit.
        with one_thread():
            form = SolverForm.of(model, X, y) if trained is None else SolverForm.from_(X, *trained)
            if not form.has_one_end:
                return None
            is_table = isinstance(form.problem, DenseProblem)
            starts: Sequence[Solution | None] = [None] * len(form.targets.signs)
            # What was solved by a kernel knows no weights, and is no start on a table.
            if trained is not None and (isinstance(trained[1], DenseProblem) or not is_table):
                solutions = tuple(trained[0].solutions_)
            else:
                solutions = form.solve(np.ones(form.X.shape[0]), starts)
            # Of a table, a start says only which examples matter.
            if not is_table and not all(solution.stable for solution in solutions):
                return None
            start = SVMStart(model, form, solutions)
            start.solve_ahead(form, plan)
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

    def __init__(
        self, model: MarginClassifier, form: "SolverForm", starts: tuple[Solution, ...]
    ) -> None:
        self.model = model
        self.starts = starts
        self._form = form
        self.ahead: dict[int, Array] = {}  # decision values of whom a refit judges
        self.seconds = 0.0  # that each of these took

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_form"}

    def form(self, shared: Mapping[str, Any]) -> "SolverForm":
        """Give the examples as the solver takes them."""
        if not hasattr(self, "_form"):
            self._form = SolverForm.of(self.model, shared["X"], shared["y"])
        return self._form

    def solve_ahead(self, form: "SolverForm", plan: Plan) -> None:
        """Solve the refits of a plan many at a time, where they share a Gram matrix.

        Refits of which the optimum is not one are left out.
        """
        problem, n = form.problem, form.X.shape[0]
        if (
            not isinstance(problem, GramProblem)
            or not MIN_AHEAD <= len(plan) <= MAX_AHEAD
            or n > MAX_MATRIX
        ):
            return
        began, tolerance = time.perf_counter(), min(form.svm.effort().tolerance, CLOSE)
        solvers = [
            solver_of(
                problem.gram,
                solution,
                form.X,
                tolerance=tolerance,
                made=problem.tableau_of(solution),
            )
            for solution in self.starts
        ]
        for first in range(0, len(plan), AT_A_TIME):
            refits = range(first, min(first + AT_A_TIME, len(plan)))
            counts, refit, judged = _parts(plan, refits, n)
            upper = form.upper_of_all(counts)
            by_label = [solver.decisions(upper[:, k]) for k, solver in enumerate(solvers)]
            values = np.stack([decisions[refit, judged] for decisions, _ in by_label], axis=1)
            starts = np.searchsorted(refit, np.arange(len(refits) + 1)).tolist()
            for row in np.flatnonzero(np.all([solved for _, solved in by_label], axis=0)).tolist():
                self.ahead[refits[row]] = values[starts[row] : starts[row + 1]]
        self.seconds = (time.perf_counter() - began) / len(plan)

    def predicted(self, plan: Folds, values: NDArray[Any]) -> NDArray[np.int32] | None:
        """Tell which of the values the refits call for, fold after fold, a row per repetition.

        None where some refits were not solved ahead.
        """
        if len(self.ahead) < len(plan):
            return None
        decision = np.concatenate([self.ahead[at] for at in range(len(plan))])
        return self._form.predicted_of(decision, values).reshape(plan.repetitions, -1)


@dataclass(frozen=True)
class SolverForm:
    """Checked examples in the form their solver takes, and the SVM that checked them."""

    svm: MarginClassifier
    X: Any
    targets: Targets
    problem: Problem

    @classmethod
    def of(cls, model: MarginClassifier, X: Any, y: NDArray[Any]) -> "SolverForm":
        """Check the examples and choose the form that is best for many refits."""
        svm = clone(model)
        prepared = svm.prepare(X, y)
        svm.targets_ = prepared.targets
        return cls.from_(prepared.X, svm, prepared.problem)

    @classmethod
    def from_(cls, rows: Any, svm: MarginClassifier, problem: Problem) -> "SolverForm":
        """Choose the form by the problem of an SVM that has seen the examples."""
        kernel = getattr(svm, "kernel_", None)
        features = None if kernel is None else _few_features(kernel, rows, problem)
        if features is not None:
            return cls(svm, features, svm.targets_, DenseProblem(features))
        if isinstance(problem, KernelProblem) or (
            isinstance(problem, SparseProblem) and (problem.has_long_rows or _is_filled(rows))
        ):
            problem = problem.whole
        return cls(svm, rows, svm.targets_, problem)

    @property
    def has_one_end(self) -> bool:
        """Whether the solver ends in the same place wherever it starts.

        One that stops early stops nearer to the solution that has seen the judged examples; and an
        indefinite kernel has several optima.
        """
        kernel = getattr(self.svm, "kernel_", None)
        is_definite = kernel is None or kernel.name != "poly" or kernel.coef0 >= 0.0
        return is_definite and self.svm.effort().tolerance <= LOOSEST

    def solve(self, counts: Array, starts: Sequence[Solution | None]) -> tuple[Solution, ...]:
        """Solve each binary problem with each example counted so many times."""
        effort, upper = self.svm.effort(), self.upper_of(counts)
        return tuple(
            solve_one(self.problem, signs, bounds, effort, start)
            for signs, bounds, start in zip(self.targets.signs, upper, starts, strict=True)
        )

    def upper_of(self, counts: Array) -> Array:
        """Return the bounds of α with each example counted so many times, a row per problem."""
        return upper_bounds(self.targets, check_cost(self.svm.C), self.svm.class_weight, counts)

    def upper_of_all(self, counts: Array) -> Array:
        """Return the bounds of α of several refits, a row of counts each."""
        if isinstance(self.svm.class_weight, str):  # which depends on the counts of both sides
            return np.array([self.upper_of(row) for row in counts])
        return self.upper_of(np.ones(counts.shape[1])) * counts[:, None]

    def predicted_of(self, decision: Array, values: NDArray[Any]) -> NDArray[np.int32]:
        """Tell which of the values each row of decision values calls for."""
        return positions(self.targets.labels_of(decision.T), values)

    def decision_of(self, solutions: tuple[Solution, ...], judged: NDArray[np.intp]) -> Array:
        """Compute the decision values of some examples, one column per problem."""
        linear = [solution for solution in solutions if isinstance(solution, LinearSolution)]
        if not linear:  # on a Gram matrix the solver has computed them
            return np.array([solution.decision[judged] for solution in solutions]).T
        weights = np.array([solution.weights for solution in linear])
        bias = np.array([solution.bias for solution in linear])
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


def _is_filled(rows: Any) -> bool:
    """Tell whether it is a small table with few zeros: no text."""
    is_small = not hasattr(rows, "tocsr") and len(rows) <= FEW_EXAMPLES
    return is_small and bool(np.count_nonzero(rows) >= FILLED * rows.size)


def _few_features(kernel: Kernel, rows: Any, problem: Problem) -> Array | None:
    """Return features of which the kernel is the product, where they are few; None elsewhere.

    On a Gram matrix of low rank, steps of two examples take long to end.
    """
    n, d = rows.shape
    most = min(FEW_FEATURES, int(LOW_RANK * n))
    if kernel.name == "linear" and d <= most:
        return np.ascontiguousarray(dense(rows), dtype=float)
    if kernel.name != "poly" or math.comb(d + kernel.degree, d) > most:
        return None
    whole = problem.whole if isinstance(problem, KernelProblem) else problem
    return pivoted_features(centred(whole.gram), most) if isinstance(whole, GramProblem) else None


def _parts(plan: Plan, refits: range, n: int) -> tuple[Array, Indices, Indices]:
    """Count the examples in the training part of each refit, and say which refit judges whom."""
    if isinstance(plan, Folds):
        is_judged = plan.parts.repeat(plan.folds, axis=0)[refits.start : refits.stop]
        is_judged = is_judged == np.arange(refits.start, refits.stop)[:, None] % plan.folds
        return (~is_judged).astype(float), *np.nonzero(is_judged)
    parts = [plan.train_and_test(at) for at in refits]
    counts = np.array([_counts(train, n) for train, _ in parts])
    tests = [test for _, test in parts]
    return (
        counts,
        np.repeat(np.arange(len(tests)), [len(test) for test in tests]),
        np.concatenate(tests),
    )


def _counts(train: NDArray[np.intp], n: int) -> Array:
    """Count how often each example is in a training part."""
    return np.bincount(train, minlength=n).astype(float)


def _has_one_kernel(model: Any) -> bool:
    """Tell whether a model is an SVM of this library whose kernel is the same in every refit."""
    if type(model) is KernelSVM:
        kernel, gamma = model.kernel, model.gamma
        return kernel == "linear" or (kernel in {"rbf", "poly"} and gamma != "scale")
    return type(model) is LinearSVM
