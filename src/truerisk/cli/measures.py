"""`truerisk measures`: the list of measures, with their formulas."""

import click

from truerisk.cli import output as out
from truerisk.measures import MEASURES, find_measure
from truerisk.measures.registry import Measure

BETTER = {True: "higher is better", False: "lower is better", None: "neither end is better"}


@click.command()
@click.argument("name", required=False)
@out.formats("json", "csv")
def measures(name: str | None, form: str | None) -> None:
    """List the measures; with NAME, describe one.

    \b
    truerisk measures
    truerisk measures f1
    truerisk measures f0.5
    """
    entries = list(MEASURES.values()) if name is None else [find_measure(name)]
    if form is not None:
        columns = ("name", "title", "summary", "formula", "needs", "better", "range", "intervals")
        out.show_rows("measures", columns, map(_describe, entries), form)
    elif name is None:
        out.show_rows("Measures", ("name", "what it is"), [(m.name, m.summary) for m in entries])
    else:
        _print(entries[0])


def _describe(entry: Measure) -> tuple[str, ...]:
    low, high = entry.measure_range
    return (
        entry.name,
        entry.title,
        entry.summary,
        entry.formula,
        entry.needs,
        BETTER[entry.higher_is_better],
        f"[{low:g}, {high:g}]",
        " ".join(entry.intervals),
    )


def _print(entry: Measure) -> None:
    words = _describe(entry)
    titles = ("", "", "", "formula", "needs", "better", "range", "intervals")
    click.echo(f"{entry.title}\n{entry.summary}\n")
    for title, value in zip(titles[3:], words[3:], strict=True):
        click.echo(f"{title:<11}{value}")
    click.echo(f"{'undefined':<11}when {entry.undefined}")
