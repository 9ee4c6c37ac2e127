"""`truerisk estimate` of a table: learners, judged by refits on examples they did not train on."""

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import INTERRUPTED
from truerisk.cli.output import check_names, finish, show
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import models_from, place_of, table_from
from truerisk.errors import InputError

if TYPE_CHECKING:
    from truerisk.estimation.best_of import BestOf
    from truerisk.estimation.learner_evaluation import LearnerEvaluation
    from truerisk.reading.tables import Table

DESIGN = ("folds", "repeats", "test_size")


def estimate_learners(data: Path, options: dict[str, Any]) -> None:
    """Estimate, print, write the page, and end with the code that fits."""
    table = table_from(data, options)
    names = options["models"] or ("linear_svm",)
    seed = secrets.randbelow(2**32) if options["seed"] is None else options["seed"]
    if options["resume"] is not None and options["seed"] is None:
        raise InputError("`--seed` must be given with `--resume`: another seed is another run.")
    models = models_from(names, table, len(table), tune=options["tune"])
    place, bar = place_of(options["cluster"]), Progress("Training", quiet=options["quiet"])
    with _kept(options["resume"]), place, bar as progress:
        settings = {**_settings(options), "random_state": seed, "progress": progress}
        if len(models) == 1:
            found = _one(next(iter(models.values())), table, settings)
        else:
            chosen = _several(models, table, settings, options["measure"])
            found = chosen.evaluations[chosen.winner]
    name = names[0] if len(models) == 1 else chosen.winner
    found = _with_source(found, table, name, tuned=options["tune"])
    check_names(found, options["fail_under"], options["fail_over"])
    if not options["quiet"]:
        if len(models) > 1:
            _show_ranking(chosen, options["form"])
        if len(models) == 1 or options["form"] is None:
            show(found, options["form"])
            _show_costs(found, options["form"])
    if options["html"] is not None:
        from truerisk.reporting.html import save_report  # noqa: PLC0415  (only for pages)

        save_report(found, options["html"])
        if not options["quiet"] and options["form"] is None:
            click.echo(f"The page is in {options['html']}")
    finish(found, options["fail_under"], options["fail_over"])


@contextmanager
def _kept(folder: Path | None) -> Iterator[None]:
    """Say, when the work is stopped, how it is gone on with."""
    try:
        yield
    except KeyboardInterrupt:
        if folder is None:
            raise
        click.echo(f"Interrupted; the same command goes on from {folder}.", err=True)
        sys.exit(INTERRUPTED)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    given = {name: options[name] for name in DESIGN if options[name] is not None}
    return {
        **given,
        "method": options["method"] or "cross_validation",
        "interval": options["interval"],
        "level": options["level"],
        "positive": options["positive"],
        "stratified": not options["not_stratified"],
        "allow_small_classes": options["allow_small_classes"],
        "allow_failed": options["allow_failed"],
        "n_jobs": options["jobs"],
        "resume": options["resume"],
    }


def _one(model: Any, table: "Table", settings: dict[str, Any]) -> "LearnerEvaluation":  # noqa: ANN401
    from truerisk.estimation.estimate import estimate  # noqa: PLC0415  (costs start-up time)

    return estimate(model, table.X, table.y, groups=table.groups, **settings)


def _several(
    models: dict[str, Any], table: "Table", settings: dict[str, Any], measure: str
) -> "BestOf":
    from truerisk.estimation.best_of import best_of  # noqa: PLC0415  (costs start-up time)

    return best_of(models, table.X, table.y, measure=measure, groups=table.groups, **settings)


def _with_source(
    found: "LearnerEvaluation", table: "Table", name: str, *, tuned: bool
) -> "LearnerEvaluation":
    from truerisk.results import as_plain  # noqa: PLC0415  (costs start-up time)

    kinds = [column.kind for column in table.columns]
    columns = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    source = {
        "files": [] if table.source is None else [as_plain(table.source)],
        "target": table.target,
        **({"columns": columns} if columns else {}),
    }
    settings = {**found.settings, "model": name, "tuned": tuned}
    notes = (*table.notes, *found.notes)
    return replace(found, model=name, source=source, settings=settings, notes=notes)


def _show_ranking(chosen: "BestOf", form: str | None) -> None:
    from truerisk.cli.output import show_rows  # noqa: PLC0415
    from truerisk.reporting.formats import json_text  # noqa: PLC0415  (costs start-up time)

    if form == "json":
        click.echo(json_text(chosen.as_plain()))
        return
    rows = []
    for name in chosen.ranking:
        one = chosen.evaluations[name][chosen.measure]
        ends = ("", "") if one.interval is None else (one.interval.low, one.interval.high)
        rows.append((name, one.value, *ends, chosen.evaluations[name].refits))
    columns = ("learner", chosen.measure, "low", "high", "refits")
    show_rows("Learners, best first", columns, rows, form)
    if form is None:
        click.echo(str(chosen).splitlines()[-1])
        click.echo()


def _show_costs(found: "LearnerEvaluation", form: str | None) -> None:
    if form is not None or found.costs is None:
        return
    induce, classify = found.costs.seconds
    always = found.baseline.get("error_rate")
    if always is not None:
        click.echo(f"Always answering the commonest class: {always}")
    click.echo(
        f"One training took {induce:.3g} s on average, classifying a thousand examples "
        f"{classify:.3g} s."
    )
