"""Curves over all thresholds: arrays to compute with."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from truerisk.aliases import Array, ArrayLike, Indices
from truerisk.checks import check_number, check_whole_number
from truerisk.inputs.predictions import Predictions
from truerisk.measures.thresholds import (
    Threshold,
    mean_cost,
    optimal_threshold,
    outcome_costs,
    sweep,
)
from truerisk.results import Row, Tabular, number
from truerisk.tallies.cells import ratio
from truerisk.tallies.ranking import Ranking, rank


class Curve(Tabular):
    """Arrays to compute with; `truerisk.reporting`, imported on first use, draws each kind."""

    label: str

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve into axes of matplotlib, or into a new figure, and return the axes."""
        return import_module("truerisk.reporting.render.figures").draw_curve(self, ax)

    def _rows(self) -> Iterator[Row]:
        """Give one row per point, with the arrays as its columns."""
        columns = {name: one for name, one in vars(self).items() if isinstance(one, np.ndarray)}
        for values in zip(*(column.tolist() for column in columns.values()), strict=True):
            yield dict(zip(columns, values, strict=True))

    def _words(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return f"{self.label}: {self._words()}" if self.label else self._words()


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Curve):
    """Recall against false positive rate, from nothing found to everything found.

    `n_positive` and `n_negative` are None where weights or groups leave no independent examples: no
    band then.  `complete` says whether every distinct score has its point.
    """

    kind: ClassVar[str] = "roc_curve"

    fpr: Array
    tpr: Array
    thresholds: Array
    auc: float
    label: str = ""
    n_positive: int | None = None
    n_negative: int | None = None
    complete: bool = True

    def _words(self) -> str:
        return f"ROC curve, {len(self.thresholds):,} points, area {number(self.auc)}"

    def hull(self) -> "RocCurve":
        """Keep the points that some mixture of costs makes the best (the upper convex hull).

        Every point of the hull can be had, by deciding at random between two thresholds; the area
        under it is at least that under the curve.
        """
        # Only a corner that is reached upwards and left to the right can be one of the hull.
        rises, runs = np.diff(self.tpr) > 0, np.diff(self.fpr) > 0
        corners = np.flatnonzero(np.append(True, rises) & np.append(runs, True))
        corners = np.unique([0, *corners, len(self.fpr) - 1])
        corners = corners[upper_hull(self.fpr[corners], self.tpr[corners])]
        fpr, tpr = self.fpr[corners], self.tpr[corners]
        area = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2)
        return RocCurve(fpr, tpr, self.thresholds[corners], area, self.label)

    def normalised_cost(self, points: int = 101) -> "NormalisedCostCurve":
        """Cost of the best threshold, min over τ of (1 − TPR)q + FPR(1 − q), against q.

        q is the share of the positives in the expected cost, had everything been got wrong.
        Source: C. Drummond and R. C. Holte, "Cost curves", Machine Learning 65, 95-130, 2006.
        """
        check_whole_number(points, "points", low=2)
        share = np.linspace(0, 1, points)
        hull = self.hull()
        costs = np.outer(share, 1 - hull.tpr) + np.outer(1 - share, hull.fpr)
        return NormalisedCostCurve(share, costs.min(axis=1), self.label)


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(Curve):
    """Precision against recall, at each threshold; descending thresholds, ascending recall.

    `n_positive`, `n_negative` and `complete` as for `RocCurve`.
    """

    kind: ClassVar[str] = "precision_recall_curve"

    recall: Array
    precision: Array
    thresholds: Array
    average_precision: float
    prevalence: float
    label: str = ""
    n_positive: int | None = None
    n_negative: int | None = None
    complete: bool = True
    fpr: Array | None = None  # not known from precision where nothing is retrieved

    def _words(self) -> str:
        return (
            f"precision-recall curve, {len(self.thresholds):,} points, "
            f"average precision {number(self.average_precision)}"
        )

    def breakeven(self, beta: float = 1.0) -> "BreakevenCurve":
        """Set F_β = (1 + β²)PR/(β²P + R) against the mean of precision and recall.

        (P + R)/2 is the interpolated breakeven point of a system with this precision and recall.
        F₁, the harmonic mean, never exceeds it; both are equal where P = R.
        """
        square = check_number(beta, "beta", low=0.0) ** 2
        below = np.asarray(square * self.precision + self.recall)
        above = (1 + square) * self.precision * self.recall
        f = np.divide(above, below, out=np.zeros_like(below), where=below != 0)
        means = (self.precision + self.recall) / 2
        return BreakevenCurve(means, f, self.thresholds, float(beta), self.label)


@dataclass(frozen=True, eq=False, repr=False)
class BreakevenCurve(Curve):
    """F_β against the interpolated breakeven point (P + R)/2, at each threshold."""

    kind: ClassVar[str] = "breakeven_curve"

    breakeven: Array
    f: Array
    thresholds: Array
    beta: float = 1.0
    label: str = ""

    def _words(self) -> str:
        return f"F{self.beta:g} against the breakeven point, {len(self.thresholds):,} points"


@dataclass(frozen=True, eq=False, repr=False)
class DetCurve(Curve):
    """False negative rate against false positive rate: the ROC curve's 1 − TPR against FPR.

    It is drawn on axes of normal deviates, Φ⁻¹ of both rates, where rates of 0 and 1 have no place.
    """

    kind: ClassVar[str] = "det_curve"

    fpr: Array
    fnr: Array
    thresholds: Array
    label: str = ""

    def _words(self) -> str:
        return f"detection error trade-off, {len(self.thresholds):,} points"


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Curve):
    """Mean cost of an example against the threshold, and the threshold that costs least.

    The least cost is measured on the examples the threshold was chosen on: it is optimistic.
    """

    kind: ClassVar[str] = "cost_curve"

    thresholds: Array
    cost: Array
    best: Threshold
    costs: Mapping[str, float]
    label: str = ""

    def _words(self) -> str:
        return (
            f"mean cost, {len(self.thresholds):,} thresholds, "
            f"least {number(self.best.value)} at {number(self.best.at)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class NormalisedCostCurve(Curve):
    """Cost of the best threshold, as a share of the greatest possible, by mixture of costs."""

    kind: ClassVar[str] = "normalised_cost_curve"

    probability_cost: Array
    cost: Array
    label: str = ""

    def _words(self) -> str:
        return f"normalised cost, {len(self.cost):,} mixtures of costs"


def upper_hull(x: Array, y: Array) -> Indices:
    """Give the corners of the upper hull of points with ascending x (Andrew's monotone chain)."""
    corners: list[int] = []
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    for at, (px, py) in enumerate(points):
        while len(corners) >= 2:
            (ax, ay), (bx, by) = points[corners[-2]], points[corners[-1]]
            turns_left = (bx - ax) * (py - ay) >= (by - ay) * (px - ax)
            if not turns_left:  # nor is there a turn where a class is missing
                break
            corners.pop()
        corners.append(at)
    return np.array(corners, dtype=np.intp)


def roc_curve(ranking: Ranking, label: str = "") -> RocCurve:
    """Draw the ROC curve of a ranking; NaN along an axis whose class is missing."""
    table = sweep(ranking)
    fpr, tpr = ratio(table.fp, ranking.n_negative), ratio(table.tp, ranking.n_positive)
    return RocCurve(fpr, tpr, table.threshold, ranking.auc, label, **_sizes(ranking))


def precision_recall_curve(ranking: Ranking, label: str = "") -> PrecisionRecallCurve:
    """Draw the precision-recall curve of a ranking; recall is NaN when no example is positive."""
    return PrecisionRecallCurve(
        recall=ratio(ranking.tp, ranking.n_positive),
        precision=ratio(ranking.tp, ranking.tp + ranking.fp),
        thresholds=ranking.thresholds,
        average_precision=ranking.summary.average_precision,
        prevalence=ranking.n_positive / (ranking.n_positive + ranking.n_negative),
        label=label,
        fpr=ratio(ranking.fp, ranking.n_negative),
        **_sizes(ranking),
    )


def _sizes(ranking: Ranking) -> dict[str, Any]:
    n_positive, n_negative = (None, None) if ranking.weighted else ranking.rows
    return {"n_positive": n_positive, "n_negative": n_negative, "complete": ranking.complete}


def cost_curve(ranking: Ranking, costs: Mapping[str, float], label: str = "") -> CostCurve:
    """Draw the cost curve of a ranking, given what each outcome costs."""
    table, named = sweep(ranking), outcome_costs(costs)
    best = optimal_threshold(ranking, by="cost", costs=named)
    return CostCurve(table.threshold, mean_cost(table, named), best, named, label)


def roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> RocCurve:
    """Draw the ROC curve of scores.

    Parameters
    ----------
    y_true
        Labels.
    y_score
        One number per example; larger means more positive.  Or one column per class, as
        `predict_proba` gives them: the column of the positive label is taken.
    pos_label
        The label that counts as positive; may be left out for {0, 1}, {-1, 1} and booleans.  Of
        several classes it is drawn against the rest.
    sample_weight
        Non-negative weights.

    Examples
    --------
    >>> curve = roc([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.fpr.tolist(), curve.tpr.tolist(), curve.auc
    ([0.0, 0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0, 1.0], 1.0)
    """
    return roc_curve(rank_labels(y_true, y_score, pos_label, sample_weight))


def precision_recall(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> PrecisionRecallCurve:
    """Draw the precision-recall curve of scores.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc`.

    Examples
    --------
    >>> curve = precision_recall([0, 1, 0, 1], [0.1, 0.3, 0.35, 0.8])
    >>> curve.recall.tolist(), curve.precision.round(2).tolist()
    ([0.5, 0.5, 1.0, 1.0], [1.0, 0.5, 0.67, 0.5])
    """
    return precision_recall_curve(rank_labels(y_true, y_score, pos_label, sample_weight))


def det(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> DetCurve:
    """Draw the detection error trade-off of scores.

    One point per threshold, FPR = FP/N against FNR = FN/P.  Where the scores of both classes are
    normal it is a straight line on its axes.  `tr.confidence_band(tr.roc(…))` is its band, upside
    down.
    Source: A. Martin et al., "The DET curve in assessment of detection task performance",
    Eurospeech 1997, 1895-1898.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc`.

    Examples
    --------
    >>> curve = det([0, 1, 0, 1], [0.1, 0.3, 0.35, 0.8])
    >>> curve.fpr.tolist(), curve.fnr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0])
    """
    ranking = rank_labels(y_true, y_score, pos_label, sample_weight)
    table = sweep(ranking)
    fpr, fnr = ratio(table.fp, ranking.n_negative), ratio(table.fn, ranking.n_positive)
    return DetCurve(fpr, fnr, table.threshold)


def cost(
    y_true: ArrayLike,
    y_score: ArrayLike,
    costs: Mapping[str, float],
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
) -> CostCurve:
    """Draw the cost of scores over the thresholds.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc`.
    costs
        Of one example by outcome: ``{"fp": 1, "fn": 5}``; `tp` and `tn` cost 0 unless given.

    Examples
    --------
    >>> curve = cost([0, 1, 0, 1], [0.1, 0.3, 0.35, 0.8], {"fp": 1, "fn": 5})
    >>> curve.best.at, curve.best.value
    (0.3, 0.25)
    """
    return cost_curve(rank_labels(y_true, y_score, pos_label, sample_weight), costs)


def rank_labels(
    y_true: ArrayLike, y_score: ArrayLike, pos_label: Any, weight: ArrayLike | None
) -> Ranking:
    """Rank scores by the labels of their examples, given as for `evaluate`."""
    coded = Predictions.from_arrays(y_true, y_score=y_score, sample_weight=weight, allow_inf=True)
    score, is_positive, _ = coded.against_the_rest(pos_label)
    return rank(score, is_positive, coded.weight)
