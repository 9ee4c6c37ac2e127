"""`truerisk reproduce`: a table of a paper recomputed, its figures beside ours."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from truerisk.cli.output import format_options, show_rows
from truerisk.cli.progress import Progress

if TYPE_CHECKING:
    from truerisk.reproduction import Reproduction

DATA_VARIABLE = "TRUERISK_DATA"


@click.command(short_help="A table of a paper recomputed, its figures beside ours.")
@click.argument("table", required=False)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    envvar=DATA_VARIABLE,
    show_envvar=True,
    help="Folder with the text collections.",
)
@click.option(
    "--splits", type=click.IntRange(min=1), default=10, show_default=True, help="Random splits."
)
@click.option(
    "--random-state",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of the random splits.",
)
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw it, too: PNG, SVG, PDF."
)
@format_options("json", "csv", "markdown")
def reproduce(
    table: str | None,
    *,
    data: Path | None,
    splits: int,
    random_state: int,
    plot: Path | None,
    form: str | None,
) -> None:
    """Recompute TABLE; without it, list the tables there are.

    Tables made from text collections need the folder with them, which this package does not hold.

    \b
    truerisk reproduce
    truerisk reproduce shah-shanian-table2
    truerisk reproduce joachims-table1 --data corpora
    truerisk reproduce joachims-figures4-6 --data corpora --splits 20 --plot curves.png
    """
    from truerisk.checks import check_choice  # noqa: PLC0415  (costs start-up time)
    from truerisk.reproduction import EXPERIMENTS, TABLES, Settings  # noqa: PLC0415

    if table is None:
        click.echo("\n".join([*TABLES, *EXPERIMENTS]))
        return
    name = check_choice(table, [*TABLES, *EXPERIMENTS], "table")
    if plot is not None:
        from truerisk.reproduction.pictures import check_picture  # noqa: PLC0415

        check_picture(plot)
    if name in TABLES:
        found = TABLES[name]()
    else:
        if data is None:
            raise click.UsageError(
                f"{name} is made from text collections: name their folder by --data, or in "
                f"{DATA_VARIABLE}."
            )
        with Progress("Splitting, training, testing") as progress:
            settings = Settings(
                data=data, splits=splits, random_state=random_state, progress=progress.steps
            )
            found = EXPERIMENTS[name](settings)
    if plot is not None:
        from truerisk.reproduction.pictures import save_pictures  # noqa: PLC0415

        click.echo(f"The picture is in {save_pictures(found, plot)}", err=True)
    _show(found, form)


def _show(found: "Reproduction", form: str | None) -> None:
    if form is None:
        click.echo(found)
    elif form == "markdown":
        click.echo(found.as_markdown())
    else:
        facts = {"source": found.source, "conclusion": found.conclusion}
        show_rows(found.title, found.columns, found.rows, form, facts)
