"""`truerisk score`: every measure of a file of predictions, with its interval."""

from pathlib import Path
from typing import Any

import click

from truerisk.cli.options import (
    FILE,
    READING_NAMES,
    by_option,
    evaluation_from,
    evaluation_options,
    read_bounds,
    reading_from,
    reading_options,
    value_options,
)
from truerisk.cli.output import (
    check_bounds,
    check_names,
    check_options,
    check_outputs,
    deliver,
    finish,
    format_options,
    page_options,
    quiet_option,
    refuse_options,
)
from truerisk.cli.progress import Progress
from truerisk.cli.table_options import place_of
from truerisk.errors import InputError
from truerisk.measures.registry import BINOMIAL_INTERVALS, CELL_INTERVALS
from truerisk.results import Evaluation

OF_FILES = (*READING_NAMES, "threshold", "probabilities", "cluster", "pass_at", "by", "by_pairs")
COUNTS_FORM = "four whole numbers TP,FN,FP,TN, such as 50,50,40,850"


@click.command(short_help="Every measure of a file of predictions, with its interval.")
@click.argument("files", nargs=-1, type=FILE, metavar="FILE...")
@reading_options
@value_options
@evaluation_options
@click.option(
    "--interval",
    type=click.Choice(BINOMIAL_INTERVALS),
    default="clopper_pearson",
    show_default=True,
    help="Interval of measures that are k of n.",
)
@click.option(
    "--cell-interval",
    type=click.Choice(CELL_INTERVALS),
    default="by_measure",
    show_default=True,
    help="Interval of the other measures of counts.",
)
@click.option("--reject-label", metavar="LABEL", help="Predicted label that means undecided.")
@click.option(
    "--zero-division",
    type=float,
    default=float("nan"),
    help="Value to use for an undefined measure; it stays undefined if absent.",
)
@click.option(
    "--average-over",
    multiple=True,
    metavar="LABEL",
    help="Average over this class; may be repeated.",
)
@click.option(
    "--prior",
    callback=read_bounds,
    metavar="LABEL=SHARE",
    multiple=True,
    help="Evaluate at this share of a class, as spam=0.01; may be repeated.",
)
@by_option
@click.option("--by-pairs", is_flag=True, help="Slice by each pair of the --by columns, too.")
@click.option("--counts", metavar="TP,FN,FP,TN", help="Four counts instead of a file.")
@format_options("json", "csv", "markdown", "latex")
@page_options
@check_options
@click.option(
    "--cluster", metavar="ADDRESS", help="Read the files on the Dask cluster at this address."
)
@quiet_option
def score(files: tuple[Path, ...], **options: Any) -> None:
    """Score predictions: every measure with its interval, and a verdict in words.

    FILE is CSV, Parquet or JSON lines (also .gz), recognized by its content; several files, or a
    folder, are one set of predictions.  Columns are found by their usual names (y_true, y_pred,
    score …) or named by options; what was guessed is always printed.

    \b
    truerisk score predictions.csv
    truerisk score predictions.csv --positive spam --html report.html
    truerisk score predictions.csv --figures pictures --figure-format pdf
    truerisk score predictions.parquet --truth label --score prob --threshold 0.5
    truerisk score predictions.csv --costs fp=1,fn=5 --beta 2
    truerisk score samples_gsm8k.jsonl --correct exact_match --group doc.subject
    truerisk score judged.jsonl --value score --range 1 10
    truerisk score predictions.csv --fail-under f1=0.9 --fail-over error_rate=0.1
    truerisk score predictions.csv --by region --by age
    truerisk score --counts 50,50,40,850
    truerisk score predictions.csv --positive spam --prior spam=0.01
    """
    check_outputs(options, files)
    check_bounds(options)
    evaluation = _evaluation(files, options)
    check_names(evaluation, options)
    deliver(evaluation, options)
    finish(evaluation, options)


def _evaluation(files: tuple[Path, ...], options: dict[str, Any]) -> Evaluation:
    from truerisk.evaluation import evaluate_counts, evaluate_files

    if (options["counts"] is None) == (not files):
        raise click.UsageError("Give either files or --counts.")
    if not files:
        refuse_options(OF_FILES, "files of predictions, not for --counts")
    roles, strictness = reading_from(options)
    settings = {
        **evaluation_from(options),
        "binomial": options["interval"],
        "cell_interval": options["cell_interval"],
        "zero_division": options["zero_division"],
        "reject": options["reject_label"],
        "average_over": options["average_over"] or None,
        "prior": dict(options["prior"]) or None,
    }
    if options["counts"] is not None:
        del settings["threshold"], settings["probabilities"]
        return evaluate_counts(read_counts(options["counts"]), **settings)
    place = place_of(options["cluster"])
    settings["pass_at"] = options["pass_at"]
    with place, Progress("Reading", quiet=options["quiet"]) as progress:
        settings |= {"by": options["by"], "by_pairs": options["by_pairs"]}
        return evaluate_files(files, roles=roles, options=strictness, progress=progress, **settings)


def read_counts(text: str) -> list[list[int]]:
    """Read TP,FN,FP,TN as a table whose rows are the true positives and the true negatives."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 4 or not all(part.isdecimal() for part in parts):
        raise InputError(f"`--counts` must be {COUNTS_FORM}; got {text!r}.")
    tp, fn, fp, tn = map(int, parts)
    return [[tp, fn], [fp, tn]]
