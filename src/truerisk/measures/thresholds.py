"""Which threshold to use: all of them in a table, and the best by a criterion."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.checks import check_choice, check_number, shown
from truerisk.errors import InputError
from truerisk.measures.costs import OUTCOMES
from truerisk.results import Evaluation
from truerisk.tallies.cells import Cells
from truerisk.tallies.ranking import Ranking


@dataclass(frozen=True, eq=False)
class Sweep:
    """The four counts at each threshold, descending; the first finds nothing at all."""

    threshold: Array
    tp: NDArray[Any]
    fp: NDArray[Any]
    fn: NDArray[Any]
    tn: NDArray[Any]

    def __len__(self) -> int:
        return len(self.threshold)


@dataclass(frozen=True)
class Threshold:
    """A threshold, the criterion it was chosen by, what that comes to, and the counts there.

    An example is called positive when its score is at least `at`.
    """

    at: float
    criterion: str
    value: float
    tp: float
    fp: float
    fn: float
    tn: float


@dataclass(frozen=True)
class Guarantee:
    """A promise about a threshold that was chosen on the examples at hand.

    "At least `bound`" for recall, specificity, precision and negative predictive value, "at most"
    for the error rate; `level` is the confidence of this promise alone.  It holds at all thresholds
    that are kept: `lowest` and `highest` are the ends of these, NaN where there are none.  (Of a
    fixed sequence, not all between the ends need be among them.)  `reason` says why none is kept,
    and `needed` how many examples in all would about do: infinite where more of the kind would not
    help, None where nothing is missing.
    """

    measure: str
    bound: float
    level: float
    method: str
    lowest: float
    highest: float
    needed: float | None = None
    reason: str = ""

    @property
    def is_kept(self) -> bool:
        """Whether some threshold keeps the promise."""
        return not math.isnan(self.lowest)

    def __str__(self) -> str:
        side = "at most" if self.measure == "error" else "at least"
        promise = f"{self.measure} {side} {self.bound:g}"
        if not self.is_kept:
            return f"not guaranteed: {promise}. {self.reason}"
        ends = f"thresholds from {self.lowest:.10g} to {self.highest:.10g}"
        return f"guaranteed with {100 * self.level:.10g} % confidence: {promise} ({ends})"


def sweep(ranking: Ranking) -> Sweep:
    """Tabulate the four counts at every threshold that the ranking keeps.

    The first threshold is infinite: nothing is called positive.  (If a score is itself infinite,
    both rows stand at the same threshold, and the first cannot be reached.)
    """
    threshold = np.concatenate([[np.inf], ranking.thresholds])
    tp = np.concatenate([[0], ranking.tp]).astype(ranking.tp.dtype)
    fp = np.concatenate([[0], ranking.fp]).astype(ranking.fp.dtype)
    return Sweep(threshold, tp, fp, ranking.n_positive - tp, ranking.n_negative - fp)


def optimal_threshold(
    ranking: Ranking,
    *,
    by: str = "f_beta",
    beta: float = 1.0,
    costs: Mapping[str, float] | None = None,
    among: Flags | None = None,
) -> Threshold:
    """Find the threshold that does best by a criterion on these examples.

    The criteria are those of `best_threshold`; `among` says which rows of `sweep` may be chosen.
    """
    check_choice(by, CRITERIA, "by")
    check_number(beta, "beta", low=0)
    if (by == "cost") != (costs is not None):
        raise InputError('`costs` must be given with `by="cost"`, and only then.')
    table = sweep(ranking)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = CRITERIA[by](table, beta, outcome_costs(costs or {}))
    able = ~np.isnan(values) if among is None else ~np.isnan(values) & among
    if not able.any():
        return Threshold(np.nan, by, np.nan, *(np.nan,) * 4)
    sign = -1 if by == "cost" else 1
    at = int(np.argmax(np.where(able, sign * values, -np.inf)))
    counts = (getattr(table, name)[at].item() for name in OUTCOMES)
    return Threshold(float(table.threshold[at]), by, float(values[at]), *counts)


def outcome_costs(costs: Mapping[str, float]) -> dict[str, float]:
    """Return the cost of each of the four outcomes, 0 where none is given."""
    unknown = set(costs) - set(OUTCOMES)
    if unknown:
        raise InputError(
            f"`costs` must name outcomes ({', '.join(OUTCOMES)}); got {shown(min(unknown))}."
        )
    return {
        name: check_number(costs.get(name, 0.0), f"costs[{name!r}]", low=-1e300, high=1e300)
        for name in OUTCOMES
    }


def mean_cost(table: Sweep, costs: Mapping[str, float]) -> Array:
    """Mean cost of an example at each threshold."""
    total = sum(costs[name] * getattr(table, name).astype(np.float64) for name in OUTCOMES)
    n = float(table.tp[-1] + table.fp[-1])
    return np.asarray(total) / n


def working_threshold(evaluation: Evaluation) -> float | None:
    """Say from which score on an example was called positive, as far as the evaluation shows.

    The threshold that was given; else the one that makes the counts of the confusion matrix, 0.5
    and 0 preferred; else 0.5 for scores within [0, 1], 0 for scores of both signs, else that of the
    best F1. None without one column of scores, ∞ where nothing is called positive.  Scores of
    single precision are compared as such: 0.7 begins at 0.69999999.
    """
    table = evaluation.curves.get("thresholds")
    if not isinstance(table, Sweep):
        return None
    given = evaluation.settings.get("threshold")
    counts = counts_of_labels(evaluation)
    rows = np.flatnonzero(_has_counts(table, counts))
    if given is not None:
        at = max(int(np.count_nonzero(table.threshold >= given)) - 1, 0)
        return float(given) if not len(rows) or at in rows else float(table.threshold[rows[0]])
    usual = _usual_threshold(table)
    called = int(rows[0]) if len(rows) else _row_above(evaluation, table, counts)
    if called is not None:
        below = table.threshold[called + 1] if called + 1 < len(table) else -np.inf
        is_usual = usual is not None and below < usual <= table.threshold[called]
        return usual if is_usual else float(table.threshold[called])
    if usual is not None:
        return usual
    with np.errstate(divide="ignore", invalid="ignore"):
        values = _f_beta(table, 1.0, {})
    return None if np.isnan(values).all() else float(table.threshold[int(np.nanargmax(values))])


def _usual_threshold(table: Sweep) -> float | None:
    """Give the threshold that scores of this range are usually made for."""
    highest, lowest = table.threshold[min(1, len(table) - 1)], table.threshold[-1]
    if lowest >= 0 and highest <= 1:
        return 0.5
    return 0.0 if lowest < 0 < highest else None


def counts_of_labels(evaluation: Evaluation) -> dict[str, float] | None:
    """Give the four counts of the predicted labels; None where there are no such."""
    cells, pos_label = evaluation.tallies, evaluation.pos_label
    if not isinstance(cells, Cells) or pos_label not in cells.labels:
        return None
    counts, place = cells.class_counts().one_vs_rest, cells.labels.index(pos_label)
    return {name: float(getattr(counts, name)[place]) for name in OUTCOMES}


def with_given_threshold(evaluation: Evaluation, table: Sweep) -> Sweep:
    """Add the given threshold to a thinned table, with the counts of the labels it made."""
    given, counts = evaluation.settings.get("threshold"), counts_of_labels(evaluation)
    at = _row_above(evaluation, table, counts)
    if at is None or counts is None or given is None:
        return table
    if not table.threshold[at] > given > table.threshold[at + 1]:
        return table
    added = {"threshold": float(given), **counts}
    return Sweep(*(np.insert(getattr(table, name), at + 1, added[name]) for name in added))


def _has_counts(table: Sweep, counts: Mapping[str, float] | None) -> Flags:
    """Say which rows have these counts."""
    if counts is None:
        return np.zeros(len(table), dtype=np.bool_)
    # Sums of weights differ in their last digits with the order in which they are added.
    same = [
        np.isclose(getattr(table, name), value, rtol=1e-9, atol=0) for name, value in counts.items()
    ]
    return np.asarray(np.all(same, axis=0))


def _row_above(
    evaluation: Evaluation, table: Sweep, counts: Mapping[str, float] | None
) -> int | None:
    """Find the last row before these counts in a thinned table; None where they are not met."""
    if counts is None or getattr(evaluation.curves.get("roc"), "complete", True):
        return None
    total = math.fsum(counts.values())
    if not math.isclose(total, float(table.tp[-1] + table.fp[-1]), rel_tol=1e-9):
        return None  # some are rejected
    before = (table.tp <= counts["tp"]) & (table.fp <= counts["fp"])
    at = int(np.count_nonzero(before)) - 1
    after = slice(at + 1, at + 2)
    met = np.all((table.tp[after] >= counts["tp"]) & (table.fp[after] >= counts["fp"]))
    return at if at + 1 < len(table) and met else None


def _f_beta(table: Sweep, beta: float, _: Mapping[str, float]) -> Array:
    square = beta**2
    top = (1 + square) * table.tp
    return np.asarray(top / (top + square * table.fn + table.fp))


def _gmean(table: Sweep, _: float, __: Mapping[str, float]) -> Array:
    of_classes = table.tp[-1].astype(np.float64) * table.fp[-1]
    return np.asarray(np.sqrt(table.tp.astype(np.float64) * table.tn / of_classes))


def _youden(table: Sweep, _: float, __: Mapping[str, float]) -> Array:
    # One division at the end: equal values come out equal, and the higher threshold is taken.
    n_positive, n_negative = table.tp[-1].astype(np.float64), table.fp[-1].astype(np.float64)
    gain = table.tp * n_negative - table.fp * n_positive
    return np.asarray(gain / (n_positive * n_negative))


CRITERIA: dict[str, Callable[[Sweep, float, Mapping[str, float]], Array]] = {
    "f_beta": _f_beta,
    "gmean": _gmean,
    "youden": _youden,
    "balanced_accuracy": lambda table, beta, costs: (1 + _youden(table, beta, costs)) / 2,
    "accuracy": lambda table, *_: (table.tp + table.tn) / (table.tp[-1] + table.fp[-1]),
    "cost": lambda table, _, costs: mean_cost(table, costs),
}
