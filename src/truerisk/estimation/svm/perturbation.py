"""Perturbation resampling: an interval for a machine's error, from its refits under weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import check_choice, check_level, check_random_state, check_whole_number
from truerisk.errors import InputError
from truerisk.estimation.refits.divisions import repeated_folds
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.svm.perturbed_losses import (
    PerturbedLosses,
    Progress,
    draw_weights,
    perturbed_losses,
)
from truerisk.estimation.svm.perturbed_notes import columns_of, kind_of, was_cut, why_exact
from truerisk.execution.running import workers_of
from truerisk.intervals.agreement import agreement, agreement_interval
from truerisk.intervals.measured_coverage import published_form_covers
from truerisk.intervals.perturbed import FORMS, ends_of
from truerisk.results import Estimate, Interval, Resampled, Target
from truerisk.svm.weighted_refits import check_model

Losses = Literal["training", "cross_validated"]
Form = Literal["percentile", "normal", "effective_size"]

LOSSES = ("training", "cross_validated")
TARGET: Target = "this model"
MIN_REPLICATES = 100  # under this the ends of an interval are a matter of luck


@dataclass(frozen=True, kw_only=True, repr=False)
class Perturbed(Resampled):
    """An error rate with an interval by perturbation resampling.

    `value` is the cross-validated error; `replicates` are W*/√n, how far it moved under each
    weighting, and `training_error` that of the machine on its own examples.  `losses` says which
    losses were perturbed; `forms` holds every form of interval that these replicates give.

    Examples
    --------
    >>> from truerisk import LinearSVM
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = perturbation(LinearSVM(), X, X[:, 0] > 0.3 * X[:, 1], random_state=1)
    >>> sorted(found.forms)
    ['effective_size', 'exact', 'normal', 'percentile']
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
    ) -> Any:  # noqa: ANN401
        """Make the page of this result, with the intervals of other methods beside it."""
        page = import_module("truerisk.reporting.page")
        return page.report_of(self, rivals=rivals, source=source)


@dataclass(frozen=True)
class FoundLosses:
    """The losses in training and those of the folds, of which the `asked` ones are perturbed."""

    training: PerturbedLosses
    judged: PerturbedLosses
    losses: Losses

    @property
    def asked(self) -> PerturbedLosses:
        """Those that the interval is made of."""
        return self.training if self.losses == "training" else self.judged


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
        X: Any,  # noqa: ANN401
        y: Any,  # noqa: ANN401
        *,
        replicates: int,
        folds: int,
        groups: Any = None,  # noqa: ANN401
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = 1,
    ) -> "Design":
        """Check the examples; draw the folds, then the weights."""
        examples = Examples.of(X, y, groups, needs_positive=False)
        if len(examples.labels) != 2:
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
        self,
        model: Any,  # noqa: ANN401
        losses: Losses,
        *,
        X: Any = None,  # noqa: ANN401
        progress: Progress | None = None,
    ) -> FoundLosses:
        """Train the model under every weighting; X, if it sees the examples in another form."""
        found = {
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
        return FoundLosses(found["training"], found["cross_validated"], losses)


def perturbation(
    model: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    replicates: int = 1000,
    folds: int = 5,
    losses: Losses = "cross_validated",
    interval: Form = "effective_size",
    level: float = 0.95,
    groups: Any = None,  # noqa: ANN401
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Perturbed:
    r"""Give the cross-validated error of a machine, with an interval by perturbation resampling.

    The machine is trained again `replicates` times, each time with random weights
    :math:`G_i \sim Exp(1)` of the examples, and its weighted losses compared with the unweighted:

    .. math:: W^* = n^{-1/2} \sum_i \{1[y_i \ne \hat y_i(\theta^*)] - \hat D\}\, G_i

    Given the examples, W* varies as :math:`n^{1/2}(\mathcal D - D_0)` does from sample to sample
    [1]_, for n large beside the features.

    * losses="training": every example is called by a machine that was trained on it, as the
      document prints it.  Such losses are optimistic, and vary too little.
    * losses="cross_validated", the form that the document names and calls too expensive: all folds
      are trained again under each G, and every example is called by one that was not trained on it.

    Parameters
    ----------
    model
        `tr.LinearSVM`, `tr.KernelSVM`, scikit-learn's `SVC` or `LogisticRegression`, or a
        `Pipeline` that ends in one of them; it is cloned, not changed, and need not be trained.
    X, y
        The examples and their labels, of two classes.
    replicates
        How many weightings are drawn.
    folds
        Of the cross-validation.
    losses
        Which losses are perturbed.
    interval
        "percentile" or "normal", the forms of the document, or "effective_size": Clopper and
        Pearson's interval at the number of independent examples that would vary as much.
    level
        Confidence level.
    groups
        Which examples belong together: in one fold, and with one weight.
    random_state
        Seed of the folds and the weights.
    n_jobs
        Threads; −1 takes all processors.  The result does not depend on it.
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
    check_model(model)
    check_level(level)
    check_choice(losses, LOSSES, "losses")
    check_choice(interval, FORMS, "interval")
    design = Design.of(
        X,
        y,
        replicates=replicates,
        folds=folds,
        groups=groups,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    found = design.losses(model, losses, progress=progress)
    return perturbed_estimate(model, design, found, interval=interval, level=level)


def perturbed_estimate(
    model: Any,  # noqa: ANN401
    design: Design,
    found: FoundLosses,
    *,
    interval: Form = "effective_size",
    level: float = 0.95,
) -> Perturbed:
    """Make an estimate of losses that are there; see `perturbation`."""
    asked, value, n = found.asked, found.judged.error, design.examples.n
    groups, wrong = design.examples.groups, found.judged.wrong
    width, kind = columns_of(design.examples.X), kind_of(model)
    fewest = n - int(np.bincount(design.parts).max())
    is_linear = kind in {"linear", "logistic"} and not hasattr(model, "steps")
    reason = why_exact(asked, value, fewest, width if is_linear else None)
    exact = agreement_interval([wrong], level=level, groups=groups)
    # Groups that are alike leave as many independent examples as they leave the exact interval.
    size = agreement([wrong], groups=groups).size(level=level)
    forms = {"exact": exact if groups is not None else replace(exact, method="clopper_pearson")}
    if reason is None:
        for form in FORMS:
            ends = ends_of(form, value, asked.spread, size, level)
            forms[form] = Interval(*ends, level, f"perturbation_{form}")
    chosen = forms["exact" if reason is not None else interval]
    notes = [
        reason or was_cut(interval, value, asked, level),
        # How many features a matrix of k(x, x′) stands for is not told.
        "" if kind == "precomputed" else published_form_covers(n, width, kind),
    ]
    return Perturbed(
        value=value,
        interval=chosen,
        measure="error_rate",
        method="perturbation",
        n=n,
        target=TARGET,
        notes=tuple(note for note in notes if note),
        replicates=tuple(asked.spread.tolist()),
        losses=found.losses,
        training_error=found.training.error,
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
