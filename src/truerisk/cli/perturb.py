"""`truerisk perturb`: an interval for the error of an SVM by refits under random weights."""

import secrets
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from truerisk.estimation.svm.perturbation import Perturbed
    from truerisk.inputs.tables import Table
    from truerisk.results import Comparison, Estimate

COLUMNS = ("rule", "error_rate", "low", "high", "about", "notes")
ABOUT = {"this model": "this model", "the learner at this sample size": "the learner"}


@click.command()
@opt.DATA
@opt.option(
    "--model",
    "linear_svm, rbf_svm, logistic_regression, or module:attribute.",
    default="linear_svm",
    metavar="NAME",
)
@opt.column("--without", "What does this feature add? May be repeated.", multiple=True)
@opt.option("--region", "A difference up to this does not matter.", float, metavar="SHARE")
@opt.flag("--rivals", "Add every other rule, on the same rows.")
@opt.option(
    "--losses",
    "Losses that are perturbed.",
    ("cross_validated", "training"),
    "cross_validated",
)
@opt.option(
    "--interval",
    "Form of the interval; effective_size if absent, normal with --without.",
    ("effective_size", "percentile", "normal", "plug_in"),
)
@opt.option(
    "--measure",
    "Any measure of labels or of a ranking, as f1, roc_auc or f1_macro.",
    default="error_rate",
    metavar="NAME",
)
@opt.positive
@opt.option("--replicates", "Weightings.", click.IntRange(100), 1000)
@opt.option("--folds", "Folds.", click.IntRange(2), 5)
@opt.level
@opt.seed
@opt.threads
@opt.table
@out.formats("json", "csv")
@out.page
@out.quiet
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
    out.check_outputs(options, [data])
    table = opt.table_from(data, options)
    if options["rivals"] and table.groups is not None:
        raise click.UsageError("--rivals: not with --group; the other rules need independent rows.")
    seed = secrets.randbelow(2**32) if options["seed"] is None else options["seed"]
    settings = {
        **opt.only(options, "replicates", "folds", "losses", "level"),
        "groups": table.groups,
        "random_state": seed,
        "n_jobs": options["jobs"],
        **({} if options["interval"] is None else {"interval": options["interval"]}),
    }
    with Progress("Training", quiet=options["quiet"]) as progress:
        settings["progress"] = lambda done, total: progress(done, done, total)
        if options["without"]:
            comparison = _difference(data, table, options, settings)
        else:
            settings |= opt.only(options, "measure", "pos_label")
            result, rivals = _interval(table, options, settings)
    source = out.table_source(table, model=options["model"], seed=seed)
    read = {"file": table.source, "target": table.target, "seed": seed}
    if options["without"]:
        out.deliver(comparison, options, source=source, extra={"source": read})
    else:
        show = partial(_show, result, rivals, options["form"], read)
        out.deliver(result, options, show, rivals=rivals, source=source)


def _interval(
    table: "Table", options: dict[str, Any], settings: dict[str, Any]
) -> "tuple[Perturbed, Mapping[str, Estimate]]":
    from truerisk.estimation.svm.perturbation import perturbation
    from truerisk.estimation.svm.rivals import rival_intervals

    name = options["model"]
    model = opt.models_from((name,), table, len(table))[name]
    result = perturbation(model, table.X, table.y, **settings)
    taken = opt.only(settings, "replicates", "folds", "level", "random_state", "n_jobs")
    rivals = rival_intervals(model, table.X, table.y, **taken) if options["rivals"] else {}
    return replace(result, notes=(*table.notes, *result.notes)), rivals


def _difference(
    data: Path, table: "Table", options: dict[str, Any], settings: dict[str, Any]
) -> "Comparison":
    """Compare the SVM on the table without some columns with the SVM on all of it."""
    from truerisk.comparison.learners.perturbed import perturbation_difference

    fewer = opt.table_from(data, {**options, "drop": (*options["drop"], *options["without"])})
    name = options["model"]
    first, second = (opt.models_from((name,), one, len(one))[name] for one in (fewer, table))
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
    from truerisk.reporting.results.estimate import FORMS

    rules = {name: replace(result, interval=one) for name, one in result.forms.items()}
    listed: list[tuple[str, Estimate]] = [(FORMS[name].lower(), one) for name, one in rules.items()]
    listed += [(name.replace("_", " "), one) for name, one in rivals.items()]
    rows = [
        (
            name,
            one.value,
            *(("", "") if one.interval is None else (one.interval.low, one.interval.high)),
            one.target,
            " ".join(one.notes),
        )
        for name, one in listed
    ]
    if form == "json":
        rules_of = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
        out.show(result, form, extra={**source, "rows": rules_of})
        return
    if form == "csv":
        out.show_rows("perturbation", COLUMNS, rows, form)
        return
    from truerisk.reporting.render.terminal import print_sentences

    click.echo(f"{result}\n")
    _print_rules(listed, result.forms["exact"].level)
    print_sentences(result.notes, out.console(), heading="Notes")


def _print_rules(listed: "list[tuple[str, Estimate]]", level: float) -> None:
    from truerisk.measures.registry import title_of
    from truerisk.reporting.document import Table, heads
    from truerisk.reporting.render.terminal import print_table
    from truerisk.reporting.wording import interval_heading, written

    title = title_of(listed[0][1].measure)
    columns = heads("Rule", f"#{title}", f"#{interval_heading(level)}", "Speaks of")
    rows = tuple((name, *written(one), ABOUT[one.target]) for name, one in listed)
    print_table(Table("Every rule on the same examples", columns, rows), out.console())
