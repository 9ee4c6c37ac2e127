"""SideBySide → a chapter: every estimate that needs no resampling on one axis, and its price."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from truerisk.reporting.escaping import visible
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.sections.estimate_forest import Entry, estimate_forest
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.tables import Column, Table, spoken
from truerisk.reporting.wording import (
    cost_words,
    counted,
    interval_heading,
    percent,
    title_of,
    written,
)

if TYPE_CHECKING:
    from truerisk.estimation.svm.without_resampling import SideBySide
    from truerisk.results import Estimate

EXACT = "leave_one_out"
HEADLINES = (EXACT, "span_rule", "xi_alpha_2")
TITLES = {
    "training_error": "Training error",
    "xi_alpha_1": "ξα, ρ = 1",
    "xi_alpha_2": "ξα, ρ = 2",
    "span_bound": "Span bound",
    "span_rule": "Span rule",
    "leave_one_out": "Leave-one-out, exact",
    "cross_validation": "Cross-validation",
}
LEANINGS = {
    "training_error": "leans to the good side, far",
    "xi_alpha_1": "leans to the bad side",
    "xi_alpha_2": "leans to the bad side, proven",
    "span_bound": "leans to the bad side, far; a bound",
    "span_rule": "hardly leans; approximate",
    "leave_one_out": "does not lean",
    "cross_validation": "leans to the bad side, a little",
}
BY_REFITS = {"cross_validation"}


def side_by_side_chapter(found: "SideBySide") -> Chapter:
    """Give all that a page says of estimates side by side."""
    first = found.estimates[0]
    refits = [_title(one) for one in found.estimates if one.method in BY_REFITS]
    beside = f"beside {', '.join(refits).lower()}" if refits else "no fold"
    subtitle = [counted(first.n, "example"), f"one training, {beside}"]
    level = _level(found)
    if level is not None:
        subtitle.append(f"{percent(level)} intervals")
    return Chapter(
        title="What is this machine worth, with no test set?",
        subtitle=" · ".join(subtitle),
        verdict=sentences(_verdict(found)),
        tiles=tuple(
            Tile.of(_title(one), one, LEANINGS.get(one.method, ""))
            for name in HEADLINES
            for one in found.estimates
            if one.method == name
        ),
        sections=(
            estimate_forest(
                f"{title_of(first.measure)}, in every way there is",
                "Method",
                [Entry(_title(one), one, LEANINGS.get(one.method, "")) for one in found.estimates],
            ),
            _costs(found),
        ),
        notes=sentences(_notes(found)),
    )


def _title(one: "Estimate") -> str:
    return TITLES.get(one.method, visible(spoken(one.method)))


def _level(found: "SideBySide") -> float | None:
    return next((one.interval.level for one in found.estimates if one.interval is not None), None)


def _verdict(found: "SideBySide") -> Iterator[str]:
    by_method = {one.method: one for one in found.estimates}
    exact = by_method.get(EXACT)
    if exact is not None:
        words = written(exact)
        yield (
            f"Trained without each example in turn, the machine calls {words.value} "
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
            "called wrong so (ξα, ρ = 2)."
        )


def _costs(found: "SideBySide") -> Section:
    numbers = (title_of(found.estimates[0].measure), interval_heading(_level(found) or 0.95))
    columns = (
        Column("Method"),
        *(Column(head, numeric=True) for head in (*numbers, "Further time")),
        Column("Leans"),
    )
    rows = []
    for one, took in zip(found.estimates, found.seconds, strict=True):
        words = written(one)
        time = cost_words("cpu_seconds", took)
        rows.append((_title(one), words.value, words.interval, time, LEANINGS.get(one.method, "")))
    once = cost_words("cpu_seconds", found.training_seconds)
    return table_section(
        Table("What each of them costs", columns, tuple(rows)),
        f"The machine was trained once in {once}; each took so much longer.",
    )


def _notes(found: "SideBySide") -> Iterator[str]:
    """Tell each note once, and of which estimates."""
    told: dict[str, list[str]] = {}
    for one in found.estimates:
        for note in one.notes:
            told.setdefault(note, []).append(_title(one))
    return (f"{'; '.join(titles)}: {note}" for note, titles in told.items())
