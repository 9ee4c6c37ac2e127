"""`truerisk threshold`: the best threshold for scores, and the cost of other ones."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from truerisk.cli.options import (
    FILE,
    costs_option,
    positive_option,
    read_costs,
    reading_from,
    reading_options,
)
from truerisk.cli.output import (
    check_outputs,
    deliver,
    exit_partial,
    figure_options,
    format_options,
    show_rows,
)
from truerisk.errors import InputError
from truerisk.measures import MEASURES
from truerisk.reporting.escaping import visible
from truerisk.reporting.wording import count, number, title_of
from truerisk.tallies.cells import BinaryCounts

if TYPE_CHECKING:
    from truerisk.measures.thresholds import Sweep, Threshold
    from truerisk.tallies.ranking import Breakeven, Ranking

AT_THRESHOLD = ("precision", "recall", "specificity", "f1", "gmean", "youden")
CRITERIA = ("f1", "gmean", "youden", "balanced_accuracy", "accuracy", "cost")
OPTIMISTIC = (
    "The threshold was chosen on these examples, so it looks better on them than it will on others:"
    " measure it on another file, with score --threshold."
)


@click.command(short_help="The best threshold for scores, and the cost of other ones.")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "--best",
    type=click.Choice(CRITERIA),
    help="What is optimized: f1 if absent, cost if costs are given.",
)
@click.option("--beta", type=float, help="Take F with this β for f1.")
@costs_option
@positive_option
@click.option("--sweep", type=click.IntRange(0), default=11, show_default=True, help="Rows shown.")
@reading_options
@format_options("json", "csv")
@figure_options
def threshold(files: tuple[Path, ...], **options: Any) -> None:  # noqa: ANN401
    """Find the best threshold: a score of at least that much is predicted positive.

    \b
    truerisk threshold predictions.csv --best f1
    truerisk threshold predictions.csv --best cost --costs fp=1,fn=5
    truerisk threshold predictions.csv --sweep 1000 --csv
    """
    from truerisk.cli.scores import read_scores  # noqa: PLC0415  (costs start-up time)
    from truerisk.measures.from_scores import breakeven  # noqa: PLC0415
    from truerisk.measures.thresholds import best_threshold, sweep  # noqa: PLC0415
    from truerisk.tallies.ranking import rank  # noqa: PLC0415

    check_outputs(options, files)
    roles, strictness = reading_from(options)
    chosen = _criterion(**{name: options[name] for name in ("best", "beta", "costs")})
    examples = read_scores(files, roles, strictness)
    pos_label = examples.pos_label(options["pos_label"])
    ranking = rank(examples.one_score(pos_label), examples.is_positive(pos_label), examples.weight)
    best, meeting = best_threshold(ranking, **chosen), breakeven(ranking)
    rows = _rows(sweep(ranking), options["sweep"])
    columns = ("threshold", "tp", "fp", "fn", "tn", "precision", "recall", "f1")

    def print_result() -> None:
        if options["form"] is not None:
            facts = {
                "pos_label": pos_label,
                "columns": examples.roles,
                "best": dataclasses.asdict(best),
                "breakeven": dataclasses.asdict(meeting),
                "note": OPTIMISTIC,
            }
            show_rows("threshold", columns, rows, options["form"], facts)
            return
        click.echo(f"{visible(examples.roles)}; positive: {visible(pos_label)}\n")
        _print_best(best, meeting, chosen)
        if rows:
            show_rows("As the threshold moves", columns, [tuple(map(_short, row)) for row in rows])
        click.echo(OPTIMISTIC)

    curves = _curves(ranking, chosen["costs"]) if options["figures"] is not None else {}
    deliver(curves, options, print_result)
    if np.isnan(best.value):
        exit_partial(f"{chosen['by']} is undefined at every threshold")


def _criterion(best: str | None, beta: float | None, costs: str | None) -> dict[str, Any]:
    parsed = read_costs(costs)
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
    from truerisk.measures import curves  # noqa: PLC0415  (only figures need it)

    drawn: dict[str, Any] = {
        "roc": curves.roc_curve(ranking),
        "precision_recall": curves.precision_recall_curve(ranking),
    }
    return drawn if costs is None else {**drawn, "cost": curves.cost_curve(ranking, costs)}


def _print_best(best: "Threshold", meeting: "Breakeven", chosen: dict[str, Any]) -> None:
    criterion = f"F{chosen['beta']:g}" if chosen["by"] == "f_beta" else title_of(chosen["by"])
    counts = BinaryCounts(best.tp, best.fp, best.fn, best.tn)
    outcomes = ", ".join(
        f"{name} {count(getattr(best, name))}" for name in ("tp", "fp", "fn", "tn")
    )
    values = [f"{title_of(m)} {number(float(MEASURES[m].value(counts)))}" for m in AT_THRESHOLD]
    kind = "between thresholds, nearest " if meeting.interpolated else ""
    click.echo(
        f"Best threshold by {criterion}: {best.at:.10g} ({criterion} {number(best.value)})\n"
        f"  {outcomes}\n"
        f"  {', '.join(values)}\n"
        f"Breakeven point: {number(meeting.value)}, {kind}at the threshold "
        f"{meeting.threshold:.10g}\n"
    )


def _rows(table: "Sweep", number_of_rows: int) -> list[tuple[float, ...]]:
    chosen = np.unique(
        np.linspace(0, len(table) - 1, min(number_of_rows, len(table))).round().astype(int)
    )
    counts = BinaryCounts(table.tp, table.fp, table.fn, table.tn)
    names = ("precision", "recall", "f1")
    columns = [table.threshold, table.tp, table.fp, table.fn, table.tn]
    columns += [MEASURES[name].value(counts) for name in names]
    return [tuple(column[at].item() for column in columns) for at in chosen]


def _short(value: float) -> str:
    if isinstance(value, int):
        return count(value)
    return number(value) if np.isnan(value) or np.isinf(value) else f"{value:.4g}"
