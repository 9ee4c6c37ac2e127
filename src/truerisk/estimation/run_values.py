"""What every single refit says: the value of each measure on the examples that it judged."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.estimation.judging import Judging
from truerisk.measures.averages import AVERAGES
from truerisk.measures.registry import Measure, find_measure
from truerisk.tallies.cells import BinaryCounts, ClassCounts
from truerisk.tallies.ranking import rank

Array = NDArray[np.float64]


class RunValues:
    """The values of the refits of one judging, measure by measure.

    A refit on whose examples a measure is undefined has NaN there.
    """

    def __init__(self, judging: Judging) -> None:
        self._judging = judging
        done = [at for at in range(len(judging.plan)) if at not in judging.failures]
        self._tables = judging.tables[done].astype(np.float64)

    def of(self, name: str) -> tuple[float, ...]:
        """Give the values of one measure; none for a measure that only whole sheets have.

        Examples
        --------
        >>> from truerisk.estimation.examples import Examples
        >>> from truerisk.estimation.plans import Folds
        >>> judging = Judging(Examples.of([[0]] * 4, [0, 0, 1, 1]), Folds(np.array([[0, 1, 0, 1]])))
        >>> answer = {"predicted": np.array([0, 1]), "seconds": np.zeros(2)}
        >>> RunValues(judging.gather([answer, answer])).of("accuracy")
        (1.0, 1.0)
        """
        base, _, average = name.rpartition("_")
        if average in AVERAGES:
            measure = find_measure(base)
            if measure.needs != "binary counts":
                return ()
            found = AVERAGES[average].function(measure, self._class_counts, None, np.nan)
            return tuple(np.asarray(found, dtype=np.float64).tolist())
        measure = find_measure(name)
        if measure.needs == "binary counts":
            return self._of_counts(measure, self._binary_counts)
        if measure.needs == "class counts":
            return self._of_counts(measure, self._class_counts)
        if measure.needs == "ranking":
            return self._of_rankings(measure)
        return ()

    def _of_counts(self, measure: Measure, counts: Any) -> tuple[float, ...]:  # noqa: ANN401
        with np.errstate(divide="ignore", invalid="ignore"):  # undefined comes out as NaN
            found = np.asarray(measure.value(counts), dtype=np.float64)
        return tuple(np.broadcast_to(found, len(self._tables)).tolist())

    @property
    def _class_counts(self) -> ClassCounts:
        tables = self._tables
        right = np.einsum("rkk->rk", tables)
        n = tables.sum(axis=(1, 2))
        truth, predicted = tables.sum(axis=2), tables.sum(axis=1)
        return ClassCounts(right, truth, predicted, right.sum(axis=1), n, np.zeros(len(n)))

    @property
    def _binary_counts(self) -> BinaryCounts:
        at = self._positive
        each = self._class_counts.one_vs_rest
        return BinaryCounts(*(part[:, at] for part in (each.tp, each.fp, each.fn, each.tn)))

    @property
    def _positive(self) -> int:
        examples = self._judging.examples
        return examples.labels.index(examples.positive) if examples.positive is not None else 1

    def _of_rankings(self, measure: Measure) -> tuple[float, ...]:
        judging = self._judging
        if judging.examples.positive is None or not judging.scored:
            return ()
        is_positive = judging.examples.codes == self._positive
        values = []
        for parts in judging.scores.values():
            for test, score in parts:
                try:
                    ranking = rank(score, is_positive[test])
                except InputError:
                    return ()
                values.append(float(measure.value(ranking)))
        return tuple(values)
