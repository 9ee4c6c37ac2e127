"""`truerisk plan`: how large a test set must be."""

from typing import Any

import click

from truerisk.cli.options import level_option
from truerisk.reporting.wording import percent


@click.command(short_help="How large must a test set be?")
@click.option("--half-width", type=float, help="Target half-width of the interval.")
@click.option("--upper-bound", type=float, help="Error rate to be ruled out.")
@click.option("--expected", type=float, help="Expected value.")
@click.option("--difference", type=float, help="Difference of two classifiers to be detected.")
@click.option("--discordant", type=float, help="Share of examples on which exactly one is right.")
@click.option("--power", type=float, help="Probability of detecting that difference.")
@click.option(
    "--no-errors",
    type=int,
    metavar="N",
    help="Bound on the error rate that N examples without an error prove.",
)
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

    given: dict[str, Any] = {name: value for name, value in question.items() if value is not None}
    if (no_errors is None) == (not given):
        raise click.UsageError(
            "Ask one question: --half-width, --upper-bound, --difference or --no-errors."
        )
    if no_errors is None:
        click.echo(sample_size(level=level, **given))
        return
    bound = proven_by_no_errors(no_errors, level=level)
    click.echo(
        f"{no_errors:,} examples without an error prove, at {percent(level)} and one-sided, "
        f"an error rate of at most {bound:.4g}."
    )
