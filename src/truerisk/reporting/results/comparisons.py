"""Comparisons of several models on the same examples: every difference against 0."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.intervals.measured_coverage import DIFFERENCE
from truerisk.measures.registry import measure_of, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.comparison import (
    COMPARE,
    after_two,
    by_measure,
    decide_what_counts,
    difference_forest,
    difference_words,
    measures_against,
    side_words,
)
from truerisk.reporting.sections.coverage import (
    difference_uses,
    is_weighted,
    marks_of,
    prediction_uses,
)
from truerisk.reporting.sections.differences import (
    Difference,
    DifferenceGroup,
    difference_tile,
    differences_section,
    signed_words,
)
from truerisk.reporting.sections.provenance import setting_facts, source_facts, targets_of
from truerisk.reporting.wording import (
    NO_INTERVAL,
    count,
    counted,
    interval_heading,
    p_words,
    percent,
    plain_text,
    spoken,
    written,
)
from truerisk.results import Comparison, Estimate, decimals_for, number

MAX_ROWS = 300  # differences drawn on one page
MAX_TILES = 4  # models whose main measure has a tile
MAX_MODELS_SHOWN = 5  # whose values fit beside each other on a screen


def comparisons_chapter(result: Comparisons) -> doc.Chapter:
    """Make the chapter of several models compared on the same examples."""
    parts = (
        counted(result.n, "example"),
        f"{counted(len(result.names), 'model')}, {counted(len(result.name_pairs), 'pair')}",
        f"{percent(result.level)} intervals",
    )
    return doc.Chapter(
        title="Which model is really better?",
        subtitle=" · ".join(parts),
        verdict=doc.sentences(result.verdict),
        tiles=tuple(_tiles(result)),
        sections=(
            _differences(result),
            *_slices_section(result),
            # That of two models would only say again what is drawn and written.
            *map(
                doc.table_section, islice(comparisons_tables(result), len(result.names) == 2, None)
            ),
        ),
        notes=doc.sentences(comparison_remarks(result)),
    )


def _tiles(result: Comparisons) -> Iterator[doc.Tile]:
    """Give the main measure of each model, and what decides: their difference, or the best one."""
    for name in result.names[:MAX_TILES]:
        estimate = result.evaluations[name].get(result.measure)
        if estimate is not None:
            yield doc.Tile.of(f"{title_of(result.measure)}: {name}", estimate)
    main = _main(result)
    if main is not None:
        yield difference_tile(main)
    if result.best is not None and len(result.names) > 2:
        note = "without the luck of being chosen"
        yield doc.Tile.of(f"The best, corrected: {result.best.name}", result.best.corrected, note)


def _main(result: Comparisons) -> Difference | None:
    """Give the difference of two models by the main measure; more models have no single one."""
    if len(result.names) > 2 or result.measure not in result:
        return None
    return Difference.of(result[result.measure], title_of(result.measure))


def _differences(result: Comparisons) -> doc.Section:
    """Draw two models measure by measure; more of them pair by pair, one picture per measure."""
    main = _main(result)
    rest = [one for one in result.pairs if main is None or one.measure != result.measure]
    drawn = sorted(rest, key=lambda one: result.measures.index(one.measure))[:MAX_ROWS]
    return differences_section(
        "Every difference, and how sure it is",
        _by_pair(result, drawn) if len(result.names) > 2 else by_measure(drawn),
        level=percent(result.level),
        main=main,
        left_out=len(rest) - len(drawn),
    )


def _by_pair(result: Comparisons, drawn: Sequence[Comparison]) -> Iterator[DifferenceGroup]:
    for measure in dict.fromkeys(one.measure for one in drawn):
        rows = [
            Difference.of(one, f"{one.names[1]} − {one.names[0]}", finding_among(result, one))
            for one in drawn
            if one.measure == measure
        ]
        yield DifferenceGroup(f"{title_of(measure)}. {side_words(rows[0])}", rows)


def _slices_section(result: Comparisons) -> Iterator[doc.Section]:
    """Draw the differences in the slices, one picture per measure and pair."""
    if not result.slices:
        return
    groups: dict[tuple[str, tuple[str, str]], list[Difference]] = {}
    for one in result.slices[:MAX_ROWS]:
        key = (one.comparison.measure, one.comparison.names)
        drawn = Difference.of(one.comparison, f"{one.slice} ({count(one.n)})", one.finding)
        groups.setdefault(key, []).append(drawn)
    yield differences_section(
        "Where is it better, where worse? Slices",
        (
            DifferenceGroup(f"{title_of(measure)}: {second} − {first}. {side_words(rows[0])}", rows)
            for (measure, (first, second)), rows in groups.items()
        ),
        level=percent(result.level),
        left_out=len(result.slices) - MAX_ROWS,
    )


def slice_table(result: Comparisons) -> doc.Table | None:
    """Give one row per slice and pair: the change, its interval, and what is sure among all."""
    if not result.slices:
        return None
    columns: doc.Cells = {
        "Slice": lambda one: one.slice,
        "#n": lambda one: count(one.n),
        "Measure": lambda one: title_of(one.comparison.measure),
    }
    if len(result.names) > 2:
        columns["Pair"] = lambda one: " − ".join(reversed(one.comparison.names))
    columns |= {
        "#Change": lambda one: signed_words(one.comparison.difference)[0],
        f"#{interval_heading(result.level)}": (
            lambda one: signed_words(one.comparison.difference)[1]
        ),
        "#p (Holm)": lambda one: p_words(one.adjusted),
        "Finding": lambda one: one.finding,
    }
    return doc.table("Slices", columns, result.slices)


def comparisons_tables(result: Comparisons, *, short: bool = False) -> Iterator[doc.Table]:
    """Give every table, for pages and files; the short form, for a terminal, the main ones."""
    if len(result.names) == 2:
        yield two_model_table(result)
    else:
        yield pair_table(result)
        if not short or len(result.names) <= MAX_MODELS_SHOWN:
            yield value_table(result)
        if not short:
            yield from (pair_table(result, measure) for measure in result.measures[1:])
            yield tier_table(result)
    others = other_test_table(result, (result.measure,) if short else result.measures)
    yield from filter(None, (slice_table(result), right_table(result), others))


def two_model_table(result: Comparisons) -> doc.Table:
    """Give one row per measure: both values, the difference, its interval, test and finding."""
    first, second = result.names
    numeric = (first, second, "Change", interval_heading(result.level), "p")
    columns = doc.heads("Measure", *doc.number_columns(numeric), "Finding")
    mark = marks_of(result, DIFFERENCE)

    def decimals(one: Comparison) -> int:
        ends = one.difference.interval
        return 3 if ends is None else decimals_for(ends.width)

    rows = tuple(
        (
            title_of(one.measure),
            *(number(model.value, decimals(one)) for model in (one.first, one.second)),
            *_marked(one.difference, mark),
            p_words(one.p_value),
            one.finding,
        )
        for one in result.pairs
    )
    return doc.Table(f"{second} against {first}", columns, rows)


def pair_table(result: Comparisons, measure: str | None = None) -> doc.Table:
    """Give one row per pair of models, by one measure: the main one if none is named."""
    name, mark = measure or result.measure, marks_of(result, DIFFERENCE)
    columns: doc.Cells = {
        "Model": lambda one: one.names[1],
        "against": lambda one: one.names[0],
        "#Change": lambda one: _marked(one.difference, mark)[0],
        f"#{interval_heading(result.level)}": lambda one: _marked(one.difference, mark)[1],
        "#p": lambda one: p_words(one.p_value),
    }
    if name == result.measure:
        columns["#p (Holm)"] = lambda one: p_words(result.adjusted[one.names])
    columns["Finding"] = lambda one: finding_among(result, one)
    pairs = [one for one in result.pairs if one.measure == name]
    return doc.table(f"{title_of(name)}, every pair", columns, pairs)


def _marked(difference: Estimate, mark: Callable[[Estimate], str]) -> tuple[str, str]:
    value, interval = signed_words(difference)
    return value, f"{interval}{mark(difference)}"


def finding_among(result: Comparisons, comparison: Comparison) -> str:
    """Give the finding as it stands among all pairs: by the main measure, p-values are adjusted."""
    alone = comparison.measure != result.measure or comparison.finding not in {"better", "worse"}
    if alone or result.adjusted[comparison.names] <= 1 - result.level:
        return comparison.finding
    return f"{comparison.finding} alone"


def tier_table(result: Comparisons) -> doc.Table:
    """Give one row per model: the best first, in tiers of models that cannot be told apart."""
    columns = doc.heads(
        "Model", *doc.number_columns((title_of(result.measure), "Interval", "Tier"))
    )
    rows = []
    entry = measure_of(result.measure)[0]
    sign = -1.0 if entry is not None and entry.higher_is_better is False else 1.0
    for place, tier in enumerate(result.tiers, start=1):
        estimates = {name: result.evaluations[name].get(result.measure) for name in tier}
        known = {name: one for name, one in estimates.items() if one is not None}
        for name in sorted(known, key=lambda name: -sign * known[name].value):
            words = written(known[name])
            rows.append((name, words.value, words.interval, str(place)))
    return doc.Table("Models in tiers, the best first", columns, tuple(rows))


def value_table(result: Comparisons) -> doc.Table:
    """Give one row per measure, and a column a model."""
    columns = doc.heads("Measure", *doc.number_columns(result.names))
    evaluations = [result.evaluations[name] for name in result.names]
    rows = tuple(
        (
            title_of(name),
            *(number(one[name].value) if name in one else NO_INTERVAL for one in evaluations),
        )
        for name in result.measures
    )
    return doc.Table("Values", columns, rows)


def right_table(result: Comparisons) -> doc.Table | None:
    """Give one row per pair: on how many examples both are right, only one, or neither."""
    if not result.tables:
        return None
    columns = doc.heads(
        "First", "Second", *doc.number_columns(("Both", "Only first", "Only second", "Neither"))
    )
    rows = tuple((*one.names, *map(count, one.counts)) for one in result.tables)
    return doc.Table("Right on how many examples", columns, rows)


def other_test_table(result: Comparisons, measures: tuple[str, ...]) -> doc.Table | None:
    """Give one row per test of these measures, beside the one that the finding rests on."""
    columns: doc.Cells = {"Measure": lambda row: title_of(row[0][0])}
    if len(result.names) > 2:
        columns["Models"] = lambda row: f"{row[0][2]} against {row[0][1]}"
    columns |= {
        "Test": lambda row: spoken(row[1].method),
        "#p": lambda row: p_words(row[1].p_value),
    }
    tests = [(key, one) for key, of_pair in result.beside.items() for one in of_pair]
    table = doc.table("Other tests", columns, (row for row in tests if row[0][0] in measures))
    return table if table.rows else None


def comparison_remarks(result: Comparisons) -> tuple[str, ...]:
    """Give the notes of the whole, and those of single comparisons, each told once."""
    text = doc.each_once(
        (title_of(one.measure), note) for one in result.pairs for note in one.notes
    )
    listed = (f"{'; '.join(dict.fromkeys(titles))}: {note}" for note, titles in text.items())
    several = len(result.measures) > 1
    alone = "The p-values of different measures are not adjusted for being several."
    return (*result.notes, *listed, *([alone] if several else []))


def _blocks(result: Comparisons, *, tiers: bool = False) -> Iterator[doc.Block]:
    """Give what a terminal shows: the verdict, the tables, the notes, and what was assumed."""
    yield doc.Sentences(result.verdict)
    yield from [tier_table(result)] if tiers else comparisons_tables(result, short=True)
    yield doc.Sentences(comparison_remarks(result), "Notes")
    facts = [pair for pair in comparisons_facts(result) if pair[0] != "the numbers are about"]
    yield doc.FactList([*facts, *source_facts(result.source)])


def _pictures(result: Comparisons) -> doc.Pictures:
    """Draw the differences of two models, one row per measure; of more, one row per pair."""
    two = len(result.names) == 2
    drawn = [one for one in result.pairs if two or one.measure == result.measure]
    yield "differences", difference_forest(drawn)


def comparisons_facts(result: Any) -> doc.Facts:
    """Say what was assumed, in pairs of words."""
    yield "models", plain_text(result.names)
    yield "examples", count(result.n)
    yield "main measure", title_of(result.measure)
    yield "confidence level", percent(result.level)
    yield "the numbers are about", targets_of(one.difference for one in result.pairs)
    given = {name: value for name, value in result.settings.items() if value is not None}
    yield from setting_facts(given, skip={"level"})


def _uses(result: Any) -> Iterator[Use]:
    weighted = any(map(is_weighted, result.evaluations.values()))
    for one in (*result.pairs, *(part.comparison for part in result.slices)):
        yield from difference_uses(one, weighted=weighted)
    for evaluation in result.evaluations.values():
        yield from prediction_uses(evaluation)


def _next_steps(result: Any) -> Iterator[str]:
    """Say what to do about models that were compared by their predictions."""
    if len(result.names) == 2:
        main = result[result.measure]
        against = measures_against(
            main, [one for one in result.pairs if one.measure != result.measure]
        )
        yield from (
            decide_what_counts(main, against, COMPARE)
            if against
            else after_two(main, result.n, COMPARE)
        )
        return
    text = [
        one
        for one in result.pairs
        if one.measure == result.measure
        and one.finding in {"better", "worse"}
        and result.adjusted[one.names] <= 1 - result.level
    ]
    if not text:
        yield from _collect([one for one in result.pairs if one.measure == result.measure], result)
    if result.best is not None:
        corrected, own = written(result.best.corrected), written(result.best.own)
        yield (
            f"Judge {result.best.name} on examples that did not choose it: it looks best of "
            f"{len(result.names)} here, and without that luck {title_of(result.measure)} is "
            f"{corrected.value} {corrected.interval}, not {own.value}: `truerisk score`."
        )


def _collect(pairs: Sequence[Comparison], result: Any) -> Iterator[str]:
    defined = [one for one in pairs if one.settled_by is not None]
    if not defined:
        return
    closest = min(defined, key=lambda one: one.settled_by or 0)
    more = max((closest.settled_by or 0) - result.n, 1)
    yield (
        f"Collect about {count(more)} more examples to tell {closest.names[1]} from "
        f"{closest.names[0]} ({difference_words(closest)}), the pair that is settled first: "
        f"`truerisk {COMPARE}` again with them."
    )


COMPARISONS = Presenter(
    chapter=comparisons_chapter,
    blocks=_blocks,
    tables=comparisons_tables,
    facts=comparisons_facts,
    next_steps=_next_steps,
    intervals=_uses,
    pictures=_pictures,
)
