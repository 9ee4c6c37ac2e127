"""How often each form of perturbation resampling covers, beside the rule of agreement.

The samples of a cell are run in blocks, one file each: a run that was stopped goes on where it was,
and one with more samples takes what is there.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from studies.audit.learner_files import Arrays, kept_arrays
from studies.audit.perturbation_cells import FOLDS, SAMPLE, Array, PerturbationCell
from truerisk.checks import check_whole_number
from truerisk.errors import UnstableWarning
from truerisk.estimation.refits.plans import repeated_folds
from truerisk.estimation.svm.measured_coverage import LEVEL, PerturbationCoverage
from truerisk.estimation.svm.perturbation import (
    Design,
    LossesByKind,
    perturbed_estimate,
    perturbed_losses,
)
from truerisk.execution import run_each
from truerisk.intervals.agreement import agreement_interval
from truerisk.intervals.perturbed import ends_of

SAMPLES, BLOCK = 300, 50
REPLICATES = 300
REPEATS = 5  # of the folds, for the rule of agreement
# As printed, with no way out: where no weighting changes the losses, the interval has no width.
PRINTED = {"training, percentile": "percentile", "training, normal": "normal"}
# As users get them: exact where there is nothing to perturb.
FORMS = {
    "cross-validated, percentile": "percentile",
    "cross-validated, normal": "normal",
    "cross-validated, effective size": "effective_size",
}
EXACT, AGREEMENT = "exact binomial", "agreement, 5 × 5"
INTERVALS = (*PRINTED, *FORMS, EXACT, AGREEMENT)


def measure_cells(
    cells: Sequence[PerturbationCell],
    *,
    samples: int = SAMPLES,
    replicates: int = REPLICATES,
    folder: Path | None = None,
    n_jobs: int = 1,
) -> Iterator[tuple[PerturbationCell, list[PerturbationCoverage]]]:
    """Give the rows of one cell after another, in their order.

    Parameters
    ----------
    cells
        What to measure.
    samples
        Data sets drawn for each, in blocks of 50.
    replicates
        Weightings of each data set.
    folder
        Where blocks are kept, and looked for first.
    n_jobs
        Processes; the figures do not depend on it.
    """
    check_whole_number(samples, "samples", low=1)
    check_whole_number(replicates, "replicates", low=100)
    blocks = range(-(-samples // BLOCK))
    items = [(cell, block) for cell in cells for block in blocks]
    shared = {"folder": folder, "replicates": replicates}
    results = run_each(_block, shared, items, n_jobs=n_jobs)
    for cell in cells:
        parts = [next(results) for _ in blocks]
        ends, truth = (np.concatenate([part[key] for part in parts]) for key in ("ends", "truth"))
        yield cell, coverage_of(cell, ends[:samples], truth[:samples], replicates=replicates)


def coverage_of(
    cell: PerturbationCell, ends: Array, truth: Array, *, replicates: int
) -> list[PerturbationCoverage]:
    """Give a row for each interval, from samples × intervals × 2 ends and the true errors."""
    mean = float(truth.mean())
    rows = []
    for name, own in zip(INTERVALS, np.moveaxis(ends, 1, 0), strict=True):
        low, high = own.T
        rows.append(
            PerturbationCoverage(
                **asdict(cell),
                interval=name,
                samples=len(truth),
                replicates=replicates,
                folds=FOLDS,
                truth=mean,
                model=float(np.mean((low <= truth) & (truth <= high))),
                learner=float(np.mean((low <= mean) & (mean <= high))),
                mean_width=float(np.mean(high - low)),
            )
        )
    return rows


def run_sample(cell: PerturbationCell, at: int, replicates: int) -> tuple[Array, float]:
    """Give the ends of all intervals for one data set, and the error of its machine.

    Examples
    --------
    >>> cell = PerturbationCell(machine="linear", n=50, d=2, error=0.15)
    >>> ends, truth = run_sample(cell, 0, 100)
    >>> ends.shape, 0.15 < truth < 0.3
    ((7, 2), True)
    """
    rng = cell.stream(SAMPLE, at)
    X, y = cell.draw(cell.n, rng)
    model = cell.model()
    design = Design.of(X, y, replicates=replicates, folds=FOLDS, random_state=rng)
    codes, G = design.examples.codes, design.weights
    training = perturbed_losses(model, X, codes, G)
    judged = perturbed_losses(model, X, codes, G, parts=design.parts)
    forms = perturbed_estimate(
        model, design, LossesByKind(training, judged, "cross_validated"), level=LEVEL
    ).forms
    printed = [
        ends_of(form, judged.error, training.spread, cell.n, LEVEL) for form in PRINTED.values()
    ]
    plan = repeated_folds(codes, FOLDS, REPEATS - 1, rng)
    others = [perturbed_losses(model, X, codes, G[:0], parts=parts).wrong for parts in plan.parts]
    found = [forms.get(form, forms["exact"]) for form in FORMS.values()]
    found += [forms["exact"], agreement_interval([judged.wrong, *others], level=LEVEL)]
    ends = printed + [(one.low, one.high) for one in found]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)  # one of hundreds of samples
        fitted = clone(model).fit(X, y)
    return np.array(ends), cell.true_error(fitted)


def _block(shared: Mapping[str, Any], item: tuple[PerturbationCell, int]) -> Arrays:
    cell, block = item
    settings = {**asdict(cell), "replicates": shared["replicates"], "block": block}

    def compute() -> Mapping[str, NDArray[Any]]:
        numbers = range(block * BLOCK, (block + 1) * BLOCK)
        found = [run_sample(cell, at, shared["replicates"]) for at in numbers]
        return {
            "ends": np.stack([ends for ends, _ in found]),
            "truth": np.array([truth for _, truth in found]),
        }

    return kept_arrays(shared["folder"], f"{cell.file_name}-{block}", settings, compute)
