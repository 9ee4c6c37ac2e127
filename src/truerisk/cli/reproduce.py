"""`truerisk reproduce`: a table of a paper recomputed, its figures beside ours."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import with_options
from truerisk.cli.output import format_options, show_rows
from truerisk.cli.progress import Progress

if TYPE_CHECKING:
    from truerisk.reproduction import Reproduction

DATA_VARIABLE = "TRUERISK_DATA"
# Of single experiments; the name of an option is that of the setting.
PARAMETERS = (
    click.option("--datasets", type=click.IntRange(min=2), help="Simulated data sets; 1,000."),
    click.option("--replicates", type=click.IntRange(min=20), help="Perturbations; 1,000."),
    click.option(
        "--losses",
        multiple=True,
        type=click.Choice(["training", "cross_validated"]),
        help="Losses that are perturbed; both.",
    ),
    click.option("--sigma", "sigmas", multiple=True, type=float, help="Deviation of normals; 2.5."),
    click.option("--partitions", type=click.IntRange(1, 50), help="Partitions judged; 10."),
    click.option(
        "--noise", "noises", multiple=True, type=float, help="Labels turned; 0, 0.02, 0.05, 0.1."
    ),
    click.option("--cutoff", type=float, help="Resistance factor that is resistant; 3."),
    click.option("--sites", metavar="30,32,…", help="Sites of the protease."),
    click.option(
        "--encoding", type=click.Choice(["amino_acids", "indicators"]), help="How a site is coded."
    ),
    click.option("--jobs", "n_jobs", type=int, help="Processes; 1, -1 for all cores."),
)


def _parameters(function: Callable[..., None]) -> Callable[..., None]:
    return with_options(PARAMETERS, function)


@click.command(short_help="A table of a paper recomputed, its figures beside ours.")
@click.argument("table", required=False)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    envvar=DATA_VARIABLE,
    show_envvar=True,
    help="Folder with the collections or data sets.",
)
@click.option(
    "--splits", type=click.IntRange(min=1), default=10, show_default=True, help="Random splits."
)
@click.option(
    "--random-state",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of all that is drawn.",
)
@_parameters
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
    **parameters: Any,  # noqa: ANN401
) -> None:
    """Recompute TABLE; without it, list the tables there are.

    Tables made from collections need the folder with them, which this package does not hold.
    Parameters that a paper leaves unsaid are options; a table refuses those it does not use.

    \b
    truerisk reproduce
    truerisk reproduce shah-shanian-table2
    truerisk reproduce joachims-table1 --data corpora
    truerisk reproduce joachims-figures4-6 --data corpora --splits 20 --plot curves.png
    truerisk reproduce jiang-table2 --datasets 200 --sigma 2.5 --sigma 3 --jobs -1
    truerisk reproduce jiang-table5 --data tables --cutoff 3.5
    """
    from truerisk.checks import check_choice  # noqa: PLC0415  (costs start-up time)
    from truerisk.reproduction import (  # noqa: PLC0415
        EXPERIMENTS,
        SIMULATIONS,
        TABLES,
        Settings,
    )

    if table is None:
        click.echo("\n".join([*TABLES, *EXPERIMENTS, *SIMULATIONS]))
        return
    name = check_choice(table, [*TABLES, *EXPERIMENTS, *SIMULATIONS], "table")
    given = {key: value for key, value in parameters.items() if value not in {None, ()}}
    _refuse_unused(name, given, SIMULATIONS[name].uses if name in SIMULATIONS else ())
    if plot is not None:
        from truerisk.reproduction.pictures import check_picture  # noqa: PLC0415

        check_picture(plot)
    if name in TABLES:
        found = TABLES[name]()
    elif name in SIMULATIONS:
        found = _simulated(name, data, random_state, given)
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


def _refuse_unused(name: str, given: dict[str, Any], uses: tuple[str, ...]) -> None:
    """Refuse an option that says nothing about this table."""
    for option in click.get_current_context().command.params:
        if option.name in given and option.name not in uses:
            raise click.UsageError(f"{option.opts[0]} is no parameter of {name}.")


def _simulated(
    name: str, data: Path | None, random_state: int, given: dict[str, Any]
) -> "Reproduction":
    from truerisk.reproduction import SIMULATIONS, JiangSettings  # noqa: PLC0415

    simulation = SIMULATIONS[name]
    if "data" in simulation.uses and data is None:
        raise click.UsageError(
            f"{name} is made from data sets: name their folder by --data, or in {DATA_VARIABLE}."
        )
    if "sites" in given:
        given = {**given, "sites": _sites(given["sites"])}
    with Progress("Drawing, training, testing") as progress:
        settings = JiangSettings(
            data=data, random_state=random_state, progress=progress.steps, **given
        )
        return simulation.run(settings)


def _sites(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(site) for site in text.split(","))
    except ValueError:
        raise click.UsageError(f"--sites must be numbers such as 30,32; got {text!r}.") from None


def _show(found: "Reproduction", form: str | None) -> None:
    if form is None:
        click.echo(found)
    elif form == "markdown":
        click.echo(found.as_markdown())
    else:
        facts = {"source": found.source, "conclusion": found.conclusion}
        show_rows(found.title, found.columns, found.rows, form, facts)
