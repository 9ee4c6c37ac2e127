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
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the page, too."
)
def audit(*, quick: bool, output: Path | None) -> None:
    """Check the numbers of this installation, then measure how often each interval covers.

    Coverage is summed over every outcome; nothing is simulated.  Ends with 1 when a check failed.

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
        _measure(output)
    if not all(check.passed for check in checks):
        sys.exit(FINDING)


def _measure(output: Path | None) -> None:
    from truerisk.audit.enumeration import LEVELS, SIZES, enumerate_all  # noqa: PLC0415
    from truerisk.audit.ledger import ledger_text  # noqa: PLC0415
    from truerisk.intervals.binomial import BINOMIAL  # noqa: PLC0415

    with Progress("Measuring") as progress:
        total = len(BINOMIAL) * len(SIZES) * len(LEVELS)
        text = ledger_text(list(progress.steps(enumerate_all(), total)))
    click.echo(text)
    if output is not None:
        from truerisk.reporting.files import write_whole  # noqa: PLC0415

        click.echo(f"The page is in {write_whole(output, text)}", err=True)
