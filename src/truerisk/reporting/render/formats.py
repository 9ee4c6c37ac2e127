"""Results → text that programs read: JSON, CSV, Markdown, LaTeX; of gates JUnit and annotations."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from truerisk.reporting.document import Table
from truerisk.reporting.escaping import csv_text, latex, markdown, visible
from truerisk.reporting.presenter import presenter_of
from truerisk.reporting.sections.coverage import unmeasured_note
from truerisk.results import Reportable, as_plain, estimate_row

if TYPE_CHECKING:
    from truerisk.gates import GateResult

LATEX_SIGNS = str.maketrans({"%": r"\%", "∞": r"$\infty$", "–": "--", "-": "$-$"})  # of numbers
COUNTS = ("n", "settled_by")  # floats in the tidy rows, where one may be undefined


def formatted(result: Reportable, form: str, **extra: Any) -> str:
    """Write a result in the named format; what is `extra` goes into JSON only."""
    return json_of(result, **extra) if form == "json" else FORMATS[form](result)


def json_of(result: Reportable, **extra: Any) -> str:
    """Write a result as one JSON object: every number in full, undefined as null."""
    return json_text({**result.to_dict(), **as_plain(extra)})


def json_text(plain: dict[str, Any]) -> str:
    """Write plain values as JSON that says which version wrote it; all of it ASCII."""
    return json.dumps({"version": version("truerisk"), **plain}, indent=2, allow_nan=False)


def csv_of(result: Reportable) -> str:
    """Write the rows of any result, one per estimate; numbers in full."""
    rows = result.to_rows()
    columns = rows[0] if rows else estimate_row("", math.nan, None)
    return csv_lines(list(columns), [tuple(row.values()) for row in rows])


def csv_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write rows as CSV; text that a spreadsheet would run as a formula is quoted, numbers not.

    An undefined number is an empty cell.
    """
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow([csv_text(column) for column in columns])
    for row in rows:
        cells = as_plain(tuple(row))
        writer.writerow([_csv_cell(*pair) for pair in zip(columns, cells, strict=True)])
    return page.getvalue().removesuffix("\n")


def _csv_cell(column: str, cell: Any) -> Any:
    if isinstance(cell, str):
        return csv_text(cell)
    is_whole = column in COUNTS and isinstance(cell, float) and cell.is_integer()
    return int(cell) if is_whole else cell


def as_markdown(result: Reportable) -> str:
    """Write the tables in Markdown, and which intervals were not measured."""
    note = unmeasured_note(result)
    tables = map(markdown_table, presenter_of(result).tables(result))
    return "\n\n".join([*tables, *([markdown(note)] if note else [])])


def markdown_table(table: Table) -> str:
    """Write one table in Markdown."""
    lines = [
        [markdown(column.heading) for column in table.columns],
        ["---:" if column.numeric else ":---" for column in table.columns],
        *(_cells(table, row, markdown) for row in table.rows),
    ]
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"**{markdown(table.title)}**\n\n{drawn}"


def as_latex(result: Reportable) -> str:
    """Write the tables in LaTeX, with booktabs, and which intervals were not measured."""
    note = unmeasured_note(result)
    tables = map(latex_table, presenter_of(result).tables(result))
    parts = "\n\n".join([*tables, *([latex(note)] if note else [])])
    return f"% needs \\usepackage{{booktabs}}\n{parts}"


def latex_table(table: Table) -> str:
    """Write one table in LaTeX."""
    layout = "".join("r" if column.numeric else "l" for column in table.columns)
    heading = " & ".join(latex(column.heading) for column in table.columns)
    rows = [" & ".join(_cells(table, row, latex)) + r" \\" for row in table.rows]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{latex(table.title)}}}",
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            rf"{heading} \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _cells(table: Table, row: tuple[str, ...], escape: Callable[[object], str]) -> list[str]:
    numeric = LATEX_SIGNS if escape is latex else {}
    return [
        cell.translate(numeric) if column.numeric else escape(cell)
        for column, cell in zip(table.columns, row, strict=True)
    ]


FORMATS: MappingProxyType[str, Callable[[Reportable], str]] = MappingProxyType(
    {"json": json_of, "csv": csv_of, "markdown": as_markdown, "latex": as_latex}
)


def junit_xml(results: Sequence["GateResult"]) -> str:
    """Write one test suite per gate and one test case per claim."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    checks = [one for result in results for one in result.checks]
    lines.append(f"<testsuites {_counts(one.is_shown for one in checks)}>")
    for result in results:
        counts = _counts(one.is_shown for one in result.checks)
        lines.append(f"<testsuite name={_attribute(result.name)} {counts}>")
        for one in result.checks:
            case = f"<testcase classname={_attribute(result.name)} name={_attribute(one.claim)}"
            text = escape(visible(one.reason, most=len(one.reason)))
            if one.is_shown:
                lines.append(f"{case}><system-out>{text}</system-out></testcase>")
            else:
                lines.append(f'{case}><failure message="not shown">{text}</failure></testcase>')
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"])


def summary_markdown(results: Sequence["GateResult"]) -> str:
    """Write the answer and the table of each gate in Markdown."""
    parts = []
    for result in results:
        mark = "✅" if result.passed else "❌"
        failed = [f"- {markdown(str(one))}" for one in result.checks if not one.is_shown]
        answer = f"### {mark} {markdown(result.verdict)}"
        parts.append("\n\n".join([answer, as_markdown(result), "\n".join(failed)]).rstrip())
    return "\n\n".join(parts) + "\n"


def annotations(results: Sequence["GateResult"]) -> Iterable[str]:
    """Give one line per claim that is not shown, as a job of GitHub reads them."""
    for result in results:
        for one in result.checks:
            if not one.is_shown:
                title = _command(f"truerisk gate: {one.claim}", ":,")
                yield f"::error title={title}::{_command(one.reason)}"


def _counts(shown: Iterable[bool]) -> str:
    answers = list(shown)
    return f'tests="{len(answers)}" failures="{answers.count(False)}"'


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _command(text: str, also: str = "") -> str:
    return "".join(f"%{ord(one):02X}" if one in "%\r\n" + also else one for one in text)
