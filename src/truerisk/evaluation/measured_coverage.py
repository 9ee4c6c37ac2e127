"""What each interval was measured to cover: the figures of the audit, for those who show them.

=====================================  ===========================================================
file                                   written by, and shown in full in
=====================================  ===========================================================
measured_coverage.csv                  the audit of predictions, docs/coverage.md
measured_coverage_of_learners.csv      the audit of learners, docs/coverage-of-learners.md
measured_coverage_of_differences.csv   the audit of tests, docs/size-of-tests.md
=====================================  ===========================================================

What was not measured is not here: weights, for one, and most of what is done with groups.
"""

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Literal

from truerisk.checks import check_choice

Page = Literal["coverage", "coverage-of-learners", "size-of-tests"]

FILES: dict[str, str] = {
    "coverage": "measured_coverage.csv",
    "coverage-of-learners": "measured_coverage_of_learners.csv",
    "size-of-tests": "measured_coverage_of_differences.csv",
}
ANY = ""  # measure of a figure that holds for all that the method is made for
THIS_MODEL, LEARNER = "this model", "the learner at this sample size"
# One is 1 minus the other, and so are the ends of their intervals.
MIRRORED = {"accuracy": "error_rate"}


@dataclass(frozen=True, kw_only=True)
class CoverageFigure:
    """How often one interval contained the truth, at sizes from `smallest` to `largest`.

    `mean` and `least` are over the problems of the audit; `samples` were drawn from each of them, 0
    where every outcome was summed instead.  `design` says how refits were made, and is empty where
    there are none.
    """

    method: str
    measure: str
    design: str
    target: str
    level: float
    smallest: int
    largest: int
    samples: int
    mean: float
    least: float


@dataclass(frozen=True, kw_only=True)
class MeasuredCoverage(CoverageFigure):
    """The figures of one interval together, and the page of the documentation that has them."""

    page: str

    @property
    def is_exact(self) -> bool:
        """Whether it was summed over all outcomes, not simulated."""
        return self.samples == 0


COLUMNS = tuple(field.name for field in fields(CoverageFigure))
READ: dict[str, Callable[[str], object]] = {
    field.name: {int: int, float: float, str: str}[field.type]  # type: ignore[index]
    for field in fields(CoverageFigure)
}


def figures_as_csv(figures: Sequence[CoverageFigure]) -> str:
    """Write figures as the files that ship with this package have them.

    Examples
    --------
    >>> figures_as_csv(figures_of("coverage")).splitlines()[0].split(",")[:2]
    ['method', 'measure']
    """
    lines = [COLUMNS, *(tuple(map(_written, astuple(figure))) for figure in figures)]
    return "".join(",".join(line) + "\n" for line in lines)


@cache
def figures_of(page: str) -> tuple[CoverageFigure, ...]:
    """Read the figures of one page, which ship with this package."""
    name = FILES[check_choice(page, FILES, "page")]
    text = files("truerisk.evaluation").joinpath(name).read_text("utf-8")
    return tuple(
        CoverageFigure(**{column: READ[column](cell) for column, cell in line.items()})  # type: ignore[arg-type]
        for line in csv.DictReader(text.splitlines())
    )


def coverage_of(
    method: str,
    measure: str,
    *,
    page: Page = "coverage",
    design: str = "",
    target: str = THIS_MODEL,
    level: float = 0.95,
) -> MeasuredCoverage | None:
    """Say how often the interval of a measure was measured to contain the truth.

    Figures at several sizes are put together: the least of all, and the mean of the means.  They
    are those of the measured level nearest to the one asked for.

    Parameters
    ----------
    method, measure
        As an `Estimate` names them.
    page
        Which audit: of intervals for predictions, for learners, or for differences of two models.
        The last says how often the interval of two equally good models contained 0.
    design
        How refits were made, for learners: "5 × 10 folds", "10 folds", "a third held out", "refits
        of its own".
    target
        What the interval is about.
    level
        Confidence level.

    Returns
    -------
    measured
        None if it was not measured.

    Examples
    --------
    >>> found = coverage_of("clopper_pearson", "recall")
    >>> found.is_exact, found.least >= 0.95
    (True, True)
    >>> coverage_of("cluster_binomial", "recall") is None
    True
    """
    wanted = {measure, MIRRORED.get(measure, measure), ANY}
    found = [
        figure
        for figure in figures_of(page)
        if figure.method == method
        and figure.measure in wanted
        and (figure.design, figure.target) == (design, target)
    ]
    # What was summed over all outcomes is not put beside what was simulated.
    chosen = [figure for figure in found if figure.measure == ANY] or found
    if not chosen:
        return None
    nearest = min((figure.level for figure in chosen), key=lambda one: (abs(one - level), one))
    chosen = [figure for figure in chosen if figure.level == nearest]
    return MeasuredCoverage(
        method=method,
        measure=measure,
        design=design,
        target=target,
        level=nearest,
        smallest=min(figure.smallest for figure in chosen),
        largest=max(figure.largest for figure in chosen),
        samples=min(figure.samples for figure in chosen),
        mean=math.fsum(figure.mean for figure in chosen) / len(chosen),
        least=min(figure.least for figure in chosen),
        page=page,
    )


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
