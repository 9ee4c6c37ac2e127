"""What a comparison over many data sets ends in: ranks, tests, findings, and the words for them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from scipy.special import ndtri

from truerisk.comparison.conclusion import POWER
from truerisk.comparison.datasets.bayesian_signed_rank import PracticalPosterior
from truerisk.comparison.datasets.rank_tests import FriedmanTest
from truerisk.comparison.datasets.signed_rank import SignedRankTest
from truerisk.errors import InputError
from truerisk.results import Conclusion, Interval, Reportable, Row, estimate_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPPOSITE: dict[Conclusion, Conclusion] = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, kw_only=True)
class PairOverDatasets:
    """The second of two classifiers against the first, over data sets.

    `difference` is the typical one, second − first, in units of the scores; `wins`, `ties` and
    `losses` are the second's.  `p_value` is Wilcoxon's after Holm's adjustment over all pairs that
    are compared; so is `equivalence_p_value`, of the test that differences lie within the region.
    The posteriors, and `finding`, are about the second classifier.
    """

    names: tuple[str, str]
    difference: float
    interval: Interval | None
    wins: int
    ties: int
    losses: int
    wilcoxon: SignedRankTest
    p_value: float
    sign_p_value: float
    nemenyi_p_value: float | None
    equivalence_p_value: float | None
    posterior: PracticalPosterior
    hierarchical: PracticalPosterior | None
    finding: Conclusion

    def row(self, n: int) -> Row:
        """Give the row of this pair in a tidy table; `n` is the number of data sets."""
        first, second = self.names
        tests = {
            "wilcoxon_p": self.wilcoxon.p_value,
            "holm_p": self.p_value,
            "sign_p": self.sign_p_value,
            "nemenyi_p": self.nemenyi_p_value,
            "equivalence_p": self.equivalence_p_value,
        }
        here = self.posterior
        shares = {
            "worse": here.worse,
            "equivalent": here.equivalent,
            "better": here.better,
            "next_worse": getattr(self.hierarchical, "next_worse", None),
            "next_equivalent": getattr(self.hierarchical, "next_equivalent", None),
            "next_better": getattr(self.hierarchical, "next_better", None),
        }
        numbers = {name: math.nan if one is None else one for name, one in (tests | shares).items()}
        return {
            "model": second,
            "against": first,
            **estimate_row("difference", self.difference, self.interval, method="wilcoxon", n=n),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            **numbers,
            "finding": self.finding,
        }

    def __str__(self) -> str:
        first, second = self.names
        ends = "" if self.interval is None else f" {self.interval}"
        return (
            f"{second} − {first} = {self.difference:.3f}{ends}, p = {self.p_value:.3g} "
            f"(wilcoxon, holm): {self.finding}"
        )


@dataclass(frozen=True, kw_only=True)
class AgainstControl:
    """One classifier's average rank against the control's; a positive z says it ranks better.

    `p_value` is of this test alone; the others are adjusted for all classifiers but the control.
    """

    name: str
    z: float
    p_value: float
    bonferroni_dunn: float
    holm: float
    hochberg: float


@dataclass(frozen=True, kw_only=True, repr=False)
class OverDatasets(Reportable):
    """Classifiers compared over several data sets; made by `compare_over_datasets`.

    `average_ranks` are 1 for a classifier that is the best everywhere.  `friedman`,
    `critical_difference` (Nemenyi's) and `cliques`, the groups that it does not tell apart, need
    three classifiers or more; `against_control` and `control_difference` (Bonferroni and Dunn's) a
    control as well.

    Examples
    --------
    >>> from truerisk.comparison.datasets.many_datasets import compare_over_datasets
    >>> found = compare_over_datasets([[0.8, 0.9], [0.7, 0.9], [0.6, 0.5], [0.7, 0.8]],
    ...                               names=["a", "b"])
    >>> print(found)
    average ranks: b 1.25, a 1.75 (4 data sets)
    No evidence either way between b and a: 3 wins, 0 ties, 1 loss of b, p = 0.500. About 25 \
data sets in all would tell a difference as clear as the one seen.
    """

    kind: ClassVar[str] = "over_datasets"

    names: tuple[str, ...]
    datasets: tuple[str, ...]
    mean_scores: tuple[float, ...]
    average_ranks: tuple[float, ...]
    friedman: FriedmanTest | None
    critical_difference: float | None
    cliques: tuple[tuple[str, ...], ...]
    pairs: tuple[PairOverDatasets, ...]
    control: str | None
    against_control: tuple[AgainstControl, ...]
    control_difference: float | None
    higher_is_better: bool
    region: float | None
    level: float
    random_state: int
    ranks: tuple[tuple[float, ...], ...]

    @property
    def n(self) -> int:
        """The number of data sets."""
        return len(self.datasets)

    @property
    def in_order(self) -> tuple[str, ...]:
        """The classifiers by average rank, the best first."""
        order = sorted(range(len(self.names)), key=lambda at: self.average_ranks[at])
        return tuple(self.names[at] for at in order)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What may be said, in sentences."""
        return tuple(sentences(self))

    def pair(self, first: str, second: str) -> PairOverDatasets:
        """Give the comparison of two classifiers, the first one being first in the table.

        With a control, the control is the first one.
        """
        for pair in self.pairs:
            if pair.names == (first, second):
                return pair
        raise InputError(
            f"`first` and `second` must be two of {', '.join(self.names)} that are compared, in "
            f"this order, a control first; got {first!r} and {second!r}."
        )

    def rank_of(self, name: str) -> float:
        """Give the average rank of a classifier."""
        return self.average_ranks[self.names.index(name)]

    def plot(self, ax: "Axes") -> "Axes":
        """Draw the critical-difference picture into axes, and give them back."""
        from truerisk.comparison.datasets.critical_difference import (  # noqa: PLC0415  (who draws needs it)
            plot_critical_difference,
        )

        return plot_critical_difference(self, ax)

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "verdict": list(self.verdict)}

    def _rows(self) -> Iterator[Row]:
        return (pair.row(self.n) for pair in self.pairs)

    def __str__(self) -> str:
        ranked = ", ".join(f"{name} {self.rank_of(name):.2f}" for name in self.in_order)
        return "\n".join([f"average ranks: {ranked} ({self.n} data sets)", *self.verdict])


def pair_finding(
    test: SignedRankTest,
    p_value: float,
    equivalence: float | None,
    *,
    level: float,
    higher_is_better: bool,
) -> Conclusion:
    """Tell what may be said of the second classifier: equivalence first, as `conclude` does."""
    if equivalence is not None and equivalence <= 1 - level:
        return "equivalent"
    if p_value > 1 - level:
        return "no evidence"
    return "better" if (test.greater < test.less) == higher_is_better else "worse"


def datasets_to_settle(test: SignedRankTest, n: int, level: float) -> int | None:
    r"""Tell how many data sets in all would find a difference as clear as this one, power 0.8.

    .. math:: n \left(\frac{z + z_{power}}{z_{seen}}\right)^2

    with the z of the signed-rank test seen.  An extrapolation; None where nothing was seen.
    """
    if test.z == 0:
        return None
    needed = -float(ndtri((1 - level) / 2)) + float(ndtri(POWER))
    return max(n + 1, math.ceil(n * (needed / test.z) ** 2))


def sentences(found: OverDatasets) -> Iterator[str]:
    """Say what is sure and what is not: all together, the best one, the control, pairs."""
    if found.friedman is None:
        yield _two(found, found.pairs[0])
        return
    yield _all_together(found, found.friedman)
    if found.control is None:
        yield from _the_best(found)
    else:
        yield from _against_control(found, found.control)
    alike = [pair for pair in found.pairs if pair.finding == "equivalent"]
    if alike:
        listed = ", ".join(" and ".join(pair.names) for pair in alike)
        yield f"Equivalent within ± {found.region:g}: {listed}."


def _two(found: OverDatasets, pair: PairOverDatasets) -> str:
    first, second = pair.names
    seen = f"{_counted(pair)} of {second}, p = {_p(pair.p_value)}"
    ends = pair.interval
    by = f"{abs(pair.difference):.3f}"
    if ends is not None:
        low, high = (ends.low, ends.high) if pair.difference > 0 else (-ends.high, -ends.low)
        by = f"{by} [{low:.3f}, {high:.3f}]"
    if pair.finding == "equivalent":
        return (
            f"{second} and {first} are equivalent over data sets like these {found.n}: a typical "
            f"difference of {found.region:g} or more is excluded."
        )
    if pair.finding in OPPOSITE:
        return (
            f"{second} is {pair.finding} than {first} over data sets like these {found.n}, "
            f"typically by {by}: {seen}."
        )
    more = datasets_to_settle(pair.wilcoxon, found.n, found.level)
    told = (
        f" About {more:,} data sets in all would tell a difference as clear as the one seen."
        if more is not None
        else ""
    )
    return f"No evidence either way between {second} and {first}: {seen}.{told}"


def _counted(pair: PairOverDatasets) -> str:
    return (
        f"{_plural(pair.wins, 'win')}, {_plural(pair.ties, 'tie')}, "
        f"{_plural(pair.losses, 'loss', 'losses')}"
    )


def _plural(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _all_together(found: OverDatasets, test: FriedmanTest) -> str:
    statistic = "infinite" if math.isinf(test.f) else f"{test.f:.3g}"
    told = f"(Iman-Davenport F = {statistic}, p = {_p(test.p_value)})"
    if test.p_value <= 1 - found.level:
        return f"The classifiers differ over these {found.n} data sets {told}."
    return f"No evidence that the classifiers differ over these {found.n} data sets {told}."


def _the_best(found: OverDatasets) -> Iterator[str]:
    best, *others = found.in_order
    yield f"{best} has the best average rank, {found.rank_of(best):.2f} of {len(found.names)}."
    yield from _findings(found, best, others)
    for name in others:
        rest = [other for other in others if other != name]
        yield from _findings(found, name, rest, ("better",))


def _against_control(found: OverDatasets, control: str) -> Iterator[str]:
    yield f"The control {control} has the average rank {found.rank_of(control):.2f}."
    yield from _findings(found, control, [name for name in found.in_order if name != control])
    told = [one for one in found.against_control if one.holm <= 1 - found.level]
    for word, names in (
        ("better", [one.name for one in told if one.z > 0]),
        ("worse", [one.name for one in told if one.z < 0]),
    ):
        if names:
            yield f"Ranked {word} than {control}: {', '.join(names)} (average ranks, Holm)."


def _findings(
    found: OverDatasets,
    subject: str,
    others: list[str],
    wanted: tuple[Conclusion, ...] = ("better", "worse", "no evidence"),
) -> Iterator[str]:
    """Say what Wilcoxon's test with Holm's adjustment finds of one classifier against others."""
    for finding in wanted:
        names = [name for name in others if _finding_of(found, subject, name) == finding]
        if names and finding == "no evidence":
            yield f"No evidence either way between {subject} and {', '.join(names)}."
        elif names:
            yield f"{subject} is {finding} than {', '.join(names)} (Wilcoxon, Holm)."


def _finding_of(found: OverDatasets, subject: str, other: str) -> Conclusion:
    for pair in found.pairs:
        if pair.names == (other, subject):
            return pair.finding
        if pair.names == (subject, other):
            return OPPOSITE.get(pair.finding, pair.finding)
    raise InputError(f"`subject` must be compared with `other`; got {subject!r} and {other!r}.")


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.3g}"
