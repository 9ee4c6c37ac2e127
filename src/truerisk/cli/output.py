"""What a command prints and writes, and its exit code."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from truerisk.cli import FINDING, PARTIAL
from truerisk.cli.options import Function, bounds, bundle, flag, option
from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.results import Evaluation, Reportable, has_code

if TYPE_CHECKING:
    from truerisk.inputs.tables import Table


DEFAULT_WIDTH = 80  # columns, where output is piped and COLUMNS is not set
NUMBER = re.compile(r"-?[\d,]*\.?\d+(e[-+]?\d+)?( %)?|-?∞|undefined|–")


# Options


class NamedPath(click.Path):
    """A path that has a name: an empty one is a variable of the shell that nobody set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse the empty path, which would be the current folder."""
        if value == "":
            self.fail("must not be empty.", param, ctx)
        return super().convert(value, param, ctx)


FORMAT_FLAGS = {
    "json": "Print one JSON object.",
    "csv": "Print CSV, one row per estimate.",
    "markdown": "Print Markdown tables.",
    "latex": "Print LaTeX tables.",
}
figures = bundle(
    option(
        "--figures",
        "Also draw figures into this folder; needs matplotlib.",
        NamedPath(path_type=Path),
        metavar="FOLDER",
    ),
    option(
        "--figure-format figure_formats",
        "Format of the figures; may be repeated.",
        ("svg", "png", "pdf"),
        ("svg",),
        multiple=True,
    ),
)
html = option(
    "--html", "Also write the result as a page.", NamedPath(path_type=Path), metavar="FILE"
)
page = bundle(html, figures)
checks = bundle(
    *(
        bounds(
            name,
            f"Exit with 1 unless the {end} end of the interval is at {bound} this; may be "
            "repeated.",
        )
        for name, end, bound in (
            ("--fail-under", "lower", "least"),
            ("--fail-over", "upper", "most"),
        )
    )
)
quiet = flag("-q --quiet", "Print nothing; report through the exit code.")


def formats(*names: str) -> Callable[[Function], Function]:
    """Add a flag for each of the named formats; the command gets the chosen one as `form`."""
    return bundle(
        *(option(f"--{name} form", FORMAT_FLAGS[name], flag_value=name) for name in names)
    )


# Refusals, before anything is read


def check_outputs(options: dict[str, Any], inputs: Iterable[Path]) -> None:
    """Refuse a page or a folder that cannot be written, before anything is computed for it."""
    page, folder, read = options.get("html"), options.get("figures"), list(inputs)
    source = click.get_current_context().get_parameter_source("figure_formats")
    if folder is None and source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--figure-format needs --figures FOLDER.")
    if page == Path("-"):
        raise click.UsageError("--html must name a file; standard output has the result.")
    if page is not None:
        from truerisk.reporting.files import check_destination

        check_destination(page, read)
    if folder is not None:
        from truerisk.reporting.render.figures import check_folder

        check_folder(folder, read)


def refuse_options(names: tuple[str, ...], what: str) -> None:
    """Refuse options of the command line that would be ignored."""
    context = click.get_current_context()
    given = [
        option.opts[0]
        for option in context.command.params
        if option.name in names
        and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)}: for {what}.")


def check_scoring(name: str) -> None:
    """Refuse a name that is no measure, nor a scorer of scikit-learn, before anything is read."""
    from truerisk.measures.registry import base_measure

    try:
        base_measure(name)
    except InputError:
        from sklearn.metrics import get_scorer_names

        if name not in get_scorer_names():
            raise


def check_bounds(options: dict[str, Any]) -> None:
    """Refuse a check of an unknown measure, or of a value that its measure cannot have."""
    from truerisk.gates import check_bound

    for check in ("fail_under", "fail_over"):
        for name, bound in options[check]:
            check_bound(name, bound, f"--{check.replace('_', '-')}")


# Printing


def console(width: int = DEFAULT_WIDTH) -> Any:
    """Open the terminal; where output is piped it is as wide as COLUMNS, else `width`."""
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # which the group turns into an exit code

    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        width = int(columns)
    piped = None if sys.stdout.isatty() else width
    return Terminal(file=sys.stdout, width=piped, highlight=False, markup=False, emoji=False)


def show(
    result: Reportable,
    form: str | None,
    *,
    extra: Mapping[str, Any] | None = None,
    width: int = DEFAULT_WIDTH,
    **fields: Any,
) -> None:
    """Print a result: as tables, or in a format; `extra` is part of the JSON only.

    `fields` are those of its presenter.
    """
    if form is None:
        from truerisk.reporting.render.terminal import print_result

        print_result(result, console(width), **fields)
    else:
        from truerisk.reporting.render.formats import formatted

        click.echo(formatted(result, form, **(extra or {})))


def show_rows(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    form: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Print rows as a table, or in a format; `facts` are part of the JSON only."""
    cells = [tuple(row) for row in rows]
    if form == "csv":
        from truerisk.reporting.render.formats import csv_lines

        click.echo(csv_lines(columns, cells))
    elif form == "json":
        from truerisk.reporting.render.formats import json_text
        from truerisk.results import as_plain

        listed = [dict(zip(columns, row, strict=True)) for row in cells]
        click.echo(json_text({"title": title, **as_plain(facts or {}), "rows": as_plain(listed)}))
    else:
        _print_rows(title, columns, cells)


def _print_rows(title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    from truerisk.reporting.document import Column, Table
    from truerisk.reporting.render.terminal import print_table
    from truerisk.reporting.wording import plain_text

    words = tuple(tuple(plain_text(cell) for cell in row) for row in rows)
    numeric = [all(NUMBER.fullmatch(row[at]) for row in words) for at in range(len(columns))]
    heads = tuple(Column(*pair) for pair in zip(columns, numeric, strict=True))
    print_table(Table(title, heads, words), console())


def table_source(table: "Table", **settings: Any) -> dict[str, Any]:
    """Describe where the examples of a table came from, for the page."""
    from truerisk.results import as_plain

    files = [] if table.source is None else [as_plain(table.source)]
    return {"files": files, "target": table.target, **settings}


# Files first, then the printed result


def deliver(
    result: Any,
    options: dict[str, Any],
    print_result: Callable[[], None] | None = None,
    *,
    source: Mapping[str, Any] | None = None,
    extra: Mapping[str, Any] | None = None,
    width: int = DEFAULT_WIDTH,
    **fields: Any,
) -> None:
    """Write the page and the figures, print the result, then say where the files are.

    Files come first: a reader that closes the pipe must not keep them from being written.  If
    they cannot be written, the result is printed all the same.  `source` is told on the page,
    `extra` in JSON; `fields` are those of the presenter.
    """
    quiet = options.get("quiet", False)
    failure, places = None, []
    try:
        places = write_files(result, options, source=source, **fields)
    except Exception as error:  # noqa: BLE001  (raised again below)
        failure = error
    if not quiet and print_result is not None:
        print_result()
    elif not quiet:
        show(result, options["form"], extra=extra, width=width, **fields)
    if failure is not None:
        raise failure
    if not quiet and options.get("form") is None:
        for sentence in places:
            click.echo(sentence)


def write_files(result: Any, options: dict[str, Any], **on_page: Any) -> list[str]:
    """Write the page and the figures of the options; return a sentence for each."""
    page, folder = options.get("html"), options.get("figures")
    places: list[str] = []
    if page is None and folder is None:
        return places
    with Progress("Drawing", quiet=options.get("quiet", False)) as progress:
        if page is not None:
            from truerisk.reporting.page import report_of

            report_of(result, **on_page).save(page)
            places.append(f"The page is in {page}")
        if folder is not None:
            from truerisk.reporting.render.figures import save_figures

            files = save_figures(result, folder, options["figure_formats"], progress=progress)
            are = "figure is" if len(files) == 1 else "figures are"
            places.append(f"{len(files)} {are} in {folder}")
    return places


# Exit codes


def finish(evaluation: Evaluation, options: dict[str, Any]) -> None:
    """Exit with the code of the checks, or of an undefined measure."""
    from truerisk.gates import at_least, at_most

    checks = [
        *(at_least(evaluation[name], bound) for name, bound in options["fail_under"]),
        *(at_most(evaluation[name], bound) for name, bound in options["fail_over"]),
    ]
    failed = [check for check in checks if not check.is_shown]
    for check in failed:
        click.echo(f"Check failed: {check}", err=True)
    if failed:
        sys.exit(FINDING)
    unavailable = {
        name: str(note)
        for name in evaluation.undefined
        for note in evaluation[name].notes
        if has_code([note], "unavailable")
    }
    for name, reason in unavailable.items():
        click.echo(f"{name} is {reason}.", err=True)
    if evaluation.undefined:
        exit_partial(f"undefined on these examples: {', '.join(evaluation.undefined)}")


def exit_partial(reason: str) -> NoReturn:
    """Exit with the code of a partial result."""
    click.echo(f"Partial result: {reason}.", err=True)
    sys.exit(PARTIAL)


def check_names(evaluation: Evaluation, options: dict[str, Any]) -> None:
    """Refuse a check of a measure that these predictions do not have."""
    for measure, _ in (*options["fail_under"], *options["fail_over"]):
        if measure not in evaluation:
            raise InputError(
                f"`--fail-under` and `--fail-over` must name a measure of these predictions: "
                f"{', '.join(evaluation)}; got {measure!r}."
            )
