"""How often do the intervals cover on the user's own data?  Samples are drawn and counted."""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from truerisk.aliases import Indices
from truerisk.checks import check_number, check_whole_number
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.estimate import estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import DEFAULT
from truerisk.estimation.refits.plans import HeldOut, find_method
from truerisk.estimation.refits.vote_estimates import VoteEstimates
from truerisk.estimation.refits.votes import collect_votes
from truerisk.evaluation.evaluate import evaluate_coded
from truerisk.evaluation.request import Request
from truerisk.inputs import ReadingOptions, Roles, open_predictions
from truerisk.inputs.predictions import Predictions
from truerisk.intervals.binomial import binomial_interval, upper_bound
from truerisk.learners.named_models import as_learner
from truerisk.learners.refits import rows_of
from truerisk.measures.registry import title_of
from truerisk.results import (
    Estimate,
    Evaluation,
    Finding,
    NamedEntries,
    Reportable,
    Row,
    estimate_row,
)

Progress = Callable[[int, int, int], None]
Key = tuple[str, str]  # measure and class

SIZE = 200
SAMPLES = 1000
SECONDS = 60.0
MIN_SAMPLES = 20  # drawn even if they take longer than allowed
SURE = 0.95  # with which all intervals that are named as too short are too short
MAX_NAMED = 5
MIN_GROUPS = 2
STEPS = 1000  # of a progress bar
MAIN = ("error_rate", "roc_auc")


@dataclass(frozen=True, kw_only=True)
class AuditedInterval:
    """How often one interval contained the value on all the data.

    `method` is the interval's, the commonest over the samples; `samples` counts those in which the
    measure is defined, `undefined` the others; `value` is that on all the data, the mean over the
    samples where each has a model of its own; `width` is the mean width.

    Examples
    --------
    >>> recall = AuditedInterval(measure="recall", label="", method="clopper_pearson", level=0.95,
    ...     target="this model", value=0.8, covered=941, samples=1000, undefined=0, width=0.11)
    >>> recall.coverage, round(recall.error, 3)
    (0.941, 0.015)
    """

    measure: str
    label: str
    method: str
    level: float
    target: str
    value: float
    covered: int
    samples: int
    undefined: int
    width: float

    @property
    def coverage(self) -> float:
        """The share of the samples whose interval contained the value."""
        return self.covered / self.samples

    @property
    def estimate(self) -> Estimate:
        """The coverage with the exact binomial interval of as many samples."""
        interval = binomial_interval(self.covered, self.samples)
        return Estimate(
            value=self.coverage,
            interval=interval,
            measure=self.measure,
            method=self.method,
            n=self.samples,
        )

    @property
    def error(self) -> float:
        """Half the width of the 95 % interval of the coverage."""
        return binomial_interval(self.covered, self.samples).width / 2

    @property
    def name(self) -> str:
        """The measure in words, with its class."""
        of = f" of {self.label}" if self.label else ""
        return f"{title_of(self.measure)}{of}"

    def falls_short_of(self, promised: float, among: int) -> bool:
        """Whether fewer than promised were covered, chance being excluded for all `among`."""
        return upper_bound(self.covered, self.samples, delta=(1 - SURE) / among) < promised


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(Reportable, NamedEntries[AuditedInterval]):
    """How often each interval covered on samples of the user's own data, by measure.

    `size` is the number of rows in a sample, `n` of all the data; `drawn` samples were drawn,
    `failed` of them could not be evaluated.  An interval that keeps its promise covers `promised`
    of the samples: the level, or less where the value itself is measured on few rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=2000)
    >>> result = audit(truth, truth ^ (rng.random(2000) < 0.2), size=100, samples=50,
    ...               measures=["recall"], random_state=0)
    >>> print(result.sentence("recall"))  # doctest: +ELLIPSIS
    On data like yours, at n = 100, the 95 % interval of Recall covered ... % of 50 samples (± ...).
    """

    kind: ClassVar[str] = "audit"
    entries: ClassVar[str] = "intervals"

    subject: str
    intervals: Mapping[str, AuditedInterval]
    by_class: Mapping[str, Mapping[str, AuditedInterval]] = field(default_factory=dict)
    size: int
    n: int
    drawn: int
    failed: int
    level: float
    promised: float
    verdict: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    @property
    def all_intervals(self) -> tuple[AuditedInterval, ...]:
        """Those of all measures, then those of single classes."""
        of_classes = (one for each in self.by_class.values() for one in each.values())
        return (*self.intervals.values(), *of_classes)

    @property
    def too_short(self) -> tuple[AuditedInterval, ...]:
        """The intervals that covered less than promised; all of them are at 95 % confidence."""
        among = self.all_intervals
        return tuple(one for one in among if one.falls_short_of(self.promised, len(among)))

    def sentence(self, measure: str) -> str:
        """Say in one sentence how often the interval of a measure covered."""
        return f"On data like yours, at n = {self.size:,}, {_covered(self[measure])}."

    def __str__(self) -> str:
        lines = [
            f"{one.name}: covered {100 * one.coverage:.1f} % ± {100 * one.error:.1f} of "
            f"{one.samples:,} ({one.method})"
            for one in self.all_intervals
        ]
        return "\n".join([*self.verdict, *lines])

    def _rows(self) -> Iterator[Row]:
        for one in self.all_intervals:
            row = estimate_row(
                one.measure,
                one.coverage,
                one.estimate.interval,
                label=one.label,
                method=one.method,
                n=one.samples,
                target=one.target,
            )
            more = {"promised": self.promised, "truth": one.value, "width": one.width}
            yield {"size": self.size, **row, **more, "undefined": one.undefined}


def audit(
    y_true: Any,
    y_pred: Any = None,
    *,
    y_score: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    multilabel: bool = False,
    labels: Sequence[Any] | None = None,
    size: int = SIZE,
    samples: int = SAMPLES,
    seconds: float | None = SECONDS,
    level: float = 0.95,
    pos_label: Any = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    reject: str | None = None,
    measures: Sequence[str] | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Measure how often the intervals of `evaluate` cover, on samples of your own predictions.

    The predictions are the population.  Samples of `size` rows are drawn from them with
    replacement, so that their rows are independent, as the intervals assume; each is evaluated,
    and counted is how often the interval contains the value on all the predictions.  With `groups`,
    whole groups are drawn: as many as have about `size` rows.

    What is measured holds for data like these.  It says nothing about how the predictions came
    about, nor whether tomorrow's examples will be like them.

    Parameters
    ----------
    y_true, y_pred, y_score, sample_weight, groups, multilabel, labels
        As for `evaluate`.
    size
        Rows of a sample: as many as a test set will have.
    samples
        Samples to draw.
    seconds
        Stop after this time, with at least 20 samples; None for no limit.  The samples that were
        drawn are the same as without it.
    level, pos_label, betas, costs, binomial, cell_interval, average_over, probabilities
        As for `evaluate`.
    threshold, reject, measures, random_state
        As for `evaluate`.
    progress
        Called as (samples done, steps done, all steps).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(2, size=1000)
    >>> result = audit(truth, truth ^ (rng.random(1000) < 0.1), size=50, samples=40, random_state=1)
    >>> result["error_rate"].samples, result["error_rate"].method
    (40, 'clopper_pearson')
    """
    request = Request.of(locals())
    predictions = Predictions.from_arrays(
        y_true,
        y_pred,
        y_score=y_score,
        sample_weight=sample_weight,
        groups=groups,
        multilabel=multilabel,
        labels=labels,
    )
    return _of_predictions(predictions, request, _Drawing(size, samples, seconds, progress))


def audit_files(
    paths: Path | str | Sequence[Path | str],
    *,
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    size: int = SIZE,
    samples: int = SAMPLES,
    seconds: float | None = SECONDS,
    level: float = 0.95,
    pos_label: Any = None,
    betas: Sequence[float] = (),
    costs: Any = None,
    binomial: str = "clopper_pearson",
    cell_interval: str = "by_measure",
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    reject: str | None = None,
    measures: Sequence[str] | None = None,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    r"""Measure how often the intervals of `evaluate_files` cover, on samples of the files' rows.

    Parameters
    ----------
    paths, roles, options
        As for `evaluate_files`.
    size, samples, seconds, progress
        As for `audit`.
    level, pos_label, betas, costs, binomial, cell_interval, average_over, probabilities
        As for `evaluate`.
    threshold, reject, measures, random_state
        As for `evaluate`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("y_true,y_pred\n" + "1,1\n" * 30 + "1,0\n" * 9 + "0,0\n" * 40)
    ...     audit_files(path, size=20, samples=30, random_state=0)["recall"].samples
    30
    """
    request = Request.of(locals())
    files = open_predictions(paths, roles=roles, options=options)
    files.check_labels()
    result = _of_predictions(files.read(), request, _Drawing(size, samples, seconds, progress))
    return replace(result, source={"files": files.files}, notes=(*files.notes, *result.notes))


def audit_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    size: int | None = None,
    samples: int = SAMPLES,
    seconds: float | None = SECONDS,
    method: str = "cross_validation",
    interval: str = DEFAULT,
    folds: int | None = None,
    repeats: int | None = None,
    level: float = 0.95,
    pos_label: Any = None,
    measures: Sequence[str] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
) -> Audit:
    r"""Measure how often the intervals of `estimate` cover, on samples of your own table.

    Samples of `size` rows are drawn without replacement.  On each, `estimate` is run; then the
    model is trained on the sample and predicts the N − size other rows: the interval should
    contain its value there.  That value is itself uncertain, so that an interval which keeps its
    promise covers it less often than the level L says,

    .. math:: 2\,\Phi\Bigl(z/\sqrt{1 + \tfrac{size}{N - size}}\Bigr) - 1,
              \qquad z = \Phi^{-1}\bigl(\tfrac{1 + L}{2}\bigr)

    of the samples, if both vary as means of independent rows do.  That is `promised`.  Intervals
    about the learner are compared with the mean of these values over the samples.  Samples share
    rows; the error of the coverage is given as if they did not.

    Parameters
    ----------
    model, X, y, groups, method, interval, folds, repeats, level, pos_label, measures, n_jobs
        As for `estimate`.
    size
        Rows of a sample, at most half of all; by default 200, or a third of all if that is less.
    samples, seconds, progress
        As for `audit`.
    random_state
        Seed; drawn when not given, and stated in the result.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> result = audit_model("tree", *load_breast_cancer(return_X_y=True), size=100, samples=20,
    ...                     repeats=2, folds=5, measures=["error_rate"], random_state=0)
    >>> result.subject, round(result.promised, 3)
    ('tree', 0.925)
    """
    examples = Examples.of(X, y, groups, pos_label)
    size = min(SIZE, examples.n // 3) if size is None else size
    drawing = _Drawing(size, samples, seconds, progress)
    if size > examples.n // 2:
        raise InputError(
            f"`size` must be at most half of the {examples.n:,} rows, on whose rest the models are "
            f"tested; got {size:,}."
        )
    pos_label = examples.pos_label
    request = Request.of(locals())
    learner = as_learner(model, examples.X, examples=size)
    seed = int(request.random_state or 0)

    def evaluations(at: int) -> tuple[Evaluation, Evaluation]:
        rows, units = drawing.rows(examples.n, examples.groups, [seed, at], replacement=False)
        evaluation = estimate(
            learner,
            rows_of(examples.X, rows),
            examples.y[rows],
            method=method,
            interval=interval,
            folds=folds,
            repeats=repeats,
            groups=units,
            pos_label=pos_label,
            level=level,
            measures=measures,
            random_state=seed,
            n_jobs=n_jobs,
        )
        rest = np.ones((1, examples.n), dtype=bool)
        rest[0, rows] = False
        votes = collect_votes(learner, examples, HeldOut(rest), seed=seed)
        votes.refuse_failures(allowed=False)
        # Groups matter to intervals only, and of these only the values are looked at.
        alone = replace(examples, groups=None)
        holdout = find_method("holdout", alone)
        return evaluation, VoteEstimates(alone, holdout, votes, request).evaluation()

    name = model if isinstance(model, str) else type(learner).__name__
    promised = _attainable(request.level, size, examples.n)
    note = Finding(
        f"Each sample has {size:,} of {examples.n:,} rows, drawn without replacement; the model "
        f"trained on it is tested on the other {examples.n - size:,}, which is why an interval "
        f"that keeps its promise covers {100 * promised:.1f} % here, not {100 * level:g} %.",
        code="without_replacement",
    )
    given = {"folds": folds, "repeats": repeats}
    settings = {
        "method": method,
        "interval": interval,
        **{name: value for name, value in given.items() if value is not None},
        "random_state": seed,
    }
    return _audit(
        drawing.run(evaluations),
        request.level,
        note,
        subject=name,
        size=size,
        n=examples.n,
        promised=promised,
        settings=settings,
    )


def _of_predictions(predictions: Predictions, request: Request, drawing: "_Drawing") -> Audit:
    whole = evaluate_coded(predictions, request)
    # A sample may lack a class: what is positive is settled by all the rows.
    request = replace(request, pos_label=request.pos_label or whole.pos_label)

    def evaluations(at: int) -> tuple[Evaluation, Evaluation]:
        seed = [int(request.random_state or 0), at]
        rows, units = drawing.rows(predictions.n, predictions.group, seed, replacement=True)
        sample = replace(predictions.taken(rows), group=units)
        return evaluate_coded(sample, replace(request, random_state=at)), whole

    groups = "" if predictions.group is None else " in whole groups"
    note = Finding(
        f"Each sample has {drawing.size:,} rows, drawn{groups} with replacement from "
        f"{predictions.n:,}: the value on all of them is what the intervals should contain.",
        code="with_replacement",
    )
    return _audit(
        drawing.run(evaluations),
        request.level,
        note,
        subject="predictions",
        size=drawing.size,
        n=predictions.n,
        promised=request.level,
        settings={"random_state": request.random_state},
    )


def _attainable(level: float, size: int, n: int) -> float:
    """Give how often a right interval covers a value that was measured on n − size rows.

    >>> round(_attainable(0.95, 200, 1000), 4)  # 2 Φ(1.96 / √1.25) − 1
    0.9204
    """
    normal = NormalDist()
    z = normal.inv_cdf((1 + level) / 2) / math.sqrt(1 + size / (n - size))
    return 2 * normal.cdf(z) - 1


@dataclass(frozen=True)
class _Drawing:
    """How many samples of which size, and for how long."""

    size: int
    samples: int
    seconds: float | None
    progress: Progress | None

    def __post_init__(self) -> None:
        check_whole_number(self.size, "size", low=2)
        check_whole_number(self.samples, "samples", low=MIN_SAMPLES)
        if self.seconds is not None:
            check_number(self.seconds, "seconds", low=0.0)

    def rows(
        self, n: int, groups: Any, seed: list[int], *, replacement: bool
    ) -> tuple[Indices, Indices | None]:
        """Draw the rows of one sample; with groups whole groups, numbered as they are drawn."""
        rng = np.random.default_rng(seed)
        if groups is None:
            return rng.choice(n, self.size, replace=replacement), None
        names, at = np.unique(groups, return_inverse=True)
        count = max(MIN_GROUPS, round(self.size * len(names) / n))
        order = np.argsort(at, kind="stable")
        members = np.split(order, np.cumsum(np.bincount(at))[:-1])
        drawn = [members[one] for one in rng.choice(len(names), count, replace=replacement)]
        return np.concatenate(drawn), np.repeat(np.arange(count), list(map(len, drawn)))

    def run(
        self, evaluations: Callable[[int], tuple[Evaluation, Evaluation]]
    ) -> Iterator[tuple[Evaluation, Evaluation] | None]:
        """Evaluate sample after sample; None stands for one that could not be evaluated."""
        began = time.monotonic()
        for at in range(self.samples):
            try:
                yield evaluations(at)
            except (InputError, RefitError) as problem:
                if at == 0:
                    raise type(problem)(f"A sample of {self.size} rows fails: {problem}") from None
                yield None
            took = time.monotonic() - began
            share = (at + 1) / self.samples
            if self.seconds is not None:
                share = max(share, min(1.0, took / max(self.seconds, 1e-9)))
            if self.progress is not None:
                self.progress(at + 1, int(STEPS * share), STEPS)
            if share >= 1.0 and at + 1 >= MIN_SAMPLES:
                return


def _keyed(evaluation: Evaluation) -> Iterator[tuple[Key, Estimate]]:
    for name, one in evaluation.items():
        yield (name, ""), one
    for label, each in evaluation.by_class.items():
        for name, one in each.items():
            yield (name, label), one


def _has_promise(one: Estimate) -> bool:
    return one.is_defined and one.interval is not None and one.interval.method != "undefined"


def _audit(
    pairs: Iterable[tuple[Evaluation, Evaluation] | None], level: float, note: str, **facts: Any
) -> Audit:
    """Count, by measure and class, how often the intervals of the samples covered."""
    drawn = failed = 0
    samples: dict[Key, list[tuple[Estimate, float]]] = defaultdict(list)
    for pair in pairs:
        drawn += 1
        if pair is None:
            failed += 1
            continue
        of_sample, whole = (dict(_keyed(one)) for one in pair)
        for key, value in whole.items():
            if key in of_sample and value.is_defined and _has_promise(of_sample[key]):
                samples[key].append((of_sample[key], value.value))
    by_class: dict[str, dict[str, AuditedInterval]] = {}
    for (measure, label), some in samples.items():
        one = _audited(some, measure=measure, label=label, level=level, drawn=drawn)
        by_class.setdefault(label, {})[measure] = one
    text = f"{failed:,} of {drawn:,} samples could not be evaluated."
    failures = [Finding(text, code="samples_failed")] if failed else []
    result = Audit(
        intervals=by_class.pop("", {}),
        by_class=by_class,
        drawn=drawn,
        failed=failed,
        level=level,
        notes=(note, *failures),
        **facts,
    )
    return replace(result, verdict=tuple(_verdict(result)))


def _audited(
    samples: list[tuple[Estimate, float]], *, measure: str, label: str, level: float, drawn: int
) -> AuditedInterval:
    """Count how often the estimates of a measure covered the values beside them, or their mean."""
    mean = math.fsum(value for _, value in samples) / len(samples)
    intervals = [
        (one.interval, value if one.target == "this model" else mean)
        for one, value in samples
        if one.interval is not None
    ]
    widths = [one.width for one, _ in intervals if math.isfinite(one.width)]
    return AuditedInterval(
        measure=measure,
        label=label,
        method=Counter(one.method for one, _ in intervals).most_common(1)[0][0],
        level=level,
        target=samples[0][0].target,
        value=mean,
        covered=sum(one.covers(value) for one, value in intervals),
        samples=len(intervals),
        undefined=drawn - len(intervals),
        width=math.fsum(widths) / len(widths) if widths else math.inf,
    )


def _covered(one: AuditedInterval) -> str:
    return (
        f"the {100 * one.level:g} % interval of {one.name} covered {100 * one.coverage:.1f} % of "
        f"{one.samples:,} samples (± {100 * one.error:.1f})"
    )


def _verdict(result: Audit) -> Iterator[Finding]:
    main = next((name for name in MAIN if name in result), next(iter(result), None))
    if main is not None:
        yield Finding(result.sentence(main), code="coverage")
    short = sorted(result.too_short, key=lambda one: one.coverage)
    for one in short[:MAX_NAMED]:
        yield Finding(f"Too short here: {_covered(one)}.", code="too_short")
    if len(short) > MAX_NAMED:
        text = f"Too short here as well: {len(short) - MAX_NAMED} more; the table has them."
        yield Finding(text, code="too_short")
    if not short:
        yield Finding(
            f"None of {len(result.all_intervals)} intervals covered less than "
            f"{100 * result.promised:.3g} % by more than chance explains.",
            code="promises_kept",
        )
