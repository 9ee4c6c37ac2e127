"""What a comparison of several models ends in, whole and slice by slice, and the words for it."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from truerisk.aliases import Indices
from truerisk.checks import listed
from truerisk.comparison.conclusion import AlternativeTest, between
from truerisk.comparison.predictions.right_answers import NamePair, OmnibusTest, PairTable
from truerisk.errors import InputError
from truerisk.evaluation.slicing import SlicedRows
from truerisk.intervals.multiplicity import benjamini_hochberg, holm
from truerisk.measures.registry import base_and_average, base_measure, find_measure, spoken_title
from truerisk.results import (
    Comparison,
    Conclusion,
    Estimate,
    Evaluation,
    Finding,
    MissingNameError,
    Reportable,
    Row,
    as_plain,
    decimals_for,
    model_row,
    number,
)

MAX_NAMED = 4

Key = str | tuple[str, str, str]

MAX_LISTED = 6


@dataclass(frozen=True, kw_only=True)
class ComparedSlice:
    """One pair of models by one measure in one slice.

    `adjusted` is Holm's p-value over all slices, pairs and measures, by which the `finding` goes;
    `listed` that of Benjamini and Hochberg.  `comparison` is of the slice by itself.
    """

    slice: str
    columns: tuple[str, ...]
    n: int
    comparison: Comparison
    adjusted: float
    listed: float
    finding: Conclusion

    def row(self) -> Row:
        """Give the row of the difference in a tidy table."""
        own = {"adjusted_p_value": self.adjusted, "finding": self.finding}
        return {"slice": self.slice, **self.comparison.row(), **own}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The best model here, and what it is worth without the luck it was chosen by.

    `optimism` is by how much its own value is too good; positive, whether higher or lower is
    better.
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
    right where, `omnibus` Cochran's Q for more than two models, `slices` the pairs within slices.

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
    beside: Mapping[tuple[str, str, str], tuple[AlternativeTest, ...]] = field(default_factory=dict)
    tables: tuple[PairTable, ...] = ()
    omnibus: OmnibusTest | None = None
    best: Chosen | None = None
    verdict: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    slices: tuple[ComparedSlice, ...] = field(compare=False, default=())

    @property
    def name_pairs(self) -> tuple[NamePair, ...]:
        """Every pair of models, in the order in which they were given."""
        return tuple(combinations(self.names, 2))

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that some pair is compared by, the main one first."""
        return tuple(dict.fromkeys((self.measure, *(one.measure for one in self.pairs))))

    def __getitem__(self, key: Key) -> Comparison:
        full = key
        if isinstance(key, str) and len(self.names) == 2:
            full = (key, *self.names)
        for comparison in self.pairs:
            if (comparison.measure, *comparison.names) == full:
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

    @cached_property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The models in tiers, by the main measure: first those that cannot be told from the best.

        A model is left out of a tier if one of its k models is better by a two-sided p-value of at
        most 2·(1 − level)/(k − 1): a one-sided test, adjusted by Bonferroni for the k − 1 others.
        The model that is best in truth is therefore in the first tier with a probability of
        `level`; measured: 0.94 to 1, 0.97 on average (docs/coverage.md).  The models left out are
        divided in the same way.
        """
        better = {one.names: one for one in self.pairs if one.measure == self.measure}
        left, tiers = list(self.names), []
        while left:
            limit = 2 * (1 - self.level) / max(len(left) - 1, 1)
            worse = {
                loser
                for pair, one in better.items()
                if set(pair) <= set(left) and (loser := _loser(one, limit)) is not None
            }
            tiers.append(tuple(name for name in left if name not in worse))
            left = [name for name in left if name in worse]
        return tuple(tiers)

    @property
    def undefined(self) -> tuple[Key, ...]:
        """The comparisons whose difference has no value on these examples."""
        return tuple(key for key in self if not self[key].difference.is_defined)

    def __str__(self) -> str:
        lines = [str(one).split("\n", 1)[0] for one in self.pairs]
        return "\n".join([*self.verdict, *lines])

    def _rows(self) -> Iterator[Row]:
        rows = self._own_rows()
        yield from ({"slice": "", **row} for row in rows) if self.slices else rows
        for one in self.slices:
            yield one.row()

    def _own_rows(self) -> Iterator[Row]:
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
            "tiers": [list(tier) for tier in self.tiers],
            "evaluations": {
                name: {measure: as_plain(one) for measure, one in evaluation.items()}
                for name, evaluation in self.evaluations.items()
            },
            "notes": list(self.notes),
            "settings": as_plain(self.settings),
            "source": as_plain(self.source),
            **({"slices": as_plain(self.slices)} if self.slices else {}),
        }

    def _plain_pair(self, comparison: Comparison) -> dict[str, Any]:
        plain: dict[str, Any] = as_plain(comparison) | {"measure": comparison.measure}
        if comparison.measure == self.measure:
            plain["adjusted_p_value"] = as_plain(self.adjusted.get(comparison.names))
        plain["beside"] = as_plain(self.beside.get((comparison.measure, *comparison.names), ()))
        return plain


def _loser(comparison: Comparison, limit: float) -> str | None:
    """Name the model of a pair that is worse by a p-value of at most `limit`."""
    p_value, apart = comparison.p_value, comparison.difference.value
    if p_value is None or not p_value <= limit or not apart:
        return None
    measure = find_measure(base_and_average(comparison.measure)[0])
    second_is_better = (apart > 0) == (measure.higher_is_better is not False)
    return comparison.names[0 if second_is_better else 1]


def verdict_of(result: Comparisons) -> Iterator[Finding]:
    """Say the main finding first, then what the other measures add to it."""
    if len(result.names) == 2:
        main = result[result.measure].verdict
        yield main if isinstance(main, Finding) else Finding(main, code="main")
        yield from _other_findings(result)
    else:
        yield from _of_many(result)
        yield from _of_the_best(result)
        yield from _of_the_first_tier(result)


def _other_findings(result: Comparisons) -> Iterator[Finding]:
    """List the measures by which the finding is another one."""
    main = result[result.measure]
    first, second = main.names
    for finding in ("better", "worse", "equivalent"):
        titles = [
            spoken_title(one.measure)
            for one in result.pairs
            if one.measure != result.measure and one.finding == finding and main.finding != finding
        ]
        if titles:
            relation = f"{finding} {'to' if finding == 'equivalent' else 'than'} {first}"
            by = listed(titles, MAX_LISTED, str)
            text = f"{second} is {relation} by {by}, each measure taken for itself."
            yield Finding(text, code=f"{finding}_by_others")


def _of_many(result: Comparisons) -> Iterator[Finding]:
    alpha = 1 - result.level
    if result.omnibus is not None:
        p_value = result.omnibus.p_value
        differ = p_value <= alpha
        said = "are not all equally often right" if differ else "may all be equally good"
        text = f"The {len(result.names)} models {said} (Cochran's Q, p = {p_value:.3g})."
        yield Finding(text, code="models_differ" if differ else "models_may_be_equal")
    title, pairs = spoken_title(result.measure), len(result.name_pairs)
    different = [
        _better_first(one)
        for one in result.pairs
        if one.measure == result.measure
        and one.finding in {"better", "worse"}
        and result.adjusted[one.names] <= alpha
    ]
    if different:
        text = f"By {title}, over all {pairs} pairs (Holm): {listed(different, MAX_LISTED, str)}."
        yield Finding(text, code="pairs_differ")
    else:
        text = (
            f"By {title} no model is shown to be better than another, over all {pairs} pairs "
            "(Holm)."
        )
        yield Finding(text, code="no_pair_differs")


def _better_first(comparison: Comparison) -> str:
    first, second = comparison.names
    better, worse = (second, first) if comparison.finding == "better" else (first, second)
    return f"{better} is better than {worse}"


def _of_the_first_tier(result: Comparisons) -> Iterator[Finding]:
    """Name the models that cannot be told from the best one."""
    first = result.tiers[0]
    names = listed(first, MAX_LISTED, str)
    best = f"{names} is the best" if len(first) == 1 else f"The best is one of {names}"
    text = f"{best}, with {100 * result.level:g} % confidence."
    yield Finding(text, code="first_tier")


def _of_the_best(result: Comparisons) -> Iterator[Finding]:
    best = result.best
    if best is None:
        return
    text = f"The best of the {len(result.names)} here is {best.name}"
    interval = best.corrected.interval
    if interval is None:
        yield Finding(f"{text}.", code="winner")
        return
    decimals = decimals_for(interval.width)
    own, corrected = (number(one.value, decimals) for one in (best.own, best.corrected))
    text += (
        f", with {spoken_title(result.measure)} {own}; corrected for having been chosen by it: "
        f"{corrected} {between(interval.low, interval.high)}."
    )
    yield Finding(text, code="winner_corrected")


def with_slices_compared(
    result: Comparisons,
    parts: Sequence[SlicedRows],
    columns: tuple[str, ...],
    of_rows: Callable[[Indices], Comparisons],
) -> Comparisons:
    """Compare the models in each of these slices, and adjust for their number."""
    compared: list[tuple[str, tuple[str, ...], int, Comparison]] = []
    notes: list[str] = [note for part in parts for note in part.notes]
    for part in parts:
        for at, name in enumerate(part.names):
            rows = np.flatnonzero(part.codes == at)
            try:
                of_slice = of_rows(rows)
            except InputError as error:
                text = f"{name}: not compared by itself: {error}"
                notes.append(Finding(text, code="slice_not_compared"))
                continue
            compared += [(name, part.columns, len(rows), one) for one in of_slice.pairs]
    raw = [one.p_value for *_, one in compared]
    adjusted = zip(holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True)
    slices = tuple(
        ComparedSlice(
            slice=name,
            columns=of_columns,
            n=n,
            comparison=one,
            adjusted=strict,
            listed=listed,
            finding=_finding(one, strict, result.level),
        )
        for (name, of_columns, n, one), (strict, listed) in zip(compared, adjusted, strict=True)
    )
    return replace(
        result,
        slices=slices,
        verdict=(*result.verdict, *_findings(result, slices)),
        notes=(*result.notes, *notes),
        settings={**result.settings, "by": columns},
    )


def _finding(comparison: Comparison, adjusted: float, level: float) -> Conclusion:
    """Keep what the slice says by itself, if it stands among all the others."""
    if comparison.finding not in {"better", "worse"}:
        return comparison.finding
    return comparison.finding if adjusted <= 1 - level else "no evidence"


def _findings(result: Comparisons, slices: tuple[ComparedSlice, ...]) -> Iterator[Finding]:
    tests = f"{len({one.slice for one in slices})} slices"
    sure = [one for one in slices if one.finding in {"better", "worse"}]
    for one in sorted(sure, key=lambda one: one.adjusted)[:MAX_NAMED]:
        first, second = one.comparison.names
        text = (
            f"In {one.slice} {second} is {one.finding} than {first} by "
            f"{spoken_title(one.comparison.measure)}: {_words(one)} (p = {one.adjusted:.2g}, "
            f"adjusted for all {tests}, pairs and measures)."
        )
        yield Finding(text, code=f"slice_{one.finding}")
    if not sure and slices:
        text = f"In none of the {tests} by itself is a difference sure (Holm)."
        yield Finding(text, code="no_slice_differs")
    yield from _reversals(result, slices)


def _words(one: ComparedSlice) -> str:
    ends = one.comparison.difference.interval
    between = "" if ends is None else f" [{ends.low:+.3f}, {ends.high:+.3f}]"
    return f"{one.comparison.difference.value:+.3f}{between}"


def _reversals(result: Comparisons, slices: tuple[ComparedSlice, ...]) -> Iterator[Finding]:
    """Name Simpson's reversals: the slices of a column all say the opposite of the whole."""
    groups: dict[tuple[Any, ...], list[ComparedSlice]] = {}
    for one in slices:
        key = (one.comparison.measure, one.comparison.names, one.columns)
        groups.setdefault(key, []).append(one)
    overall: Mapping[tuple[Any, ...], Comparison] = {
        (one.measure, one.names): one for one in result.pairs
    }
    for (measure, names, columns), some in groups.items():
        whole = overall[measure, names].difference.value
        values = [one.comparison.difference.value for one in some]
        if len(some) < 2 or not all(value * whole < 0 for value in values):
            continue
        higher = base_measure(measure).higher_is_better is not False
        better = (whole > 0) == higher
        here, there = ("better", "worse") if better else ("worse", "better")
        listed = ", ".join(f"{value:+.3f}" for value in values[:MAX_NAMED])
        text = (
            f"Simpson's reversal: by {spoken_title(measure)} {names[1]} is {here} than {names[0]} "
            f"over all examples ({whole:+.3f}) and {there} in every slice by "
            f"{' × '.join(columns)} ({listed}). It is due to how the slices are mixed."
        )
        yield Finding(text, code="simpson")
