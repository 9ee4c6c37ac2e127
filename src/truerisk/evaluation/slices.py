"""Where is it wrong?  Every measure in each slice of the examples, and which slices are worse.

A slice is tested against all other examples, which are another, independent sample; where rows come
in groups, by the jackknife over groups, which may have rows in both.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags, Indices
from truerisk.errors import InputError
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import PredictionTally, with_one_score
from truerisk.evaluation.request import Request
from truerisk.evaluation.slicing import SlicedRows, columns_of, sliced
from truerisk.inputs.predictions import Predictions
from truerisk.intervals.differences import fisher_mid_p, mover_difference, mover_p_value
from truerisk.intervals.distributions import student_cdf, student_quantile
from truerisk.intervals.group_jackknife import METHOD, MIN_GROUPS, difference_spread
from truerisk.intervals.measured_coverage import (
    DIFFERENCE,
    NOT_MEASURED,
    SLICE,
    WEIGHTS,
    coverage_of,
)
from truerisk.intervals.multiplicity import benjamini_hochberg, holm
from truerisk.measures.averages import counts_of_label, value_of_counts
from truerisk.measures.costs import CostMatrix
from truerisk.measures.registry import (
    BINOMIAL_INTERVALS,
    base_and_average,
    base_measure,
    find_measure,
    spoken_title,
)
from truerisk.results import Estimate, Evaluation, Finding, Frozen, Interval, Row
from truerisk.tallies.cells import (
    Cells,
    CellTally,
    ClassCounts,
    LabelSets,
    Proportion,
    cell_codes,
)
from truerisk.tallies.group_values import area_values, effective_groups, sums_of_groups
from truerisk.tallies.question_values import QuestionValues

# What is tested unless measures are named: shares and areas, whose size was measured.
OF_TWO_CLASSES = ("accuracy", "recall", "precision", "roc_auc")
OF_SEVERAL = ("accuracy",)
MEASURED = (
    "Measured: of 20 equal slices one or more is called worse in 0 to 3.2 % of simulated data sets "
    "(docs/slices.md)."
)
MEASURED_OF_VALUES = (
    "Measured: of 20 equal slices of values one or more is called worse in 0 to 2.6 % of simulated "
    "data sets (docs/slices.md)."
)
MOVER = "mover"
FISHER = "fisher_mid_p"
MAX_NAMED = 5  # slices that the verdict names
LARGEST_TABLE = 2**25  # entries: groups × features

Outcome = Literal["worse", "better", "no evidence"]


@dataclass(frozen=True, kw_only=True)
class SliceTest:
    """A slice against the rest, by one measure.

    `difference` is slice − rest, `measured` what its interval was measured to cover.  `p_value` is
    two-sided; `adjusted` is Holm's for all slices and measures together, and decides the `finding`;
    `listed` is Benjamini and Hochberg's.
    """

    rest: Estimate
    difference: Estimate
    p_value: float
    method: str
    adjusted: float = math.nan
    listed: float = math.nan
    finding: Outcome = "no evidence"
    measured: str = NOT_MEASURED


@dataclass(frozen=True, kw_only=True)
class Slice(Frozen, Mapping[str, Estimate]):
    """The examples that have something in common: every measure of them, and how they compare.

    A read-only mapping of estimates.  `evaluation` has all that is said of these examples alone,
    `tests` how they differ from the rest.
    """

    is_slice: ClassVar[bool] = True

    name: str
    columns: tuple[str, ...]
    evaluation: Evaluation
    tests: Mapping[str, SliceTest] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many examples there are in it."""
        return self.evaluation.n

    def __getitem__(self, measure: str) -> Estimate:
        return self.evaluation[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluation)

    def __len__(self) -> int:
        return len(self.evaluation)

    def rows(self) -> Iterator[Row]:
        """Give the tidy rows of the slice, with its tests beside their measures."""
        for row in self.evaluation._own_rows():  # noqa: SLF001  (of the same family)
            test = None if row["class"] else self.tests.get(row["measure"])
            yield {"slice": self.name, **row, **test_columns(test)}

    def plain(self) -> dict[str, Any]:
        """Give what JSON holds of a slice, before it is made plain."""
        return {
            "columns": self.columns,
            "n": self.n,
            "estimates": dict(self.evaluation.estimates),
            "by_class": dict(self.evaluation.by_class),
            "tests": dict(self.tests),
            "notes": self.evaluation.notes,
        }


def test_columns(test: SliceTest | None) -> dict[str, Any]:
    """Give the columns that a tidy table has for tests; NaN and empty without one."""
    if test is None:
        return {"rest": math.nan, "p_value": math.nan, "adjusted_p_value": math.nan, "finding": ""}
    return {
        "rest": test.rest.value,
        "p_value": test.p_value,
        "adjusted_p_value": test.adjusted,
        "finding": test.finding,
    }


def with_slices(
    whole: Evaluation, predictions: Predictions, request: Request, by: Any, *, pairs: bool = False
) -> Evaluation:
    """Add the slices by some columns to an evaluation of the same predictions."""
    if request.prior is not None:
        raise InputError("`by` must be left out with a prior: a slice has classes of its own.")
    if predictions.classes is not None and not predictions.multilabel:
        predictions = with_one_score(predictions, request)
    if predictions.group is not None and len(np.unique(predictions.group)) == predictions.n:
        predictions = replace(predictions, group=None)
    columns = columns_of(by, predictions.n)
    tester = _Tester(predictions, request, whole)
    parts = list(sliced(columns, counts=tester.that_count, group=predictions.group, pairs=pairs))
    return _with_tested(whole, tester, parts, tuple(columns))


def with_value_slices(
    whole: Evaluation,
    held: QuestionValues,
    by: Mapping[str, NDArray[Any]],
    *,
    evaluate: Callable[[QuestionValues], Evaluation],
    pairs: bool = False,
) -> Evaluation:
    """Add the slices by some columns, one entry per question, to an evaluation of its values."""
    counts = np.ones(held.n, bool)
    parts = list(sliced(columns_of(by, held.n), counts=counts, group=held.groups, pairs=pairs))
    return _with_tested(whole, _ValueTester(held, whole, evaluate), parts, tuple(by))


def _with_tested(
    whole: Evaluation,
    tester: "_Tester | _ValueTester",
    parts: Sequence[SlicedRows],
    columns: tuple[str, ...],
) -> Evaluation:
    """Evaluate and test every slice, and conclude from all of them."""
    slices: dict[str, Slice] = {}
    for part in parts:
        for at, name in enumerate(part.names):
            inside = part.codes == at
            own = tester.evaluation(inside)
            tests = tester.tests(inside, own)
            slices[name] = Slice(name=name, columns=part.columns, evaluation=own, tests=tests)
    slices = _adjusted(slices, whole.level)
    notes = [note for part in parts for note in part.notes]
    notes.append(Finding(tester.measured, code="slices_measured"))
    return replace(
        whole,
        slices=slices,
        verdict=(*whole.verdict, *_findings(slices, tester.measures, columns, whole.level)),
        notes=(*whole.notes, *notes),
        settings={**whole.settings, "by": columns},
    )


@dataclass(frozen=True)
class _Tester:
    """Evaluates slices of some predictions, and tests them against the rest."""

    predictions: Predictions
    request: Request
    whole: Evaluation
    measured: ClassVar[str] = MEASURED

    @cached_property
    def own(self) -> Request:
        """The request for parts of the examples: what is positive is settled."""
        positive = self.whole.pos_label
        return self.request if positive is None else replace(self.request, pos_label=positive)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The measures to test slices by, the main one first."""
        usual = OF_SEVERAL if self.whole.pos_label is None else OF_TWO_CLASSES
        names = self.request.measures or usual
        return tuple(
            name
            for name in names
            if name in self.whole and base_measure(name).higher_is_better is not None
        )

    def evaluation(self, inside: Flags, measures: tuple[str, ...] | None = None) -> Evaluation:
        """Estimate every measure, or some, of a part of the examples."""
        request = self.own if measures is None else replace(self.own, measures=measures)
        part = self.predictions.taken(np.flatnonzero(inside))
        tallies = self._tally(request, part).finish(part.members, self.whole.labels)
        return assemble(tallies, request)

    @staticmethod
    def _tally(request: Request, part: Predictions) -> PredictionTally:
        tally = PredictionTally.of_classes(request, part.classes, multilabel=part.multilabel)
        return tally.add(part)

    def tests(self, inside: Flags, own: Evaluation) -> dict[str, SliceTest]:
        """Test a slice, of which this is the evaluation, against the rest by each measure."""
        rest = ~inside & self.that_count
        if not self.measures or not rest.any() or self._groups(rest) < 2 <= self._groups(inside):
            return {}
        both, sides = (own, self.evaluation(rest, self.measures)), (inside, rest)
        grouped = self.predictions.group is not None
        tables = [self.by_group(side) if grouped else None for side in sides]
        return {
            name: self._with_measured(self._test(name, both, sides, tables))
            for name in self.measures
        }

    def _with_measured(self, test: SliceTest) -> SliceTest:
        """Say what intervals of such a difference were measured to cover."""
        ends = test.difference.interval
        if ends is None:
            return test
        weighted = self.predictions.weight is not None
        figure = coverage_of(
            ends.method,
            f"{DIFFERENCE}{test.difference.measure}",
            design=f"{SLICE}, {WEIGHTS}" if weighted else SLICE,
            level=ends.level,
        )
        return test if figure is None else replace(test, measured=figure.words(ends.level))

    @cached_property
    def that_count(self) -> Flags:
        """Which rows have a weight at all."""
        return np.asarray(self._weights > 0)

    def _groups(self, side: Flags) -> int:
        group = self.predictions.group
        return int(side.sum()) if group is None else len(np.unique(group[side]))

    def _test(
        self,
        name: str,
        both: Sequence[Evaluation],
        sides: Sequence[Flags],
        tables: Sequence[Array | None],
    ) -> SliceTest:
        slice_, rest = (one[name] for one in both)
        apart = slice_.value - rest.value
        level = self.request.level
        if self.predictions.group is not None:
            values = self.group_values(name, sides, tables)
            if values is not None:
                return _by_groups(rest, apart, *values, level=level)
        first, second = (
            self._size(name, one, side) for one, side in zip((slice_, rest), sides, strict=True)
        )
        shares = [share for one in both if (share := _share_of(one, name)) is not None]
        return _of_two(slice_, rest, (first, second), shares, level=level)

    def _size(self, name: str, estimate: Estimate, side: Flags) -> float:
        """Give the examples that a spread is known by: those of the rarest class of a ranking."""
        if self.predictions.group is not None:
            return float(self._groups(side))
        needs, interval = base_measure(name).needs, estimate.interval
        by_rows = interval is not None and "binomial" in interval.method and needs != "ranking"
        if by_rows or needs in {"probabilities", "documents"}:
            return estimate.n
        return float(self._rarest(side))

    def _rarest(self, side: Flags) -> int:
        members, truth = self.predictions.members, self.predictions.truth[side]
        counts = np.bincount(truth, minlength=len(members))
        labels: dict[str, int] = dict.fromkeys(self.whole.labels, 0)
        for one, count in zip(members, counts.tolist(), strict=True):
            for label in one:
                labels[label] = labels.get(label, 0) + count
        if self.whole.pos_label is not None:
            positive = labels[self.whole.pos_label]
            return min(positive, len(truth) - positive)
        return min((count for count in labels.values() if count), default=0)

    def group_values(
        self, name: str, sides: Sequence[Flags], tables: Sequence[Array | None]
    ) -> tuple[Array, float] | None:
        """Give the difference without each group, and how many equal groups it is known by.

        None for measures that have no quick form without a group.
        """
        group = np.asarray(self.predictions.group)
        parts = [self._without(name, *both, group) for both in zip(sides, tables, strict=True)]
        if parts[0] is None or parts[1] is None:
            return None
        present = np.unique(group[sides[0] | sides[1]])
        return (parts[0][0] - parts[1][0])[present], min(parts[0][1], parts[1][1])

    def _without(
        self, name: str, side: Flags, table: Array | None, group: Indices
    ) -> tuple[Array, float] | None:
        """Give a measure of one side without each group, and the side's groups."""
        if name == "roc_auc" and self.whole.pos_label is not None:
            return self._area_without(side, group)
        values = None if table is None else self._of_features(name, table.sum(axis=0) - table)
        if values is None:
            return None
        return values, effective_groups(sums_of_groups(group[side], self._weights[side]))

    def _area_without(self, side: Flags, group: Indices) -> tuple[Array, float] | None:
        """Give the area of one side without each group, and the side's groups."""
        predictions = self.predictions
        if predictions.score is None or predictions.score.ndim == 2:
            return None
        rows = np.flatnonzero(side)
        weight = None if predictions.weight is None else predictions.weight[rows]
        values = area_values(predictions.score[rows], self._belongs[rows], group[rows], weight)
        without = np.full(int(group.max()) + 1, values.value)
        without[: len(values.without)] = values.without
        return without, values.units

    @cached_property
    def _belongs(self) -> Flags:
        return self.predictions.belongs(str(self.whole.pos_label))

    @cached_property
    def _weights(self) -> Array:
        weight = self.predictions.weight
        return np.ones(self.predictions.n) if weight is None else weight

    @cached_property
    def _counted(self) -> tuple[Indices, Any, Flags] | None:
        """Give the cell of each row, what takes cells to features, and which rows are called."""
        tally = self._tally(self.own, self.predictions)
        predicted, multilabel = tally.predicted(self.predictions), self.predictions.multilabel
        if predicted is None:
            return None
        pairs = cell_codes(self.predictions.truth, predicted)
        distinct, codes = np.unique(pairs, return_inverse=True)
        labels, members = self.whole.labels, tally.label_sets(self.predictions.members)
        place = {label: at for at, label in enumerate(labels)}
        inside = {
            code: tuple(label for label in one if label in place) for code, one in members.items()
        }
        sides = CellTally(pairs=distinct).sides
        true, said = (LabelSets.of_sets(one, inside, place) for one in sides)
        totals = np.bincount(codes)
        every = Cells(labels, true, said, totals, totals, multilabel=multilabel)
        costs = None
        if self.request.costs is not None:
            matrix = CostMatrix.of(self.request.costs, labels, self.whole.pos_label)
            costs = matrix.of_cells(every)
        answered = np.array([multilabel or bool(members[code]) for code in sides[1].tolist()])
        return codes.ravel(), every.design(costs), answered[codes.ravel()]

    def by_group(self, side: Flags) -> Array | None:
        """Add up the features of each group's rows on one side; None where they are too many."""
        from scipy import sparse

        if self._counted is None:
            return None
        codes, design, called = self._counted
        group = np.asarray(self.predictions.group)
        groups = int(group.max()) + 1
        if groups * design.shape[1] > LARGEST_TABLE:
            return None
        rows = np.flatnonzero(side & called)
        table = sparse.coo_array(
            (self._weights[rows], (group[rows], codes[rows])), shape=(groups, design.shape[0])
        )
        if isinstance(design, np.ndarray):
            return np.asarray(table.tocsr() @ design)
        by_group = table.tocsr()
        return np.array([by_group[[at]].toarray()[0] @ design for at in range(groups)])

    def _of_features(self, name: str, features: Array) -> NDArray[Any] | None:
        labels, positive = self.whole.labels, self.whole.pos_label
        over = self.request.average_over
        return value_of_counts(
            name,
            ClassCounts.from_features(np.maximum(features, 0.0)),
            None if positive is None else labels.index(positive),
            None if over is None else np.isin(labels, over),
            self.request.zero_division,
        )


@dataclass(frozen=True)
class _ValueTester:
    """Evaluates slices of questions that have a value each, and tests them against the rest.

    Right or wrong: Fisher's test.  Scores: the intervals of both sides, on Student's t; these hold
    for every distribution on the range, hence a slice of few values that are all alike says little.
    In groups: the jackknife over groups.
    """

    held: QuestionValues
    whole: Evaluation
    evaluate: Callable[[QuestionValues], Evaluation]
    measured: ClassVar[str] = MEASURED_OF_VALUES

    @property
    def measures(self) -> tuple[str, ...]:
        """The one measure that values have."""
        return (self.held.measure,)

    def evaluation(self, inside: Flags) -> Evaluation:
        """Estimate the mean of some of the questions."""
        return self.evaluate(self.held.taken(np.flatnonzero(inside)))

    def tests(self, inside: Flags, own: Evaluation) -> dict[str, SliceTest]:
        """Test a slice, of which this is the evaluation, against the rest."""
        held, rest = self.held, ~inside
        sides = [held.taken(np.flatnonzero(side)) for side in (inside, rest)]
        if held.groups is not None and len(np.unique(held.groups[rest])) < 2:
            return {}
        if not sides[1].n:
            return {}
        name, level = held.measure, self.whole.level
        first, second = own[name], self.evaluate(sides[1])[name]
        apart = first.value - second.value
        if held.groups is not None:
            without, units = self._without_groups(inside)
            test = _by_groups(second, apart, without, units, level=level, reach=held.width)
            return {name: test}
        shares = [(int(one.values.sum()), one.n) for one in sides] if held.is_binary else []
        sizes = (sides[0].n, sides[1].n)
        return {name: _of_two(first, second, sizes, shares, level=level, reach=held.width)}

    def _without_groups(self, inside: Flags) -> tuple[Array, float]:
        """Give the difference without each group, and how many equal groups it is known by."""
        groups = np.asarray(self.held.groups)
        size = int(groups.max()) + 1
        means, units = [], []
        for side in (inside, ~inside):
            sums = np.bincount(groups[side], self.held.values[side], minlength=size)
            counts = np.bincount(groups[side], minlength=size)
            left = counts.sum() - counts
            with np.errstate(invalid="ignore"):
                means.append((sums.sum() - sums) / np.where(left > 0, left, np.nan))
            units.append(effective_groups(counts[counts > 0].astype(np.float64)))
        return np.asarray(means[0] - means[1]), min(units)


def _of_two(
    slice_: Estimate,
    rest: Estimate,
    sizes: tuple[float, float],
    shares: Sequence[tuple[int, int]],
    *,
    level: float,
    reach: float | None = None,
) -> SliceTest:
    """Test by the intervals of two independent sides; shares, k of n in both, by Fisher's test."""
    ends, p_value, method = (math.nan, math.nan), math.nan, MOVER
    a, b = slice_.interval, rest.interval
    if slice_.is_defined and rest.is_defined and a is not None and b is not None:
        ends = mover_difference(slice_.value, a, rest.value, b)
        p_value = mover_p_value(slice_.value, a, rest.value, b, sizes)
    if len(shares) == 2:
        method, p_value = FISHER, fisher_mid_p(*shares[0], *shares[1])
    apart = slice_.value - rest.value
    return _outcome(rest, apart, ends, p_value, method=method, level=level, reach=reach)


def _by_groups(
    rest: Estimate,
    apart: float,
    without: Array,
    units: float,
    *,
    level: float,
    reach: float | None = None,
) -> SliceTest:
    """Test by the jackknife over groups, d ± t·se."""
    ends, p_value = (math.nan, math.nan), math.nan
    if len(without) >= MIN_GROUPS and np.isfinite(without).all() and not math.isnan(apart):
        error, degrees = difference_spread(apart, without, units)
        if error > 0:
            half = -student_quantile(degrees, (1 - level) / 2) * error
            ends = (apart - half, apart + half)
            p_value = 2 * student_cdf(degrees, -abs(apart) / error) if apart else 1.0
    return _outcome(rest, apart, ends, p_value, method=METHOD, level=level, reach=reach)


def _outcome(
    rest: Estimate,
    apart: float,
    ends: tuple[float, float],
    p_value: float,
    *,
    method: str,
    level: float,
    reach: float | None = None,
) -> SliceTest:
    if reach is None:
        low, high = base_measure(rest.measure).measure_range
        reach = high - low
    if math.isnan(ends[0]):
        ends = (-reach, reach)
    within = (max(-reach, ends[0]), min(reach, ends[1]))
    named = METHOD if method == METHOD else MOVER
    interval = Interval(*within, level, named if not math.isnan(p_value) else "whole_range")
    difference = replace(rest, value=apart, interval=interval, method=method, notes=())
    return SliceTest(rest=rest, difference=difference, p_value=p_value, method=method)


def _share_of(evaluation: Evaluation, name: str) -> tuple[int, int] | None:
    """Give k and n of a measure that is k of n independent examples; None for any other."""
    interval, cells = evaluation[name].interval, evaluation.tallies
    if interval is None or interval.method not in BINOMIAL_INTERVALS or cells is None:
        return None
    base, average = base_and_average(name)
    if average is not None:
        return None
    measure, counts = find_measure(base), cells.class_counts()
    if measure.needs == "binary counts" and evaluation.pos_label is not None:
        share = measure(counts_of_label(counts, cells.labels.index(evaluation.pos_label)))
    elif measure.needs == "class counts":
        share = measure(counts)
    else:
        return None
    if not isinstance(share, Proportion):
        return None
    return round(float(share.k)), round(float(share.n))


def _adjusted(slices: Mapping[str, Slice], level: float) -> dict[str, Slice]:
    """Adjust the p-values of all slices and measures together, and conclude."""
    keys = [(name, measure) for name, one in slices.items() for measure in one.tests]
    raw = np.array([slices[name].tests[measure].p_value for name, measure in keys])
    concluded: dict[str, dict[str, SliceTest]] = {name: {} for name in slices}
    for (name, measure), strict, listed in zip(
        keys, holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True
    ):
        test = slices[name].tests[measure]
        finding: Outcome = "no evidence"
        if strict <= 1 - level:
            higher = base_measure(measure).higher_is_better
            finding = "better" if (test.difference.value > 0) == higher else "worse"
        concluded[name][measure] = replace(test, adjusted=strict, listed=listed, finding=finding)
    return {name: replace(one, tests=concluded[name]) for name, one in slices.items()}


def _findings(
    slices: Mapping[str, Slice],
    measures: tuple[str, ...],
    columns: tuple[str, ...],
    level: float,
) -> Iterator[Finding]:
    """Say which slices are surely worse than the rest, and which are on the longer list."""
    tests = [(one, measure, test) for one in slices.values() for measure, test in one.tests.items()]
    if not tests:
        return
    tests.sort(key=lambda entry: (math.isnan(entry[2].adjusted), entry[2].adjusted))
    worse = [entry for entry in tests if entry[2].finding == "worse"]
    family = f"{len(slices)} slices"
    if len(measures) > 1:
        family += f" and {len(measures)} measures"
    for one, measure, test in worse[:MAX_NAMED]:
        text = (
            f"Sure: {spoken_title(measure)} is worse in {one.name}: {_words(one[measure])}, "
            f"elsewhere {_words(test.rest)} (p = {test.adjusted:.2g}, adjusted for {family})."
        )
        yield Finding(text, code="slice_worse")
    if len(worse) > MAX_NAMED:
        text = f"{len(worse) - MAX_NAMED} more are surely worse: the table of slices has them."
        yield Finding(text, code="slice_worse")
    likely = [
        f"{spoken_title(measure)} in {one.name}"
        for one, measure, test in tests
        if test.finding == "no evidence"
        and test.listed <= 1 - level
        and (test.difference.value < 0) == base_measure(measure).higher_is_better
    ]
    if likely:
        more = f" and {len(likely) - MAX_NAMED} more" if len(likely) > MAX_NAMED else ""
        text = (
            f"Probably worse, too: {'; '.join(likely[:MAX_NAMED])}{more} (of such a list at most "
            f"{100 * (1 - level):.3g} % are false: Benjamini and Hochberg)."
        )
        yield Finding(text, code="slices_listed")
    if not worse and not likely:
        named = " or ".join(columns)
        text = f"No slice by {named} is shown to be worse than the rest, of {family} (Holm)."
        yield Finding(text, code="no_slice_worse")


def _words(estimate: Estimate) -> str:
    ends = estimate.interval
    if ends is None or not estimate.is_defined:
        return f"{estimate.value:.3g}"
    return f"{estimate.value:.3f} [{ends.low:.3f}, {ends.high:.3f}]"
