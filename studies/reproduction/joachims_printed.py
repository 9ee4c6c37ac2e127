"""The figures of Joachims' tables as they are printed, in percent.

The files beside this module hold a line for each category and each ρ: average and standard
deviation over ten splits, of the estimate and of the hold-out set.
"""

import csv
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

SOURCE = (
    'T. Joachims, "Estimating the Generalization Performance of a SVM Efficiently", '
    "LS-8 Report 25, Universität Dortmund, 1999"
)
MEASURES = ("error_rate", "recall", "precision", "f1")
WORDS = {"error_rate": "error", "recall": "recall", "precision": "precision", "f1": "F1"}
DECIMALS = {"error_rate": 2, "recall": 1, "precision": 1, "f1": 1}  # as the tables print them
# "For the 100 experiments (10 splits for 10 classes)", Reuters, ρ = 1: how often the estimate was
# better than the hold-out set.
OPTIMISTIC = {"error_rate": 3, "recall": 1, "precision": 15, "f1": 2}


@dataclass(frozen=True)
class Spread:
    """Average and standard deviation over splits; `defined` of `splits` had a value.

    Examples
    --------
    >>> Spread.of([2.0, math.nan, 4.0]).written(1)
    '3.0 ± 1.4 (2 of 3)'
    """

    mean: float
    deviation: float  # the n − 1 form; NaN for fewer than two values
    defined: int
    splits: int

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """Summarise the values of several splits, leaving out those that are undefined."""
        every = list(values)
        defined = [value for value in every if not math.isnan(value)]
        mean = math.fsum(defined) / len(defined) if defined else math.nan
        squares = math.fsum((value - mean) ** 2 for value in defined)
        deviation = math.sqrt(squares / (len(defined) - 1)) if len(defined) > 1 else math.nan
        return cls(mean, deviation, len(defined), len(every))

    def written(self, decimals: int) -> str:
        """Write the average and the deviation as the paper does."""
        if not self.defined:
            return "undefined"
        text = f"{self.mean:.{decimals}f}"
        if not math.isnan(self.deviation):
            text += f" ± {self.deviation:.{decimals}f}"
        return text if self.defined == self.splits else f"{text} ({self.defined} of {self.splits})"


@dataclass(frozen=True)
class Printed:
    """One line of a table: each measure as estimated and on the hold-out set."""

    category: str
    rho: float
    estimate: Mapping[str, Spread]
    holdout: Mapping[str, Spread]

    @property
    def implied_share(self) -> float:
        r"""Share of the documents that must belong to the category, in percent.

        With recall R and precision P, a share p of positives makes the error

        .. math:: p\,\Bigl(1 - R + R\,\frac{1 - P}{P}\Bigr),

        so the three figures of a hold-out set tell p, which the paper does not print.
        """
        error, recall, precision = (
            self.holdout[name].mean / 100 for name in ("error_rate", "recall", "precision")
        )
        return 100 * error / (1 - recall + recall * (1 - precision) / precision)


def printed_table(name: str) -> tuple[Printed, ...]:
    """Read the lines of a table, those of ρ = 1 first.

    Examples
    --------
    >>> earn = printed_table("joachims_table1.csv")[0]
    >>> earn.category, earn.rho, earn.estimate["error_rate"].written(2)
    ('earn', 1.0, '2.68 ± 0.08')
    """
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(_line(record) for record in csv.DictReader(text.splitlines()))


def _line(record: Mapping[str, str]) -> Printed:
    def spreads(kind: str) -> dict[str, Spread]:
        columns = {name: f"{name}_{kind}" for name in MEASURES}
        return {
            name: Spread(float(record[column]), float(record[f"{column}_sd"]), 10, 10)
            for name, column in columns.items()
        }

    return Printed(
        record["category"], float(record["rho"]), spreads("estimate"), spreads("holdout")
    )
