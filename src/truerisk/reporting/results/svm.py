"""SVMs without a test set: ξα, exact leave-one-out, every estimate side by side, and a choice.

The choice among settings is drawn as the estimate over C, with the chosen one marked.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any

import numpy as np

from truerisk.estimation.svm.selection import Candidate, Selection, setting_text
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.estimation.svm.xi_alpha import XiAlpha
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use, by_rules
from truerisk.reporting.results import evaluation as predictions
from truerisk.reporting.results.corpus_evaluation import METHOD_TITLES
from truerisk.reporting.results.estimate import EstimatePresenter
from truerisk.reporting.sections.coverage import (
    NEITHER,
    REPEATED,
    look_up,
    refit_uses,
    svm_uses,
    uses_by,
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
    plain_text,
    spoken,
    with_interval,
    written,
)
from truerisk.results import Estimate, as_plain, number

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
COST = "C"
MAX_LINES = 5  # settings drawn, an ink each; the table has them all
MAX_ROWS = 500
BOUNDS = {"xi_alpha_1": "ρ = 1", "xi_alpha_2": "ρ = 2", "span_rule": "span"}  # as measured


LEFT_OUT_RULES = (
    predictions.no_better_than_a_constant,
    predictions.one_pair_of_classes,
    predictions.classes_with_few_examples,
)


class LeaveOneOutPresenter(predictions.EvaluationPresenter):
    """Predictions of SVMs trained without each example in turn."""

    question = "How good will this learner be?"

    def subtitle(self, result: Any) -> Iterator[str]:
        yield "leave-one-out, exact"
        yield from super().subtitle(result)

    def facts(self, evaluation: Any) -> doc.Facts:
        yield from super().facts(evaluation)
        yield (
            "called wrong by the model trained without them",
            counted(len(evaluation.errors), "example"),
        )
        yield (
            "margin exactly 0, so that the call is arbitrary",
            counted(len(evaluation.ties), "example"),
        )
        yield "refits; the other calls follow from the training on all", count(evaluation.refits)

    def next_steps(self, evaluation: Any) -> Iterable[str]:
        return by_rules(LEFT_OUT_RULES, between_settings)(evaluation)

    def intervals(self, evaluation: Any) -> Iterator[Use]:
        return svm_uses(evaluation)


def between_settings(evaluation: Any) -> Iterator[str]:
    """Send on to the choice among settings."""
    yield (
        f"Choose C and kernel by the same {count(evaluation.n)} examples, with no test set spent: "
        "`tr.select`."
    )


class XiAlphaPresenter(predictions.EvaluationPresenter):
    """ξα-estimates, at every ρ."""

    question = "How well will this SVM do, by its training alone?"

    def subtitle(self, result: Any) -> Iterator[str]:
        by = {"span": "the span", "search": f"a search of depth {result.settings.get('depth')}"}
        refine = result.settings.get("refine")
        refined = f", refined by {by[refine]}" if refine else ""
        rho = f", ρ = {result.settings['rho']:g}" if "rho" in result.settings else ""
        yield f"ξα-estimate{rho}{refined}, no refit"
        yield from super().subtitle(result)

    def verdict(self, result: Any) -> Iterator[str]:
        """Say first how many examples, or decisions about them, count as wrong."""
        at_risk, problems = sum(map(len, result.at_risk)), len(result.at_risk)
        of = "training examples" if problems == 1 else "decisions about the training examples"
        yield (
            f"{count(at_risk)} of {count(problems * result.n)} {of} are at risk: trained without "
            "the example, the SVM might call it wrong."
        )
        yield from result.verdict

    def sections(self, result: Any) -> Iterator[doc.Section]:
        head, *rest = super().sections(result)
        yield from (head, _at_every_rho(result), *rest)

    def next_steps(self, evaluation: Any) -> Iterator[str]:
        """Say what to do about an estimate that leans to the pessimistic side."""
        error = evaluation.get("error_rate")
        if error is not None and error.is_defined and error.value > 0:
            risky = sum(map(len, evaluation.at_risk))
            yield (
                f"Leave out the {count(risky)} examples at risk in earnest, if "
                f"{number(error.value)} is too pessimistic to decide by: `tr.leave_one_out`."
            )
        yield from between_settings(evaluation)

    def intervals(self, evaluation: Any) -> Iterator[Use]:
        return svm_uses(evaluation)


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


class SideBySidePresenter(Presenter):
    """Every estimate of one SVM, and what each costs."""

    question = "What is this SVM worth, with no test set?"

    def subtitle(self, result: SideBySide) -> Iterator[str]:
        refits = [_method_title(one) for one in result.estimates if one.method in BY_REFITS]
        beside = f"beside {', '.join(refits).lower()}" if refits else "no fold"
        yield counted(result.estimates[0].n, "example")
        yield f"one training, {beside}"
        level = _level(result)
        if level is not None:
            yield interval_subtitle(level, result.estimates)

    def verdict(self, result: SideBySide) -> Iterator[str]:
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
                f"On the examples it was trained on it errs in {written(training).value}: no "
                "estimate of what it will do on others."
            )
        quick = by_method.get("xi_alpha_2")
        if quick is not None:
            ends = quick.interval
            sure = "" if ends is None else f" with {percent(ends.level)} confidence"
            yield (
                f"By one training alone, at most {written(quick).value} of the examples could be "
                f"called wrong so (ξα, ρ = 2): an error rate of {written(quick).interval}{sure}."
            )

    def tiles(self, result: SideBySide) -> Iterator[doc.Tile]:
        for name in HEADLINES:
            for one in result.estimates:
                if one.method == name:
                    yield doc.Tile.of(_method_title(one), one, _leaning(one))

    def sections(self, result: SideBySide) -> Iterator[doc.Section]:
        yield doc.estimate_forest(
            f"{title_of(result.estimates[0].measure)}, in every way there is",
            "Method",
            [doc.Entry(_method_title(one), one, _leaning(one)) for one in result.estimates],
        )
        once = cost_words("cpu_seconds", result.training_seconds)
        yield doc.table_section(
            cost_table(result), f"The SVM was trained once in {once}; each took so much longer."
        )

    def notes(self, result: SideBySide) -> Iterator[str]:
        notes = doc.each_once(
            (_method_title(one), note) for one in result.estimates for note in one.notes
        )
        return (f"{'; '.join(titles)}: {note}" for note, titles in notes.items())

    def tables(self, result: SideBySide) -> list[doc.Table]:
        return [cost_table(result)]

    def facts(self, result: Any) -> doc.Facts:
        yield "ways of estimating", ", ".join(spoken(one.method) for one in result.estimates)
        for one in result.estimates[:1]:
            yield "measure", title_of(one.measure)
            yield "examples", count(one.n)
        yield "trained once in", cost_words("cpu_seconds", result.training_seconds)
        yield "the numbers are about", targets_of(result.estimates)

    def next_steps(self, result: Any) -> Iterator[str]:
        """Say which of the estimates to go by, and what else they are good for."""
        by_method = {one.method: one for one in result.estimates}
        exact = by_method.get("leave_one_out")
        if exact is not None and exact.is_defined:
            yield (
                f"Go by exact leave-one-out, {with_interval(exact)}: it leans to no side; the "
                "others are for data on which it takes too long: `tr.leave_one_out`."
            )
        for one in result.estimates[:1]:
            yield from between_settings(one)

    def intervals(self, result: Any) -> Iterator[Use]:
        for estimate in result.estimates:
            if estimate.method == "cross_validation":
                yield from refit_uses([estimate], REPEATED)
            elif estimate.method in BOUNDS:
                yield from refit_uses([estimate], BOUNDS[estimate.method])
            else:
                for interval, one in with_intervals([estimate]):
                    yield look_up(interval, one.measure, NEITHER, when=one.method in PROVEN)

    def pictures(self, result: SideBySide) -> doc.Pictures:
        yield "estimates", doc.forest_of(result.estimates)


def _method_title(one: Estimate) -> str:
    return METHODS[one.method][0] if one.method in METHODS else visible(spoken(one.method))


def _leaning(one: Estimate) -> str:
    return METHODS.get(one.method, ("", ""))[1]


def _level(result: SideBySide) -> float | None:
    return next((one.interval.level for one in result.estimates if one.interval is not None), None)


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


# A choice among settings


class SelectionPresenter(Presenter):
    """A choice among settings, and every one that was tried."""

    def title(self, result: Selection) -> str:
        return f"Which {visible(' and '.join(_varied(result)) or 'setting')}?"

    def subtitle(self, result: Selection) -> Iterator[str]:
        one = result.estimate
        yield counted(len(result.candidates), "setting")
        yield counted(one.n, "example")
        method = METHOD_TITLES.get(one.method, spoken(one.method))
        yield f"chosen by {title_of(one.measure)}, {method}"
        yield interval_subtitle(_level_of_choice(result), [one])

    def verdict(self, result: Selection) -> Iterator[str]:
        title = title_of(result.estimate.measure)
        yield f"Chosen: {setting_text(result.best)}, with {title} {with_interval(result.estimate)}."
        yield (
            "The best of many looks better than it is, since it was chosen for its number: "
            f"choosing so is worth {title} {with_interval(result.corrected)}."
        )
        ends = result.estimate.interval
        as_good = [
            one
            for one in result.candidates
            if dict(one.parameters) != dict(result.best)
            and ends
            and ends.covers(one.estimate.value)
        ]
        if as_good:
            lie = "setting lies" if len(as_good) == 1 else "settings lie"
            yield (
                f"{count(len(as_good))} other {lie} within the interval of the chosen one: these "
                "examples do not tell them apart."
            )

    def tiles(self, result: Selection) -> Iterator[doc.Tile]:
        title = title_of(result.estimate.measure)
        yield doc.Tile.of(f"{title}, corrected for the choice", result.corrected)
        best = setting_text(result.best)
        yield doc.Tile.of(f"{title}, as it was chosen by", result.estimate, best)

    def sections(self, result: Selection) -> Iterator[doc.Section]:
        along = _along(result)
        yield (
            doc.estimate_forest("What was tried", "Setting", _entries(result))
            if along is None
            else doc.charts_section("What was tried", [_chart(result, along)])
        )
        yield doc.table_section(setting_table(result))

    def notes(self, result: Selection) -> Iterator[str]:
        unstable = sum(not one.stable for one in result.candidates)
        if unstable:
            are = "setting is" if unstable == 1 else "settings are"
            yield (
                f"{count(unstable)} {are} not stable: every support vector is at its bound, and "
                "the bias is one of many that are as good."
            )
        yield from dict.fromkeys((*result.notes, *result.estimate.notes, *result.corrected.notes))

    def blocks(self, result: Selection) -> Iterator[doc.Block]:
        """Give what a terminal shows: the choice, every setting, notes."""
        yield doc.Sentences(tuple(self.verdict(result)))
        yield setting_table(result)
        yield doc.Sentences(tuple(self.notes(result)), "Notes")

    def tables(self, result: Selection) -> list[doc.Table]:
        return [setting_table(result)]

    def facts(self, result: Any) -> doc.Facts:
        yield "settings tried", count(len(result.candidates))
        yield "chosen", plain_text(as_plain(result.best))
        yield from EstimatePresenter().facts(result.corrected)

    def next_steps(self, result: Any) -> Iterator[str]:
        """Say what to do about settings that were chosen without a test set."""
        best = ", ".join(f"{name} = {plain_text(value)}" for name, value in result.best.items())
        yield (
            f"Train with {best}, and expect {title_of(result.corrected.measure)} "
            f"{with_interval(result.corrected)}: corrected for having been chosen, of "
            f"{counted(len(result.candidates), 'setting')}; fresh examples tell: `truerisk score`."
        )

    def intervals(self, result: Any) -> Iterator[Use]:
        for one, kind in ((result.estimate, "own"), (result.corrected, "corrected")):
            design = f"chosen by {result.estimate.method}, {kind}"
            yield from uses_by([one], design, unmeasured=NEITHER)

    def pictures(self, result: Selection) -> doc.Pictures:
        """Draw what was tried."""
        along = _along(result)
        if along is None:
            yield (
                "selection",
                doc.Forest(rows=_entries(result), axis=title_of(result.estimate.measure)),
            )
        else:
            yield "selection", _chart(result, along)


def _varied(result: Selection) -> list[str]:
    """List the parameters that were tried at several values, C first."""
    names = sorted(result.best, key=lambda name: name != COST)
    return [
        name for name in names if len({_value(c.parameters[name]) for c in result.candidates}) > 1
    ]


def _level_of_choice(result: Selection) -> float:
    ends = result.corrected.interval or result.estimate.interval
    return 0.95 if ends is None else ends.level


def _along(result: Selection) -> str | None:
    """Give the parameter to draw along: C, or another number that was tried at several values."""
    return next((name for name in _varied(result) if _is_numeric(result, name)), None)


def _is_numeric(result: Selection, name: str) -> bool:
    return all(_is_number(one.parameters[name]) for one in result.candidates)


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, (int, float, np.number)) and type(value) is not bool
    return is_real and math.isfinite(value)


def _lines(result: Selection, along: str) -> list[tuple[str, list[Candidate]]]:
    """Group the candidates by all other parameters, the best group first; only a few of them."""
    lines: dict[str, list[Candidate]] = {}
    for one in result.candidates:
        others = {name: value for name, value in one.parameters.items() if name != along}
        lines.setdefault(setting_text(others), []).append(one)
    entry, _ = measure_of(result.estimate.measure)
    sign = -1.0 if entry is not None and entry.higher_is_better else 1.0

    def best(line: tuple[str, list[Candidate]]) -> float:
        values = [sign * one.estimate.value for one in line[1] if one.estimate.is_defined]
        return min(values, default=math.inf)

    return sorted(lines.items(), key=best)[:MAX_LINES]


def _chart(result: Selection, along: str) -> doc.Chart:
    shapes: list[doc.Shape] = []
    heights: list[float] = []
    lines = _lines(result, along)
    for (words, line), ink in zip(lines, cycle(doc.INKS), strict=False):
        shapes += _shapes(line, along, ink, words if len(lines) > 1 else "")
        for one in line:
            ends = one.estimate.interval
            heights += [one.estimate.value, *(() if ends is None else (ends.low, ends.high))]
    chosen = float(result.best[along])
    shapes.append(doc.Upright(chosen, f"chosen: {chosen:g}"))
    tried = [float(one.parameters[along]) for one in result.candidates]
    title = title_of(result.estimate.measure)
    sure = interval_heading(_level_of_choice(result), [result.estimate])
    return doc.Chart(
        title=f"{title} over {along}",
        x=doc.Scale.spanning(along, tried),
        y=doc.Scale.over(title, heights),
        shapes=shapes,
        key=f"Band: {sure} of each estimate.",
        description=(
            f"The best is {written(result.estimate).value}, at {setting_text(result.best)}."
        ),
    )


def _shapes(line: list[Candidate], along: str, ink: doc.Ink, words: str) -> list[doc.Shape]:
    line = sorted(line, key=lambda one: float(one.parameters[along]))
    x = np.array([float(one.parameters[along]) for one in line])
    values = np.array([one.estimate.value for one in line])
    ends = doc.ends_of(one.estimate.interval if one.estimate.is_defined else None for one in line)
    line_and_dots = doc.Line(x, values, ink, words=words), doc.Dots(x, values, ink=ink)
    return [*doc.bands(x, *ends, ink), *line_and_dots]


def _entries(result: Selection) -> list[doc.Entry]:
    entries = [doc.Entry(setting_text(one.parameters), one.estimate) for one in result.candidates]
    return entries[:MAX_ROWS]


def setting_table(result: Selection) -> doc.Table:
    """Give one row per setting that was tried."""
    names = list(result.best)
    columns = (
        # The first column heads the rows, and stands to the left as they do.
        *(
            doc.Column(name, numeric=at > 0 and _is_numeric(result, name))
            for at, name in enumerate(names)
        ),
        *doc.number_columns(
            (
                title_of(result.estimate.measure),
                interval_heading(_level_of_choice(result), [result.estimate]),
            )
        ),
        *doc.heads("Stable", "Chosen"),
    )
    rows = tuple(
        (
            *(_value(one.parameters[name]) for name in names),
            *written(one.estimate),
            "yes" if one.stable else "no",
            "→ chosen" if dict(one.parameters) == dict(result.best) else "",
        )
        for one in result.candidates
    )
    return doc.Table("Every setting", columns, rows)


def _value(value: Any) -> str:
    return f"{value:.10g}" if _is_number(value) else " ".join(str(value).split())
