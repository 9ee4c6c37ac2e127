"""Measures of scores: how well they rank, how true they are as probabilities, and their mean."""

import math
from dataclasses import dataclass

from truerisk.aliases import ArrayLike
from truerisk.measures.registry import measure
from truerisk.tallies.documents import LEVELS, DocumentTally
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.question_values import QuestionValues
from truerisk.tallies.ranking import Breakeven, Ranking
from truerisk.tallies.ranking_weights import pair_areas, partial_areas
from truerisk.tallies.scored_rows import ScoredRows

ONE_CLASS = "the examples are all of one class"
NO_POSITIVES = "no example is positive"
NO_EXAMPLES = "there is no example"


@measure(title="Area under the ROC curve", undefined=ONE_CLASS, intervals=("delong",))
def roc_auc(ranking: Ranking) -> float:
    r"""Probability that a positive example scores above a negative one, ties counting one half.

    .. math:: \frac{1}{PN} \sum_{i:+} \sum_{j:-} \bigl([s_i > s_j] + \tfrac{1}{2}[s_i = s_j]\bigr)

    Undefined when a class is missing.  Under .5, the scores may belong to the other class; they are
    never turned around.
    """
    return ranking.summary.auc


@measure(
    title="Partial AUC to 0.1 (standardised)",
    undefined=ONE_CLASS,
    intervals=("partial_placements",),
    on_request=True,
)
def partial_auc(ranking: Ranking, max_fpr: float = 0.1) -> float:
    r"""Area under the ROC curve up to a false positive rate c, standardised: ½ is chance.

    .. math:: \frac{1}{2}\Bigl(1 + \frac{A_c - c^2/2}{c - c^2/2}\Bigr), \qquad
       A_c = \int_0^c TPR(u)\,du

    `partial_auc` has c = 0.1, `partial_auc_0.2` another one.  Undefined when a class is missing.

    References
    ----------
    .. [1] D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9(3),
       190-195, 1989.
    """
    if 0 in ranking.rows:
        return math.nan
    return float(partial_areas(ranking.tp[None, :], ranking.fp[None, :], max_fpr)[0])


@measure(
    title="Area under the ROC curve, one against one",
    undefined="fewer than two classes have examples",
    on_request=True,
)
def roc_auc_ovo(rows: ScoredRows) -> float:
    r"""Mean over pairs of classes of the area between the two (Hand and Till's M).

    .. math:: \frac{2}{K(K-1)} \sum_{j<k} \frac{A(j|k) + A(k|j)}{2}

    with A(j|k) the area of the scores of class j among the examples of j and k alone.  Classes
    without examples are left out.

    References
    ----------
    .. [1] D. J. Hand and R. J. Till, "A simple generalisation of the area under the ROC curve for
       multiple class classification problems", Machine Learning 45, 171-186, 2001.
    """
    return pair_areas(rows)[0]


@measure(title="Average precision", undefined=NO_POSITIVES)
def average_precision(ranking: Ranking) -> float:
    r"""Mean precision over the positives, each at its own score: the step sum.

    .. math:: \sum_i (R_i - R_{i-1})\, P_i

    Undefined when no example is positive.
    """
    return ranking.summary.average_precision


@measure(title="Breakeven point", undefined=NO_POSITIVES, intervals=("moving_threshold",))
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


@measure(title="11-point average precision", undefined=NO_POSITIVES)
def eleven_point_precision(ranking: Ranking) -> float:
    r"""Interpolated precision at recall 0, .1, …, 1, averaged: examples ranked within a category.

    .. math:: \frac{1}{11} \sum_{j=0}^{10} \max_{\tau:\, R(\tau) \ge j/10} P(\tau)

    Undefined when no example is positive.  The form that ranks the categories of each document is
    `eleven_point_documents`.
    """
    return sum(ranking.summary.eleven_point) / len(ranking.summary.eleven_point)


@measure(title="Kolmogorov-Smirnov distance", undefined=ONE_CLASS, intervals=("chosen_threshold",))
def ks(ranking: Ranking) -> float:
    r"""Greatest distance of recall and false positive rate over the thresholds (Youden's J).

    .. math:: \max_\tau \Bigl(\frac{TP(\tau)}{P} - \frac{FP(\tau)}{N}\Bigr)

    Undefined when a class is missing.  The threshold is chosen on the same examples, which makes
    the value optimistic.
    """
    return ranking.summary.ks


@measure(title="Best F1", undefined=NO_POSITIVES, intervals=("chosen_threshold",))
def best_f1(ranking: Ranking) -> float:
    r"""F1 at the threshold that suits it best.

    .. math:: \max_\tau \frac{2\,TP(\tau)}{P + TP(\tau) + FP(\tau)}

    Undefined when no example is positive.  The threshold is chosen on the same examples, which
    makes the value optimistic.
    """
    return ranking.summary.best_f1


@measure(
    title="Log loss", higher_is_better=False, undefined=NO_EXAMPLES, measure_range=(0.0, math.inf)
)
def log_loss(tally: ProbabilityTally) -> float:
    r"""Mean of −ln of the probability that was given to the true class.

    .. math:: -\frac{1}{n} \sum_i \ln p_{i, y_i}

    Infinite as soon as one true class was given the probability 0; nothing is clipped.
    """
    return tally.mean("log_loss")


@measure(
    title="Brier score", higher_is_better=False, undefined=NO_EXAMPLES, measure_range=(0.0, 2.0)
)
def brier_score(tally: ProbabilityTally) -> float:
    r"""Mean squared distance of the probabilities from what came true.

    .. math:: \frac{1}{n} \sum_i (p_i - [y_i = 1])^2, \qquad
       \frac{1}{n} \sum_i \sum_k (p_{ik} - [y_i = k])^2

    The first form is for two classes and lies in [0, 1]; the second, for K classes, in [0, 2].
    """
    return tally.mean("brier_score")


@measure(title="Mean value", undefined=NO_EXAMPLES, measure_range=(-math.inf, math.inf))
def mean_value(values: QuestionValues) -> float:
    r"""Mean over the questions of a value that each has: a judge's score, a pass@k.

    .. math:: \frac{1}{n} \sum_i v_i

    It lies in the range that is stated for the values.
    """
    return values.mean


@dataclass(frozen=True)
class DocumentPrecision:
    """The eleven averages, their average, and what it is worth.

    `standard_error` is that of the mean over documents.  `undefined` documents have no correct
    category; they are counted here and left out of everything else.
    """

    value: float
    by_recall: tuple[float, ...]
    standard_error: float
    documents: int
    undefined: int


@measure(
    title="11-point average precision (by document)", undefined="no document has a correct category"
)
def eleven_point_documents(tally: DocumentTally) -> float:
    r"""Interpolated precision at recall 0, .1, …, 1 of each document's ranking, averaged.

    .. math:: \frac{1}{11} \sum_{j=0}^{10} \frac{1}{n} \sum_{d=1}^{n} P_d(j/10)

    With weights, a weighted mean.  Documents with no correct category are left out.  Undefined when
    none has one.
    """
    return summarise_documents(tally).value


def document_precision(scores: ArrayLike, truth: ArrayLike) -> DocumentPrecision:
    r"""Average the precision of documents over eleven levels of recall.

    Each document ranks the categories.  Its precision and recall are taken at each rank that holds
    a correct category; each interval of recall from 0.0, 0.1, …, 1.0 is represented by the highest
    precision in it, an empty one by 0; each is replaced by the highest of it and the higher ones;
    these are averaged over documents, and the eleven averages are averaged.  If documents are drawn
    independently, the value is a mean of independent numbers in [0, 1].

    Erratum: the intervals are printed as "0.0, 1.0, …, 0.9, 1.0"; 0.0, 0.1, … is meant.

    Parameters
    ----------
    scores
        (documents, categories): larger means more relevant.
    truth
        The same shape, booleans: which categories are correct.

    References
    ----------
    .. [1] Y. Yang, "An evaluation of statistical approaches to text categorization",
       Information Retrieval 1, 69-90, 1999. https://doi.org/10.1023/A:1009982220290

    Examples
    --------
    >>> result = document_precision([[0.9, 0.5, 0.1]], [[True, False, True]])
    >>> [round(value, 3) for value in result.by_recall]
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.667, 0.667, 0.667, 0.667, 0.667]
    >>> round(result.value, 4)
    0.8485
    """
    return summarise_documents(DocumentTally().add(scores, truth))


def summarise_documents(tally: DocumentTally) -> DocumentPrecision:
    """Turn the sums of a tally into averages."""
    n = tally.documents
    if n == 0:
        return DocumentPrecision(math.nan, (math.nan,) * LEVELS, math.nan, 0, tally.undefined)
    total = tally.sums.value("weights")
    by_recall = tuple(tally.sums.value(level) / total for level in range(LEVELS))
    value = math.fsum(by_recall) / LEVELS
    error = tally.sums.standard_error("average", value, n)
    return DocumentPrecision(value, by_recall, error, n, tally.undefined)
