"""Options of the commands that train learners on a table, and what is made of them."""

import secrets
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import INTERRUPTED, TERMINATED
from truerisk.cli import options as opt
from truerisk.cli.progress import Progress
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.inputs.corpora import Corpus
    from truerisk.inputs.tables import Table

target = opt.column("--target", "Column of the labels; recognised by its usual names.")
features = opt.bundle(
    opt.column("--drop", "Column that is no feature.", multiple=True),
    opt.column("--text", "Column of texts.", multiple=True),
    opt.column("--categorical", "Column of names.", multiple=True),
    opt.option("--missing-values", "Says missing: ?, NA.", multiple=True, metavar="TEXT"),
)
table = opt.bundle(target, opt.group, features, opt.missing("that have no label"), opt.cells)
labels = opt.column("--labels", "Documents: column of the labels.")
categories = opt.option("--categories", "Documents: only these; all if absent.", metavar="A,B")
multilabel_sep = opt.option(
    "--multilabel-sep", "Separator of the labels in a cell.", metavar="TEXT"
)
running = opt.bundle(
    opt.jobs,
    opt.option("--cluster", "Run on the Dask cluster at this address.", metavar="ADDRESS"),
    opt.option(
        "--resume",
        "Keep refits here, and go on from those that are here; needs --seed.",
        click.Path(path_type=Path),
        metavar="FOLDER",
    ),
)


def table_from(data: Path, options: dict[str, Any]) -> "Table":
    """Read the table that the options describe."""
    from truerisk.inputs.tables import read_table

    roles = ("target", "group", "drop", "text", "categorical", "missing_values")
    with Progress("Reading", quiet=options["quiet"]):
        strictness = opt.strictness_from(options)
        return read_table(data, **opt.only(options, *roles), options=strictness)


def corpus_from(data: Path, options: dict[str, Any], split: str | None) -> "Corpus":
    """Read the documents that the options describe."""
    from truerisk.inputs.corpora import read_corpus

    with Progress("Reading", quiet=options["quiet"]):
        return read_corpus(
            data,
            text=options["text"][-1] if options["text"] else None,
            labels=options["labels"],
            id=options.get("id_column"),
            split=split,
            options=opt.strictness_from(options),
        )


def categories_from(options: dict[str, Any]) -> tuple[str, ...]:
    """List the categories that were named."""
    listed = (name.strip() for name in (options["categories"] or "").split(","))
    return tuple(name for name in listed if name)


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
def stopping_cleanly(folder: Path | None) -> Iterator[None]:
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


@contextmanager
def training(table: "Table", options: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Refit where the options say, with a progress bar; give the arguments of all who refit."""
    bar = Progress("Training", quiet=options["quiet"])
    with stopping_cleanly(options["resume"]), place_of(options["cluster"]), bar as progress:
        yield {
            **opt.only(options, "level", "pos_label", "resume"),
            "groups": table.groups,
            "n_jobs": options["jobs"],
            "random_state": seed,
            "progress": progress,
        }


def place_of(address: str | None) -> AbstractContextManager[Any]:
    """Use a cluster while the work is done, if one is given."""
    if address is None:
        return nullcontext()
    from truerisk.execution import use_cluster

    return use_cluster(address)
