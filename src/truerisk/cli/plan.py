"""`truerisk plan`: how large a test set must be."""

from typing import Any

import click

from truerisk.cli import options as opt
from truerisk.reporting.wording import percent


@click.command()
@opt.option("--half-width", "Target half-width of the interval.", float)
@opt.option("--upper-bound", "Error rate to be ruled out.", float)
@opt.option("--difference", "Difference of two classifiers to be detected.", float)
@opt.option("--expected", "Expected rate.", float)
@opt.option("--discordant", "Share of examples on which exactly one is right.", float)
@opt.option("--auc", "Expected area under the ROC curve; of the worse model.", float)
@opt.option("--prevalence", "With --auc: share of positive examples.", float)
@opt.option("--correlation", "With --auc: of the two models' scores in a class.", float)
@opt.option(
    "--scores",
    "With --auc: normal; heavy_tailed if absent; or any, also skewed: the worst is planned.",
)
@opt.option(
    "--assurance",
    "Share of samples in which the target is met; the power of a test.",
    float,
    0.8,
)
@opt.option("--method", "Interval of a rate, with --half-width; clopper_pearson if absent.")
@opt.option(
    "--no-errors",
    "Bound on the error rate that N examples without an error prove.",
    int,
    metavar="N",
)
@opt.level
def plan(no_errors: int | None, assurance: float, level: float, **question: Any) -> None:
    """Find the size of a test set, or what a size proves.

    The target is met in 80 % of samples of that size, or in the share --assurance.

    \b
    truerisk plan --half-width 0.02 --expected 0.1
    truerisk plan --upper-bound 0.05 --expected 0.02 --assurance 0.9
    truerisk plan --difference 0.02 --discordant 0.1
    truerisk plan --half-width 0.03 --auc 0.85 --prevalence 0.2
    truerisk plan --difference 0.03 --auc 0.85 --prevalence 0.2 --correlation 0.5
    truerisk plan --no-errors 300
    """
    from truerisk.intervals.planning import proven_by_no_errors, sample_size

    given: dict[str, Any] = {name: value for name, value in question.items() if value is not None}
    if (no_errors is None) == (not given):
        raise click.UsageError(
            "Ask one question: --half-width, --upper-bound, --difference or --no-errors."
        )
    if no_errors is None:
        click.echo(sample_size(level=level, assurance=assurance, **given))
        return
    bound = proven_by_no_errors(no_errors, level=level)
    click.echo(
        f"{no_errors:,} examples without an error prove, at {percent(level)} and one-sided, "
        f"an error rate of at most {bound:.4g}."
    )
