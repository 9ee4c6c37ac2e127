"""What the forms of perturbation resampling were measured to cover, and where that was measured.

The figures are in measured_coverage.csv, which `truerisk audit --perturbation --figures` writes and
docs/coverage-of-perturbation.md shows.
"""

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from importlib.resources import files

from truerisk.checks import check_whole_number

PUBLISHED = "training, percentile"
DEFAULT = "cross-validated, effective size"
LINEAR, STANDARD_C, NORMAL = "linear", 1.0, "normal"
LEVEL = 0.95
CLOSE = 1e-9  # logarithms of equal ratios differ by rounding


@dataclass(frozen=True, kw_only=True)
class PerturbationCoverage:
    """How often one interval contained the truth, in one cell of the audit.

    `model` is how often it contained the error of the machine trained on the sample, `learner` how
    often the mean of these errors over all samples, which is `truth`.  `error` is the Bayes error
    of the normal problem with means as far apart.
    """

    machine: str
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
    model: float
    learner: float
    mean_width: float


COLUMNS = tuple(field.name for field in fields(PerturbationCoverage))
READ: dict[str, Callable[[str], object]] = {
    field.name: {int: int, float: float, str: str}[field.type]  # type: ignore[index]
    for field in fields(PerturbationCoverage)
}


def as_csv(rows: Sequence[PerturbationCoverage]) -> str:
    """Write rows as the file that ships with this package has them.

    Examples
    --------
    >>> as_csv(measured_rows()).splitlines()[0].split(",")[:4]
    ['machine', 'features', 'n', 'd']
    """
    lines = [COLUMNS, *(tuple(map(_written, astuple(row))) for row in rows)]
    return "".join(",".join(_quoted(cell) for cell in line) + "\n" for line in lines)


@cache
def measured_rows() -> tuple[PerturbationCoverage, ...]:
    """Read the figures that ship with this package."""
    text = files("truerisk.estimation.svm").joinpath("measured_coverage.csv").read_text("utf-8")
    return tuple(
        PerturbationCoverage(**{name: READ[name](cell) for name, cell in line.items()})  # type: ignore[arg-type]
        for line in csv.DictReader(text.splitlines())
    )


def published_form_covers(n: int, d: int, machine: str = LINEAR) -> str:
    """Say what the published form of perturbation resampling covers about here.

    That is the share of samples whose percentile interval, made of losses in training, contained
    the error of the machine trained on them; beside it, that of the default.  Of the cells that
    were measured, those are taken that are nearest in log n/d, then in log n; the shares are the
    least and the most over their error levels.

    Parameters
    ----------
    n, d
        Examples and features.
    machine
        "linear", "rbf", "cubic" or "logistic", as the audit knows them; for any other the sentence
        is about linear machines, and says so.

    Examples
    --------
    >>> told = published_form_covers(60, 12)
    >>> told.startswith("Measured for linear machines at n = 50, d = 10 (Bayes error 0.05 to 0.3, ")
    True
    """
    check_whole_number(n, "n", low=1)
    check_whole_number(d, "d", low=1)
    own = [row for row in measured_rows() if _is_plain(row) and row.machine == machine]
    rows = own or [row for row in measured_rows() if _is_plain(row) and row.machine == LINEAR]
    at = min(((row.n, row.d) for row in rows), key=lambda cell: _distance(n, d, *cell))
    here = [row for row in rows if (row.n, row.d) == at]
    errors = sorted({row.error for row in here})
    kind = _called(here[0].machine)
    return (
        f"Measured for {kind} at n = {at[0]}, d = {at[1]} (Bayes error "
        f"{_range(errors, 'g')}, {here[0].samples} data sets each): of the intervals promised for "
        f"95 %, the published form ({PUBLISHED}) covered the error of {_shares(here, PUBLISHED)} "
        f"of the machines, the default ({DEFAULT}) of {_shares(here, DEFAULT)}."
    )


def _is_plain(row: PerturbationCoverage) -> bool:
    return row.features == NORMAL and row.C == STANDARD_C


def _distance(n: int, d: int, of_n: int, of_d: int) -> tuple[float, float]:
    ratio = abs(math.log(n / d) - math.log(of_n / of_d))
    return round(ratio / CLOSE) * CLOSE, abs(math.log(n / of_n))


def _called(machine: str) -> str:
    names = {LINEAR: "linear machines", "logistic": "logistic regression"}
    return names.get(machine, f"{machine} kernels")


def _shares(rows: Sequence[PerturbationCoverage], interval: str) -> str:
    found = sorted(round(100 * row.model) for row in rows if row.interval == interval)
    return f"{_range(found, 'd')} %"


def _range(values: Sequence[float], form: str) -> str:
    low, high = format(values[0], form), format(values[-1], form)
    return low if low == high else f"{low} to {high}"


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _quoted(cell: str) -> str:
    return f'"{cell}"' if "," in cell else cell
