"""Cells → estimates: every measure of hard predictions with its interval."""

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.evaluation.request import Request
from truerisk.intervals.binomial import binomial_bounds, confidence_curve, curve_interval
from truerisk.intervals.cell_sample import (
    CellSample,
    Function,
    binary_counts,
    prior_of,
    with_every_cell,
)
from truerisk.intervals.choose import (
    Question,
    cell_interval,
    class_average,
    proportion_interval,
    refit_correlation,
    refit_measure,
    refit_proportion,
    smoothed_deltas,
    smoothed_interval,
)
from truerisk.intervals.class_averages import (
    BY_FORMULA,
    Shares,
    average_shortfalls,
    macro_interval,
    recall_interval,
)
from truerisk.intervals.variance_components import FEW_OF_A_CLASS, rule_of
from truerisk.measures.averages import AVERAGES, Average, left_out, of_each_cell
from truerisk.measures.costs import CostMatrix
from truerisk.measures.from_counts import DISTANCE_POWERS, distances
from truerisk.measures.registry import (
    AVERAGE_NAMES,
    AVERAGED_COUNTS,
    STRATIFIED_INTERVALS,
    Measure,
    base_and_average,
    find_measure,
    measures_that_need,
)
from truerisk.results import Estimate, Finding, Interval
from truerisk.tallies.cells import Cells, ClassCounts, Proportion, ratio

RATIOS, MIN_OF_A_RATIO = {"positive_likelihood_ratio", "negative_likelihood_ratio"}, 5
SMOOTHED = {"by_measure", "smoothed_delta"}
BY_CLASS = ("precision", "recall", "specificity", "f1", "jaccard", "gmean")


@dataclass(frozen=True)
class CountEstimates:
    """The estimates that one set of cells has to offer."""

    cells: Cells
    request: Request
    costs: CostMatrix | None = None

    @cached_property
    def every(self) -> Cells:
        """The cells, with those that could have occurred."""
        return with_every_cell(self.cells)

    @cached_property
    def sample(self) -> CellSample:
        """The cells as a sample."""
        return self._sample(None if self.costs is None else self.costs.of_cells(self.every))

    def _sample(self, cell_costs: Array | None) -> CellSample:
        sample = CellSample.of(self.every, cell_costs)
        if self.request.cell_interval not in STRATIFIED_INTERVALS:
            return sample
        return replace(sample, strata=self.every.truth.numbers)

    @cached_property
    def over(self) -> Flags | None:
        """The classes to average over, where they were requested."""
        if self.request.average_over is None:
            return None
        return np.isin(self.cells.labels, self.request.average_over)

    @cached_property
    def class_counts(self) -> ClassCounts:
        """The counts of the classes."""
        return ClassCounts.from_features(self.sample.features)

    def overall(self) -> Iterator[Estimate]:
        """Estimate the measures of all classes at once."""
        for entry in measures_that_need("class counts"):
            measure = entry
            if entry.name == "cost":
                if self.costs is None:
                    continue
                measure = replace(entry, measure_range=self.costs.measure_range)
            elif entry.label_sets not in {None, self.cells.multilabel}:
                continue
            if self.request.requested([entry.name]):
                yield self._estimate(measure, self.sample, ClassCounts.from_features)
        for name in DISTANCE_POWERS:
            if name in (self.request.measures or ()) and not self.cells.multilabel:
                between = distances(name, len(self.cells.labels))[self.every.codes]
                sample = self._sample(between)
                yield self._estimate(find_measure(name), sample, ClassCounts.from_features)

    @cached_property
    def _against_rest(self) -> Callable[[int], CellSample]:
        return self.sample.against_rest(self.every)

    def of_label(self, label: int, names: tuple[str, ...] | None = None) -> Iterator[Estimate]:
        """Estimate the measures of one label against the rest."""
        sample = self._against_rest(label)
        if names is None:
            names = self._requested(self._binary_names(), (None,))
        for name in names:
            one = self._estimate(find_measure(name), sample, binary_counts)
            if name in RATIOS:
                one = replace(one, notes=(*one.notes, *self._ratio_shortfall(label)))
            yield one

    def _ratio_shortfall(self, label: int) -> tuple[Finding, ...]:
        """Say where the promise of a likelihood ratio is not kept, for few of a class."""
        cells = self.cells
        positives = int(cells.by_class(cells.rows)[1][label])
        rarer = min(positives, int(cells.rows.sum()) - positives)
        if rarer >= MIN_OF_A_RATIO or cells.judgements is not None:
            return ()
        text = (
            f"the promise is not kept at this size: with under {MIN_OF_A_RATIO} examples of a "
            f"class (here {rarer}) a 95 % interval of a likelihood ratio was seen to cover 83 %"
        )
        return (Finding(text, code="not_kept_at_this_size"),)

    def _requested(
        self, usual: tuple[str, ...], averages: tuple[str | None, ...]
    ) -> tuple[str, ...]:
        """Give the measures of one class to estimate: all usual ones, or just those requested.

        A request for a measure that is not among the usual ones is met all the same.
        """
        if self.request.measures is None:
            return usual
        named = dict.fromkeys(
            base
            for base, average in map(base_and_average, self.request.measures)
            if average in averages and find_measure(base).needs == "binary counts"
        )
        return (*(one for one in usual if one in named), *(n for n in named if n not in usual))

    def _binary_names(self) -> tuple[str, ...]:
        """List the measures of one class, with the requested β in place of the general ones."""
        general = ("f_beta", "e_beta")
        names = [m.name for m in measures_that_need("binary counts") if m.name not in general]
        betas = [f"{letter}{beta:g}" for beta in self.request.betas for letter in "fe"]
        return (*names, *(name for name in betas if name != "f1"))

    def averaged(self) -> Iterator[Estimate]:
        """Estimate the micro, macro and weighted averages over the classes."""
        usual = AVERAGED_COUNTS + self._betas
        for average in AVERAGES.values():
            for name in self._requested(usual, (average.name,)):
                yield self._average(find_measure(name), average)
        if self.cells.multilabel:
            for name in self._requested(usual, ("samples",)):
                yield self._average_over_examples(find_measure(name))

    @property
    def _betas(self) -> tuple[str, ...]:
        return tuple(f"f{beta:g}" for beta in self.request.betas if beta != 1)

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        """Estimate the measures of every class: k of n for all classes at once."""
        labels = self.cells.labels
        names = self._requested(BY_CLASS + self._betas, (None, *AVERAGE_NAMES))
        columns: dict[str, Iterable[Estimate]] = {}
        for name in names if self.sample.independent else ():
            measure = find_measure(name)
            shares = measure(self.class_counts.one_vs_rest)
            if isinstance(shares, Proportion):
                columns[name] = self._proportions(measure, shares)
            elif self.request.cell_interval in SMOOTHED:
                columns[name] = self._smoothed(measure, shares)
        # One class after the other, where they have no form for all at once.
        rest = tuple(name for name in names if name not in columns)
        if rest:
            rows = [tuple(self.of_label(at, rest)) for at in range(len(labels))]
            columns.update(zip(rest, zip(*rows, strict=True), strict=True))
        every = zip(*(columns[name] for name in names), strict=True)
        table = (dict(zip(names, one, strict=True)) for one in every)
        return dict(zip(labels, table, strict=True)) if names else {one: {} for one in labels}

    def _smoothed(self, measure: Measure, values: Array) -> Iterator[Estimate]:
        level, prior = self.request.level, prior_of(self.every) > 0
        ends = smoothed_deltas(
            measure.value,
            self.class_counts.one_vs_rest,
            ClassCounts.from_features(prior @ self.sample.design).one_vs_rest,
            measure_range=measure.measure_range,
            level=level,
        )
        for value, low, high in zip(values, *ends, strict=True):
            interval = smoothed_interval(float(low), float(high), measure.measure_range, level)
            yield self._finished(measure, float(value), interval, self.cells.n)

    def _proportions(self, measure: Measure, shares: Proportion) -> Iterator[Estimate]:
        low, high = binomial_bounds(
            shares.k, shares.n, level=self.request.level, method=self.request.binomial
        )
        ends = shares.between(low, high)
        for value, n, least, most in zip(shares.value, shares.n, *ends, strict=True):
            interval = Interval(
                float(least), float(most), self.request.level, self.request.binomial
            )
            yield self._finished(measure, float(value), interval, float(n))

    def _estimate(
        self, measure: Measure, sample: CellSample, read: Callable[[NDArray[Any]], Any]
    ) -> Estimate:
        result = measure(read(sample.features))
        if isinstance(result, Proportion):
            interval = self._proportion_interval(
                sample, lambda features: measure(read(features)), result, measure.name
            )
            n = sample.counted(
                lambda features: (
                    (result if features is sample.features else measure(read(features))).n
                )
            )
            return self._finished(measure, float(result.value), interval, n)
        value = float(result)
        notes: tuple[Finding, ...] = ()
        if measure.name in {"balanced_accuracy", "youden"} and self._by_formula(value):
            interval = self._of_recalls(measure.name, sample)
            notes = average_shortfalls(self.cells, "recall", "macro")
        else:
            interval = self._cell_interval(
                sample, lambda features: measure.value(read(features)), value, measure
            )
        return self._finished(measure, value, interval, self.cells.n, notes)

    def _by_formula(self, value: float) -> bool:
        """Whether a defined value may have the interval that was made for its measure."""
        rows = self.cells.by_group is None and self.cells.judgements is None
        return (
            rows
            and not self.cells.at_prior
            and self.request.cell_interval == "by_measure"
            and not np.isnan(value)
        )

    def _of_recalls(self, name: str, sample: CellSample) -> Interval:
        """Give the interval of balanced accuracy, or of J = recall + specificity − 1."""
        level = self.request.level
        if name == "balanced_accuracy":
            return macro_interval(self.cells, "recall", self.class_counts.truth > 0, level=level)
        squares = None if sample.squares is None else _recalls(sample.squares)
        mean = recall_interval(_recalls(sample.totals), squares, level=level)
        return replace(mean, low=2 * mean.low - 1, high=2 * mean.high - 1)

    def _average(self, measure: Measure, average: Average) -> Estimate:
        def function(features: NDArray[Any]) -> Any:
            counts = ClassCounts.from_features(features)
            return average.function(measure, counts, self.over, self.request.zero_division)

        named = averaged_measure(measure, average.name, average.title, "class")
        value = float(function(self.sample.features))
        notes = () if average.name == "micro" else self._classes_averaged(measure)
        if self._is_accuracy(measure, average):
            transform = self._of_accuracy(measure)

            def share(features: NDArray[Any]) -> Proportion:
                return Proportion(features[..., -3], features[..., -2], transform)

            interval = self._proportion_interval(
                self.sample, share, share(self.sample.features), "accuracy"
            )
            return self._finished(named, value, interval, self.cells.n, notes)
        own = self._own_average(measure, average) if self._by_formula(value) else None
        if own is None:
            interval = self._cell_interval(self.sample, function, value, named)
        else:
            interval = own
            notes += average_shortfalls(self.cells, measure.name, average.name)
        return self._finished(named, value, interval, self.cells.n, notes)

    def _own_average(self, measure: Measure, average: Average) -> Interval | None:
        """Give the interval by the average's own formula, if there is one.

        Classes in which the measure is undefined, and counts as `zero_division`, do not vary.
        """
        counts, zero = self.class_counts, self.request.zero_division
        chosen = counts.truth > 0 if self.over is None else self.over
        taken = chosen & ~left_out(measure, counts, self.over)
        if average.name == "weighted":
            taken = taken & (counts.truth > 0)
        if not taken.any():
            return None
        interval = class_average(
            self.cells, measure.name, average.name, taken, self.over, level=self.request.level
        )
        if interval is None or np.isnan(zero) or average.name == "micro":
            return interval
        weights = counts.truth if average.name == "weighted" else np.ones(len(chosen))
        share = float(weights[taken].sum() / weights[chosen].sum())
        low, high = (share * end + (1 - share) * zero for end in (interval.low, interval.high))
        return replace(interval, low=low, high=high)

    def _average_over_examples(self, measure: Measure) -> Estimate:
        """Average the measure of single examples: a share of the total, linear in the cells."""
        values = of_each_cell(measure, self.every)
        values = np.where(np.isnan(values), self.request.zero_division, values)
        defined = ~np.isnan(values)
        sample = replace(
            self.sample, design=np.column_stack([np.where(defined, values, 0.0), defined])
        )

        def function(features: NDArray[Any]) -> Any:
            return ratio(features[..., 0], features[..., 1])

        named = averaged_measure(measure, "samples", "average over examples", "example")
        value = float(function(sample.features))
        interval = self._cell_interval(sample, function, value, named)
        n = sample.counted(lambda features: features[..., 1])
        return self._finished(named, value, interval, n)

    def _is_accuracy(self, measure: Measure, average: Average) -> bool:
        """Whether the average is a function of the share that is right."""
        every_class = self.over is None or bool(self.over.all())
        if self.cells.multilabel or not every_class:
            return False
        if average.name == "weighted":
            return measure.name == "recall"
        several = measure.name != "specificity" or len(self.cells.labels) > 1
        return average.name == "micro" and measure.name in BY_FORMULA and several

    def _of_accuracy(self, measure: Measure) -> Callable[[Any], Any] | None:
        """Give that function; None where the average is the share itself."""
        others = len(self.cells.labels) - 1
        return {
            "jaccard": lambda share: share / (2 - share),
            "specificity": lambda share: 1 - (1 - share) / others,
        }.get(measure.name)

    def _classes_averaged(self, measure: Measure) -> tuple[str, ...]:
        counts = self.class_counts
        chosen = counts.truth > 0 if self.over is None else self.over
        which = "that occur" if self.over is None else "asked for"
        n_classes = int(np.count_nonzero(chosen))
        missing = left_out(measure, counts, self.over)
        named = ", ".join(np.array(self.cells.labels)[missing][:10])
        if not missing.any():
            text = f"over the {n_classes} classes {which}"
        elif np.isnan(self.request.zero_division):
            taken = n_classes - int(missing.sum())
            text = f"over {taken} of the {n_classes} classes {which}; undefined in {named}"
        else:
            text = f"undefined in {named}, counted there as {self.request.zero_division:g}"
        return (Finding(text, code="classes_averaged"),)

    def _finished(
        self,
        measure: Measure,
        value: float,
        interval: Interval,
        n: float,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        zero = self.request.zero_division
        return finished(measure, value, interval, n, notes, zero_division=zero)

    def _proportion_interval(
        self,
        sample: CellSample,
        function: Callable[[NDArray[Any]], Proportion],
        proportion: Proportion,
        name: str,
    ) -> Interval:
        level = self.request.level
        if self._tables is not None:
            value = float(proportion.value)
            tables = self._tables @ sample.design
            return curve_interval(lambda one: function(one).value, tables, value, level=level)
        if sample.by_components:
            return refit_proportion(sample, function, proportion, rule_of(name), level=level)
        return proportion_interval(sample, function, level=level, method=self.request.binomial)

    def _cell_interval(
        self, sample: CellSample, function: Function, value: float, measure: Measure
    ) -> Interval:
        question = Question(
            sample=sample,
            function=function,
            value=value,
            measure_range=measure.measure_range,
            level=self.request.level,
            method=self.request.cell_interval,
            replicates=self.request.replicates,
            rng=partial(generator_for, measure.name, self.request),
        )
        if self._tables is not None:
            tables = self._tables @ sample.design
            return curve_interval(function, tables, value, level=self.request.level)
        if not sample.by_components:
            return cell_interval(question)
        if measure.name == "matthews_correlation":
            return self._refit_correlation(question)
        return refit_measure(question)

    def _refit_correlation(self, question: Question) -> Interval:
        """Give the interval of the MCC; where the positive class of two is rare, its hull."""
        truth, positive = self.class_counts.truth, self._positive
        rarest = float(truth[truth > 0].min())
        if positive is None or truth[positive] > rarest or rarest >= FEW_OF_A_CLASS:
            return refit_correlation(question, rarest)
        whole = Interval(0.0, 1.0, self.request.level, "undefined")
        precision, recall = (
            one.interval or whole for one in self.of_label(positive, ("precision", "recall"))
        )
        return refit_correlation(question, rarest, (precision, recall))

    @cached_property
    def _tables(self) -> Array | None:
        """The tables of two classes at a prior that the examples are consistent with."""
        cells = self.every
        if not cells.at_prior or len(cells.labels) != 2 or cells.by_group is not None:
            return None
        tp, truth, _ = cells.by_class(cells.totals)
        squares = None
        if cells.squares is not None:
            right, size, _ = cells.by_class(cells.squares)
            squares = Shares(right, size)
        counts = Shares(tp, truth).effective(squares)
        right = confidence_curve(counts.right, counts.size, level=self.request.level)
        true, called = cells.codes
        return np.where(true == called, right[:, true], 1 - right[:, true]) * truth[true]

    @property
    def _positive(self) -> int | None:
        """The positive one of two classes."""
        labels, label = self.cells.labels, self.request.pos_label
        return labels.index(label) if len(labels) == 2 and label in labels else None


def _recalls(totals: NDArray[Any]) -> Shares:
    """Read recall and specificity from tp, fp, fn and tn."""
    tp, fp, fn, tn = totals.astype(np.float64)
    return Shares(np.array([tp, tn]), np.array([tp + fn, fp + tn]))


def averaged_measure(measure: Measure, average: str, title: str, unit: str) -> Measure:
    """Name a measure after its average."""
    return replace(
        measure,
        name=f"{measure.name}_{average}",
        title=f"{measure.title}, {title}",
        undefined=f"it is undefined in every {unit}",
    )


def finished(
    measure: Measure,
    value: float,
    interval: Interval,
    n: float,
    notes: tuple[str, ...] = (),
    *,
    zero_division: float = np.nan,
) -> Estimate:
    """Make the estimate; an undefined one has the whole range as its interval, and its reason."""
    if np.isnan(value):
        low, high = measure.measure_range
        interval = replace(interval, low=low, high=high, method="undefined")
        reason = f"undefined: {measure.undefined}"
        reason += "" if np.isnan(zero_division) else f"; set to {zero_division:g}"
        notes = (Finding(reason, code="undefined"), *notes)
        value = zero_division
    return Estimate(
        value=value, interval=interval, measure=measure.name, method="holdout", n=n, notes=notes
    )


def generator_for(name: str, request: Request) -> np.random.Generator:
    """Give each measure its own stream: leaving one out does not change another."""
    return np.random.default_rng([request.random_state or 0, zlib.crc32(name.encode())])
