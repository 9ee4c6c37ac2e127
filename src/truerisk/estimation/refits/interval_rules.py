"""The rules that turn the values and losses of refits into an interval, by name.

Each takes one finished estimate and what the refits say, and gives the estimate with the rule's
interval and target.  The default, agreement, is not here: it is how votes are read.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.estimation.refits.judging import Judging
from truerisk.estimation.refits.plans import Folds, HeldOut, NestedFolds
from truerisk.estimation.refits.run_values import RunValues
from truerisk.estimation.refits.summary import summarise
from truerisk.intervals.cross_validation import cross_validation_clt, nested_interval
from truerisk.intervals.resampled_tests import ConservativeZRuns, conservative_z_interval
from truerisk.measures.registry import Measure, base_and_average, find_measure
from truerisk.results import Estimate, Interval

DEFAULT = "agreement"
MEAN_LOSSES = {"error_rate", "accuracy"}


@dataclass(frozen=True)
class Asked:
    """What a rule looks at."""

    estimate: Estimate
    judging: Judging
    values: RunValues
    level: float


def _t_over_refits(asked: Asked, method: str) -> Estimate:
    plan, name = asked.judging.plan, asked.estimate.measure
    values = asked.values.of(name)
    if asked.judging.failures:
        return _open(asked, f"no {method}: refits failed, and their values are missing")
    if not values:
        return _open(asked, f"no {method}: it has no value for each refit")
    if len(values) < 2:
        return _open(asked, f"no {method}: a single refit has no spread")
    undefined = int(np.isnan(values).sum())
    if undefined or not np.isfinite(values).all():
        return _open(asked, f"no {method}: it is undefined in {undefined} of {len(values)} refits")
    if isinstance(plan, HeldOut):
        folds, held = None, float(plan.judged.mean())
        ratio: float | None = held / (1 - held)
    elif isinstance(plan, Folds):
        folds, ratio = plan.folds, None
    else:
        raise InputError(f"`interval` must be one that fits the method; got {method}.")
    found = summarise(
        values,
        measure=_measure(asked).name,
        folds=folds,
        test_train_ratio=ratio,
        level=asked.level,
        method=method,
    )
    if found.interval is None:
        return _open(asked, *found.notes[-1:])
    value = asked.estimate.value
    # The pooled value and the mean over refits differ where refits judge unequally many.
    interval = replace(
        found.interval,
        low=min(found.interval.low, value),
        high=max(found.interval.high, value),
    )
    return replace(
        asked.estimate,
        interval=interval,
        target=found.target,
        notes=(*asked.estimate.notes, *found.notes),
    )


def corrected_t(asked: Asked) -> Estimate:
    """Nadeau and Bengio's corrected resampled t, over the values of the refits."""
    return _t_over_refits(asked, "corrected_t")


def plain_t(asked: Asked) -> Estimate:
    """Student's t over the refits as if they were independent: invalid, for comparison."""
    return _t_over_refits(asked, "plain_t")


def central_limit(asked: Asked) -> Estimate:
    """Bayle and others' central limit interval of one cross-validation; of means of losses only."""
    losses = _losses(asked)
    plan = asked.judging.plan
    if losses is None or not isinstance(plan, Folds) or plan.repetitions != 1:
        return _open(
            asked,
            "no central limit interval: it is of error rate and accuracy, and of one repetition",
        )
    if asked.judging.failures:
        return _open(asked, "no central limit interval: refits failed")
    found = cross_validation_clt(losses, plan.parts[0], level=asked.level)
    if found is None:
        return _open(asked, "no central limit interval: the losses do not vary")
    return replace(asked.estimate, interval=found, target="this model")


def nested(asked: Asked) -> Estimate:
    """Bates, Hastie and Tibshirani's interval and corrected value, of error rate and accuracy."""
    losses, plan = asked.judging.nested, asked.judging.plan
    name = asked.estimate.measure
    if losses is None or not isinstance(plan, NestedFolds) or name not in MEAN_LOSSES:
        return asked.estimate
    if asked.judging.failures:
        return _open(asked, "no nested interval: refits failed, and their losses are missing")
    wrong = losses if name == "error_rate" else ~losses
    found = nested_interval(wrong, plan.parts, level=asked.level)
    if found.interval is None:
        return replace(
            asked.estimate, notes=(*asked.estimate.notes, "no nested interval: no loss varies")
        )
    return replace(
        asked.estimate,
        value=found.value,
        interval=found.interval,
        target="the learner at this sample size",
    )


def conservative_z(asked: Asked) -> Estimate:
    """Nadeau and Bengio's conservative Z, of the measures that every refit has."""
    plan = asked.judging.plan
    values = asked.values.of(asked.estimate.measure)
    if asked.judging.failures:
        return _open(asked, "no conservative Z: refits failed, and their values are missing")
    if not isinstance(plan, ConservativeZRuns) or len(values) != len(plan):
        return _open(asked, "no conservative Z: not every refit has a value of it")
    if not np.isfinite(values).all():
        return _open(asked, "no conservative Z: it is undefined in some refits")
    whole, halves = plan.arrange(values)
    low, high = _measure(asked).measure_range
    found = conservative_z_interval(whole, halves, level=asked.level, measure_range=(low, high))
    if found is None:
        return _open(asked, "no conservative Z: the halves never differ")
    return replace(
        asked.estimate,
        value=float(whole.mean()),
        interval=found,
        target="the learner at this sample size",
    )


RULES: dict[str, Callable[[Asked], Estimate]] = {
    "corrected_t": corrected_t,
    "plain_t": plain_t,
    "central_limit": central_limit,
}


# Methods whose refits are made for one rule.
OWN_RULES: dict[str, Callable[[Asked], Estimate]] = {
    "nested_cross_validation": nested,
    "conservative_z": conservative_z,
}


def _losses(asked: Asked) -> NDArray[np.float64] | None:
    """Give the loss of each example in the first repetition, where the measure is their mean."""
    called = asked.judging.called
    if called is None or asked.estimate.measure not in MEAN_LOSSES:
        return None
    wrong = called[0] != asked.judging.examples.codes
    return np.asarray(wrong if asked.estimate.measure == "error_rate" else ~wrong, dtype=float)


def _open(asked: Asked, *notes: str) -> Estimate:
    """Leave everything open, and say why."""
    low, high = _measure(asked).measure_range
    interval = Interval(low, high, asked.level, "whole_range")
    return replace(asked.estimate, interval=interval, notes=(*asked.estimate.notes, *notes))


def _measure(asked: Asked) -> Measure:
    return find_measure(base_and_average(asked.estimate.measure)[0])
