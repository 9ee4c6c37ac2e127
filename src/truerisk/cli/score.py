"""`truerisk score`: every measure of a file of predictions, with its interval."""

from pathlib import Path
from typing import Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.measures.registry import BINOMIAL_INTERVALS, CELL_INTERVALS
from truerisk.results import Evaluation

OF_FILES = (*opt.READING, "threshold", "probabilities", "cluster", "pass_at", "by", "by_pairs")
COUNTS_FORM = "four whole numbers TP,FN,FP,TN, such as 50,50,40,850"


@click.command()
@click.argument("files", nargs=-1, type=opt.FILE, metavar="FILE...")
@opt.reading
@opt.values
@opt.evaluation
@opt.option(
    "--interval",
    "Interval of measures that are k of n.",
    BINOMIAL_INTERVALS,
    "clopper_pearson",
)
@opt.option(
    "--cell-interval", "Interval of the other measures of counts.", CELL_INTERVALS, "by_measure"
)
@opt.option("--reject-label", "Predicted label that means undecided.", metavar="LABEL")
@opt.option(
    "--zero-division",
    "Value to use for an undefined measure; it stays undefined if absent.",
    float,
    float("nan"),
    show_default=False,
)
@opt.option(
    "--average-over", "Average over this class; may be repeated.", multiple=True, metavar="LABEL"
)
@opt.bounds(
    "--prior", "Evaluate at this share of a class, as spam=0.01; may be repeated.", "LABEL=SHARE"
)
@opt.by
@opt.flag("--by-pairs", "Slice by each pair of the --by columns, too.")
@opt.option("--counts", "Four counts instead of a file.", metavar="TP,FN,FP,TN")
@out.formats("json", "csv", "markdown", "latex")
@out.page
@out.checks
@opt.option("--cluster", "Read the files on the Dask cluster at this address.", metavar="ADDRESS")
@out.quiet
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
    out.check_outputs(options, files)
    out.check_bounds(options)
    evaluation = _evaluation(files, options)
    out.check_names(evaluation, options)
    out.deliver(evaluation, options)
    out.finish(evaluation, options)


def _evaluation(files: tuple[Path, ...], options: dict[str, Any]) -> Evaluation:
    from truerisk.evaluation import evaluate_counts, evaluate_files

    if (options["counts"] is None) == (not files):
        raise click.UsageError("Give either files or --counts.")
    if not files:
        out.refuse_options(OF_FILES, "files of predictions, not for --counts")
    roles, strictness = opt.reading_from(options)
    settings = {
        **opt.evaluation_from(options),
        **opt.only(options, "cell_interval", "zero_division"),
        "binomial": options["interval"],
        "reject": options["reject_label"],
        "average_over": options["average_over"] or None,
        "prior": dict(options["prior"]) or None,
    }
    if options["counts"] is not None:
        del settings["threshold"], settings["probabilities"]
        return evaluate_counts(read_counts(options["counts"]), **settings)
    settings |= opt.only(options, "pass_at", "by", "by_pairs")
    place, bar = opt.place_of(options["cluster"]), Progress("Reading", quiet=options["quiet"])
    with place, bar as progress:
        return evaluate_files(files, roles=roles, options=strictness, progress=progress, **settings)


def read_counts(text: str) -> list[list[int]]:
    """Read TP,FN,FP,TN as a table whose rows are the true positives and the true negatives."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 4 or not all(part.isdecimal() for part in parts):
        raise InputError(f"`--counts` must be {COUNTS_FORM}; got {text!r}.")
    tp, fn, fp, tn = map(int, parts)
    return [[tp, fn], [fp, tn]]
