"""One linear support vector machine a category, on shared documents; what each leaves to know."""

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.checks import check_number
from truerisk.errors import InputError
from truerisk.estimation.svm.at_risk import at_risk, worst_slack
from truerisk.estimation.svm.leave_one_out import TIE, LeftOut
from truerisk.svm.classifier import solve_one
from truerisk.svm.one_vs_rest import check_cost
from truerisk.svm.problems import Effort, Problem, linear_problem
from truerisk.svm.solution import LinearSolution, Solution

Progress = Callable[[int, int, int], None]

EFFORT = Effort()


@dataclass(frozen=True, kw_only=True)
class Training:
    """How the machines are trained and what is asked of each."""

    C: float
    rhos: tuple[float, ...]
    leave_one_out: bool = False
    workers: int = 1

    def checked(self) -> "Training":
        """Refuse what cannot be meant."""
        check_cost(self.C)
        for rho in self.rhos:
            if check_number(rho, "rho", low=0.0, high=sys.float_info.max) == 0.0:
                raise InputError("`rho` must be positive; got 0. It is 1 for text, 2 is proven.")
        return self


@dataclass(frozen=True, kw_only=True)
class Machines:
    """What the machines leave, a row a category; a category without a machine leaves zeros.

    `flagged` has a slice for each ρ.  `left_out` are the errors of exact leave-one-out; `refits`
    counts what had to be left out in earnest and `ties` the calls that are arbitrary.
    """

    flagged: Flags
    left_out: Flags
    decision: Array
    stable: Flags
    gap: Array
    refits: NDArray[np.intp]
    ties: NDArray[np.intp]
    squared_radius: float
    radius_rule: str


def train_machines(
    X: Any,  # noqa: ANN401
    truth: Flags,
    training: Training,
    *,
    test: Any = None,  # noqa: ANN401
    progress: Progress | None = None,
) -> Machines:
    """Train a machine for each category that some, not all, documents carry.

    Parameters
    ----------
    X, test
        Training documents and held-out ones, sparse or dense, a row a document.
    truth
        Which training document carries which category, a row a category.
    progress
        Called after each category as `progress(done, done, total)`.
    """
    problem = linear_problem(X)
    squared_radius, rule = problem.radius
    categories, n = truth.shape
    machines = Machines(
        flagged=np.zeros((len(training.rhos), categories, n), dtype=bool),
        left_out=np.zeros((categories, n if training.leave_one_out else 0), dtype=bool),
        decision=np.zeros((categories, 0 if test is None else test.shape[0])),
        stable=np.ones(categories, dtype=bool),
        gap=np.zeros(categories),
        refits=np.zeros(categories, dtype=np.intp),
        ties=np.zeros(categories, dtype=np.intp),
        squared_radius=squared_radius,
        radius_rule=rule,
    )
    wanted = np.flatnonzero(truth.any(axis=1) & ~truth.all(axis=1))

    def train(at: int) -> None:
        y = np.where(truth[at], 1.0, -1.0)
        solution = solve_one(problem, y, np.full(n, training.C), EFFORT)
        _keep(machines, at, solution, training.rhos)
        if training.leave_one_out:
            _leave_out(machines, at, solution, problem)
        if test is not None and isinstance(solution, LinearSolution):
            machines.decision[at] = test @ solution.weights + solution.bias

    _run(train, wanted.tolist(), training.workers, progress)
    return machines


def _keep(machines: Machines, at: int, solution: Solution, rhos: tuple[float, ...]) -> None:
    slack = worst_slack(solution)
    for flagged, rho in zip(machines.flagged, rhos, strict=True):
        flagged[at] = at_risk(solution.alpha, slack, machines.squared_radius, rho)
    machines.stable[at] = solution.stable
    machines.gap[at] = solution.gap


def _leave_out(machines: Machines, at: int, solution: Solution, problem: Problem) -> None:
    without = LeftOut(problem, machines.squared_radius, EFFORT, 1)
    margins = without.margins(solution)
    # A decision value of 0 is called negative.
    machines.left_out[at] = np.where(solution.y > 0, margins <= 0.0, margins < 0.0)
    machines.refits[at] = without.refits
    machines.ties[at] = np.count_nonzero(np.abs(margins) <= TIE)


def _run(
    train: Callable[[int], None], wanted: list[int], workers: int, progress: Progress | None
) -> None:
    """Train in threads, the largest category first, so that none is left to finish alone."""
    total = len(wanted)
    pool = ThreadPoolExecutor(max(1, min(workers, total)))
    try:
        running: list[Future[None]] = [pool.submit(train, at) for at in wanted]
        for done, future in enumerate(as_completed(running), start=1):
            future.result()
            if progress is not None:
                progress(done, done, total)
    finally:
        pool.shutdown(cancel_futures=True)
