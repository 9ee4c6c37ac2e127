"""SVMs without a test set: ξα, exact leave-one-out, and every estimate side by side."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from truerisk.estimation.svm.leave_one_out import LeaveOneOut
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.estimation.svm.xi_alpha import XiAlpha
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use, by_rules
from truerisk.reporting.results import evaluation as predictions
from truerisk.reporting.sections.coverage import (
    NEITHER,
    REPEATED,
    look_up,
    refit_uses,
    svm_uses,
    with_intervals,
)
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
from truerisk.results import Estimate, number

LEFT_OUT = "leave_one_out"
HEADLINES = (LEFT_OUT, "span_rule", "xi_alpha_2")
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


def leave_one_out_chapter(result: LeaveOneOut) -> doc.Chapter:
    """Give all that a page says of leave-one-out predictions."""
    chapter = predictions.evaluation_chapter(result)
    return replace(
        chapter,
        title="How good will this learner be?",
        subtitle=f"leave-one-out, exact · {chapter.subtitle}",
    )


def _left_out_facts(evaluation: Any) -> doc.Facts:
    yield from predictions.evaluation_facts(evaluation)
    yield (
        "called wrong by the model trained without them",
        counted(len(evaluation.errors), "example"),
    )
    yield (
        "margin exactly 0, so that the call is arbitrary",
        counted(len(evaluation.ties), "example"),
    )
    yield "refits; the other calls follow from the training on all", count(evaluation.refits)


def between_settings(evaluation: Any) -> Iterator[str]:
    """Send on to the choice among settings."""
    yield (
        f"Choose C and kernel by the same {count(evaluation.n)} examples, with no test set spent: "
        "`tr.select`."
    )


LEAVE_ONE_OUT = replace(
    predictions.EVALUATION,
    chapter=leave_one_out_chapter,
    facts=_left_out_facts,
    next_steps=by_rules(
        (
            predictions.no_better_than_a_constant,
            predictions.one_pair_of_classes,
            predictions.classes_with_few_examples,
        ),
        between_settings,
    ),
    intervals=svm_uses,
)


def xi_alpha_chapter(result: XiAlpha) -> doc.Chapter:
    """Give all that a page says of the ξα-estimates of an SVM."""
    chapter = predictions.evaluation_chapter(result)
    by = {"span": "the span", "search": f"a search of depth {result.settings.get('depth')}"}
    refine = result.settings.get("refine")
    refined = f", refined by {by[refine]}" if refine else ""
    rho = f", ρ = {result.settings['rho']:g}" if "rho" in result.settings else ""
    head, *rest = chapter.sections
    return replace(
        chapter,
        title="How well will this SVM do, by its training alone?",
        subtitle=f"ξα-estimate{rho}{refined}, no refit · {chapter.subtitle}",
        verdict=(*doc.sentences(_at_risk(result)), *chapter.verdict),
        sections=(head, _at_every_rho(result), *rest),
        notes=doc.sentences(predictions.remarks(result)),
    )


def _at_risk(result: XiAlpha) -> Iterator[str]:
    """Say how many examples, or decisions about them, count as wrong."""
    at_risk, problems = sum(map(len, result.at_risk)), len(result.at_risk)
    of = "training examples" if problems == 1 else "decisions about the training examples"
    yield (
        f"{count(at_risk)} of {count(problems * result.n)} {of} are at risk: trained without the "
        "example, the SVM might call it wrong."
    )


def _at_every_rho(result: XiAlpha) -> doc.Section:
    columns = doc.heads(
        "Measure", *(doc.Column(f"ρ = {rho:g}", numeric=True) for rho in result.at_rho)
    )
    rows = tuple(
        (title_of(name), *(with_interval(at[name]) for at in result.at_rho.values()))
        for name in result
    )
    return doc.table_section(
        doc.Table("At every ρ", columns, rows),
        "At ρ = 2 no error of leave-one-out is missed, as long as the SVM is stable; a smaller "
        "ρ leans less to the pessimistic side. Never refined.",
    )


def _xi_alpha_steps(evaluation: Any) -> Iterator[str]:
    """Say what to do about an estimate that leans to the pessimistic side."""
    error = evaluation.get("error_rate")
    if error is not None and error.is_defined and error.value > 0:
        risky = sum(map(len, evaluation.at_risk))
        yield (
            f"Leave out the {count(risky)} examples at risk in earnest, if {number(error.value)} "
            "is too pessimistic to decide by: `tr.leave_one_out`."
        )
    yield from between_settings(evaluation)


XI_ALPHA = replace(
    predictions.EVALUATION, chapter=xi_alpha_chapter, next_steps=_xi_alpha_steps, intervals=svm_uses
)


def side_by_side_chapter(result: SideBySide) -> doc.Chapter:
    """Give all that a page says of estimates side by side."""
    first = result.estimates[0]
    refits = [_method_title(one) for one in result.estimates if one.method in BY_REFITS]
    beside = f"beside {', '.join(refits).lower()}" if refits else "no fold"
    subtitle = [counted(first.n, "example"), f"one training, {beside}"]
    level, once = _level(result), cost_words("cpu_seconds", result.training_seconds)
    notes = doc.each_once(
        (_method_title(one), note) for one in result.estimates for note in one.notes
    )
    if level is not None:
        subtitle.append(interval_subtitle(level, result.estimates))
    return doc.Chapter(
        title="What is this SVM worth, with no test set?",
        subtitle=" · ".join(subtitle),
        verdict=doc.sentences(_verdict(result)),
        tiles=tuple(
            doc.Tile.of(_method_title(one), one, _leaning(one))
            for name in HEADLINES
            for one in result.estimates
            if one.method == name
        ),
        sections=(
            doc.estimate_forest(
                f"{title_of(first.measure)}, in every way there is",
                "Method",
                [doc.Entry(_method_title(one), one, _leaning(one)) for one in result.estimates],
            ),
            doc.table_section(
                cost_table(result),
                f"The SVM was trained once in {once}; each took so much longer.",
            ),
        ),
        notes=doc.sentences(f"{'; '.join(titles)}: {note}" for note, titles in notes.items()),
    )


def _method_title(one: Estimate) -> str:
    return METHODS[one.method][0] if one.method in METHODS else visible(spoken(one.method))


def _leaning(one: Estimate) -> str:
    return METHODS.get(one.method, ("", ""))[1]


def _level(result: SideBySide) -> float | None:
    return next((one.interval.level for one in result.estimates if one.interval is not None), None)


def _verdict(result: SideBySide) -> Iterator[str]:
    by_method = {one.method: one for one in result.estimates}
    exact = by_method.get(LEFT_OUT)
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
        ends = quick.interval
        sure = "" if ends is None else f" with {percent(ends.level)} confidence"
        yield (
            f"By one training alone, at most {written(quick).value} of the examples could be "
            f"called wrong so (ξα, ρ = 2): an error rate of {written(quick).interval}{sure}."
        )


def cost_table(result: SideBySide) -> doc.Table:
    """Give one row per estimate: its value, its interval, and the time it took."""
    heading = interval_heading(_level(result) or 0.95, result.estimates)
    numbers = (title_of(result.estimates[0].measure), heading)
    columns = doc.heads("Method", *doc.number_columns((*numbers, "Further time")), "Leans")
    rows = tuple(
        (_method_title(one), *written(one), cost_words("cpu_seconds", took), _leaning(one))
        for one, took in zip(result.estimates, result.seconds, strict=True)
    )
    return doc.Table("What each of them costs", columns, rows)


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
                yield look_up(interval, one.measure, NEITHER, when=one.method in PROVEN)


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


SIDE_BY_SIDE = Presenter(
    chapter=side_by_side_chapter,
    tables=lambda result: [cost_table(result)],
    facts=_facts,
    next_steps=_next_steps,
    intervals=_uses,
    pictures=lambda result: [("estimates", doc.forest_of(result.estimates))],
)
