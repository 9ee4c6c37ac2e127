"""`truerisk audit`: measured coverage of the intervals; checks of this installation."""

import sys
from pathlib import Path

import click

from truerisk.cli import FINDING
from truerisk.cli.output import show_rows
from truerisk.cli.progress import Progress


@click.command(short_help="Measured coverage of the intervals; checks of this installation.")
@click.option("--quick", is_flag=True, help="Only the checks of this installation.")
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Samples drawn for each simulated figure.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the page, too."
)
def audit(*, quick: bool, repetitions: int, output: Path | None) -> None:
    """Check the numbers of this installation, then measure how often each interval covers.

    For proportions, coverage is summed over every outcome; for all measures, it is simulated on
    populations whose truth is known.  Ends with 1 when a check failed.

    \b
    truerisk audit --quick
    truerisk audit --output coverage.md
    """
    from truerisk.audit.checks import check_installation  # noqa: PLC0415  (costs start-up time)

    if output is not None:
        from truerisk.reporting.files import check_destination  # noqa: PLC0415

        check_destination(output)
    checks = check_installation()
    rows = [("passed" if check.passed else "FAILED", check.name, check.found) for check in checks]
    show_rows("Checks of this installation", ("", "check", "found"), rows)
    if not quick:
        _measure(output, repetitions)
    if not all(check.passed for check in checks):
        sys.exit(FINDING)


def _measure(output: Path | None, repetitions: int) -> None:
    from truerisk.audit import enumeration, simulation  # noqa: PLC0415
    from truerisk.audit.ledger import ledger_text  # noqa: PLC0415
    from truerisk.audit.populations import POPULATIONS  # noqa: PLC0415
    from truerisk.intervals.binomial import BINOMIAL  # noqa: PLC0415

    with Progress("Enumerating") as progress:
        total = len(BINOMIAL) * len(enumeration.SIZES) * len(enumeration.LEVELS)
        enumerated = list(progress.steps(enumeration.enumerate_all(), total))
    with Progress("Simulating") as progress:
        total = len(POPULATIONS) * len(simulation.SIZES)
        batches = progress.steps(simulation.simulate_all(repetitions=repetitions), total)
        simulated = [row for batch in batches for row in batch]
    text = ledger_text(enumerated, simulated)
    click.echo(text)
    if output is not None:
        from truerisk.reporting.files import write_whole  # noqa: PLC0415

        click.echo(f"The page is in {write_whole(output, text)}", err=True)
