"""Scores → the error-reject curve, and the rejection that guarantees an error rate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Array, Flags
from truerisk.checks import check_level, check_number
from truerisk.errors import InputError
from truerisk.evaluation.best_threshold import (
    SEQUENCE,
    check_guarantee,
    explained_sequence,
    guaranteed_ends,
)
from truerisk.inputs.predictions import Predictions, made_predictions
from truerisk.intervals.chosen_thresholds import kept_in_sequence
from truerisk.measures.rejection import (
    ErrorRejectCurve,
    GuaranteedRejection,
    RejectionPoint,
    error_reject,
)

ENTRIES_AT_ONCE = 2**22  # of the score matrix: memory stays bounded


def rejection(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    threshold: float | None = None,
    labels: Sequence[Any] | None = None,
    guarantee: Mapping[str, float] | None = None,
    level: float = 0.95,
) -> ErrorRejectCurve:
    r"""Draw the error-reject curve of scores, and guarantee the error rate of what is accepted.

    The evidence for the answer to an example is the score of the best class minus that of the
    second.  For two classes and probabilities that is :math:`|2p - 1|`; for decision values about a
    threshold, :math:`|s - t|`.  Votes, posteriors and outputs of a network are all scores.

    A threshold of evidence chosen on some examples looks better on them than it will on others.
    With ``guarantee={"error": 0.02}`` the curve's `guaranteed` is the least rejection at which at
    most 2 % of the answers are wrong, with probability at least `level` over samples, although the
    threshold was chosen on these examples.  **Proven** for independent examples whose evidence has
    no ties; with ties, if answers with less evidence are not less often wrong
    (`intervals.chosen_thresholds.kept_in_sequence`).

    Parameters
    ----------
    y_true
        Labels.
    y_score
        (n,): probabilities of the positive class, or decision values if `threshold` is given;
        (n, K): a score for each class.
    pos_label
        For two classes, the positive label; may be left out for {0, 1}, {-1, 1} and booleans.
    threshold
        Scores from here on mean positive.
    labels
        For K classes, the label of each column.
    guarantee
        The error rate that is promised of the answers: ``{"error": 0.02}``.
    level
        Confidence of the guarantee.

    References
    ----------
    .. [1] C. K. Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on
       Information Theory 16(1), 41-46, 1970. https://doi.org/10.1109/TIT.1970.1054406

    Examples
    --------
    >>> curve = rejection([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.1])
    >>> curve.rejection_rate.tolist(), curve.error_rate.round(2).tolist()
    ([0.0, 0.25, 0.5], [0.25, 0.0, 0.0])
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.2, 0.2, size=1000)
    >>> safe = rejection(rng.random(1000) < p, p, guarantee={"error": 0.05}).guaranteed
    >>> safe.point.accepted, safe.point.errors, safe.naive.accepted
    (833, 30, 882)
    """
    coded = Predictions.from_arrays(y_true, y_score=y_score, labels=labels, allow_inf=True)
    return rejection_of(coded, pos_label, threshold, guarantee=guarantee, level=level)


def rejection_of(
    coded: Predictions,
    pos_label: Any,
    threshold: float | None,
    *,
    guarantee: Mapping[str, float] | None,
    level: float,
) -> ErrorRejectCurve:
    """Draw the curve of scores that are coded already; parameters as for `rejection`."""
    if coded.classes is None:
        curve = error_reject(*_of_one_score(coded, pos_label, threshold))
    elif threshold is None and pos_label is None:
        curve = error_reject(*_of_classes(coded, coded.classes))
    else:
        raise InputError("`pos_label` and `threshold` must be left out when there are K scores.")
    return curve if not guarantee else _with_guarantee(curve, guarantee, level)


def _of_one_score(
    coded: Predictions, pos_label: Any, threshold: float | None
) -> tuple[Array, Flags]:
    """Give the evidence for the answer to each example, and whether that is wrong."""
    scores, truly, _ = coded.against_the_rest(pos_label)
    if threshold is not None:
        check_number(threshold, "threshold")
        return np.abs(scores - threshold), (scores >= threshold) != truly
    if not np.all((scores >= 0) & (scores <= 1)):
        raise InputError(
            "`y_score` must be probabilities when no threshold is given; they range over "
            f"[{np.min(scores):g}, {np.max(scores):g}]. "
            "Give `threshold=`: 0 for decision values of an SVM."
        )
    return np.abs(2 * scores.astype(np.float64) - 1), (scores >= 0.5) != truly


def _of_classes(coded: Predictions, classes: tuple[str, ...]) -> tuple[Array, Flags]:
    """Give the best score less the second, and whether the class that scores best is wrong."""
    coded.refuse_unscored(classes)
    scores: NDArray[Any] = coded.score  # type: ignore[assignment]
    if len(classes) < 2:
        raise InputError(f"`y_score` must have a column for each class; got {len(classes)}.")
    evidence, wrong = np.empty(len(scores)), np.empty(len(scores), dtype=bool)
    step = max(1, ENTRIES_AT_ONCE // len(classes))
    for begin in range(0, len(scores), step):
        part = slice(begin, begin + step)
        top_two = np.partition(scores[part].astype(np.float64), len(classes) - 2, axis=1)[:, -2:]
        second, top = top_two.T
        tied = top == second  # two infinities are tied; their difference would be no number
        evidence[part] = np.where(tied, 0.0, top - np.where(tied, 0.0, second))
        wrong[part] = (
            made_predictions(scores[part], classes, coded.members.index) != coded.truth[part]
        )
    return evidence, wrong


def _with_guarantee(
    curve: ErrorRejectCurve, guarantee: Mapping[str, float], level: float
) -> ErrorRejectCurve:
    """Find the least rejection that keeps a promise."""
    check_guarantee(guarantee, ("error",))
    check_level(level)
    bound = guarantee["error"]
    accepted, errors = curve.accepted[::-1], curve.errors[::-1]
    kept = kept_in_sequence(accepted, errors, bound, 1 - level)
    one = guaranteed_ends("error", bound, level, SEQUENCE, curve.thresholds[::-1][kept])
    point = RejectionPoint(np.nan, 1.0, np.nan, 0, 0)
    if one.is_kept:
        point = curve.at(one.lowest)
    else:
        one = explained_sequence(one, errors, accepted, int(accepted[-1]))
    naive = curve.threshold_for_error(bound)
    return replace(curve, guaranteed=GuaranteedRejection(one, point, naive))
