"""Size and power of the test of a difference of rows in groups, beside the rule it replaced.

`group_jackknife` is the test of `tr.compare`.  The former rule, *t of totals*, took the groups'
totals of the differences of losses, less what their sizes make expected, as independent, on
Student's t with G − 1 degrees of freedom.  Two models have normal scores, correlated one half
within the classes; half of every variance is common to a group; the classes of the second model
are farther apart by `gap`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from studies.audit.checkpoints import Arrays, checkpointed
from truerisk.aliases import Array, Flags, Indices
from truerisk.intervals.distributions import student_cdf
from truerisk.intervals.group_jackknife import difference_spread
from truerisk.tallies.group_values import ratio_values, sums_of_groups
from truerisk.tallies.losses import log_losses

SAMPLES, SIZE = 1000, 0.05
PREVALENCE, DISTANCE, THRESHOLD, WITHIN, CORRELATION = 0.3, 1.5, 1.0, 0.5, 0.5


def _equal(groups: int, _: np.random.Generator) -> Indices:
    return np.full(groups, 5)


def _unequal(groups: int, rng: np.random.Generator) -> Indices:
    return np.ceil(rng.lognormal(1.0, 1.0, groups)).astype(np.intp)


def _one_large(groups: int, _: np.random.Generator) -> Indices:
    """Make one group a fifth of all rows."""
    return np.append(np.full(groups - 1, 5), 5 * (groups - 1) // 4)


SIZES: Mapping[str, Callable[[int, np.random.Generator], Indices]] = {
    "groups of 5": _equal,
    "groups of 1 to about 30": _unequal,
    "one group a fifth of the rows": _one_large,
}


@dataclass(frozen=True, kw_only=True)
class GroupTestShare:
    """The share of samples in which a test of rows in groups has p ≤ .05."""

    groups: int
    sizes: str
    measure: str
    gap: float
    samples: int
    group_jackknife: float
    t_of_totals: float


@dataclass(frozen=True)
class Trial:
    """How many groups of which sizes, and how much better the second model is."""

    groups: int
    sizes: str
    gap: float


def trials() -> Iterator[Trial]:
    """List the trials: equal models, and two gaps that are found in some samples."""
    for groups, sizes, gap in product((30, 60, 200), SIZES, (0.0, 0.5, 1.0)):
        yield Trial(groups, sizes, gap)


def losses_of(trial: Trial, rng: np.random.Generator) -> tuple[Indices, dict[str, Array]]:
    """Draw the group of each row, and the losses of the second model less those of the first."""
    sizes = SIZES[trial.sizes](trial.groups, rng)
    group = np.repeat(np.arange(trial.groups), sizes)
    n = len(group)

    def noise() -> Array:
        shared = rng.normal(size=trial.groups)[group]
        return np.asarray(np.sqrt(WITHIN) * shared + np.sqrt(1 - WITHIN) * rng.normal(size=n))

    positive = rng.random(n) < PREVALENCE
    common = np.sqrt(CORRELATION) * noise()
    lost: dict[str, list[Array]] = {"error_rate": [], "log_loss": []}
    for distance in (DISTANCE, DISTANCE + trial.gap):
        score = common + np.sqrt(1 - CORRELATION) * noise() + distance * positive
        lost["error_rate"].append(((score > THRESHOLD) != positive).astype(np.float64))
        odds = distance * score + logit(PREVALENCE) - distance**2 / 2
        lost["log_loss"].append(_log_loss(odds, positive))
    return group, {name: second - first for name, (first, second) in lost.items()}


def _log_loss(odds: Array, positive: Flags) -> Array:
    return np.asarray(log_losses(expit(odds), positive, expit(-odds)))


def p_values(group: Indices, lost: Array) -> tuple[float, float]:
    """Test the mean of differences of losses by the jackknife over groups, and by the former rule.

    Examples
    --------
    >>> new, former = p_values(np.arange(4), np.array([1.0, 2.0, 3.0, 2.0]))
    >>> round(former, 4)  # groups of one row: t = 2 / (√(2/3) / 2) on 3 degrees
    0.0163
    """
    top, size = sums_of_groups(group, lost), sums_of_groups(group, None)
    values = ratio_values(top, size)
    error, degrees = difference_spread(values.value, values.without, values.units)
    moved = (top - values.value * size) / size.sum()
    groups = len(size)
    former = float(np.sqrt(groups / (groups - 1) * np.sum(moved**2)))
    if not (error > 0 and former > 0):
        return 1.0, 1.0
    return (
        float(2 * student_cdf(degrees, -abs(values.value) / error)),
        float(2 * student_cdf(groups - 1, -abs(values.value) / former)),
    )


def run(trial: Trial, at: int, samples: int) -> Arrays:
    """Give p-values, measures × samples × tests."""
    found = []
    for one in range(samples):
        group, lost = losses_of(trial, np.random.default_rng([17, at, one]))
        found.append([p_values(group, differences) for differences in lost.values()])
    return {"p_values": np.array(found).transpose(1, 0, 2)}


def measure_all(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[list[GroupTestShare]]:
    """Give the shares of one trial after another; what is in the folder is not run again."""
    for at, trial in enumerate(trials()):
        settings = {**asdict(trial), "samples": samples}
        arrays = checkpointed(
            folder, f"group-power-{at}", settings, partial(run, trial, at, samples)
        )
        shares = (arrays["p_values"] <= SIZE).mean(axis=1)
        yield [
            GroupTestShare(
                groups=trial.groups,
                sizes=trial.sizes,
                measure=measure,
                gap=trial.gap,
                samples=samples,
                group_jackknife=float(row[0]),
                t_of_totals=float(row[1]),
            )
            for measure, row in zip(("error_rate", "log_loss"), shares, strict=True)
        ]
