"""`truerisk reject`: how much must be left undecided for a wanted error."""

import dataclasses
from pathlib import Path
from typing import Any

import click
import numpy as np

from truerisk.cli.options import FILE, positive_option, reading_from, reading_options
from truerisk.cli.output import format_options, show_rows
from truerisk.cli.pages import check_pages, figure_options, write_pages
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, number

SHOWN_RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
OPTIMISTIC = (
    "The thresholds were chosen on these examples, so they look better on them than they will on "
    "others."
)


@click.command(short_help="How much must be left undecided for a wanted error.")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--want-error", type=float, help="Error rate that the answers may have.")
@click.option("--want-rejection", type=float, help="Share that may be left undecided.")
@click.option("--threshold", type=float, help="Scores from here on mean positive; 0.5 if absent.")
@positive_option
@reading_options
@format_options("json", "csv")
@figure_options
def reject(files: tuple[Path, ...], **options: Any) -> None:  # noqa: ANN401
    """Trade errors for rejections: examples with too little evidence are left undecided.

    Evidence is |2p − 1| for probabilities, |score − threshold| with --threshold, and best minus
    second score for several classes.

    \b
    truerisk reject predictions.csv --want-error 0.01
    truerisk reject predictions.csv --want-rejection 0.1
    truerisk reject svm.csv --score decision --threshold 0
    """
    from truerisk.cli.scores import read_scores  # noqa: PLC0415  (costs start-up time)
    from truerisk.measures.rejection import rejection  # noqa: PLC0415

    check_pages(options, files)
    roles, strictness = reading_from(options)
    examples = read_scores(files, roles, strictness)
    if examples.scores.ndim == 1:
        pos_label = examples.pos_label(options["pos_label"])
        curve = rejection(
            examples.is_positive(pos_label), examples.scores, threshold=options["threshold"]
        )
    else:
        curve = rejection(
            examples.truth(),
            examples.scores,
            labels=examples.classes,
            pos_label=options["pos_label"],
            threshold=options["threshold"],
        )
    wanted = {
        name: find(options[f"want_{name}"])
        for name, find in (
            ("error", curve.threshold_for_error),
            ("rejection", curve.threshold_for_rejection),
        )
        if options[f"want_{name}"] is not None
    }
    points = [curve.threshold_for_rejection(rate) for rate in SHOWN_RATES]
    columns = ("rejected", "error_rate", "accepted", "errors", "evidence_at_least")
    rows = list(dict.fromkeys(map(_row, points)))
    if options["form"] is None:
        click.echo(f"{visible(examples.roles)}\n")
        for name, point in wanted.items():
            click.echo(_sentence(name, options[f"want_{name}"], point))
        click.echo(f"Area under the error-reject curve: {number(curve.area, 4)}\n")
        words = [
            (f"{100 * row[0]:.1f} %", number(row[1], 4), *map(_short, row[2:])) for row in rows
        ]
        show_rows("Error and rejection", columns, words)
        click.echo(OPTIMISTIC)
    else:
        asked = {f"for_{name}": dataclasses.asdict(point) for name, point in wanted.items()}
        facts = {"columns": examples.roles, **asked, "area": curve.area, "note": OPTIMISTIC}
        show_rows("reject", columns, rows, options["form"], facts)
    write_pages({"error_reject": curve}, options)


def _row(point: Any) -> tuple[float, ...]:  # noqa: ANN401
    return (
        point.rejection_rate,
        point.error_rate,
        point.accepted,
        point.errors,
        point.threshold,
    )


def _short(value: float) -> str:
    return count(value) if isinstance(value, int) else f"{value:.4g}"


def _sentence(name: str, wanted: float, point: Any) -> str:  # noqa: ANN401
    what = {"error": "an error rate", "rejection": "a rejection rate"}[name]
    if np.isnan(point.error_rate):
        return f"For {what} of at most {wanted:g} everything must be rejected."
    return (
        f"For {what} of at most {wanted:g}: answer when the evidence is at least "
        f"{point.threshold:.6g}. That rejects {100 * point.rejection_rate:.1f} %; of the "
        f"{count(point.accepted)} answers {count(point.errors)} are wrong "
        f"({number(point.error_rate, 4)})."
    )
