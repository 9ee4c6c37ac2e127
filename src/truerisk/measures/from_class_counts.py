"""Measures of all classes at once.  Each function *is* the formula, elementwise on counts.

As in `from_counts`, the counts may be whole arrays of tables, real or complex.
"""

from typing import Any

import numpy as np

from truerisk.measures.proportion import Proportion, ratio
from truerisk.measures.registry import BINOMIAL_INTERVALS, CELL_INTERVALS, measure
from truerisk.tallies.cells import ClassCounts, Rejections

NO_EXAMPLES = "there is no example"


@measure(
    title="Accuracy",
    needs="class counts",
    higher_is_better=True,
    undefined=NO_EXAMPLES,
    intervals=BINOMIAL_INTERVALS,
)
def accuracy(counts: ClassCounts) -> Proportion:
    r"""Share of the examples which are right (in every label, where there are several).

    .. math:: \frac{TP + TN}{n}
    """
    return Proportion(counts.correct, counts.n)


@measure(
    title="Error rate",
    needs="class counts",
    higher_is_better=False,
    undefined=NO_EXAMPLES,
    intervals=BINOMIAL_INTERVALS,
)
def error_rate(counts: ClassCounts) -> Proportion:
    r"""Share of the examples which are wrong.

    .. math:: \frac{FP + FN}{n}
    """
    return Proportion(counts.n - counts.correct, counts.n)


@measure(
    title="Balanced accuracy", needs="class counts", higher_is_better=True, undefined=NO_EXAMPLES
)
def balanced_accuracy(counts: ClassCounts) -> Any:  # noqa: ANN401
    r"""Mean recall over the classes that occur: each class counts the same.

    .. math:: \frac{1}{K} \sum_{k=1}^{K} \frac{TP_k}{TP_k + FN_k}
    """
    recalls = ratio(counts.tp, counts.truth)
    present = ~np.isnan(recalls)
    return ratio(np.where(present, recalls, 0).sum(axis=-1), present.sum(axis=-1))


@measure(
    title="Matthews correlation (MCC)",
    needs="class counts",
    higher_is_better=True,
    undefined="the examples, or the predictions, are all of one class",
    measure_range=(-1.0, 1.0),
)
def matthews_correlation(counts: ClassCounts) -> Any:  # noqa: ANN401
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
    needs="class counts",
    higher_is_better=True,
    undefined="truth and prediction are all of one and the same class",
    measure_range=(-1.0, 1.0),
)
def cohen_kappa(counts: ClassCounts) -> Any:  # noqa: ANN401
    r"""Agreement beyond that expected by chance.

    .. math:: \frac{c\,n - \sum_k t_k p_k}{n^2 - \sum_k t_k p_k}

    with c right, t_k true and p_k predicted examples of class k.
    """
    by_chance = (counts.truth * counts.predicted).sum(axis=-1)
    return ratio(counts.correct * counts.n - by_chance, counts.n**2 - by_chance)


@measure(
    title="Hamming loss",
    needs="class counts",
    higher_is_better=False,
    undefined=NO_EXAMPLES,
    intervals=CELL_INTERVALS,
)
def hamming_loss(counts: ClassCounts) -> Any:  # noqa: ANN401
    r"""Share of the example-label pairs which are wrong, where examples have several labels.

    .. math:: \frac{1}{nK} \sum_{k=1}^{K} (FP_k + FN_k)
    """
    wrong = (counts.truth + counts.predicted - 2 * counts.tp).sum(axis=-1)
    return ratio(wrong, counts.n * counts.tp.shape[-1])


@measure(
    title="Cost per example",
    needs="class counts",
    higher_is_better=False,
    undefined=NO_EXAMPLES,
    measure_range=(-np.inf, np.inf),
)
def cost(counts: ClassCounts) -> Any:  # noqa: ANN401
    r"""Mean cost of an example, given what each cell of the confusion table costs.

    .. math:: \frac{1}{n} \sum_{j,k} n_{jk}\, c_{jk}
    """
    return ratio(counts.cost, counts.n)


@measure(
    title="Rejection rate",
    needs="rejections",
    higher_is_better=False,
    undefined=NO_EXAMPLES,
    intervals=BINOMIAL_INTERVALS,
)
def rejection_rate(counts: Rejections) -> Proportion:
    r"""Share of the examples that were refused an answer.

    .. math:: \frac{\text{rejected}}{n}

    The other measures are then those of the accepted examples.
    """
    return Proportion(counts.rejected, counts.n)
