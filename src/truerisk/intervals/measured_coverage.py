"""What each interval was measured to cover: the figures of the audits, for those who quote them.

The figures ship in measured_coverage.csv.  `python -m studies.audit pages` writes the file from the
ledgers of the audits, and with it the pages of the documentation that show them in full: coverage,
coverage-of-learners, coverage-of-perturbation, size-of-tests.

What was not measured is not here: weights, for one, and most of what is done with groups.
"""

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from truerisk.checks import check_choice, check_whole_number

Page = Literal["coverage", "coverage-of-learners", "coverage-of-perturbation", "size-of-tests"]

FILE = "measured_coverage.csv"
PAGES: tuple[str, ...] = get_args(Page)
PERTURBATION: Page = "coverage-of-perturbation"
ANY = ""  # measure of a figure that holds for all that the method is made for
THIS_MODEL, LEARNER = "this model", "the learner at this sample size"
# One is 1 minus the other, and so are the ends of their intervals.
MIRRORED = {"accuracy": "error_rate"}
# Method and losses of perturbation resampling as published, and of its default.
PUBLISHED = ("perturbation_percentile", "training losses")
DEFAULT = ("perturbation_effective_size", "cross-validated losses")
LINEAR, NORMAL = "linear", "normal"
CLOSE = 1e-9  # logarithms of equal ratios differ by rounding


@dataclass(frozen=True, kw_only=True)
class CoverageFigure:
    """How often one interval contained the truth, at sizes from `smallest` to `largest`.

    `mean` and `least` are over the problems of the audit; `samples` were drawn from each of them, 0
    where every outcome was summed instead.  `design` says how refits were made, and is empty where
    there are none.  Figures of perturbation resampling are about one problem each: `classifier`,
    the number of `features`, the distribution they have (`problem`) and the Bayes error.
    """

    page: str
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
    classifier: str = ""
    problem: str = ""
    features: int = 0
    bayes_error: float = math.nan

    @property
    def is_exact(self) -> bool:
        """Whether it was summed over all outcomes, not simulated."""
        return self.samples == 0


COLUMNS = tuple(field.name for field in fields(CoverageFigure))
READ: dict[str, Callable[[str], object]] = {
    field.name: {int: int, float: float, str: str}[field.type]  # type: ignore[index]
    for field in fields(CoverageFigure)
}


def figures_as_csv(figures: Iterable[CoverageFigure]) -> str:
    """Write figures as the file that ships with this package has them."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(COLUMNS)
    lines.writerows([_written(cell) for cell in astuple(figure)] for figure in figures)
    return text.getvalue()


@cache
def all_figures() -> tuple[CoverageFigure, ...]:
    """Read the figures that ship with this package."""
    text = files("truerisk.intervals").joinpath(FILE).read_text("utf-8")
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
) -> CoverageFigure | None:
    """Look up how often the interval of a measure was measured to contain the truth.

    Figures at several sizes and problems become one: the least of all, and the mean of the means.
    They are those of the measured level nearest to `level`.

    Parameters
    ----------
    method, measure
        As an `Estimate` names them.
    page
        Which audit: of intervals for predictions, for learners, for SVMs by perturbation, or for
        differences of two models.  The last measures how often the interval of two equally good
        models contains 0.
    design
        How refits were made, for learners: "5 × 10 folds", "10 folds", "a third held out", "refits
        of its own"; for perturbation: "training losses", "cross-validated losses", "5 × 5 folds",
        "5 folds pooled".
    target
        What the interval is about.
    level
        Confidence level.

    Returns
    -------
    figure
        None if it was not measured.

    Examples
    --------
    >>> figure = coverage_of("clopper_pearson", "recall")
    >>> figure.is_exact, figure.least >= 0.95
    (True, True)
    >>> coverage_of("cluster_binomial", "recall") is None
    True
    """
    check_choice(page, PAGES, "page")
    measures = {measure, MIRRORED.get(measure, measure), ANY}
    figures = [
        figure
        for figure in all_figures()
        if (figure.page, figure.method) == (page, method)
        and figure.measure in measures
        and (figure.design, figure.target) == (design, target)
    ]
    # What was summed over all outcomes is not put beside what was simulated.
    figures = [figure for figure in figures if figure.measure == ANY] or figures
    if not figures:
        return None
    nearest = min((figure.level for figure in figures), key=lambda one: (abs(one - level), one))
    figures = [figure for figure in figures if figure.level == nearest]
    return CoverageFigure(
        page=page,
        method=method,
        measure=measure,
        design=design,
        target=target,
        level=nearest,
        smallest=min(figure.smallest for figure in figures),
        largest=max(figure.largest for figure in figures),
        samples=min(figure.samples for figure in figures),
        mean=math.fsum(figure.mean for figure in figures) / len(figures),
        least=min(figure.least for figure in figures),
    )


def published_form_covers(n: int, d: int, classifier: str = LINEAR) -> str:
    """Say what the published form of perturbation resampling covers near n examples, d features.

    That is the share of samples whose percentile interval, made of losses in training, contained
    the error of the SVM trained on them; beside it, that of the default.  Of the measured cells,
    those nearest in log n/d, then in log n, are quoted; the shares are the least and the most over
    their error levels.

    Parameters
    ----------
    n, d
        Examples and features.
    classifier
        "linear", "rbf", "cubic" or "logistic", as the audit names them; for any other the sentence
        is about linear SVMs, and says so.

    Examples
    --------
    >>> sentence = published_form_covers(60, 12)
    >>> sentence.startswith("Measured for linear SVMs at n = 50, d = 10 (Bayes error 0.05 to 0.3, ")
    True
    """
    check_whole_number(n, "n", low=1)
    check_whole_number(d, "d", low=1)
    plain = [one for one in all_figures() if (one.page, one.problem) == (PERTURBATION, NORMAL)]
    own = [one for one in plain if one.classifier == classifier]
    figures = own or [one for one in plain if one.classifier == LINEAR]
    cells = {(one.smallest, one.features) for one in figures}
    at = min(sorted(cells), key=lambda cell: _distance(n, d, *cell))
    here = [one for one in figures if (one.smallest, one.features) == at]
    errors = sorted({one.bayes_error for one in here})
    return (
        f"Measured for {_named(here[0].classifier)} at n = {at[0]}, d = {at[1]} (Bayes error "
        f"{_range(errors, 'g')}, {here[0].samples} data sets each): of the intervals promised for "
        f"95 %, the published form (training, percentile) covered the error of "
        f"{_shares(here, PUBLISHED)} of the models, the default (cross-validated, effective size) "
        f"of {_shares(here, DEFAULT)}."
    )


def _distance(n: int, d: int, of_n: int, of_d: int) -> tuple[float, float]:
    ratio = abs(math.log(n / d) - math.log(of_n / of_d))
    return round(ratio / CLOSE) * CLOSE, abs(math.log(n / of_n))


def _named(classifier: str) -> str:
    names = {LINEAR: "linear SVMs", "logistic": "logistic regression"}
    return names.get(classifier, f"{classifier} kernels")


def _shares(figures: Sequence[CoverageFigure], form: tuple[str, str]) -> str:
    shares = sorted(round(100 * one.mean) for one in figures if (one.method, one.design) == form)
    return f"{_range(shares, 'd')} %"


def _range(values: Sequence[float], form: str) -> str:
    low, high = format(values[0], form), format(values[-1], form)
    return low if low == high else f"{low} to {high}"


def _written(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
