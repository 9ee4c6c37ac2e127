"""Where perturbation resampling is tried: machines, sizes, dimensions, error levels."""

import re
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from truerisk.checks import check_choice
from truerisk.estimation.svm.measured_coverage import LINEAR, NORMAL, STANDARD_C

Array = NDArray[np.float64]
Labels = NDArray[np.bool_]

SIZES, DIMENSIONS, ERRORS = (50, 100, 200, 400), (2, 10, 30), (0.05, 0.15, 0.30)
KERNEL_SIZES, KERNEL_DIMENSIONS = (50, 100, 200), (2, 10)
OTHER_C = (0.01, 100.0)
MIDDLE = 0.15  # the error level of cells that vary something else
KERNELS = ("rbf", "cubic")
EXPONENTIAL = "exponential"
LOGISTIC = "logistic"
FRESH_EXAMPLES = 20_000
FOLDS = 5
FEWEST = 5  # of a class, one a fold
SAMPLE, FRESH = 0, 1  # streams of random numbers


@dataclass(frozen=True, kw_only=True)
class PerturbationCell:
    """One machine on one problem.

    The classes are equally likely; each feature has standard deviation 1 within them, and means
    ±m with m = −Φ⁻¹(error) / √d.  Normal features then have this Bayes error; exponential ones are
    skewed, and it is a name for their distance only.
    """

    machine: str
    n: int
    d: int
    error: float
    features: str = NORMAL
    C: float = STANDARD_C
    random_state: int = 0

    @property
    def file_name(self) -> str:
        """Name the files of the cell, but for the block and what they end in."""
        words = f"{self.machine} {self.features} {self.n} {self.d} {self.error:g} {self.C:g}"
        return re.sub(r"[^a-z0-9]+", "-", words)

    @property
    def words(self) -> str:
        """Say which one it is."""
        more = f", C = {self.C:g}" if self.C != STANDARD_C else ""
        kind = f", {self.features}" if self.features != NORMAL else ""
        return f"{self.machine}{kind}, n = {self.n}, d = {self.d}, error {self.error:g}{more}"

    def stream(self, *which: int) -> np.random.Generator:
        """Give the random numbers of one purpose; the machine and its C have no say in them."""
        name = zlib.crc32(f"{self.features} {self.n} {self.d} {self.error:g}".encode())
        return np.random.default_rng([self.random_state, name, *which])

    @property
    def shift(self) -> float:
        """M, the mean of each feature in the positive class."""
        return float(-ndtri(self.error) / np.sqrt(self.d))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Labels]:
        """Draw examples; again where a class has too few for its folds.

        Examples
        --------
        >>> cell = PerturbationCell(machine="linear", n=50, d=2, error=0.15)
        >>> X, y = cell.draw(50, np.random.default_rng(0))
        >>> X.shape, int(y.sum())
        ((50, 2), 21)
        """
        while True:
            y = rng.random(n) < 0.5
            if min(y.sum(), n - y.sum()) >= FEWEST:
                break
        if self.features == EXPONENTIAL:
            noise = rng.exponential(size=(n, self.d)) - 1
        else:
            noise = rng.normal(size=(n, self.d))
        return noise + np.where(y, self.shift, -self.shift)[:, np.newaxis], y

    def model(self) -> Any:  # noqa: ANN401
        """Make the machine."""
        check_choice(self.machine, (LINEAR, *KERNELS, LOGISTIC), "machine")
        if self.machine == LOGISTIC:
            from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (start-up time)

            return LogisticRegression(C=self.C)
        from truerisk import KernelSVM, LinearSVM  # noqa: PLC0415  (as above)

        if self.machine == LINEAR:
            return LinearSVM(C=self.C)
        if self.machine == "rbf":
            return KernelSVM(kernel="rbf", C=self.C)
        return KernelSVM(kernel="poly", degree=3, coef0=1.0, C=self.C)

    def true_error(self, fitted: Any) -> float:  # noqa: ANN401
        """Give the error of a trained machine: exactly for a plane among normals, else counted."""
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
    >>> cell = PerturbationCell(machine="linear", n=50, d=4, error=0.15)
    >>> round(plane_error(np.ones(4), 0.0, cell), 12)
    0.15
    """
    length, mean = float(np.linalg.norm(w)), float(w.sum()) * cell.shift
    if length == 0:
        return 0.5
    return float(ndtr(-(mean + b) / length) + ndtr(-(mean - b) / length)) / 2


def all_cells(*, random_state: int = 0) -> list[PerturbationCell]:
    """List every cell, small ones first within a machine.

    Examples
    --------
    >>> len(all_cells()), all_cells()[0].words
    (58, 'linear, n = 50, d = 2, error 0.05')
    """
    grid = [
        {"machine": LINEAR, "n": n, "d": d, "error": error}
        for n in SIZES
        for d in DIMENSIONS
        for error in ERRORS
    ]
    grid += [
        {"machine": kernel, "n": n, "d": d, "error": MIDDLE}
        for kernel in KERNELS
        for n in KERNEL_SIZES
        for d in KERNEL_DIMENSIONS
    ]
    grid += [{"machine": LINEAR, "n": 100, "d": 10, "error": MIDDLE, "C": C} for C in OTHER_C]
    grid += [
        {"machine": LINEAR, "n": n, "d": d, "error": MIDDLE, "features": EXPONENTIAL}
        for n in (100, 400)
        for d in KERNEL_DIMENSIONS
    ]
    grid += [
        {"machine": LOGISTIC, "n": n, "d": d, "error": MIDDLE}
        for n in (100, 400)
        for d in KERNEL_DIMENSIONS
    ]
    return [PerturbationCell(random_state=random_state, **one) for one in grid]  # type: ignore[arg-type]
