"""Which intervals a result uses, and what was measured of each: one function a kind of result."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from truerisk.intervals.measured_coverage import PERTURBATION, CoverageFigure, coverage_of
from truerisk.results import Estimate, Interval

# They promise nothing: one stands for no value, the other is all there is.
NO_PROMISE = {"undefined", "whole_range"}
REPEATED, ONCE, HELD_OUT, OWN = (
    "5 × 10 folds",
    "10 folds",
    "a third held out",
    "refits of its own",
)
EXACT = "clopper_pearson"
NEITHER = "not measured for this way of estimating"
BY_FOLDS = {"cautious_t", "corrected_t", "agreement"}  # tests on repeated cross-validation
DIFFERENCE, OF_HELD_OUT = "difference of ", "held out: "
PAIR = "typical difference"


@dataclass(frozen=True)
class Use:
    """One interval of a result: whose it is, and what was measured of its kind."""

    interval: Interval
    of: str
    measured: CoverageFigure | None
    unmeasured: str = "not measured"


def uses_of(result: Any, rivals: Iterable[Estimate] = ()) -> Iterator[Use]:  # noqa: ANN401
    """List the intervals of a result, each kind of interval and measure once.

    `rivals` are what other rules say of the same machine, beside a result by perturbation.
    """
    for kind in type(result).__mro__:
        if kind.__name__ in USES:
            told: set[tuple[str, float, str]] = set()
            for use in (*USES[kind.__name__](result), *_of_rivals(rivals)):
                key = (use.interval.method, use.interval.level, use.of)
                if use.interval.method not in NO_PROMISE and key not in told:
                    told.add(key)
                    yield use
            return


def _of_predictions(evaluation: Any) -> Iterator[Use]:  # noqa: ANN401
    weighted = is_weighted(evaluation)
    for interval, estimate in _intervals(_estimates(evaluation)):
        found = None
        if not weighted:
            found = coverage_of(interval.method, estimate.measure, level=interval.level)
        yield Use(interval, estimate.measure, found, _why_not(interval.method, weighted=weighted))


def _of_learner(evaluation: Any) -> Iterator[Use]:  # noqa: ANN401
    yield from _by_refits(_estimates(evaluation), _design(evaluation.settings))


def _by_refits(estimates: Iterable[Estimate], design: str) -> Iterator[Use]:
    for interval, estimate in _intervals(estimates):
        found = None
        if design:
            found = coverage_of(
                interval.method,
                estimate.measure,
                page="coverage-of-learners",
                design=design,
                target=estimate.target,
                level=interval.level,
            )
        yield Use(interval, estimate.measure, found, _why_not(interval.method, design=design))


def _design(settings: Mapping[str, Any]) -> str:
    """Say which of the measured ways of refitting these settings are nearest to, if any."""
    method = settings.get("method")
    if method == "cross_validation":
        return REPEATED if settings.get("repeats", 1) > 1 else ONCE
    named = {"holdout": HELD_OUT, "nested_cross_validation": OWN, "conservative_z": OWN}
    return named.get(str(method), "")


def _not_measured(evaluation: Any) -> Iterator[Use]:  # noqa: ANN401
    for interval, estimate in _intervals(_estimates(evaluation)):
        yield Use(interval, estimate.measure, None, NEITHER)


def _of_selection(found: Any) -> Iterator[Use]:  # noqa: ANN401
    for interval, estimate in _intervals([found.estimate, found.corrected]):
        yield Use(interval, estimate.measure, None, NEITHER)


def _side_by_side(found: Any) -> Iterator[Use]:  # noqa: ANN401
    for estimate in found.estimates:
        by_folds = estimate.method == "cross_validation" and estimate.interval is not None
        if by_folds and estimate.interval.method.startswith("agreement"):  # of repetitions
            yield from _by_refits([estimate], REPEATED)
        else:
            for interval, one in _intervals([estimate]):
                yield Use(interval, one.measure, None, NEITHER)


def _of_corpus(evaluation: Any) -> Iterator[Use]:  # noqa: ANN401
    yield from _not_measured(evaluation)
    if evaluation.holdout is not None:
        for use in _of_predictions(evaluation.holdout):
            yield replace(use, of=f"{OF_HELD_OUT}{use.of}")


def _of_perturbed(found: Any) -> Iterator[Use]:  # noqa: ANN401
    if found.interval is not None:
        grouped = found.forms["exact"].method != EXACT
        reason = "not measured with groups" if grouped else "not measured"
        losses = f"{found.losses.replace('_', '-')} losses"
        for interval in (found.interval, *found.forms.values()):
            design = "5 folds pooled" if interval.method == EXACT else losses
            measured = None if grouped else _of_svms(interval, found.measure, design)
            yield Use(interval, found.measure, measured, reason)


def _of_rivals(rivals: Iterable[Estimate]) -> Iterator[Use]:
    for interval, estimate in _intervals(rivals):
        measured = _of_svms(interval, estimate.measure, "5 × 5 folds")
        yield Use(interval, estimate.measure, measured)


def _of_svms(interval: Interval, measure: str, design: str) -> CoverageFigure | None:
    """Look up what was measured of an interval where it is about SVMs."""
    return coverage_of(
        interval.method, measure, page=PERTURBATION, design=design, level=interval.level
    )


def _of_comparisons(result: Any) -> Iterator[Use]:  # noqa: ANN401
    weighted = any(map(is_weighted, result.evaluations.values()))
    for one in result.pairs:
        yield from _difference(one, weighted=weighted)
    for evaluation in result.evaluations.values():
        yield from _of_predictions(evaluation)


def _of_comparison(one: Any) -> Iterator[Use]:  # noqa: ANN401
    yield from _difference(one)
    design = REPEATED if one.method in BY_FOLDS else ""
    for estimate in (one.first, one.second):
        if type(estimate).__name__ in USES:
            yield from uses_of(estimate)
        else:
            yield from _by_refits([estimate], design)


def _difference(one: Any, *, weighted: bool = False) -> Iterator[Use]:  # noqa: ANN401
    for interval, estimate in _intervals([one.difference]):
        found = None
        if not weighted:
            found = coverage_of(
                interval.method,
                estimate.measure,
                page="size-of-tests",
                target=estimate.target,
                level=interval.level,
            )
        reason = _why_not(interval.method, weighted=weighted)
        yield Use(interval, f"{DIFFERENCE}{estimate.measure}", found, reason)


def _of_several(results: Mapping[str, Any]) -> Iterator[Use]:
    for one in results.values():
        yield from uses_of(one)


def _of_best(result: Any) -> Iterator[Use]:  # noqa: ANN401
    yield from _of_several(result.evaluations)
    for interval, estimate in _intervals([result.corrected]):
        yield Use(interval, estimate.measure, None)


def _of_curve(curve: Any) -> Iterator[Use]:  # noqa: ANN401
    for learner in curve.values():
        for point in learner.points:
            if point.interval is not None:
                reason = "not measured on random divisions"
                yield Use(point.interval, curve.measure, None, reason)


def _over_data_sets(found: Any) -> Iterator[Use]:  # noqa: ANN401
    for pair in found.pairs:
        if pair.interval is not None:
            asked = {"page": "size-of-tests", "level": pair.interval.level}
            yield Use(pair.interval, PAIR, coverage_of(pair.interval.method, "", **asked))


# By the name of the type, so that nothing is loaded for it.
USES: dict[str, Callable[[Any], Iterable[Use]]] = {
    "Evaluation": _of_predictions,
    "LearnerEvaluation": _of_learner,
    "XiAlpha": _not_measured,
    "LeaveOneOut": _not_measured,
    "CorpusEvaluation": _of_corpus,
    "Perturbed": _of_perturbed,
    "Comparisons": _of_comparisons,
    "Comparison": _of_comparison,
    "ModelComparisons": _of_several,
    "BestOf": _of_best,
    "Selection": _of_selection,
    "SideBySide": _side_by_side,
    "LearningCurve": _of_curve,
    "OverDatasets": _over_data_sets,
}


def is_weighted(evaluation: Any) -> bool:  # noqa: ANN401
    """Whether examples count unequally, as far as the evaluation tells.

    Examples
    --------
    >>> from truerisk import evaluate
    >>> is_weighted(evaluate([0, 1], [0, 1], sample_weight=[1, 2]))
    True
    """
    sweep = evaluation.curves.get("thresholds")
    if sweep is not None and sweep.tp.dtype.kind == "f":  # counts are whole numbers
        return True
    named = "weight" in evaluation.source.get("roles", {})
    return named or bool(getattr(evaluation.tallies, "weighted", False))


def _estimates(evaluation: Any) -> Iterator[Estimate]:  # noqa: ANN401
    yield from evaluation.values()
    for estimates in evaluation.by_class.values():
        yield from estimates.values()


def _intervals(estimates: Iterable[Estimate]) -> Iterator[tuple[Interval, Estimate]]:
    for estimate in estimates:
        if estimate.interval is not None:
            yield estimate.interval, estimate


def _why_not(method: str, *, weighted: bool = False, design: str | None = None) -> str:
    if weighted:
        return "not measured with weights"
    if "cluster" in method:
        return "not measured with groups"
    return "not measured for these refits" if design == "" else "not measured"
