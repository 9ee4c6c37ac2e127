"""The rules that turn the values and losses of refits into an interval, by name.

`summarise` takes the values of refits alone.  The other rules take one finished estimate and what
the refits say, and give the estimate with the interval and target of the rule.  The default rule,
variance components, is not here: it is how votes are read.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from truerisk.checks import check_choice, check_level, check_number, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.estimation.refits.cv import (
    RefitScores,
    is_search,
    named_scores,
    scores_of_cross_validate,
    scores_of_search,
)
from truerisk.estimation.refits.plans import Folds, HeldOut, NestedFolds
from truerisk.estimation.refits.votes import CollectedVotes, RefitValues
from truerisk.intervals.cross_validation import (
    ConservativeZRuns,
    conservative_z_interval,
    corrected_standard_error,
    cross_validation_clt,
    deviation,
    nested_interval,
)
from truerisk.intervals.measured_coverage import divisions_design, folds_design
from truerisk.intervals.variance_components import METHOD, ROUNDING, pseudo_value_interval
from truerisk.learners.scoring import better_sign, range_of
from truerisk.measures.registry import base_measure, measure_of
from truerisk.results import Estimate, Finding, Interval, Resampled

PLAIN_T_IS_INVALID = Finding(
    "plain t over folds: invalid, because the training sets overlap and the replicates are not "
    "independent (measured type I error .21 at .05)",
    code="plain_t_is_invalid",
)
CORRECTED_T_IS_APPROXIMATE = Finding(
    "corrected resampled t: an approximation, no unbiased estimate of this variance exists; too "
    "short where there are few errors, or refits err together (measured at 95 %: down to 0.35)",
    code="corrected_t_is_approximate",
)


ALL_EQUAL = "all replicates are equal, so their variance is zero"


def plain_standard_error(values: Sequence[float], test_train_ratio: float) -> float:  # noqa: ARG001
    r"""Give :math:`s / \sqrt{J}`, which takes the J replicates to be independent; they are not."""
    return deviation(values) / math.sqrt(len(values))


STANDARD_ERRORS: dict[str, Callable[[Sequence[float], float], float]] = {
    "corrected_t": corrected_standard_error,
    "plain_t": plain_standard_error,
}
TITLES = {"corrected_t": "corrected_t", "plain_t": "plain_t (invalid)"}
WARNINGS = {"corrected_t": CORRECTED_T_IS_APPROXIMATE, "plain_t": PLAIN_T_IS_INVALID}


def summarise(
    values: Any,
    *,
    measure: str | None = None,
    folds: int | None = None,
    test_train_ratio: float | None = None,
    level: float = 0.95,
    method: str = "corrected_t",
) -> Resampled:
    r"""Give the mean of the values of J refits, and an interval for the learner's performance.

    .. math:: \bar v \pm t_{J-1} \; s \sqrt{\frac{1}{J} + \frac{n_{test}}{n_{train}}},
              \qquad s^2 = \frac{1}{J - 1} \sum_{j=1}^{J} (v_j - \bar v)^2

    It speaks of the *learner* at this sample size, not of one trained model.  The interval is an
    approximation: with normal replicates of equal correlation :math:`n_{test} / (n_{test} +
    n_{train})` it would be exact, and no unbiased estimate of the true variance exists [2]_.  By
    simulation (linear discriminants, 95 %) it covers .93 to .99 where the error rate is .16 to .31,
    but .68 where only one or two of 50 examples are wrong: there, pool the predictions of all folds
    and take an interval for k of n.  Where it would leave the range of the measure it is cut off.

    Parameters
    ----------
    values
        The measure on the test part of each refit: of the folds of one cross-validation, or of all
        its repetitions.  The result of scikit-learn's `cross_validate` is taken too: its
        `test_score`, or `test_` and the name of the measure.  So is a fitted search (GridSearchCV,
        RandomizedSearchCV, HalvingGridSearchCV) or its `cv_results_`: the winner, with the mean
        corrected for its having been chosen (`scores_of_search`), and an interval that holds those
        of the mean before and after.
    measure
        What the values are, by its name in the registry or scikit-learn's; it sets their range.  Of
        a search, its own unless given.
    folds
        How many folds one repetition has, which makes the ratio of test to training examples
        1/(folds − 1); 2 for five times two.  As many as there are values, unless given.
    test_train_ratio
        That ratio itself, for random subsampling; instead of `folds`.
    level
        Confidence level.
    method
        `corrected_t` (Nadeau and Bengio), or `plain_t`, which is invalid and labelled so.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning
       52(3), 239-281, 2003. https://doi.org/10.1023/A:1024068626366
    .. [2] Y. Bengio and Y. Grandvalet, "No unbiased estimator of the variance of K-fold
       cross-validation", Journal of Machine Learning Research 5, 1089-1105, 2004.

    Examples
    --------
    >>> errors = [0.14, 0.16, 0.10, 0.15, 0.18, 0.17, 0.15, 0.12, 0.13, 0.20]
    >>> print(summarise(errors, measure="error_rate", folds=5))
    error_rate = 0.150 [0.111, 0.189] at 95 % (corrected_t, n = 10, the learner at this sample size)
    """
    check_choice(method, STANDARD_ERRORS, "method")
    check_level(level)
    scores = _scores_of(values, measure)
    measure = scores.measure
    replicates = _check_values(scores.values, measure, range_of(measure))
    if folds is None and test_train_ratio is None:
        folds = scores.folds
    ratio, design = _check_design(len(replicates), folds, test_train_ratio)
    resampled = mean_of_refits(replicates, measure, ratio, level, design=design, method=method)
    resampled = replace(
        resampled, design=_named_design(len(replicates), ratio, test_train_ratio is None)
    )
    return resampled if scores.candidates == 1 else _without_luck(resampled, scores)


def _scores_of(values: Any, measure: str | None) -> RefitScores:
    """Read what scikit-learn gives, or bare values of a measure of the registry."""
    if is_search(values):
        return scores_of_search(values, measure)
    if measure is None:
        raise InputError("`measure` must say what the values are; got none.")
    if isinstance(values, Mapping):
        return scores_of_cross_validate(values, measure)
    scores = named_scores(measure, [float(value) for value in values])
    base_measure(scores.measure)  # refuses names that are none
    return scores


def _without_luck(resampled: Resampled, scores: RefitScores) -> Resampled:
    """Move the mean of a winner by how much it is too good; hold the interval of either mean.

    The estimate of the luck is itself too large where each division has few examples.
    """
    low, high = range_of(scores.measure)
    move = -better_sign(scores.measure) * scores.optimism
    value = min(max(resampled.value + move, low), high)
    interval = resampled.interval and replace(
        resampled.interval,
        low=max(resampled.interval.low + min(move, 0.0), low),
        high=min(resampled.interval.high + max(move, 0.0), high),
        method="corrected_t of a winner",
    )
    note = Finding(
        f"the best of {scores.candidates}, chosen by these divisions: its own mean "
        f"{resampled.value:.4g} is too good by about {scores.optimism:.3g}, which is taken off",
        code="winner_corrected",
    )
    notes = (*resampled.notes, note, *_winner_not_kept(scores))
    return replace(resampled, value=value, interval=interval, notes=notes)


def _winner_not_kept(scores: RefitScores) -> Iterator[Finding]:
    """Say where the interval of a winner was measured to miss more often than its level says."""
    entry, _ = measure_of(scores.measure)
    if entry is None:
        return
    high, code = entry.measure_range[1], "not_kept_at_this_size"
    if math.isinf(high):
        text = "not kept for a loss without a largest value (measured at 95 %: down to 0.62)"
        yield Finding(text, code=code)
    elif entry.needs == "ranking" and max(scores.values) >= high:
        text = "not kept where some part is ranked without fault (measured at 95 %: down to 0.83)"
        yield Finding(text, code=code)


def mean_of_refits(
    replicates: tuple[float, ...],
    measure: str,
    ratio: float,
    level: float,
    *,
    design: str = "",
    method: str = "corrected_t",
) -> Resampled:
    """Give the mean of checked values, and its interval as `summarise` describes it."""
    measure_range = range_of(measure)
    tail = (1 - level) / 2
    mean = math.fsum(replicates) / len(replicates)
    error = STANDARD_ERRORS[method](replicates, ratio)
    sd, n = deviation(replicates), len(replicates)
    spread = (
        f"standard deviation of the {n} replicates: {sd:.4g} (dividing by n − 1), "
        f"{sd * math.sqrt((n - 1) / n):.4g} (dividing by n)"
    )
    notes = [Finding(design, code="design"), Finding(spread, code="spread_of_replicates")]
    interval = None
    if error > 0:
        half = -float(stdtrit(n - 1, tail)) * error
        low, high = max(mean - half, measure_range[0]), min(mean + half, measure_range[1])
        interval = Interval(low, high, level, TITLES[method])
        notes.append(WARNINGS[method])
        if low > mean - half or high < mean + half:
            cut = "the interval is cut off at the end of the measure's range"
            notes.append(Finding(cut, code="interval_cut"))
    else:
        notes.append(Finding(f"no interval: {ALL_EQUAL}", code="no_spread"))
    return Resampled(
        value=mean,
        interval=interval,
        measure=measure,
        method="resampling",
        n=n,
        target="the learner at this sample size",
        notes=tuple(notes),
        replicates=replicates,
    )


def _check_values(
    replicates: tuple[float, ...], measure: str, measure_range: tuple[float, float]
) -> tuple[float, ...]:
    if len(replicates) < 2:
        raise InputError(f"`values` must be at least two; got {len(replicates)}.")
    low, high = measure_range
    for position, value in enumerate(replicates, start=1):
        if math.isnan(value):
            raise InputError(
                f"`values` must all be defined; got NaN as number {position}. A fold without a "
                "value cannot be left out: pool the predictions of all folds instead."
            )
        if not low <= value <= high or math.isinf(value):
            percent = low == 0 and high == 1 and 1 < value <= 100
            remedy = f" Write {value / 100:g} for {value:g} %." if percent else ""
            raise InputError(
                f"`values` of {measure} must be numbers in [{low:g}, {high:g}]; got {shown(value)} "
                f"as number {position}.{remedy}"
            )
    return replicates


def _check_design(n: int, folds: int | None, test_train_ratio: float | None) -> tuple[float, str]:
    """Give the ratio of test to training examples, and the sentence that says so."""
    if test_train_ratio is not None:
        if folds is not None:
            raise InputError("`folds` must be left out when `test_train_ratio` is given; got both.")
        ratio = check_number(test_train_ratio, "test_train_ratio", low=np.finfo(float).tiny)
        return ratio, f"{n} random divisions, test to training examples {ratio:.4g}"
    folds = n if folds is None else check_whole_number(folds, "folds", low=2)
    if n % folds:
        raise InputError(
            f"`folds` must divide the number of values; got {folds} folds and {n} values."
        )
    repeated = f", {n // folds} times" if n > folds else ""
    return 1 / (folds - 1), f"{folds} folds{repeated}, test to training examples 1/{folds - 1}"


def _named_design(n: int, ratio: float, of_folds: bool) -> str:  # noqa: FBT001
    """Name n refits as the ledgers do, by the ratio of their test to training examples."""
    if not of_folds:
        return divisions_design(n, ratio / (1 + ratio))
    folds = round(1 / ratio) + 1
    return folds_design(folds, n // folds)


DEFAULT, AGREEMENT, ONE_REPETITION = METHOD, "agreement", "one_repetition"
COMPONENTS_OR_T = "components_or_t"
FEW_TESTED = 30  # examples held out, of a scorer
LARGE_TESTS = 1 / 3  # examples tested for each trained on: a quarter of all
MEAN_LOSSES = {"error_rate", "accuracy"}
NOT_BY_ONE_REPETITION = {"precision", "matthews_correlation"}
ONE_REPETITION_FAILS = Finding(
    "not kept by one repetition: whether refits err together is unknown (measured at 95 % where "
    "they do: down to 0.86); repeat the folds",
    code="not_kept_at_this_size",
)


@dataclass(frozen=True)
class RuleInput:
    """What a rule looks at."""

    estimate: Estimate
    collected: CollectedVotes
    values: RefitValues
    level: float


def corrected_t(given: RuleInput, method: str = "corrected_t") -> Estimate:
    """Nadeau and Bengio's corrected resampled t, over the values of the refits.

    As "plain_t", Student's t over the refits as if they were independent: invalid, for comparison.
    """
    plan, name = given.collected.plan, given.estimate.measure
    values = given.values.of(name)
    if given.collected.failures:
        return _open(given, method, "refits failed, and their values are missing", "refits_failed")
    if not values:
        return _open(given, method, "it has no value for each refit", "no_values_of_refits")
    if len(values) < 2:
        return _open(given, method, "a single refit has no spread", "no_spread")
    unusable = int((~np.isfinite(values)).sum())
    if unusable:
        reason = f"it is undefined or infinite in {unusable} of {len(values)} refits"
        return _open(given, method, reason, "undefined_in_refits")
    if isinstance(plan, HeldOut):
        folds, ratio = None, plan.test_train_ratio()
    elif isinstance(plan, Folds):
        folds, ratio = plan.folds, None
    else:
        raise InputError(f"`interval` must be one that fits the method; got {method}.")
    ratio, design = _check_design(len(values), folds, ratio)
    resampled = mean_of_refits(values, name, ratio, given.level, design=design, method=method)
    if resampled.interval is None:
        return _open(given, "interval", ALL_EQUAL, "no_spread")
    value = given.estimate.value
    # The pooled value and the mean over refits differ where refits judge unequally many.
    interval = replace(
        resampled.interval,
        low=min(resampled.interval.low, value),
        high=max(resampled.interval.high, value),
    )
    return replace(
        given.estimate,
        interval=interval,
        target=resampled.target,
        notes=(*given.estimate.notes, *resampled.notes),
    )


def spread_of_refits(given: RuleInput, label: str | None = None) -> Estimate:
    """Lengthen an interval to hold the corrected t over the refits, where refits say too little.

    With one repetition of folds nothing is known of how refits disagree about an example, but
    something of how they differ.  Refits that test more than a quarter of the examples learn from
    so few that they are worse than the model trained on all, and the interval of a share, which is
    long on its own side, misses that.  What has no value in each refit stays as it is, as do
    groups.
    """
    collected, one = given.collected, given.estimate
    plan, interval = collected.plan, one.interval
    if interval is None or not isinstance(plan, Folds | HeldOut):
        return one
    alone = isinstance(plan, Folds) and plan.repetitions == 1
    repeated = plan.repetitions > 1 and plan.test_train_ratio() > LARGE_TESTS + ROUNDING
    grouped = collected.examples.groups is not None
    if not (alone or repeated) or collected.single or collected.failures or grouped:
        return one
    if alone and one.measure in NOT_BY_ONE_REPETITION:
        one = replace(one, notes=(*one.notes, ONE_REPETITION_FAILS))
    values = given.values.of(one.measure, label)
    if len(values) < 2 or not one.is_defined or not np.isfinite(values).all():
        return one
    spread = mean_of_refits(values, one.measure, plan.test_train_ratio(), given.level).interval
    if spread is None:
        return one
    low, high = min(interval.low, spread.low), max(interval.high, spread.high)
    if alone:
        return replace(one, interval=Interval(low, high, given.level, ONE_REPETITION))
    return replace(one, interval=replace(interval, low=low, high=high, method=COMPONENTS_OR_T))


def of_pseudo_values(given: RuleInput) -> Estimate:
    """Give a scorer the interval of its pseudo-values; the corrected t where it has none."""
    collected, name = given.collected, given.estimate.measure
    pseudo = collected.pseudo_values_of(name)
    if pseudo is None or collected.failures or not given.estimate.is_defined:
        return corrected_t(given)
    groups = collected.examples.groups
    interval = pseudo_value_interval(
        given.estimate.value,
        pseudo,
        collected.votes.refits[:, collected.left_out],
        level=given.level,
        weights=collected.left_out_weights if groups is None else None,
        groups=groups,
    )
    if interval is None:
        return _open(given, "interval", "no example moves the score", "no_spread")
    notes = given.estimate.notes
    if len(collected.plan) == 1 and given.estimate.n < FEW_TESTED:
        text = (
            f"not kept with under {FEW_TESTED} examples held out (measured at 95 %: down to 0.87)"
        )
        notes += (Finding(text, code="not_kept_at_this_size"),)
    estimate = replace(given.estimate, interval=interval, target="this model", notes=notes)
    return spread_of_refits(replace(given, estimate=estimate))


def central_limit(given: RuleInput) -> Estimate:
    """Bayle and others' central limit interval of one cross-validation; of means of losses only."""
    losses, plan, what = _losses(given), given.collected.plan, "central limit interval"
    if losses is None:
        note = f"the central limit interval is of error rate and accuracy: this one is {METHOD}"
        notes = (*given.estimate.notes, Finding(note, code="no_mean_loss"))
        return replace(given.estimate, notes=notes)
    if not isinstance(plan, Folds) or plan.repetitions != 1:
        return _open(given, what, "there is not one repetition", "no_folds")
    if given.collected.failures:
        return _open(given, what, "refits failed", "refits_failed")
    interval = cross_validation_clt(losses, plan.parts[0], level=given.level)
    if interval is None:
        return _open(given, what, "the losses do not vary", "no_spread")
    return replace(given.estimate, interval=interval, target="the models of the folds")


def nested(given: RuleInput) -> Estimate:
    """Bates, Hastie and Tibshirani's interval and corrected value, of error rate and accuracy."""
    losses, plan = given.collected.nested, given.collected.plan
    name = given.estimate.measure
    if losses is None or not isinstance(plan, NestedFolds) or name not in MEAN_LOSSES:
        return given.estimate
    if given.collected.failures:
        reason = "refits failed, and their losses are missing"
        return _open(given, "nested interval", reason, "refits_failed")
    wrong = losses if name == "error_rate" else ~losses
    corrected = nested_interval(wrong, plan.parts, level=given.level)
    if corrected.interval is None:
        note = Finding("no nested interval: no loss varies", code="no_spread")
        return replace(given.estimate, notes=(*given.estimate.notes, note))
    return replace(
        given.estimate,
        value=corrected.value,
        interval=corrected.interval,
        target="the learner at this sample size",
    )


def conservative_z(given: RuleInput) -> Estimate:
    """Nadeau and Bengio's conservative Z, of the measures that every refit has."""
    plan, what = given.collected.plan, "conservative Z"
    values = given.values.of(given.estimate.measure)
    if given.collected.failures:
        return _open(given, what, "refits failed, and their values are missing", "refits_failed")
    if not isinstance(plan, ConservativeZRuns) or len(values) != len(plan):
        return _open(given, what, "not every refit has a value of it", "no_values_of_refits")
    if not np.isfinite(values).all():
        return _open(given, what, "it is undefined in some refits", "undefined_in_refits")
    whole, halves = plan.arrange(values)
    interval = conservative_z_interval(
        whole, halves, level=given.level, measure_range=range_of(given.estimate.measure)
    )
    if interval is None:
        return _open(given, what, "the halves never differ", "no_spread")
    return replace(
        given.estimate,
        value=float(whole.mean()),
        interval=interval,
        target="the learner at this sample size",
    )


RULES: dict[str, Callable[[RuleInput], Estimate]] = {
    "corrected_t": corrected_t,
    "plain_t": partial(corrected_t, method="plain_t"),
    "central_limit": central_limit,
}


def models_of_folds(given: RuleInput) -> Estimate:
    """Take the interval of independent examples, and say that it is of the models of the folds."""
    return replace(given.estimate, target="the models of the folds")


def no_valid_interval(given: RuleInput) -> Estimate:
    """Give the whole range: nothing is known of how these refits vary together."""
    return _open(
        replace(given, estimate=models_of_folds(given)),
        "interval",
        "none is known that is valid for these divisions; take folds, or random divisions of one "
        "size",
        "no_valid_interval",
    )


# Methods whose refits are made for one rule.
OWN_RULES: dict[str, Callable[[RuleInput], Estimate]] = {
    "given_folds": models_of_folds,
    "given_divisions": no_valid_interval,
    "nested_cross_validation": nested,
    "conservative_z": conservative_z,
}


def _losses(given: RuleInput) -> NDArray[np.float64] | None:
    """Give the loss of each example in the first repetition, where the measure is their mean."""
    called = given.collected.called
    if called is None or given.estimate.measure not in MEAN_LOSSES:
        return None
    wrong = called[0] != given.collected.examples.codes
    return np.asarray(wrong if given.estimate.measure == "error_rate" else ~wrong, dtype=float)


def _open(given: RuleInput, what: str, reason: str, code: str) -> Estimate:
    """Give the whole range as the interval, and the reason why there is nothing better."""
    interval = Interval(*range_of(given.estimate.measure), given.level, "whole_range")
    notes = (*given.estimate.notes, Finding(f"no {what}: {reason}", code=code))
    return replace(given.estimate, interval=interval, notes=notes)
