"""Measures of scores: how well they rank the examples, and how true they are as probabilities."""

from truerisk.measures.registry import RANKING_INTERVALS, measure
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import Ranking
from truerisk.tallies.ranking_summary import Breakeven

ONE_CLASS = "the examples are all of one class"
NO_POSITIVES = "no example is positive"
NO_EXAMPLES = "there is no example"


@measure(
    title="Area under the ROC curve",
    needs="ranking",
    higher_is_better=True,
    undefined=ONE_CLASS,
    intervals=("delong", *RANKING_INTERVALS),
)
def roc_auc(ranking: Ranking) -> float:
    r"""Probability that a positive example scores above a negative one, ties counting one half.

    .. math:: \frac{1}{PN} \sum_{i:+} \sum_{j:-} \bigl([s_i > s_j] + \tfrac{1}{2}[s_i = s_j]\bigr)

    Undefined when a class is missing.  Under .5, the scores may belong to the other class; they are
    never turned around.
    """
    return ranking.summary.auc


@measure(title="Average precision", needs="ranking", higher_is_better=True, undefined=NO_POSITIVES)
def average_precision(ranking: Ranking) -> float:
    r"""Mean precision over the positives, each at its own score: the step sum.

    .. math:: \sum_i (R_i - R_{i-1})\, P_i

    Undefined when no example is positive.
    """
    return ranking.summary.average_precision


@measure(title="Breakeven point", needs="ranking", higher_is_better=True, undefined=NO_POSITIVES)
def breakeven_point(ranking: Ranking) -> float:
    r"""Value at which precision and recall are equal as the threshold moves.

    .. math:: P(\tau) = R(\tau) \iff TP(\tau) + FP(\tau) = P

    Where ties leave no such threshold, the mean of the nearest precision and recall
    (interpolated); of equally near ones the higher mean.  Undefined when no example is positive.
    """
    return ranking.summary.breakeven.value


def breakeven(ranking: Ranking) -> Breakeven:
    r"""Give the breakeven point with its threshold, and say whether it is interpolated.

    At the same precision P and recall R, the mean (P + R)/2 is never below F1: an arithmetic
    against a harmonic mean.  Against Fβ, with T = P/R,

    .. math:: \frac{P + R}{2} \ge F_\beta \iff (T - 1)(\beta^2 T - 1) \ge 0

    Erratum: it is printed as holding for every β when P < R; it holds there for β ≤ 1/√T only.

    References
    ----------
    .. [1] "Evaluation of Text Categorization Systems", 2011, §3 and §6.

    Examples
    --------
    >>> from truerisk.tallies.ranking import rank
    >>> breakeven(rank([4, 3, 2, 1], [True, False, True, False]))
    Breakeven(value=0.5, threshold=3.0, interpolated=False, precision=0.5, recall=0.5)
    """
    return ranking.summary.breakeven


@measure(
    title="11-point average precision",
    needs="ranking",
    higher_is_better=True,
    undefined=NO_POSITIVES,
)
def eleven_point_precision(ranking: Ranking) -> float:
    r"""Interpolated precision at recall 0, .1, …, 1, averaged: examples ranked within a category.

    .. math:: \frac{1}{11} \sum_{j=0}^{10} \max_{\tau:\, R(\tau) \ge j/10} P(\tau)

    Undefined when no example is positive.  The form that ranks the categories of each document is
    `eleven_point_documents`.
    """
    return sum(ranking.summary.eleven_point) / len(ranking.summary.eleven_point)


@measure(
    title="Kolmogorov-Smirnov distance", needs="ranking", higher_is_better=True, undefined=ONE_CLASS
)
def ks(ranking: Ranking) -> float:
    r"""Greatest distance of recall and false positive rate over the thresholds (Youden's J).

    .. math:: \max_\tau \Bigl(\frac{TP(\tau)}{P} - \frac{FP(\tau)}{N}\Bigr)

    Undefined when a class is missing.  The threshold is chosen on the same examples, which makes
    the value optimistic.
    """
    return ranking.summary.ks


@measure(title="Best F1", needs="ranking", higher_is_better=True, undefined=NO_POSITIVES)
def best_f1(ranking: Ranking) -> float:
    r"""F1 at the threshold that suits it best.

    .. math:: \max_\tau \frac{2\,TP(\tau)}{P + TP(\tau) + FP(\tau)}

    Undefined when no example is positive.  The threshold is chosen on the same examples, which
    makes the value optimistic.
    """
    return ranking.summary.best_f1


@measure(
    title="Log loss",
    needs="probabilities",
    higher_is_better=False,
    undefined=NO_EXAMPLES,
    measure_range=(0.0, float("inf")),
    intervals=("delta",),
)
def log_loss(tally: ProbabilityTally) -> float:
    r"""Mean of −ln of the probability that was given to the true class.

    .. math:: -\frac{1}{n} \sum_i \ln p_{i, y_i}

    Infinite as soon as one true class was given the probability 0; nothing is clipped.
    """
    return tally.log_loss


@measure(
    title="Brier score",
    needs="probabilities",
    higher_is_better=False,
    undefined=NO_EXAMPLES,
    measure_range=(0.0, 2.0),
    intervals=("delta",),
)
def brier_score(tally: ProbabilityTally) -> float:
    r"""Mean squared distance of the probabilities from what came true.

    .. math:: \frac{1}{n} \sum_i (p_i - [y_i = 1])^2, \qquad
       \frac{1}{n} \sum_i \sum_k (p_{ik} - [y_i = k])^2

    The first form is for two classes and lies in [0, 1]; the second, for K classes, in [0, 2].
    """
    return tally.brier_score
