"""Table 3 of Jiang, Zhang and Cai: the spread of a cross-validated error, from one sample.

A data set is cut into partitions.  The deviation is estimated on the first of them, by three rules;
that of the errors of all the others is taken for the truth.
"""

import math
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.reproduction.data_tables import table_of
from studies.reproduction.jiang_printed import SOURCE, printed_rows
from studies.reproduction.jiang_settings import JiangSettings
from studies.reproduction.jiang_trials import LEVEL, Perturbing
from studies.reproduction.reproduced import Reproduction
from truerisk.aliases import Array, Indices
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.svm.rivals import (
    Case,
    divided_errors,
    halves_and_whole,
)
from truerisk.execution.running import run_each
from truerisk.intervals.cross_validation import rho_based_deviation
from truerisk.svm.linear import LinearSVM

C = 1.0
FOLDS = 5
FILES = {"covtype": "covtype_binary", "flare-solar": "flare_solar"}  # the others by their name
RULES = ("training", "cross_validated", "splitting", "rho")
HEADS = {
    "training": "resampling",
    "cross_validated": "resampling cv",
    "splitting": "splitting",
    "rho": "ρ-based",
}
PAPER = {
    "training": "resampling_sd",
    "cross_validated": "resampling_sd",
    "splitting": "splitting_sd",
    "rho": "rho_sd",
}
UNSAID = (
    f"Not said in the paper: the kernel (here linear), C (here {C:g}), the scale of the features "
    "(here as they are), which rows of a larger file were taken (here at random), and which class "
    "of waveform is parted from the others."
)
COLUMNS = (
    *("data set", "n", "d", "error", "true sd paper", "true sd ours"),
    *(f"{HEADS[rule]} {what}" for rule in RULES for what in ("paper", "first", "mean", "seconds")),
)


def read_partitions(
    settings: JiangSettings, line: Mapping[str, str]
) -> list[tuple[Array, Indices]]:
    """Read a data set and cut it, in random order, into partitions of the printed size."""
    name = line["data_set"]
    rows, y = table_of(settings.folder("table 3"), FILES.get(name, name))
    X: Array = np.asarray(rows, dtype=np.float64)
    n, partitions = int(line["n"]), int(line["partitions"])
    if len(y) < n * partitions:
        raise InputError(f"{name} must have {n * partitions} rows; got {len(y)}.")
    order = np.random.default_rng([settings.random_state, 3]).permutation(len(y))
    return [(X[part], y[part]) for part in order[: n * partitions].reshape(partitions, n)]


def error_of_partition(shared: Mapping[str, Any], at: int) -> dict[str, Array]:
    """Give the cross-validated error of one partition."""
    case = case_of(shared, at)
    if case is None:
        return {"error": np.array(0.0)}
    return {"error": case.cross_validated([np.arange(case.n)], case.rng(0))}


def deviations_of_partition(shared: Mapping[str, Any], at: int) -> dict[str, Array]:
    """Estimate from one partition, by every rule, how much its cross-validated error varies."""
    case = case_of(shared, at)
    if case is None:
        return {"deviations": np.zeros(len(RULES)), "seconds": np.zeros(len(RULES))}
    design = Perturbing.of(
        case.examples.codes, case.rng(1), folds=FOLDS, replicates=case.replicates
    )
    deviations, seconds = [], []
    for rule in RULES:
        began = time.perf_counter()
        deviations.append(_deviation(rule, case, design))
        seconds.append(time.perf_counter() - began)
    return {"deviations": np.array(deviations), "seconds": np.array(seconds)}


def _deviation(rule: str, case: Case, design: Perturbing) -> float:
    if rule == "splitting":
        # Nadeau and Bengio's conservative standard deviation, from the errors of halves.
        pairs = halves_and_whole(case, case.replicates, case.rng(2))[1]
        return math.sqrt(float(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2)) / 2)
    if rule == "rho":
        values, test = divided_errors(case, case.replicates, case.rng(3))
        return rho_based_deviation(values, test=test, train=case.n - test)
    return float(design.spread(case.examples.X, rule, C).std(ddof=1))


def case_of(shared: Mapping[str, Any], at: int) -> Case | None:
    """Give one partition; None where all its examples are of one class."""
    X, y = shared["X"][at], shared["y"][at]
    if not 0 < y.sum() < len(y):
        return None
    seed = int(np.random.default_rng([shared["seed"], 4, at]).integers(2**32))
    model = LinearSVM(C=C)
    return Case(model, Examples.of(X, y), FOLDS, shared["replicates"], LEVEL, seed)


def reproduce(settings: JiangSettings) -> Reproduction:
    """Repeat the estimates, the paper's figures beside ours."""
    lines = printed_rows(3)
    total = sum(int(line["partitions"]) + _evaluated(settings, line) for line in lines)
    outcomes = settings.progress(_outcomes(settings, lines), total)
    rows, truths, firsts = [], [], []
    for line in lines:
        errors = np.array(
            [float(one["error"].ravel()[0]) for one in islice(outcomes, int(line["partitions"]))]
        )
        evaluated = list(islice(outcomes, _evaluated(settings, line)))
        deviations = np.array([one["deviations"] for one in evaluated])
        seconds = np.array([one["seconds"] for one in evaluated])
        truths.append(float(errors[1:].std(ddof=1)))
        firsts.append(deviations[0])
        rows.append(cells_of(line, errors, deviations, seconds))
    return Reproduction(
        title="Table 3: the standard deviation of the error of 5 folds, estimated from one sample",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(rows),
        conclusion=_conclusion(np.array(firsts) / np.array(truths)[:, None], settings),
    )


def _evaluated(settings: JiangSettings, line: Mapping[str, str]) -> int:
    return min(settings.partitions, int(line["partitions"]))


def _outcomes(
    settings: JiangSettings, lines: tuple[Mapping[str, str], ...]
) -> Iterator[dict[str, NDArray[Any]]]:
    for line in lines:
        parts = read_partitions(settings, line)
        shared = {
            "X": np.array([X for X, _ in parts]),
            "y": np.array([y for _, y in parts]),
            "seed": settings.random_state,
            "replicates": settings.replicates,
        }
        jobs = settings.n_jobs
        yield from run_each(error_of_partition, shared, range(len(parts)), n_jobs=jobs)
        which = range(_evaluated(settings, line))
        yield from run_each(deviations_of_partition, shared, which, n_jobs=jobs)


def cells_of(
    line: Mapping[str, str], errors: Array, deviations: Array, seconds: Array
) -> tuple[str, ...]:
    """Write a row: the error of each partition, and what each rule says of the first ones."""
    by_rule = (
        (
            line[PAPER[rule]],
            f"{deviations[0, at]:.3f}",
            f"{deviations[:, at].mean():.3f}",
            f"{seconds[0, at]:.2f}",
        )
        for at, rule in enumerate(RULES)
    )
    return (
        *(line["data_set"], line["n"], line["d"], f"{errors.mean():.3f}"),
        *(line["true_sd"], f"{errors[1:].std(ddof=1):.3f}"),
        *(cell for cells in by_rule for cell in cells),
    )


def _conclusion(ratios: Array, settings: JiangSettings) -> tuple[str, ...]:
    paper = np.array(
        [
            [float(line[PAPER[rule]]) / float(line["true_sd"]) for rule in RULES]
            for line in printed_rows(3)
        ]
    )
    listed = ", ".join(
        f"{HEADS[rule]} {np.median(ratios[:, at]):.2f} ({np.median(paper[:, at]):.2f})"
        for at, rule in enumerate(RULES)
    )
    ratio = (
        "Estimated on the first partition over the true deviation, median of the data sets, and "
        f"in brackets the paper's: {listed}."
    )
    means = (
        f"Mean: over the first {settings.partitions} partitions; the paper has the first alone, "
        "which is a matter of luck. True: over all partitions but the first."
    )
    rules = (
        "Resampling: by losses in training, as the paper prints it; resampling cv: by "
        "cross-validated losses, all folds trained again under each weighting. Splitting: the "
        f"folds of either half, {settings.replicates} divisions; ρ-based: (1/J + ρ/(1 − ρ)) S², "
        f"ρ = 1/5, J = {settings.replicates} random divisions."
    )
    drawn = f"{settings.replicates} perturbations, seed {settings.random_state}."
    return ratio, means, rules, UNSAID, drawn
