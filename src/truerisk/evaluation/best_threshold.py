"""The best threshold: of scores by a criterion, of evidence below which no answer is given.

Both may be chosen among those that keep a promise; scores then have intervals that allow for it.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, ArrayLike, Flags
from truerisk.checks import check_choice, check_level, check_number
from truerisk.errors import InputError
from truerisk.evaluation.evaluate import evaluate_counts
from truerisk.inputs.predictions import Predictions, made_predictions
from truerisk.intervals.binomial import at_most, clopper_pearson
from truerisk.intervals.chosen_thresholds import (
    accepted_for,
    kept_by_order,
    kept_in_sequence,
    level_after_choice,
    times_needed,
)
from truerisk.intervals.rankings import ranking_interval
from truerisk.measures.costs import OUTCOMES
from truerisk.measures.registry import find_measure
from truerisk.measures.rejection import (
    ErrorRejectCurve,
    GuaranteedRejection,
    RejectionPoint,
    error_reject,
)
from truerisk.measures.thresholds import (
    Guarantee,
    Sweep,
    Threshold,
    mean_cost,
    optimal_threshold,
    outcome_costs,
    sweep,
)
from truerisk.results import Estimate, Evaluation, Interval, Row, Tabular, number
from truerisk.tallies.cells import BinaryCounts
from truerisk.tallies.ranking import Ranking, rank

AT_THRESHOLD = ("precision", "recall", "specificity", "f1", "gmean", "youden")
SWEPT = ("precision", "recall", "f1")
SEQUENCE, ORDER = "fixed_sequence", "order_statistic"
ENTRIES_AT_ONCE = 2**22  # of the score matrix: memory stays bounded


@dataclass(frozen=True, repr=False)
class ChosenThreshold(Tabular, Threshold):
    """The threshold that is best by a criterion, and what is known of it after the choice.

    `estimates` are measures at this threshold on other examples; their intervals allow for the
    choice.  `guarantees` say what is promised; `naive` is the choice among the thresholds that have
    the promised values on these examples only, None where nothing is to be guaranteed.
    """

    kind: ClassVar[str] = "chosen_threshold"

    level: float = 0.95
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    guarantees: tuple[Guarantee, ...] = ()
    naive: Threshold | None = None

    @property
    def share_called(self) -> float:
        """The share of the examples that is called positive."""
        return share_called(self)

    def __str__(self) -> str:
        outcomes = ", ".join(f"{name} {getattr(self, name):,.10g}" for name in OUTCOMES)
        lines = [f"threshold {self.at:.10g}: {self.criterion} = {number(self.value)} ({outcomes})"]
        lines += map(str, self.guarantees)
        return "\n".join([*lines, *map(str, self.estimates.values())])

    def to_metrics(self) -> dict[str, float]:
        """Give the threshold, its counts, and the measures at it with their intervals."""
        metrics = super().to_metrics()
        for one in self.estimates.values():
            metrics |= one.to_metrics()
        return metrics

    def _rows(self) -> Iterator[Row]:
        """Give one row per measure at this threshold."""
        for one in self.estimates.values():
            yield {"threshold": self.at, **one.row()}


def share_called(threshold: Threshold) -> float:
    """Give the share of the examples that is called positive at a threshold."""
    called = threshold.tp + threshold.fp
    return called / (called + threshold.fn + threshold.tn)


def best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    by: str = "f_beta",
    beta: float = 1.0,
    costs: Mapping[str, float] | None = None,
    guarantee: Mapping[str, float] | None = None,
    level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> ChosenThreshold:
    r"""Find the threshold that does best by a criterion, among those that keep a guarantee.

    ==================  ===========================================================
    by                  what is made as great as possible (the cost: as small)
    ==================  ===========================================================
    f_beta              :math:`(1+\beta^2) TP / ((1+\beta^2) TP + \beta^2 FN + FP)`
    gmean               :math:`\sqrt{TP/P \cdot TN/N}`
    youden              :math:`TP/P - FP/N`
    balanced_accuracy   :math:`(TP/P + TN/N)/2`
    accuracy            :math:`(TP + TN)/n`
    cost                mean cost of an example
    ==================  ===========================================================

    Of thresholds that do equally well the highest is taken.  On a thinned ranking the choice is
    among the thresholds that are kept.

    A threshold chosen on some examples looks better on them than it will on others.  A *guarantee*
    holds although the threshold was chosen on these examples: with probability at least `level`
    over samples, all promised values are kept on the population, whatever the criterion.

    =========================  ======================================================
    guarantee                  proven
    =========================  ======================================================
    recall, specificity        by order statistics (`kept_by_order`), for independent
                               examples and any scores; nothing is lost to the choice
    precision,                 by a fixed sequence of exact tests
    negative_predictive_value  (`kept_in_sequence`), for independent examples and
                               scores without ties, from ½ on; else, if the share
                               of positives does not fall as the score rises
    =========================  ======================================================

    Several guarantees share 1 − level evenly.  Weights leave no such proof, and are refused.

    The intervals of `estimates` allow for the choice: they reach half a standard error further on
    either side than those of a threshold that was fixed before (`level_after_choice`); that of the
    best F1 is the one that `evaluate` gives.  How often they cover was measured
    (docs/which-threshold.md); weighted examples have none.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for `roc`.
    by
        The criterion.
    beta
        Weight of recall against precision in F_β.
    costs
        Of one example by outcome, for ``by="cost"``: ``{"fp": 1, "fn": 5}``; the rest cost 0.
    guarantee
        The least value of each measure that is to be promised: ``{"recall": 0.95}``.
    level
        Confidence of the guarantees together, and level of the intervals.
    groups
        Which rows belong together.  They are not independent, and get neither intervals nor
        guarantees.  One row of each group is an independent sample of such rows.

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then test:
       Calibrating predictive algorithms to achieve risk control", Annals of Applied Statistics
       19(2), 1641-1662, 2025.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.random(400) < 0.3
    >>> scores = rng.normal(size=400) + 1.5 * positive
    >>> best = best_threshold(positive, scores, guarantee={"recall": 0.9})
    >>> round(best.at, 2), round(best.naive.at, 2)
    (-0.44, 0.36)
    >>> print(best.estimates["recall"])
    recall = 0.962 [0.889, 0.993] at 95 % (clopper_pearson_after_choice, n = 105, this model)
    """
    coded = Predictions.from_arrays(
        y_true, y_score=y_score, sample_weight=sample_weight, groups=groups, allow_inf=True
    )
    score, is_positive, _ = coded.against_the_rest(pos_label)
    return choose_threshold(
        rank(score, is_positive, coded.weight),
        by=by,
        beta=beta,
        costs=costs,
        guarantee=guarantee,
        level=level,
        independent=coded.group is None,
    )


def choose_threshold(
    ranking: Ranking,
    *,
    by: str = "f_beta",
    beta: float = 1.0,
    costs: Mapping[str, float] | None = None,
    guarantee: Mapping[str, float] | None = None,
    level: float = 0.95,
    independent: bool = True,
) -> ChosenThreshold:
    """Find the best threshold of a ranking, as `best_threshold` does."""
    options: dict[str, Any] = {"by": by, "beta": beta, "costs": costs}
    check_level(level)
    naive: Threshold | None = None
    given: tuple[Guarantee, ...] = ()
    if not guarantee:
        best = optimal_threshold(ranking, **options)
    else:
        _check_independent(ranking, independent=independent)
        table = sweep(ranking)
        kept, given = _guarantees(table, guarantee, level)
        best = optimal_threshold(ranking, **options, among=kept)
        naive = optimal_threshold(ranking, **options, among=_naively_kept(table, guarantee))
    sure = independent and not ranking.weighted
    estimates = _estimates(best, options, level, sure=sure)
    if sure and not guarantee and (by, beta) == ("f_beta", 1) and estimates:
        interval = ranking_interval("best_f1", best.value, ranking, level=level)
        estimates["f1"] = dataclasses.replace(estimates["f1"], interval=interval)
    return ChosenThreshold(
        **vars(best), level=level, estimates=estimates, guarantees=given, naive=naive
    )


def threshold_rows(
    ranking: Ranking,
    size: int,
    *,
    costs: Mapping[str, float] | None = None,
    level: float = 0.95,
    independent: bool = True,
) -> list[dict[str, float]]:
    """Tabulate so many thresholds, evenly over what matters for the rarer class.

    The intervals hold for a threshold that was fixed before: Clopper and Pearson's, and for the
    cost the one that `evaluate` gives.  Weighted and grouped examples have none.
    """
    table = sweep(ranking)
    reached = _progress(table)
    rows = np.unique(np.searchsorted(reached, np.linspace(0, reached[-1], size)))
    counts = BinaryCounts(*(getattr(table, name)[rows] for name in OUTCOMES))
    columns = {"threshold": table.threshold[rows], **vars(counts)}
    sure, unknown = independent and not ranking.weighted, (np.full(len(rows), np.nan),) * 2
    for name in SWEPT:
        share = find_measure(name)(counts)
        low, high = clopper_pearson(share.k, share.n, level) if sure else unknown
        low, high = share.between(low, high)
        columns |= {name: share.value, f"{name}_low": low, f"{name}_high": high}
    if costs is not None:
        low, high = _cost_ends(counts, costs, level) if sure else unknown
        mean = mean_cost(table, outcome_costs(costs))[rows]
        columns |= {"cost": mean, "cost_low": low, "cost_high": high}
    return [
        dict(zip(columns, values, strict=True))
        for values in zip(*(column.tolist() for column in columns.values()), strict=True)
    ]


def _progress(table: Sweep) -> Array:
    r"""Say how far down each threshold is, from 0 to 1, on a scale that rare classes do not crowd.

    The mean of :math:`FP/(FP+P)` and :math:`1 - FN/(FN+N)`, each as a share of its range.  The
    first grows as fast as precision falls, and is the false positive rate if positives abound; the
    second is the recall if they are rare.  The scale treats both classes alike.
    """
    positives, negatives = float(table.tp[-1]), float(table.fp[-1])
    false_alarms = table.fp / (table.fp + (positives or negatives))
    misses = table.fn / (table.fn + (negatives or positives))
    down = false_alarms / (false_alarms[-1] or 1.0) - misses / (misses[0] or 1.0)
    return np.asarray((down - down[0]) / (down[-1] - down[0]))


def _cost_ends(
    counts: BinaryCounts, costs: Mapping[str, float], level: float
) -> tuple[Array, Array]:
    """Give the interval of the mean cost at each threshold."""
    at = zip(*(getattr(counts, name).tolist() for name in OUTCOMES), strict=True)
    intervals = [_evaluated(one, ["cost"], costs, level)["cost"].interval for one in at]
    low, high = (
        np.array([math.nan if one is None else getattr(one, end) for one in intervals])
        for end in ("low", "high")
    )
    return low, high


def _evaluated(
    counts: Sequence[float], names: list[str], costs: Mapping[str, float] | None, level: float
) -> Evaluation:
    """Evaluate the counts at one threshold: TP, FP, FN and TN."""
    tp, fp, fn, tn = map(int, counts)
    return evaluate_counts(
        [[tn, fp], [fn, tp]],
        labels=["0", "1"],
        pos_label="1",
        level=level,
        costs=costs,
        measures=names,
    )


def _check_independent(ranking: Ranking, *, independent: bool) -> None:
    if not independent:
        raise InputError(
            "`guarantee` must be of independent examples; these come in groups. Keep one row of "
            "each group, chosen at random."
        )
    if ranking.weighted:
        raise InputError(
            "`guarantee` must be of examples of equal weight: no finite-sample guarantee is known "
            "for weighted ones. Leave the weights out."
        )


def _check_guarantee(guarantee: Mapping[str, float], measures: tuple[str, ...]) -> None:
    """Refuse a promise of another measure, or one that no example could break or keep."""
    for name, bound in guarantee.items():
        check_choice(name, measures, "guarantee")
        check_number(bound, f"guarantee[{name!r}]", low=0, high=1)
        if bound in (0, 1):
            raise InputError(
                f"`guarantee[{name!r}]` must lie strictly between 0 and 1; got {bound:g}."
            )


@dataclass(frozen=True)
class _Promise:
    """How a measure is guaranteed: who is wrong, of whom, as the threshold moves."""

    counts: Callable[[Sweep], tuple[NDArray[Any], NDArray[Any]]]  # errors, of so many
    method: str
    falling: bool = True  # thresholds are tested from the highest on
    things: str = "examples"


PROMISES = {
    "recall": _Promise(lambda table: (table.fn, table.tp + table.fn), ORDER, things="positives"),
    "specificity": _Promise(
        lambda table: (table.fp, table.fp + table.tn), ORDER, things="negatives"
    ),
    "precision": _Promise(lambda table: (table.fp, table.tp + table.fp), SEQUENCE),
    "negative_predictive_value": _Promise(
        lambda table: (table.fn, table.tn + table.fn), SEQUENCE, falling=False
    ),
}


def _guarantees(
    table: Sweep, guarantee: Mapping[str, float], level: float
) -> tuple[Flags, tuple[Guarantee, ...]]:
    """Find the rows at which all promises are kept, and say what is known of each."""
    _check_guarantee(guarantee, tuple(PROMISES))
    delta = (1 - level) / len(guarantee)
    together, given = np.ones(len(table), dtype=np.bool_), []
    for name, bound in guarantee.items():
        promise, order = PROMISES[name], slice(None)
        errors, of = promise.counts(table)
        if promise.method == ORDER:
            kept = kept_by_order(errors, int(of[0]), 1 - bound, delta)
        else:
            order = slice(None, None, 1 if promise.falling else -1)
            kept = kept_in_sequence(of[order], errors[order], 1 - bound, delta)[order]
        one = _guaranteed_ends(name, bound, 1 - delta, promise.method, table.threshold[kept])
        if not one.is_kept:
            one = _explained(one, promise, errors, of, n=int(table.tp[-1] + table.fp[-1]))
        given.append(one)
        together &= kept
    return together, tuple(given)


def _guaranteed_ends(
    name: str, bound: float, level: float, method: str, thresholds: Array
) -> Guarantee:
    """Make the guarantee of the thresholds that keep it, which may be none."""
    ends = (
        (float(thresholds.min()), float(thresholds.max())) if len(thresholds) else (math.nan,) * 2
    )
    return Guarantee(name, bound, level, method, *ends)


def _explained(
    one: Guarantee, promise: _Promise, errors: NDArray[Any], of: NDArray[Any], n: int
) -> Guarantee:
    """Say why no threshold keeps a promise, and how many examples would be needed."""
    if promise.method == SEQUENCE:
        return _explained_sequence(one, errors, of, n)
    here, least = int(of[0]), accepted_for(0, 1 - one.bound, 1 - one.level)
    reason = f"That takes {least:,} {promise.things} or more; here are {here:,}."
    needed = math.inf if here == 0 else math.ceil(n * least / here)
    return dataclasses.replace(one, reason=reason, needed=needed)


def _explained_sequence(
    one: Guarantee, errors: NDArray[Any], accepted: NDArray[Any], n: int
) -> Guarantee:
    """Say why no threshold of a sequence keeps a promise, by the one that comes nearest to it."""
    rate = one.bound if one.measure == "error" else 1 - one.bound
    tail = at_most(errors.astype(np.float64), accepted.astype(np.float64), rate)
    nearest = int(np.argmin(tail))
    wrong, reached = int(errors[nearest]), int(accepted[nearest])
    # A sequence starts with about half of what it may spend.
    times = times_needed(wrong, reached, rate, (1 - one.level) / 2)
    claim = "No threshold shows that with enough examples"
    if not math.isfinite(times):
        return dataclasses.replace(
            one, needed=math.inf, reason=f"{claim}, and more of the kind would not help."
        )
    needed = max(math.ceil(n * times), n + 1)
    reason = (
        f"{claim}: the nearest has {wrong:,} wrong of {reached:,}. About {needed:,} examples of "
        f"the kind would do; here are {n:,}."
    )
    return dataclasses.replace(one, needed=needed, reason=reason)


def _naively_kept(table: Sweep, guarantee: Mapping[str, float]) -> Flags:
    """Find the rows that have the promised values on these examples."""
    kept = np.ones(len(table), dtype=np.bool_)
    for name, bound in guarantee.items():
        errors, of = PROMISES[name].counts(table)
        kept &= (of > 0) & (of - errors >= bound * of)
    return kept


def _estimates(
    best: Threshold, options: Mapping[str, Any], level: float, *, sure: bool
) -> dict[str, Estimate]:
    """Estimate the measures at a chosen threshold, with intervals that allow for the choice."""
    if math.isnan(best.at):
        return {}
    own = str(options["by"])
    if own == "f_beta":
        own = f"f{np.format_float_positional(options['beta'], trim='-')}"
    names = list(dict.fromkeys([*AT_THRESHOLD, own]))
    if sure:
        counted = [getattr(best, name) for name in OUTCOMES]
        evaluation = _evaluated(counted, names, options["costs"], level_after_choice(level))
        return {name: _after_choice(evaluation[name], level) for name in names}
    counts = BinaryCounts(best.tp, best.fp, best.fn, best.tn)
    values = {name: float(find_measure(name).value(counts)) for name in names if name != own}
    n = best.tp + best.fp + best.fn + best.tn
    return {
        name: Estimate(value=value, interval=None, measure=name, method="counts", n=n)
        for name, value in {**values, own: best.value}.items()
    }


def _after_choice(estimate: Estimate, level: float) -> Estimate:
    """Give an interval the level that it has after the choice."""
    ends = estimate.interval
    if ends is None or not estimate.is_defined:
        return estimate
    interval = Interval(ends.low, ends.high, level, f"{ends.method}_after_choice")
    return dataclasses.replace(estimate, interval=interval)


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
    _check_guarantee(guarantee, ("error",))
    check_level(level)
    bound = guarantee["error"]
    accepted, errors = curve.accepted[::-1], curve.errors[::-1]
    kept = kept_in_sequence(accepted, errors, bound, 1 - level)
    one = _guaranteed_ends("error", bound, level, SEQUENCE, curve.thresholds[::-1][kept])
    point = RejectionPoint(np.nan, 1.0, np.nan, 0, 0)
    if one.is_kept:
        point = curve.at(one.lowest)
    else:
        one = _explained_sequence(one, errors, accepted, int(accepted[-1]))
    naive = curve.threshold_for_error(bound)
    return dataclasses.replace(curve, guaranteed=GuaranteedRejection(one, point, naive))
