"""Selection: the estimate over C with the chosen one marked, and every candidate."""

import math
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np

from truerisk.estimation.svm.selection import Candidate, Selection, setting_text
from truerisk.reporting.document import (
    INKS,
    Band,
    Chapter,
    Chart,
    Column,
    Dots,
    Entry,
    Facts,
    Forest,
    Ink,
    Line,
    Pictures,
    Scale,
    Shape,
    Table,
    Tile,
    Upright,
    charts_section,
    sentences,
    table_section,
)
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.corpus_evaluation import METHOD_TITLES
from truerisk.reporting.results.estimate import estimate_facts
from truerisk.reporting.sections.coverage import NEITHER, with_intervals
from truerisk.reporting.sections.forest import estimate_forest
from truerisk.reporting.wording import (
    count,
    counted,
    interval_heading,
    measure_of,
    percent,
    plain_text,
    spoken,
    title_of,
    with_interval,
    written,
)
from truerisk.results import as_plain

COST = "C"
MAX_LINES = 5  # settings drawn, an ink each; the table has them all
MAX_ROWS = 500


def selection_chapter(found: Selection) -> Chapter:
    """Give all that a page says of a choice among settings."""
    along = _along(found)
    picture = (
        estimate_forest("What was tried", "Setting", _entries(found))
        if along is None
        else charts_section("What was tried", [_chart(found, along)])
    )
    subtitle = [
        counted(len(found.candidates), "setting"),
        counted(found.estimate.n, "example"),
        f"chosen by {title_of(found.estimate.measure)}, {_method(found)}",
    ]
    return Chapter(
        title=f"Which {visible(' and '.join(_varied(found)) or 'setting')}?",
        subtitle=" · ".join([*subtitle, f"{percent(_level(found))} intervals"]),
        verdict=sentences(_verdict(found)),
        tiles=(
            Tile.of(
                f"{title_of(found.estimate.measure)}, corrected for the choice", found.corrected
            ),
            Tile.of(
                f"{title_of(found.estimate.measure)}, as it was chosen by",
                found.estimate,
                setting_text(found.best),
            ),
        ),
        sections=(picture, table_section(setting_table(found))),
        notes=sentences(_notes(found)),
    )


def _varied(found: Selection) -> list[str]:
    """List the parameters that were tried at several values, C first."""
    names = sorted(found.best, key=lambda name: name != COST)
    return [
        name for name in names if len({_value(c.parameters[name]) for c in found.candidates}) > 1
    ]


def _level(found: Selection) -> float:
    ends = found.corrected.interval or found.estimate.interval
    return 0.95 if ends is None else ends.level


def _verdict(found: Selection) -> Iterator[str]:
    title = title_of(found.estimate.measure)
    own, corrected = written(found.estimate), written(found.corrected)
    yield f"Chosen: {setting_text(found.best)}, with {title} {own.value} {own.interval}."
    yield (
        "The best of many looks better than it is, since it was chosen for its number: choosing so "
        f"is worth {title} {corrected.value} {corrected.interval}."
    )
    as_good = [one for one in found.candidates if _is_as_good(found, one)]
    if as_good:
        lie = "setting lies" if len(as_good) == 1 else "settings lie"
        yield (
            f"{count(len(as_good))} other {lie} within the interval of the chosen one: these "
            "examples do not tell them apart."
        )


def _method(found: Selection) -> str:
    return METHOD_TITLES.get(found.estimate.method, spoken(found.estimate.method))


def _is_as_good(found: Selection, one: Candidate) -> bool:
    ends = found.estimate.interval
    is_other = dict(one.parameters) != dict(found.best)
    return is_other and ends is not None and ends.covers(one.estimate.value)


def _along(found: Selection) -> str | None:
    """Give the parameter to draw along: C, or another number that was tried at several values."""
    return next((name for name in _varied(found) if _is_numeric(found, name)), None)


def _is_numeric(found: Selection, name: str) -> bool:
    return all(_is_number(one.parameters[name]) for one in found.candidates)


def _is_number(value: Any) -> bool:  # noqa: ANN401
    is_real = isinstance(value, (int, float, np.number)) and type(value) is not bool
    return is_real and math.isfinite(value)


def _lines(found: Selection, along: str) -> list[tuple[str, list[Candidate]]]:
    """Group the candidates by all other parameters, the best group first; only a few of them."""
    lines: dict[str, list[Candidate]] = {}
    for one in found.candidates:
        others = {name: value for name, value in one.parameters.items() if name != along}
        lines.setdefault(setting_text(others), []).append(one)
    entry, _ = measure_of(found.estimate.measure)
    sign = -1.0 if entry is not None and entry.higher_is_better else 1.0

    def best(line: tuple[str, list[Candidate]]) -> float:
        values = [sign * one.estimate.value for one in line[1] if one.estimate.is_defined]
        return min(values, default=math.inf)

    return sorted(lines.items(), key=best)[:MAX_LINES]


def _chart(found: Selection, along: str) -> Chart:
    shapes: list[Shape] = []
    heights: list[float] = []
    lines = _lines(found, along)
    for (words, line), ink in zip(lines, cycle(INKS), strict=False):
        shapes += _shapes(line, along, ink, words if len(lines) > 1 else "")
        for one in line:
            ends = one.estimate.interval
            heights += [one.estimate.value, *(() if ends is None else (ends.low, ends.high))]
    chosen = float(found.best[along])
    shapes.append(Upright(chosen, f"chosen: {chosen:g}"))
    tried = [float(one.parameters[along]) for one in found.candidates]
    title = title_of(found.estimate.measure)
    return Chart(
        title=f"{title} over {along}",
        x=Scale.spanning(along, tried),
        y=Scale.over(title, heights),
        shapes=shapes,
        key=f"Band: {percent(_level(found))} interval of each estimate.",
        description=f"The best is {written(found.estimate).value}, at {setting_text(found.best)}.",
    )


def _shapes(line: list[Candidate], along: str, ink: Ink, words: str) -> list[Shape]:
    line = sorted(line, key=lambda one: float(one.parameters[along]))
    x = np.array([float(one.parameters[along]) for one in line])
    values = np.array([one.estimate.value for one in line])
    ends = [one.estimate.interval for one in line]
    low = np.array([math.nan if end is None else end.low for end in ends])
    high = np.array([math.nan if end is None else end.high for end in ends])
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(values)
    shapes: list[Shape] = []
    if known.sum() > 1:
        shapes.append(Band(x[known], low[known], high[known], ink))
    return [*shapes, Line(x, values, ink, words=words), Dots(x, values, ink=ink)]


def _entries(found: Selection) -> list[Entry]:
    entries = [Entry(setting_text(one.parameters), one.estimate) for one in found.candidates]
    return entries[:MAX_ROWS]


def setting_table(found: Selection) -> Table:
    """Give one row per setting that was tried."""
    names = list(found.best)
    columns = (
        # The first column heads the rows, and stands to the left as they do.
        *(
            Column(name, numeric=at > 0 and _is_numeric(found, name))
            for at, name in enumerate(names)
        ),
        Column(title_of(found.estimate.measure), numeric=True),
        Column(interval_heading(_level(found)), numeric=True),
        Column("Stable"),
        Column("Chosen"),
    )
    rows = []
    for one in found.candidates:
        words = written(one.estimate)
        rows.append(
            (
                *(_value(one.parameters[name]) for name in names),
                words.value,
                words.interval,
                "yes" if one.stable else "no",
                "→ chosen" if dict(one.parameters) == dict(found.best) else "",
            )
        )
    return Table("Every setting", columns, tuple(rows))


def _value(value: Any) -> str:  # noqa: ANN401
    return f"{value:.10g}" if _is_number(value) else " ".join(str(value).split())


def _notes(found: Selection) -> Iterator[str]:
    unstable = sum(not one.stable for one in found.candidates)
    if unstable:
        are = "setting is" if unstable == 1 else "settings are"
        yield (
            f"{count(unstable)} {are} not stable: every support vector is at its bound, and "
            "the bias is one of many that are as good."
        )
    yield from dict.fromkeys((*found.estimate.notes, *found.corrected.notes))


def selection_facts(found: Any) -> Facts:  # noqa: ANN401
    """Say what was assumed, in pairs of words."""
    yield "settings tried", count(len(found.candidates))
    yield "chosen", plain_text(as_plain(found.best))
    yield from estimate_facts(found.corrected)


def selection_uses(found: Any) -> Iterator[Use]:  # noqa: ANN401
    """List the intervals, and what was measured of each."""
    for interval, estimate in with_intervals([found.estimate, found.corrected]):
        yield Use(interval, estimate.measure, None, NEITHER)


def selection_steps(found: Any) -> Iterator[str]:  # noqa: ANN401
    """Say what to do about settings that were chosen without a test set."""
    best = ", ".join(f"{name} = {plain_text(value)}" for name, value in found.best.items())
    yield (
        f"Train with {best}, and expect {title_of(found.corrected.measure)} "
        f"{with_interval(found.corrected)}: corrected for having been chosen, of "
        f"{counted(len(found.candidates), 'setting')}; fresh examples tell: `truerisk score`."
    )


def selection_pictures(found: Selection) -> Pictures:
    """Draw what was tried."""
    along = _along(found)
    if along is None:
        yield "selection", Forest(rows=_entries(found), axis=title_of(found.estimate.measure))
    else:
        yield "selection", _chart(found, along)


PRESENTER = Presenter(
    chapter=selection_chapter,
    tables=lambda found: [setting_table(found)],
    facts=selection_facts,
    next_steps=selection_steps,
    intervals=selection_uses,
    pictures=selection_pictures,
)
