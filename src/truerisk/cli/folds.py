"""`truerisk folds`: mean and interval of the values of several folds."""

from typing import Any

import click

from truerisk.cli import options as opt
from truerisk.cli import output as out
from truerisk.measures.registry import title_of
from truerisk.reporting.wording import interval_heading, written
from truerisk.results import Resampled, number


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
    rows = [(_method(estimate), written(estimate).interval) for estimate in estimates]
    out.show_rows("Intervals", ("method", interval_heading(level)), rows)
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
