"""Selection: the estimate over C with the chosen one marked, and every candidate."""

import math
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np

from truerisk.estimation.svm.selection import Candidate, Selection, setting_text
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.corpus_evaluation import METHOD_TITLES
from truerisk.reporting.results.estimate import estimate_facts
from truerisk.reporting.sections.coverage import NEITHER, uses_by
from truerisk.reporting.wording import (
    count,
    counted,
    interval_heading,
    interval_subtitle,
    plain_text,
    spoken,
    with_interval,
    written,
)
from truerisk.results import as_plain

COST = "C"
MAX_LINES = 5  # settings drawn, an ink each; the table has them all
MAX_ROWS = 500


def selection_chapter(result: Selection) -> doc.Chapter:
    """Give all that a page says of a choice among settings."""
    along, title = _along(result), title_of(result.estimate.measure)
    picture = (
        doc.estimate_forest("What was tried", "Setting", _entries(result))
        if along is None
        else doc.charts_section("What was tried", [_chart(result, along)])
    )
    method = METHOD_TITLES.get(result.estimate.method, spoken(result.estimate.method))
    subtitle = [
        counted(len(result.candidates), "setting"),
        counted(result.estimate.n, "example"),
        f"chosen by {title}, {method}",
    ]
    return doc.Chapter(
        title=f"Which {visible(' and '.join(_varied(result)) or 'setting')}?",
        subtitle=" · ".join([*subtitle, interval_subtitle(_level(result), [result.estimate])]),
        verdict=doc.sentences(_verdict(result)),
        tiles=(
            doc.Tile.of(f"{title}, corrected for the choice", result.corrected),
            doc.Tile.of(
                f"{title}, as it was chosen by", result.estimate, setting_text(result.best)
            ),
        ),
        sections=(picture, doc.table_section(setting_table(result))),
        notes=doc.sentences(_notes(result)),
    )


def _varied(result: Selection) -> list[str]:
    """List the parameters that were tried at several values, C first."""
    names = sorted(result.best, key=lambda name: name != COST)
    return [
        name for name in names if len({_value(c.parameters[name]) for c in result.candidates}) > 1
    ]


def _level(result: Selection) -> float:
    ends = result.corrected.interval or result.estimate.interval
    return 0.95 if ends is None else ends.level


def _verdict(result: Selection) -> Iterator[str]:
    title = title_of(result.estimate.measure)
    yield f"Chosen: {setting_text(result.best)}, with {title} {with_interval(result.estimate)}."
    yield (
        "The best of many looks better than it is, since it was chosen for its number: choosing so "
        f"is worth {title} {with_interval(result.corrected)}."
    )
    ends = result.estimate.interval
    as_good = [
        one
        for one in result.candidates
        if dict(one.parameters) != dict(result.best) and ends and ends.covers(one.estimate.value)
    ]
    if as_good:
        lie = "setting lies" if len(as_good) == 1 else "settings lie"
        yield (
            f"{count(len(as_good))} other {lie} within the interval of the chosen one: these "
            "examples do not tell them apart."
        )


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
    return doc.Chart(
        title=f"{title} over {along}",
        x=doc.Scale.spanning(along, tried),
        y=doc.Scale.over(title, heights),
        shapes=shapes,
        key=f"Band: {interval_heading(_level(result), [result.estimate])} of each estimate.",
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
                interval_heading(_level(result), [result.estimate]),
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


def _notes(result: Selection) -> Iterator[str]:
    unstable = sum(not one.stable for one in result.candidates)
    if unstable:
        are = "setting is" if unstable == 1 else "settings are"
        yield (
            f"{count(unstable)} {are} not stable: every support vector is at its bound, and "
            "the bias is one of many that are as good."
        )
    yield from dict.fromkeys((*result.notes, *result.estimate.notes, *result.corrected.notes))


def _blocks(result: Selection) -> Iterator[doc.Block]:
    """Give what a terminal shows: the choice, every setting, notes."""
    yield doc.Sentences(tuple(doc.sentences(_verdict(result))))
    yield setting_table(result)
    yield doc.Sentences(tuple(doc.sentences(_notes(result))), "Notes")


def _facts(result: Any) -> doc.Facts:
    yield "settings tried", count(len(result.candidates))
    yield "chosen", plain_text(as_plain(result.best))
    yield from estimate_facts(result.corrected)


def _uses(result: Any) -> Iterator[Use]:
    for one, kind in ((result.estimate, "own"), (result.corrected, "corrected")):
        design = f"chosen by {result.estimate.method}, {kind}"
        yield from uses_by([one], design, unmeasured=NEITHER)


def _next_steps(result: Any) -> Iterator[str]:
    """Say what to do about settings that were chosen without a test set."""
    best = ", ".join(f"{name} = {plain_text(value)}" for name, value in result.best.items())
    yield (
        f"Train with {best}, and expect {title_of(result.corrected.measure)} "
        f"{with_interval(result.corrected)}: corrected for having been chosen, of "
        f"{counted(len(result.candidates), 'setting')}; fresh examples tell: `truerisk score`."
    )


def _pictures(result: Selection) -> doc.Pictures:
    """Draw what was tried."""
    along = _along(result)
    if along is None:
        yield "selection", doc.Forest(rows=_entries(result), axis=title_of(result.estimate.measure))
    else:
        yield "selection", _chart(result, along)


SELECTION = Presenter(
    chapter=selection_chapter,
    blocks=_blocks,
    tables=lambda result: [setting_table(result)],
    facts=_facts,
    next_steps=_next_steps,
    intervals=_uses,
    pictures=_pictures,
)
