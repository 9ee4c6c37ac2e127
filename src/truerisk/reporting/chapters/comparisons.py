"""Comparisons → a chapter: every difference drawn against 0 and the region of equivalence."""

from collections.abc import Iterator, Sequence
from itertools import islice

from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.reporting.comparisons import (
    comparison_remarks,
    comparison_tables,
    finding_among,
)
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.sections.differences import (
    Difference,
    DifferenceGroup,
    difference_tile,
    differences_section,
)
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.tables import Table
from truerisk.reporting.wording import counted, measure_of, percent, title_of
from truerisk.results import Comparison

MAX_ROWS = 300  # differences drawn on one page
MAX_TILES = 4  # models whose main measure has a tile
SHARES = {(0.0, 1.0), (-1.0, 1.0)}  # measures of these ranges are drawn on one scale
SIDES = {True: "Higher is better", False: "Lower is better", None: "Neither side is better"}


def comparisons_chapter(result: Comparisons) -> Chapter:
    """Make the chapter of several models compared on the same examples.

    Examples
    --------
    >>> from truerisk.comparison.predictions.compare import compare
    >>> result = compare([1, 1, 0, 0] * 9, [1, 0, 0, 1] * 9, [1, 1, 0, 0] * 9)
    >>> [section.kind for section in comparisons_chapter(result).sections][:2]
    ['differences', 'table']
    """
    parts = (
        counted(result.n, "example"),
        f"{counted(len(result.names), 'model')}, {counted(len(result.name_pairs), 'pair')}",
        f"{percent(result.level)} intervals",
    )
    return Chapter(
        title="Which model is really better?",
        subtitle=" · ".join(parts),
        verdict=sentences(result.verdict),
        tiles=tuple(_tiles(result)),
        sections=(_differences(result), *map(table_section, _tables(result))),
        notes=sentences(comparison_remarks(result)),
    )


def _tables(result: Comparisons) -> Iterator[Table]:
    """Give the tables; that of two models would only say again what is drawn and written."""
    skipped = 1 if len(result.names) == 2 else 0
    yield from islice(comparison_tables(result), skipped, None)


def _tiles(result: Comparisons) -> Iterator[Tile]:
    """Give the main measure of each model, and what decides: their difference, or the best one."""
    for name in result.names[:MAX_TILES]:
        estimate = result.evaluations[name].get(result.measure)
        if estimate is not None:
            yield Tile.of(f"{title_of(result.measure)}: {name}", estimate)
    main = _main(result)
    if main is not None:
        yield difference_tile(main)
    if result.best is not None and len(result.names) > 2:
        beside = "without the luck of being chosen"
        yield Tile.of(f"The best, corrected: {result.best.name}", result.best.corrected, beside)


def _main(result: Comparisons) -> Difference | None:
    """Give the difference of two models by the main measure; more models have no single one."""
    if len(result.names) > 2 or result.measure not in result:
        return None
    return Difference.of(result[result.measure], title_of(result.measure))


def _differences(result: Comparisons) -> Section:
    """Draw two models measure by measure; more of them pair by pair, a picture a measure."""
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
        yield DifferenceGroup(f"{title_of(measure)}. {_words_of(rows[0])}", rows)


def by_measure(drawn: Sequence[Comparison]) -> Iterator[DifferenceGroup]:
    """Group the measures that share a scale, a region and the side that is better."""
    together: dict[tuple[bool | None, float | None], list[Difference]] = {}
    alone = []
    for one in drawn:
        row = Difference.of(one, title_of(one.measure))
        found, _ = measure_of(one.measure)
        if found is None or found.measure_range not in SHARES:
            alone.append(row)
        else:
            together.setdefault((row.higher_is_better, row.region), []).append(row)
    for rows in together.values():
        yield DifferenceGroup(_words_of(rows[0]), rows)
    for row in alone:
        yield DifferenceGroup(f"{_words_of(row)}, on a scale of its own", [row])


def _words_of(row: Difference) -> str:
    side = SIDES[row.higher_is_better]
    return side if row.region is None else f"{side}, ± {row.region:g} does not matter"
