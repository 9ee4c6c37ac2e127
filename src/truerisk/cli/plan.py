"""`truerisk plan`: how large a test set must be."""

from typing import Any

import click

from truerisk.cli.options import level_option
from truerisk.reporting.wording import percent


@click.command(short_help="How large must a test set be?")
@click.option("--half-width", type=float, help="Wanted half-width of the interval.")
@click.option("--upper-bound", type=float, help="Error rate that is to be ruled out.")
@click.option("--expected", type=float, help="Value that is expected.")
@click.option("--difference", type=float, help="Difference of two classifiers to be seen.")
@click.option("--discordant", type=float, help="Share of examples on which just one is right.")
@click.option("--power", type=float, help="Probability of seeing that difference.")
@click.option("--no-errors", type=int, metavar="N", help="What no error in N examples proves.")
@level_option
def plan(no_errors: int | None, level: float, **question: float | None) -> None:
    """Find the size of a test set, or what a size proves.

    \b
    truerisk plan --half-width 0.02 --expected 0.1
    truerisk plan --upper-bound 0.05 --expected 0
    truerisk plan --difference 0.02 --discordant 0.1 --power 0.8
    truerisk plan --no-errors 300
    """
    from truerisk.intervals.planning import (  # noqa: PLC0415  (costs start-up time)
        proven_by_no_errors,
        sample_size,
    )

    asked: dict[str, Any] = {name: value for name, value in question.items() if value is not None}
    if (no_errors is None) == (not asked):
        raise click.UsageError(
            "Ask one question: --half-width, --upper-bound, --difference or --no-errors."
        )
    if no_errors is None:
        click.echo(sample_size(level=level, **asked))
        return
    bound = proven_by_no_errors(no_errors, level=level)
    click.echo(
        f"{no_errors:,} examples without an error prove, at {percent(level)} and one-sided, "
        f"an error rate of at most {bound:.4g}."
    )
