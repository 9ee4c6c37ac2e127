"""Exact leave-one-out of a support vector machine in about the time of one more fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.estimation.refits.estimate import estimate
from truerisk.estimation.svm.at_risk import at_risk
from truerisk.evaluation.evaluate import evaluate
from truerisk.results import Estimate, Evaluation
from truerisk.svm.blas_threads import few_blas_threads
from truerisk.svm.classifier import MarginClassifier, solve_one
from truerisk.svm.one_vs_rest import Targets
from truerisk.svm.problems import Effort, Problem
from truerisk.svm.solution import Solution

RHO = 2.0  # what lemma 1 needs for a machine with a bias
TIE = 1e-9  # margins within this of 0 are 0 up to rounding


@dataclass(frozen=True, kw_only=True, repr=False)
class LeaveOneOut(Evaluation):
    """The measures of leave-one-out predictions, and what they were made of.

    `errors` are the examples called wrong by the machine trained without them; `ties` those whose
    margin is 0, so that the call is arbitrary (scikit-learn's `predict` says negative, and so does
    this); `refits` is how many examples had to be left out in earnest.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> left = leave_one_out(LinearSVM(C=10), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> left.errors, left.ties, left.refits
    ((2,), (1, 2), 2)
    """

    kind: ClassVar[str] = "leave_one_out"

    errors: tuple[int, ...] = ()
    ties: tuple[int, ...] = ()
    refits: int = 0


def leave_one_out(
    model: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    **options: Any,  # noqa: ANN401
) -> LeaveOneOut:
    r"""Count the errors a model makes on examples it was trained without, exactly.

    Every example is called by the model trained on all the others.  For a support vector machine of
    this library most need no training:

    * :math:`2 \alpha_i R^2 + \xi_i < 1`: never an error, if all examples have one C (Joachims'
      lemma 1 [1]_; with several, the bias can jump while :math:`\alpha_i` goes to 0);
    * :math:`\alpha_i = 0`: the machine stays as it is;
    * :math:`\xi_i > 1`: always an error, as :math:`\xi_i` is a supergradient of the optimal value,
      which is concave in the price of example i, and so does not fall as that price goes to 0.

    The rest are left out in earnest, along the path of exact solutions or from a warm start.  Any
    other model is trained anew without each example.

    The *set* of errors is that of a loop over all examples; it is unbiased for the error of the
    learner at n − 1 examples.  The intervals treat the n calls as independent, which they are
    nearly; their target is the learner, not this one trained machine.

    Parameters
    ----------
    model
        `tr.LinearSVM` or `tr.KernelSVM`, or any classifier of scikit-learn's kind; it is cloned,
        not changed.  What depends on the data (gamma="scale", "balanced" weights) is settled once,
        on all examples, for the former.
    X, y, sample_weight
        As for its `fit`.
    n_jobs
        How many examples are left out at a time; −1 takes all cores.
    **options
        As in `tr.evaluate`: level, positive, measures, …

    References
    ----------
    .. [1] T. Joachims, "Estimating the generalization performance of an SVM efficiently",
       ICML 2000, 431-438.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> X = [[0.0], [1.0], [2.2], [1.9], [3.0], [4.0]]
    >>> left = leave_one_out(LinearSVM(C=1.0), X, [0, 0, 0, 1, 1, 1])
    >>> left.errors, left["error_rate"].value.__round__(3)
    ((2, 3), 0.333)
    """
    if not isinstance(model, MarginClassifier):
        if sample_weight is not None:
            raise InputError(
                "`sample_weight` must be left out unless the model is a LinearSVM or a KernelSVM."
            )
        return _by_refits(model, X, y, n_jobs=n_jobs or 1, **options)
    machine = clone(model)
    problem = machine.train(X, y, sample_weight)
    effort = machine.effort()
    without = LeftOut(problem, machine.squared_radius_, effort, effective_n_jobs(n_jobs))
    targets: Targets = machine.targets_
    with few_blas_threads(targets.signs.shape[1], without.workers):
        if len(targets.signs) > 1 and not targets.is_multilabel:
            decision = without.values(machine.solutions_)
            ties = np.flatnonzero(np.ptp(np.sort(decision, axis=0)[-2:], axis=0) <= TIE)
        else:
            decision = targets.signs * np.array([without.margins(s) for s in machine.solutions_])
            ties = np.flatnonzero((np.abs(decision) <= TIE).any(axis=0))
    return _evaluated(targets, decision, ties, without.refits, options)


def _by_refits(model: Any, X: Any, y: Any, **options: Any) -> LeaveOneOut:  # noqa: ANN401
    """Train any model n times."""
    found = estimate(model, X, y, method="leave_one_out", **options)
    called = np.empty(0) if found.called is None else found.called[0]
    wrong = np.flatnonzero(called != np.unique(np.asarray(y), return_inverse=True)[1].ravel())
    return LeaveOneOut(
        **{**found.fields(), **_about_the_learner(found)},
        errors=tuple(wrong.tolist()),
        refits=len(called),
    )


class LeftOut:
    """The refits of one problem, and how many there were."""

    def __init__(self, problem: Problem, radius: float, effort: Effort, workers: int) -> None:
        self.problem = problem
        self.radius = radius
        self.effort = effort
        self.workers = workers
        self.refits = 0

    def margins(self, solution: Solution) -> Array:
        """Give y·f₋ᵢ(xᵢ) of each example, with the right sign; the size where it is cheap."""
        margins = solution.y * solution.decision
        guard = 10 * solution.gap + TIE  # so far the numbers may be off
        slack = solution.slack
        changes = solution.alpha > 0.0
        margins[changes & (slack > 1.0 + guard)] = -1.0
        risky = at_risk(solution.alpha, slack + guard, self.radius, RHO)
        if not solution.is_prunable:
            risky[:] = True
        margins[changes & ~risky] = 1.0
        open_ = changes & risky & (slack <= 1.0 + guard)
        for alone in _alone_on_their_side(solution):
            margins[alone], open_[alone] = -1.0, False
        which = np.flatnonzero(open_)
        if len(which):
            margins[which] = self.problem.margins_without(solution, which, workers=self.workers)
        self.refits += len(which)
        return margins

    def values(self, solutions: Sequence[Solution]) -> Array:
        """Give f₋ᵢ(xᵢ) of each class so far that the largest is certain."""
        signs = np.array([solution.y for solution in solutions])
        decision = np.array([solution.decision for solution in solutions])
        alpha = np.array([solution.alpha for solution in solutions])
        # Leaving an example out lowers its margin, by 2αR² at most.
        reach = RHO * alpha * self.radius
        unsure = [not solution.is_prunable for solution in solutions]
        reach[unsure] = np.where(alpha[unsure] > 0.0, np.inf, 0.0)
        low = np.where(signs > 0, decision - reach, decision)
        high = np.where(signs < 0, decision + reach, decision)
        winner = decision.argmax(axis=0)
        rest = np.where(np.arange(len(signs))[:, None] == winner, -np.inf, high).max(axis=0)
        certain = low[winner, np.arange(len(winner))] > rest + TIE
        for i in np.flatnonzero(~certain):
            for k in np.flatnonzero(alpha[:, i] > 0.0):
                decision[k, i] = self._value(solutions[int(k)], int(i))
                self.refits += 1
        return decision

    def _value(self, solution: Solution, i: int) -> float:
        upper = solution.upper.copy()
        upper[i] = 0.0
        left = solve_one(self.problem, solution.y, upper, self.effort, solution)
        return float(left.decision[i])


def _alone_on_their_side(solution: Solution) -> list[int]:
    """Find examples that no other of their class is left beside: without them, it is not known."""
    counted = solution.upper > 0.0
    sides = [np.flatnonzero(counted & (solution.y == sign)) for sign in (-1.0, 1.0)]
    return [int(side[0]) for side in sides if len(side) == 1]


def _evaluated(
    targets: Targets,
    decision: Array,
    ties: NDArray[np.intp],
    refits: int,
    options: dict[str, Any],
) -> LeaveOneOut:
    predicted = targets.labels_of(decision)
    if targets.is_multilabel:
        truth = (targets.signs.T > 0).astype(int)
        wrong = (predicted != truth).any(axis=1)
        found = evaluate(truth, predicted, multilabel=True, **options)
    else:
        truth = targets.labels_of(targets.signs)
        wrong = predicted != truth
        found = evaluate(truth, predicted, **options)
    notes = (*found.notes, f"{refits} of {len(truth)} examples were left out in earnest.")
    if len(ties):
        said = (
            f"{len(ties)} margins are 0 without the example: its call is arbitrary, "
            f"and the counts may differ by as many (examples {_some(ties)})."
        )
        notes = (*notes, said)
    changed = {
        **_about_the_learner(found),
        "notes": notes,
        "errors": tuple(np.flatnonzero(wrong).tolist()),
        "ties": tuple(ties.tolist()),
        "refits": refits,
    }
    return LeaveOneOut(**{**found.fields(), **changed})


def _about_the_learner(found: Evaluation) -> dict[str, Any]:
    return {
        "estimates": {name: _of_the_learner(one) for name, one in found.items()},
        "by_class": {
            label: {name: _of_the_learner(one) for name, one in row.items()}
            for label, row in found.by_class.items()
        },
    }


def _of_the_learner(one: Estimate) -> Estimate:
    return replace(one, method="leave_one_out", target="the learner at this sample size")


def _some(indices: NDArray[np.intp], most: int = 8) -> str:
    shown = ", ".join(map(str, indices[:most].tolist()))
    return shown if len(indices) <= most else f"{shown}, …"
