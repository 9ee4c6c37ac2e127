"""`truerisk audit`: checks of this installation."""

import sys

import click

from truerisk.cli import FINDING
from truerisk.cli.output import show_rows


@click.command(short_help="Checks of this installation.")
def audit() -> None:
    """Check that the libraries of this installation give the right numbers.

    Takes a second.  Exits with 1 when a check fails.  How often each interval covers was measured
    beforehand; the ledger is part of the documentation.

    \b
    truerisk audit
    """
    from truerisk.intervals.installation import (  # noqa: PLC0415  (costs start-up time)
        check_installation,
    )

    checks = check_installation()
    rows = [("passed" if check.passed else "FAILED", check.name, check.outcome) for check in checks]
    show_rows("Checks of this installation", ("", "check", "outcome"), rows)
    if not all(check.passed for check in checks):
        sys.exit(FINDING)
