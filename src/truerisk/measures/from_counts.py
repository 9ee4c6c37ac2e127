"""Measures of one class against the rest.  Each function *is* the formula, elementwise on counts.

They work on whole arrays of tables, real or complex: the bootstrap hands over its replicates at
once, and the delta method takes its derivatives by a complex step.  Measures of all classes at
once are in `from_class_counts`.
"""

from typing import Any

import numpy as np

from truerisk.checks import check_number
from truerisk.measures.proportion import Proportion, ratio
from truerisk.measures.registry import BINOMIAL_INTERVALS, measure
from truerisk.tallies.cells import BinaryCounts

NO_POSITIVES = "no example is positive"
NO_NEGATIVES = "no example is negative"
NONE_CALLED = "no example is called positive"
ALL_CALLED = "no example is called negative"
BOTH_EMPTY = "no example is positive and none is called positive"


@measure(
    title="Precision (positive predictive value)",
    needs="binary counts",
    higher_is_better=True,
    undefined=NONE_CALLED,
    intervals=BINOMIAL_INTERVALS,
)
def precision(counts: BinaryCounts) -> Proportion:
    r"""Share of the examples called positive which are positive.

    .. math:: \frac{TP}{TP + FP}

    Undefined when no example is called positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fp)


@measure(
    title="Recall (sensitivity)",
    needs="binary counts",
    higher_is_better=True,
    undefined=NO_POSITIVES,
    intervals=BINOMIAL_INTERVALS,
)
def recall(counts: BinaryCounts) -> Proportion:
    r"""Share of the positive examples which are called positive.

    .. math:: \frac{TP}{TP + FN}

    Undefined when no example is positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fn)


@measure(
    title="Specificity",
    needs="binary counts",
    higher_is_better=True,
    undefined=NO_NEGATIVES,
    intervals=BINOMIAL_INTERVALS,
)
def specificity(counts: BinaryCounts) -> Proportion:
    r"""Share of the negative examples which are called negative.

    .. math:: \frac{TN}{TN + FP}

    Undefined when no example is negative.
    """
    return Proportion(counts.tn, counts.tn + counts.fp)


@measure(
    title="Negative predictive value",
    needs="binary counts",
    higher_is_better=True,
    undefined=ALL_CALLED,
    intervals=BINOMIAL_INTERVALS,
)
def negative_predictive_value(counts: BinaryCounts) -> Proportion:
    r"""Share of the examples called negative which are negative.

    .. math:: \frac{TN}{TN + FN}

    Undefined when no example is called negative.
    """
    return Proportion(counts.tn, counts.tn + counts.fn)


def _f1_of_jaccard(jaccard_index: Any) -> Any:  # noqa: ANN401
    return 2 * jaccard_index / (1 + jaccard_index)


@measure(
    title="F1",
    needs="binary counts",
    higher_is_better=True,
    undefined=BOTH_EMPTY,
    intervals=BINOMIAL_INTERVALS,
)
def f1(counts: BinaryCounts) -> Proportion:
    r"""Harmonic mean of precision and recall.

    .. math:: \frac{2\,TP}{2\,TP + FP + FN} = \frac{2J}{1 + J}

    It rises with the Jaccard index J, which is a proportion: hence an exact interval.  (It is the
    harmonic mean; Joachims (2000, §2.2) calls it geometric.  P = .40 and R = .29 give 0.336;
    Kubat (§11.3) prints 0.70.)  Undefined when no example is positive and none is called positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fp + counts.fn, _f1_of_jaccard)


@measure(
    title="Jaccard index",
    needs="binary counts",
    higher_is_better=True,
    undefined=BOTH_EMPTY,
    intervals=BINOMIAL_INTERVALS,
)
def jaccard(counts: BinaryCounts) -> Proportion:
    r"""Examples both positive and called so, among those that are either.

    .. math:: \frac{TP}{TP + FP + FN}

    Undefined when no example is positive and none is called positive.
    """
    return Proportion(counts.tp, counts.tp + counts.fp + counts.fn)


@measure(title="Fβ", needs="binary counts", higher_is_better=True, undefined=BOTH_EMPTY)
def f_beta(counts: BinaryCounts, beta: float = 1.0) -> Any:  # noqa: ANN401
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


@measure(title="Eβ", needs="binary counts", higher_is_better=False, undefined=BOTH_EMPTY)
def e_beta(counts: BinaryCounts, beta: float = 1.0) -> Any:  # noqa: ANN401
    r"""Van Rijsbergen's effectiveness: how little the retrieved and the relevant overlap.

    .. math:: E_\beta = 1 - F_\beta, \qquad E_1 = \frac{FP + FN}{2\,TP + FP + FN}

    "Evaluation of Text Categorization Systems" (2011, §5) prints FN + TP in the numerator of E1,
    and then 2PR/(P + R); the complement of F is meant.
    """
    found = f_beta(counts, beta)
    if not isinstance(found, Proportion):
        return 1 - found
    inner = found.transform or (lambda share: share)
    return Proportion(found.k, found.n, lambda share: 1 - inner(share))


@measure(
    title="G-mean",
    needs="binary counts",
    higher_is_better=True,
    undefined="no example is positive, or none is negative",
)
def gmean(counts: BinaryCounts) -> Any:  # noqa: ANN401
    r"""Geometric mean of recall and specificity: high only when both are.

    .. math:: \sqrt{\frac{TP}{TP + FN} \cdot \frac{TN}{TN + FP}}

    Undefined when either part is.
    """
    return np.sqrt(recall(counts).value * specificity(counts).value)


@measure(
    title="Youden's J",
    needs="binary counts",
    higher_is_better=True,
    undefined="no example is positive, or none is negative",
    measure_range=(-1.0, 1.0),
)
def youden(counts: BinaryCounts) -> Any:  # noqa: ANN401
    r"""How much better than chance both classes are recognised.

    .. math:: \frac{TP}{TP + FN} + \frac{TN}{TN + FP} - 1

    Undefined when a class is absent.
    """
    return recall(counts).value + specificity(counts).value - 1


@measure(
    title="Positive likelihood ratio",
    needs="binary counts",
    higher_is_better=True,
    undefined="a class is absent, or nothing at all is called positive",
    measure_range=(0.0, np.inf),
)
def positive_likelihood_ratio(counts: BinaryCounts) -> Any:  # noqa: ANN401
    r"""How much more often a positive is called positive than a negative is.

    .. math:: \frac{TP / (TP + FN)}{FP / (FP + TN)}

    Infinite when no negative is called positive but some positive is; undefined when a class is
    absent or nothing is called positive.
    """
    return _ratio_or_infinity(recall(counts).value, 1 - specificity(counts).value)


@measure(
    title="Negative likelihood ratio",
    needs="binary counts",
    higher_is_better=False,
    undefined="a class is absent, or nothing at all is called negative",
    measure_range=(0.0, np.inf),
)
def negative_likelihood_ratio(counts: BinaryCounts) -> Any:  # noqa: ANN401
    r"""How much more often a positive is called negative than a negative is.

    .. math:: \frac{FN / (TP + FN)}{TN / (FP + TN)}

    Infinite when no negative is called negative but some positive is; undefined when a class is
    absent or nothing is called negative.
    """
    return _ratio_or_infinity(1 - recall(counts).value, specificity(counts).value)


def _ratio_or_infinity(top: Any, bottom: Any) -> Any:  # noqa: ANN401
    return np.where((bottom == 0) & (np.real(top) > 0), np.inf, ratio(top, bottom))
