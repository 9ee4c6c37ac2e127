"""Recompute a table of a paper: `python -m studies.reproduction TABLE`."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from studies.reproduction import EXPERIMENTS, SIMULATIONS, TABLES, JiangSettings, Settings
from studies.reproduction.pictures import check_picture, save_pictures
from studies.reproduction.reproduced import Reproduction
from truerisk.checks import check_choice
from truerisk.errors import InputError, ResourceError

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
    click.option(
        "--partitions", type=click.IntRange(1, 50), help="Partitions or divisions evaluated; 10."
    ),
    click.option(
        "--noise", "noises", multiple=True, type=float, help="Labels flipped; 0, 0.02, 0.05, 0.1."
    ),
    click.option("--cutoff", type=float, help="Least factor that counts as resistant; 3."),
    click.option("--sites", metavar="30,32,…", help="Sites of the protease."),
    click.option(
        "--encoding", type=click.Choice(["amino_acids", "indicators"]), help="How a site is coded."
    ),
    click.option(
        "--resume",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Continue from this folder.",
    ),
    click.option("--jobs", "n_jobs", type=int, help="Processes; 1, -1 for all cores."),
)


def _parameters(function: Any) -> Any:
    for option in reversed(PARAMETERS):
        function = option(function)
    return function


def _forms(function: Any) -> Any:
    for form in ("markdown", "csv", "json"):
        option = click.option(f"--{form}", "form", flag_value=form, help=f"Print {form}.")
        function = option(function)
    return function


@click.command()
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
    "--seed",
    "random_state",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of all that is drawn.",
)
@_parameters
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw it, too: PNG, SVG, PDF."
)
@_forms
def main(
    table: str | None,
    *,
    data: Path | None,
    splits: int,
    random_state: int,
    plot: Path | None,
    form: str | None,
    **parameters: Any,
) -> None:
    """Recompute TABLE; without it, list the tables there are.

    Tables made from collections need the folder with them, which this repository does not hold.
    Parameters that a paper does not state are options; a table refuses those it does not use.

    \b
    python -m studies.reproduction
    python -m studies.reproduction shah-shanian-table2
    python -m studies.reproduction joachims-table1 --data corpora
    python -m studies.reproduction joachims-figures4-6 --splits 20 --plot curves.png
    python -m studies.reproduction jiang-table2 --datasets 200 --sigma 2.5 --sigma 3 --jobs -1
    python -m studies.reproduction shah-shanian-table2-trained --partitions 5 --resume run --jobs 2
    python -m studies.reproduction jiang-table5 --data tables --cutoff 3.5
    """
    names = [*TABLES, *EXPERIMENTS, *SIMULATIONS]
    if table is None:
        click.echo("\n".join(names))
        return
    given = {key: value for key, value in parameters.items() if value not in {None, ()}}
    try:
        name = check_choice(table, names, "table")
        _refuse_unused(name, given, SIMULATIONS[name].uses if name in SIMULATIONS else ())
        if plot is not None:
            check_picture(plot)
        reproduction = _reproduce(name, data, splits, random_state, given)
        if plot is not None:
            click.echo(f"The picture is in {save_pictures(reproduction, plot)}", err=True)
    except (InputError, ResourceError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(reproduction.written(form))


def _refuse_unused(name: str, given: dict[str, Any], uses: tuple[str, ...]) -> None:
    """Refuse an option that has no meaning for this table."""
    for option in click.get_current_context().command.params:
        if option.name in given and option.name not in uses:
            raise click.UsageError(f"{option.opts[0]} is no parameter of {name}.")


def _reproduce(
    name: str, data: Path | None, splits: int, random_state: int, given: dict[str, Any]
) -> Reproduction:
    if name in TABLES:
        return TABLES[name]()
    if data is None and (name in EXPERIMENTS or "data" in SIMULATIONS[name].uses):
        kind = "text collections" if name in EXPERIMENTS else "data sets"
        raise click.UsageError(
            f"{name} is made from {kind}: name their folder by --data, or in {DATA_VARIABLE}."
        )
    if name in EXPERIMENTS and data is not None:
        return EXPERIMENTS[name](
            Settings(data=data, splits=splits, random_state=random_state, progress=_with_bar)
        )
    if "sites" in given:
        given = {**given, "sites": _sites(given["sites"])}
    settings = JiangSettings(data=data, random_state=random_state, progress=_with_bar, **given)
    return SIMULATIONS[name].run(settings)


def _with_bar(items: Iterable[Any], total: int) -> Iterator[Any]:
    """Pass the items on, and show on a terminal how many are done."""
    for done, item in enumerate(items, start=1):
        yield item
        if sys.stderr.isatty():
            click.echo(f"\r{done} of {total}", nl=done == total, err=True)


def _sites(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(site) for site in text.split(","))
    except ValueError:
        raise click.UsageError(f"--sites must be numbers such as 30,32; got {text!r}.") from None


if __name__ == "__main__":
    main(prog_name="python -m studies.reproduction")
