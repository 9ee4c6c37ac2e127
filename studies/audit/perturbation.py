"""How often each form of perturbation resampling covers, beside the rule of agreement.

A cell is one classifier on one problem.  Its samples are run in blocks, one file each: a run that
was stopped continues, and one with more samples uses what is there.
"""

import re
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from studies.audit.checkpoints import Arrays, checkpointed
from truerisk import KernelSVM, LinearSVM
from truerisk.aliases import Array, Flags
from truerisk.checks import check_choice, check_whole_number
from truerisk.errors import UnstableWarning
from truerisk.estimation.refits.plans import repeated_folds
from truerisk.estimation.svm.perturbation import (
    Design,
    LossesByKind,
    perturbed_estimate,
    perturbed_losses,
)
from truerisk.execution import run_each
from truerisk.intervals.agreement import agreement_interval
from truerisk.intervals.replicates import ends_of

LEVEL = 0.95
LINEAR, STANDARD_C, NORMAL = "linear", 1.0, "normal"
SIZES, DIMENSIONS, ERRORS = (50, 100, 200, 400), (2, 10, 30), (0.05, 0.15, 0.30)
KERNEL_SIZES, KERNEL_DIMENSIONS = (50, 100, 200), (2, 10)
OTHER_C = (0.01, 100.0)
MIDDLE = 0.15  # the error level of cells that vary something else
KERNELS = ("rbf", "cubic")
EXPONENTIAL = "exponential"
LOGISTIC = "logistic"
FRESH_EXAMPLES = 20_000
FOLDS = 5
MIN_OF_CLASS = 5  # one per fold
SAMPLE, FRESH = 0, 1  # streams of random numbers
SAMPLES, BLOCK = 300, 50
REPLICATES = 300
REPEATS = 5  # of the folds, for the rule of agreement
# As printed: where no weighting changes the losses, the interval has no width.
PRINTED = {"training, percentile": "percentile", "training, normal": "normal"}
# As users get them: exact where there is nothing to perturb.
FORMS = {
    "cross-validated, percentile": "percentile",
    "cross-validated, normal": "normal",
    "cross-validated, effective size": "effective_size",
}
EXACT, AGREEMENT = "exact binomial", "agreement, 5 × 5"
INTERVALS = (*PRINTED, *FORMS, EXACT, AGREEMENT)


@dataclass(frozen=True, kw_only=True)
class PerturbationCell:
    """One classifier on one problem.

    The classes are equally likely; each feature has standard deviation 1 within them, and means
    ±m with m = −Φ⁻¹(error) / √d.  Normal features then have this Bayes error; exponential ones are
    skewed, and it only names their distance.
    """

    classifier: str
    n: int
    d: int
    error: float
    features: str = NORMAL
    C: float = STANDARD_C
    random_state: int = 0

    @property
    def file_name(self) -> str:
        """Name the files of the cell, without block and suffix."""
        words = f"{self.classifier} {self.features} {self.n} {self.d} {self.error:g} {self.C:g}"
        return re.sub(r"[^a-z0-9]+", "-", words)

    @property
    def words(self) -> str:
        """Say which one it is."""
        more = f", C = {self.C:g}" if self.C != STANDARD_C else ""
        kind = f", {self.features}" if self.features != NORMAL else ""
        return f"{self.classifier}{kind}, n = {self.n}, d = {self.d}, error {self.error:g}{more}"

    def stream(self, *which: int) -> np.random.Generator:
        """Give the random numbers of one purpose; the same for every classifier and C."""
        name = zlib.crc32(f"{self.features} {self.n} {self.d} {self.error:g}".encode())
        return np.random.default_rng([self.random_state, name, *which])

    @property
    def shift(self) -> float:
        """M, the mean of each feature in the positive class."""
        return float(-ndtri(self.error) / np.sqrt(self.d))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Flags]:
        """Draw examples; again where a class has too few for its folds.

        Examples
        --------
        >>> cell = PerturbationCell(classifier="linear", n=50, d=2, error=0.15)
        >>> X, y = cell.draw(50, np.random.default_rng(0))
        >>> X.shape, int(y.sum())
        ((50, 2), 21)
        """
        while True:
            y = rng.random(n) < 0.5
            if min(y.sum(), n - y.sum()) >= MIN_OF_CLASS:
                break
        if self.features == EXPONENTIAL:
            noise = rng.exponential(size=(n, self.d)) - 1
        else:
            noise = rng.normal(size=(n, self.d))
        return noise + np.where(y, self.shift, -self.shift)[:, np.newaxis], y

    def model(self) -> Any:
        """Make the classifier."""
        check_choice(self.classifier, (LINEAR, *KERNELS, LOGISTIC), "classifier")
        if self.classifier == LOGISTIC:
            return LogisticRegression(C=self.C)
        if self.classifier == LINEAR:
            return LinearSVM(C=self.C)
        if self.classifier == "rbf":
            return KernelSVM(kernel="rbf", C=self.C)
        return KernelSVM(kernel="poly", degree=3, coef0=1.0, C=self.C)

    def true_error(self, fitted: Any) -> float:
        """Give the error of a trained model: exactly for a plane among normals, else counted."""
        if self.features == NORMAL and hasattr(fitted, "coef_"):
            return plane_error(np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0]), self)
        X, y = self.draw(FRESH_EXAMPLES, self.stream(FRESH))
        return float(np.mean(fitted.predict(X) != y))


def plane_error(w: Array, b: float, cell: PerturbationCell) -> float:
    r"""Give the error of sign(w·x + b) exactly.

    .. math:: \tfrac12\Phi\Bigl(-\frac{m\sum w + b}{|w|}\Bigr)
              + \tfrac12\Phi\Bigl(-\frac{m\sum w - b}{|w|}\Bigr)

    Examples
    --------
    >>> cell = PerturbationCell(classifier="linear", n=50, d=4, error=0.15)
    >>> round(plane_error(np.ones(4), 0.0, cell), 12)
    0.15
    """
    length, mean = float(np.linalg.norm(w)), float(w.sum()) * cell.shift
    if length == 0:
        return 0.5
    return float(ndtr(-(mean + b) / length) + ndtr(-(mean - b) / length)) / 2


def all_cells(*, random_state: int = 0) -> list[PerturbationCell]:
    """List every cell, small ones first within a classifier.

    Examples
    --------
    >>> len(all_cells()), all_cells()[0].words
    (58, 'linear, n = 50, d = 2, error 0.05')
    """
    grid = [
        {"classifier": LINEAR, "n": n, "d": d, "error": error}
        for n in SIZES
        for d in DIMENSIONS
        for error in ERRORS
    ]
    grid += [
        {"classifier": kernel, "n": n, "d": d, "error": MIDDLE}
        for kernel in KERNELS
        for n in KERNEL_SIZES
        for d in KERNEL_DIMENSIONS
    ]
    grid += [{"classifier": LINEAR, "n": 100, "d": 10, "error": MIDDLE, "C": C} for C in OTHER_C]
    grid += [
        {"classifier": LINEAR, "n": n, "d": d, "error": MIDDLE, "features": EXPONENTIAL}
        for n in (100, 400)
        for d in KERNEL_DIMENSIONS
    ]
    grid += [
        {"classifier": LOGISTIC, "n": n, "d": d, "error": MIDDLE}
        for n in (100, 400)
        for d in KERNEL_DIMENSIONS
    ]
    return [PerturbationCell(random_state=random_state, **one) for one in grid]  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class PerturbationCoverage:
    """How often one interval contained the truth, in one cell.

    `of_model` is how often it contained the error of the model trained on the sample, `of_learner`
    how often the mean of these errors over all samples, which is `truth`.
    """

    classifier: str
    features: str
    n: int
    d: int
    error: float
    C: float
    interval: str
    samples: int
    random_state: int
    replicates: int
    folds: int
    truth: float
    of_model: float
    of_learner: float
    width: float


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
        Where checkpoints are written, and looked for first.
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
    """Give one row per interval, from samples × intervals × 2 ends and the true errors."""
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
                of_model=float(np.mean((low <= truth) & (truth <= high))),
                of_learner=float(np.mean((low <= mean) & (mean <= high))),
                width=float(np.mean(high - low)),
            )
        )
    return rows


def run_sample(cell: PerturbationCell, at: int, replicates: int) -> tuple[Array, float]:
    """Give the ends of all intervals for one data set, and the error of its model.

    Examples
    --------
    >>> cell = PerturbationCell(classifier="linear", n=50, d=2, error=0.15)
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
    validated = perturbed_losses(model, X, codes, G, parts=design.parts)
    forms = perturbed_estimate(
        model, design, LossesByKind(training, validated, "cross_validated"), level=LEVEL
    ).forms
    printed = [
        ends_of(form, validated.error, training.spread, cell.n, LEVEL) for form in PRINTED.values()
    ]
    plan = repeated_folds(codes, FOLDS, REPEATS - 1, rng)
    others = [perturbed_losses(model, X, codes, G[:0], parts=parts).wrong for parts in plan.parts]
    intervals = [forms.get(form, forms["exact"]) for form in FORMS.values()]
    intervals += [forms["exact"], agreement_interval([validated.wrong, *others], level=LEVEL)]
    ends = printed + [(one.low, one.high) for one in intervals]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstableWarning)  # one of hundreds of samples
        fitted = clone(model).fit(X, y)
    return np.array(ends), cell.true_error(fitted)


def _block(shared: Mapping[str, Any], item: tuple[PerturbationCell, int]) -> Arrays:
    cell, block = item
    settings = {**asdict(cell), "replicates": shared["replicates"], "block": block}

    def compute() -> Mapping[str, NDArray[Any]]:
        numbers = range(block * BLOCK, (block + 1) * BLOCK)
        outcomes = [run_sample(cell, at, shared["replicates"]) for at in numbers]
        return {
            "ends": np.stack([ends for ends, _ in outcomes]),
            "truth": np.array([truth for _, truth in outcomes]),
        }

    return checkpointed(shared["folder"], f"{cell.file_name}-{block}", settings, compute)
