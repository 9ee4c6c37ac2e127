"""`truerisk reject`: how many examples to leave undecided for a target error."""

import dataclasses
from pathlib import Path
from typing import Any

import click
import numpy as np

from truerisk.cli.options import FILE, positive_option, reading_from, reading_options
from truerisk.cli.output import (
    check_outputs,
    deliver,
    figure_options,
    format_options,
    show_rows,
)
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, number

SHOWN_RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
OPTIMISTIC = (
    "The thresholds were chosen on these examples, so they look better on them than they will on "
    "others."
)


@click.command(short_help="How many examples to leave undecided for a target error.")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option("--want-error", type=float, help="Error rate that the answers may have.")
@click.option("--want-rejection", type=float, help="Share that may be left undecided.")
@click.option("--threshold", type=float, help="Predict positive from this score on; 0.5 if absent.")
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

    check_outputs(options, files)
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
    finders = (
        ("error", curve.threshold_for_error),
        ("rejection", curve.threshold_for_rejection),
    )
    chosen = {
        name: (options[f"want_{name}"], find(options[f"want_{name}"]))
        for name, find in finders
        if options[f"want_{name}"] is not None
    }

    def print_result() -> None:
        _show(curve, chosen, examples.roles, options["form"])

    deliver({"error_reject": curve}, options, print_result)


def _show(curve: Any, chosen: dict[str, Any], roles: str, form: str | None) -> None:  # noqa: ANN401
    columns = ("rejected", "error_rate", "accepted", "errors", "evidence_at_least")
    points = [curve.threshold_for_rejection(rate) for rate in SHOWN_RATES]
    rows = list(dict.fromkeys(map(_row, points)))
    if form is not None:
        targets = {f"for_{name}": dataclasses.asdict(point) for name, (_, point) in chosen.items()}
        facts = {"columns": roles, **targets, "area": curve.area, "note": OPTIMISTIC}
        show_rows("reject", columns, rows, form, facts)
        return
    click.echo(f"{visible(roles)}\n")
    for name, (target, point) in chosen.items():
        click.echo(_sentence(name, target, point))
    click.echo(f"Area under the error-reject curve: {number(curve.area, 4)}\n")
    words = [(f"{100 * row[0]:.1f} %", number(row[1], 4), *map(_short, row[2:])) for row in rows]
    show_rows("Error and rejection", columns, words)
    click.echo(OPTIMISTIC)


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


def _sentence(name: str, target: float, point: Any) -> str:  # noqa: ANN401
    what = {"error": "an error rate", "rejection": "a rejection rate"}[name]
    if np.isnan(point.error_rate):
        return f"For {what} of at most {target:g} everything must be rejected."
    return (
        f"For {what} of at most {target:g}: answer when the evidence is at least "
        f"{point.threshold:.6g}. That rejects {100 * point.rejection_rate:.1f} %; of the "
        f"{count(point.accepted)} answers {count(point.errors)} are wrong "
        f"({number(point.error_rate, 4)})."
    )
