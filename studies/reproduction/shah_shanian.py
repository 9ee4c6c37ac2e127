"""Table 2 of Shah and Shanian: hold-out risk bounds of six classifiers on sixteen data sets.

The file beside this module holds the figures of Table 2 as printed, with the sizes of the test
sets from Table 1.  The printed figures are cut off after three digits, not rounded.
"""

import csv
import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files

from studies.reproduction.reproduced import Reproduction
from truerisk.intervals.binomial import binomial_interval, lower_bound, upper_bound
from truerisk.results import Interval

SOURCE = (
    'M. Shah and S. Shanian, "Hold-out Risk Bounds for Classifier Performance Evaluation", '
    "4th Workshop on Evaluation Methods for Machine Learning, Montreal, 2009"
)
DELTA = 0.025  # for each side; both together hold with probability .95
MIN_DIGITS = 3  # trailing zeros are left out: 0.2 is 0.200
GAUSSIAN_TOLERANCE = 0.0015  # centre, deviation and ends were each cut to three digits
COLUMNS = (
    *("data set", "classifier", "m", "k", "R_T"),
    *("B_l paper", "B_l ours", "B_u paper", "B_u ours"),
    *("CI paper", "Wald", "finding"),
)
BOUNDS = (
    "B_l and B_u: with probability at least .95 over test sets, the true risk lies between them "
    "(.975 each), for any classifier and any distribution."
)
WALD = (
    "Wald, R_T ± 1.96 √(R_T(1 − R_T)/m), is what such an interval should have been: near the "
    "bounds for many errors, too short for few."
)
THEOREM_2 = (
    "Theorem 2 prints Bin(m, k, p) in the lower bound; that is not a valid bound, and B_l was "
    "computed with k − 1."
)


@dataclass(frozen=True)
class Printed:
    """One row as the paper prints it; `m` is the size of the test set in Table 1."""

    data_set: str
    m: int
    classifier: str
    risk: str
    lower: str
    upper: str
    gaussian_low: str
    gaussian_high: str


@dataclass(frozen=True)
class Row:
    """One printed row, and what follows from `k` errors in `m` examples.

    `gaussian` is R_T ± 2 standard deviations of a *single* loss, as the paper has it; `wald` is
    the interval which that one is taken for.
    """

    printed: Printed
    k: int
    lower: float
    upper: float
    gaussian: tuple[float, float]
    wald: Interval

    @property
    def is_equal(self) -> bool:
        """Whether both bounds, cut off, agree with the paper in every printed digit."""
        return prints_as(self.lower, self.printed.lower) and prints_as(
            self.upper, self.printed.upper
        )

    @property
    def gaussian_is_equal(self) -> bool:
        """Whether the paper's CI is the one that never divides by √m."""
        ends = float(self.printed.gaussian_low), float(self.printed.gaussian_high)
        return all(
            abs(ours - paper) <= GAUSSIAN_TOLERANCE
            for ours, paper in zip(self.gaussian, ends, strict=True)
        )

    @property
    def misprint(self) -> "Misprint | None":
        """What the row must have meant, if its figures cannot belong together."""
        return MISPRINTS.get((self.printed.data_set, self.printed.classifier))


@dataclass(frozen=True)
class Misprint:
    """Figures that cannot belong together: the count that fits the others, and what was meant."""

    k: int
    meant: str

    def __str__(self) -> str:
        return f"misprint: {self.meant}"


MISPRINTS = {
    ("USvotes", "SVM"): Misprint(11, "bounds of R_T 0.055 (k = 11)"),
    ("Bupa", "SVM"): Misprint(53, "bounds of R_T 0.302 (k = 53)"),
    ("Haberman", "Ada"): Misprint(38, "bounds of R_T 0.253 (k = 38)"),
    ("Sonar", "DT"): Misprint(17, "bounds of R_T 0.165 (k = 17)"),
    ("Tic-Tac-Toe", "Ada"): Misprint(8, "B_u is 0.0326"),
    ("Mushroom", "SCM"): Misprint(102, "B_u is 0.0304"),
}


def prints_as(value: float | Fraction, figure: str, *, rounded: bool = False) -> bool:
    """Whether a number, cut off (or rounded) to the digits of a printed figure, is that figure.

    Examples
    --------
    >>> prints_as(0.0966, "0.096"), prints_as(0.0966, "0.097", rounded=True)
    (True, True)
    """
    digits = max(MIN_DIGITS, -int(Decimal(figure).as_tuple().exponent))
    scaled = Fraction(value) * 10**digits + (Fraction(1, 2) if rounded else 0)
    return bool(math.floor(scaled) == Fraction(figure) * 10**digits)


def possible_counts(risk: str, m: int) -> tuple[int, ...]:
    """Give the counts k whose k/m prints as `risk`, the nearest to risk·m first.

    Three digits tell neighbouring counts apart only up to m = 1000.

    Examples
    --------
    >>> possible_counts("0.054", 1055)
    (57, 58)
    """
    nearest = round(Fraction(risk) * m)
    reach = m // 1000 + 1
    near = range(max(0, nearest - reach), min(m, nearest + reach) + 1)
    possible = [
        k
        for k in near
        if any(prints_as(Fraction(k, m), risk, rounded=rounded) for rounded in (False, True))
    ]
    return tuple(sorted(possible, key=lambda k: abs(k - nearest))) or (nearest,)


def printed_rows() -> tuple[Printed, ...]:
    """Read the 96 rows as they are printed."""
    text = files(__package__).joinpath("shah_shanian_table2.csv").read_text(encoding="utf-8")
    records = csv.reader(text.splitlines()[1:])
    return tuple(Printed(data_set, int(m), *figures) for data_set, m, *figures in records)


def recompute(printed: Printed, k: int) -> Row:
    """Compute the bounds of one row, if `k` is the number of errors.

    Upper (Theorem 1) max{p : Bin(m, k, p) ≥ δ}; lower (Theorem 2, which prints k for k − 1)
    min{p : 1 − Bin(m, k − 1, p) ≥ δ}; δ = .025 each.
    """
    m, risk = printed.m, float(printed.risk)
    deviation = math.sqrt(k * (m - k) / (m * (m - 1)))
    return Row(
        printed=printed,
        k=k,
        lower=float(lower_bound(k, m, delta=DELTA)),
        upper=float(upper_bound(k, m, delta=DELTA)),
        gaussian=(risk - 2 * deviation, risk + 2 * deviation),
        wald=binomial_interval(k, m, level=1 - 2 * DELTA, method="wald"),
    )


def recomputed_rows() -> tuple[Row, ...]:
    """Recompute every row from round(R_T·m), or from the first possible count that fits it."""
    rows = []
    for printed in printed_rows():
        readings = [recompute(printed, k) for k in possible_counts(printed.risk, printed.m)]
        rows.append(next((row for row in readings if row.is_equal), readings[0]))
    return tuple(rows)


def reproduce() -> Reproduction:
    """Recompute Table 2, the paper's figures beside ours.

    Examples
    --------
    >>> print(reproduce().conclusion[0])
    90 of 96 rows agree in every printed digit; the other 6 are misprints.
    """
    rows = recomputed_rows()
    return Reproduction(
        title="Table 2: hold-out risk bounds, δ = .025 on each side",
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(_cells(row) for row in rows),
        conclusion=_conclusion(rows),
    )


def _cells(row: Row) -> tuple[str, ...]:
    printed = row.printed
    return (
        *(printed.data_set, printed.classifier, str(printed.m), str(row.k), printed.risk),
        *(printed.lower, f"{row.lower:.4f}", printed.upper, f"{row.upper:.4f}"),
        f"[{printed.gaussian_low}, {printed.gaussian_high}]",
        f"[{row.wald.low:.3f}, {row.wald.high:.3f}]",
        str(row.misprint) if row.misprint else "equal" if row.is_equal else "differs",
    )


def _conclusion(rows: tuple[Row, ...]) -> tuple[str, ...]:
    equal = [row for row in rows if row.is_equal]
    others = [row for row in equal if row.k != round(Fraction(row.printed.risk) * row.printed.m)]
    agreement = (
        f"{len(equal)} of {len(rows)} rows agree in every printed digit; "
        f"the other {len(MISPRINTS)} are misprints."
    )
    digits = (
        "The paper cuts its bounds off after three digits; had it rounded them, "
        f"{sum(_agrees_rounded(row.printed) for row in rows)} rows would agree."
    )
    counts = (
        f"k is round(R_T·m) but for {len(others)} rows with m > 1000, where several counts "
        "have the printed R_T and the bounds are those of another one."
    )
    misprints = [
        f"Misprinted: {row.printed.data_set} {row.printed.classifier}, {row.misprint.meant}."
        for row in rows
        if row.misprint
    ]
    single_loss = (
        "CI is R_T ± 2 standard deviations of a single loss, never divided by √m "
        f"({sum(row.gaussian_is_equal for row in rows)} rows agree): it tells where one loss "
        "lies, not how well the risk is known, and does not shrink as the test set grows."
    )
    outside = (
        f"CI leaves [0, 1] in {sum(row.gaussian[0] < 0 or row.gaussian[1] > 1 for row in rows)} "
        f"rows; in the {sum(row.k == 0 for row in rows)} rows without errors CI and Wald are the "
        "single point 0, while B_u is not."
    )
    return agreement, digits, counts, *misprints, BOUNDS, single_loss, outside, WALD, THEOREM_2


def _agrees_rounded(printed: Printed) -> bool:
    readings = (recompute(printed, k) for k in possible_counts(printed.risk, printed.m))
    return any(
        prints_as(row.lower, printed.lower, rounded=True)
        and prints_as(row.upper, printed.upper, rounded=True)
        for row in readings
    )
