"""`truerisk plan`, `bounds`, `folds`, `split` and `measures`: what needs no predictions."""

import secrets
from pathlib import Path
from typing import Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress
from truerisk.measures import MEASURES, find_measure
from truerisk.measures.registry import Measure, title_of
from truerisk.reporting.wording import interval_heading, percent, written
from truerisk.results import Resampled, number

PROMISES = {
    "clopper_pearson": "exact: at least the level, for every error rate",
    "one_sided": "exact, of the upper end alone",
    "gaussian": "breaks at few errors",
    "chernoff_kl": "at least the level, for any losses in [0, 1]",
    "empirical_bernstein": "the same, by the variance of the losses",
    "hoeffding": "the same, by nothing but the number of examples",
    "chebyshev": "the same, as the variance is at most 1/(4n)",
    "vc_bound": "if these are training errors: for all rules of that VC dimension",
    "vapnik_chervonenkis": "the same, two-sided, an older form; neither follows from the other",
    "kearns_ron": "if these are leave-one-out errors of a rule with the fewest training errors",
}
BETTER = {True: "higher is better", False: "lower is better", None: "neither end is better"}


@click.command()
@opt.option("--half-width", "Target half-width of the interval.", float)
@opt.option("--upper-bound", "Error rate to be ruled out.", float)
@opt.option("--difference", "Difference of two classifiers to be detected.", float)
@opt.option("--expected", "Expected rate.", float)
@opt.option("--discordant", "Share of examples on which exactly one is right.", float)
@opt.option("--auc", "Expected area under the ROC curve; of the worse model.", float)
@opt.option("--prevalence", "With --auc: share of positive examples.", float)
@opt.option("--correlation", "With --auc: of the two models' scores in a class.", float)
@opt.option(
    "--scores",
    "With --auc: normal; heavy_tailed if absent; or any, also skewed: the worst is planned.",
)
@opt.option(
    "--assurance",
    "Share of samples in which the target is met; the power of a test.",
    float,
    0.8,
)
@opt.option("--method", "Interval of a rate, with --half-width; clopper_pearson if absent.")
@opt.option(
    "--no-errors",
    "Bound on the error rate that N examples without an error prove.",
    int,
    metavar="N",
)
@opt.level
def plan(no_errors: int | None, assurance: float, level: float, **question: Any) -> None:
    """Find the size of a test set, or what a size proves.

    The target is met in 80 % of samples of that size, or in the share --assurance.

    \b
    truerisk plan --half-width 0.02 --expected 0.1
    truerisk plan --upper-bound 0.05 --expected 0.02 --assurance 0.9
    truerisk plan --difference 0.02 --discordant 0.1
    truerisk plan --half-width 0.03 --auc 0.85 --prevalence 0.2
    truerisk plan --difference 0.03 --auc 0.85 --prevalence 0.2 --correlation 0.5
    truerisk plan --no-errors 300
    """
    from truerisk.intervals.planning import proven_by_no_errors, sample_size

    given: dict[str, Any] = {name: value for name, value in question.items() if value is not None}
    if (no_errors is None) == (not given):
        raise click.UsageError(
            "Ask one question: --half-width, --upper-bound, --difference or --no-errors."
        )
    if no_errors is None:
        click.echo(sample_size(level=level, assurance=assurance, **given))
        return
    bound = proven_by_no_errors(no_errors, level=level)
    click.echo(
        f"{no_errors:,} examples without an error prove, at {percent(level)} and one-sided, "
        f"an error rate of at most {bound:.4g}."
    )


@click.command()
@click.argument("errors", type=int)
@click.argument("examples", type=int)
@opt.option("--vc-dimension", "VC dimension; d features and a bias: d + 1.", float)
@opt.level
@out.formats("json", "csv")
def bounds(
    errors: int, examples: int, vc_dimension: float | None, level: float, form: str | None
) -> None:
    """Bound an error rate by ERRORS of EXAMPLES, in every way that needs no more than counts.

    \b
    truerisk bounds 12 300
    truerisk bounds 12 300 --vc-dimension 11 --level 0.99
    """
    from truerisk.intervals.bounds import error_bounds

    intervals = error_bounds(errors, examples, vc_dimension=vc_dimension, level=level)
    if form is not None:
        rows = [(name, one.low, one.high, one.level, one.side) for name, one in intervals.items()]
        out.show_rows("bounds", ("method", "low", "high", "level", "side"), rows, form)
        return
    click.echo(f"{errors:,} errors of {examples:,}: {number(errors / examples, 4)}")
    written = [
        (name.replace("_", " "), one.words(lambda end: number(end, 4)), PROMISES[name])
        for name, one in intervals.items()
    ]
    out.show_rows("Bounds", ("method", interval_heading(level), "promise"), written)


@click.command()
@click.argument("values", nargs=-1, type=float, required=True, metavar="VALUE...")
@opt.option("--measure", "Measure that the values are of.", default="error_rate")
@opt.option("--folds n_folds", "Folds of one repetition; 2 for five times two.", int)
@opt.option("--ratio", "Test to training examples, for random subsampling.", float)
@opt.level
@out.formats("json", "csv")
@out.page
def folds(values: tuple[float, ...], **options: Any) -> None:
    """Give mean, standard deviation and intervals of the values of several folds.

    The plain t interval is printed beside the corrected one to show how much it claims; it is
    invalid, because training sets overlap.

    \b
    truerisk folds 0.14 0.16 0.10 0.15 0.18 0.17 0.15 0.12 0.13 0.20
    truerisk folds 0.14 0.16 0.10 0.15 0.18 0.17 0.15 0.12 0.13 0.20 --folds 2
    truerisk folds 0.14 0.16 0.10 0.15 0.18 --html report.html
    """
    from truerisk.estimation.refits.interval_rules import STANDARD_ERRORS, summarise

    out.check_outputs(options, [])
    estimates = [
        summarise(
            values,
            measure=options["measure"],
            folds=options["n_folds"],
            test_train_ratio=options["ratio"],
            level=options["level"],
            method=method,
        )
        for method in STANDARD_ERRORS
    ]
    out.deliver(estimates[0], options, lambda: _show(estimates, options["level"], options["form"]))


def _show(estimates: list[Resampled], level: float, form: str | None) -> None:
    if form is not None:
        columns = ("interval", "mean", "standard_deviation", "low", "high", "level", "values")
        out.show_rows("folds", columns, map(_numbers, estimates), form)
        return
    first = estimates[0]
    click.echo(
        f"{title_of(first.measure)}: mean {number(first.value, 4)}, standard deviation "
        f"{number(first.standard_deviation, 4)}, {first.n:g} values; about {first.target}."
    )
    rows = [(_numbers(estimate)[0], written(estimate).interval) for estimate in estimates]
    out.show_rows("Intervals", ("method", interval_heading(level)), rows)
    for note in dict.fromkeys(note for estimate in estimates for note in estimate.notes):
        click.echo(f"• {note}")


def _numbers(estimate: Resampled) -> tuple[str | float, ...]:
    mean, ends = (estimate.value, estimate.standard_deviation), estimate.interval
    if ends is None:
        return "none", *mean, "", "", "", len(estimate.replicates)
    return ends.method, *mean, ends.low, ends.high, ends.level, len(estimate.replicates)


@click.command()
@click.argument("data", type=opt.InputPath(exists=True, dir_okay=False, path_type=Path))
@opt.column("--target", "Column of the labels; the last one if absent.")
@opt.option("--method", "How to divide.", ("five_by_two", "k_fold"), "five_by_two")
@opt.option("--folds", "Folds of k_fold.", int, 10)
@click.option("--stratified/--no-stratified", default=True, help="Keep the shares of the classes.")
@opt.flag("--allow-small-classes", "Let folds lack a class.")
@opt.option("--delimiter", "Separator of the cells.", default=",")
@opt.seed
@opt.option(
    "--output", "CSV file to write; printed if absent.", click.Path(path_type=Path), metavar="FILE"
)
def split(
    data: Path,
    *,
    target: str | None,
    method: str,
    folds: int,
    stratified: bool,
    allow_small_classes: bool,
    delimiter: str,
    seed: int | None,
    output: Path | None,
) -> None:
    """Divide the rows of the CSV file DATA; row, label, repetition and part are counted from 1.

    \b
    truerisk split data.csv --target label --seed 1 --output parts.csv
    truerisk split data.csv --target label --method k_fold --folds 10
    """
    from truerisk.estimation.refits.splits import split_file
    from truerisk.reporting.files import check_destination, write_whole
    from truerisk.reporting.render.formats import csv_lines

    if output is not None:
        check_destination(output, [data])
    drawn = secrets.randbelow(2**32) if seed is None else seed
    with Progress("Dividing"):
        columns = split_file(
            data,
            target,
            method,
            delimiter=delimiter,
            folds=folds,
            stratified=stratified,
            allow_small_classes=allow_small_classes,
            random_state=drawn,
        )
    text = csv_lines(tuple(columns), list(zip(*columns.values(), strict=True)))
    if output is None:
        click.echo(text)
    else:
        write_whole(output, text + "\n")
        click.echo(f"The parts are in {output}", err=True)
    click.echo(f"seed {drawn}", err=True)


@click.command()
@click.argument("name", required=False)
@out.formats("json", "csv")
def measures(name: str | None, form: str | None) -> None:
    """List the measures; with NAME, describe one.

    \b
    truerisk measures
    truerisk measures f1
    truerisk measures f0.5
    """
    entries = list(MEASURES.values()) if name is None else [find_measure(name)]
    if form is not None:
        described = list(map(_describe, entries))
        rows = [tuple(one.values()) for one in described]
        out.show_rows("measures", list(described[0]), rows, form)
    elif name is None:
        out.show_rows("Measures", ("name", "what it is"), [(m.name, m.summary) for m in entries])
    else:
        _, title, summary, *facts = _describe(entries[0]).items()
        click.echo(f"{title[1]}\n{summary[1]}\n")
        for heading, words in (*facts, ("undefined", f"when {entries[0].undefined}")):
            click.echo(f"{heading:<11}{words}")


def _describe(entry: Measure) -> dict[str, str]:
    low, high = entry.measure_range
    named = ("name", "title", "summary", "formula", "needs")
    return {name: getattr(entry, name) for name in named} | {
        "better": BETTER[entry.higher_is_better],
        "range": f"[{low:g}, {high:g}]",
        "intervals": " ".join(entry.intervals),
    }
