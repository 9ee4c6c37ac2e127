"""`truerisk audit`: measured coverage of the intervals; checks of this installation."""

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from truerisk.cli import FINDING
from truerisk.cli.output import show_rows
from truerisk.cli.progress import Progress


@dataclass(frozen=True)
class Page:
    """What was measured, as Markdown and as the CSV that some code reads."""

    text: str
    figures: str = ""


@click.command(short_help="Measured coverage of the intervals; checks of this installation.")
@click.option("--quick", is_flag=True, help="Only the checks of this installation.")
@click.option(
    "--learners", is_flag=True, help="The intervals of resampling instead; takes an hour."
)
@click.option(
    "--perturbation", is_flag=True, help="The intervals of perturbation instead; takes hours."
)
@click.option(
    "--tests", is_flag=True, help="How often default tests err instead; takes over an hour."
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    help="Samples drawn for each simulated figure; 1000, with --learners 500, with --perturbation "
    "300, with --tests 2000 (of slow tests a part).",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep what is done in this folder, and go on from there; not for plain intervals.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes; not for plain intervals.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the figures as CSV, too, as the package ships them.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the page, too."
)
def audit(
    *,
    quick: bool,
    learners: bool,
    perturbation: bool,
    tests: bool,
    repetitions: int | None,
    resume: Path | None,
    jobs: int,
    figures: Path | None,
    output: Path | None,
) -> None:
    """Check the numbers of this installation, then measure how often each interval covers.

    For proportions, coverage is summed over every outcome; for all measures, it is simulated on
    populations whose truth is known.  With --learners it is measured for the intervals of
    cross-validation, on problems whose truth is known, and with --perturbation for those of
    perturbation resampling.  With --tests it is measured how often the default tests tell two
    equally good models apart.  Ends with 1 when a check failed.

    \b
    truerisk audit --quick
    truerisk audit --output coverage.md
    truerisk audit --learners --resume done --jobs 2 --output coverage-of-learners.md
    truerisk audit --tests --resume done --output size-of-tests.md
    """
    if learners + perturbation + tests > 1:
        raise click.UsageError("Only one of --learners, --perturbation and --tests can be given.")
    if figures is not None and quick:
        raise click.UsageError("--figures goes with what is measured, not with --quick.")
    from truerisk.audit.checks import check_installation  # noqa: PLC0415  (costs start-up time)

    for destination in (output, figures):
        if destination is not None:
            from truerisk.reporting.files import check_destination  # noqa: PLC0415

            check_destination(destination)
    checks = check_installation()
    rows = [("passed" if check.passed else "FAILED", check.name, check.found) for check in checks]
    show_rows("Checks of this installation", ("", "check", "found"), rows)
    if not quick:
        asked = {_learners: learners, _perturbation: perturbation, _tests: tests}
        measure = next((one for one, flag in asked.items() if flag), None)
        found = measure(resume, repetitions, jobs) if measure else _measure(repetitions)
        click.echo(found.text)
        _write(found, output, figures)
    if not all(check.passed for check in checks):
        sys.exit(FINDING)


def _write(found: Page, output: Path | None, figures: Path | None) -> None:
    from truerisk.reporting.files import write_whole  # noqa: PLC0415

    if output is not None:
        click.echo(f"The page is in {write_whole(output, found.text)}", err=True)
    if figures is not None:
        click.echo(f"The figures are in {write_whole(figures, found.figures)}", err=True)


def _with_figures(name: str, text: str) -> Page:
    from truerisk.audit.coverage_figures import FIGURES  # noqa: PLC0415
    from truerisk.evaluation.measured_coverage import figures_as_csv  # noqa: PLC0415

    return Page(text, figures_as_csv(list(FIGURES[name](text))))


def _measure(repetitions: int | None) -> Page:
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
    return _with_figures("coverage", ledger_text(enumerated, simulated))


def _learners(resume: Path | None, repetitions: int | None, jobs: int) -> Page:
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
    return _with_figures("coverage-of-learners", learner_ledger_text(rows))


def _perturbation(resume: Path | None, repetitions: int | None, jobs: int) -> Page:
    from truerisk.audit import perturbation_cells, perturbation_coverage  # noqa: PLC0415
    from truerisk.audit.perturbation_ledger import perturbation_ledger_text  # noqa: PLC0415
    from truerisk.estimation.svm.measured_coverage import as_csv  # noqa: PLC0415

    drawn = perturbation_coverage.SAMPLES if repetitions is None else repetitions
    cells = perturbation_cells.all_cells()
    measured = perturbation_coverage.measure_cells(cells, samples=drawn, folder=resume, n_jobs=jobs)
    rows = []
    with Progress("Perturbing") as progress:
        for done, (cell, found) in enumerate(progress.steps(measured, len(cells)), start=1):
            rows += found
            click.echo(f"{done} of {len(cells)}: {cell.words}", err=True)
    return Page(perturbation_ledger_text(rows), as_csv(rows))


def _tests(resume: Path | None, repetitions: int | None, jobs: int) -> Page:
    from truerisk.audit import sizes_trials  # noqa: PLC0415
    from truerisk.audit.sizes_ledger import sizes_ledger_text  # noqa: PLC0415

    drawn = sizes_trials.PAIRS if repetitions is None else repetitions
    trials = sizes_trials.all_trials()
    measured = sizes_trials.measure_sizes(trials, pairs=drawn, folder=resume, n_jobs=jobs)
    rows = []
    with Progress("Testing") as progress:
        for done, (trial, found) in enumerate(progress.steps(measured, len(trials)), start=1):
            rows += found
            where = f"{trial.kind}, {trial.setting}, n = {trial.n}"
            click.echo(f"{done} of {len(trials)}: {where}", err=True)
    return _with_figures("size-of-tests", sizes_ledger_text(rows))
