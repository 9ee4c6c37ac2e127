"""`truerisk threshold`: the best threshold for scores, and the cost of other ones."""

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.errors import InputError
from truerisk.measures.costs import OUTCOMES
from truerisk.measures.registry import title_of
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, percent, spoken, with_interval
from truerisk.results import number

if TYPE_CHECKING:
    from truerisk.evaluation.best_threshold import ChosenThreshold
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
    from truerisk.cli.scores import read_scores
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
