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
    "--learners", is_flag=True, help="The intervals of resampling instead; takes an hour."
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    help="Samples drawn for each simulated figure; 1000, with --learners 500.",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep what is done in this folder, and go on from there (--learners).",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes (--learners).",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the page, too."
)
def audit(
    *,
    quick: bool,
    learners: bool,
    repetitions: int | None,
    resume: Path | None,
    jobs: int,
    output: Path | None,
) -> None:
    """Check the numbers of this installation, then measure how often each interval covers.

    For proportions, coverage is summed over every outcome; for all measures, it is simulated on
    populations whose truth is known.  With --learners it is measured for the intervals of
    cross-validation, on problems whose truth is known.  Ends with 1 when a check failed.

    \b
    truerisk audit --quick
    truerisk audit --output coverage.md
    truerisk audit --learners --resume done --jobs 2 --output coverage-of-learners.md
    """
    from truerisk.audit.checks import check_installation  # noqa: PLC0415  (costs start-up time)

    if output is not None:
        from truerisk.reporting.files import check_destination  # noqa: PLC0415

        check_destination(output)
    checks = check_installation()
    rows = [("passed" if check.passed else "FAILED", check.name, check.found) for check in checks]
    show_rows("Checks of this installation", ("", "check", "found"), rows)
    if not quick:
        text = _learners(resume, repetitions, jobs) if learners else _measure(repetitions)
        click.echo(text)
        if output is not None:
            from truerisk.reporting.files import write_whole  # noqa: PLC0415

            click.echo(f"The page is in {write_whole(output, text)}", err=True)
    if not all(check.passed for check in checks):
        sys.exit(FINDING)


def _measure(repetitions: int | None) -> str:
    from truerisk.audit import enumeration, simulation  # noqa: PLC0415
    from truerisk.audit.ledger import ledger_text  # noqa: PLC0415
    from truerisk.audit.populations import POPULATIONS  # noqa: PLC0415
    from truerisk.intervals.binomial import BINOMIAL  # noqa: PLC0415

    with Progress("Enumerating") as progress:
        total = len(BINOMIAL) * len(enumeration.SIZES) * len(enumeration.LEVELS)
        enumerated = list(progress.steps(enumeration.enumerate_all(), total))
    drawn = simulation.REPETITIONS if repetitions is None else repetitions
    with Progress("Simulating") as progress:
        total = len(POPULATIONS) * len(simulation.SIZES)
        batches = progress.steps(simulation.simulate_all(repetitions=drawn), total)
        simulated = [row for batch in batches for row in batch]
    return ledger_text(enumerated, simulated)


def _learners(resume: Path | None, repetitions: int | None, jobs: int) -> str:
    from truerisk.audit import learner_coverage  # noqa: PLC0415
    from truerisk.audit.learner_ledger import learner_ledger_text  # noqa: PLC0415

    drawn = learner_coverage.REPETITIONS if repetitions is None else repetitions
    cells = learner_coverage.all_cells(repetitions=drawn)
    rows = []
    measured = learner_coverage.measure_cells(cells, folder=resume, n_jobs=jobs)
    with Progress("Refitting") as progress:
        for cell, found in zip(cells, progress.steps(measured, len(cells)), strict=True):
            rows += found
            where = f"{cell.problem}, n = {cell.n}, {cell.learner}"
            click.echo(f"{len(rows) // len(found)} of {len(cells)}: {where}", err=True)
    return learner_ledger_text(rows)
