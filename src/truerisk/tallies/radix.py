"""The two sweeps over a ranking that has been brought into order, bucket by bucket.

Problem   the measures of a ranking of n scores, exactly, in time linear in n
Given     the distinct values of one bucket in descending order, packed counts of positives (upper
          32 bits) and negatives (lower 32 bits) at each, and the counts above the bucket
Link      a bucket holds all scores whose keys share their upper 16 bits; the key of a score is an
          unsigned integer that grows with it, so buckets are ranked among themselves
Returns   sums that add up over the buckets (`accumulate`), and best points (`find_peaks`)
Source    average precision, AUC and DeLong's variance are one pass over the distinct scores; a
          maximum need only be looked for in buckets whose counts at both ends allow it
Cache     compiled callers in `radix_narrow` and `radix_wide` hold copies of these functions, which
          are not renewed when this file changes: empty the folder's __pycache__ after an edit
"""

from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

ONE_POSITIVE = 1 << 32
NEGATIVES = ONE_POSITIVE - 1

# Places in the arrays that carry a sweep from one bucket to the next.
TP, FP, AUC, DISTINCT, FULL_USED, THIN_USED, STATE_SIZE = range(7)
PRECISION, PLACED_POSITIVE, PLACED_NEGATIVE, SUMS_SIZE = range(4)
F1_POINT, KS_POINT, BREAKEVEN_POINT = range(3)
F1, DISTANCE, MEAN, VALUES_SIZE = range(4)


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def accumulate(  # noqa: PLR0917  (compiled code has no keywords)
    values: NDArray[Any],
    counts: NDArray[np.int64],
    prefix: int,
    totals: tuple[int, int, int, float],
    state: NDArray[np.int64],
    sums: NDArray[np.float64],
    full: NDArray[np.uint64],
    thin: NDArray[np.uint64],
) -> None:
    """Add one run of distinct values to the sums; keep the points of the curve.

    `totals` holds P, N, the number of steps of the thinned curve, and a value near the AUC, about
    which the placements are squared, so that nothing cancels.  `full` takes every point until it
    overflows; `thin` takes those at which the true or the false positives reach a further step.
    """
    n_positive, n_negative, steps, centre = totals
    a_positive, a_negative = 1.0 / n_positive, 1.0 / n_negative
    tp, fp, auc = state[TP], state[FP], state[AUC]
    precision = placed_positive = placed_negative = 0.0
    next_tp = ((tp * steps // n_positive + 1) * n_positive + steps - 1) // steps
    next_fp = ((fp * steps // n_negative + 1) * n_negative + steps - 1) // steps
    full_used, thin_used = state[FULL_USED], state[THIN_USED]
    waiting = 0  # negatives since the last positive: they are all placed alike
    for i in range(uint64(len(values))):
        packed = counts[i]
        negative = packed & NEGATIVES
        fp += negative
        if packed < ONE_POSITIVE:
            waiting += negative
        else:
            positive = packed >> 32
            auc += 2 * waiting * tp + negative * (2 * tp + positive)
            place = tp * a_positive - centre
            placed_negative += waiting * place * place
            place = (tp + 0.5 * positive) * a_positive - centre
            placed_negative += negative * place * place
            waiting = 0
            tp += positive
            place = (n_negative - fp + 0.5 * negative) * a_negative - centre
            placed_positive += positive * place * place
            precision += positive * (tp / (tp + fp))
        if full_used < len(full):
            full[full_used, 0], full[full_used, 1], full[full_used, 2] = prefix | values[i], tp, fp
            full_used += 1
        if tp >= next_tp or fp >= next_fp:
            thin[thin_used, 0], thin[thin_used, 1], thin[thin_used, 2] = prefix | values[i], tp, fp
            thin_used += 1
            next_tp = ((tp * steps // n_positive + 1) * n_positive + steps - 1) // steps
            next_fp = ((fp * steps // n_negative + 1) * n_negative + steps - 1) // steps
    place = tp * a_positive - centre
    state[TP], state[FP] = tp, fp
    state[AUC] = auc + 2 * waiting * tp
    state[DISTINCT] += len(values)
    state[FULL_USED], state[THIN_USED] = full_used, thin_used
    sums[PRECISION] += precision
    sums[PLACED_POSITIVE] += placed_positive
    sums[PLACED_NEGATIVE] += placed_negative + waiting * place * place


@njit(cache=True, nogil=True, boundscheck=False, error_model="numpy")
def find_peaks(  # noqa: PLR0917  (compiled code has no keywords)
    values: NDArray[Any],
    counts: NDArray[np.int64],
    prefix: int,
    n_positive: int,
    n_negative: int,
    state: NDArray[np.int64],
    points: NDArray[np.uint64],
    best: NDArray[np.float64],
    gain: NDArray[np.int64],
    levels: NDArray[np.float64],
) -> None:
    """Look for better points than those found so far; ties go to the higher threshold.

    `points` has a row (key, tp, fp) each for the best F1, the greatest tpr − fpr and the
    breakeven; `levels[j]` is the highest precision with recall in [j/10, (j+1)/10).
    """
    tp, fp = state[TP], state[FP]
    for i in range(uint64(len(values))):
        positive, found_above = counts[i] >> 32, tp + fp
        tp += positive
        fp += counts[i] & NEGATIVES
        found = tp + fp
        # With no new positive a point only brings precision down, towards recall or beyond it.
        if found != n_positive and (tp == 0 or (positive == 0 and found_above >= n_positive)):
            continue
        precision, recall = tp / found, tp / n_positive
        level = 10 * tp // n_positive
        levels[level] = max(levels[level], precision)
        f1 = 2 * tp / (n_positive + found)
        if f1 > best[F1]:
            best[F1] = f1
            points[F1_POINT, 0], points[F1_POINT, 1], points[F1_POINT, 2] = (
                prefix | values[i], tp, fp,
            )  # fmt: skip
        ahead = tp * n_negative - fp * n_positive
        if ahead > gain[0]:
            gain[0] = ahead
            points[KS_POINT, 0], points[KS_POINT, 1], points[KS_POINT, 2] = (
                prefix | values[i], tp, fp,
            )  # fmt: skip
        distance = -1.0 if found == n_positive else abs(precision - recall)
        mean = (precision + recall) / 2
        if distance < best[DISTANCE] or (distance == best[DISTANCE] and mean > best[MEAN]):
            best[DISTANCE], best[MEAN] = distance, mean
            points[BREAKEVEN_POINT, 0] = prefix | values[i]
            points[BREAKEVEN_POINT, 1], points[BREAKEVEN_POINT, 2] = tp, fp
    state[TP], state[FP] = tp, fp
