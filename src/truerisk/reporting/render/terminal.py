"""Results → tables on a terminal, readable at 80 columns."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from truerisk.reporting.document import FactList, Sentences, Table
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import presenter_of
from truerisk.reporting.sections.coverage import unmeasured_note
from truerisk.results import UNDEFINED

MAX_IN_A_LINE = 2000
MIN_NAME = 8  # columns for a name, before numbers are broken
MIN_WORD = 12  # columns of a word, before it is broken after a hyphen or an underscore


def print_result(result: Any, console: Console, **options: Any) -> None:
    """Print a result as its presenter says: verdict, tables, notes, what was assumed."""
    for block in presenter_of(result, **options).blocks(result):
        if isinstance(block, Table):
            print_table(block, console)
        elif isinstance(block, FactList):
            print_facts(block.facts, console)
        elif isinstance(block, Sentences):
            print_sentences(block.texts, console, block.heading)
    note = unmeasured_note(result)
    if note:
        console.print(Text(note, style="dim"))


def print_sentences(sentences: Iterable[str], console: Console, heading: str | None = None) -> None:
    """Print sentences as a list, wrapped."""
    text = [visible(sentence, most=MAX_IN_A_LINE) for sentence in sentences]
    if not text:
        return
    if heading is not None:
        console.print(Text(heading, style="bold"))
    for sentence in text:
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
    # Numbers are not broken over lines as long as names still have room beside them; where they
    # have none, an interval goes to the next line whole.
    rows: Sequence[Sequence[str]] = table.rows
    if not _numbers_fit(table, rows, console.width):
        rows = [
            [
                cell.replace(" [", "\n[") if column.numeric else cell
                for column, cell in zip(table.columns, row, strict=True)
            ]
            for row in rows
        ]
    fits = _numbers_fit(table, rows, console.width)
    room = _room_of_a_name(table, rows, console.width)
    for column, width in zip(table.columns, _widths(table, rows), strict=True):
        whole = column.numeric and fits
        drawn.add_column(
            Text(visible(column.heading)),
            justify="right" if column.numeric else "left",
            overflow="fold",
            min_width=width if whole else None,
            no_wrap=whole and width >= len(column.heading),
        )
    for row in rows:
        cells = zip(table.columns, row, strict=True)
        shown = [cell if column.numeric else _broken(visible(cell), room) for column, cell in cells]
        drawn.add_row(*(Text(one, style="yellow" if one == UNDEFINED else "") for one in shown))
    console.print(drawn)


def _widths(table: Table, rows: Sequence[Sequence[str]]) -> list[int]:
    """Give the longest line of each column."""
    return [
        max((len(line) for row in rows for line in row[at].split("\n")), default=0)
        for at in range(len(table.columns))
    ]


def _numbers_fit(table: Table, rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the numbers fit in a line, with some room for names."""
    widths = _widths(table, rows)
    used = sum(
        own if column.numeric else MIN_NAME
        for column, own in zip(table.columns, widths, strict=True)
    )
    return used + 2 * len(widths) <= width


def _room_of_a_name(table: Table, rows: Sequence[Sequence[str]], width: int) -> int:
    """Give the columns that numbers leave for each name; the whole width where all fits."""
    widths = _widths(table, rows)
    numbers = [own for column, own in zip(table.columns, widths, strict=True) if column.numeric]
    left = width - 2 * len(widths) - sum(numbers)
    names = len(widths) - len(numbers)
    return width if sum(widths) - sum(numbers) <= left else max(left // max(names, 1), MIN_WORD)


def _broken(name: str, room: int) -> str:
    """Break words longer than the room after a hyphen or an underscore, where they have one."""
    return " ".join(_broken_word(word, room) for word in name.split(" "))


def _broken_word(word: str, room: int) -> str:
    if len(word) <= room:
        return word
    at = max(word.rfind("-", 0, room), word.rfind("_", 0, room)) + 1
    return f"{word[:at]}\n{_broken_word(word[at:], room)}" if at else word


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
