"""Options of the commands that train learners on a table, and what is made of them."""

import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from truerisk.cli import INTERRUPTED, TERMINATED
from truerisk.cli.options import (
    decimal_option,
    delimiter_option,
    encoding_option,
    group_option,
    option_with_default,
    unescaped,
    with_options,
)
from truerisk.cli.progress import Progress
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.inputs.tables import Table

Function = TypeVar("Function", bound=Callable[..., Any])

FEATURES = (
    click.option(
        "--target", metavar="COLUMN", help="Column of the labels; recognised by its usual names."
    ),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Column that is no feature."),
    click.option("--text", metavar="COLUMN", multiple=True, help="Column of texts."),
    click.option("--categorical", metavar="COLUMN", multiple=True, help="Column of names."),
    click.option(
        "--missing-values",
        "missing_values",
        metavar="TEXT",
        multiple=True,
        help="Says missing: ?, NA.",
    ),
)
TABLE = (
    *FEATURES[:1],
    group_option,
    *FEATURES[1:],
    option_with_default(
        "--missing",
        type=click.Choice(["refuse", "drop"]),
        default="refuse",
        help="What to do with rows that have no label.",
    ),
    delimiter_option,
    encoding_option,
    decimal_option,
)
RUNNING = (
    option_with_default("--jobs", type=int, default=1, help="Processes; -1 for all cores."),
    click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster at this address."),
    click.option(
        "--resume",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Keep refits here, and go on from those that are here; needs --seed.",
    ),
)


def table_options(function: Function) -> Function:
    """Add the options that say how a table is read."""
    return with_options(TABLE, function)


def running_options(function: Function) -> Function:
    """Add the options that say where refits are run."""
    return with_options(RUNNING, function)


def table_from(data: Path, options: dict[str, Any]) -> "Table":
    """Read the table that the options describe."""
    from truerisk.inputs import ReadingOptions
    from truerisk.inputs.tables import read_table

    with Progress("Reading", quiet=options["quiet"]):
        return read_table(
            data,
            target=options["target"],
            group=options["group"],
            drop=options["drop"],
            text=options["text"],
            categorical=options["categorical"],
            missing_values=options["missing_values"],
            options=ReadingOptions(
                delimiter=unescaped(options["delimiter"]),
                encoding=options["encoding"],
                decimal=options["decimal"],
                missing=options["missing"],
            ),
        )


def models_from(
    names: tuple[str, ...], table: "Table", examples: int, *, tune: bool = False
) -> dict[str, Any]:
    """Make the learners that were named, each with its preprocessing; tuned if `tune`."""
    from truerisk.learners.named_models import find_grid, find_model

    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"`--model` must name each learner once; got {twice[0]!r} twice.")
    models = {name: find_model(name, table.kinds, examples=examples) for name in names}
    if not tune:
        return models
    from truerisk.learners.tuning import tuned

    return {name: tuned(model, find_grid(name)) for name, model in models.items()}


def seed_from(options: dict[str, Any]) -> int:
    """Return the seed; drawn if absent, but required with `--resume`."""
    seed: int | None = options["seed"]
    if seed is not None:
        return seed
    if options["resume"] is not None:
        raise InputError("`--seed` must be given with `--resume`: another seed is another run.")
    return secrets.randbelow(2**32)


@contextmanager
def kept_in(folder: Path | None) -> Iterator[None]:
    """End the workers when the work is stopped, and say how it is gone on with."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as stop:
        from truerisk.execution.processes import stop_processes

        # Python waits at its end for workers, and they for the end of a refit that nobody wants.
        stop_processes()
        code = INTERRUPTED if isinstance(stop, KeyboardInterrupt) else stop.code
        if folder is None or code not in {INTERRUPTED, TERMINATED}:
            raise
        click.echo(f"Interrupted; the same command goes on from {folder}.", err=True)
        sys.exit(code)


def place_of(address: str | None) -> AbstractContextManager[Any]:
    """Use a cluster while the work is done, if one is given."""
    if address is None:
        return nullcontext()
    from truerisk.execution import use_cluster

    return use_cluster(address)
