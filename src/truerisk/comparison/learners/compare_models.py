"""Two learners + data → Comparison: which is better on examples not seen."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, TypedDict, Unpack, overload

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import check_choice, check_level, check_number, shown, stated_seed
from truerisk.comparison.conclusion import TestOutcome, conclude, undetermined, with_refit_caveat
from truerisk.comparison.learners.learner_tests import (
    MEAN_LOSSES,
    ComparisonSpec,
    Divided,
    Progress,
    by_agreement,
    by_cautious_t,
    by_corrected_t,
    by_five_by_two_f,
    by_five_by_two_t,
    by_k_fold_t,
    by_nested_cross_validation,
    by_posterior,
    by_random_divisions,
    by_resampled_t,
    by_variance_components,
    differences_of_refits,
    divide,
    estimate_by_nesting,
    evaluate_both,
    nested_losses,
    of_learner,
    signed,
)
from truerisk.errors import InputError
from truerisk.estimation.refits.cv import beside_cv
from truerisk.estimation.refits.estimate import LearnerEvaluation
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import METHODS
from truerisk.intervals.variance_components import METHOD
from truerisk.learners.named_models import as_learner
from truerisk.learners.scoring import is_number_of_folds, scoring_of
from truerisk.measures.registry import measure_of
from truerisk.results import Comparison, Estimate, Finding, NamedEntries, Reportable, Row

RefitRule = Callable[[Array, float], TestOutcome]
Tested = tuple[Estimate, Estimate, TestOutcome]

DEFAULT = "cautious_t"
PERTURBATION = "perturbation"
FOLDS, REPEATS = 10, 10


@dataclass(frozen=True, kw_only=True)
class Probabilities:
    """How probable it is that the second learner is better, equivalent, worse: they add up to 1.

    Without a region of equivalence only a difference of exactly 0 is equivalent.
    """

    better: float
    equivalent: float
    worse: float

    def __str__(self) -> str:
        shares = (("better", self.better), ("equivalent", self.equivalent), ("worse", self.worse))
        return ", ".join(
            f"{name} {'undefined' if math.isnan(share) else f'{share:.3f}'}"
            for name, share in shares
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class BayesianComparison(Comparison):
    """A comparison that has no test: it says how probable each finding is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import compare_models
    >>> result = compare_models("tree", "majority", *load_iris(return_X_y=True), method="bayesian",
    ...                         region=0.01, repeats=1, random_state=1)
    >>> print(result.probabilities)
    better 0.000, equivalent 0.000, worse 1.000
    """

    probabilities: Probabilities

    def __str__(self) -> str:
        return f"{super().__str__()}\nProbability that {self.names[1]} is: {self.probabilities}."


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelComparisons(Reportable, NamedEntries[Comparison]):
    """Two learners compared by several measures: a read-only mapping from measure to comparison.

    Nothing is corrected for their number: the more measures one looks at, the likelier it is that
    one of them differs by luck.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import compare_models
    >>> result = compare_models("tree", "majority", *load_iris(return_X_y=True), repeats=1,
    ...                         measures=["error_rate", "f1_macro"], random_state=1)
    >>> {name: one.finding for name, one in result.items()}
    {'error_rate': 'worse', 'f1_macro': 'worse'}
    """

    kind: ClassVar[str] = "model_comparisons"
    entries: ClassVar[str] = "comparisons"

    comparisons: Mapping[str, Comparison]

    def __str__(self) -> str:
        return "\n".join(map(str, self.values()))

    def _rows(self) -> Iterator[Row]:
        return (row for one in self.values() for row in one.to_rows())


class ComparisonOptions(TypedDict, total=False):
    """The keyword arguments of `compare_models` beside `measures`."""

    cv: Any
    method: str
    scoring: Any
    groups: Any
    sample_weight: Any
    params: Mapping[str, Any] | None
    pos_label: Any
    folds: int | None
    repeats: int | None
    stratified: bool | None
    allow_small_classes: bool | None
    betas: Sequence[float]
    costs: Any
    average_over: Sequence[str] | None
    replicates: int | None
    losses: str | None
    interval: str | None
    second_X: Any
    region: float | None
    level: float
    names: Sequence[str] | None
    random_state: int | None
    n_jobs: int | None
    resume: str | Path | None
    progress: Progress | None


@overload
def compare_models(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    measures: str = ...,
    **options: Unpack[ComparisonOptions],
) -> Comparison: ...


@overload
def compare_models(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    measures: list[str] | tuple[str, ...],
    **options: Unpack[ComparisonOptions],
) -> ModelComparisons: ...


def compare_models(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    method: str = DEFAULT,
    measures: str | Sequence[str] | None = None,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
    pos_label: Any = None,
    folds: int | None = None,
    repeats: int | None = None,
    stratified: bool | None = None,
    allow_small_classes: bool | None = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    average_over: Sequence[str] | None = None,
    replicates: int | None = None,
    losses: str | None = None,
    interval: str | None = None,
    second_X: Any = None,
    region: float | None = None,
    level: float = 0.95,
    names: Sequence[str] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = 1,
    resume: str | Path | None = None,
    progress: Progress | None = None,
) -> Comparison | ModelComparisons:
    r"""Say whether the second of two learners is better than the first on examples not seen.

    Copies of both are trained on the same parts of the examples and predict the same others: by
    default K = 10 folds, R = 10 times over.  With d the R·K differences second − first, and s their
    standard deviation, the interval is the corrected resampled t with the degrees of freedom that
    one cross-validation has:

    .. math:: \bar d \pm t_{K-1}\, s \sqrt{\frac{1}{RK} + \frac{1}{K - 1}}

    It speaks of the learners at this sample size (less the fold that refits lack).  It is an
    approximation: no unbiased estimate of the variance exists.  Measured over four
    pairs of equally good learners (docs/which-learner-is-better.md), share of p ≤ .05, least to
    most over the pairs, and power where the error rates differ by .04 to .05:

    =======================  ============  ============  ============
    method                   size n = 300  n = 1000      power 300
    =======================  ============  ============  ============
    cautious_t               .003 to .037  .003 to .035  .22 to .33
    corrected_t              .006 to .069  .005 to .058  .30 to .42
    agreement                .003 to .064  .003 to .057  .31 to .44
    nested_cross_validation  .022 to .070  –             .24 to .31
    five_by_two_f            .008 to .052  .020 to .037  .05 to .28
    five_by_two_t            .019 to .045  .013 to .028  .04 to .21
    resampled_t              .40 to .59    .43 to .56    –
    =======================  ============  ============  ============

    The default is the most powerful whose size is at most .06 everywhere; stumps are what the
    others fail on.  `variance_components`, on two pairs of other data sets: .032 to .068, .050 to
    .057 and .17 to .24 (`cautious_t` there: .015 to .058, .022 to .042, .15 to .16).
    Measures other than the error rate, groups and more classes were not measured.

    Parameters
    ----------
    first, second
        Learners as `tr.estimate` takes them: classifiers of scikit-learn's kind, or names.  They
        are cloned, never changed.
    X, y, groups, sample_weight, params, pos_label
        As for `tr.estimate`.  Groups stay on one side of every division.
    cv
        As for `tr.estimate`.  Folds are tested by `method`; random divisions of one size by the
        corrected t with J − 1 degrees and the ratio of their test to training examples.  For other
        divisions there is no valid test, and the result says so.
    method
        `cautious_t`, as above; `corrected_t`, the same with R·K − 1 degrees, as published;
        `bayesian`, the correlated t posterior (no test: `probabilities` of better, equivalent,
        worse); `five_by_two_t` and `five_by_two_f`, which train on half the examples;
        `nested_cross_validation`, `variance_components` and `agreement`, of error rate and
        accuracy; `perturbation`, of two SVMs; invalid, for comparison only: `resampled_t`, and
        `k_fold_t`, the paired t over the folds of one cross-validation.
    measures
        One measure (`error_rate`), or a list of several, which gives a mapping from measure to
        comparison.
    scoring
        As for `tr.estimate`, instead of `measures`; of a scorer more is better.
    region
        The largest difference that does not matter, in units of the measure.
    level
        Confidence level.
    names
        The names of the two.
    folds, repeats, stratified, allow_small_classes
        How the examples are divided, as for `tr.estimate`: 10 folds, 10 times, unless given.
    betas, costs, average_over
        Of the measures, as for `tr.evaluate`.
    replicates, losses, interval, second_X
        With `perturbation` only: as for `tr.perturbation_difference`.
    random_state
        Seed; drawn, and recorded in `notes`, when not given.
    n_jobs, resume, progress
        As for `tr.estimate`.  A refit that fails is never left out: the two would no longer have
        had the same.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003. https://doi.org/10.1023/A:1024068626366
    .. [2] R. R. Bouckaert, "Choosing between two learning algorithms based on calibrated tests",
       ICML 2003, 51-58.
    .. [3] R. R. Bouckaert and E. Frank, "Evaluating the replicability of significance tests for
       comparing learning algorithms", PAKDD 2004, 3-12.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> stump, tree = DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(max_depth=2)
    >>> print(compare_models(stump, tree, X, y, names=("stump", "tree"), random_state=1))
    error_rate: tree − stump = -0.272 [-0.318, -0.226] at 95 %, p = 2.92e-07 (cautious_t)
    tree is better than stump: its error rate is lower by 0.272 [0.226, 0.318].
    """
    check_choice(method, CHOICES, "method")
    check_level(level)
    if region is not None:
        check_number(region, "region", low=np.finfo(float).tiny)
    requested, options = _requested(measures, scoring)
    learners = _names(first, second, names)
    _check_measures(requested, method)
    if resume is not None and random_state is None:
        raise InputError("`random_state` must be given with `resume`: a drawn one is another run.")
    design = _given(
        folds=folds, repeats=repeats, stratified=stratified, allow_small_classes=allow_small_classes
    )
    of_measures = _given(betas=tuple(betas) or None, costs=costs, average_over=average_over)
    of_weights = _given(replicates=replicates, losses=losses, interval=interval, second_X=second_X)
    # The error rate does not depend on which class is the positive one.
    needs_positive = method != PERTURBATION
    examples = Examples.of(
        X, y, groups, pos_label, needs_positive=needs_positive, sample_weight=sample_weight
    )
    if examples.groups is not None and examples.groups.max() == examples.n - 1:
        examples = replace(examples, groups=None)  # groups of one are single examples
    comparisons: list[Comparison]
    if method == PERTURBATION:
        unused = {key: value for key, value in design.items() if key != "folds"}
        _refuse(unused | of_measures | _given(resume=resume), method)
        comparison = _by_perturbation(
            (first, second),
            examples,
            names=learners,
            region=region,
            level=level,
            random_state=stated_seed(random_state),
            n_jobs=n_jobs,
            # Nothing is saved from an earlier run: refits done are refits seen.
            progress=None if progress is None else lambda done, n: progress(done, done, n),
            **_given(folds=folds),
            **of_weights,
        )
        comparisons = [comparison]
        _refuse(_given(cv=cv, params=params, sample_weight=sample_weight), method)
    else:
        _refuse(of_weights, method)
        test = PAIRED_TESTS[method]
        seed = stated_seed(random_state)
        design = beside_cv(cv, design)
        divided = _divided(cv, examples, groups, seed, method)
        if divided is not None:
            design = {"folds": divided.folds, "repeats": divided.repeats}
        spec = ComparisonSpec(
            method=method,
            models=(first, second),
            names=learners,
            examples=examples,
            resampling=test.resampling,
            design=_design(design, test.resampling, method),
            divided=divided,
            options=options | of_measures | _given(sample_weight=sample_weight, params=params),
            measures=requested,
            level=float(level),
            seed=seed,
            n_jobs=n_jobs,
            resume=None if resume is None else Path(resume),
            progress=progress,
        )
        comparisons = [_conclude(spec, *tested, region) for tested in test.outcomes(spec)]
    one = measures or scoring or "error_rate"
    if isinstance(one, str) or callable(one):
        return comparisons[0]
    return ModelComparisons(comparisons=dict(zip(requested, comparisons, strict=True)))


@dataclass(frozen=True, kw_only=True)
class PairedTest:
    """One method of comparison: what it makes, measure by measure, of the refits that it needs.

    `of_losses` says that it only compares error rate and accuracy, `once` that folds are not
    repeated.
    """

    outcomes: Callable[[ComparisonSpec], Iterator[Tested]]
    remark: str
    resampling: str = "cross_validation"
    of_losses: bool = False
    once: bool = False


def _by_refits(rule: RefitRule) -> Callable[[ComparisonSpec], Iterator[Tested]]:
    """Compare by the differences of the values of refits."""

    def outcomes(spec: ComparisonSpec) -> Iterator[Tested]:
        evaluations = evaluate_both(spec)
        for measure in spec.measures:
            first, second = (_estimate_of(evaluation, measure) for evaluation in evaluations)
            table = differences_of_refits(first, second, spec.folds)
            units = min(spec.units, first.n, second.n)
            if table is None:
                outcome = undetermined(spec.method, UNDEFINED)
            elif spec.divided is None or spec.divided.kind == "cross_validation":
                outcome = rule(table, units)
            elif spec.divided.kind == "subsampling":
                outcome = by_random_divisions(table, units, spec.divided.ratio)
            else:
                outcome = undetermined(spec.method, NO_VALID_TEST)
            yield of_learner(first, spec), of_learner(second, spec), outcome

    return outcomes


def _by_losses(spec: ComparisonSpec) -> Iterator[Tested]:
    """Compare by the losses of single examples, each predicted in several refits."""
    if spec.divided is not None and spec.divided.kind != "cross_validation":
        raise InputError(f"`cv` must make folds for {spec.method}; take {DEFAULT} for others.")
    first, second = evaluate_both(spec)
    groups, refits = spec.examples.groups, np.asarray(first.judged_by)
    truth = spec.examples.codes
    wrong = [np.asarray(one.called != truth).astype(np.int8) for one in (first, second)]
    for measure in spec.measures:
        losses = signed(wrong[1] - wrong[0], measure)
        if spec.method == METHOD:
            outcome = by_variance_components(losses, refits, groups)
        else:
            outcome = by_agreement(losses, groups)
        yield first[measure], second[measure], outcome


def _by_nesting(spec: ComparisonSpec) -> Iterator[Tested]:
    wrong, parts = nested_losses(spec)
    errors = wrong[1].astype(np.int8) - wrong[0].astype(np.int8)
    for measure in spec.measures:
        outcome = by_nested_cross_validation(signed(errors, measure), parts)
        first, second = (estimate_by_nesting(one, parts, spec, measure) for one in wrong)
        yield first, second, outcome


def _conclude(
    spec: ComparisonSpec,
    first: Estimate,
    second: Estimate,
    outcome: TestOutcome,
    region: float | None,
) -> Comparison:
    """Put two estimates and the outcome of a test into one comparison of learners."""
    shuffled = spec.divided is not None and spec.divided.kind == "subsampling"
    method = "corrected_t" if shuffled else spec.method
    comparison = with_refit_caveat(
        conclude(
            spec.names,
            first,
            second,
            outcome,
            level=spec.level,
            method=method,
            region=region,
            notes=spec.notes(PAIRED_TESTS[method].remark),
        )
    )
    if outcome.shares_at is None:
        return comparison
    below, within, above = outcome.shares_at(region or 0.0)
    measure, _ = measure_of(comparison.measure)
    lower = measure is not None and measure.higher_is_better is False
    better, worse = (below, above) if lower else (above, below)
    return BayesianComparison(
        **{entry.name: getattr(comparison, entry.name) for entry in fields(Comparison)},
        probabilities=Probabilities(better=better, equivalent=within, worse=worse),
    )


def _estimate_of(evaluation: LearnerEvaluation, measure: str) -> Estimate:
    if measure not in evaluation:
        raise InputError(
            f"`measures` must be of what these learners say of {len(evaluation.labels)} classes; "
            f"got {measure!r}. Of more than two classes take an average (f1_macro); measures of "
            "scores need learners that give scores."
        )
    return evaluation[measure]


def _by_perturbation(models: tuple[Any, Any], examples: Examples, **settings: Any) -> Comparison:
    """Compare two SVMs under the same random weights."""
    # Compiles its solvers when it is loaded.
    from truerisk.comparison.learners.perturbed import perturbation_difference

    first, second = (as_learner(one, examples.X, examples=examples.n) for one in models)
    comparison = perturbation_difference(
        first, second, examples.X, examples.y, groups=examples.groups, **settings
    )
    text = f"Both SVMs on the same weights and folds; seed {settings['random_state']}."
    refits = Finding(text, code="same_refits")
    return with_refit_caveat(replace(comparison, notes=(refits, *comparison.notes)))


def _given(**options: Any) -> dict[str, Any]:
    """Give the options that were set."""
    return {name: value for name, value in options.items() if value is not None}


def _refuse(options: Mapping[str, Any], method: str) -> None:
    for name, value in options.items():
        raise InputError(f"`{name}` must be left out for {method}; got {shown(value)}.")


def _requested(
    measures: str | Sequence[str] | None, scoring: Any
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Give the names of what is compared, and how `tr.estimate` is asked for it."""
    if scoring is None:
        measures = "error_rate" if measures is None else measures
        names = (measures,) if isinstance(measures, str) else tuple(measures)
        return names, {"measures": names}
    if measures is not None:
        raise InputError("`scoring` must be left out where `measures` is given; got both.")
    settings = scoring_of(scoring)
    names = (*(settings.measures or ()), *settings.scorers)
    if not settings.scorers:
        return names, {"measures": names}
    return names, {"scoring": {name: settings.scorers.get(name, name) for name in names}}


def _divided(cv: Any, examples: Examples, groups: Any, seed: int, method: str) -> Divided | None:
    """Divide by a splitter once, for both learners."""
    if cv is None or is_number_of_folds(cv):
        return None
    if PAIRED_TESTS[method].resampling != "cross_validation":
        raise InputError(f"`cv` must be left out for {method}, which divides by itself.")
    return divide(cv, examples, seed, groups)


def _names(first: Any, second: Any, names: Sequence[str] | None) -> tuple[str, str]:
    if names is not None:
        if isinstance(names, str) or len(names) != 2 or names[0] == names[1]:
            raise InputError(f"`names` must be two different names; got {shown(names)}.")
        return str(names[0]), str(names[1])
    one, other = _name_of(first), _name_of(second)
    return (one, other) if one != other else (f"{one} (first)", f"{other} (second)")


def _name_of(model: Any) -> str:
    """Name a learner by its class, a pipeline by that of its last step."""
    if isinstance(model, str):
        return model
    return type(model[-1] if hasattr(model, "named_steps") else model).__name__


def _check_measures(measures: tuple[str, ...], method: str) -> None:
    """Refuse measures that the method cannot compare, before anything is trained."""
    if not measures or len(set(measures)) < len(measures):
        raise InputError(f"`measures` must name each measure once; got {shown(measures)}.")
    allowed = MEAN_LOSSES[:1] if method == PERTURBATION else MEAN_LOSSES
    of_losses = method == PERTURBATION or PAIRED_TESTS[method].of_losses
    for measure in measures:
        if of_losses and measure not in allowed:
            raise InputError(
                f"`measures` must be {' or '.join(allowed)} for {method}, a test of losses; "
                f"got {shown(measure)}. Take {DEFAULT} for others."
            )


def _design(given: dict[str, Any], resampling: str, method: str) -> dict[str, Any]:
    """Complete the division by its defaults; refuse folds and repeats where they are fixed."""
    uses = METHODS[resampling].uses
    for name in ("folds", "repeats"):
        if name in given and name not in uses:
            raise InputError(
                f"`{name}` must be left out for {method}, which has five times two halves; "
                f"got {shown(given[name])}."
            )
    once = PAIRED_TESTS[method].once
    if once and given.get("repeats", 1) != 1:
        raise InputError(
            f"`repeats` must be 1 for {method}, a test of one cross-validation; got "
            f"{shown(given['repeats'])}."
        )
    standard = {"folds": FOLDS, "repeats": 1 if once else REPEATS}
    return {name: value for name, value in standard.items() if name in uses} | given


UNDEFINED = Finding(
    "A refit has no value of it, and cannot be left out: there is no test.",
    code="undefined_in_refits",
)
NO_VALID_TEST = Finding(
    "No test is valid for these divisions: take folds, random divisions of one size, or compare "
    "predictions of one test set (tr.compare).",
    code="no_valid_test",
)
LEARNERS = Finding(
    "Speaks of the learners at this sample size, less the fold that refits lack.",
    code="about_learners",
)
CORRECTED = Finding(
    "Speaks of the learners at this sample size, corrected for the fold refits lack.",
    code="about_learners",
)
MODELS = Finding(
    "Speaks of the two models that are trained on all the examples.", code="about_models"
)
HALVES = Finding(
    "The refits have half the examples: this speaks of the learners at half the sample size.",
    code="half_the_examples",
)
INVALID = Finding(
    "Student's t over refits, uncorrected: invalid, because their training sets overlap; for "
    "comparison only.",
    code="invalid_test",
)

PAIRED_TESTS = {
    "cautious_t": PairedTest(outcomes=_by_refits(by_cautious_t), remark=LEARNERS),
    "corrected_t": PairedTest(outcomes=_by_refits(by_corrected_t), remark=LEARNERS),
    "five_by_two_t": PairedTest(
        outcomes=_by_refits(by_five_by_two_t), remark=HALVES, resampling="five_by_two"
    ),
    "five_by_two_f": PairedTest(
        outcomes=_by_refits(by_five_by_two_f), remark=HALVES, resampling="five_by_two"
    ),
    "bayesian": PairedTest(outcomes=_by_refits(by_posterior), remark=LEARNERS),
    "nested_cross_validation": PairedTest(
        outcomes=_by_nesting, remark=CORRECTED, resampling="nested_cross_validation", of_losses=True
    ),
    METHOD: PairedTest(outcomes=_by_losses, remark=MODELS, of_losses=True),
    "agreement": PairedTest(outcomes=_by_losses, remark=MODELS, of_losses=True),
    "resampled_t": PairedTest(outcomes=_by_refits(by_resampled_t), remark=INVALID),
    "k_fold_t": PairedTest(outcomes=_by_refits(by_k_fold_t), remark=INVALID, once=True),
}
CHOICES = (*PAIRED_TESTS, PERTURBATION)
