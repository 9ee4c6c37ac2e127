"""Perturbation resampling: an interval for the error of an SVM, from refits under random weights.

Every example gets a random weight G ~ Exp(1), in training and in the mean of the losses alike: so
the error varies as it would from sample to sample.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from threading import Lock
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.checks import check_choice, check_level, check_random_state, check_whole_number
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import repeated_folds
from truerisk.estimation.svm.perturbed_measures import (
    MAX_UNDEFINED,
    check_weightable,
    forms_of,
    plain_estimate,
    values_under,
)
from truerisk.estimation.svm.plug_in import plug_in_interval, theta_of
from truerisk.execution.running import workers_of
from truerisk.execution.threads import few_blas_threads
from truerisk.intervals.agreement import agreement, agreement_interval
from truerisk.intervals.measured_coverage import published_form_covers
from truerisk.intervals.replicates import FORMS, ends_of
from truerisk.kernels import in_threads
from truerisk.learners.named_models import as_learner
from truerisk.measures.registry import base_and_average, base_measure, find_measure
from truerisk.results import Estimate, Finding, Interval, Resampled, Target
from truerisk.svm.weighted_refits import Prepared, check_model, prepared

Progress = Callable[[int, int], None]

CELLS = 2_000_000  # decision values at a time: they are kept until the losses are counted
MANY_EXAMPLES = 2000  # from here on the folds' matrices go one after the other


@dataclass(frozen=True)
class PerturbedLosses:
    """Which examples the SVM predicts wrongly as it is, and how the mean loss moves under each G.

    `spread` holds W*/√n of each replicate: n⁻¹ Σᵢ (L*ᵢ − D) Gᵢ, D being the mean of `wrong`.
    """

    wrong: NDArray[np.bool_]
    spread: Array

    @property
    def error(self) -> float:
        """D, the share that is predicted wrongly."""
        return float(self.wrong.mean())

    @property
    def standard_error(self) -> float:
        """The standard deviation of the replicates: how far the error may be off."""
        return float(self.spread.std(ddof=1))

    @property
    def is_degenerate(self) -> bool:
        """Whether nothing can be read off the replicates: no error, all errors, or no spread."""
        return not 0 < self.error < 1 or not np.ptp(self.spread) > 0


def draw_weights(
    n: int, replicates: int, rng: np.random.Generator, groups: NDArray[np.intp] | None = None
) -> Array:
    """Draw G, one row per replicate; the examples of a group share theirs."""
    if groups is None:
        return rng.exponential(size=(replicates, n))
    return rng.exponential(size=(replicates, int(groups.max()) + 1))[:, groups]


def perturbed_losses(
    model: Any,
    X: Any,
    y: NDArray[Any],
    weights: Array,
    *,
    parts: NDArray[Any] | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> PerturbedLosses:
    """Train under every weighting and count the wrong predictions.

    W*/√n = (1/n) Σᵢ (1[yᵢ ≠ ŷᵢ(θ*)] − D) Gᵢ.  Without `parts` each example is predicted by the SVM
    trained on it, as printed; with them, by one trained on the other parts.  α of i is at most
    C·Gᵢ/Ḡ: the penalty of w is weighted by Ḡ, as in (9) of the source (its (11) holds for Ḡ = 1).
    Source: B. Jiang, X. Zhang and T. Cai, JMLR 9, 521-540, 2008.
    """
    replicates, n = weights.shape
    is_positive = y == np.unique(y)[1]
    everyone = np.arange(n)
    numbers = [None] if parts is None else np.unique(parts).tolist()
    wrong = np.zeros((replicates + 1, n), dtype=bool)
    # The first row is the SVM as it is.
    G = np.vstack([np.ones(n), weights])
    size = max(CELLS // n, 1)
    chunks = [slice(start, start + size) for start in range(0, replicates + 1, size)]
    team = workers if n <= MANY_EXAMPLES else 1
    report = _Progress(progress, len(numbers) * (replicates + 1))

    def count_wrong(fold: Any, svm: Prepared, train: NDArray[np.intp]) -> None:
        predicted = everyone if fold is None else np.flatnonzero(parts == fold)
        even = G[:, train] / G[:, train].mean(axis=1, keepdims=True)
        for rows in chunks:
            decision = svm.decisions(even[rows])
            wrong[rows, predicted] = (decision[:, predicted] > 0) != is_positive[predicted]
            report(len(decision))

    with few_blas_threads(y, workers):
        for start in range(0, len(numbers), team):
            folds = numbers[start : start + team]
            trains = [everyone if f is None else np.flatnonzero(parts != f) for f in folds]
            each = max(workers // len(folds), 1)
            svms = [prepared(model, X, y, train, workers=each) for train in trains]
            in_threads(count_wrong, folds, svms, trains, threads=team)
    error = wrong[0].mean()
    return PerturbedLosses(wrong[0], ((wrong[1:] - error) * weights).mean(axis=1))


class _Progress:
    """Reports how many refits are done, one thread at a time."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done, self.lock = progress, total, 0, Lock()

    def __call__(self, refits: int) -> None:
        with self.lock:
            self.done += refits
            if self.progress is not None:
                self.progress(self.done, self.total)


def why_exact(
    losses: PerturbedLosses, value: float, examples: int, features: int | None
) -> Finding | None:
    """Say why the exact interval must do, if it must.

    `features` is None where a kernel or a step of a pipeline makes others.
    """
    for error in (losses.error, value):
        if not 0 < error < 1:
            kind = "no errors" if error == 0 else "nothing but errors"
            return Finding(
                f"There are {kind} to perturb: the interval is the exact binomial one.",
                code="nothing_to_perturb",
            )
    if losses.is_degenerate:
        return Finding(
            "No weighting changes the losses: the interval is the exact binomial one.",
            code="losses_do_not_change",
        )
    if features is not None and examples <= features:
        return Finding(
            f"There are {examples} examples in training and {features} features, more than "
            "perturbation can tell from noise: the interval is the exact binomial one.",
            code="more_features_than_examples",
        )
    return None


def kind_of(model: Any) -> str:
    """Name the SVM as the audit does."""
    last = model[-1] if hasattr(model, "steps") else model
    last = getattr(last, "estimator", last)  # of one against the rest
    if not hasattr(last, "kernel"):
        return "logistic" if hasattr(last, "predict_log_proba") else "linear"
    is_cubic = last.kernel == "poly" and last.degree == 3
    return "cubic" if is_cubic else str(last.kernel)


def columns_of(X: Any) -> int:
    """Give the number of columns; 1 for a list of texts."""
    return int(X.shape[1]) if hasattr(X, "shape") and len(X.shape) > 1 else 1


def was_cut(form: str, value: float, losses: PerturbedLosses, level: float) -> Finding | None:
    """Say that an end of the interval was held back at 0 or 1; nothing if not."""
    low, high = FORMS[form](value, losses.spread, len(losses.wrong), level)
    if 0 <= low <= high <= 1:
        return None
    side = "below 0" if low < 0 else "above 1"
    return Finding(f"The interval reached {side}, and was cut there.", code="interval_cut")


Losses = Literal["training", "cross_validated"]
Form = Literal["percentile", "normal", "effective_size", "plug_in"]

LOSSES = ("training", "cross_validated")
PLUG_IN = "plug_in"
TARGET: Target = "this model"
MIN_REPLICATES = 100  # under this the ends of an interval are a matter of luck


@dataclass(frozen=True, kw_only=True, repr=False)
class Perturbed(Resampled):
    """An error rate with an interval by perturbation resampling.

    `value` is the cross-validated error; `replicates` are W*/√n, how far it moved under each
    weighting, and `training_error` that of the SVM on its own examples.  `losses` says which
    losses were perturbed; `forms` holds every form of interval that these replicates give.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = perturbation(LinearSVM(), X, X[:, 0] > 0.3 * X[:, 1], random_state=1)
    >>> sorted(found.forms)
    ['effective_size', 'exact', 'normal', 'percentile', 'plug_in']
    """

    kind: ClassVar[str] = "perturbation"

    losses: Losses
    training_error: float
    forms: Mapping[str, Interval] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forms", MappingProxyType(dict(self.forms)))

    def report(
        self,
        *,
        rivals: Mapping[str, Estimate] | None = None,
        source: Mapping[str, Any] | None = None,
    ) -> Any:
        """Make the page of this result, with the intervals of other methods beside it."""
        page = import_module("truerisk.reporting.page")
        return page.report_of(self, rivals=rivals, source=source)


@dataclass(frozen=True)
class LossesByKind:
    """The losses in training and those of the folds, of which the `chosen` ones are perturbed."""

    training: PerturbedLosses
    cross_validated: PerturbedLosses
    losses: Losses

    @property
    def chosen(self) -> PerturbedLosses:
        """Those that the interval is made of."""
        return self.training if self.losses == "training" else self.cross_validated


@dataclass(frozen=True)
class Design:
    """What two models that are compared have in common: the weights G and the folds."""

    examples: Examples
    weights: NDArray[np.float64]
    parts: NDArray[Any]
    workers: int

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        replicates: int,
        folds: int,
        groups: Any = None,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = 1,
        pos_label: Any = None,
        several: bool = False,
        needs_positive: bool = False,
    ) -> "Design":
        """Check the examples; draw the folds, then the weights."""
        examples = Examples.of(X, y, groups, pos_label, needs_positive=needs_positive)
        if len(examples.labels) != 2 and not several:
            raise InputError(
                f"`y` must hold two classes; got {len(examples.labels)}. Compare one class with "
                "the rest, or use tr.estimate."
            )
        check_whole_number(replicates, "replicates", low=MIN_REPLICATES, high=1_000_000)
        rng = check_random_state(random_state)
        plan = repeated_folds(examples.codes, folds, 1, rng, groups=examples.groups)
        _check_folds(examples, plan.parts[0])
        weights = draw_weights(examples.n, replicates, rng, examples.groups)
        return cls(examples, weights, plan.parts[0], workers_of(n_jobs))

    def losses(
        self, model: Any, losses: Losses, *, X: Any = None, progress: Progress | None = None
    ) -> LossesByKind:
        """Train the model under every weighting; X, if it sees the examples in another form."""
        by_kind = {
            name: perturbed_losses(
                model,
                self.examples.X if X is None else X,
                self.examples.y,
                self.weights if name == losses else self.weights[:0],
                parts=parts,
                workers=self.workers,
                progress=progress if name == losses else None,
            )
            for name, parts in (("training", None), ("cross_validated", self.parts))
        }
        return LossesByKind(by_kind["training"], by_kind["cross_validated"], losses)


def perturbation(
    model: Any,
    X: Any,
    y: Any,
    *,
    measure: str = "error_rate",
    pos_label: Any = None,
    replicates: int = 1000,
    folds: int = 5,
    losses: Losses = "cross_validated",
    interval: Form = "effective_size",
    level: float = 0.95,
    groups: Any = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Perturbed:
    r"""Give a cross-validated measure of a learner, with an interval by perturbation resampling.

    The model is trained again `replicates` times, each time with random weights
    :math:`G_i \sim Exp(1)` of the examples, and its weighted losses compared with the unweighted:

    .. math:: W^* = n^{-1/2} \sum_i \{1[y_i \ne \hat y_i(\theta^*)] - \hat D\}\, G_i

    Given the examples, W* varies as :math:`n^{1/2}(\mathcal D - D_0)` does from sample to sample
    [1]_, for n large beside the features.

    * losses="training": every example is predicted by an SVM that was trained on it, as the
      document prints it.  Such losses are optimistic, and vary too little.
    * losses="cross_validated", the form that the document names and calls too expensive: all folds
      are trained again under each G, and no example is predicted by an SVM trained on it.

    Parameters
    ----------
    model
        `tr.LinearSVM`, `tr.KernelSVM`, scikit-learn's `SVC`, `NuSVC`, `LinearSVC(loss="hinge")` or
        `LogisticRegression`, alone, in a `Pipeline` or in a `OneVsRestClassifier`; or a name, as
        "linear_svm": solved as batches, several classes one against the rest.  Any other
        classifier that takes `sample_weight` is trained once for each weighting and fold.  It is
        cloned, not changed, and need not be trained.
    X, y
        The examples and their labels.
    measure
        The error rate, or any other measure of labels or of a ranking; of several classes an
        average, as "f1_macro".
    pos_label
        The positive label, where the measure needs one that is not plain.
    replicates
        How many weightings are drawn.
    folds
        Of the cross-validation.
    losses
        Which losses are perturbed.
    interval
        "percentile" or "normal", the forms of the document, or "effective_size": Clopper and
        Pearson's interval at the number of independent examples that would vary as much.
        "plug_in" is the variance of its equations (7) and (14), of the error of linear SVMs alone
        (`tr.plug_in_interval`).
    level
        Confidence level.
    groups
        Which examples belong together: in one fold, and with one weight.
    random_state
        Seed of the folds and the weights.
    n_jobs
        Threads, or processes for learners that are not solved as batches; −1 takes all processors.
        The result does not depend on it.
    progress
        Called with the refits done and to do.

    Returns
    -------
    perturbed
        `Perturbed`: an `Estimate` of the error rate with all its replicates.  Where nothing can be
        read off them (no errors at all, fewer examples than features, losses that no weighting
        changes) the interval is the exact one of the binomial distribution, with groups that of
        `tr.agreement_interval`, and `notes` says so.

    References
    ----------
    .. [1] B. Jiang, X. Zhang and T. Cai, "Estimating the confidence interval for prediction errors
       of support vector machine classifiers", JMLR 9, 521-540, 2008.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 60)
    >>> X = rng.normal(size=(120, 3)) + 0.8 * y[:, None]
    >>> print(perturbation(LinearSVM(), X, y, random_state=1))
    error_rate = 0.300 [0.199, 0.417] at 95 % (perturbation_effective_size, n = 120, this model)
    """
    model = as_learner(model, X)
    check_level(level)
    check_choice(losses, LOSSES, "losses")
    check_choice(interval, (*FORMS, PLUG_IN), "interval")
    design = Design.of(
        X,
        y,
        replicates=replicates,
        folds=folds,
        groups=groups,
        random_state=random_state,
        n_jobs=n_jobs,
        pos_label=pos_label,
        several=True,
        needs_positive=base_measure(measure).needs != "class counts",
    )
    is_batched = can_batch(model)
    if measure != "error_rate" or len(design.examples.labels) > 2 or not is_batched:
        if not is_batched:
            check_weightable(model)
        return _of_measure(
            measure,
            model,
            design,
            losses,
            batched=is_batched,
            interval=interval,
            level=level,
            n_jobs=n_jobs,
            progress=progress,
        )
    by_kind = design.losses(model, losses, progress=progress)
    return perturbed_estimate(model, design, by_kind, interval=interval, level=level)


def can_batch(model: Any) -> bool:
    """Whether the refits of a model can be solved together."""
    try:
        check_model(model)
    except InputError:
        return False
    return True


def _of_measure(
    measure: str,
    model: Any,
    design: Design,
    losses: Losses,
    *,
    batched: bool,
    interval: Form,
    level: float,
    n_jobs: int | None,
    progress: Progress | None,
) -> Perturbed:
    """Perturb any measure, of any number of classes; see `perturbation`."""
    if interval == PLUG_IN:
        raise InputError("`interval` must be a form of replicates here; got 'plug_in'.")
    examples = design.examples
    by_kind, calls = {}, np.zeros(0, dtype=np.intp)
    for kind, parts in (("training", None), ("cross_validated", design.parts)):
        by_kind[kind], called = values_under(
            measure,
            model,
            examples,
            design.weights if kind == losses else design.weights[:0],
            parts,
            batched=batched,
            seed=0,
            n_jobs=design.workers if batched else n_jobs,
            progress=progress if kind == losses else None,
        )
        calls = called if kind == "cross_validated" else calls
    value, replicates = float(by_kind["cross_validated"][0]), by_kind[losses]
    deviations = replicates[1:] - replicates[0]
    defined = np.isfinite(deviations)
    plain = plain_estimate(measure, examples, calls, level)
    low_high = find_measure(base_and_average(measure)[0]).measure_range
    forms = {"exact": plain.interval or Interval(*low_high, level, "whole_range")}
    n = examples.n if examples.groups is None else int(examples.groups.max()) + 1
    notes: list[Finding] = []
    chosen = str(interval)
    if not np.isfinite(value) or not defined.mean() > MAX_UNDEFINED:
        notes.append(Finding("It is undefined under most weightings.", code="undefined"))
        chosen = "exact"
    elif not np.ptp(deviations[defined]) > 0:
        notes.append(Finding("No weighting changes it.", code="losses_do_not_change"))
        chosen = "exact"
    else:
        forms |= forms_of(measure, value, deviations[defined], n, level)
        chosen = interval if interval in forms else "normal"
    return Perturbed(
        value=value,
        interval=forms[chosen],
        measure=measure,
        method="perturbation",
        n=examples.n,
        target=TARGET,
        notes=tuple(notes),
        replicates=tuple(deviations[defined].tolist()),
        losses=losses,
        training_error=float(by_kind["training"][0]),
        forms=forms,
    )


def perturbed_estimate(
    model: Any,
    design: Design,
    by_kind: LossesByKind,
    *,
    interval: Form = "effective_size",
    level: float = 0.95,
) -> Perturbed:
    """Make an estimate of losses that are there; see `perturbation`."""
    chosen, value, n = by_kind.chosen, by_kind.cross_validated.error, design.examples.n
    groups, wrong = design.examples.groups, by_kind.cross_validated.wrong
    width, kind = columns_of(design.examples.X), kind_of(model)
    fewest = n - int(np.bincount(design.parts).max())
    is_linear = kind in {"linear", "logistic"} and not hasattr(model, "steps")
    reason = why_exact(chosen, value, fewest, width if is_linear else None)
    exact = agreement_interval([wrong], level=level, groups=groups)
    # Groups that are alike leave as many independent examples as they leave the exact interval.
    size = agreement([wrong], groups=groups).size(level=level)
    forms = {"exact": exact if groups is not None else replace(exact, method="clopper_pearson")}
    if reason is None:
        for form in FORMS:
            low_high = ends_of(form, value, chosen.spread, size, level)
            forms[form] = Interval(*low_high, level, f"perturbation_{form}")
        theta = theta_of(model, design.examples.X, design.examples.y) if groups is None else None
        if theta is not None:
            forms[PLUG_IN] = plug_in_interval(*theta, value=value, level=level)
    if interval == PLUG_IN and reason is None and PLUG_IN not in forms:
        raise InputError(
            "`interval` must be a form of replicates for other models than linear SVMs, and with "
            "groups; got 'plug_in'."
        )
    ends = forms["exact" if reason is not None else interval]
    notes = [
        reason or (None if interval == PLUG_IN else was_cut(interval, value, chosen, level)),
        # How many features a matrix of k(x, x′) stands for is unknown.
        None
        if kind == "precomputed"
        else Finding(published_form_covers(n, width, kind), code="measured_coverage"),
    ]
    return Perturbed(
        value=value,
        interval=ends,
        measure="error_rate",
        method="perturbation",
        n=n,
        target=TARGET,
        notes=tuple(note for note in notes if note is not None),
        replicates=tuple(chosen.spread.tolist()),
        losses=by_kind.losses,
        training_error=by_kind.training.error,
        forms=forms,
    )


def _check_folds(examples: Examples, parts: NDArray[Any]) -> None:
    """Refuse folds without which one class alone is left to train on."""
    for part in np.unique(parts).tolist():
        left = np.unique(examples.codes[parts != part])
        if len(left) < 2:
            raise InputError(
                f"`groups` must leave both classes to train on; without fold {part + 1} of "
                f"{int(parts.max()) + 1} there is only {examples.labels[left[0]]!r}. Put fewer "
                "examples of a class into one group."
            )
