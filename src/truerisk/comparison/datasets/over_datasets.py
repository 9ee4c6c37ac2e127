"""Classifiers over many data sets: who is better in general, and how sure that is."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_level, check_number, shown, stated_seed
from truerisk.comparison.conclusion import (
    between,
    check_level_of_equivalence,
    code_of,
    decide,
    growth_to_settle,
)
from truerisk.comparison.datasets.bayesian import (
    PracticalPosterior,
    bayesian_hierarchical,
    bayesian_signed_rank,
)
from truerisk.comparison.datasets.rank_tests import (
    FriedmanTest,
    SignedRankTest,
    Zeros,
    bonferroni_dunn_difference,
    by_signed_ranks,
    cliques,
    equivalence_p_value,
    friedman,
    nemenyi_difference,
    nemenyi_p_value,
    rank_test,
    ranks_of,
    sign_test,
    signed_rank,
    typical_difference,
    without_noise,
)
from truerisk.comparison.datasets.score_table import fold_means, named_scores
from truerisk.errors import InputError
from truerisk.intervals.multiplicity import bonferroni, hochberg, holm
from truerisk.results import (
    Conclusion,
    Finding,
    Interval,
    Reportable,
    Row,
    decimals_for,
    estimate_row,
    number,
)
from truerisk.results import _number as p_number

OPPOSITE: dict[Conclusion, Conclusion] = {"better": "worse", "worse": "better"}


@dataclass(frozen=True, kw_only=True)
class PairOverDatasets:
    """The second of two classifiers against the first, over data sets.

    `difference` is the typical one, second − first, in units of the scores; the other fields too
    are about the second.  Both p-values have Holm's adjustment over all pairs.
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
        sides = ("worse", "equivalent", "better")
        numbers = {
            "wilcoxon_p": self.wilcoxon.p_value,
            "holm_p": self.p_value,
            "sign_p": self.sign_p_value,
            "nemenyi_p": self.nemenyi_p_value,
            "equivalence_p": self.equivalence_p_value,
            **{side: getattr(self.posterior, side) for side in sides},
            **{f"next_{side}": getattr(self.hierarchical, f"next_{side}", None) for side in sides},
        }
        return {
            "model": second,
            "against": first,
            **estimate_row("difference", self.difference, self.interval, method="wilcoxon", n=n),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            **{name: math.nan if one is None else one for name, one in numbers.items()},
            "finding": self.finding,
        }

    def __str__(self) -> str:
        first, second = self.names
        ends = "" if self.interval is None else f" {self.interval}"
        return (
            f"{second} − {first} = {number(self.difference)}{ends}, p = {self.p_value:.3g} "
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
    `critical_difference` (Nemenyi's) and `cliques`, the groups within it, need
    three classifiers or more; `against_control` and `control_difference` (Bonferroni and Dunn's) a
    control as well.

    Examples
    --------
    >>> print(compare_over_datasets([[0.8, 0.9], [0.7, 0.9], [0.6, 0.5], [0.7, 0.8]],
    ...                             names=["a", "b"]))
    average ranks: b 1.25, a 1.75 (4 data sets)
    No evidence either way between b and a: 3 wins, 0 ties, 1 loss of b, p = 0.500. About 25 \
data sets in all would detect a difference as clear as the one seen.
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
    def verdict(self) -> tuple[Finding, ...]:
        """What may be said, in sentences."""
        return tuple(verdict_of(self))

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

    def _content(self) -> dict[str, Any]:
        return {**super()._content(), "verdict": list(self.verdict)}

    def _rows(self) -> Iterator[Row]:
        return (pair.row(self.n) for pair in self.pairs)

    def __str__(self) -> str:
        ranked = ", ".join(f"{name} {self.rank_of(name):.2f}" for name in self.in_order)
        return "\n".join([f"average ranks: {ranked} ({self.n} data sets)", *self.verdict])


def compare_over_datasets(
    scores: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    control: str | None = None,
    higher_is_better: bool = True,
    region: float | None = None,
    test_share: float | None = None,
    zeros: Zeros = "pratt",
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> OverDatasets:
    r"""Compare classifiers by their scores on several data sets.

    For each pair, or with a control for each pair with it: Wilcoxon's signed-rank test (exact up to
    50 data sets) with Holm's adjustment over these pairs, the exact sign test, the typical
    difference with its interval, and the Bayesian signed-rank test.  For three classifiers or more,
    on average ranks: Friedman's test, Iman and Davenport's, Nemenyi's critical difference of all
    pairs; with a control, the tests of Bonferroni and Dunn, Holm, and Hochberg against it.

    Wilcoxon's test with Holm's adjustment decides whether one classifier is better than another: if
    all differences are symmetric about 0, some pair is declared different with probability of at
    most 1 − level.  Tests on average ranks are there beside it; their verdict on a pair changes
    with the other classifiers that happen to be in the table [2]_.  All of it is about data sets
    like these, taken as independent.  Measured at 0.05 with 2 or 5 classifiers that are alike and
    10 or 30 data sets: some pair is declared different in .037 to .049 of all tables, with many
    ties in .017 to .048.

    Differences are rounded to twelve digits of the largest score: those that are equal on paper are
    equal here.

    Parameters
    ----------
    scores
        Data sets × classifiers, or data sets × classifiers × folds; of a data frame the columns
        are the classifiers' names and the index the data sets'.
    names, datasets
        Their names; numbers if not given.
    control
        The classifier that the others are compared with, and the first of every pair.
    higher_is_better
        Whether a higher score is the better one; not for error rates.
    level
        Confidence level of the intervals; tests are at 1 − level.
    region
        The largest difference that does not matter, in units of the scores.
    test_share
        With folds: the share of the examples that a fold is tested on, 1/K for K folds, repeated or
        not.  The Bayesian hierarchical model then speaks of data sets to come.
    zeros
        What Wilcoxon's test does with ties: `pratt` ranks them, then leaves them out; `wilcox`
        leaves them out first; `zsplit` gives half of their ranks to either side [1]_ (an odd one
        too), which is cautious.
    random_state
        Seed of the two Bayesian tests; nothing else is random.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       1-30, 2006.
    .. [2] A. Benavoli, G. Corani and F. Mangili, "Should we really use post-hoc tests based on
       mean-ranks?", JMLR 17(5), 1-10, 2016.
    .. [3] A. Benavoli, G. Corani, J. Demšar and M. Zaffalon, "Time for a change: a tutorial for
       comparing multiple classifiers through Bayesian analysis", JMLR 18(77), 1-36, 2017.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> base = rng.uniform(0.6, 0.9, size=(12, 1))
    >>> scores = base + [0, 0.002, 0.05] + rng.normal(0, 0.01, size=(12, 3))
    >>> result = compare_over_datasets(scores, names=["tree", "pruned", "forest"])
    >>> print(result.verdict[0])
    The classifiers differ over these 12 data sets (Iman-Davenport F = 34.3, p = 1.75e-07).
    >>> result.pair("tree", "forest").finding, result.pair("tree", "pruned").finding
    ('better', 'no evidence')
    """
    check_level(level)
    if region is not None:
        check_number(region, "region", low=0.0)
        check_level_of_equivalence(level)
    folds, classifiers, rows = named_scores(scores, names, datasets)
    _check_design(folds, classifiers, control, test_share)
    means = fold_means(folds)
    n, k = means.shape
    ranks = ranks_of(means, higher_is_better=higher_is_better)
    averages = ranks.mean(axis=0)
    seed = stated_seed(random_state, generators=True)
    places = list(combinations(range(k), 2))
    if control is not None:
        places = [(classifiers.index(control), at) for at in range(k) if classifiers[at] != control]
    columns = [_differences(means[:, first], means[:, second]) for first, second in places]
    outcomes = [by_signed_ranks(column, zeros=zeros) for column in columns]
    adjusted = holm([one.p_value for one in outcomes]).tolist()
    equivalence: list[float | None] = [None] * len(places)
    if region is not None:
        equivalence = holm([equivalence_p_value(column, region) for column in columns]).tolist()
    sign, margin, alpha = 1 if higher_is_better else -1, region or 0.0, 1 - level

    def pair(row: int) -> PairOverDatasets:
        (first, second), column, equal_p = places[row], columns[row], equivalence[row]
        hierarchical: PracticalPosterior | None = None
        if test_share is not None:
            apart = sign * (folds[:, second] - folds[:, first])
            hierarchical = bayesian_hierarchical(
                apart, test_share=test_share, region=margin, random_state=seed
            )
        test, counted = signed_rank(column, zeros=zeros), sign_test(sign * column)
        low, high = outcomes[row].ends_at(level)
        interval = Interval(low, high, level, outcomes[row].interval_method)
        of_ranks = nemenyi_p_value(averages[first], averages[second], k, n) if k > 2 else None
        return PairOverDatasets(
            names=(classifiers[first], classifiers[second]),
            difference=typical_difference(column),
            interval=interval if math.isfinite(low) else None,
            wins=counted.wins,
            ties=counted.ties,
            losses=counted.losses,
            wilcoxon=test,
            p_value=adjusted[row],
            sign_p_value=counted.p_value,
            nemenyi_p_value=of_ranks,
            equivalence_p_value=equal_p,
            posterior=bayesian_signed_rank(sign * column, region=margin, random_state=seed),
            hierarchical=hierarchical,
            finding=decide(
                is_equivalent=equal_p is not None and equal_p <= alpha,
                is_different=adjusted[row] <= alpha,
                improves=(test.greater < test.less) == higher_is_better,
            ),
        )

    several = k > 2
    critical = nemenyi_difference(k, n, level) if several else None
    alike = () if critical is None else cliques(averages, critical)
    return OverDatasets(
        names=classifiers,
        datasets=rows,
        mean_scores=tuple(means.mean(axis=0).tolist()),
        average_ranks=tuple(averages.tolist()),
        friedman=friedman(ranks) if several else None,
        critical_difference=critical,
        cliques=tuple(tuple(classifiers[i] for i in one) for one in alike),
        pairs=tuple(map(pair, range(len(places)))),
        control=control,
        against_control=_against(control, classifiers, averages, n) if several and control else (),
        control_difference=bonferroni_dunn_difference(k, n, level) if several and control else None,
        higher_is_better=higher_is_better,
        region=region,
        level=level,
        random_state=seed,
        ranks=tuple(tuple(row) for row in ranks.tolist()),
    )


def _check_design(
    folds: Array, names: tuple[str, ...], control: str | None, test_share: float | None
) -> None:
    if control is not None and control not in names:
        raise InputError(f"`control` must be one of {', '.join(names)}; got {shown(control)}.")
    per_set = folds.shape[2]
    if (test_share is None) == (per_set > 1):
        raise InputError(
            "`test_share` must be given with folds, and only then: the share of the examples that "
            f"a fold is tested on; got {test_share!r} with {per_set} for each data set."
        )
    if test_share is not None:
        check_number(test_share, "test_share", low=np.finfo(float).tiny, high=1 - 1e-9)


def _differences(first: Array, second: Array) -> Array:
    largest = float(max(np.abs(first).max(), np.abs(second).max()))
    return without_noise(second - first, largest)


def _against(
    control: str, names: tuple[str, ...], averages: Array, n: int
) -> tuple[AgainstControl, ...]:
    own = averages[names.index(control)]
    others = [(name, rank) for name, rank in zip(names, averages, strict=True) if name != control]
    tests = [rank_test(own, rank, len(names), n) for _, rank in others]
    raw = [p_value for _, p_value in tests]
    adjusted = zip(*(rule(raw).tolist() for rule in (bonferroni, holm, hochberg)), strict=True)
    return tuple(
        AgainstControl(
            name=name, z=float(z), p_value=p_value, bonferroni_dunn=one, holm=two, hochberg=three
        )
        for (name, _), (z, p_value), (one, two, three) in zip(others, tests, adjusted, strict=True)
    )


def datasets_to_settle(test: SignedRankTest, n: int, level: float) -> int | None:
    """Tell how many data sets in all would find a difference as clear as this one, power 0.8.

    An extrapolation from the z of the signed-rank test; None where nothing was seen.
    """
    if test.z == 0:
        return None
    return max(n + 1, math.ceil(n * growth_to_settle(test.z, level)))


def verdict_of(result: OverDatasets) -> Iterator[Finding]:
    """Say what is sure and what is not: all together, the best one, the control, pairs."""
    if result.friedman is None:
        pair = result.pairs[0]
        yield Finding(_two(result, pair), code=code_of(pair.finding))
        return
    yield _all_together(result, result.friedman)
    if result.control is None:
        yield from _the_best(result)
    else:
        yield from _against_control(result, result.control)
    alike = [pair for pair in result.pairs if pair.finding == "equivalent"]
    if alike:
        listed = ", ".join(" and ".join(pair.names) for pair in alike)
        yield Finding(f"Equivalent within ± {result.region:g}: {listed}.", code="equivalent")


def _two(result: OverDatasets, pair: PairOverDatasets) -> str:
    first, second = pair.names
    counts = ", ".join(
        f"{count} {one if count == 1 else many}"
        for count, one, many in (
            (pair.wins, "win", "wins"),
            (pair.ties, "tie", "ties"),
            (pair.losses, "loss", "losses"),
        )
    )
    seen = f"{counts} of {second}, p = {p_number(pair.p_value)}"
    if pair.finding == "equivalent":
        return (
            f"{second} and {first} are equivalent over data sets like these {result.n}: a typical "
            f"difference of {result.region:g} or more is excluded."
        )
    if pair.finding in OPPOSITE:
        ends, by = pair.interval, number(abs(pair.difference))
        if ends is not None:
            low, high = (ends.low, ends.high) if pair.difference > 0 else (-ends.high, -ends.low)
            by = f"{number(abs(pair.difference), decimals_for(ends.width))} {between(low, high)}"
        return (
            f"{second} is {pair.finding} than {first} over data sets like these {result.n}, "
            f"typically by {by}: {seen}."
        )
    needed = datasets_to_settle(pair.wilcoxon, result.n, result.level)
    more = (
        f" About {needed:,} data sets in all would detect a difference as clear as the one seen."
        if needed is not None
        else ""
    )
    return f"No evidence either way between {second} and {first}: {seen}.{more}"


def _all_together(result: OverDatasets, test: FriedmanTest) -> Finding:
    statistic = "infinite" if math.isinf(test.f) else f"{test.f:.3g}"
    seen = f"(Iman-Davenport F = {statistic}, p = {p_number(test.p_value)})"
    if test.p_value <= 1 - result.level:
        text = f"The classifiers differ over these {result.n} data sets {seen}."
        return Finding(text, code="classifiers_differ")
    text = f"No evidence that the classifiers differ over these {result.n} data sets {seen}."
    return Finding(text, code="classifiers_may_be_equal")


def _the_best(result: OverDatasets) -> Iterator[Finding]:
    best, *others = result.in_order
    text = f"{best} has the best average rank, {result.rank_of(best):.2f} of {len(result.names)}."
    yield Finding(text, code="best_rank")
    yield from _findings(result, best, others)
    for name in others:
        rest = [other for other in others if other != name]
        yield from _findings(result, name, rest, ("better",))


def _against_control(result: OverDatasets, control: str) -> Iterator[Finding]:
    text = f"The control {control} has the average rank {result.rank_of(control):.2f}."
    yield Finding(text, code="control_rank")
    yield from _findings(result, control, [name for name in result.in_order if name != control])
    different = [one for one in result.against_control if one.holm <= 1 - result.level]
    for word, names in (
        ("better", [one.name for one in different if one.z > 0]),
        ("worse", [one.name for one in different if one.z < 0]),
    ):
        if names:
            text = f"Ranked {word} than {control}: {', '.join(names)} (average ranks, Holm)."
            yield Finding(text, code=f"ranked_{word}_than_control")


def _findings(
    result: OverDatasets,
    subject: str,
    others: list[str],
    conclusions: tuple[Conclusion, ...] = ("better", "worse", "no evidence"),
) -> Iterator[Finding]:
    """Say what Wilcoxon's test with Holm's adjustment says of one classifier against others."""
    for finding in conclusions:
        names = ", ".join(name for name in others if _finding_of(result, subject, name) == finding)
        if names:
            text = (
                f"No evidence either way between {subject} and {names}."
                if finding == "no evidence"
                else f"{subject} is {finding} than {names} (Wilcoxon, Holm)."
            )
            yield Finding(text, code=code_of(finding))


def _finding_of(result: OverDatasets, subject: str, other: str) -> Conclusion:
    for pair in result.pairs:
        if pair.names == (other, subject):
            return pair.finding
        if pair.names == (subject, other):
            return OPPOSITE.get(pair.finding, pair.finding)
    raise InputError(f"`subject` must be compared with `other`; got {subject!r} and {other!r}.")
