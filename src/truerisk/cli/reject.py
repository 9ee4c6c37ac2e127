"""`truerisk reject`: how many examples to leave undecided for a target error."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.errors import InputError
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, percent
from truerisk.results import number

if TYPE_CHECKING:
    from truerisk.measures.rejection import ErrorRejectCurve, GuaranteedRejection, RejectionPoint

COMMON_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
RARE_RATES = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005)  # where errors are as rare
OPTIMISTIC = (
    "Thresholds chosen on these examples look better on them than they will on others; the "
    "intervals are those of thresholds that were fixed before."
)


@click.command()
@opt.FILES
@opt.option("--want-error", "Error rate that the answers may have.", float)
@opt.option("--want-rejection", "Share that may be left undecided.", float)
@opt.guarantee("error=0.02", "the error rate of the answers")
@opt.level
@opt.option("--threshold", "Predict positive from this score on; 0.5 if absent.", float)
@opt.positive
@opt.reading
@out.formats("json", "csv")
@out.figures
def reject(files: tuple[Path, ...], **options: Any) -> None:
    """Trade errors for rejections: examples with too little evidence are left undecided.

    Evidence is |2p − 1| for probabilities, |score − threshold| with --threshold, and best minus
    second score for several classes.  With --guarantee, the least rejection that keeps an error
    rate on new examples, with the confidence of --level, although it was chosen on these.

    \b
    truerisk reject predictions.csv --want-error 0.01
    truerisk reject predictions.csv --guarantee error=0.02
    truerisk reject predictions.csv --want-rejection 0.1
    truerisk reject svm.csv --score decision --threshold 0
    """
    from truerisk.cli.scores import read_scores
    from truerisk.evaluation.rejection import rejection_of

    out.check_outputs(options, files)
    roles, strictness = opt.reading_from(options)
    examples, columns_used = read_scores(files, roles, strictness)
    sure = examples.weight is None and examples.group is None
    if options["guarantee"] and not sure:
        raise InputError(
            "`--guarantee` must be of independent rows of equal weight; these have weights or "
            "groups. Keep one row of each group, and leave the weights out."
        )
    promised, level = dict(options["guarantee"]), options["level"]
    curve = rejection_of(
        examples, options["pos_label"], options["threshold"], guarantee=promised, level=level
    )
    finders = (("error", curve.threshold_for_error), ("rejection", curve.threshold_for_rejection))
    targets = {
        name: (options[f"want_{name}"], find(options[f"want_{name}"]))
        for name, find in finders
        if options[f"want_{name}"] is not None
    }

    def print_result() -> None:
        _show(curve, targets, columns_used, options["form"], level if sure else None)

    out.deliver({"error_reject": curve}, options, print_result)
    if curve.guaranteed is not None and not curve.guaranteed.guarantee.is_kept:
        out.exit_partial("no rejection guarantees this error rate")


def _show(
    curve: "ErrorRejectCurve",
    targets: dict[str, Any],
    roles: str,
    form: str | None,
    level: float | None,
) -> None:
    columns = ("rejected", "error_rate", "low", "high", "accepted", "errors", "evidence_at_least")
    rows = list(dict.fromkeys(_row(point, level) for point in _points(curve)))
    if form is not None:
        points_for = {f"for_{name}": dataclasses.asdict(one) for name, (_, one) in targets.items()}
        facts = {"columns": roles, **points_for, "area": curve.area, "note": OPTIMISTIC}
        if curve.guaranteed is not None:
            facts["guaranteed"] = dataclasses.asdict(curve.guaranteed)
        out.show_rows("reject", columns, rows, form, facts)
        return
    click.echo(f"{visible(roles)}\n")
    if curve.guaranteed is not None:
        click.echo(_guaranteed_sentence(curve.guaranteed))
    for name, (target, point) in targets.items():
        click.echo(_sentence(name, target, point, level))
    click.echo(f"Area under the error-reject curve: {number(curve.area, 4)}\n")
    decimals = 2 if any(0 < row[0] < 0.009 for row in rows) else 1
    words = [
        (f"{100 * row[0]:.{decimals}f} %", _with_ends(*row[1:4]), *map(_short, row[4:]))
        for row in rows
    ]
    out.show_rows("Error and rejection", ("rejected", "error_rate", *columns[4:]), words)
    click.echo(OPTIMISTIC)


def _points(curve: "ErrorRejectCurve") -> Iterator["RejectionPoint"]:
    """Give rejections from half as rare as errors on, up to the first that leaves no error."""
    rare = [rate for rate in RARE_RATES if 2 * rate >= curve.error_rate[0]]
    for rate in (0.0, *rare, *COMMON_RATES):
        point = curve.threshold_for_rejection(rate)
        yield point
        if not point.errors:
            return


def _row(point: "RejectionPoint", level: float | None) -> tuple[float, ...]:
    low, high = (np.nan, np.nan)
    if level is not None:
        from truerisk.intervals.binomial import binomial_bounds

        low, high = map(float, binomial_bounds(point.errors, point.accepted, level=level))
    return (
        point.rejection_rate,
        point.error_rate,
        low,
        high,
        point.accepted,
        point.errors,
        point.threshold,
    )


def _with_ends(value: float, low: float, high: float) -> str:
    return number(value, 4) if np.isnan(low) else f"{value:.4f} [{low:.4f}, {high:.4f}]"


def _short(value: float) -> str:
    return count(value) if isinstance(value, int) else f"{value:.4g}"


def _guaranteed_sentence(one: "GuaranteedRejection") -> str:
    promise = f"an error rate of at most {one.guarantee.bound:g}"
    if not one.guarantee.is_kept:
        return f"Not guaranteed: {promise}. {one.guarantee.reason}"
    point = one.point
    return (
        f"Guaranteed with {percent(one.guarantee.level)} confidence: {promise}, if you answer when "
        f"the evidence is at least {point.threshold:.6g}. That rejects "
        f"{100 * point.rejection_rate:.1f} %; of the {count(point.accepted)} answers "
        f"{count(point.errors)} are wrong. The naive choice, by these examples alone, rejects "
        f"{100 * one.naive.rejection_rate:.1f} %."
    )


def _sentence(name: str, target: float, point: "RejectionPoint", level: float | None) -> str:
    what = {"error": "an error rate", "rejection": "a rejection rate"}[name]
    if np.isnan(point.error_rate):
        return f"For {what} of at most {target:g} everything must be rejected."
    _, _, low, high, *_ = _row(point, level)
    ends = "" if level is None else f"; {percent(level)}: {number(low, 4)} to {number(high, 4)}"
    return (
        f"For {what} of at most {target:g}: answer when the evidence is at least "
        f"{point.threshold:.6g}. That rejects {100 * point.rejection_rate:.1f} %; of the "
        f"{count(point.accepted)} answers {count(point.errors)} are wrong "
        f"({number(point.error_rate, 4)}{ends})."
    )
