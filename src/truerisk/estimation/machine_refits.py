"""Refits of the project's own support vector machines, all from one prepared problem.

A problem knows the examples and no labels (`svm/problems.py`): a refit on some of the examples is
the problem with U = C · (how often the example is in the training part).  So the examples are
checked and brought into form once a process, not once a refit, and where the solver can make use of
it, every refit starts from the solution of all examples.  It never starts from another refit, so
that nothing depends on the order of the refits or on who does them.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import MachineError
from truerisk.estimation.plans import Plan
from truerisk.estimation.refits import Arrays, positions, refit

if TYPE_CHECKING:
    from truerisk.svm.classifier import MarginClassifier, Prepared
    from truerisk.svm.solution import Solution

Array = NDArray[np.float64]

FEWEST_REFITS = 3  # to solve the problem of all examples first must pay
# A solver that stops early would stop nearer to the solution that has seen the judged examples.
LOOSEST = 1e-5
LEAST_SHARE = 0.6  # of the examples, on which a refit trains, for the solution of all to be near


def prepared(model: Any, X: Any, y: NDArray[Any], plan: Plan) -> dict[str, Any] | None:  # noqa: ANN401
    """Give what `machine_refit` needs in `shared` beside what `refit` does; None if it cannot help.

    It can for `LinearSVM`, and for `KernelSVM` with a kernel that is positive semidefinite and does
    not depend on the training part: linear, or poly and rbf with a `gamma` other than "scale".

    Parameters
    ----------
    model, X, y, plan
        As in `shared`.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> from truerisk.estimation.plans import each_left_out
    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    >>> sorted(prepared(LinearSVM(), X, y, each_left_out(4)))
    ['machine']
    >>> from sklearn.dummy import DummyClassifier
    >>> prepared(DummyClassifier(), X, y, each_left_out(4)) is None
    True
    """
    if not _is_ours(model) or len(plan) < FEWEST_REFITS or not 0.0 <= model.tol <= LOOSEST:
        return None
    from truerisk.execution.one_thread import OneThread  # noqa: PLC0415  (loads libraries)

    try:
        # As in the refits: a second thread may change the last bit.
        with OneThread().held():
            machine = Machine(model, _form(model, X, y))
            if machine.form_uses_starts:
                if not _is_near(plan, len(y)):
                    return None
                machine.start()
    except (MachineError, ValueError, TypeError):  # told refit by refit, in the model's own words
        return None
    return {"machine": machine}


def machine_refit(shared: Mapping[str, Any], at: int) -> Arrays:
    """Train and judge as refit `at` of the plan says; the same as `refit`, and sooner.

    The optimum is that of `refit`, found to the same gap.  Where it is not one (every support
    vector is at its bound, or the solver stopped early), and where a class is missing among the
    training examples, it is left to `refit`.

    Parameters
    ----------
    shared
        As for `refit`, and what `prepared` gave.
    at
        The number of the refit.

    Returns
    -------
    arrays
        As of `refit`.  The seconds to induce are those of the solver, from where it started.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> from truerisk.estimation.plans import each_left_out
    >>> shared = {"model": LinearSVM(), "X": np.array([[0.0], [1.0], [3.0], [4.0]]),
    ...           "y": np.array([0, 0, 1, 1]), "values": np.array([0, 1]),
    ...           "plan": each_left_out(4), "seed": 1}
    >>> shared |= prepared(shared["model"], shared["X"], shared["y"], shared["plan"])
    >>> found = machine_refit(shared, 1)
    >>> found["predicted"], found["score"].round(6)
    (array([0], dtype=int32), array([-0.333333]))
    """
    try:
        found = _solved_and_judged(shared, at)
    except MachineError:  # no memory for a matrix in each worker
        found = None
    return refit(shared, at) if found is None else found


class Machine:
    """The machine of all examples, from which refits start.

    Sent to a worker, it leaves the examples behind, and makes its form of them there: once, since
    a worker keeps what it was sent.
    """

    def __init__(self, model: "MarginClassifier", form: "Form") -> None:
        self.model = model
        self.starts: tuple[Solution | None, ...] = (None,) * len(form.prepared.targets.signs)
        self._form: Form | None = form

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_form": None}

    @property
    def form_uses_starts(self) -> bool:
        """Whether the solver of these examples can make use of a start."""
        from truerisk.svm.problems import DenseProblem  # noqa: PLC0415  (loaded where models are)

        return self._form is not None and not isinstance(self._form.prepared.problem, DenseProblem)

    def form(self, shared: Mapping[str, Any]) -> "Form":
        """Give the examples as the solver takes them."""
        if self._form is None:
            # A worker's arrays are read-only, for which all sweeps would be compiled once more.
            self._form = _form(self.model, shared["X"].copy(), shared["y"])
        return self._form

    def start(self) -> None:
        """Solve the problem of all examples."""
        if self._form is not None:
            everything = np.ones(len(self._form.prepared.weights))
            self.starts = self._form.solve(everything, self.starts)


@dataclass(frozen=True)
class Form:
    """Checked examples in the form their solver takes, and the machine that checked them."""

    machine: "MarginClassifier"
    prepared: "Prepared"

    def solve(self, counts: Array, starts: "tuple[Solution | None, ...]") -> "tuple[Solution, ...]":
        """Solve each binary problem with each example counted so many times."""
        from truerisk.svm.classifier import Prepared, solve_one  # noqa: PLC0415

        targets, problem = self.prepared.targets, self.prepared.problem
        counted = Prepared(self.prepared.X, targets, counts, problem)
        upper = self.machine.upper_of(counted, self.machine.C)
        effort = self.machine.effort()
        return tuple(
            solve_one(problem, signs, bounds, effort, start)
            for signs, bounds, start in zip(targets.signs, upper, starts, strict=True)
        )

    def decide(self, solutions: "tuple[Solution, ...]", which: NDArray[np.intp]) -> Array:
        """Compute the decision values of some examples, as for new ones: a column a problem."""
        from truerisk.svm.problems import GramProblem  # noqa: PLC0415

        bias = np.array([solution.bias for solution in solutions])
        X, problem = self.prepared.X, self.prepared.problem
        if isinstance(problem, GramProblem):
            signed = np.array([solution.y * solution.alpha for solution in solutions])
            support = np.flatnonzero(signed.any(axis=0))
            products = self.machine.kernel_.between(X[which], X[support])
            values = np.asarray(products @ signed[:, support].T)
        else:
            weights = np.array([solution.weights for solution in solutions])  # type: ignore[attr-defined]
            values = np.asarray(X[which] @ weights.T)
        decision: Array = values + bias
        return decision


def _solved_and_judged(shared: Mapping[str, Any], at: int) -> Arrays | None:
    """Solve one refit; None where the optimum is not one."""
    machine: Machine = shared["machine"]
    train, test = shared["plan"].train_and_test(at)
    counts = np.bincount(train, minlength=len(shared["y"])).astype(float)
    form = machine.form(shared)
    targets = form.prepared.targets
    known = counts > 0
    if any(len(np.unique(signs[known])) < 2 for signs in targets.signs) or (
        machine.starts[0] is not None and known.mean() < LEAST_SHARE
    ):
        return None
    began = time.perf_counter()
    solutions = form.solve(counts, machine.starts)
    induced = time.perf_counter()
    if any(one.gap > form.machine.tol or not one.stable for one in solutions):
        return None
    before = time.perf_counter()
    decision = form.decide(solutions, test)
    labels = targets.labels_of(decision.T)
    classified = time.perf_counter()
    values = shared["values"]
    score = decision[:, 0] if len(values) == 2 else np.empty_like(decision)
    if len(values) > 2:
        score[:, positions(targets.classes, values)] = decision
    return {
        "predicted": positions(labels, values),
        "score": score,
        "probabilities": np.array(False),  # noqa: FBT003
        "seconds": np.array([induced - began, classified - before]),
    }


def _form(model: "MarginClassifier", X: Any, y: NDArray[Any]) -> Form:  # noqa: ANN401
    from sklearn.base import clone  # noqa: PLC0415  (loaded where models are)

    machine = clone(model)
    return Form(machine, machine.prepare(X, y))


def _is_ours(model: Any) -> bool:  # noqa: ANN401
    """Tell whether a model is a machine of ours whose kernel is the same in every refit.

    An indefinite kernel has several optima, and which one is found depends on the start.
    """
    if type(model).__module__ not in {"truerisk.svm.linear", "truerisk.svm.kernel"}:
        return False  # by name, so that nobody loads these who has another model
    from truerisk.svm.kernel import KernelSVM  # noqa: PLC0415
    from truerisk.svm.linear import LinearSVM  # noqa: PLC0415

    if type(model) is LinearSVM or (type(model) is KernelSVM and model.kernel == "linear"):
        return True
    return (
        type(model) is KernelSVM
        and model.gamma != "scale"
        and (model.kernel == "rbf" or (model.kernel == "poly" and model.coef0 >= 0))
    )


def _is_near(plan: Plan, n: int) -> bool:
    """Tell whether a refit, the first or the last, trains on most of the examples."""
    parts = (plan.train_and_test(at)[0] for at in (0, len(plan) - 1))
    return any(len(np.unique(train)) >= LEAST_SHARE * n for train in parts)
