"""`truerisk folds`: mean and interval of the values of several folds."""

from typing import Any

import click

from truerisk.cli.options import level_option, option_with_default
from truerisk.cli.output import check_outputs, deliver, format_options, page_options, show_rows
from truerisk.reporting.wording import interval_heading, number, title_of, written
from truerisk.results import Resampled


@click.command(short_help="Mean and interval of the values of several folds.")
@click.argument("values", nargs=-1, type=float, required=True, metavar="VALUE...")
@option_with_default("--measure", default="error_rate", help="Measure that the values are of.")
@click.option("--folds", "n_folds", type=int, help="Folds of one repetition; 2 for five times two.")
@click.option("--ratio", type=float, help="Test to training examples, for random subsampling.")
@level_option
@format_options("json", "csv")
@page_options
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

    check_outputs(options, [])
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
    deliver(estimates[0], options, lambda: _show(estimates, options["level"], options["form"]))


def _show(estimates: list[Resampled], level: float, form: str | None) -> None:
    if form is not None:
        columns = ("interval", "mean", "standard_deviation", "low", "high", "level", "values")
        show_rows("folds", columns, map(_numbers, estimates), form)
        return
    first = estimates[0]
    click.echo(
        f"{title_of(first.measure)}: mean {number(first.value, 4)}, standard deviation "
        f"{number(first.standard_deviation, 4)}, {first.n:g} values; about {first.target}."
    )
    rows = [(_method(estimate), written(estimate).interval) for estimate in estimates]
    show_rows("Intervals", ("method", interval_heading(level)), rows)
    for note in dict.fromkeys(note for estimate in estimates for note in estimate.notes):
        click.echo(f"• {note}")


def _method(estimate: Resampled) -> str:
    return "none" if estimate.interval is None else estimate.interval.method


def _numbers(estimate: Resampled) -> tuple[str | float, ...]:
    ends = estimate.interval
    bounds = ("", "", "") if ends is None else (ends.low, ends.high, ends.level)
    return (
        _method(estimate),
        estimate.value,
        estimate.standard_deviation,
        *bounds,
        len(estimate.replicates),
    )
