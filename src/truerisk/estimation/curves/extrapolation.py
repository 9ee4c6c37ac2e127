"""What the law of a learning curve says of sizes not yet tried, and how sure that is."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import check_number
from truerisk.errors import InputError
from truerisk.estimation.curves.power_law import PowerLaws, fit_power_laws
from truerisk.results import Estimate, Interval

MIN_SIZES = 4  # three parameters, and one size to gainsay them
FAR = 10  # times the largest size: beyond that a law is a guess
MAX_OPEN = 10.0  # the ends of the interval of c may differ by this factor
METHOD = "power_law_bootstrap"


@dataclass(frozen=True, kw_only=True)
class NeededSize:
    """How many training examples a wanted value takes; infinite where it is out of reach.

    `more` are those beyond the ones there are.

    Examples
    --------
    >>> print(NeededSize(wanted=0.05, size=4000.0, more=1500.0, measure="error_rate",
    ...                  interval=Interval(2600.0, 9000.0, 0.95, METHOD), reachable="yes"))
    error_rate 0.05 takes about 4,000 examples [2,600, 9,000] at 95 %: 1,500 more
    """

    wanted: float
    size: float
    more: float
    interval: Interval
    measure: str
    reachable: str  # yes, perhaps, no, reached
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        ends = f"[{_size(self.interval.low)}, {_size(self.interval.high)}]"
        level = f"{100 * self.interval.level:.10g} %"
        what = f"{self.measure} {self.wanted:g}"
        if self.reachable == "no":
            return f"{what} is not reachable by this learner: the curve levels off before it"
        if math.isinf(self.size):
            return f"{what} may not be reachable: {ends} examples at {level}"
        told = f"{what} takes about {_size(self.size)} examples {ends} at {level}"
        return f"{told}: {_size(self.more)} more" if self.more else f"{told}: there are enough"


def _size(size: float) -> str:
    """Write a number of examples with the digits it deserves."""
    if math.isinf(size):
        return "∞"
    if size >= 1e12:
        return f"{size:.1e}"
    return f"{float(f'{size:.2g}'):,.0f}"


@dataclass(frozen=True, kw_only=True)
class Extrapolation:
    r"""The inverse power law of one learner's curve: :math:`e(n) = a + b\,n^{-c}`.

    The law is an assumption.  It says nothing of what a learner does beyond the sizes tried but
    that it goes on as before; `notes` says when even the sizes tried do not pin it down.  Its
    uncertainty comes from fitting it again to means resampled over the repeats.  At 95 % the
    intervals of values and sizes covered in .92 to .96 of simulated samples, up to ten times n.

    `e` is the loss: the measure itself where lower is better, 1 − measure where higher is.
    """

    measure: str
    higher_is_better: bool
    a: float
    b: float
    c: float
    a_interval: Interval
    c_interval: Interval
    sizes: tuple[int, ...]
    n: int
    determined: bool
    notes: tuple[str, ...] = ()
    laws: PowerLaws = field(repr=False, compare=False)

    @property
    def level(self) -> float:
        """Confidence level."""
        return self.a_interval.level

    def at(self, size: float) -> Estimate:
        """Give the value at a training size, also one not tried."""
        check_number(size, "size", low=1.0)
        law = self._law
        low, high = _quantiles(self.laws.at(size), self.level)
        value = float(law.at(size)[0])
        ends = (min(low, value), max(high, value))
        ends = (1 - ends[1], 1 - ends[0]) if self.higher_is_better else ends
        return Estimate(
            value=1 - value if self.higher_is_better else value,
            interval=Interval(*ends, self.level, METHOD),
            measure=self.measure,
            method="power_law",
            n=size,
            target="the learner at this sample size",
            notes=(*self.notes, *self._far(size)),
        )

    def size_for(self, wanted: float) -> NeededSize:
        """Give the training size at which a value of the measure is reached."""
        check_number(wanted, "wanted", low=0.0, high=1.0)
        loss = 1 - wanted if self.higher_is_better else wanted
        size = float(self._law.size_for(loss)[0])
        low, high = _quantiles(self.laws.size_for(loss), self.level)
        low, high = min(low, size), max(high, size)
        notes = [*self.notes]
        if loss <= self.a_interval.low:
            reachable, size, low, high = "no", math.inf, math.inf, math.inf
            side = "below" if self.higher_is_better else "above"
            notes.append(f"the law levels off at {self._limit()}, and so {side} what is wanted")
        elif size <= self.sizes[-1]:
            reachable = "reached"
        elif math.isinf(high):
            reachable = "perhaps"
            notes.append(f"the law may level off before: at {self._limit()}")
        else:
            reachable = "yes"
        if math.isfinite(size):
            notes += self._far(size)
        return NeededSize(
            wanted=wanted,
            size=size,
            more=max(0.0, math.ceil(size) - self.n) if math.isfinite(size) else math.inf,
            interval=Interval(low, high, self.level, METHOD),
            measure=self.measure,
            reachable=reachable,
            notes=tuple(notes),
        )

    def __str__(self) -> str:
        law = f"{self.a:.3g} + {self.b:.3g}·n^−{self.c:.3g}"
        loss = f"1 − {self.measure}" if self.higher_is_better else self.measure
        told = f"{loss} = {law}, levels off at {_with_ends(self.a, self.a_interval)}"
        return told if self.determined else f"{told} (undetermined)"

    @property
    def _law(self) -> PowerLaws:
        return PowerLaws(*(np.array([part]) for part in (self.a, self.b, self.c)))

    def _limit(self) -> str:
        """Write the value of the measure, not of the loss, that no size takes it beyond."""
        value, ends = self.a, self.a_interval
        if self.higher_is_better:
            value = 1 - value
            ends = Interval(1 - ends.high, 1 - ends.low, ends.level, ends.method)
        return _with_ends(value, ends)

    def _far(self, size: float) -> Iterator[str]:
        if size > FAR * self.sizes[-1]:
            yield (
                f"more than {FAR} times the largest size tried ({self.sizes[-1]:,}): "
                "nothing measured supports the law there"
            )


def extrapolation_of(
    losses: Array,
    resampled: Array,
    variances: Array,
    *,
    sizes: tuple[int, ...],
    n: int,
    measure: str,
    higher_is_better: bool,
    level: float,
) -> Extrapolation:
    """Fit the law to mean losses at the sizes, and once more to each row of resampled means.

    Parameters
    ----------
    losses, variances
        The mean loss at each size, and the variance of that mean.
    resampled
        Means as they would vary: replicates × sizes.
    n
        How many examples there are.
    """
    if len(sizes) < MIN_SIZES:
        raise InputError(
            f"`sizes` must be at least {MIN_SIZES} to extrapolate a law of three parameters; "
            f"got {len(sizes)}."
        )
    weights = 1 / variances
    law = fit_power_laws(sizes, losses[None], weights)
    laws = fit_power_laws(sizes, resampled.clip(0.0, 1.0), weights)
    a, b, c = (float(part[0]) for part in (law.a, law.b, law.c))
    a_ends, c_ends = (_around(part, at, level) for part, at in ((laws.a, a), (laws.c, c)))
    way = "rise" if higher_is_better else "fall"
    notes = tuple(_doubts(law, laws, c_ends, sizes, way))
    return Extrapolation(
        measure=measure,
        higher_is_better=higher_is_better,
        a=a,
        b=b,
        c=c,
        a_interval=a_ends,
        c_interval=c_ends,
        sizes=sizes,
        n=n,
        determined=not notes,
        notes=notes,
        laws=laws,
    )


def _doubts(
    law: PowerLaws, laws: PowerLaws, c: Interval, sizes: tuple[int, ...], way: str
) -> Iterator[str]:
    """Say why the sizes tried do not pin the law down; `way` is the way the measure should go."""
    falls = laws.at(sizes[0]) - laws.at(sizes[-1])
    if law.b[0] == 0 or _quantiles(falls, c.level)[0] <= 0:
        yield f"undetermined: over the sizes tried the curve does not surely {way}"
    elif c.high > MAX_OPEN * c.low:
        yield (
            f"undetermined: the exponent may be anything from {c.low:.2g} to {c.high:.2g}; "
            "more repeats, or a wider range of sizes, would tell"
        )


def _with_ends(value: float, ends: Interval) -> str:
    return f"{value:.3g} [{ends.low:.3g}, {ends.high:.3g}]"


def _around(values: Array, centre: float, level: float) -> Interval:
    low, high = _quantiles(values, level)
    return Interval(min(low, centre), max(high, centre), level, METHOD)


def _quantiles(values: Array, level: float) -> tuple[float, float]:
    """Give the percentiles as values that occur: between a number and infinity there is none."""
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail], method="nearest")
    return float(low), float(high)
