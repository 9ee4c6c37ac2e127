"""What a command prints, and how it ends."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import click

from truerisk.cli import FINDING, PARTIAL
from truerisk.errors import InputError
from truerisk.results import Evaluation, Reportable

Function = TypeVar("Function", bound=Callable[..., Any])
Bounds = Sequence[tuple[str, float]]
Rows = Sequence[tuple[Any, ...]]

NUMBER = re.compile(r"-?[\d,]*\.?\d+(e[-+]?\d+)?( %)?|-?∞|undefined|–")
FORMAT_FLAGS = {
    "json": "Print one JSON object.",
    "csv": "Print CSV, one row a measure.",
    "markdown": "Print Markdown tables.",
    "latex": "Print LaTeX tables.",
}


def format_options(*names: str) -> Callable[[Function], Function]:
    """Add a flag for each of the named formats; the command gets the chosen one as `form`."""

    def add(function: Function) -> Function:
        for name in reversed(names):
            option = click.option(
                f"--{name}", "form", flag_value=name, default=None, help=FORMAT_FLAGS[name]
            )
            function = option(function)
        return function

    return add


def console(piped_width: int = 80) -> Any:  # noqa: ANN401
    """Give the terminal, which never interprets texts.

    Where there is none it is as wide as COLUMNS says, else `piped_width`.
    """
    from rich.console import Console  # noqa: PLC0415  (only tables need it)

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which the group turns into an exit code

    columns = os.environ.get("COLUMNS", "")
    width = None
    if not sys.stdout.isatty():
        width = int(columns) if columns.isdigit() and int(columns) > 0 else piped_width
    return Terminal(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def show(result: Reportable, form: str | None, **extra: Any) -> None:  # noqa: ANN401
    """Print a result: as tables, or in the named format; `extra` goes into JSON only."""
    if form is None:
        from truerisk.reporting.render.terminal import print_result  # noqa: PLC0415  (needs rich)

        print_result(result, console())
    else:
        from truerisk.reporting.render.formats import formatted  # noqa: PLC0415  (start-up time)

        click.echo(formatted(result, form, **extra))


def show_rows(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    form: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Print rows as a table, or in the format asked for; `facts` are told in JSON only."""
    ROW_FORMATS[form](title, columns, [tuple(row) for row in rows], facts or {})


def _rows_as_csv(_: str, columns: Sequence[str], rows: Rows, __: Mapping[str, Any]) -> None:
    from truerisk.reporting.render.formats import csv_lines  # noqa: PLC0415  (only formats need it)

    click.echo(csv_lines(columns, rows))


def _rows_as_json(title: str, columns: Sequence[str], rows: Rows, facts: Mapping[str, Any]) -> None:
    from truerisk.reporting.render.formats import json_text  # noqa: PLC0415  (only formats need it)
    from truerisk.results import as_plain  # noqa: PLC0415

    listed = [dict(zip(columns, row, strict=True)) for row in rows]
    click.echo(json_text({"title": title, **as_plain(facts), "rows": as_plain(listed)}))


def _rows_as_table(title: str, columns: Sequence[str], rows: Rows, _: Mapping[str, Any]) -> None:
    from truerisk.reporting.document import Column, Table  # noqa: PLC0415
    from truerisk.reporting.render.terminal import print_table  # noqa: PLC0415  (needs rich)
    from truerisk.reporting.wording import plain_text  # noqa: PLC0415

    words = tuple(tuple(plain_text(cell) for cell in row) for row in rows)
    numeric = [all(NUMBER.fullmatch(row[at]) for row in words) for at in range(len(columns))]
    heads = tuple(Column(*pair) for pair in zip(columns, numeric, strict=True))
    print_table(Table(title, heads, words), console())


ROW_FORMATS: dict[str | None, Callable[[str, Sequence[str], Rows, Mapping[str, Any]], None]] = {
    None: _rows_as_table,
    "csv": _rows_as_csv,
    "json": _rows_as_json,
}


def finish(evaluation: Evaluation, fail_under: Bounds = (), fail_over: Bounds = ()) -> None:
    """End with the code that the checks, or an undefined measure, ask for."""
    findings = [
        *(_finding(evaluation, *bound, lowest=True) for bound in fail_under),
        *(_finding(evaluation, *bound, lowest=False) for bound in fail_over),
    ]
    failed = [finding for finding in findings if finding is not None]
    for finding in failed:
        click.echo(f"Check failed: {finding}", err=True)
    if failed:
        sys.exit(FINDING)
    if evaluation.undefined:
        _tell_undefined(evaluation)


def check_names(evaluation: Evaluation, *bounds: Bounds) -> None:
    """Refuse a check of a measure that these predictions do not have."""
    for measure, _ in (pair for group in bounds for pair in group):
        if measure not in evaluation:
            raise InputError(
                f"`--fail-under` and `--fail-over` must name a measure of these predictions: "
                f"{', '.join(evaluation)}; got {measure!r}."
            )


def _tell_undefined(evaluation: Evaluation) -> NoReturn:
    names = ", ".join(evaluation.undefined)
    click.echo(f"Partial result: undefined on these examples: {names}.", err=True)
    sys.exit(PARTIAL)


def _finding(evaluation: Evaluation, measure: str, wanted: float, *, lowest: bool) -> str | None:
    from truerisk.reporting.wording import number, percent  # noqa: PLC0415

    estimate = evaluation[measure]
    sign, side = ("≥", "lower") if lowest else ("≤", "upper")
    claim = f"{measure} {sign} {wanted:g} is not shown"
    if not estimate.is_defined:
        return f"{claim}: it is undefined on these examples."
    if estimate.interval is None:
        return f"{claim}: it has no interval."
    bound = estimate.interval.low if lowest else estimate.interval.high
    if bound >= wanted if lowest else bound <= wanted:
        return None
    level = percent(estimate.interval.level)
    return f"{claim}: the {side} end of its {level} interval is {number(bound, 6)}."
