"""Several learners side by side: where their curves cross, and which one is worth its time."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from truerisk.aliases import Array
from truerisk.estimation.curves.means import resampled_means
from truerisk.intervals.resampled_tests import corrected_standard_error
from truerisk.results import Interval

METHOD = "paired_bootstrap"


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """From which training size on the learner `after` has a better mean than `before`.

    `size` is NaN where the curves do not cross within the sizes tried; `before` and `after` are
    then the worse and the better one.  The interval is cut off at the sizes tried: an end that
    stands there says that the crossing may lie outside.  `share` is how many of the resampled
    curves cross within.  `lead` is how much better `after` is at the largest size, with the
    corrected resampled t over the differences of the repeats as its interval.

    Examples
    --------
    >>> lead = Interval(-0.01, 0.05, 0.95, "corrected_t")
    >>> print(Crossing(before="a", after="b", size=math.nan, interval=None, share=0.0,
    ...                times=0, lead=0.02, lead_interval=lead))
    b has a better mean than a at every size; its lead at the last, 0.02 [-0.01, 0.05], is not sure
    """

    before: str
    after: str
    size: float
    interval: Interval | None
    share: float
    times: int
    lead: float
    lead_interval: Interval | None

    @property
    def is_sure(self) -> bool:
        """Whether the lead at the largest size is above 0 throughout its interval."""
        return self.lead_interval is not None and self.lead_interval.low > 0

    def __str__(self) -> str:
        where = "at every size"
        if self.interval is not None:
            ends = f"[{self.interval.low:,.0f}, {self.interval.high:,.0f}]"
            where = f"from about {self.size:,.0f} examples on {ends}"
        again = f" (they cross {self.times} times, this is the last)" if self.times > 1 else ""
        lead = f"{self.lead:.3g}"
        if self.lead_interval is not None:
            lead += f" [{self.lead_interval.low:.3g}, {self.lead_interval.high:.3g}]"
        sure = "is sure" if self.is_sure else "is not sure"
        return (
            f"{self.after} has a better mean than {self.before} {where}{again}; its lead at the "
            f"last, {lead}, {sure}"
        )


def crossings_of(
    losses: Mapping[str, Array],
    sizes: Sequence[int],
    *,
    ratio: float,
    level: float,
    replicates: int,
    seed: int,
) -> tuple[Crossing, ...]:
    """Find where the curves of each two learners cross, the sizes on a log scale.

    Parameters
    ----------
    losses
        Of each learner, repeats × sizes; the same repeats, on the same examples.
    ratio
        Test to training examples, as in `resampled_means`.

    Examples
    --------
    >>> steep = np.array([[0.5, 0.3, 0.1], [0.5, 0.3, 0.1]])
    >>> flat = np.array([[0.4, 0.3, 0.2], [0.4, 0.3, 0.2]]) + 0.05
    >>> found, = crossings_of({"flat": flat, "steep": steep}, [10, 100, 1000], ratio=0.5,
    ...                       level=0.95, replicates=100, seed=1)
    >>> found.after, round(found.size, 1), found.share
    ('steep', 31.6, 1.0)
    """
    logs = np.log(np.asarray(sizes, dtype=np.float64))
    found = []
    for first, second in itertools.combinations(losses, 2):
        difference = losses[first] - losses[second]
        if np.isnan(difference).any() or not difference.mean(axis=0).any():
            continue
        means = resampled_means(
            difference,
            ratio=ratio,
            level=level,
            replicates=replicates,
            rng=np.random.default_rng([seed, 1]),
        )
        crossing = _crossing((first, second), difference.mean(axis=0), means, logs, level)
        sign = 1.0 if crossing.after == second else -1.0
        lead, ends = _lead(sign * difference[:, -1], ratio, level)
        found.append(replace(crossing, lead=lead, lead_interval=ends))
    return tuple(found)


def _lead(differences: Array, ratio: float, level: float) -> tuple[float, Interval | None]:
    """Give the mean difference, and its interval by the corrected resampled t."""
    mean = float(differences.mean())
    error = corrected_standard_error(differences.tolist(), ratio)
    if error == 0:
        return mean, None
    half = float(stdtrit(len(differences) - 1, (1 + level) / 2)) * error
    return mean, Interval(mean - half, mean + half, level, "corrected_t")


def _crossing(
    names: tuple[str, str], difference: Array, resampled: Array, logs: Array, level: float
) -> Crossing:
    """Read the last change of sign off the mean difference, first minus second."""
    at, times = _last_change(difference, logs)
    is_second = _last_sign(difference) > 0
    before, after = names if is_second else names[::-1]
    if math.isnan(at):
        nowhere: dict[str, Any] = {"size": math.nan, "interval": None, "share": 0.0, "times": 0}
        return Crossing(before=before, after=after, lead=math.nan, lead_interval=None, **nowhere)
    places = np.empty(len(resampled))
    inside = 0
    for row, drawn in enumerate(resampled):
        place, _ = _last_change(drawn, logs)
        inside += not math.isnan(place)
        if math.isnan(place):
            # One learner is better throughout: the crossing lies before the sizes, or after.
            is_late = (_last_sign(drawn) > 0) != is_second
            place = logs[-1] if is_late else logs[0]
        places[row] = place
    tail = (1 - level) / 2
    low, high = np.quantile(places, [tail, 1 - tail])
    return Crossing(
        before=before,
        after=after,
        size=math.exp(at),
        interval=Interval(math.exp(min(low, at)), math.exp(max(high, at)), level, METHOD),
        share=inside / len(resampled),
        times=times,
        lead=math.nan,
        lead_interval=None,
    )


def _last_sign(difference: Array) -> float:
    signs = np.sign(difference)
    return float(signs[np.flatnonzero(signs)[-1]]) if signs.any() else 0.0


def _last_change(difference: Array, logs: Array) -> tuple[float, int]:
    """Give the place of the last change of sign, by a line, and how many there are.

    Where the difference is 0 nobody leads, and the line goes between the sizes where somebody does.
    """
    led = np.flatnonzero(difference)
    values, places = difference[led], logs[led]
    changes = np.flatnonzero(values[:-1] * values[1:] < 0)
    if not len(changes):
        return math.nan, 0
    at = changes[-1]
    share = values[at] / (values[at] - values[at + 1])
    return float(places[at] + share * (places[at + 1] - places[at])), len(changes)


@dataclass(frozen=True, kw_only=True)
class Affordable:
    """With this many CPU seconds of training, this learner at this size has the best mean.

    Examples
    --------
    >>> print(Affordable(cpu_seconds=0.25, learner="tree", size=100, value=0.125))
    0.25 CPU seconds: tree on 100 examples, 0.125
    """

    cpu_seconds: float
    learner: str
    size: int
    value: float

    def __str__(self) -> str:
        examples = f"{self.learner} on {self.size:,} examples"
        return f"{self.cpu_seconds:.3g} CPU seconds: {examples}, {self.value:.3f}"


def affordable(
    offers: Sequence[Affordable], *, higher_is_better: bool = False
) -> tuple[Affordable, ...]:
    """Keep the offers that no cheaper one, or none as cheap, equals: from the cheapest up.

    Examples
    --------
    >>> offers = [Affordable(cpu_seconds=s, learner=name, size=10, value=v)
    ...           for name, s, v in (("a", 1.0, 0.3), ("b", 2.0, 0.4), ("c", 3.0, 0.1))]
    >>> [offer.learner for offer in affordable(offers)]
    ['a', 'c']
    """
    sign = -1.0 if higher_is_better else 1.0
    known = [one for one in offers if not math.isnan(one.cpu_seconds + one.value)]
    kept: list[Affordable] = []
    for one in sorted(known, key=lambda one: (one.cpu_seconds, sign * one.value, one.learner)):
        if not kept or sign * one.value < sign * kept[-1].value:
            kept.append(one)
    return tuple(kept)
