"""Learner + data → LearnerEvaluation: its quality on new examples, with intervals."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import check_choice, check_whole_number
from truerisk.errors import InputError
from truerisk.estimation.refits.cv import beside_cv, plan_of
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import AGREEMENT, DEFAULT, OWN_RULES, RULES
from truerisk.estimation.refits.plans import (
    LARGEST_SEED,
    Design,
    Method,
    Plan,
    TrainingSet,
    design_of,
    find_method,
    make_plan,
)
from truerisk.estimation.refits.vote_estimates import (
    SETTLED,
    VoteEstimates,
    corrected,
    corrections,
    score_table,
)
from truerisk.estimation.refits.votes import (
    CollectedVotes,
    Costs,
    collect_votes,
    no_effect_of_training,
    refit_settings,
)
from truerisk.evaluation.request import Request
from truerisk.evaluation.score_estimates import CHOSEN_HERE
from truerisk.evaluation.verdict import verdict_of
from truerisk.execution.checkpoint import Checkpoint, fingerprint
from truerisk.learners.named_models import as_learner
from truerisk.learners.refits import refit
from truerisk.learners.scoring import (
    Metadata,
    is_number_of_folds,
    metadata_of,
    range_of_scorer,
    scoring_of,
    settings_of_scorers,
    without_address,
)
from truerisk.measures.registry import base_and_average, find_measure, spoken_title
from truerisk.results import Estimate, Evaluation, Finding, RefitInterval, as_plain, has_code
from truerisk.tallies.cells import MAX_CLASSES


@dataclass(frozen=True, kw_only=True, repr=False)
class LearnerEvaluation(Evaluation):
    """The measures of a learner, estimated by refits that judge examples they did not train on.

    `method` names the resampling, `refits` counts them; `baseline` is what always answering the
    commonest class is worth, on the same plan; `variants` holds further estimates of the error rate
    that the method gives (bootstrap: .632, leave-one-out bootstrap, optimism).  `called` holds, for
    each repetition, the label position given to each example (−1 where it was not judged),
    `judged_by` the number of the refit that gave it, `scores` the scores in the same places (NaN
    where there are none).  `costs` are seconds; they differ from run to run and are therefore not
    part of what is saved or compared.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import estimate
    >>> found = estimate("tree", *load_iris(return_X_y=True), method="holdout", random_state=1)
    >>> found.method, found.refits, round(found.baseline["error_rate"].value, 2)
    ('holdout', 1, 0.68)
    """

    kind: ClassVar[str] = "learner_evaluation"

    model: str = ""
    method: str = ""
    refits: int = 0
    baseline: Mapping[str, Estimate] = field(default_factory=dict)
    variants: Mapping[str, Estimate] = field(default_factory=dict)
    called: NDArray[np.int32] | None = field(default=None, compare=False)
    judged_by: NDArray[np.int32] | None = field(default=None, compare=False)
    scores: NDArray[np.float64] | None = field(default=None, compare=False)
    costs: Costs | None = field(default=None, compare=False)

    def __getitem__(self, measure: str) -> Estimate:
        """Give a measure by its name, or by the name it was requested by in `scoring`."""
        return super().__getitem__(self.settings.get("scoring", {}).get(measure, measure))


CHIEF = {
    "bootstrap": "bootstrap_632plus",
    "stratified_bootstrap": "bootstrap_632plus",
    "jackknife": "jackknife",
}


def estimate(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    method: str = "cross_validation",
    interval: str | None = None,
    folds: int | None = None,
    repeats: int | None = None,
    test_size: float | None = None,
    stratified: bool | None = None,
    allow_small_classes: bool | None = None,
    measures: Sequence[str] | None = None,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
    pos_label: Any = None,
    level: float = 0.95,
    betas: Sequence[float] = (),
    costs: Any = None,
    average_over: Sequence[str] | None = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    replicates: int = 1000,
    zero_division: float = math.nan,
    max_classes: int = MAX_CLASSES,
    random_state: int | None = None,
    n_jobs: int | None = 1,
    allow_failed: bool = False,
    resume: str | Path | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> LearnerEvaluation:
    r"""Estimate what a learner is worth on examples it has not seen, with intervals.

    Copies of the model are trained on parts of the examples and judge the others.  One pass of
    refits gives every measure of the registry.

    The default interval splits the variance of a measure into three parts: that of n independent
    examples (:math:`V_1`), the share u of it in which refits disagree about the same example, and
    the variance s² between the models of the folds, which move many examples together:

    .. math:: V = V_1 (1 + a u) + c \max(0, s^2), \qquad m = \frac{\theta (1 - \theta)}{V}

    It is the binomial interval of m·θ of m.  a and c depend on the measure (¾ and ¾ for the error
    rate); `tr.refit_interval` and its module have the formulas.  Where s² makes an
    interval more than 1.25 times as long, a note says so, and `interval` holds the parts.  It
    speaks of *this model*, the one that is trained on all the examples.  The rule was found by
    simulation and is not proven; what it covers, measured, is in docs/how-well-will-it-do.md.
    With one repetition u and s² are unknown: the interval holds that of independent examples and
    the corrected t over the folds (`one_repetition`).  Where refits test more than a quarter of the
    examples, it holds the corrected t as well (`components_or_t`).

    Parameters
    ----------
    model
        Any classifier of scikit-learn's kind, pipelines included, or the name of one ("svm",
        "tree", …: `truerisk estimate --help`), which prepares the columns of X as the command line
        does.  It is cloned, never changed; a `random_state` that it leaves open is set from
        `random_state`.  A model that keeps what it has learned is refused; one whose training has
        no effect on its predictions is told in `verdict` (see `no_effect_of_training`).
    X, y
        Rows (array, sparse matrix, data frame, list of texts) and one label for each.
    cv
        How the examples are divided: a number of folds, as `folds`; a splitter of scikit-learn; or
        a list of (train, test) positions.  What the divisions are like decides about the interval.
        Folds, repeated or not: as `cross_validation`.  Random divisions of one size (ShuffleSplit):
        as `subsampling`.  One division: as `holdout`.  Each after what it trains on
        (TimeSeriesSplit): as `time_ordered`.  Others that test each example at most once: that of
        independent examples, for the models of these divisions.  For any others none is valid: the
        interval is the whole range, with the reason.
    method
        `cross_validation` (folds=10, repeats=5), `holdout` (test_size=1/3), `subsampling`
        (repeats=15), `five_by_two`, `leave_one_out`, `time_ordered` (folds=10; rows in the order of
        time), `bootstrap` (repeats=200), `stratified_bootstrap` (the same within each class),
        `jackknife`, `nested_cross_validation` (folds=10, repeats=10), `conservative_z` (repeats=15)
        or `training_error`.
    interval
        `variance_components` unless given; or `agreement` (the
        same without s², exact binomial), `corrected_t` (Nadeau and Bengio; speaks of the learner),
        `central_limit` (Bayle and others; one repetition; speaks of the models of the folds),
        `plain_t` (invalid, for comparison).
    folds, repeats, test_size
        Of the method; its own defaults unless given.
    stratified, allow_small_classes
        Whether every part has its share of each class (yes), and whether folds may lack one (no).
    measures
        Only these measures; all when not given.
    scoring
        As scikit-learn takes it, instead of `measures`: a name, a scorer, a function of (model, X,
        y), a list of these, or a dict of them.  What the registry knows is the measure of the
        registry with its own interval (`neg_log_loss` is `log_loss`).  Anything else has the mean
        over refits and the interval of its pseudo-values: what it gives without single examples,
        of which up to 300 are left out, one after the other.  A scorer that jumps (a share of the
        best fifth) gets a long one; one without a value for fewer examples, the corrected t.
    groups
        Which rows belong together: never on both sides of a division, and the unit of intervals.
    sample_weight, params
        Weights, and other values by name, that reach `fit` in every refit, and the scorers that
        request them (scikit-learn's metadata routing, if it is enabled).  In the measures every
        example counts once.
    pos_label
        The positive label, where it is not plain.
    level, betas, costs, average_over, binomial, cell_interval, replicates, zero_division
        As in `tr.evaluate`.
    max_classes
        Refuse more classes than this.
    random_state
        Seed; drawn, and told in `settings`, when not given.
    n_jobs
        Refits at a time; −1 takes all processors.  The result does not depend on it.  Other
        processes start only if the first refits show that there is enough to do.
    allow_failed
        Whether refits in which the model fails may be left out; they are named in `notes`.
    resume
        A folder: refits that are in it are not done again, the others are added.  A folder of other
        data, settings or another seed is refused.
    progress
        Called as (done, done, all) after each refit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = estimate(DecisionTreeClassifier(max_depth=2), X, y, random_state=1)
    >>> print(found["error_rate"])
    error_rate = 0.059 [0.019, 0.134] at 95 % (variance_components, n = 150, this model)
    """
    if scoring is not None and measures is not None:
        raise InputError("`scoring` must be left out where `measures` is given; got both.")
    requested = scoring_of(scoring)
    measures = requested.measures if scoring is not None else measures
    needs_positive = measures is None or any(map(_needs_positive, measures))
    examples = Examples.of(
        X, y, groups, pos_label, needs_positive=needs_positive, sample_weight=sample_weight
    )
    if examples.groups is not None and examples.groups.max() == examples.n - 1:
        examples = replace(examples, groups=None)  # groups of one are single examples
    model = as_learner(model, examples.X, examples=examples.n)
    metadata = metadata_of(model, requested.scorers, params, sample_weight, examples.n)
    examples = replace(examples, metadata=metadata)
    if interval == "central_limit" and method == "cross_validation" and repeats is None:
        repeats = 1 if cv is None or is_number_of_folds(cv) else None
    given = {
        "folds": folds,
        "repeats": repeats,
        "test_size": test_size,
        "stratified": stratified,
        "allow_small_classes": allow_small_classes,
    }
    given = {name: one for name, one in given.items() if one is not None}
    if random_state is None:
        if resume is not None:
            raise InputError(
                "`random_state` must be given with `resume`: a drawn one is another run."
            )
        random_state = int(np.random.default_rng().integers(LARGEST_SEED))
    resampling, design, plan = _divided(
        cv, method, examples, given=given, groups=groups, seed=random_state
    )
    rule = resampling.interval if interval is None else interval
    pos_label = examples.pos_label or pos_label
    request = Request.of(locals())
    _check_request(request, resampling)
    _check_interval(interval or DEFAULT, resampling, design, examples)
    seed = int(request.random_state or 0)
    shared = refit_settings(model, examples, plan, seed) | {"scorers": requested.scorers}
    with _checkpoint(resume, shared, resampling, design) as checkpoint:
        collected = collect_votes(
            model,
            examples,
            plan,
            seed=seed,
            scorers=requested.scorers,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            progress=progress,
        )
    collected.refuse_failures(allowed=allow_failed)
    votes = VoteEstimates(examples, resampling, collected, request, rule)
    evaluation = votes.evaluation()
    estimates = {name: votes.finished(one, rule) for name, one in evaluation.items()}
    estimates |= {
        name: votes.of_scorer(name, range_of_scorer(one)) for name, one in requested.scorers.items()
    }
    variants: dict[str, Estimate] = {}
    if collected.correction is not None:
        whole = refit({**shared, "plan": TrainingSet(examples.n)}, 0)
        variants = corrections(collected.correction, whole, request.level)
        estimates = corrected(estimates, variants.pop(CHIEF[resampling.name]))
    by_class = {
        label: {name: votes.finished(one, DEFAULT, label) for name, one in each.items()}
        for label, each in evaluation.by_class.items()
    }
    trained_on = resampling.name == "training_error"
    doubts = () if trained_on else no_effect_of_training(model, collected, seed)
    return LearnerEvaluation(
        **{
            **evaluation.fields(),
            "estimates": estimates,
            "by_class": by_class,
            "verdict": (*doubts, *_verdict(resampling, votes, estimates, by_class)),
            "notes": (
                *_remarks(resampling, collected),
                *weights_in_training(metadata.weighs),
                *_common_errors(estimates),
                *collected.notes(),
                *evaluation.notes,
            ),
            "settings": {
                **evaluation.settings,
                "random_state": seed,
                "target": " and ".join(dict.fromkeys(one.target for one in estimates.values())),
                "model": _described(model),
                "method": resampling.name,
                "interval": rule,
                **{name: getattr(design, name) for name in resampling.uses},
                **({} if cv is None or is_number_of_folds(cv) else {"cv": _words_of(cv)}),
                **({"scoring": dict(requested.names)} if requested.names else {}),
            },
        },
        model=_described(model),
        method=resampling.name,
        refits=len(plan),
        baseline=votes.baseline(),
        variants=variants,
        called=collected.called,
        judged_by=None if collected.called is None else collected.votes.refits,
        scores=score_table(collected),
        costs=collected.costs,
    )


def _verdict(
    method: Method,
    votes: VoteEstimates,
    estimates: Mapping[str, Estimate],
    by_class: Mapping[str, Mapping[str, Estimate]],
) -> tuple[str, ...]:
    """Conclude nothing from divisions for which no interval is valid."""
    if method.name != "given_divisions":
        return tuple(verdict_of(votes.tallies, estimates, by_class))
    words = "Nothing is sure: no interval is valid for divisions that overlap and differ in size."
    return (Finding(words, code="no_valid_interval"),)


def _divided(
    cv: Any,
    method: str,
    examples: Examples,
    *,
    given: dict[str, Any],
    groups: Any,
    seed: int,
) -> tuple[Method, Design, Plan]:
    """Divide the examples as `cv` says, or as the method does with its settings."""
    check_whole_number(seed, "random_state")
    if cv is not None and method != "cross_validation":
        raise InputError(f"`method` must be left out where `cv` is given; got {method!r}.")
    given = beside_cv(cv, given)
    if cv is not None and not is_number_of_folds(cv):
        return plan_of(cv, examples, seed, groups)
    resampling = find_method(method, examples)
    design = design_of(resampling, given)
    return resampling, design, make_plan(resampling, examples, design, seed)


def _words_of(cv: Any) -> str:
    """Name a splitter by its settings; a list by its length."""
    if hasattr(cv, "split"):
        return " ".join(repr(cv).split())
    return f"{len(cv)} given divisions" if hasattr(cv, "__len__") else "given divisions"


def weights_in_training(weighs: bool) -> Iterator[Finding]:  # noqa: FBT001
    """Say where weights count, if there are any."""
    if weighs:
        yield Finding(
            "The weights reach the training of each refit; in the measures every example counts "
            "once.",
            code="weights_in_training",
        )


def _needs_positive(measure: str) -> bool:
    """Tell whether a measure is of one class against the other; those of all classes are not."""
    return find_measure(base_and_average(measure)[0]).needs != "class counts"


def _checkpoint(
    resume: str | Path | None, shared: Mapping[str, Any], method: Method, design: Design
) -> AbstractContextManager[Checkpoint | None]:
    """Open the folder that holds the refits, if one is given."""
    if resume is None:
        return nullcontext()
    metadata: Metadata = shared["metadata"]
    facts = {
        "version": version("truerisk"),
        "data": fingerprint(shared["X"], shared["y"], *metadata.arrays),
        "division": fingerprint(*_arrays_of(shared["plan"])),
        "model": _settings_of(shared["model"]),
        "method": method.name,
        "design": as_plain(design),
        "scorers": settings_of_scorers(shared["scorers"]),
        "random_state": shared["seed"],
    }
    return Checkpoint.open(resume, facts)


def _check_request(request: Request, method: Method) -> None:
    """Refuse intervals that are not for votes of refits."""
    if request.binomial != "clopper_pearson" and method.name not in SETTLED:
        raise InputError(
            "`binomial` must be clopper_pearson for refits, whose votes are not whole numbers; "
            f"got {request.binomial}."
        )
    if request.cell_interval not in {"by_measure", "smoothed_delta", "delta"}:
        raise InputError(
            "`cell_interval` must be by_measure, smoothed_delta or delta for refits: the others "
            "resample examples as if one model had predicted them; "
            f"got {request.cell_interval}."
        )


def _check_interval(interval: str, method: Method, design: Design, examples: Examples) -> None:
    check_choice(interval, (DEFAULT, AGREEMENT, *RULES), "interval")
    # One judgement an example, in no folds.
    alone = {"time_ordered", "leave_one_out", "given_folds", "given_divisions"}
    fits = method.name not in {*OWN_RULES, *SETTLED, *CHIEF, *alone}
    if interval != DEFAULT and not fits:
        raise InputError(
            f"`interval` must be left out for {method.name}, which has its own; got {interval}."
        )
    if interval == "central_limit" and examples.groups is not None:
        raise InputError(
            "`interval` must not be central_limit with groups, which it takes for single examples."
        )
    if interval == "central_limit" and (method.name != "cross_validation" or design.repeats > 1):
        raise InputError(
            "`interval` central_limit must have one repetition of cross_validation; got "
            f"{method.name}, {design.repeats} repetitions. Leave `repeats` out, or use {DEFAULT}."
        )


def _remarks(method: Method, collected: CollectedVotes) -> Iterator[Finding]:
    refits = len(collected.plan)
    number = f"{refits} refit{'s' if refits > 1 else ''}"
    yield Finding(f"{method.title}, {number}: {method.remark}.", code=f"method_{method.name}")
    if collected.from_one_problem:
        yield Finding(
            "The refits are solved from one prepared problem: `costs` are of that, not of a fit.",
            code="refits_from_one_problem",
        )


def _common_errors(estimates: Mapping[str, Estimate]) -> Iterator[Finding]:
    """Name the measures whose intervals are longer because refits err together.

    A threshold that is chosen on each repetition's scores also moves by itself.
    """
    longer = {
        name: one.interval.lengthening
        for name, one in estimates.items()
        if isinstance(one.interval, RefitInterval)
        and has_code(one.notes, "refits_err_together")
        and name not in CHOSEN_HERE
    }
    if longer:
        most = max(longer, key=lambda name: longer[name])
        others = f", and of {len(longer) - 1} more" if len(longer) > 1 else ""
        yield Finding(
            "Refits err together: one model moves the predictions of many examples. The interval "
            f"of {spoken_title(most)} is {longer[most]:.1f} times as long for it{others}.",
            code="refits_err_together",
        )


def _arrays_of(plan: Plan) -> list[Any]:
    """List what a plan is made of: its examples depend on groups and classes too."""
    values = (getattr(plan, name) for name in getattr(plan, "__dataclass_fields__", ()))
    return [np.asarray(value) for value in values if value is not None]


def _settings_of(model: Any) -> str:
    """Write down every setting of a model, in full: scikit-learn shortens what it prints."""
    parameters = model.get_params(deep=True)
    plain = {
        name: without_address(value)
        for name, value in parameters.items()
        if not hasattr(value, "get_params")
    }
    return f"{type(model).__name__} {sorted(plain.items())}"


def _described(model: Any) -> str:
    return " ".join(repr(model).split())
