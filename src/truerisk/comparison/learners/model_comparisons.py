"""What a comparison of two learners ends in, beside `Comparison`: several measures, a posterior."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from truerisk.results import Comparison, NamedEntries, Reportable, Row


@dataclass(frozen=True, kw_only=True)
class Probabilities:
    """How probable it is that the second learner is better, equivalent, worse: they add up to 1.

    Without a region of equivalence only a difference of exactly 0 is equivalent.
    """

    better: float
    equivalent: float
    worse: float

    def __str__(self) -> str:
        shares = (("better", self.better), ("equivalent", self.equivalent), ("worse", self.worse))
        return ", ".join(
            f"{name} {'undefined' if math.isnan(share) else f'{share:.3f}'}"
            for name, share in shares
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class BayesianComparison(Comparison):
    """A comparison that has no test: it says how probable each finding is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import compare_models
    >>> result = compare_models("tree", "majority", *load_iris(return_X_y=True), method="bayesian",
    ...                         region=0.01, repeats=1, random_state=1)
    >>> print(result.probabilities)
    better 0.000, equivalent 0.000, worse 1.000
    """

    probabilities: Probabilities

    def __str__(self) -> str:
        return f"{super().__str__()}\nProbability that {self.names[1]} is: {self.probabilities}."


@dataclass(frozen=True, kw_only=True, repr=False)
class ModelComparisons(Reportable, NamedEntries[Comparison]):
    """Two learners compared by several measures: a read-only mapping from measure to comparison.

    Nothing is corrected for their number: the more measures one looks at, the likelier it is that
    one of them differs by luck.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import compare_models
    >>> result = compare_models("tree", "majority", *load_iris(return_X_y=True), repeats=1,
    ...                         measures=["error_rate", "f1_macro"], random_state=1)
    >>> {name: one.finding for name, one in result.items()}
    {'error_rate': 'worse', 'f1_macro': 'worse'}
    """

    kind: ClassVar[str] = "model_comparisons"
    entries: ClassVar[str] = "comparisons"

    comparisons: Mapping[str, Comparison]

    def __str__(self) -> str:
        return "\n".join(map(str, self.values()))

    def _rows(self) -> Iterator[Row]:
        return (row for one in self.values() for row in one.to_rows())
