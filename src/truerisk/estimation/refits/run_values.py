"""What every single refit says: the value of each measure on the examples that it judged."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.estimation.refits.judging import Judging
from truerisk.evaluation.request import Request
from truerisk.measures.averages import value_of_tables
from truerisk.measures.costs import CostMatrix
from truerisk.measures.registry import base_and_average, find_measure, measures_that_need
from truerisk.tallies.ranking import rank


class RunValues:
    """The values of the refits of one judging, measure by measure.

    A refit on whose examples a measure is undefined has NaN there.
    """

    def __init__(self, judging: Judging, request: Request | None = None) -> None:
        self._judging = judging
        self._request = Request() if request is None else request
        done = [at for at in range(len(judging.plan)) if at not in judging.failures]
        self._counted = [not judging.plan.auxiliary(at) for at in done]
        self._tables = judging.tables[[] if judging.single else done].astype(np.float64)

    def counted(self, name: str) -> tuple[float, ...]:
        """Give the values of the refits whose judgements count."""
        values = self.of(name)
        if len(values) != len(self._counted):
            return values
        return tuple(value for value, counts in zip(values, self._counted, strict=True) if counts)

    def of(self, name: str) -> tuple[float, ...]:
        """Give the values of one measure; none for a measure that only whole sheets have.

        Examples
        --------
        >>> from truerisk.estimation.refits.examples import Examples
        >>> from truerisk.estimation.refits.plans import Folds
        >>> judging = Judging(Examples.of([[0]] * 4, [0, 0, 1, 1]), Folds(np.array([[0, 1, 0, 1]])))
        >>> answer = {"predicted": np.array([0, 1]), "seconds": np.zeros(2)}
        >>> RunValues(judging.gather([answer, answer])).of("accuracy")
        (1.0, 1.0)
        """
        if name == "cost":
            return self._of_costs()
        found = value_of_tables(name, self._tables, self._positive, self._over)
        if found is not None:
            return tuple(np.broadcast_to(found, len(self._tables)).tolist())
        base, average = base_and_average(name)
        measure = find_measure(base)
        return self._of_rankings.get(base, ()) if measure.needs == "ranking" and not average else ()

    @property
    def _positive(self) -> int | None:
        examples = self._judging.examples
        return None if examples.pos_label is None else examples.labels.index(examples.pos_label)

    @property
    def _over(self) -> NDArray[np.bool_] | None:
        """The classes to average over, where they were asked for."""
        asked = self._request.average_over
        return None if asked is None else np.isin(self._judging.examples.labels, asked)

    def _of_costs(self) -> tuple[float, ...]:
        examples = self._judging.examples
        if self._request.costs is None:
            return ()
        costs = CostMatrix.of(self._request.costs, examples.labels, examples.pos_label)
        spent = (self._tables * costs.values).sum(axis=(1, 2))
        return tuple((spent / self._tables.sum(axis=(1, 2))).tolist())

    @cached_property
    def _of_rankings(self) -> dict[str, tuple[float, ...]]:
        """Rank the examples of each refit once, and keep what every measure says, no ranking."""
        judging = self._judging
        if judging.examples.pos_label is None or not judging.scored:
            return {}
        measures = list(measures_that_need("ranking"))
        is_positive = judging.examples.codes == 1  # scores are those of the second label
        turned = -1.0 if self._positive == 0 else 1.0
        if turned < 0:
            is_positive = ~is_positive
        values: list[list[float]] = []
        for parts in judging.scores.values():
            for test, score in parts:
                try:
                    ranking = rank(turned * score, is_positive[test])
                except InputError:
                    return {}
                values.append([float(measure.value(ranking)) for measure in measures])
        return {
            measure.name: tuple(one[at] for one in values) for at, measure in enumerate(measures)
        }
