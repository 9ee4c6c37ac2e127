"""What a command writes besides what it prints: a page, and pictures as files."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from truerisk.cli.options import with_options
from truerisk.cli.progress import PATIENCE, Progress

if TYPE_CHECKING:
    from truerisk.inputs.tables import Table

Function = TypeVar("Function", bound=Callable[..., Any])


class NamedPath(click.Path):
    """A path that has a name: an empty one is a variable of the shell that nobody set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Refuse the empty path, which would be the current folder."""
        if value == "":
            self.fail("must not be empty.", param, ctx)
        return super().convert(value, param, ctx)


FIGURES = (
    click.option(
        "--figures",
        type=NamedPath(path_type=Path),
        metavar="FOLDER",
        help="Draw pictures into this folder, too.",
    ),
    click.option(
        "--figure-format",
        "figure_formats",
        type=click.Choice(["svg", "png", "pdf"]),
        default=("svg",),
        show_default=True,
        multiple=True,
        help="Of the pictures; may be repeated.",
    ),
)
PAGE = (
    click.option(
        "--html", type=NamedPath(path_type=Path), metavar="FILE", help="Write a page, too."
    ),
    *FIGURES,
)


def page_options(function: Function) -> Function:
    """Add the options that ask for a page and for pictures."""
    return with_options(PAGE, function)


def figure_options(function: Function) -> Function:
    """Add the options that ask for pictures, for a command whose result has no page."""
    return with_options(FIGURES, function)


def check_pages(options: dict[str, Any], inputs: Iterable[Path]) -> None:
    """Refuse a page or a folder that cannot be written, before anything is computed for it."""
    page, folder, read = options.get("html"), options["figures"], list(inputs)
    source = click.get_current_context().get_parameter_source("figure_formats")
    if folder is None and source is ParameterSource.COMMANDLINE:
        raise click.UsageError("--figure-format: goes with --figures, which says where to.")
    if page == Path("-"):
        raise click.UsageError("--html: must name a file; the standard output has the result.")
    if page is not None:
        from truerisk.reporting.files import check_destination  # noqa: PLC0415  (only for pages)

        check_destination(page, read)
    if folder is not None:
        from truerisk.reporting.render.figures import check_folder  # noqa: PLC0415  (only for figures)

        check_folder(folder, read)


def source_of(table: "Table", **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Say where the examples of a table came from, and what else is to be told beside it."""
    from truerisk.results import as_plain  # noqa: PLC0415  (costs start-up time)

    files = [] if table.source is None else [as_plain(table.source)]
    return {"files": files, "target": table.target, **settings}


def write_pages(result: Any, options: dict[str, Any], **chapter_options: Any) -> None:  # noqa: ANN401
    """Write the page and the pictures that were asked for, and say where they are."""
    page, folder, quiet = options.get("html"), options["figures"], options.get("quiet", False)
    if page is None and folder is None:
        return
    told = []
    with Progress("Drawing", quiet=quiet) as progress:
        if page is not None:
            from truerisk.reporting.page import report_of  # noqa: PLC0415  (only for pages)

            with _shown_in_time(progress):
                report_of(result, **chapter_options).save(page)
            told.append(f"The page is in {page}")
        if folder is not None:
            from truerisk.reporting.render.figures import save_figures  # noqa: PLC0415

            files = save_figures(result, folder, options["figure_formats"], progress=progress)
            are = "figure is" if len(files) == 1 else "figures are"
            told.append(f"{len(files)} {are} in {folder}")
    if not quiet and options.get("form") is None:
        for sentence in told:
            click.echo(sentence)


@contextmanager
def _shown_in_time(progress: Progress) -> Iterator[None]:
    """Show the bar once patience has run out, of work that cannot say how far it is."""
    timer = threading.Timer(PATIENCE, progress, [0])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
