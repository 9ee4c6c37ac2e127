"""Classifiers that are equally good on data sets without end, as tests over data sets see them."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from studies.audit.sizes_outcomes import Found, Outcome, with_interval
from truerisk.comparison.datasets.rank_tests import (
    friedman,
    nemenyi_p_value,
    rank_test,
    ranks_of,
)
from truerisk.comparison.datasets.signed_rank import (
    difference_interval,
    sign_test,
    signed_rank,
    without_noise,
)
from truerisk.comparison.multiplicity import hochberg, holm

Array = NDArray[np.float64]

LEVEL = 0.95
CLASSIFIERS = 5
DIGITS = {"scores to any digit": 12, "scores in hundredths, with ties": 2}


def draw_scores(n: int, digits: int, rng: np.random.Generator) -> Array:
    """Draw accuracies on n data sets, of which some are harder and some vary more.

    Examples
    --------
    >>> draw_scores(3, 2, np.random.default_rng(0)).shape
    (3, 5)
    """
    base = rng.uniform(0.6, 0.9, size=(n, 1))
    spread = rng.uniform(0.005, 0.03, size=(n, 1))
    scores: Array = np.round(base + spread * rng.normal(size=(n, CLASSIFIERS)), digits)
    return scores


def by_datasets(setting: str, n: int, rng: np.random.Generator) -> Found:
    """Try the tests of `tr.compare_over_datasets`: of two classifiers, of all pairs, of a control.

    Of a family of pairs the least adjusted p-value counts: whether any is called different.
    """
    scores = draw_scores(n, DIGITS[setting], rng)
    ranks = ranks_of(scores)
    averages = ranks.mean(axis=0)
    pairs = list(combinations(range(CLASSIFIERS), 2))
    columns = [without_noise(scores[:, two] - scores[:, one], 1.0) for one, two in pairs]
    wilcoxon = [signed_rank(column).p_value for column in columns]
    overall = friedman(ranks)
    farthest = nemenyi_p_value(averages.min(), averages.max(), CLASSIFIERS, n)
    control = [rank_test(averages[0], other, CLASSIFIERS, n)[1] for other in averages[1:]]
    interval = difference_interval(columns[0], LEVEL)
    return {
        "two classifiers": with_interval(wilcoxon[0], "wilcoxon", interval),
        "two classifiers, wins": Outcome(sign_test(columns[0]).p_value, "sign"),
        "five, do any differ": Outcome(overall.p_value, "iman_davenport"),
        "five, do any differ (chi²)": Outcome(overall.tie_corrected_p_value, "friedman"),
        "five, any pair": Outcome(float(min(holm(wilcoxon))), "wilcoxon, holm"),
        "five, any pair (ranks)": Outcome(farthest, "nemenyi"),
        "a control and four": Outcome(min(1.0, 4 * min(control)), "bonferroni_dunn"),
        "a control and four, step down": Outcome(float(min(holm(control))), "holm"),
        "a control and four, step up": Outcome(float(min(hochberg(control))), "hochberg"),
    }
