"""SideBySide: every estimate that needs no resampling on one axis, and its price."""

from collections.abc import Iterator
from typing import Any

from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.intervals.measured_coverage import coverage_of
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.leave_one_out import between_settings
from truerisk.reporting.sections.coverage import NEITHER, REPEATED, refit_uses, with_intervals
from truerisk.reporting.sections.provenance import targets_of
from truerisk.reporting.wording import (
    cost_words,
    count,
    counted,
    interval_heading,
    interval_subtitle,
    percent,
    spoken,
    with_interval,
    written,
)
from truerisk.results import Estimate

EXACT = "leave_one_out"
HEADLINES = (EXACT, "span_rule", "xi_alpha_2")
# What each is called, and to which side it leans.
METHODS = {
    "training_error": ("Training error", "leans to the good side, far"),
    "xi_alpha_1": ("ξα, ρ = 1", "leans to the bad side"),
    "xi_alpha_2": ("ξα, ρ = 2", "leans to the bad side, proven"),
    "span_bound": ("Span bound", "leans to the bad side, far; a bound on average"),
    "span_rule": ("Span rule", "hardly leans; approximate"),
    "leave_one_out": ("Leave-one-out, exact", "does not lean"),
    "sample_compression": (
        "Sample compression",
        "support vectors left out; the bound is proven",
    ),
    "vc_bound": ("VC bound", "as the training error; the bound is proven"),
    "holdout_bound": ("A third held out", "leans to the bad side, a little; the bound is exact"),
    "cross_validation": ("Cross-validation", "leans to the bad side, a little"),
}
BY_REFITS = {"cross_validation"}
PROVEN = {"sample_compression", "vc_bound", "holdout_bound"}
BOUNDS = {"xi_alpha_1": "ρ = 1", "xi_alpha_2": "ρ = 2", "span_rule": "span"}  # as measured


def side_by_side_chapter(result: SideBySide) -> doc.Chapter:
    """Give all that a page says of estimates side by side."""
    first = result.estimates[0]
    refits = [_title(one) for one in result.estimates if one.method in BY_REFITS]
    beside = f"beside {', '.join(refits).lower()}" if refits else "no fold"
    subtitle = [counted(first.n, "example"), f"one training, {beside}"]
    level = _level(result)
    if level is not None:
        subtitle.append(interval_subtitle(level, result.estimates))
    return doc.Chapter(
        title="What is this SVM worth, with no test set?",
        subtitle=" · ".join(subtitle),
        verdict=doc.sentences(_verdict(result)),
        tiles=tuple(
            doc.Tile.of(_title(one), one, _leaning(one))
            for name in HEADLINES
            for one in result.estimates
            if one.method == name
        ),
        sections=(
            doc.estimate_forest(
                f"{title_of(first.measure)}, in every way there is",
                "Method",
                [doc.Entry(_title(one), one, _leaning(one)) for one in result.estimates],
            ),
            _costs(result),
        ),
        notes=doc.sentences(_notes(result)),
    )


def _title(one: Estimate) -> str:
    return METHODS[one.method][0] if one.method in METHODS else visible(spoken(one.method))


def _leaning(one: Estimate) -> str:
    return METHODS.get(one.method, ("", ""))[1]


def _level(result: SideBySide) -> float | None:
    return next((one.interval.level for one in result.estimates if one.interval is not None), None)


def _verdict(result: SideBySide) -> Iterator[str]:
    by_method = {one.method: one for one in result.estimates}
    exact = by_method.get(EXACT)
    if exact is not None:
        words = written(exact)
        yield (
            f"Trained without each example in turn, the SVM calls {words.value} "
            f"{words.interval} of them wrong; that number is exact, and does not lean."
        )
    training = by_method.get("training_error")
    if training is not None:
        yield (
            f"On the examples it was trained on it errs in {written(training).value}: no estimate "
            "of what it will do on others."
        )
    quick = by_method.get("xi_alpha_2")
    if quick is not None:
        yield (
            f"By one training alone, at most {written(quick).value} of the examples could be "
            f"called wrong so (ξα, ρ = 2): an error rate of {_bound(quick)}."
        )


def _bound(one: Estimate) -> str:
    """Say the bound of an estimate, and how sure it is."""
    ends = "" if one.interval is None else f" with {percent(one.interval.level)} confidence"
    return f"{written(one).interval}{ends}"


def cost_table(result: SideBySide) -> doc.Table:
    """Give one row per estimate: its value, its interval, and the time it took."""
    heading = interval_heading(_level(result) or 0.95, result.estimates)
    numbers = (title_of(result.estimates[0].measure), heading)
    columns = doc.heads("Method", *doc.number_columns((*numbers, "Further time")), "Leans")
    rows = []
    for one, took in zip(result.estimates, result.seconds, strict=True):
        words = written(one)
        time = cost_words("cpu_seconds", took)
        rows.append((_title(one), words.value, words.interval, time, _leaning(one)))
    return doc.Table("What each of them costs", columns, tuple(rows))


def _costs(result: SideBySide) -> doc.Section:
    once = cost_words("cpu_seconds", result.training_seconds)
    lead = f"The SVM was trained once in {once}; each took so much longer."
    return doc.table_section(cost_table(result), lead)


def _notes(result: SideBySide) -> Iterator[str]:
    """Give each note once, with the estimates that it is about."""
    notes = doc.each_once((_title(one), note) for one in result.estimates for note in one.notes)
    return (f"{'; '.join(titles)}: {note}" for note, titles in notes.items())


def _facts(result: Any) -> doc.Facts:
    yield "ways of estimating", ", ".join(spoken(one.method) for one in result.estimates)
    for one in result.estimates[:1]:
        yield "measure", title_of(one.measure)
        yield "examples", count(one.n)
    yield "trained once in", cost_words("cpu_seconds", result.training_seconds)
    yield "the numbers are about", targets_of(result.estimates)


def _uses(result: Any) -> Iterator[Use]:
    for estimate in result.estimates:
        if estimate.method == "cross_validation":
            yield from refit_uses([estimate], REPEATED)
        elif estimate.method in BOUNDS:
            yield from refit_uses([estimate], BOUNDS[estimate.method])
        else:
            for interval, one in with_intervals([estimate]):
                measured = None
                if one.method in PROVEN:
                    measured = coverage_of(interval.method, one.measure, level=interval.level)
                yield Use(interval, one.measure, measured, NEITHER)


def _next_steps(result: Any) -> Iterator[str]:
    """Say which of the estimates to go by, and what else they are good for."""
    by_method = {one.method: one for one in result.estimates}
    exact = by_method.get("leave_one_out")
    if exact is not None and exact.is_defined:
        yield (
            f"Go by exact leave-one-out, {with_interval(exact)}: it leans to no side; the others "
            "are for data on which it takes too long: `tr.leave_one_out`."
        )
    for one in result.estimates[:1]:
        yield from between_settings(one)


PRESENTER = Presenter(
    chapter=side_by_side_chapter,
    tables=lambda result: [cost_table(result)],
    facts=_facts,
    next_steps=_next_steps,
    intervals=_uses,
    pictures=lambda result: [("estimates", doc.forest_of(result.estimates))],
)
