"""`truerisk perturb`: an interval for the error of an SVM by refits under random weights."""

import secrets
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli.options import (
    FILE,
    level_option,
    option_with_default,
    positive_option,
    seed_option,
)
from truerisk.cli.output import (
    check_outputs,
    console,
    deliver,
    format_options,
    page_options,
    quiet_option,
    show,
    show_difference,
    show_rows,
    table_source,
)
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import models_from, table_from, table_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from truerisk.estimation.svm.perturbation import Perturbed
    from truerisk.inputs.tables import Table
    from truerisk.results import Comparison, Estimate

COLUMNS = ("rule", "error_rate", "low", "high", "about", "notes")
FORMS = {
    "exact": "exact binomial",
    "percentile": "perturbation: percentile",
    "normal": "perturbation: normal",
    "effective_size": "perturbation: effective size",
    "plug_in": "plug-in variance",
}
ABOUT = {"this model": "this model", "the learner at this sample size": "the learner"}


@click.command(short_help="An SVM's error and what a feature adds, by random weights.")
@click.argument("data", type=FILE, metavar="DATA")
@option_with_default(
    "--model", default="linear_svm", metavar="NAME",
    help="linear_svm, rbf_svm, logistic_regression, or module:attribute.",
)  # fmt: skip
@click.option(
    "--without",
    multiple=True,
    metavar="COLUMN",
    help="What does this feature add? May be repeated.",
)
@click.option(
    "--region", type=float, metavar="SHARE", help="A difference up to this does not matter."
)
@click.option("--rivals", is_flag=True, help="Add every other rule, on the same rows.")
@option_with_default(
    "--losses", type=click.Choice(["cross_validated", "training"]), default="cross_validated",
    help="Losses that are perturbed.",
)  # fmt: skip
@click.option(
    "--interval",
    type=click.Choice(["effective_size", "percentile", "normal", "plug_in"]), default=None,
    help="Form of the interval; effective_size if absent, normal with --without.",
)  # fmt: skip
@option_with_default(
    "--measure", default="error_rate", metavar="NAME",
    help="Any measure of labels or of a ranking, as f1, roc_auc or f1_macro.",
)  # fmt: skip
@positive_option
@option_with_default("--replicates", type=click.IntRange(100), default=1000, help="Weightings.")
@option_with_default("--folds", type=click.IntRange(2), default=5, help="Folds.")
@level_option
@seed_option
@option_with_default("--jobs", type=int, default=1, help="Threads; -1 for all cores.")
@table_options
@format_options("json", "csv")
@page_options
@quiet_option
def perturb(data: Path, **options: Any) -> None:
    """Refit a model on DATA under random weights, and give its error with an interval.

    DATA is CSV, Parquet, JSON lines or svmlight.  SVMs and logistic regression are solved as
    batches, other learners trained one by one.  With --without, the question is what the named
    features add to all the others, by SVMs of two classes.

    \b
    truerisk perturb data.csv --target y
    truerisk perturb data.csv --model rbf_svm --rivals --seed 1
    truerisk perturb data.csv --model tree --measure f1_macro
    truerisk perturb data.csv --target y --without age --without sex --region 0.01

    Two SVMs are compared by `truerisk estimate --model A --against B --test perturbation`.
    """
    if options["without"] and options["rivals"]:
        raise click.UsageError("--rivals: not with --without, which compares two SVMs.")
    if options["region"] is not None and not options["without"]:
        raise click.UsageError("--region: needs --without.")
    other = options["measure"] != "error_rate"
    if other and (options["without"] or options["rivals"]):
        raise click.UsageError("--measure: not with --without or --rivals, which are of the error.")
    check_outputs(options, [data])
    table = table_from(data, options)
    if options["rivals"] and table.groups is not None:
        raise click.UsageError("--rivals: not with --group; the other rules need independent rows.")
    seed = secrets.randbelow(2**32) if options["seed"] is None else options["seed"]
    settings = {
        **{name: options[name] for name in ("replicates", "folds", "losses", "level")},
        "groups": table.groups,
        "random_state": seed,
        "n_jobs": options["jobs"],
        **({} if options["interval"] is None else {"interval": options["interval"]}),
    }
    with Progress("Training", quiet=options["quiet"]) as progress:
        settings["progress"] = lambda done, total: progress(done, done, total)
        if not options["without"]:
            settings |= {name: options[name] for name in ("measure", "pos_label")}
        if options["without"]:
            comparison = _difference(data, table, options, settings)
        else:
            result = _interval(table, options["model"], settings)
            rivals = _rivals(table, options["model"], settings) if options["rivals"] else {}
    form = options["form"]
    source = table_source(table, model=options["model"], seed=seed)
    if options["without"]:
        deliver(
            comparison,
            options,
            lambda: show_difference(comparison, table, form, seed=seed),
            source=source,
        )
    else:
        facts = {"file": table.source, "target": table.target, "seed": seed}
        deliver(
            result,
            options,
            lambda: _show(result, rivals, form, facts),
            rivals=rivals,
            source=source,
        )


def _interval(table: "Table", name: str, settings: dict[str, Any]) -> "Perturbed":
    from truerisk.estimation.svm.perturbation import perturbation

    model = models_from((name,), table, len(table))[name]
    result = perturbation(model, table.X, table.y, **settings)
    return replace(result, notes=(*table.notes, *result.notes))


def _rivals(table: "Table", name: str, settings: dict[str, Any]) -> "Mapping[str, Estimate]":
    from truerisk.estimation.svm.rivals import rival_intervals

    model = models_from((name,), table, len(table))[name]
    taken = ("replicates", "folds", "level", "random_state", "n_jobs")
    return rival_intervals(model, table.X, table.y, **{key: settings[key] for key in taken})


def _difference(
    data: Path, table: "Table", options: dict[str, Any], settings: dict[str, Any]
) -> "Comparison":
    """Compare the SVM on the table without some columns with the SVM on all of it."""
    from truerisk.comparison.learners.perturbed import perturbation_difference

    fewer = table_from(data, {**options, "drop": (*options["drop"], *options["without"])})
    name = options["model"]
    first, second = (models_from((name,), one, len(one))[name] for one in (fewer, table))
    listed = ", ".join(options["without"])
    result = perturbation_difference(
        first,
        second,
        fewer.X,
        table.y,
        second_X=table.X,
        names=(f"without {listed}", "all columns"),
        region=options["region"],
        **settings,
    )
    return replace(result, notes=(*table.notes, *result.notes))


def _show(
    result: "Perturbed", rivals: "Mapping[str, Estimate]", form: str | None, source: dict[str, Any]
) -> None:
    rules = {name: replace(result, interval=one) for name, one in result.forms.items()}
    listed: list[tuple[str, Estimate]] = [(FORMS[name], one) for name, one in rules.items()]
    listed += [(name.replace("_", " "), one) for name, one in rivals.items()]
    rows = [_row(name, one) for name, one in listed]
    if form == "json":
        rules_of = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        show(result, form, extra={**source, "rows": rules_of})
        return
    if form == "csv":
        show_rows("perturbation", COLUMNS, rows, form)
        return
    from truerisk.reporting.render.terminal import print_sentences

    click.echo(f"{result}\n")
    _print_rules(listed, result.forms["exact"].level)
    print_sentences(result.notes, console(), heading="Notes")


def _row(name: str, one: "Estimate") -> tuple[Any, ...]:
    ends = ("", "") if one.interval is None else (one.interval.low, one.interval.high)
    return (name, one.value, *ends, one.target, " ".join(one.notes))


def _print_rules(listed: "list[tuple[str, Estimate]]", level: float) -> None:
    from truerisk.measures.registry import title_of
    from truerisk.reporting.document import Table, heads
    from truerisk.reporting.render.terminal import print_table
    from truerisk.reporting.wording import interval_heading, written

    title = title_of(listed[0][1].measure)
    columns = heads("Rule", f"#{title}", f"#{interval_heading(level)}", "Speaks of")
    rows = tuple((name, *written(one), ABOUT[one.target]) for name, one in listed)
    print_table(Table("Every rule on the same examples", columns, rows), console())
