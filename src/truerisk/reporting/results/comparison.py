"""Comparison of two learners or SVMs: the difference, its chances, refit by refit.

A comparison by several measures is presented by the same functions.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from truerisk.comparison.conclusion import planned_in_words
from truerisk.comparison.learners.compare_models import BayesianComparison, ModelComparisons
from truerisk.errors import InputError
from truerisk.intervals.measured_coverage import DIFFERENCE
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.sections.coverage import (
    REPEATED,
    difference_uses,
    marks_of,
    refit_uses,
    uses_of,
)
from truerisk.reporting.sections.differences import (
    Difference,
    DifferenceGroup,
    ProbabilityBar,
    difference_tile,
    differences_section,
    probabilities_section,
)
from truerisk.reporting.wording import (
    count,
    counted,
    interval_heading,
    p_words,
    percent,
    plain_text,
    spoken,
    written,
)
from truerisk.results import Comparison

SEVERAL = "The p-values of different measures are not adjusted for being several."
MAX_SCATTERS = 2  # measures whose refits are drawn one by one
SHARES = {(0.0, 1.0), (-1.0, 1.0)}  # measures of these ranges are drawn on one scale
SIDES = {True: "Higher is better", False: "Lower is better", None: "Neither side is better"}
# tests on repeated cross-validation
BY_FOLDS = {"cautious_t", "corrected_t", "variance_components", "agreement"}
MAX_NAMED = 3
COMPARE, AGAINST, WITHOUT = "compare", "estimate --against …", "perturb --without …"
ALL_FEATURES = {"all columns", "all features"}  # what the command and the library call them
IN_A_ROW, UNDER_THE_AXIS = 12, 30  # characters of a name, so that both have room


# Told apart by their shapes as well.
FINDINGS: dict[str, tuple[doc.Ink, str]] = {
    "better": ("first", "^"),
    "worse": ("second", "v"),
    "equivalent": ("third", "s"),
    "no evidence": ("soft", "o"),
}


def model_comparison_chapter(result: Comparison | ModelComparisons) -> doc.Chapter:
    """Make the chapter of one comparison, or of one for each of several measures."""
    compared = list(result.values()) if isinstance(result, ModelComparisons) else [result]
    main = compared[0]
    first, second = map(visible, main.names)
    ends = main.difference.interval
    parts = (
        counted(main.difference.n, "example"),
        visible(spoken(main.method)),
        *(() if ends is None else (f"{percent(ends.level)} intervals",)),
    )
    notes = dict.fromkeys(note for one in compared for note in one.notes)
    return doc.Chapter(
        title=f"Is {second} better than {first}?",
        subtitle=" · ".join(parts),
        verdict=doc.sentences(one.verdict for one in compared),
        tiles=tuple(_tiles(main)),
        sections=tuple(_sections(compared)),
        notes=doc.sentences([*notes, *([SEVERAL] if len(compared) > 1 else [])]),
    )


def _tiles(main: Comparison) -> Iterator[doc.Tile]:
    title = title_of(main.measure)
    for name, estimate in zip(main.names, (main.first, main.second), strict=True):
        yield doc.Tile.of(f"{title}: {name}", estimate)
    yield difference_tile(Difference.of(main, title))


def _sections(compared: Sequence[Comparison]) -> Iterator[doc.Section]:
    main, *others = compared
    ends = main.difference.interval
    yield differences_section(
        "The difference, and how sure it is",
        by_measure(others),
        level="" if ends is None else percent(ends.level),
        main=Difference.of(main, title_of(main.measure)),
    )
    bars = [_bar(one) for one in compared if isinstance(one, BayesianComparison)]
    if bars:
        region = (
            "Without a region of equivalence only a difference of exactly 0 is equivalent."
            if main.region is None
            else f"Equivalent is a difference within ± {main.region:g}."
        )
        lead = f"How probable it is that {main.names[1]} is worse, equivalent or better. {region}"
        yield probabilities_section("How probable is each finding?", bars, lead=visible(lead, 500))
    scatters = [chart for one in compared[:MAX_SCATTERS] for chart in _refits(one)]
    if scatters:
        yield doc.charts_section(
            "Refit by refit",
            scatters,
            "A dot is one refit of both on the same examples. On the dashed line both are alike.",
        )


def _bar(result: BayesianComparison) -> ProbabilityBar:
    chances = result.probabilities
    first, second = result.names
    return ProbabilityBar(
        title=f"{title_of(result.measure)}: {second} − {first}",
        worse=chances.worse,
        equivalent=chances.equivalent,
        better=chances.better,
    )


def _refits(result: Comparison) -> Iterator[doc.Chart]:
    """Draw the second's value against the first's, where both have one in each refit."""
    # Those of a perturbed SVM are deviations, not values.
    x, y = (
        np.asarray(() if hasattr(one, "training_error") else getattr(one, "replicates", ()))
        for one in (result.first, result.second)
    )
    if len(x) != len(y) or len(x) < 2 or not np.isfinite([x, y]).all():
        return
    first, second = result.names
    title = title_of(result.measure)
    across, up = (doc.Scale.over(f"{title}: {name}", [*x, *y]) for name in (first, second))
    ends = (across.low, across.high)
    above, below = int((y > x).sum()), int((y < x).sum())
    text = f"{second} is higher in {above} of {len(x)} refits, lower in {below}."
    yield doc.Chart(
        title=title,
        x=across,
        y=up,
        shapes=[
            doc.Line(ends, ends, "soft", dashed=True, words="alike"),
            doc.Dots(x, y, words="one refit"),
        ],
        caption=text,
    )


def model_comparison_table(result: Comparison) -> doc.Table:
    """Give one row per learner, and one of their difference with its test."""
    level = result.difference.interval.level if result.difference.interval is not None else None
    heading = "Interval" if level is None else interval_heading(level)
    numbers = doc.number_columns((title_of(result.measure), heading, "p"))
    columns = doc.heads("Learner", *numbers)
    first, second = result.names
    own, of_difference = marks_of(result), marks_of(result, DIFFERENCE)
    estimates = (
        (first, result.first, own, ""),
        (second, result.second, own, ""),
        (f"{second} − {first}", result.difference, of_difference, p_words(result.p_value)),
    )
    rows = tuple(
        (name, words.value, f"{words.interval}{mark(one)}", p_value)
        for name, one, mark, p_value in estimates
        for words in (written(one),)
    )
    return doc.Table(f"Learners compared ({result.method}): {result.finding}", columns, rows)


def by_measure(drawn: Sequence[Comparison]) -> Iterator[DifferenceGroup]:
    """Group the measures that share a scale, a region and the side that is better."""
    together: dict[tuple[bool | None, float | None], list[Difference]] = {}
    alone = []
    for one in drawn:
        row = Difference.of(one, title_of(one.measure))
        result, _ = measure_of(one.measure)
        if result is None or result.measure_range not in SHARES:
            alone.append(row)
        else:
            together.setdefault((row.higher_is_better, row.region), []).append(row)
    for rows in together.values():
        yield DifferenceGroup(side_words(rows[0]), rows)
    for row in alone:
        yield DifferenceGroup(f"{side_words(row)}, on a scale of its own", [row])


def side_words(row: Difference) -> str:
    """Say which side is better, and what does not matter."""
    side = SIDES[row.higher_is_better]
    return side if row.region is None else f"{side}, ± {row.region:g} does not matter"


def comparison_facts(one: Any) -> doc.Facts:
    """Say what was assumed, in pairs of words."""
    yield "models", plain_text(one.names)
    yield "measure", title_of(one.measure)
    yield "examples", count(one.difference.n)
    yield "test", spoken(one.method)
    if one.difference.interval is not None:
        yield "confidence level", percent(one.difference.interval.level)
    yield "region of equivalence", "none" if one.region is None else f"± {one.region:g}"
    yield "the numbers are about", one.difference.target


def _uses(one: Any) -> Iterator[Use]:
    yield from difference_uses(one)
    design = REPEATED if one.method in BY_FOLDS else ""
    for estimate in (one.first, one.second):
        if estimate.kind == "estimate":
            yield from refit_uses([estimate], design)
        else:
            yield from uses_of(estimate)


def comparison_steps(one: Comparison) -> Iterator[str]:
    """Say what to do about two learners."""
    yield from after_two(one, one.difference.n, command_of(one))


def after_two(main: Comparison, n: float, command: str) -> Iterator[str]:
    """Say what to do about two models, by the finding of the main comparison."""
    first, second = main.names
    of_first, of_second = written(main.first).value, written(main.second).value
    by = f"{title_of(main.measure)} {of_second} against {of_first}"
    if main.finding in {"better", "worse"}:
        winner, loser = (second, first) if main.finding == "better" else (first, second)
        beside = f"{title_of(main.measure)} of {second} {of_second}, of {first} {of_first}"
        watch = "train it on all examples and judge it on fresh ones, `truerisk score`"
        if command == COMPARE:
            watch = "`truerisk compare --fail-unless not-worse` keeps watch over the next change"
        yield f"Take {winner} rather than {loser}, if this measure decides ({beside}): {watch}."
    elif main.finding == "equivalent":
        yield (
            f"Choose {first} or {second} by what else counts, such as speed or simplicity: a "
            f"difference of {main.region:g} or more is excluded ({by}): `truerisk curve` shows "
            "what training costs."
            if main.region is not None
            else f"Choose {first} or {second} by what else counts: they are equivalent ({by})."
        )
    else:
        yield from _still_open(main, n, command)


def _still_open(main: Comparison, n: float, command: str) -> Iterator[str]:
    first, second = main.names
    if not main.difference.is_defined:
        yield (
            f"Compare by another measure: {title_of(main.measure)} has no value for both on these "
            f"{count(n)} examples: `truerisk {command} --measure`."
        )
        return
    if main.settled_by is not None:
        yield (
            f"Collect about {count(max(main.settled_by - n, 1))} more examples: "
            f"{count(main.settled_by)} in all would detect a difference "
            f"{planned_in_words(main.difference.value, main.region)} ({difference_words(main)} is "
            f"seen): `truerisk {command}` again with them."
        )
    if main.region is None:
        yield (
            f"Say which difference of {title_of(main.measure)} would matter: "
            f"{difference_words(main)} is seen, and whether {second} and {first} are "
            f"equivalent can then be told: `truerisk {command} --region`."
        )
    if main.settled_by is None and main.region is not None:
        yield (
            f"Stay with the cheaper of {first} and {second} until more examples are there: "
            f"{count(n)} do not tell them apart ({difference_words(main)}): `truerisk {command}`."
        )


def difference_words(one: Comparison) -> str:
    """Write a difference and its interval."""
    value, ends = written(one.difference)
    return value if one.difference.interval is None else f"{value} {ends}"


def command_of(one: Comparison) -> str:
    """Name the command that compares two learners so."""
    return WITHOUT if ALL_FEATURES & set(one.names) else AGAINST


def measures_against(main: Comparison, others: Sequence[Comparison]) -> list[str]:
    """List the measures that say the opposite of the main one."""
    opposite = {"better": "worse", "worse": "better"}.get(main.finding)
    return [title_of(one.measure) for one in others if one.finding == opposite]


def decide_what_counts(main: Comparison, against: list[str], command: str) -> Iterator[str]:
    """Ask for a decision where two measures say the opposite."""
    first, second = main.names
    other = "worse" if main.finding == "better" else "better"
    named = plain_text(against[:MAX_NAMED])
    if len(against) > MAX_NAMED:
        named += f" and {len(against) - MAX_NAMED} more"
    yield (
        f"Decide which measure counts before choosing: {second} is {main.finding} than {first} by "
        f"{title_of(main.measure)} ({difference_words(main)}) but {other} by {named}: `truerisk "
        f"{command} --measure {main.measure}`."
    )


def comparison_blocks(result: Comparison) -> Iterator[doc.Block]:
    """Give what a terminal shows: the verdict, the table, and the notes."""
    sentences_of = [result.verdict]
    if isinstance(result, BayesianComparison):
        sentences_of.append(f"Probability that {result.names[1]} is: {result.probabilities}.")
    yield doc.Sentences(sentences_of)
    yield model_comparison_table(result)
    yield doc.Sentences(result.notes, "Notes")


def difference_forest(comparisons: Sequence[Comparison]) -> doc.Forest:
    """Describe differences: triangles, squares (equivalent) and dots (no evidence).

    Measures without an upper end are left out where there are others, and named: their
    differences would leave no room for those of rates.
    """
    if not comparisons:
        raise InputError("`comparisons` must hold at least one comparison; got none.")
    bounded = [one for one in comparisons if _is_bounded(one.measure)]
    drawn = bounded or list(comparisons)
    one_pair = len({one.names for one in drawn}) == 1
    words = (
        _pair(drawn[0], UNDER_THE_AXIS) if one_pair else f"{title_of(drawn[0].measure)}: difference"
    )
    left_out = dict.fromkeys(title_of(one.measure) for one in comparisons if one not in drawn)
    return doc.Forest(
        rows=[_forest_entry(one, by_measure=one_pair) for one in drawn],
        axis=words,
        note=f"{words}. On other scales: {', '.join(left_out)}" if left_out else "",
        about_zero=True,
    )


def _forest_entry(comparison: Comparison, *, by_measure: bool) -> doc.Entry:
    what = title_of(comparison.measure) if by_measure else _pair(comparison, IN_A_ROW)
    ink, mark = FINDINGS[comparison.finding]
    title = f"{what}: {comparison.finding}"
    return doc.Entry(title, comparison.difference, "", ink, mark, comparison.region)


def _pair(comparison: Comparison, most: int) -> str:
    first, second = (visible(name, most=most) for name in comparison.names)
    return f"{second} − {first}"


def _is_bounded(measure: str) -> bool:
    result, _ = measure_of(measure)
    return result is not None and all(map(math.isfinite, result.measure_range))


COMPARISON = Presenter(
    chapter=model_comparison_chapter,
    blocks=comparison_blocks,
    tables=lambda result: [model_comparison_table(result)],
    facts=comparison_facts,
    next_steps=comparison_steps,
    intervals=_uses,
    pictures=lambda result: [("difference", difference_forest([result]))],
)


def _facts_of_measures(result: Any) -> doc.Facts:
    for first in list(result.values())[:1]:
        for name, words in comparison_facts(first):
            if name == "measure":
                yield "measures", plain_text([title_of(measure) for measure in result])
            else:
                yield name, words


def _steps_of_measures(result: Any) -> Iterator[str]:
    """Say what to do about two learners that were compared by several measures."""
    main, *others = result.values()
    against = measures_against(main, others)
    if against:
        yield from decide_what_counts(main, against, command_of(main))
    else:
        yield from comparison_steps(main)


MODEL_COMPARISONS = Presenter(
    chapter=model_comparison_chapter,
    blocks=lambda result: chain.from_iterable(map(comparison_blocks, result.values())),
    tables=lambda result: map(model_comparison_table, result.values()),
    facts=_facts_of_measures,
    next_steps=_steps_of_measures,
    intervals=lambda result: chain.from_iterable(map(uses_of, result.values())),
    pictures=lambda result: [("differences", difference_forest([*result.values()]))],
)
