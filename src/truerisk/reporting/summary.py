"""Evaluation → tables on a terminal, readable at 80 columns."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from truerisk.reporting.escaping import visible
from truerisk.reporting.tables import (
    Table,
    class_table,
    confusion_table,
    measure_table,
    mistake_table,
    provenance,
    remarks,
)
from truerisk.reporting.wording import UNDEFINED
from truerisk.results import Evaluation

MAX_CLASSES_SHOWN = 20
CLASS_MEASURES = ("precision", "recall", "f1")  # three fit beside their intervals
WIDE_CELLS = 4  # classes up to which count and share stand side by side
MAX_IN_A_LINE = 2000


def print_summary(evaluation: Evaluation, console: Console) -> None:
    """Print the verdict, the tables, the notes, and what was assumed."""
    print_sentences(evaluation.verdict, console)
    print_table(measure_table(evaluation), console)
    narrow = len(evaluation.labels) > WIDE_CELLS
    confusion = confusion_table(evaluation, narrow=narrow)
    for table in (_classes(evaluation), confusion, mistake_table(evaluation)):
        if table is not None:
            print_table(table, console)
    left = len(evaluation.by_class) - MAX_CLASSES_SHOWN
    if left > 0:
        console.print(Text(f"… and {left:,} classes more: --json and --html show them."))
        console.print()
    print_sentences(remarks(evaluation), console, heading="Notes")
    print_facts(provenance(evaluation), console)


def print_sentences(sentences: Iterable[str], console: Console, heading: str | None = None) -> None:
    """Print sentences as a list, wrapped."""
    told = [visible(sentence, most=MAX_IN_A_LINE) for sentence in sentences]
    if not told:
        return
    if heading is not None:
        console.print(Text(heading, style="bold"))
    for sentence in told:
        grid = RichTable.grid(padding=(0, 1))
        grid.add_row(Text("•", style="cyan"), Text(sentence))
        console.print(grid)
    console.print()


def print_table(table: Table, console: Console) -> None:
    """Print a table; texts are shown, never interpreted."""
    drawn = RichTable(
        title=Text(table.title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="dim",
    )
    for column in table.columns:
        drawn.add_column(
            Text(visible(column.heading)),
            justify="right" if column.numeric else "left",
            overflow="fold",
        )
    for row in table.rows:
        cells = zip(table.columns, row, strict=True)
        drawn.add_row(*(_cell(cell, numeric=column.numeric) for column, cell in cells))
    console.print(drawn)


def print_facts(facts: Iterable[tuple[str, str]], console: Console) -> None:
    """Print pairs of a name and what it is."""
    grid = RichTable.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        words = (visible(name), visible(value, most=MAX_IN_A_LINE))
        grid.add_row(Text(words[0], style="dim"), Text(words[1]))
    console.print(Text("Settings and source", style="bold"))
    console.print(Padding(grid, (0, 0, 1, 0)))


def _cell(words: str, *, numeric: bool) -> Text:
    shown = words if numeric else visible(words)
    return Text(shown, style="yellow" if words == UNDEFINED else "")


def _classes(evaluation: Evaluation) -> Table | None:
    if not evaluation.by_class:
        return None
    offered = next(iter(evaluation.by_class.values()))
    chosen = tuple(name for name in CLASS_MEASURES if name in offered) or tuple(offered)[:3]
    table = class_table(evaluation, chosen)
    return (
        None if table is None else Table(table.title, table.columns, table.rows[:MAX_CLASSES_SHOWN])
    )
