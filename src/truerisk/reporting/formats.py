"""Evaluation → text that other programs read: one function a format, one table of them."""

import csv
import dataclasses
import io
import json
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from truerisk.reporting.escaping import csv_text, latex, markdown
from truerisk.reporting.tables import (
    Table,
    class_table,
    confusion_of,
    confusion_table,
    measure_table,
)
from truerisk.results import Estimate, Evaluation, as_plain

SCHEMA = "truerisk/evaluation/1"
LARGEST_CONFUSION = 1000  # a larger one has a million entries, nearly all 0
CSV_COLUMNS = (
    "measure", "class", "value", "low", "high", "level", "interval", "n", "target", "notes",
)  # fmt: skip


def as_json(evaluation: Evaluation) -> str:
    """Write the evaluation as one JSON object: every number in full, undefined as null.

    Tallies are told as the confusion table; curves are left out, they are pictures, and so is what
    differs from run to run, such as times.
    """
    names = [entry.name for entry in dataclasses.fields(evaluation) if entry.repr]
    plain = {name: as_plain(getattr(evaluation, name)) for name in names}
    return json_text({"schema": SCHEMA, **plain, "confusion": _confusion(evaluation)})


def json_text(plain: dict[str, Any]) -> str:
    """Write plain values as JSON that says which version wrote it; all of it ASCII."""
    return json.dumps({"version": version("truerisk"), **plain}, indent=2, allow_nan=False)


def as_csv(evaluation: Evaluation) -> str:
    """Write one row a measure, then one a class and measure; numbers in full."""
    rows = [_csv_row(name, "", estimate) for name, estimate in evaluation.items()]
    for label, estimates in evaluation.by_class.items():
        rows += [_csv_row(name, label, estimate) for name, estimate in estimates.items()]
    return csv_lines(CSV_COLUMNS, rows)


def csv_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write rows as CSV; text that a spreadsheet would run as a formula is quoted, numbers not.

    An undefined number is an empty cell.
    """
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow([csv_text(column) for column in columns])
    for row in rows:
        cells = as_plain(tuple(row))
        writer.writerow([csv_text(cell) if isinstance(cell, str) else cell for cell in cells])
    return page.getvalue().removesuffix("\n")


def as_markdown(evaluation: Evaluation) -> str:
    """Write the tables in Markdown."""
    return "\n\n".join(map(markdown_table, _tables(evaluation)))


def markdown_table(table: Table) -> str:
    """Write one table in Markdown."""
    lines = [
        [markdown(column.heading) for column in table.columns],
        ["---:" if column.numeric else ":---" for column in table.columns],
        *(_cells(table, row, markdown) for row in table.rows),
    ]
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"**{markdown(table.title)}**\n\n{drawn}"


def as_latex(evaluation: Evaluation) -> str:
    """Write the tables in LaTeX, with the rules of booktabs."""
    tables = "\n\n".join(map(latex_table, _tables(evaluation)))
    return f"% needs \\usepackage{{booktabs}}\n{tables}"


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


FORMATS: MappingProxyType[str, Callable[[Evaluation], str]] = MappingProxyType(
    {"json": as_json, "csv": as_csv, "markdown": as_markdown, "latex": as_latex}
)


def _tables(evaluation: Evaluation) -> Iterator[Table]:
    tables = (measure_table(evaluation), class_table(evaluation), confusion_table(evaluation))
    return (table for table in tables if table is not None)


def _cells(table: Table, row: tuple[str, ...], escape: Callable[[object], str]) -> list[str]:
    numeric = _latex_number if escape is latex else str
    return [
        numeric(cell) if column.numeric else escape(cell)
        for column, cell in zip(table.columns, row, strict=True)
    ]


def _latex_number(cell: str) -> str:
    signs = {"%": r"\%", "∞": r"$\infty$", "–": "--", "-": "$-$"}
    return "".join(signs.get(character, character) for character in cell)


def _csv_row(name: str, label: str, estimate: Estimate) -> tuple[Any, ...]:
    ends = estimate.interval
    told = ("",) * 4 if ends is None else (ends.low, ends.high, ends.level, ends.method)
    facts = (estimate.n, estimate.target, "; ".join(estimate.notes))
    return (name, label, estimate.value, *told, *facts)


def _confusion(evaluation: Evaluation) -> dict[str, Any] | None:
    found = confusion_of(evaluation)
    if found is None or len(found[0]) > LARGEST_CONFUSION:
        return None
    labels, counts = found
    return {"labels": list(labels), "rows_are": "truth", "counts": as_plain(counts)}
