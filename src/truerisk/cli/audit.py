"""`truerisk audit`: how often intervals cover on your own data; checks of this installation."""

import sys
from pathlib import Path
from typing import Any

import click

from truerisk.cli import FINDING
from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress

OF_PREDICTIONS = ("truth", "pred", "score", "weight", "id_column", "label_map", "strip",
                  "numeric_labels", "allow_inf", "multilabel_sep", "hash_all", "costs",
                  "threshold", "probabilities")  # fmt: skip
OF_TABLES = ("drop", "text", "categorical", "missing_values", "folds", "repeats", "jobs")


@click.command()
@click.argument("files", nargs=-1, type=opt.FILE, metavar="[FILE...]")
@opt.option("--size", "Rows of a sample: 200 if absent.", click.IntRange(2))
@opt.option("--samples", "Samples to draw.", click.IntRange(20), 1000)
@opt.option("--seconds", "Stop after this time; 0 for no limit.", click.FloatRange(min=0), 60.0)
@opt.option("--model", "Audit estimates of this learner; FILE is then a table.", metavar="NAME")
@opt.option("--folds", "Folds of the estimates: 10 if absent.", int)
@opt.option("--repeats", "Repetitions of the estimates: 5 if absent.", int)
@opt.jobs
@opt.target
@opt.features
@opt.positive
@opt.level
@opt.measure
@opt.costs
@opt.threshold
@opt.probabilities
@opt.seed
@opt.reading
@out.formats("json", "csv", "markdown", "latex")
@out.page
@out.quiet
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
        out.refuse_options(every, "an audit of your own data: name a FILE")
        _check_installation()
        return
    out.check_outputs(options, files)
    seconds = options["seconds"] or None
    if options["model"] is None and options["target"] is None:
        out.refuse_options(OF_TABLES, "tables: name a --model")
        result = _audit_predictions(files, options, seconds)
    else:
        out.refuse_options(OF_PREDICTIONS, "predictions, and with --model this is read as a table")
        if len(files) > 1:
            raise click.UsageError("FILE: one table with --model.")
        result = _audit_model(files[0], options, seconds)
    out.deliver(result, options)


def _audit_predictions(
    files: tuple[Path, ...], options: dict[str, Any], seconds: float | None
) -> Any:
    from truerisk.estimation.audit import SIZE, audit_files

    roles, strictness = opt.reading_from(options)
    with Progress("Sampling", quiet=options["quiet"]) as progress:
        return audit_files(
            files,
            roles=roles,
            options=strictness,
            size=options["size"] or SIZE,
            samples=options["samples"],
            seconds=seconds,
            progress=progress,
            **opt.evaluation_from(options),
        )


def _audit_model(data: Path, options: dict[str, Any], seconds: float | None) -> Any:
    from dataclasses import replace

    from truerisk.estimation.audit import audit_model

    table = opt.table_from(data, options)
    name = options["model"] or "linear_svm"
    model = opt.models_from((name,), table, options["size"] or len(table) // 3)[name]
    with Progress("Sampling", quiet=options["quiet"]) as progress:
        result = audit_model(
            model,
            table.X,
            table.y,
            groups=table.groups,
            size=options["size"],
            seconds=seconds,
            **opt.only(options, "samples", "folds", "repeats", "level", "pos_label"),
            measures=opt.evaluation_from(options)["measures"],
            random_state=options["seed"],
            n_jobs=options["jobs"],
            progress=progress,
        )
    source, notes = out.table_source(table), (*table.notes, *result.notes)
    return replace(result, subject=name, source=source, notes=notes)


def _check_installation() -> None:
    from truerisk.intervals.installation import check_installation

    checks = check_installation()
    rows = [("passed" if check.passed else "FAILED", check.name, check.outcome) for check in checks]
    out.show_rows("Checks of this installation", ("", "check", "outcome"), rows)
    if not all(check.passed for check in checks):
        sys.exit(FINDING)
