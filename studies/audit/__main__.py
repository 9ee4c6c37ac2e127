"""Measure, and write the pages: `python -m studies.audit NAME…`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from studies.audit import (
    bands,
    choices,
    compression,
    corrected_t,
    curves,
    divisions,
    further_measures,
    group_power,
    groups,
    guarantees,
    holdout,
    learner_coverage,
    leave_one_out,
    pages,
    perturbation,
    perturbed_measures,
    planning,
    predictions,
    proportions,
    refit_measures,
    refit_tests,
    refits,
    sentences,
    sizes,
    slice_differences,
    slices,
    values,
    xi_alpha,
)
from studies.audit.coverage_cells import CoverageCell
from studies.audit.ledger import LEDGERS, write_ledger
from truerisk.errors import InputError, ResourceError


def _proportions(**_: Any) -> Iterator[str]:
    rows = list(proportions.enumerate_all())
    write_ledger(proportions.EnumeratedCoverage, "proportions", rows, LEDGERS)
    yield f"{len(rows)} rows"


def _predictions(samples: int | None, **_: Any) -> Iterator[str]:
    drawn = predictions.SAMPLES if samples is None else samples
    rows: list[CoverageCell] = []
    for batch in predictions.simulate_all(samples=drawn):
        rows += batch
        yield f"{batch[0].problem}, n = {batch[0].n}"
    write_ledger(CoverageCell, "predictions", rows, LEDGERS)


def _holdout(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = holdout.SAMPLES if samples is None else samples
    rows: list[CoverageCell] = []
    for batch in holdout.measure_all(samples=drawn, folder=resume):
        rows += batch
        if batch:
            yield f"{batch[0].problem}, n = {batch[0].n}, {batch[0].level:g}"
    write_ledger(CoverageCell, "holdout", rows, LEDGERS)


def _choices(samples: int | None, **_: Any) -> Iterator[str]:
    drawn = choices.SAMPLES if samples is None else samples
    rows: list[CoverageCell] = []
    for batch in choices.measure_all(samples=drawn):
        rows += batch
        yield f"{batch[0].problem}: {min(one.coverage for one in batch):.3f}"
    write_ledger(CoverageCell, "choices", rows, LEDGERS)


def _further_measures(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = further_measures.SAMPLES if samples is None else samples
    rows: list[CoverageCell] = []
    for batch in further_measures.measure_all(samples=drawn, folder=resume):
        rows += batch
        yield f"{batch[0].problem}, n = {batch[0].n}: {min(one.coverage for one in batch):.3f}"
    write_ledger(CoverageCell, "further_measures", rows, LEDGERS)


def _learners(samples: int | None, resume: Path | None, jobs: int) -> Iterator[str]:
    drawn = learner_coverage.SAMPLES if samples is None else samples
    cells = learner_coverage.all_cells(samples=drawn)
    rows = []
    measured = learner_coverage.measure_cells(cells, folder=resume, n_jobs=jobs)
    for cell, measured_rows in zip(cells, measured, strict=True):
        rows += measured_rows
        yield f"{cell.problem}, n = {cell.n}, {cell.learner}"
    write_ledger(CoverageCell, "learners", rows, LEDGERS)


def _refits(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = refits.SAMPLES if samples is None else samples
    rows = []
    for cell, measured_rows in refits.measure_cells(refits.all_cells(drawn), folder=resume):
        rows += measured_rows
        yield cell.words
    write_ledger(CoverageCell, "refits", rows, LEDGERS)


def _refit_measures(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = refit_measures.SAMPLES if samples is None else samples
    rows: list[CoverageCell] = []
    for batch in refit_measures.measure_all(samples=drawn, folder=resume):
        rows += batch
        yield f"{batch[0].problem}, n = {batch[0].n}: {min(one.coverage for one in batch):.3f}"
    write_ledger(CoverageCell, "refit_measures", rows, LEDGERS)


def _refit_tests(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = refit_tests.SAMPLES if samples is None else samples
    rows = []
    for trial, measured_rows in refit_tests.measure_tests(samples=drawn, folder=resume):
        rows += measured_rows
        yield f"{trial.pair}, n = {trial.n}, gap {trial.gap:g}"
    write_ledger(refit_tests.TestShare, "refit_tests", rows, LEDGERS)


def _corrected_t(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    yield from _of_cells(corrected_t, samples, resume)


def _divisions(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    yield from _of_cells(divisions, samples, resume)


def _leave_one_out(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    yield from _of_cells(leave_one_out, samples, resume)


def _slice_differences(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    yield from _of_cells(slice_differences, samples, resume)


def _of_cells(study: Any, samples: int | None, resume: Path | None) -> Iterator[str]:
    """Run a study that gives its rows problem by problem, and write its ledger."""
    rows: list[CoverageCell] = []
    drawn = study.SAMPLES if samples is None else samples
    for batch in study.measure_all(samples=drawn, folder=resume):
        rows += batch
        yield f"{batch[0].problem}, n = {batch[0].n}: {min(one.coverage for one in batch):.3f}"
    write_ledger(CoverageCell, study.STUDY, rows, LEDGERS)


def _perturbation(samples: int | None, resume: Path | None, jobs: int) -> Iterator[str]:
    drawn = perturbation.SAMPLES if samples is None else samples
    cells = perturbation.all_cells()
    rows = []
    for cell, measured_rows in perturbation.measure_cells(
        cells, samples=drawn, folder=resume, n_jobs=jobs
    ):
        rows += measured_rows
        yield cell.words
    write_ledger(perturbation.PerturbationCoverage, "perturbation", rows, LEDGERS)


def _perturbed_measures(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = perturbed_measures.SAMPLES if samples is None else samples
    rows: list[CoverageCell] = []
    for batch in perturbed_measures.measure_all(samples=drawn, folder=resume):
        rows += [replace(one, measure=one.measure.partition(" (")[0]) for one in batch]
        shares = ", ".join(f"{one.measure} {one.coverage:.3f}" for one in batch)
        yield f"{batch[0].problem}, n = {batch[0].n}: {shares}"
    write_ledger(CoverageCell, "perturbed_measures", rows, LEDGERS)


def _tests(samples: int | None, resume: Path | None, jobs: int) -> Iterator[str]:
    drawn = sizes.PAIRS if samples is None else samples
    rows = []
    for trial, measured_rows in sizes.measure_sizes(
        sizes.all_trials(), pairs=drawn, folder=resume, n_jobs=jobs
    ):
        rows += measured_rows
        yield f"{trial.kind}, {trial.setting}, n = {trial.n}"
    write_ledger(sizes.TestSize, "tests", rows, LEDGERS)


def _bands(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = bands.SAMPLES if samples is None else samples
    rows = []
    for row in bands.measure(samples=drawn, folder=resume):
        rows.append(row)
        yield f"{row.measure}, {row.problem}, n = {row.n}: {row.coverage:.3f} of {row.level:g}"
    write_ledger(CoverageCell, "bands", rows, LEDGERS)


def _values(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = values.SAMPLES if samples is None else samples
    rows = []
    for row in values.measure(samples=drawn, folder=resume):
        rows.append(row)
        yield f"{row.method}, {row.problem}, n = {row.n}: {row.coverage:.3f}"
    write_ledger(CoverageCell, "values", rows, LEDGERS)


def _groups(samples: int | None, resume: Path | None, jobs: int) -> Iterator[str]:
    drawn = groups.SAMPLES if samples is None else samples
    rows: list[CoverageCell] = []
    for step, cells in groups.measure_all(samples=drawn, folder=resume, n_jobs=jobs):
        rows += cells
        yield step
    write_ledger(CoverageCell, "groups", rows, LEDGERS)
    yield groups.summary(rows)


def _group_power(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = group_power.SAMPLES if samples is None else samples
    rows = []
    for batch in group_power.measure_all(samples=drawn, folder=resume):
        rows += batch
        yield f"{batch[0].groups} {batch[0].sizes}, gap {batch[0].gap:g}"
    write_ledger(group_power.GroupTestShare, "group_power", rows, LEDGERS)


def _sentences(samples: int | None, resume: Path | None, jobs: int) -> Iterator[str]:
    drawn = sentences.SAMPLES if samples is None else samples
    rows = []
    parts = sentences.all_parts()
    for row in sentences.measure(parts, samples=drawn, folder=resume, n_jobs=jobs):
        rows.append(row)
        yield f"{row.method}, {row.problem}, n = {row.n}: {row.coverage:.3f}"
    write_ledger(CoverageCell, "sentences", rows, LEDGERS)


def _xi_alpha(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = xi_alpha.SAMPLES if samples is None else samples
    rows = []
    for cell, measured, biases in xi_alpha.measure_cells(
        xi_alpha.all_cells(), samples=drawn, folder=resume
    ):
        rows += measured
        yield f"{cell.words}: estimate − truth {', '.join(f'{one:+.3f}' for one in biases)}"
    for study in ("xi_alpha", "select"):
        write_ledger(CoverageCell, study, [row for row in rows if row.study == study], LEDGERS)


def _compression(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = compression.SAMPLES if samples is None else samples
    rows = []
    for row in compression.measure(samples=drawn, folder=resume):
        rows.append(row)
        yield f"{row.problem}, n = {row.n}: {row.coverage:.3f}, {row.width:.3f} above"
    write_ledger(CoverageCell, "compression", rows, LEDGERS)


def _planning(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = planning.SAMPLES if samples is None else samples
    rows = []
    for cell, row in planning.measure_cells(samples=drawn, folder=resume):
        rows.append(row)
        yield f"{cell.words}, n = {row.n}: {row.coverage:.3f} of {row.level:g}"
    write_ledger(CoverageCell, "planning", rows, LEDGERS)


def _guarantees(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = {} if samples is None else {"samples": samples}
    cells: list[CoverageCell] = []
    for batch in guarantees.measure_guarantees(folder=resume, **drawn):
        cells += batch
        yield f"{batch[0].problem}, n = {batch[0].n}"
    for batch in guarantees.measure_together(folder=resume, **drawn):
        cells += batch
        yield f"{batch[0].measure}: {batch[0].problem}, n = {batch[0].n}"
    write_ledger(CoverageCell, "guarantees", cells, LEDGERS)
    after_choice: list[CoverageCell] = []
    for batch in guarantees.measure_intervals(folder=resume, **drawn):
        after_choice += batch
        yield f"after the choice: {batch[0].problem}, n = {batch[0].n}"
    write_ledger(CoverageCell, "chosen_thresholds", after_choice, LEDGERS)


def _curves(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = curves.SAMPLES if samples is None else samples
    rows = []
    for problem in curves.problems():
        measured = list(curves.measure_problem(problem, samples=drawn, folder=resume))
        rows += [row for row in measured if row.samples >= curves.MIN_SAMPLES]
        shares = (f"{row.coverage:.2f} of {row.samples} ({row.design})" for row in measured)
        yield f"{problem.name}, n = {problem.n}: {', '.join(shares)}"
    write_ledger(CoverageCell, "curves", rows, LEDGERS)


def _slices(samples: int | None, resume: Path | None, **_: Any) -> Iterator[str]:
    drawn = slices.SAMPLES if samples is None else samples
    rows = []
    for row in slices.measure_all(samples=drawn, folder=resume):
        rows.append(row)
        yield f"{row.design}: {row.worse:.3f} called worse"
    write_ledger(slices.SliceShare, "slices", rows, LEDGERS)


def _pages(**_: Any) -> Iterator[str]:
    yield from (str(path) for path in pages.write_pages(LEDGERS))


AUDITS: dict[str, Callable[..., Iterable[str]]] = {
    "proportions": _proportions,
    "predictions": _predictions,
    "holdout": _holdout,
    "choices": _choices,
    "further_measures": _further_measures,
    "learners": _learners,
    "refits": _refits,
    "refit_measures": _refit_measures,
    "refit_tests": _refit_tests,
    "corrected_t": _corrected_t,
    "divisions": _divisions,
    "leave_one_out": _leave_one_out,
    "perturbation": _perturbation,
    "perturbed_measures": _perturbed_measures,
    "tests": _tests,
    "bands": _bands,
    "groups": _groups,
    "group_power": _group_power,
    "values": _values,
    "sentences": _sentences,
    "planning": _planning,
    "xi_alpha": _xi_alpha,
    "compression": _compression,
    "guarantees": _guarantees,
    "curves": _curves,
    "slices": _slices,
    "slice_differences": _slice_differences,
    "pages": _pages,
}
# On two cores, as a part says before it begins.
LASTS = {
    "proportions": "5 seconds",
    "predictions": "15 minutes",
    "holdout": "an hour",
    "choices": "10 minutes",
    "further_measures": "5 minutes",
    "refits": "several hours",
    "refit_measures": "15 minutes",
    "refit_tests": "an hour",
    "corrected_t": "10 minutes",
    "divisions": "15 minutes",
    "leave_one_out": "15 minutes",
    "learners": "several hours",
    "perturbation": "several hours",
    "perturbed_measures": "15 minutes",
    "tests": "several hours",
    "bands": "5 minutes",
    "groups": "three quarters of an hour",
    "group_power": "2 minutes",
    "values": "10 minutes",
    "sentences": "an hour",
    "guarantees": "an hour",
    "planning": "a minute",
    "xi_alpha": "20 minutes",
    "compression": "10 minutes",
    "curves": "20 minutes",
    "slices": "an hour",
    "slice_differences": "5 minutes",
    "pages": "2 seconds",
}


@click.command()
@click.argument("names", nargs=-1, required=True, type=click.Choice(["all", *AUDITS]))
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    help="Samples drawn for each simulated figure: 1000, for learners 500, for perturbation 300; "
    "pairs of models for tests: 2000, of slow tests a part.",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write checkpoints to this folder, and continue from there.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
def main(names: tuple[str, ...], *, samples: int | None, resume: Path | None, jobs: int) -> None:
    """Run audits, each of which writes its ledger as CSV; `pages` writes pages from the ledgers.

    Each part says how long it takes before it begins; one that was stopped continues from the
    checkpoints of --resume.

    \b
    python -m studies.audit proportions pages
    python -m studies.audit all --resume .audit --jobs 2
    """
    try:
        for name in AUDITS if "all" in names else names:
            click.echo(f"{name}: takes about {LASTS[name]}", err=True)
            for step in AUDITS[name](samples=samples, resume=resume, jobs=jobs):
                click.echo(f"{name}: {step}", err=True)
    except (InputError, ResourceError) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main(prog_name="python -m studies.audit")
