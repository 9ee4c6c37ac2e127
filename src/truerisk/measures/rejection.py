"""What is gained by refusing to answer: error on the accepted against the share rejected."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_number
from truerisk.errors import InputError
from truerisk.measures.curves import Curve
from truerisk.measures.thresholds import Guarantee, Sweep
from truerisk.results import number
from truerisk.tallies.ranking import Ranking, rank


@dataclass(frozen=True)
class RejectionPoint:
    """One threshold of evidence: what is rejected, and how wrong the rest is."""

    threshold: float
    rejection_rate: float
    error_rate: float
    accepted: int
    errors: int


@dataclass(frozen=True)
class GuaranteedRejection:
    """The least rejection that keeps a promised error rate, beside the naive choice.

    `point` is at the lowest threshold that is guaranteed: everything is rejected where none is.
    `naive` is at the lowest threshold whose error rate on these examples is at most the promised
    one; on others it will often be larger.
    """

    guarantee: Guarantee
    point: RejectionPoint
    naive: RejectionPoint


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRejectCurve(Curve):
    """Error rate of the accepted examples against the share of examples rejected.

    Thresholds ascend; the first rejects nothing.  Erratum: a caption says that rejecting can
    *increase* the error rate; it *falls*.  `area` is the mean over the examples of the error rate
    among those with at least as much evidence.
    """

    kind: ClassVar[str] = "error_reject_curve"

    thresholds: Array
    rejection_rate: Array
    error_rate: Array
    accepted: NDArray[Any]
    errors: NDArray[Any]
    area: float
    label: str = ""
    guaranteed: GuaranteedRejection | None = None

    def _words(self) -> str:
        return f"error-reject curve, {len(self.thresholds):,} points, area {number(self.area)}"

    def at(self, threshold: float) -> RejectionPoint:
        """Say what a threshold of evidence does; its error rate is NaN when it rejects all."""
        return self._point(int(np.searchsorted(self.thresholds, threshold, side="left")), threshold)

    def threshold_for_error(self, rate: float) -> RejectionPoint:
        """Find the threshold that rejects least among those with at most this error rate.

        When no threshold reaches it, all is rejected: the threshold is infinite.
        """
        check_number(rate, "wanted", low=0, high=1)
        able = np.flatnonzero(self.error_rate <= rate)
        return self._point(int(able[0]) if len(able) else len(self.thresholds))

    def threshold_for_rejection(self, rate: float) -> RejectionPoint:
        """Find the threshold that rejects most among those with at most this rejection rate."""
        check_number(rate, "wanted", low=0, high=1)
        if rate == 1:
            return self._point(len(self.thresholds))
        return self._point(int(np.searchsorted(self.rejection_rate, rate, side="right")) - 1)

    def _point(self, at: int, threshold: float | None = None) -> RejectionPoint:
        if at == len(self.thresholds):
            return RejectionPoint(np.inf if threshold is None else threshold, 1.0, np.nan, 0, 0)
        return RejectionPoint(
            float(self.thresholds[at] if threshold is None else threshold),
            float(self.rejection_rate[at]),
            float(self.error_rate[at]),
            int(self.accepted[at]),
            int(self.errors[at]),
        )


def error_reject(evidence: ArrayLike, is_error: ArrayLike) -> ErrorRejectCurve:
    """Draw the curve from the evidence of each example, and whether its answer is wrong.

    Of more than 2¹⁶ distinct values of evidence, the curve keeps about 2¹⁴, with exact counts.
    """
    # The errors among the accepted are the "true positives" of ranking examples by evidence.
    ranking = rank(evidence, is_error)
    accepted = ranking.tp + ranking.fp
    return _from_most_evidence(ranking.thresholds, accepted, ranking.tp, _area(ranking))


def _from_most_evidence(
    evidence: Array, accepted: NDArray[Any], errors: NDArray[Any], area: float, label: str = ""
) -> ErrorRejectCurve:
    """Turn counts of the accepted, most evidence first, into a curve that rejects ever more."""
    return ErrorRejectCurve(
        thresholds=evidence[::-1],
        rejection_rate=(1 - accepted / accepted[-1])[::-1],
        error_rate=(errors / accepted)[::-1],
        accepted=accepted[::-1],
        errors=errors[::-1],
        area=area,
        label=label,
    )


def rejection_curve(table: Sweep, threshold: float, label: str = "") -> ErrorRejectCurve:
    """Draw the error-reject curve about a threshold from the counts at each score alone.

    The evidence is :math:`|s - t|`, as for `rejection` with a threshold.  Where the table is
    thinned, examples between two kept scores count as if they stood at the lower one.
    """
    if not np.isfinite(check_number(threshold, "threshold")):
        raise InputError(f"`threshold` must be finite; got {threshold!r}.")
    scores = table.threshold[1:]
    called_positive = scores >= threshold
    positives, negatives = np.diff(table.tp), np.diff(table.fp)
    with np.errstate(over="ignore"):  # an overflow is as far away as can be
        evidence = np.abs(scores - threshold)
    order = np.argsort(-evidence, kind="stable")
    evidence = evidence[order]
    accepted = np.cumsum((positives + negatives)[order])
    errors = np.cumsum(np.where(called_positive, negatives, positives)[order])
    last = np.append(evidence[1:] != evidence[:-1], True)
    evidence, accepted, errors = evidence[last], accepted[last], errors[last]
    area = float(np.diff(accepted, prepend=0) @ (errors / accepted) / accepted[-1])
    return _from_most_evidence(evidence, accepted, errors, area, label)


def _area(ranking: Ranking) -> float:
    """Sum of steps; where the curve is thinned, errors are taken to lie evenly in between."""
    accepted = (ranking.tp + ranking.fp).astype(np.float64)
    step = np.diff(accepted, prepend=0.0)
    mean = ranking.tp / accepted
    if not ranking.complete:
        before, errors = accepted - step, np.diff(ranking.tp, prepend=0)
        inner = slice(1, None)
        share = errors[inner] / step[inner]
        start = (ranking.tp - errors)[inner] - share * before[inner]
        mean[inner] = share + start / step[inner] * np.log1p(step[inner] / before[inner])
    return float(step @ mean) / ranking.n
