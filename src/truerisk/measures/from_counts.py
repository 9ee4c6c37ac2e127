"""Measures of counts: of all classes at once, then of one class against the rest.

Each function *is* the formula, elementwise on counts.  They work on whole arrays of tables, real or
complex: the bootstrap passes all replicates at once, and the delta method takes its derivatives by
a complex step.
"""

from typing import Any

import numpy as np

from truerisk.checks import check_number
from truerisk.measures.registry import measure
from truerisk.tallies.cells import BinaryCounts, ClassCounts, Proportion, Rejections, ratio

NO_EXAMPLES = "there is no example"
NO_POSITIVES = "no example is positive"
NO_NEGATIVES = "no example is negative"
NONE_CALLED = "no example is called positive"
ALL_CALLED = "no example is called negative"
BOTH_EMPTY = "no example is positive and none is called positive"


@measure(title="Accuracy", undefined=NO_EXAMPLES, label_sets=None)
def accuracy(counts: ClassCounts) -> Proportion:
    r"""Share of the examples which are right (in every label, where there are several).

    .. math:: \frac{TP + TN}{n}
    """
    return Proportion(counts.correct, counts.n)


@measure(title="Error rate", higher_is_better=False, undefined=NO_EXAMPLES)
def error_rate(counts: ClassCounts) -> Proportion:
    r"""Share of the examples which are wrong.

    .. math:: \frac{FP + FN}{n}
    """
    return Proportion(counts.n - counts.correct, counts.n)


@measure(title="Balanced accuracy", undefined=NO_EXAMPLES)
def balanced_accuracy(counts: ClassCounts) -> Any:
    r"""Mean recall over the classes that occur: each class counts the same.

    .. math:: \frac{1}{K} \sum_{k=1}^{K} \frac{TP_k}{TP_k + FN_k}
    """
    recalls = ratio(counts.tp, counts.truth)
    present = ~np.isnan(recalls)
    return ratio(np.where(present, recalls, 0).sum(axis=-1), present.sum(axis=-1))


@measure(
    title="Matthews correlation (MCC)",
    undefined="the examples, or the predictions, are all of one class",
    measure_range=(-1.0, 1.0),
)
def matthews_correlation(counts: ClassCounts) -> Any:
    r"""Correlation of truth and prediction; Gorodkin's R_K for more than two classes.

    .. math:: \frac{c\,n - \sum_k t_k p_k}
              {\sqrt{(n^2 - \sum_k p_k^2)(n^2 - \sum_k t_k^2)}}

    with c right, t_k true and p_k predicted examples of class k.  Undefined when the examples, or
    the predictions, are all of one class.
    """
    n, truth, predicted = counts.n, counts.truth, counts.predicted
    agreement = counts.correct * n - (truth * predicted).sum(axis=-1)
    spread = (n**2 - (predicted**2).sum(axis=-1)) * (n**2 - (truth**2).sum(axis=-1))
    return ratio(agreement, np.sqrt(spread))


@measure(
    title="Cohen's κ",
    undefined="truth and prediction are all of one and the same class",
    measure_range=(-1.0, 1.0),
)
def cohen_kappa(counts: ClassCounts) -> Any:
    r"""Agreement beyond that expected by chance.

    .. math:: \frac{c\,n - \sum_k t_k p_k}{n^2 - \sum_k t_k p_k}

    with c right, t_k true and p_k predicted examples of class k.
    """
    by_chance = (counts.truth * counts.predicted).sum(axis=-1)
    return ratio(counts.correct * counts.n - by_chance, counts.n**2 - by_chance)


def distances(name: str, size: int) -> Any:
    """Give |j − k| to the power of a weighted κ, for all pairs of classes in their order."""
    places = np.arange(size)
    return np.abs(places[:, None] - places).astype(np.float64) ** DISTANCE_POWERS[name]


def _weighted_kappa(name: str, counts: ClassCounts) -> Any:
    between = distances(name, counts.truth.shape[-1])
    by_chance = ((counts.truth @ between) * counts.predicted).sum(axis=-1)
    return 1 - ratio(counts.cost * counts.n, by_chance)


ONE_SAME_CLASS = "truth and prediction are all of one and the same class"
DISTANCE_POWERS = {"linear_kappa": 1, "quadratic_kappa": 2}


@measure(
    title="Linearly weighted κ",
    undefined=ONE_SAME_CLASS,
    measure_range=(-1.0, 1.0),
    on_request=True,
)
def linear_kappa(counts: ClassCounts) -> Any:
    r"""Agreement beyond chance where classes have an order: errors count by how far they are off.

    .. math:: 1 - \frac{n \sum_{j,k} |j - k|\, n_{jk}}{\sum_{j,k} |j - k|\, t_j p_k}

    with t_k true and p_k predicted examples of class k; classes are in the order of their labels,
    numbers by size.  For two classes it is Cohen's κ.  The numerator is the cost of the cells with
    the distances as costs (`distances`).

    References
    ----------
    .. [1] J. Cohen, "Weighted kappa", Psychological Bulletin 70(4), 213-220, 1968.
    """
    return _weighted_kappa("linear_kappa", counts)


@measure(
    title="Quadratically weighted κ",
    undefined=ONE_SAME_CLASS,
    measure_range=(-1.0, 1.0),
    on_request=True,
)
def quadratic_kappa(counts: ClassCounts) -> Any:
    r"""Agreement beyond chance, errors counting by the square of how far they are off.

    .. math:: 1 - \frac{n \sum_{j,k} (j - k)^2\, n_{jk}}{\sum_{j,k} (j - k)^2\, t_j p_k}

    As `linear_kappa` in all else.
    """
    return _weighted_kappa("quadratic_kappa", counts)


@measure(title="Hamming loss", higher_is_better=False, undefined=NO_EXAMPLES, label_sets=True)
def hamming_loss(counts: ClassCounts) -> Any:
    r"""Share of the example-label pairs which are wrong, where examples have several labels.

    .. math:: \frac{1}{nK} \sum_{k=1}^{K} (FP_k + FN_k)
    """
    wrong = (counts.truth + counts.predicted - 2 * counts.tp).sum(axis=-1)
    return ratio(wrong, counts.n * counts.tp.shape[-1])


@measure(
    title="Cost per example",
    higher_is_better=False,
    undefined=NO_EXAMPLES,
    measure_range=(-np.inf, np.inf),
)
def cost(counts: ClassCounts) -> Any:
    r"""Mean cost of an example, given what each cell of the confusion table costs.

    .. math:: \frac{1}{n} \sum_{j,k} n_{jk}\, c_{jk}
    """
    return ratio(counts.cost, counts.n)


@measure(title="Rejection rate", higher_is_better=False, undefined=NO_EXAMPLES)
def rejection_rate(counts: Rejections) -> Proportion:
    r"""Share of the examples that were refused an answer.

    .. math:: \frac{\text{rejected}}{n}

    The other measures are then those of the accepted examples.
    """
    return Proportion(counts.rejected, counts.n)


@measure(title="Precision (positive predictive value)", undefined=NONE_CALLED)
def precision(counts: BinaryCounts) -> Proportion:
    r"""Share of the examples called positive which are positive.

    .. math:: \frac{TP}{TP + FP}

    Undefined when no example is called positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fp)


@measure(title="Recall (sensitivity)", undefined=NO_POSITIVES)
def recall(counts: BinaryCounts) -> Proportion:
    r"""Share of the positive examples which are called positive.

    .. math:: \frac{TP}{TP + FN}

    Undefined when no example is positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fn)


@measure(title="Specificity", undefined=NO_NEGATIVES)
def specificity(counts: BinaryCounts) -> Proportion:
    r"""Share of the negative examples which are called negative.

    .. math:: \frac{TN}{TN + FP}

    Undefined when no example is negative.
    """
    return Proportion(counts.tn, counts.tn + counts.fp)


@measure(title="Negative predictive value", undefined=ALL_CALLED)
def negative_predictive_value(counts: BinaryCounts) -> Proportion:
    r"""Share of the examples called negative which are negative.

    .. math:: \frac{TN}{TN + FN}

    Undefined when no example is called negative.
    """
    return Proportion(counts.tn, counts.tn + counts.fn)


def _f1_of_jaccard(jaccard_index: Any) -> Any:
    return 2 * jaccard_index / (1 + jaccard_index)


@measure(title="F1", undefined=BOTH_EMPTY)
def f1(counts: BinaryCounts) -> Proportion:
    r"""Harmonic mean of precision and recall.

    .. math:: \frac{2\,TP}{2\,TP + FP + FN} = \frac{2J}{1 + J}

    It rises with the Jaccard index J, which is a proportion: hence an exact interval.  (It is the
    harmonic mean; Joachims (2000, §2.2) calls it geometric.  P = .40 and R = .29 give 0.336;
    Kubat (§11.3) prints 0.70.)  Undefined when no example is positive and none is called positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fp + counts.fn, _f1_of_jaccard)


@measure(title="Jaccard index", undefined=BOTH_EMPTY)
def jaccard(counts: BinaryCounts) -> Proportion:
    r"""Examples both positive and called so, among those that are either.

    .. math:: \frac{TP}{TP + FP + FN}

    Undefined when no example is positive and none is called positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fp + counts.fn)


@measure(title="Fβ", undefined=BOTH_EMPTY)
def f_beta(counts: BinaryCounts, beta: float = 1.0) -> Any:
    r"""Weighted harmonic mean of precision and recall; β is how much more recall matters.

    .. math:: \frac{(\beta^2 + 1) P R}{\beta^2 P + R}
              = \frac{(1 + \beta^2) TP}{(1 + \beta^2) TP + \beta^2 FN + FP}

    β = 0 gives precision, β → ∞ recall.  Undefined when no example is positive and none is called
    positive.
    """
    check_number(beta, "beta", low=0.0)
    if beta == 0:
        return precision(counts)
    if beta == 1:
        return f1(counts)
    if np.isinf(beta):
        return recall(counts)
    hits = (1 + beta**2) * counts.tp
    return ratio(hits, hits + beta**2 * counts.fn + counts.fp)


@measure(title="Eβ", higher_is_better=False, undefined=BOTH_EMPTY)
def e_beta(counts: BinaryCounts, beta: float = 1.0) -> Any:
    r"""Van Rijsbergen's effectiveness: how little the retrieved and the relevant overlap.

    .. math:: E_\beta = 1 - F_\beta, \qquad E_1 = \frac{FP + FN}{2\,TP + FP + FN}

    "Evaluation of Text Categorization Systems" (2011, §5) prints FN + TP in the numerator of E1,
    and then 2PR/(P + R); the complement of F is meant.
    """
    overlap = f_beta(counts, beta)
    if not isinstance(overlap, Proportion):
        return 1 - overlap
    inner = overlap.transform or (lambda share: share)
    return Proportion(overlap.k, overlap.n, lambda share: 1 - inner(share))


@measure(title="G-mean", undefined="no example is positive, or none is negative")
def gmean(counts: BinaryCounts) -> Any:
    r"""Geometric mean of recall and specificity: high only when both are.

    .. math:: \sqrt{\frac{TP}{TP + FN} \cdot \frac{TN}{TN + FP}}

    Undefined when either part is.
    """
    return np.sqrt(recall(counts).value * specificity(counts).value)


@measure(
    title="Youden's J",
    undefined="no example is positive, or none is negative",
    measure_range=(-1.0, 1.0),
)
def youden(counts: BinaryCounts) -> Any:
    r"""How much better than chance both classes are recognised.

    .. math:: \frac{TP}{TP + FN} + \frac{TN}{TN + FP} - 1

    Undefined when a class is absent.
    """
    return recall(counts).value + specificity(counts).value - 1


@measure(
    title="Positive likelihood ratio",
    undefined="a class is absent, or nothing at all is called positive",
    measure_range=(0.0, np.inf),
)
def positive_likelihood_ratio(counts: BinaryCounts) -> Any:
    r"""How much more often a positive is called positive than a negative is.

    .. math:: \frac{TP / (TP + FN)}{FP / (FP + TN)}

    Infinite when no negative is called positive but some positive is; undefined when a class is
    absent or nothing is called positive.
    """
    return _ratio_or_infinity(recall(counts).value, 1 - specificity(counts).value)


@measure(
    title="Negative likelihood ratio",
    higher_is_better=False,
    undefined="a class is absent, or nothing at all is called negative",
    measure_range=(0.0, np.inf),
)
def negative_likelihood_ratio(counts: BinaryCounts) -> Any:
    r"""How much more often a positive is called negative than a negative is.

    .. math:: \frac{FN / (TP + FN)}{TN / (FP + TN)}

    Infinite when no negative is called negative but some positive is; undefined when a class is
    absent or nothing is called negative.
    """
    return _ratio_or_infinity(1 - recall(counts).value, specificity(counts).value)


def _ratio_or_infinity(top: Any, bottom: Any) -> Any:
    return np.where((bottom == 0) & (np.real(top) > 0), np.inf, ratio(top, bottom))
