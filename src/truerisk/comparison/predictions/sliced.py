"""Where is one model better than another, and where worse: comparisons slice by slice."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.aliases import Indices
from truerisk.comparison.predictions.joined import MANY_CLASSES, JoinedPredictions
from truerisk.errors import InputError
from truerisk.evaluation.request import Request
from truerisk.evaluation.slicing import SlicedRows, columns_of, sliced
from truerisk.intervals.multiplicity import benjamini_hochberg, holm
from truerisk.measures.registry import base_measure, spoken_title
from truerisk.results import Comparison, Conclusion, Finding, Row

if TYPE_CHECKING:
    from truerisk.comparison.predictions.comparisons import Comparisons

MEASURED = (
    "Measured: of 5 slices in which two models are equally good one or more is called different in "
    "0.7 to 3.3 % of simulated data sets (docs/slices.md)."
)
BESIDE = ("f1", "f1_macro", "roc_auc")  # compared in slices beside the main measure
MAX_NAMED = 4

Compare = Callable[[JoinedPredictions, Request], "Comparisons"]


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


def with_compared_slices(
    result: "Comparisons", joined: JoinedPredictions, request: Request, by: Any, compare: Compare
) -> "Comparisons":
    """Compare the models in each slice, too, and say where the finding is another one."""
    weight = joined.weight
    counts = np.ones(joined.n, bool) if weight is None else weight > 0
    columns = columns_of(by, joined.n)
    parts = list(sliced(columns, counts=counts, group=joined.group))
    measures = request.measures or (
        result.measure,
        *(name for name in BESIDE if name in result.measures and name != result.measure),
    )
    positive = next(iter(result.evaluations.values())).pos_label
    own = replace(request, measures=measures, pos_label=positive or request.pos_label)
    if joined.classes is None and len(joined.labels) >= MANY_CLASSES:
        joined = replace(joined, classes=joined.labels)

    def of_rows(rows: Indices) -> "Comparisons":
        return compare(joined.taken(rows), own)

    compared = with_slices_compared(result, parts, tuple(columns), of_rows)
    return replace(compared, notes=(*compared.notes, Finding(MEASURED, code="slices_measured")))


def with_slices_compared(
    result: "Comparisons",
    parts: Sequence[SlicedRows],
    columns: tuple[str, ...],
    of_rows: Callable[[Indices], "Comparisons"],
) -> "Comparisons":
    """Compare the models in each of these slices, and adjust for their number."""
    of_slices: list[ComparedSlice] = []
    notes: list[str] = [note for part in parts for note in part.notes]
    for part in parts:
        for at, name in enumerate(part.names):
            rows = np.flatnonzero(part.codes == at)
            try:
                compared = of_rows(rows)
            except InputError as error:
                text = f"{name}: not compared by itself: {error}"
                notes.append(Finding(text, code="slice_not_compared"))
                continue
            of_slices += [
                ComparedSlice(
                    slice=name,
                    columns=part.columns,
                    n=len(rows),
                    comparison=one,
                    adjusted=math.nan,
                    listed=math.nan,
                    finding="no evidence",
                )
                for one in compared.pairs
            ]
    slices = _adjusted(of_slices, result.level)
    return replace(
        result,
        slices=slices,
        verdict=(*result.verdict, *_findings(result, slices)),
        notes=(*result.notes, *notes),
        settings={**result.settings, "by": columns},
    )


def _adjusted(compared: list[ComparedSlice], level: float) -> tuple[ComparedSlice, ...]:
    raw = [one.comparison.p_value for one in compared]
    return tuple(
        replace(
            one,
            adjusted=strict,
            listed=listed,
            finding=_finding(one.comparison, strict, level),
        )
        for one, strict, listed in zip(
            compared, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True
        )
    )


def _finding(comparison: Comparison, adjusted: float, level: float) -> Conclusion:
    """Keep what the slice says by itself, if it stands among all the others."""
    if comparison.finding not in {"better", "worse"}:
        return comparison.finding
    return comparison.finding if adjusted <= 1 - level else "no evidence"


def _findings(result: "Comparisons", slices: tuple[ComparedSlice, ...]) -> Iterator[Finding]:
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


def _reversals(result: "Comparisons", slices: tuple[ComparedSlice, ...]) -> Iterator[Finding]:
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
