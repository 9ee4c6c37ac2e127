"""What a comparison of several models on the same examples ends in."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import Any, ClassVar

from truerisk.comparison.predictions.cochran import OmnibusTest
from truerisk.results import (
    Comparison,
    Estimate,
    Evaluation,
    MissingNameError,
    Reportable,
    Row,
    as_plain,
    model_row,
)

Key = str | tuple[str, str, str]
NamePair = tuple[str, str]


@dataclass(frozen=True)
class Beside:
    """What another test says of the same pair and measure; `note` says what it assumes."""

    method: str
    p_value: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class PairTable:
    """How many examples both models get right, only one of them, or neither."""

    names: NamePair
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def n(self) -> int:
        """All examples."""
        return sum(self.counts)

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """The four counts; turned around they are those of wrong answers."""
        return self.both, self.only_first, self.only_second, self.neither


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The best model here, and what it is worth without the luck it was chosen by.

    `optimism` is by how much its own value is too good; positive, whichever way is better.
    """

    name: str
    own: Estimate
    corrected: Estimate
    optimism: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Comparisons(Reportable, Mapping[Key, Comparison]):
    """Several models on the same examples: every pair by every measure, read-only.

    With two models `result["error_rate"]` is the comparison of the second with the first; with more
    it is `result["error_rate", "a", "b"]`, of b with a.  `measure` is the main one: by it the best
    model is chosen, and the p-values of its pairs are adjusted for being several (`adjusted`, by
    Holm; the comparisons keep the raw ones).  `beside` holds what other tests say, `tables` who is
    right where, `omnibus` Cochran's Q for more than two models.

    Examples
    --------
    >>> from truerisk.comparison.predictions.compare import compare
    >>> result = compare([1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0], measures=["accuracy"])
    >>> result.names, list(result), result["accuracy"].difference.value
    (('first', 'second'), ['accuracy'], 0.5)
    """

    kind: ClassVar[str] = "comparisons"

    names: tuple[str, ...]
    n: int
    level: float
    measure: str
    evaluations: Mapping[str, Evaluation]
    pairs: tuple[Comparison, ...]
    adjusted: Mapping[NamePair, float]
    beside: Mapping[tuple[str, str, str], tuple[Beside, ...]] = field(default_factory=dict)
    tables: tuple[PairTable, ...] = ()
    omnibus: OmnibusTest | None = None
    best: Chosen | None = None
    verdict: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("evaluations", "adjusted", "beside", "settings", "source"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def name_pairs(self) -> tuple[NamePair, ...]:
        """Every pair of models, in the order in which they were given."""
        return tuple(combinations(self.names, 2))

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that some pair is compared by, the main one first."""
        return tuple(dict.fromkeys((self.measure, *(one.measure for one in self.pairs))))

    def __getitem__(self, key: Key) -> Comparison:
        wanted = key
        if isinstance(key, str) and len(self.names) == 2:
            wanted = (key, *self.names)
        for comparison in self.pairs:
            if (comparison.measure, *comparison.names) == wanted:
                return comparison
        raise MissingNameError(key, self, "comparison")

    def __iter__(self) -> Iterator[Key]:
        for comparison in self.pairs:
            if len(self.names) == 2:
                yield comparison.measure
            else:
                yield comparison.measure, *comparison.names

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def undefined(self) -> tuple[Key, ...]:
        """The comparisons whose difference has no value on these examples."""
        return tuple(key for key in self if not self[key].difference.is_defined)

    def __str__(self) -> str:
        told = [str(one).split("\n", 1)[0] for one in self.pairs]
        return "\n".join([*self.verdict, *told])

    def _rows(self) -> Iterator[Row]:
        for name in self.names:
            for measure in self.measures:
                if measure in self.evaluations[name]:
                    own = model_row(name, self.evaluations[name][measure])
                    yield own | {"adjusted_p_value": math.nan}
        for one in self.pairs:
            adjusted = self.adjusted[one.names] if one.measure == self.measure else math.nan
            yield one.row() | {"adjusted_p_value": adjusted}

    def _content(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "n": self.n,
            "level": self.level,
            "measure": self.measure,
            "verdict": list(self.verdict),
            "pairs": [self._plain_pair(one) for one in self.pairs],
            "tables": as_plain(self.tables),
            "omnibus": as_plain(self.omnibus),
            "best": as_plain(self.best),
            "evaluations": {
                name: {measure: as_plain(one) for measure, one in found.items()}
                for name, found in self.evaluations.items()
            },
            "notes": list(self.notes),
            "settings": as_plain(self.settings),
            "source": as_plain(self.source),
        }

    def _plain_pair(self, comparison: Comparison) -> dict[str, Any]:
        plain: dict[str, Any] = as_plain(comparison) | {"measure": comparison.measure}
        if comparison.measure == self.measure:
            plain["adjusted_p_value"] = as_plain(self.adjusted.get(comparison.names))
        plain["beside"] = as_plain(self.beside.get((comparison.measure, *comparison.names), ()))
        return plain
