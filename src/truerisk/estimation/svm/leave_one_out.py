"""Exact leave-one-out of an SVM in about the time of one more fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.class_weight import compute_class_weight

from truerisk.aliases import Array, ArrayLike, Indices
from truerisk.checks import check_choice
from truerisk.errors import InputError
from truerisk.estimation.refits import svm_refits as _refits  # noqa: F401  (as _solved_ahead)
from truerisk.estimation.refits.estimate import estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import repeated_folds
from truerisk.estimation.refits.votes import fold_votes
from truerisk.estimation.svm.preparation import PreparedSVM
from truerisk.estimation.svm.xi_alpha import at_risk
from truerisk.evaluation.assemble import assemble, estimates_of
from truerisk.evaluation.evaluate import evaluate
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.execution.threads import few_blas_threads
from truerisk.inputs.arrays import check_row_labels
from truerisk.intervals.variance_components import METHOD, notes_on
from truerisk.kernels import in_threads
from truerisk.learners.named_models import as_learner
from truerisk.learners.refits import rows_of
from truerisk.results import Estimate, Evaluation, Finding
from truerisk.svm.batch import nearby as _solved_ahead  # noqa: F401  (loaded before the first call)
from truerisk.svm.classifier import MarginClassifier, solve_one
from truerisk.svm.dual_of import duals_of, is_readable, twin_of
from truerisk.svm.freed_memory import keep_freed_memory
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.problems import Effort, Problem
from truerisk.svm.solution import Solution
from truerisk.tallies.cells import Cells

RHO = 2.0  # what lemma 1 needs for an SVM with a bias
FOLDS, REPEATS = 10, 5  # of the refits that the variance is taken from
BINOMIAL = "binomial"
VARIANCE_OF_FOLDS = Finding(
    "The intervals have the variance of repeated folds of the same SVM, hold the interval about "
    "their value, too, and are about this model.",
    code="variance_of_folds",
)
TIE = 1e-9  # margins within this of 0 are 0 up to rounding


@dataclass(frozen=True, kw_only=True, repr=False)
class LeaveOneOut(Evaluation):
    """The measures of leave-one-out predictions, and what they were made of.

    `errors` are the examples that the model trained without them predicts wrongly; `ties` those
    whose margin is 0, where the prediction is arbitrary (negative here, as in scikit-learn);
    `refits` is how many examples had to be left out in earnest.

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

    @property
    def loo_plus(self) -> int:
        """loo⁺, the errors on positive examples; loo⁺/n is the estimate of P(y = 1, called −1)."""
        return self._errors_on(positive=True)

    @property
    def loo_minus(self) -> int:
        """loo⁻, the errors on negative examples; loo⁻/n is the estimate of P(y = −1, called 1)."""
        return self._errors_on(positive=False)

    def _errors_on(self, *, positive: bool) -> int:
        labels, table = self.confusion or ((), np.zeros((0, 0)))
        if len(labels) != 2:
            raise InputError(f"`y` must hold two classes for loo⁺ and loo⁻; got {len(labels)}.")
        at = labels.index(self.settings["pos_label"])
        row = at if positive else 1 - at
        return round(float(table[row, 1 - row]))


def leave_one_out(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    pos_label: Any = None,
    measures: Sequence[str] | None = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    average_over: Sequence[str] | None = None,
    interval: str = METHOD,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> LeaveOneOut:
    r"""Count the errors a model makes on examples it was trained without, exactly.

    Every example is predicted by the model trained on all the others.  For most examples of an SVM
    that needs no training:

    * :math:`2 \alpha_i R^2 + \xi_i < 1`: never an error, if all examples have one C (Joachims'
      lemma 1 [1]_; with several, the bias can jump while :math:`\alpha_i` goes to 0; without a
      free bias, as in `LinearSVC`, :math:`\alpha_i R^2 + \xi_i < 1` is enough);
    * :math:`\alpha_i = 0`: the SVM stays as it is;
    * :math:`\xi_i > 1`: always an error, as :math:`\xi_i` is a supergradient of the optimal value,
      which is concave in the price of example i, and so does not fall as that price goes to 0.

    The rest are left out in earnest: for `LinearSVM`, `KernelSVM` and `SVC` of two classes along
    the path of exact solutions or from a warm start, for `LinearSVC` and `SVC` of several classes
    by training without the example.  Any other model is trained anew without each example.

    The *set* of errors is that of a loop over all examples; it is unbiased for the error of the
    learner at n − 1 examples.  For the SVMs that take the path of exact solutions, intervals are by
    the variance components of 5 × 10 folds of the same SVM (`tr.refit_interval`) and
    speak of this model; they hold the interval about the value of these folds, too.  For others,
    and with `interval="binomial"`, they treat the n predictions as independent, which they are not:
    on balanced noise (n = 60 and 100, 300 samples each) that covered .75 to .85 at 95 %, the
    default .95 to .96.

    Parameters
    ----------
    model
        An SVM of this library or of scikit-learn, a pipeline that ends in one, any other
        classifier, or the name of one; it is cloned, not changed.  For an SVM, what depends on the
        data (gamma="scale", "balanced" weights) is settled once, on all examples.  So are the steps
        of a pipeline before it, and `notes` says so; steps that use the labels are fitted anew
        without each example, with the whole pipeline.
    X, y, sample_weight
        As for its `fit`.
    level, pos_label, measures, betas, costs, average_over
        As in `tr.evaluate`.
    interval
        `variance_components`, which takes 50 more refits; or `binomial`, which takes none.
    random_state
        Seed of the folds behind the intervals; the value needs none.
    n_jobs
        How many examples are left out at a time; −1 takes all cores.

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
    options = {
        "level": level,
        "pos_label": pos_label,
        "measures": measures,
        "betas": tuple(betas),
        "costs": costs,
        "average_over": None if average_over is None else tuple(average_over),
        "random_state": random_state,
    }
    check_row_labels(X=X, y=y, sample_weight=sample_weight)
    check_choice(interval, (METHOD, BINOMIAL), "interval")
    model = as_learner(model, X)
    prepared = PreparedSVM.of_learner(model, X, y) if is_readable(model) else None
    twin = None
    if prepared is not None and not prepared.uses_labels:
        twin = twin_of(prepared.svm, 2 if np.ndim(y) > 1 else len(np.unique(y)))
    if prepared is None or prepared.uses_labels or not (twin or _is_prunable(prepared.svm)):
        if sample_weight is not None:
            raise InputError(
                "`sample_weight` must be left out where the model is trained anew without each "
                "example: unless it is an SVM, and no step before it uses the labels."
            )
        return _by_refits(model, X, y, n_jobs=n_jobs or 1, **options)
    workers = effective_n_jobs(n_jobs)
    keep_freed_memory()
    if twin is None:
        predictions = _pruned(prepared.svm, prepared.X, np.asarray(y), sample_weight, workers)
    else:
        predictions, trained = _by_dual(twin, prepared.X, y, sample_weight, workers)
        if interval == METHOD and sample_weight is None and predictions.truth.ndim == 1:
            return _evaluated(
                predictions, prepared.notes, options, folds_of=(trained, prepared.X, y)
            )
    return _evaluated(predictions, prepared.notes, options)


@dataclass(frozen=True)
class _Predictions:
    """The labels of the examples, and what each is predicted to be without it."""

    truth: NDArray[Any]
    predicted: NDArray[Any]
    ties: Indices
    refits: int


_Trained = tuple[MarginClassifier, Problem]  # on all examples, and what it solved


def _is_prunable(svm: Any) -> bool:
    """Tell whether an example with α = 0 leaves scikit-learn's SVM as it is."""
    if isinstance(svm, SVC):
        return svm.kernel in {"linear", "poly", "rbf"} and svm.max_iter == -1
    return isinstance(svm, LinearSVC)


def _by_dual(
    svm: MarginClassifier, X: Any, y: Any, sample_weight: ArrayLike | None, workers: int
) -> tuple[_Predictions, _Trained]:
    """Leave out what must be along the exact solutions of a problem of this library."""
    trained = clone(svm)
    problem = trained.train(X, y, sample_weight, for_many=True)
    without = LeftOut(problem, trained.squared_radius_, trained.effort(), workers)
    targets = trained.targets_
    with few_blas_threads(targets.signs.T, without.workers):
        if len(targets.signs) > 1 and not targets.is_multilabel:
            decision = without.values(trained.solutions_)
            ties = np.flatnonzero(np.ptp(np.sort(decision, axis=0)[-2:], axis=0) <= TIE)
        else:
            decision = targets.signs * np.array([without.margins(s) for s in trained.solutions_])
            ties = np.flatnonzero((np.abs(decision) <= TIE).any(axis=0))
    truth = (
        (targets.signs.T > 0).astype(int)
        if targets.is_multilabel
        else targets.labels_of(targets.signs)
    )
    predicted = targets.labels_of(decision)
    return _Predictions(truth, predicted, ties, without.refits), (trained, problem)


def _pruned(
    svm: SVC | LinearSVC, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, workers: int
) -> _Predictions:
    """Train scikit-learn's SVM without each example of which that may change the prediction."""
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    settled = _settled(svm, X, y)
    fitted = clone(settled).fit(X, y, sample_weight=weights)
    predicted = np.array(fitted.predict(X))
    if isinstance(svm, SVC):
        open_ = np.isin(np.arange(len(y)), fitted.support_)
        if weights is not None:
            open_ = weights > 0.0  # libsvm counts without the examples of weight 0
    else:
        duals = duals_of(fitted, X, y, sample_weight=weights)
        open_ = np.any([dual.solution.alpha > 0.0 for dual in duals], axis=0)
        if len(duals) == 1:
            solution, guard = duals[0].solution, 10 * duals[0].solution.gap + TIE
            slack, radius = solution.slack, duals[0].squared_radius
            wrong = open_ & (slack > 1.0 + guard)
            right = open_ & ~at_risk(solution.alpha, slack + guard, radius, 1.0)
            classes = fitted.classes_
            predicted[wrong] = classes[(y[wrong] == classes[0]).astype(int)]
            predicted[right] = y[right]
            open_ &= ~(wrong | right)
    which = np.flatnonzero(open_)

    def prediction(at: int) -> Any:
        others = np.delete(np.arange(len(y)), at)
        if len(np.unique(y[others])) < 2:
            return y[others[0]]
        part = None if weights is None else weights[others]
        refitted = clone(settled).fit(rows_of(X, others), y[others], sample_weight=part)
        return refitted.predict(rows_of(X, np.array([at])))[0]

    predicted[which] = in_threads(prediction, which.tolist(), threads=workers)
    return _Predictions(y, predicted, np.arange(0), len(which))


def _settled(svm: SVC | LinearSVC, X: Any, y: NDArray[Any]) -> SVC | LinearSVC:
    """Settle γ and the class weights on all examples, as for an SVM of this library; and a seed."""
    changes: dict[str, Any] = {} if svm.random_state is not None else {"random_state": 0}
    if getattr(svm, "gamma", None) in {"scale", "auto"}:
        variance = X.multiply(X).mean() - X.mean() ** 2 if hasattr(X, "tocsr") else np.var(X)
        scale = 1.0 if svm.gamma == "auto" or variance == 0 else float(variance)
        changes["gamma"] = 1.0 / (X.shape[1] * scale)
    if svm.class_weight == "balanced":
        classes = np.unique(y)
        weights = compute_class_weight("balanced", classes=classes, y=y)
        changes["class_weight"] = dict(zip(classes.tolist(), weights.tolist(), strict=True))
    return clone(svm).set_params(**changes)


def _by_refits(model: Any, X: Any, y: Any, **options: Any) -> LeaveOneOut:
    """Train any model n times."""
    evaluation = estimate(model, X, y, method="leave_one_out", **options)
    predicted = np.empty(0) if evaluation.called is None else evaluation.called[0]
    wrong = np.flatnonzero(predicted != np.unique(np.asarray(y), return_inverse=True)[1].ravel())
    return LeaveOneOut(
        **{**evaluation.fields(), **_about_the_learner(evaluation)},
        errors=tuple(wrong.tolist()),
        refits=len(predicted),
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
    predictions: _Predictions,
    notes: tuple[Finding, ...],
    options: dict[str, Any],
    folds_of: tuple[_Trained, Any, Any] | None = None,
) -> LeaveOneOut:
    truth, predicted, ties = predictions.truth, predictions.predicted, predictions.ties
    is_multilabel = truth.ndim == 2
    wrong = (predicted != truth).any(axis=1) if is_multilabel else predicted != truth
    evaluation = None if folds_of is None else _varying_as_folds(predicted, *folds_of, options)
    estimates = {} if evaluation is None else _by_leaving_out(evaluation)
    if evaluation is None:
        evaluation = evaluate(truth, predicted, multilabel=is_multilabel, **options)
        estimates = _about_the_learner(evaluation)
    left_out = f"{predictions.refits} of {len(truth)} examples were left out in earnest."
    said = [*evaluation.notes, *notes, Finding(left_out, code="left_out_in_earnest")]
    if len(ties):
        arbitrary = (
            f"{len(ties)} margins are 0 without the example: its prediction is arbitrary, "
            f"and the counts may differ by as many (examples {_some(ties)})."
        )
        said.append(Finding(arbitrary, code="ties"))
    changed = {
        **estimates,
        "notes": tuple(said),
        "errors": tuple(np.flatnonzero(wrong).tolist()),
        "ties": tuple(ties.tolist()),
        "refits": predictions.refits,
    }
    return LeaveOneOut(**{**evaluation.fields(), **changed})


def _varying_as_folds(
    predicted: NDArray[Any], trained: _Trained, X: Any, y: Any, options: dict[str, Any]
) -> Evaluation | None:
    """Evaluate the predictions, with the variance of repeated folds of the same SVM.

    γ is that of all examples, as for the predictions.  None where a class has a single example, or
    a fold cannot be trained.
    """
    needs_positive = options["measures"] is None
    examples = Examples.of(X, y, pos_label=options["pos_label"], needs_positive=needs_positive)
    smallest = int(np.bincount(examples.codes).min())
    if smallest < 2:
        return None
    request = Request.of({**options, "pos_label": examples.pos_label or options["pos_label"]})
    seed = int(request.random_state or 0)
    plan = repeated_folds(
        examples.codes, min(FOLDS, smallest), REPEATS, np.random.default_rng([seed, 0])
    )
    svm = trained[0]
    if isinstance(svm, KernelSVM) and svm.gamma != svm.kernel_.gamma:
        svm = clone(svm).set_params(gamma=svm.kernel_.gamma)
    votes = fold_votes(svm, examples, plan, seed=seed, trained=trained)
    if votes is None:
        return None

    def tallied(cells: Cells) -> Tallies:
        return Tallies(
            examples.labels, multilabel=False, pos_label=examples.pos_label, n=cells.n, cells=cells
        )

    own = votes.cells(valued_by=np.searchsorted(examples.values, predicted))
    of_folds = votes.cells_beside(own)
    tallies = tallied(own)
    left, left_by_class = estimates_of(tallies, request)
    folds, folds_by_class = estimates_of(tallied(of_folds), request)
    held = {name: _held(one, folds.get(name)) for name, one in left.items()}
    held_by_class = {
        label: {name: _held(one, folds_by_class[label][name]) for name, one in row.items()}
        for label, row in left_by_class.items()
    }
    return assemble(tallies, request, notes=(VARIANCE_OF_FOLDS,), estimated=(held, held_by_class))


def _held(left: Estimate, folds: Estimate | None) -> Estimate:
    """Lengthen an interval about the leave-one-out value to hold that about the value of the folds.

    Without an example its class is rarer: with nothing to learn, the model tends to the other
    class, and leave-one-out is too high.  Stratified folds keep the shares of the classes.
    """
    if left.interval is None or folds is None or folds.interval is None or not folds.is_defined:
        return left
    low, high = left.interval.low, left.interval.high
    if low <= folds.interval.low and folds.interval.high <= high:
        return left
    low, high = min(low, folds.interval.low), max(high, folds.interval.high)
    return replace(left, interval=replace(left.interval, low=low, high=high))


def _by_leaving_out(evaluation: Evaluation) -> dict[str, Any]:
    def named(one: Estimate) -> Estimate:
        return replace(one, method="leave_one_out", notes=(*one.notes, *notes_on(one.interval)))

    return {
        "estimates": {name: named(one) for name, one in evaluation.items()},
        "by_class": {
            label: {name: named(one) for name, one in row.items()}
            for label, row in evaluation.by_class.items()
        },
    }


def _about_the_learner(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "estimates": {name: _of_the_learner(one) for name, one in evaluation.items()},
        "by_class": {
            label: {name: _of_the_learner(one) for name, one in row.items()}
            for label, row in evaluation.by_class.items()
        },
    }


def _of_the_learner(one: Estimate) -> Estimate:
    return replace(one, method="leave_one_out", target="the learner at this sample size")


def _some(indices: NDArray[np.intp], most: int = 8) -> str:
    shown = ", ".join(map(str, indices[:most].tolist()))
    return shown if len(indices) <= most else f"{shown}, …"
