"""What each interval was measured to cover: the figures of the audits, for those who quote them.

The figures ship in measured_coverage.csv.  `python -m studies.audit pages` writes the file from the
ledgers of the audits, and with it the pages of the documentation that show them in full.  What has
no figure was not measured, and says so wherever it is shown.
"""

import csv
import io
import math
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from truerisk.checks import check_whole_number

FILE = "measured_coverage.csv"
PERTURBATION_FILE = "perturbation_coverage.csv"
ANY = ""  # measure of a figure that holds for all that the method is made for
DIFFERENCE = "difference of "  # before a measure, or before none for all of them
THIS_MODEL, LEARNER = "this model", "the learner at this sample size"
NO_PROMISE = "this model, no promise"  # at sizes where the result says that it keeps none
WEIGHTS = "weights"  # design of figures whose examples were weighted
PRIOR = "prior"  # design of figures at another prior of the classes
SCORER = "scorer"  # measure of figures of any function that the registry does not know
LEFT_OUT = "leave-one-out"  # design of figures of exact leave-one-out
SLICE = "slice less rest"  # design of figures of a slice of the examples and all others
SHARES = {"half": 1 / 2, "a third": 1 / 3, "a quarter": 1 / 4, "a fifth": 1 / 5, "a tenth": 1 / 10}
NEAR = 1.12  # sizes are whole numbers: a share that is this many times another one is called so
HELD_OUT, CHOSEN_ON = "held out", "chosen on"
NOT_MEASURED = "not measured"
# One is a straight function of the other, and so are the ends of their intervals.
SAME_AS = {
    "accuracy": ("error_rate", "mean_value"),
    "difference of accuracy": ("difference of error_rate", "difference of mean_value"),
    "balanced_accuracy": ("recall_macro",),
    "youden": ("balanced_accuracy", "recall_macro"),
}
LINEAR = "linear"
CLOSE = 1e-9  # logarithms of equal ratios differ by rounding

Kind = TypeVar("Kind")


@dataclass(frozen=True, kw_only=True)
class CoverageFigure:
    """How often one interval contained the truth, at sizes from `smallest` to `largest`.

    `mean` and `least` are over the `cells` (problem × size) of an audit; at least `samples` were
    drawn for each, 0 where every outcome was summed instead.  `role` says whether the method was
    chosen on these problems.  `design` says how refits were made, and is empty where there are
    none; `page` of the documentation has the cells.
    """

    page: str
    method: str
    measure: str
    design: str
    target: str
    level: float
    role: str
    smallest: int
    largest: int
    cells: int
    samples: int
    mean: float
    least: float

    @property
    def is_exact(self) -> bool:
        """Whether it was summed over all outcomes, not simulated."""
        return self.samples == 0

    def words(self, level: float) -> str:
        """Write the shares for an interval of this level."""
        at = "no promise at this size: " if self.target == NO_PROMISE else ""
        at += "" if self.level == level else f"at {100 * self.level:g} %: "
        return f"{at}{self.mean:.3f} (least {self.least:.3f})"


@dataclass(frozen=True, kw_only=True)
class PerturbationFigure:
    """What perturbation resampling covered at n examples with d features: lowest and highest share.

    `published` is the form of the literature, `default` ours; the range is over the Bayes errors.
    """

    classifier: str
    n: int
    d: int
    lowest_error: float
    highest_error: float
    samples: int
    published_low: float
    published_high: float
    default_low: float
    default_high: float


def figures_as_csv(kind: type[Kind], figures: Iterable[Kind]) -> str:
    """Write figures as the files that ship with this package have them."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(_columns(kind))
    lines.writerows([_written(cell) for cell in astuple(one)] for one in figures)  # type: ignore[call-overload]
    return text.getvalue()


@cache
def all_figures() -> tuple[CoverageFigure, ...]:
    """Read the figures that ship with this package."""
    return _read(CoverageFigure, FILE)


@cache
def perturbation_figures() -> tuple[PerturbationFigure, ...]:
    """Read the figures of perturbation resampling."""
    return _read(PerturbationFigure, PERTURBATION_FILE)


def folds_design(folds: int, repeats: int = 1) -> str:
    """Name repeated folds as the ledgers do.

    Examples
    --------
    >>> folds_design(10), folds_design(10, 5)
    ('10 folds', '5 × 10 folds')
    """
    return f"{folds} folds" if repeats == 1 else f"{repeats} × {folds} folds"


def divisions_design(divisions: int, share: float) -> str:
    """Name random divisions, of which a share is tested, as the ledgers do.

    Examples
    --------
    >>> divisions_design(10, 16 / 155)
    '10 random divisions, a tenth tested'
    >>> divisions_design(10, 0.4)
    '10 random divisions, 40 % tested'
    """
    near = (name for name, one in SHARES.items() if 1 / NEAR < share / one < NEAR)
    return f"{divisions} random divisions, {next(near, f'{100 * share:.0f} %')} tested"


def coverage_of(
    method: str,
    measure: str,
    *,
    design: str = "",
    target: str = THIS_MODEL,
    level: float = 0.95,
) -> CoverageFigure | None:
    """Look up how often the interval of a measure was measured to contain the truth; None if not.

    Figures on problems that the method was not chosen on come before others, then those of the
    nearest level.  `design` says how refits were made, or "weights".
    """
    any_measure = DIFFERENCE if measure.startswith(DIFFERENCE) else ANY
    measures = (any_measure, measure, *SAME_AS.get(measure, ()))
    figures = [
        figure
        for figure in all_figures()
        if figure.method == method
        and figure.measure in measures
        and (figure.design, figure.target) == (design, target)
    ]
    # What was summed over all outcomes says more than what was simulated.
    order = {HELD_OUT: 0, CHOSEN_ON: 1}
    return min(
        figures,
        key=lambda one: (
            measures.index(one.measure),
            order[one.role],
            abs(one.level - level),
            one.level,
        ),
        default=None,
    )


def published_form_covers(n: int, d: int, classifier: str = LINEAR) -> str:
    """Say what the published form of perturbation resampling covers near n examples, d features.

    The share of samples whose percentile interval, made of losses in training, contained the error
    of the SVM trained on them; beside it, that of the default.  Quoted are the cells nearest in log
    n/d, then in log n, the least and the most over their error levels.
    """
    check_whole_number(n, "n", low=1)
    check_whole_number(d, "d", low=1)
    figures = perturbation_figures()
    own = [one for one in figures if one.classifier == classifier]
    own = own or [one for one in figures if one.classifier == LINEAR]
    here = min(own, key=lambda one: (*_distance(n, d, one.n, one.d), one.n, one.d))
    return (
        f"Measured for {_named(here.classifier)} at n = {here.n}, d = {here.d} (Bayes error "
        f"{_range(here.lowest_error, here.highest_error)}, {here.samples} data sets each): of the "
        f"intervals promised for 95 %, the published form (training, percentile) covered the error "
        f"of {_shares(here.published_low, here.published_high)} of the models, the default "
        f"(cross-validated, effective size) of {_shares(here.default_low, here.default_high)}."
    )


def _distance(n: int, d: int, of_n: int, of_d: int) -> tuple[float, float]:
    ratio = abs(math.log(n / d) - math.log(of_n / of_d))
    return round(ratio / CLOSE) * CLOSE, abs(math.log(n / of_n))


def _named(classifier: str) -> str:
    names = {LINEAR: "linear SVMs", "logistic": "logistic regression"}
    return names.get(classifier, f"{classifier} kernels")


def _shares(low: float, high: float) -> str:
    return f"{_range(round(100 * low), round(100 * high))} %"


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _columns(kind: type[Any]) -> dict[str, Callable[[str], Any]]:
    reading = {int: int, float: float, str: str}
    return {one.name: reading[one.type] for one in fields(kind)}  # type: ignore[index]


def _read(kind: type[Kind], name: str) -> tuple[Kind, ...]:
    text = files("truerisk.intervals").joinpath(name).read_text("utf-8")
    columns = _columns(kind)
    return tuple(
        kind(**{column: columns[column](cell) for column, cell in line.items()})
        for line in csv.DictReader(text.splitlines())
    )


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
