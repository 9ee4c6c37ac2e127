"""`truerisk estimate` of a table: learners, judged by refits on examples they did not train on."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.output import check_names, console, finish, show
from truerisk.cli.pages import source_of, write_pages
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import kept_in, models_from, place_of, seed_from, table_from

if TYPE_CHECKING:
    from truerisk.estimation.refits.best_of import BestOf
    from truerisk.estimation.refits.estimate import LearnerEvaluation
    from truerisk.inputs.tables import Table
    from truerisk.results import Estimate

DESIGN = ("folds", "repeats", "test_size")


def estimate_learners(data: Path, options: dict[str, Any]) -> None:
    """Estimate, print, write the page, and end with the code that fits."""
    _check_measures(options)
    seed = seed_from(options)
    table = table_from(data, options)
    names = options["models"] or ("linear_svm",)
    models = models_from(names, table, len(table), tune=options["tune"])
    place, bar = place_of(options["cluster"]), Progress("Training", quiet=options["quiet"])
    with kept_in(options["resume"]), place, bar as progress:
        settings = {**_settings(options), "random_state": seed, "progress": progress}
        if len(models) == 1:
            found = _one(next(iter(models.values())), table, settings)
            found = _with_source(found, table, names[0], tuned=options["tune"])
        else:
            chosen = _several(models, table, settings, options["measure"])
            evaluations = {
                name: _with_source(one, table, name, tuned=options["tune"])
                for name, one in chosen.evaluations.items()
            }
            chosen = replace(chosen, evaluations=evaluations)
            found = evaluations[chosen.winner]
    check_names(found, options["fail_under"], options["fail_over"])
    if not options["quiet"]:
        if len(models) > 1:
            _show_ranking(chosen, options["form"])
        if len(models) == 1 or options["form"] is None:
            show(found, options["form"])
            _show_costs(found, options["form"])
    write_pages(found if len(models) == 1 else chosen, options, source=found.source)
    finish(found, options["fail_under"], options["fail_over"])


def _check_measures(options: dict[str, Any]) -> None:
    """Refuse a measure that nobody knows before anything is trained."""
    from truerisk.measures.registry import base_measure  # noqa: PLC0415

    checked = (name for name, _ in (*options["fail_under"], *options["fail_over"]))
    for name in (options["measure"], *checked):
        base_measure(name)


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    given = {name: options[name] for name in DESIGN if options[name] is not None}
    return {
        **given,
        "method": options["method"] or "cross_validation",
        "interval": options["interval"],
        "level": options["level"],
        "pos_label": options["pos_label"],
        **({"stratified": False} if options["not_stratified"] else {}),
        **({"allow_small_classes": True} if options["allow_small_classes"] else {}),
        "allow_failed": options["allow_failed"],
        "n_jobs": options["jobs"],
        "resume": options["resume"],
    }


def _one(model: Any, table: "Table", settings: dict[str, Any]) -> "LearnerEvaluation":  # noqa: ANN401
    from truerisk.estimation.refits.estimate import estimate  # noqa: PLC0415  (costs start-up time)

    return estimate(model, table.X, table.y, groups=table.groups, **settings)


def _several(
    models: dict[str, Any], table: "Table", settings: dict[str, Any], measure: str
) -> "BestOf":
    from truerisk.estimation.refits.best_of import best_of  # noqa: PLC0415  (costs start-up time)

    return best_of(models, table.X, table.y, measure=measure, groups=table.groups, **settings)


def _with_source(
    found: "LearnerEvaluation", table: "Table", name: str, *, tuned: bool
) -> "LearnerEvaluation":
    kinds = [column.kind for column in table.columns]
    columns = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    source = source_of(table, **({"columns": columns} if columns else {}))
    settings = {**found.settings, "model": name, "tuned": tuned}
    notes = (*table.notes, *found.notes)
    return replace(found, model=name, source=source, settings=settings, notes=notes)


def _show_ranking(chosen: "BestOf", form: str | None) -> None:
    from truerisk.reporting.formats import csv_lines, json_text  # noqa: PLC0415  (start-up time)

    if form == "json":
        click.echo(json_text(chosen.to_dict()))
    elif form == "csv":
        columns = ("learner", chosen.measure, "low", "high", "interval", "refits")
        click.echo(csv_lines(columns, [_csv_row(*entry) for entry in _ranked(chosen)]))
    else:
        _draw_ranking(chosen, form)


def _ranked(chosen: "BestOf") -> list[tuple[str, "Estimate", int]]:
    """List the learners, best first, and what choosing the best of them is worth."""
    ranked = [
        (name, chosen.evaluations[name][chosen.measure], chosen.evaluations[name].refits)
        for name in chosen.ranking
    ]
    refits = sum(number for _, _, number in ranked)
    return [*ranked, (f"best of {len(ranked)}, corrected", chosen.corrected, refits)]


def _csv_row(name: str, one: "Estimate", refits: int) -> tuple[Any, ...]:
    ends = one.interval
    told = ("", "", "") if ends is None else (ends.low, ends.high, ends.method)
    return (name, one.value, *told, refits)


def _draw_ranking(chosen: "BestOf", form: str | None) -> None:
    from truerisk.reporting.formats import latex_table, markdown_table  # noqa: PLC0415
    from truerisk.reporting.summary import print_table  # noqa: PLC0415  (needs rich)
    from truerisk.reporting.tables import Column, Table  # noqa: PLC0415
    from truerisk.reporting.wording import interval_heading, title_of, written  # noqa: PLC0415

    rows = []
    for name, one, refits in _ranked(chosen):
        words = written(one)
        rows.append((name, words.value, words.interval, str(refits)))
    level = chosen.evaluations[chosen.winner].level
    numbers = (title_of(chosen.measure), interval_heading(level), "Refits")
    columns = (Column("Learner"), *(Column(heading, numeric=True) for heading in numbers))
    table = Table("Learners, best first", columns, tuple(rows))
    if form is not None:
        click.echo({"markdown": markdown_table, "latex": latex_table}[form](table))
        return
    print_table(table, console())
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
