"""`truerisk estimate --against`: whether one learner is better than another."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import PARTIAL
from truerisk.cli.output import console
from truerisk.cli.pages import source_of, write_pages
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import kept_in, models_from, place_of, seed_from, table_from

if TYPE_CHECKING:
    from truerisk.inputs.tables import Table
    from truerisk.results import Comparison

DIVISION = ("folds", "repeats")
FLAGS = {
    "not_stratified": {"stratified": False},
    "allow_small_classes": {"allow_small_classes": True},
}


def compare_learners(data: Path, options: dict[str, Any]) -> None:
    """Compare the learner of --model with that of --against, print, end with the code that fits."""
    if len(options["models"]) > 1:
        raise click.UsageError("--model: once with --against, which names the other learner.")
    _check_measure(options["measure"])
    seed = seed_from(options)
    table = table_from(data, options)
    names = (*(options["models"] or ("linear_svm",)), options["against"])
    found = _compared(names, table, seed, options)
    found = replace(found, notes=(*table.notes, *found.notes))
    if not options["quiet"]:
        _show(found, table, options["form"])
    write_pages(found, options, source=source_of(table, seed=seed))
    if not found.difference.is_defined:
        click.echo(f"Partial result: {found.verdict}", err=True)
        sys.exit(PARTIAL)


def _compared(
    names: tuple[str, str], table: "Table", seed: int, options: dict[str, Any]
) -> "Comparison":
    from truerisk.comparison.learners.compare_models import compare_models  # noqa: PLC0415  (start-up time)

    first, second = (
        models_from((name,), table, len(table), tune=options["tune"])[name] for name in names
    )
    settings: dict[str, Any] = {
        name: options[name] for name in DIVISION if options[name] is not None
    }
    for flag, meaning in FLAGS.items():
        settings |= meaning if options[flag] else {}
    place, bar = place_of(options["cluster"]), Progress("Training", quiet=options["quiet"])
    with kept_in(options["resume"]), place, bar as progress:
        found: Comparison = compare_models(
            first,
            second,
            table.X,
            table.y,
            method=options["test"],
            measures=options["measure"],
            groups=table.groups,
            region=options["region"],
            level=options["level"],
            names=names if names[0] != names[1] else [f"{names[0]} ({at})" for at in (1, 2)],
            pos_label=options["pos_label"],
            random_state=seed,
            n_jobs=options["jobs"],
            resume=options["resume"],
            progress=progress,
            **settings,
        )
    return found


def _check_measure(measure: str) -> None:
    """Refuse a measure that nobody knows before anything is read."""
    from truerisk.measures.registry import base_measure  # noqa: PLC0415

    base_measure(measure)


def _show(found: "Comparison", table: "Table", form: str | None) -> None:
    from truerisk.reporting.model_comparison import (  # noqa: PLC0415  (needs rich)
        COMPARISON_FORMATS,
        print_model_comparison,
    )
    from truerisk.results import as_plain  # noqa: PLC0415

    if form is None:
        print_model_comparison(found, console())
        return
    source = {"file": as_plain(table.source), "target": table.target}
    click.echo(COMPARISON_FORMATS[form](found, source))
