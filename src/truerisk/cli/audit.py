"""`truerisk audit`: how often intervals cover on your own data; checks of this installation."""

import sys
from pathlib import Path
from typing import Any

import click

from truerisk.cli import FINDING
from truerisk.cli.options import (
    FILE,
    costs_option,
    evaluation_from,
    level_option,
    measure_option,
    option_with_default,
    positive_option,
    reading_from,
    reading_options,
    seed_option,
    with_options,
)
from truerisk.cli.output import (
    check_outputs,
    deliver,
    format_options,
    page_options,
    quiet_option,
    refuse_options,
    show_rows,
    table_source,
)
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import FEATURES, models_from, table_from

OF_PREDICTIONS = ("truth", "pred", "score", "weight", "id_column", "label_map", "strip",
                  "numeric_labels", "allow_inf", "multilabel_sep", "hash_all", "costs",
                  "threshold", "probabilities")  # fmt: skip
OF_TABLES = ("drop", "text", "categorical", "missing_values", "folds", "repeats", "jobs")


@click.command(short_help="Do the intervals keep their promise, on your own data?")
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE...]")
@click.option("--size", type=click.IntRange(2), help="Rows of a sample: 200 if absent.")
@option_with_default("--samples", type=click.IntRange(20), default=1000, help="Samples to draw.")
@option_with_default(
    "--seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    help="Stop after this time; 0 for no limit.",
)
@click.option(
    "--model", metavar="NAME", help="Audit estimates of this learner; FILE is then a table."
)
@click.option("--folds", type=int, help="Folds of the estimates: 10 if absent.")
@click.option("--repeats", type=int, help="Repetitions of the estimates: 5 if absent.")
@option_with_default("--jobs", type=int, default=1, help="Processes; -1 for all cores.")
@lambda function: with_options(FEATURES, function)
@positive_option
@level_option
@measure_option
@costs_option
@click.option("--threshold", type=float, help="Predict positive from this score on.")
@click.option("--probabilities", is_flag=True, help="Scores are probabilities: log loss, Brier.")
@seed_option
@reading_options
@format_options("json", "csv", "markdown", "latex")
@page_options
@quiet_option
def audit(files: tuple[Path, ...], **options: Any) -> None:
    """Measure how often the intervals cover, on samples of your own data.

    FILE holds predictions, as `truerisk score` reads them: samples of --size rows are drawn from
    them with replacement, and every interval is compared with the value on all rows.  With --model
    or --target, FILE is a table, as `truerisk estimate` reads it: samples are drawn without
    replacement, and the estimates are compared with what the trained model does on the other rows.

    \b
    truerisk audit predictions.csv --size 200
    truerisk audit predictions.csv --size 500 --measure f1,recall --html audit.html
    truerisk audit data.csv --target y --model svm --size 200 --seconds 300

    Without a FILE, the libraries of this installation are checked: do they give the right numbers?
    Takes a second; exits with 1 when a check fails.

    \b
    truerisk audit
    """
    if not files:
        context = click.get_current_context()
        every = tuple(str(one.name) for one in context.command.params if one.name != "files")
        refuse_options(every, "an audit of your own data: name a FILE")
        _check_installation()
        return
    check_outputs(options, files)
    seconds = options["seconds"] or None
    if options["model"] is None and options["target"] is None:
        refuse_options(OF_TABLES, "tables: name a --model")
        result = _audit_predictions(files, options, seconds)
    else:
        refuse_options(OF_PREDICTIONS, "predictions, and with --model this is read as a table")
        if len(files) > 1:
            raise click.UsageError("FILE: one table with --model.")
        result = _audit_model(files[0], options, seconds)
    deliver(result, options)


def _audit_predictions(
    files: tuple[Path, ...], options: dict[str, Any], seconds: float | None
) -> Any:
    from truerisk.estimation.audit import SIZE, audit_files

    roles, strictness = reading_from(options)
    with Progress("Sampling", quiet=options["quiet"]) as progress:
        return audit_files(
            files,
            roles=roles,
            options=strictness,
            size=options["size"] or SIZE,
            samples=options["samples"],
            seconds=seconds,
            progress=progress,
            **_settings(options),
        )


def _settings(options: dict[str, Any]) -> dict[str, Any]:
    given = evaluation_from({**options, "beta": (), "replicates": None, "max_classes": None})
    return {name: one for name, one in given.items() if name not in {"replicates", "max_classes"}}


def _audit_model(data: Path, options: dict[str, Any], seconds: float | None) -> Any:
    from dataclasses import replace

    from truerisk.estimation.audit import audit_model

    table = table_from(data, options)
    name = options["model"] or "linear_svm"
    model = models_from((name,), table, options["size"] or len(table) // 3)[name]
    with Progress("Sampling", quiet=options["quiet"]) as progress:
        result = audit_model(
            model,
            table.X,
            table.y,
            groups=table.groups,
            size=options["size"],
            samples=options["samples"],
            seconds=seconds,
            folds=options["folds"],
            repeats=options["repeats"],
            level=options["level"],
            pos_label=options["pos_label"],
            measures=_settings(options)["measures"],
            random_state=options["seed"],
            n_jobs=options["jobs"],
            progress=progress,
        )
    source, notes = table_source(table), (*table.notes, *result.notes)
    return replace(result, subject=name, source=source, notes=notes)


def _check_installation() -> None:
    from truerisk.intervals.installation import check_installation

    checks = check_installation()
    rows = [("passed" if check.passed else "FAILED", check.name, check.outcome) for check in checks]
    show_rows("Checks of this installation", ("", "check", "outcome"), rows)
    if not all(check.passed for check in checks):
        sys.exit(FINDING)
