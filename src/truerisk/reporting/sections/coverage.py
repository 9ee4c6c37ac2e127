"""Does each interval keep its promise: what was measured of those that a result uses."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from truerisk.intervals.measured_coverage import LEARNER, PERTURBATION, CoverageFigure, coverage_of
from truerisk.reporting.document import Table, heads
from truerisk.reporting.presenter import Use, presenter_of
from truerisk.reporting.wording import MAX_NAMED, NO_INTERVAL, count, percent, spoken, title_of
from truerisk.results import Estimate, Interval

ELSEWHERE = "at "  # begins where something was measured, if at another level than promised
SAMPLES = {
    "coverage": "populations of two to four classes",
    "coverage-of-learners": "problems whose truth is known",
    "coverage-of-perturbation": "problems whose truth is known",
    "size-of-tests": "two equally good models: how often it contains 0",
}
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
DIFFERENCE, OF_HELD_OUT = "difference of ", "held out: "


def promise_table(result: Any, rivals: Iterable[Estimate] = ()) -> Table | None:  # noqa: ANN401
    """Give a row for each kind of interval in a result; None where there is none.

    `rivals` are estimates by other rules that are shown beside it.
    """
    groups: dict[tuple[Any, ...], list[Use]] = {}
    for use in uses_of(result, rivals):
        match = use.measured
        where = use.unmeasured if match is None else _where(match, use.interval.level)
        key = (use.interval.method, use.interval.level, match is None, where)
        groups.setdefault(key, []).append(use)
    if not groups:
        return None
    columns = heads(
        "Interval", "Of", "#Promised", "#Covered on average", "#At least", "Measured on"
    )
    rows = [
        (spoken(key[0]), _of(uses), percent(key[1]), *_shares(uses), key[3])
        for key, uses in groups.items()
    ]
    return Table("Does each interval keep its promise?", columns, tuple(rows))


def _of(uses: list[Use]) -> str:
    names = [_title(use.of) for use in uses]
    if len(names) <= MAX_NAMED:
        return "; ".join(names)
    return f"{'; '.join(names[: MAX_NAMED - 1])}; … ({len(names)} in all)"


def _title(of: str) -> str:
    for prefix in (DIFFERENCE, OF_HELD_OUT):
        if of.startswith(prefix):
            return f"{prefix}{title_of(of.removeprefix(prefix))}"
    return title_of(of)


def _shares(uses: list[Use]) -> tuple[str, str]:
    """Write the mean, and the least with whose it is."""
    defined = {use.of: use.measured for use in uses if use.measured is not None}
    if not defined:
        return NO_INTERVAL, NO_INTERVAL
    mean = sum(result.mean for result in defined.values()) / len(defined)
    worst = min(defined, key=lambda of: defined[of].least)
    differ = len({result.least for result in defined.values()}) > 1
    least = f"{100 * defined[worst].least:.1f} %"
    return f"{100 * mean:.1f} %", f"{least} ({_title(worst)})" if differ else least


def _where(result: CoverageFigure, level: float) -> str:
    sizes = count(result.smallest)
    if result.largest > result.smallest:
        sizes = f"{sizes} to {count(result.largest)}"
    if result.is_exact:
        words = f"every outcome, none left out; n = {sizes}"
    else:
        words = f"{SAMPLES[result.page]}; n = {sizes}, {count(result.samples)} samples each"
    refits = f"; {result.design}" if result.design else ""
    about = "; the learner's value" if result.target == LEARNER else ""
    at = f"{ELSEWHERE}{percent(result.level)}, not {percent(level)}: "
    text = "" if result.level == level else at
    return f"{text}{words}{refits}{about} (docs/{result.page}.md)"


def uses_of(result: Any, rivals: Iterable[Estimate] = ()) -> Iterator[Use]:  # noqa: ANN401
    """List the intervals of a result, each kind of interval and measure once.

    `rivals` are what other rules say of the same SVM, beside a result by perturbation.
    """
    seen: set[tuple[str, float, str]] = set()
    for use in (*presenter_of(result).intervals(result), *rival_uses(rivals)):
        key = (use.interval.method, use.interval.level, use.of)
        if use.interval.method not in NO_PROMISE and key not in seen:
            seen.add(key)
            yield use


def prediction_uses(evaluation: Any) -> Iterator[Use]:  # noqa: ANN401
    """Look up what was measured of intervals of predictions."""
    weighted = is_weighted(evaluation)
    for interval, estimate in with_intervals(all_estimates(evaluation)):
        result = None
        if not weighted:
            result = coverage_of(interval.method, estimate.measure, level=interval.level)
        yield Use(interval, estimate.measure, result, _why_not(interval.method, weighted=weighted))


def refit_uses(estimates: Iterable[Estimate], design: str) -> Iterator[Use]:
    """Look up what was measured of intervals by refits of a design."""
    for interval, estimate in with_intervals(estimates):
        result = None
        if design:
            result = coverage_of(
                interval.method,
                estimate.measure,
                page="coverage-of-learners",
                design=design,
                target=estimate.target,
                level=interval.level,
            )
        yield Use(interval, estimate.measure, result, _why_not(interval.method, design=design))


def design_of(settings: Mapping[str, Any]) -> str:
    """Say which of the measured ways of refitting these settings are nearest to, if any."""
    method = settings.get("method")
    if method == "cross_validation":
        return REPEATED if settings.get("repeats", 1) > 1 else ONCE
    named = {"holdout": HELD_OUT, "nested_cross_validation": OWN, "conservative_z": OWN}
    return named.get(str(method), "")


def unmeasured_uses(evaluation: Any) -> Iterator[Use]:  # noqa: ANN401
    """List intervals of estimates that nothing was measured of."""
    for interval, estimate in with_intervals(all_estimates(evaluation)):
        yield Use(interval, estimate.measure, None, NEITHER)


def rival_uses(rivals: Iterable[Estimate]) -> Iterator[Use]:
    """Look up what was measured of the rules beside a perturbation."""
    for interval, estimate in with_intervals(rivals):
        # Rules were measured under their own names, not under those of their intervals.
        named = replace(interval, method=estimate.method)
        measured = svm_coverage(named, estimate.measure, "5 × 5 folds")
        yield Use(interval, estimate.measure, measured)


def svm_coverage(interval: Interval, measure: str, design: str) -> CoverageFigure | None:
    """Look up what was measured of an interval where it is about SVMs."""
    return coverage_of(
        interval.method, measure, page=PERTURBATION, design=design, level=interval.level
    )


def difference_uses(one: Any, *, weighted: bool = False) -> Iterator[Use]:  # noqa: ANN401
    """Look up what was measured of the interval of a difference."""
    for interval, estimate in with_intervals([one.difference]):
        result = None
        if not weighted:
            result = coverage_of(
                interval.method,
                estimate.measure,
                page="size-of-tests",
                target=estimate.target,
                level=interval.level,
            )
        reason = _why_not(interval.method, weighted=weighted)
        yield Use(interval, f"{DIFFERENCE}{estimate.measure}", result, reason)


def is_weighted(evaluation: Any) -> bool:  # noqa: ANN401
    """Whether examples count unequally, as far as the evaluation tells."""
    sweep = evaluation.curves.get("thresholds")
    if sweep is not None and sweep.tp.dtype.kind == "f":  # counts are whole numbers
        return True
    named = "weight" in evaluation.source.get("roles", {})
    return named or bool(getattr(evaluation.tallies, "weighted", False))


def all_estimates(evaluation: Any) -> Iterator[Estimate]:  # noqa: ANN401
    """Give the estimates of all measures, then those of single classes."""
    yield from evaluation.values()
    for estimates in evaluation.by_class.values():
        yield from estimates.values()


def with_intervals(estimates: Iterable[Estimate]) -> Iterator[tuple[Interval, Estimate]]:
    """Give the estimates that have an interval, with it."""
    for estimate in estimates:
        if estimate.interval is not None:
            yield estimate.interval, estimate


def _why_not(method: str, *, weighted: bool = False, design: str | None = None) -> str:
    if weighted:
        return "not measured with weights"
    if "cluster" in method:
        return "not measured with groups"
    return "not measured for these refits" if design == "" else "not measured"
