"""The rules that turn the values and losses of refits into an interval, by name.

Each takes one finished estimate and what the refits say, and gives the estimate with the rule's
interval and target.  The default, agreement, is not here: it is how votes are read.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.estimation.judging import Judging
from truerisk.estimation.plans import Folds, HeldOut
from truerisk.estimation.run_values import RunValues
from truerisk.estimation.summary import summarise
from truerisk.intervals.cross_validation_clt import cross_validation_clt
from truerisk.measures.registry import find_measure
from truerisk.results import Estimate, Interval

DEFAULT = "agreement"


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
    if len(values) < 2:
        return _open(asked, f"no {method}: a single refit has no spread")
    undefined = int(np.isnan(values).sum())
    if undefined or not np.isfinite(values).all():
        return _open(asked, f"no {method}: it is undefined in {undefined} of {len(values)} refits")
    if isinstance(plan, Folds):
        design: dict[str, float] = {"folds": plan.folds}
    elif isinstance(plan, HeldOut):
        held = plan.judged.mean()
        design = {"test_train_ratio": float(held / (1 - held))}
    else:
        raise InputError(f"`interval` must be one that fits the method; got {method}.")
    found = summarise(values, measure=_registered(name), level=asked.level, method=method, **design)  # type: ignore[arg-type]
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
    found = cross_validation_clt(losses, plan.parts[0], level=asked.level)
    return replace(asked.estimate, interval=found, target="this model")


RULES: dict[str, Callable[[Asked], Estimate]] = {
    "corrected_t": corrected_t,
    "plain_t": plain_t,
    "central_limit": central_limit,
}


def _losses(asked: Asked) -> NDArray[np.float64] | None:
    """Give the loss of each example in the first repetition, where the measure is their mean."""
    called = asked.judging.called
    if called is None or asked.estimate.measure not in {"error_rate", "accuracy"}:
        return None
    wrong = called[0] != asked.judging.examples.codes
    return np.asarray(wrong if asked.estimate.measure == "error_rate" else ~wrong, dtype=float)


def _open(asked: Asked, *notes: str) -> Estimate:
    """Leave everything open, and say why."""
    measure = find_measure(_registered(asked.estimate.measure))
    low, high = measure.measure_range
    interval = Interval(low, high, asked.level, "whole_range")
    return replace(asked.estimate, interval=interval, notes=(*asked.estimate.notes, *notes))


def _registered(name: str) -> str:
    """Give the name in the registry of a measure or of its average."""
    base, _, average = name.rpartition("_")
    return base if average in {"micro", "macro", "weighted", "samples"} else name
