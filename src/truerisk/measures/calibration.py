"""Whether scores can be taken at their word: the share of positives among examples scored alike."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array
from truerisk.checks import check_whole_number
from truerisk.errors import InputError
from truerisk.measures.curves import BLUE, GREY, plain_label
from truerisk.measures.positive_labels import rank_labels
from truerisk.measures.thresholds import Sweep, sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    r"""Observed share of positives against the mean score, in bins of about as many examples.

    Scores that mean what they say lie on the diagonal.  The expected calibration error is how far
    from it the bins lie, an example counting for one:

    .. math:: \sum_b \frac{n_b}{n}\,|\text{mean score}_b - \text{share}_b|

    It is never negative, and with few examples a bin it is above 0 for the best of scores: compare
    it only between equal numbers of examples and bins.  Bins ascend; scores that are equal share a
    bin.

    References
    ----------
    .. [1] M. P. Naeini, G. F. Cooper and M. Hauskrecht, "Obtaining well calibrated probabilities
       using Bayesian binning", AAAI 2015, 2901-2907.
    """

    mean_score: Array
    share: Array
    count: NDArray[Any]
    positives: NDArray[Any]
    expected_calibration_error: float
    label: str = ""

    def plot(self, ax: "Axes") -> "Axes":
        """Draw the bins, with the diagonal on which scores mean what they say."""
        ax.plot([0, 1], [0, 1], linestyle=":", color=GREY)
        ax.plot(self.mean_score, self.share, "o-", color=BLUE, label=plain_label(self.label))
        ax.set_xlabel("mean score")
        ax.set_ylabel("share of positives")
        return ax


def calibration(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,  # noqa: ANN401
    bins: int = 10,
    sample_weight: ArrayLike | None = None,
) -> CalibrationCurve:
    """Compare scores that are meant as probabilities with what came true.

    Parameters
    ----------
    y_true
        Labels.
    y_score
        Probabilities of the positive label.
    pos_label
        The label that counts as positive; may be left out for {0, 1}, {-1, 1} and booleans.
    bins
        At most so many bins, each of about as many examples.
    sample_weight
        Non-negative weights.

    Examples
    --------
    >>> curve = calibration([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> curve.mean_score.round(6).tolist(), curve.share.tolist(), curve.count.tolist()
    ([0.2, 0.7], [0.5, 0.5], [2, 2])
    >>> round(curve.expected_calibration_error, 6)
    0.25
    """
    ranking = rank_labels(y_true, y_score, pos_label, sample_weight)
    return calibration_curve(sweep(ranking), bins)


def calibration_curve(table: Sweep, bins: int = 10, label: str = "") -> CalibrationCurve:
    """Draw the calibration curve from the counts at each score; parameters as for `calibration`.

    Where the table is thinned, examples between two kept scores count as if they stood at the lower
    one: between two lie less than 1/8000 of the positives and of the negatives, ties apart.
    """
    check_whole_number(bins, "bins", low=1, high=1000)
    scores = table.threshold[:0:-1]
    if scores[0] < 0 or scores[-1] > 1:
        raise InputError(
            "`y_score` must be probabilities to be calibrated; they range over "
            f"[{scores[0]:g}, {scores[-1]:g}]."
        )
    positives, negatives = np.diff(table.tp)[::-1], np.diff(table.fp)[::-1]
    examples = positives + negatives
    # An example's rank decides its bin; equal scores go where the middle one of them belongs.
    middle = np.cumsum(examples) - examples / 2
    of_bin = np.minimum(middle * bins / examples.sum(), bins - 0.5).astype(np.intp)
    starts = np.flatnonzero(np.append(True, of_bin[1:] != of_bin[:-1]))
    count = np.add.reduceat(examples, starts)
    found = np.add.reduceat(positives, starts)
    mean_score = np.add.reduceat(scores * examples, starts) / count
    share = found / count
    error = float(count @ np.abs(mean_score - share) / count.sum())
    return CalibrationCurve(mean_score, share, count, found, error, label)
