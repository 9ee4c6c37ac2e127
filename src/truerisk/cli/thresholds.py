"""`truerisk threshold` and `truerisk reject`: where to decide by scores, and where not to."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.inputs import Predictions, ReadingOptions, Roles, open_predictions
from truerisk.measures.costs import OUTCOMES
from truerisk.measures.registry import title_of
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, percent, spoken, with_interval
from truerisk.results import number

if TYPE_CHECKING:
    from truerisk.evaluation.best_threshold import ChosenThreshold
    from truerisk.measures.rejection import ErrorRejectCurve, GuaranteedRejection, RejectionPoint
    from truerisk.tallies.ranking import Breakeven, Ranking

CRITERIA = ("f1", "gmean", "youden", "balanced_accuracy", "accuracy", "cost")
AFTER_CHOICE = (
    "The threshold was chosen on these examples, so it looks better on them than it will on others;"
    " its intervals allow for that. Surer: measure it on another file, with score --threshold."
)
NO_INTERVALS = (
    "The threshold was chosen on these examples, so it looks better on them than it will on others:"
    " measure it on another file, with score --threshold. Weighted or grouped rows: no intervals."
)
COMMON_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
RARE_RATES = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005)  # where errors are as rare
OPTIMISTIC = (
    "Thresholds chosen on these examples look better on them than they will on others; the "
    "intervals are those of thresholds that were fixed before."
)


def read_scores(
    paths: Sequence[Path], roles: Roles, options: ReadingOptions
) -> tuple[Predictions, str]:
    """Read labels and scores into memory; say which columns they are."""
    files = open_predictions(paths, roles=roles, options=options)
    files.check_labels()
    if not files.roles.score_columns:
        raise InputError(
            f"`score` must be a column of the file; the columns are {', '.join(files.columns)}. "
            "Say which with --score."
        )
    chosen = files.roles
    score = " + ".join(chosen.score_columns)
    used = {"truth": chosen.truth, "score": score, "weight": chosen.weight}
    guessed = {role: " (guessed)" if role in chosen.guessed else "" for role in used}
    words = ", ".join(f"{role}: {name}{guessed[role]}" for role, name in used.items() if name)
    with Progress("Reading") as progress:
        return files.read(progress), words


@click.command()
@opt.FILES
@opt.option("--best", "What is optimized: f1 if absent, cost if costs are given.", CRITERIA)
@opt.option("--beta", "Take F with this β for f1.", float)
@opt.costs
@opt.guarantee("recall=0.95", "recall, specificity, precision or negative_predictive_value")
@opt.level
@opt.positive
@opt.option("--sweep", "Rows shown.", click.IntRange(0), 11)
@opt.reading
@out.formats("json", "csv")
@out.figures
def threshold(files: tuple[Path, ...], **options: Any) -> None:
    """Find the best threshold: a score of at least that much is predicted positive.

    With --guarantee, the best of the thresholds that keep a promise on new examples, with the
    confidence of --level, although they were chosen on these.

    \b
    truerisk threshold predictions.csv --best f1
    truerisk threshold predictions.csv --guarantee recall=0.95
    truerisk threshold predictions.csv --guarantee recall=0.8 --guarantee precision=0.9
    truerisk threshold predictions.csv --best cost --costs fp=1,fn=5
    truerisk threshold predictions.csv --sweep 1000 --csv
    """
    from truerisk.evaluation.best_threshold import choose_threshold, threshold_rows
    from truerisk.measures.from_scores import breakeven
    from truerisk.tallies.ranking import rank

    out.check_outputs(options, files)
    roles, strictness = opt.reading_from(options)
    chosen = _criterion(**opt.only(options, "best", "beta", "costs"))
    examples, columns_used = read_scores(files, roles, strictness)
    score, is_positive, pos_label = examples.against_the_rest(options["pos_label"])
    ranking = rank(score, is_positive, examples.weight)
    sure = {"level": options["level"], "independent": examples.group is None}
    best = choose_threshold(ranking, **chosen, guarantee=dict(options["guarantee"]), **sure)
    meeting = breakeven(ranking)
    rows = threshold_rows(ranking, options["sweep"], costs=chosen["costs"], **sure)
    note = AFTER_CHOICE if sure["independent"] and not ranking.weighted else NO_INTERVALS

    def print_result() -> None:
        if options["form"] is not None:
            facts = {
                "pos_label": pos_label,
                "columns": columns_used,
                "best": {one.name: getattr(best, one.name) for one in dataclasses.fields(best)},
                "breakeven": dataclasses.asdict(meeting),
                "note": note,
            }
            columns = list(rows[0]) if rows else []
            out.show_rows(
                "threshold", columns, [tuple(row.values()) for row in rows], options["form"], facts
            )
            return
        click.echo(f"{visible(columns_used)}; positive: {visible(pos_label)}\n")
        _print_best(best, meeting, chosen)
        if rows:
            last = "f1" if chosen["costs"] is None else "cost"
            columns = ["threshold", "tp", "fp", "precision", "recall", last]
            words = [[_cell(row, name) for name in columns] for row in rows]
            out.show_rows("As the threshold moves", columns, words)
        click.echo(note)

    curves = _curves(ranking, chosen["costs"]) if options["figures"] is not None else {}
    out.deliver(curves, options, print_result)
    if math.isnan(best.value):
        kind = "guaranteed" if best.guarantees else f"best: {chosen['by']} is undefined at all"
        out.exit_partial(f"no threshold is {kind}")


def _criterion(best: str | None, beta: float | None, costs: str | None) -> dict[str, Any]:
    parsed = opt.read_costs(costs)
    best = best or ("f1" if costs is None else "cost")
    if costs is not None and best != "cost":
        raise InputError(f"`--costs` must go with --best cost; got --best {best}.")
    if beta is not None and best != "f1":
        raise InputError(f"`--beta` must go with --best f1; got --best {best}.")
    if best == "cost" and not isinstance(parsed, dict):
        raise InputError("`--costs` must give the costs by outcome, such as fp=1,fn=5.")
    chosen = {"by": "f_beta" if best == "f1" else best, "beta": 1.0 if beta is None else beta}
    return {**chosen, "costs": parsed if best == "cost" else None}


def _curves(ranking: "Ranking", costs: dict[str, float] | None) -> dict[str, Any]:
    from truerisk.measures import curves

    drawn: dict[str, Any] = {
        "roc": curves.roc_curve(ranking),
        "precision_recall": curves.precision_recall_curve(ranking),
    }
    return drawn if costs is None else {**drawn, "cost": curves.cost_curve(ranking, costs)}


def _print_best(best: "ChosenThreshold", meeting: "Breakeven", chosen: dict[str, Any]) -> None:
    from truerisk.evaluation.best_threshold import share_called

    criterion = f"F{chosen['beta']:g}" if chosen["by"] == "f_beta" else title_of(chosen["by"])
    for one in best.guarantees:
        promise = f"{spoken(one.measure)} of at least {one.bound:g}"
        if one.is_kept:
            falls = one.measure in {"recall", "negative_predictive_value"}
            end = f"up to {one.highest:.10g}" if falls else f"down to {one.lowest:.10g}"
            level = percent(one.level)
            click.echo(f"Guaranteed with {level} confidence: {promise}, at thresholds {end}.")
        else:
            click.echo(f"Not guaranteed: {promise}. {one.reason}")
    if math.isnan(best.at) and best.guarantees:
        click.echo("No threshold is guaranteed.")
    else:
        among = " among the guaranteed" if best.guarantees else ""
        outcomes = ", ".join(f"{name} {count(getattr(best, name))}" for name in OUTCOMES)
        click.echo(
            f"Best threshold by {criterion}{among}: {best.at:.10g} ({criterion} "
            f"{number(best.value)})\n  {outcomes}"
        )
    for name, estimate in best.estimates.items():
        click.echo(f"  {title_of(name)} {with_interval(estimate)}")
    if best.naive is not None and not math.isnan(best.naive.at):
        here = "" if math.isnan(best.at) else f", the guaranteed one {_share(best.share_called)}"
        click.echo(
            f"The naive choice, by these examples alone, is {best.naive.at:.10g}: it calls "
            f"{_share(share_called(best.naive))} positive{here}."
        )
    kind = "between thresholds, nearest " if meeting.interpolated else ""
    click.echo(
        f"Breakeven point: {number(meeting.value)}, {kind}at the threshold "
        f"{meeting.threshold:.10g}\n"
    )


def _share(part: float) -> str:
    return f"{100 * part:.1f} %"


def _cell(row: dict[str, float], name: str) -> str:
    value = row[name]
    if isinstance(value, int):
        return count(value)
    low, high = row.get(f"{name}_low", math.nan), row.get(f"{name}_high", math.nan)
    if math.isnan(value) or math.isnan(low):
        return number(value) if not math.isfinite(value) else f"{value:.4g}"
    # As few decimals as the width allows: a rare class has small precision and cost.
    decimals = next((few for few in (2, 3, 4) if high - low >= 2 * 10.0**-few), 5)
    return f"{value:.{decimals}f} [{low:.{decimals}f}, {high:.{decimals}f}]"


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
    from truerisk.evaluation.best_threshold import rejection_of

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
        _show_rejections(curve, targets, columns_used, options["form"], level if sure else None)

    out.deliver({"error_reject": curve}, options, print_result)
    if curve.guaranteed is not None and not curve.guaranteed.guarantee.is_kept:
        out.exit_partial("no rejection guarantees this error rate")


def _show_rejections(
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
        (
            f"{100 * rejected:.{decimals}f} %",
            number(error, 4) if np.isnan(low) else f"{error:.4f} [{low:.4f}, {high:.4f}]",
            *(count(one) if isinstance(one, int) else f"{one:.4g}" for one in others),
        )
        for rejected, error, low, high, *others in rows
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
    sizes = point.accepted, point.errors, point.threshold
    return point.rejection_rate, point.error_rate, low, high, *sizes


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
