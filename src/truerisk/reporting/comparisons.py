"""Comparisons → tables on a terminal, JSON, CSV, Markdown and LaTeX."""

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.reporting.formats import csv_of, json_text, latex_table, markdown_table
from truerisk.reporting.sections.differences import signed_words
from truerisk.reporting.tables import Column, Facts, Table, setting_facts, source_facts, spoken
from truerisk.reporting.wording import (
    NO_INTERVAL,
    count,
    decimals_for,
    interval_heading,
    number,
    p_words,
    percent,
    title_of,
)
from truerisk.results import Comparison, Estimate

if TYPE_CHECKING:
    from rich.console import Console

MAX_MODELS_SHOWN = 5  # whose values fit beside each other on a screen


def print_comparisons(result: Comparisons, console: "Console") -> None:
    """Print the verdict, the tables, the notes, and what was assumed."""
    from truerisk.reporting.summary import (  # noqa: PLC0415  (needs rich)
        print_facts,
        print_sentences,
        print_table,
    )

    print_sentences(result.verdict, console)
    for table in _terminal_tables(result):
        print_table(table, console)
    print_sentences(comparison_remarks(result), console, heading="Notes")
    print_facts(comparison_facts(result), console)


def _terminal_tables(result: Comparisons) -> Iterator[Table]:
    if len(result.names) == 2:
        yield two_model_table(result)
    else:
        yield pair_table(result)
        if len(result.names) <= MAX_MODELS_SHOWN:
            yield value_table(result)
    others = other_test_table(result, (result.measure,))
    yield from (table for table in (right_table(result), others) if table)


def comparison_tables(result: Comparisons) -> Iterator[Table]:
    """Give every table, for pages and files."""
    if len(result.names) == 2:
        yield two_model_table(result)
    else:
        yield pair_table(result)
        yield value_table(result)
        for measure in result.measures[1:]:
            yield pair_table(result, measure)
    others = other_test_table(result, result.measures)
    yield from (table for table in (right_table(result), others) if table)


def two_model_table(result: Comparisons) -> Table:
    """Give one row a measure: both values, the difference, its interval, test and finding."""
    first, second = result.names
    numeric = (first, second, "Change", interval_heading(result.level), "p")
    columns = (
        Column("Measure"),
        *(Column(one, numeric=True) for one in numeric),
        Column("Finding"),
    )
    rows = tuple(
        (
            title_of(one.measure),
            *(_value(one, estimate) for estimate in (one.first, one.second)),
            *signed_words(one.difference),
            p_words(one.p_value),
            one.finding,
        )
        for one in result.pairs
    )
    return Table(f"{second} against {first}", columns, rows)


def pair_table(result: Comparisons, measure: str | None = None) -> Table:
    """Give one row a pair of models, by one measure: the main one if none is named."""
    name = measure or result.measure
    main = name == result.measure
    adjusted = ("p (Holm)",) if main else ()
    numeric = ("Change", interval_heading(result.level), "p", *adjusted)
    columns = (
        Column("Model"),
        Column("against"),
        *(Column(one, numeric=True) for one in numeric),
        Column("Finding"),
    )
    rows = []
    for one in (one for one in result.pairs if one.measure == name):
        holm = (p_words(result.adjusted[one.names]),) if main else ()
        head = (one.names[1], one.names[0])
        words = (
            *signed_words(one.difference),
            p_words(one.p_value),
            *holm,
            finding_among(result, one),
        )
        rows.append((*head, *words))
    return Table(f"{title_of(name)}, every pair", columns, tuple(rows))


def finding_among(result: Comparisons, comparison: Comparison) -> str:
    """Give the finding as it stands among all pairs: by the main measure, p-values are adjusted.

    Examples
    --------
    >>> from truerisk.comparison.predictions.compare import compare
    >>> a, b, c = [1] * 11 + [0] * 9, [1] * 17 + [0] * 3, [1] * 16 + [0] * 4
    >>> result = compare([1] * 20, a, b, c, measures=["accuracy"])
    >>> [(one.finding, finding_among(result, one)) for one in result.pairs][1]
    ('better', 'better alone')
    """
    alone = comparison.measure != result.measure or comparison.finding not in {"better", "worse"}
    if alone or result.adjusted[comparison.names] <= 1 - result.level:
        return comparison.finding
    return f"{comparison.finding} alone"


def value_table(result: Comparisons) -> Table:
    """Give one row a measure, and a column a model."""
    columns = (Column("Measure"), *(Column(name, numeric=True) for name in result.names))
    rows = []
    for measure in result.measures:
        found = [result.evaluations[name].get(measure) for name in result.names]
        words = [NO_INTERVAL if one is None else number(one.value) for one in found]
        rows.append((title_of(measure), *words))
    return Table("Values", columns, tuple(rows))


def right_table(result: Comparisons) -> Table | None:
    """Give one row a pair: on how many examples both are right, only one, or neither."""
    if not result.tables:
        return None
    columns = (
        Column("First"),
        Column("Second"),
        *(Column(one, numeric=True) for one in ("Both", "Only first", "Only second", "Neither")),
    )
    rows = tuple((*one.names, *map(count, one.counts)) for one in result.tables)
    return Table("Right on how many examples", columns, rows)


def other_test_table(result: Comparisons, measures: tuple[str, ...]) -> Table | None:
    """Give one row a test of these measures, beside the one that the finding rests on."""
    several = len(result.names) > 2
    rows = []
    kept = {key: tests for key, tests in result.beside.items() if key[0] in measures}
    for (measure, first, second), tests in kept.items():
        models = (f"{second} against {first}",) if several else ()
        rows += [
            (title_of(measure), *models, spoken(one.method), p_words(one.p_value)) for one in tests
        ]
    if not rows:
        return None
    heads = (Column("Models"),) if several else ()
    columns = (Column("Measure"), *heads, Column("Test"), Column("p", numeric=True))
    return Table("Other tests", columns, tuple(rows))


def _value(comparison: Comparison, estimate: Estimate) -> str:
    ends = comparison.difference.interval
    return number(estimate.value, decimals_for(ends.width) if ends is not None else 3)


def comparison_remarks(result: Comparisons) -> tuple[str, ...]:
    """Give the notes of the whole, and those of single comparisons, each told once."""
    told: dict[str, list[str]] = {}
    for one in result.pairs:
        for note in one.notes:
            told.setdefault(note, []).append(title_of(one.measure))
    listed = (f"{'; '.join(dict.fromkeys(titles))}: {note}" for note, titles in told.items())
    several = len(result.measures) > 1
    alone = "The p-values of different measures are not adjusted for being several."
    return (*result.notes, *listed, *([alone] if several else []))


def comparison_facts(result: Comparisons) -> Facts:
    """Give what was assumed and where the predictions came from, as pairs of words."""
    yield "models", ", ".join(result.names)
    yield "examples", count(result.n)
    yield "main measure", title_of(result.measure)
    yield "confidence level", percent(result.level)
    given = {name: value for name, value in result.settings.items() if value is not None}
    yield from setting_facts(given, told={"level"})
    yield from source_facts(result.source)


def comparison_json(result: Comparisons) -> str:
    """Write everything as one JSON object; undefined is null."""
    return json_text(result.to_dict())


def comparison_csv(result: Comparisons) -> str:
    """Write one row a pair and measure; numbers in full."""
    return csv_of(result)


def comparison_markdown(result: Comparisons) -> str:
    """Write the tables in Markdown."""
    return "\n\n".join(map(markdown_table, comparison_tables(result)))


def comparison_latex(result: Comparisons) -> str:
    """Write the tables in LaTeX, with the rules of booktabs."""
    tables = "\n\n".join(map(latex_table, comparison_tables(result)))
    return f"% needs \\usepackage{{booktabs}}\n{tables}"


COMPARISON_FORMATS: MappingProxyType[str, Callable[[Comparisons], str]] = MappingProxyType(
    {
        "json": comparison_json,
        "csv": comparison_csv,
        "markdown": comparison_markdown,
        "latex": comparison_latex,
    }
)
