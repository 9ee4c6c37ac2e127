"""Laws of a learning curve: the power of n of a cost, and the inverse power law of a loss.

Law       e(n) = a + b·n^(−c)   with  a ≥ 0,  b ≥ 0,  0 < c ≤ 2
Given     mean losses at several sizes, and a weight for each size
Fit       weighted least squares; for a given c the best a and b are those of a line: only c is
          searched, on a grid, then by golden section between the neighbours of the best
Source    C. Cortes et al., "Learning curves: asymptotic values and rate of convergence", NIPS 6,
          327-334, 1994
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import stdtrit

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_level, check_number, check_same_length
from truerisk.errors import InputError
from truerisk.learners.scoring import range_of
from truerisk.measures.registry import measure_of
from truerisk.results import Estimate, Finding, Interval

MIN_SIZES_OF_GROWTH = 3  # a line through two points has no residual to judge it by


@dataclass(frozen=True, kw_only=True)
class Design:
    """What was asked for: the measure, and how often it is measured on what."""

    measure: str
    pos_label: int
    level: float
    n: int
    held_out: int
    sizes: tuple[int, ...]
    repeats: int
    estimate: str | None
    seed: int

    @property
    def ratio(self) -> float:
        """Examples held out to all others."""
        return self.held_out / (self.n - self.held_out)

    @property
    def higher_is_better(self) -> bool | None:
        """Which side of the measure is the better one; of a scorer the upper."""
        entry, _ = measure_of(self.measure)
        return True if entry is None else entry.higher_is_better

    @property
    def is_loss(self) -> bool:
        """Whether 0 or 1 is the best value: only then there is a law to fit."""
        return self.higher_is_better is not None and range_of(self.measure) == (0.0, 1.0)

    def losses(self, values: Array) -> Array:
        """Turn values into losses: lower is better."""
        return 1 - values if self.higher_is_better else values


@dataclass(frozen=True, kw_only=True)
class Growth:
    """A cost that grows like :math:`n^{exponent}` over the sizes it was fitted on.

    `factor` is the cost at n = 1 that the line points to; `sizes` are those that were used.
    """

    exponent: float
    standard_error: float
    interval: Interval
    factor: float
    sizes: tuple[int, ...]

    def at(self, size: float) -> float:
        """Give the cost that the line points to at a size."""
        return self.factor * math.exp(self.exponent * math.log(size))

    def __str__(self) -> str:
        span = f"from {self.sizes[0]:,} to {self.sizes[-1]:,} examples"
        return f"n^{self.exponent:.2f} (±{self.standard_error:.2f}, {span})"


def growth_of(
    sizes: Sequence[int], costs: Sequence[float], *, level: float = 0.95
) -> Growth | None:
    """Fit the exponent of a cost against n by least squares, both on a log scale.

    Fixed costs hide the growth at small sizes: only the larger half of the sizes is used, three at
    least, else None.  The standard error is that of the slope; it says nothing of sizes beyond.
    """
    check_same_length(sizes=sizes, costs=costs)
    check_level(level)
    if any(after <= before for before, after in itertools.pairwise(sizes)):
        raise InputError(f"`sizes` must increase; got {list(sizes)}.")
    known = [(n, cost) for n, cost in zip(sizes, costs, strict=True) if 0 < cost < math.inf]
    used = known[-max(MIN_SIZES_OF_GROWTH, -(-len(known) // 2)) :]
    if len(used) < MIN_SIZES_OF_GROWTH:
        return None
    x, y = np.log(np.array(used, dtype=np.float64)).T
    centred = x - x.mean()
    exponent = float(centred @ y / (centred @ centred))
    residuals = y - y.mean() - exponent * centred
    freedom = len(used) - 2
    error = math.sqrt(float(residuals @ residuals) / freedom / float(centred @ centred))
    half = float(stdtrit(freedom, (1 + level) / 2)) * error
    return Growth(
        exponent=exponent,
        standard_error=error,
        interval=Interval(exponent - half, exponent + half, level, "least_squares_t"),
        factor=math.exp(float(y.mean() - exponent * x.mean())),
        sizes=tuple(int(n) for n, _ in used),
    )


SMALLEST_EXPONENT, LARGEST_EXPONENT = 0.02, 2.0
GRID = np.geomspace(SMALLEST_EXPONENT, LARGEST_EXPONENT, 60)
SECTIONS = 40  # a grid step of e^.08, times .618⁴⁰: nine digits
GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class PowerLaws:
    """One law, or as many as there are replicates: arrays of one shape."""

    a: Array
    b: Array
    c: Array

    def at(self, size: float) -> Array:
        """Give the loss at a size."""
        return np.asarray(self.a + self.b * float(size) ** -self.c)

    def size_for(self, loss: float) -> Array:
        """Give the size at which the loss is reached; infinite where it never is."""
        above = loss - self.a
        falls = (above > 0) & (self.b > 0)
        ratio = np.where(falls, self.b, 1.0) / np.where(falls, above, 1.0)
        with np.errstate(over="ignore"):
            size = ratio ** (1 / self.c)
        # A law without slope is below a loss at every size, or at none.
        flat = np.where((self.b == 0) & (above >= 0), 0.0, np.inf)
        return np.where(falls, size, flat)


def fit_power_laws(sizes: ArrayLike, losses: Array, weights: Array) -> PowerLaws:
    """Fit a law to each row of losses; `weights` are one over the variance of each mean loss."""
    # Around the middle of log n, n^(−c) neither overflows nor vanishes.
    logs = np.log(np.asarray(sizes, dtype=np.float64))
    middle = float(logs.mean())
    shares = weights / weights.sum()

    def at(c: Array) -> tuple[Array, Array, Array]:
        return _line(np.exp(-c[:, None] * (logs - middle)), losses, shares)

    tried = np.stack([at(np.full(len(losses), c))[2] for c in GRID])
    best = tried.argmin(axis=0)
    low = np.log(GRID[np.maximum(best - 1, 0)])
    high = np.log(GRID[np.minimum(best + 1, len(GRID) - 1)])
    for _ in range(SECTIONS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        is_left = at(np.exp(left))[2] <= at(np.exp(right))[2]
        low, high = np.where(is_left, low, left), np.where(is_left, right, high)
    c = np.exp((low + high) / 2)
    a, b, _ = at(c)
    return PowerLaws(a, b * np.exp(c * middle), c)


def _line(basis: Array, losses: Array, shares: Array) -> tuple[Array, Array, Array]:
    """Fit a + b·basis with a, b ≥ 0 to each row; give the weighted squares that are left, too.

    The optimum is the free line, or lies on one of the bounds.
    """
    mean_x, mean_y = basis @ shares, losses @ shares
    centred_x, centred_y = basis - mean_x[:, None], losses - mean_y[:, None]
    free_b = (centred_x * centred_y) @ shares / (centred_x**2 @ shares)
    free_a = mean_y - free_b * mean_x
    through_b = np.maximum((basis * losses) @ shares / (basis**2 @ shares), 0.0)
    level_a = np.maximum(mean_y, 0.0)
    is_free = (free_a >= 0) & (free_b >= 0)
    nothing = np.zeros_like(free_a)
    a = np.stack([np.where(is_free, free_a, level_a), nothing, level_a])
    b = np.stack([np.where(is_free, free_b, nothing), through_b, nothing])
    squares = (losses - a[..., None] - b[..., None] * basis) ** 2 @ shares
    best = (squares.argmin(axis=0), np.arange(len(losses)))
    return a[best], b[best], squares[best]


MIN_SIZES = 4  # three parameters, and one size to gainsay them
FAR = 10  # times the largest size: beyond that a law is a guess
SLOPE_RATIO = 1 / 3  # of the ratio that corrects means: see `why_no_law`
MAX_OPEN = 10.0  # the ends of the interval of c may differ by this factor
METHOD = "power_law_bootstrap"


@dataclass(frozen=True, kw_only=True)
class NeededSize:
    """How many training examples a wanted value takes; infinite where it is out of reach.

    `more` are those beyond the ones there are.
    """

    wanted: float
    size: float
    more: float
    interval: Interval
    measure: str
    reachable: str  # yes, perhaps, no, reached, unknown
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        ends = f"[{_size(self.interval.low)}, {_size(self.interval.high)}]"
        level = f"{100 * self.interval.level:.10g} %"
        what = f"{self.measure} {self.wanted:g}"
        if self.reachable == "unknown":
            return f"{what}: how many examples it takes cannot be said, as {'; '.join(self.notes)}"
        if self.reachable == "no":
            return f"{what} is not reachable by this learner: the curve levels off before it"
        if math.isinf(self.size):
            return f"{what} may not be reachable: {ends} examples at {level}"
        text = f"{what} takes about {_size(self.size)} examples {ends} at {level}"
        return f"{text}: {_size(self.more)} more" if self.more else f"{text}: there are enough"


def _size(size: float) -> str:
    """Write a number of examples with the digits it deserves."""
    if math.isinf(size):
        return "∞"
    if size >= 1e12:
        return f"{size:.1e}"
    return f"{float(f'{size:.2g}'):,.0f}"


@dataclass(frozen=True, kw_only=True)
class Extrapolation:
    """The inverse power law of one learner's curve: e(n) = a + b·n^(−c), e the loss.

    The law is an assumption.  It says nothing of what a learner does beyond the sizes tried but
    that it goes on as before; `notes` says when even the sizes tried do not pin it down.  Its
    uncertainty comes from fitting it again to means resampled over the repeats.  The interval of a
    value also holds what a curve does that levels off now, or that goes on as fast as over the
    larger half of the sizes: with [low, high] the interval of the loss at the largest size, `last`,
    it reaches from low + `slope` · ln(n / largest size) to high.  At 95 % it held the learner's
    mean error at 2 and 4 times the sample in .96 to 1.00, on problems that nothing was chosen on.
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
    last: Interval
    slope: float
    determined: bool
    notes: tuple[str, ...] = ()
    laws: PowerLaws = field(repr=False, compare=False)

    @property
    def level(self) -> float:
        """Confidence level."""
        return self.a_interval.level

    def at(self, size: float) -> Estimate:
        """Give the value at a training size, by the law."""
        check_number(size, "size", low=1.0)
        law = self._law
        low, high = _quantiles(self.laws.at(size), self.level)
        value = float(law.at(size)[0])
        pace = max(0.0, self.last.low + self.slope * math.log(size / self.sizes[-1]))
        ends = (min(low, value, pace), max(high, value, self.last.high))
        interval = Interval(*ends, self.level, METHOD)
        return Estimate(
            value=1 - value if self.higher_is_better else value,
            interval=complement_of(interval) if self.higher_is_better else interval,
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
            reason = f"the law levels off at {self._limit()}, and so {side} what is wanted"
            notes.append(Finding(reason, code="levels_off"))
        elif size <= self.sizes[-1]:
            reachable = "reached"
        elif math.isinf(high):
            reachable = "perhaps"
            reason = f"the law may level off before: at {self._limit()}"
            notes.append(Finding(reason, code="may_level_off"))
        else:
            reachable = "yes"
        if math.isfinite(size):
            notes += self._far(size)
        if reachable in {"yes", "perhaps"}:
            reason = "how often the interval of a needed size holds it was not measured"
            notes.append(Finding(reason, code="not_measured"))
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
        text = f"{loss} = {law}, levels off at {_with_ends(self.a, self.a_interval)}"
        return text if self.determined else f"{text} (undetermined)"

    @property
    def _law(self) -> PowerLaws:
        return PowerLaws(*(np.array([part]) for part in (self.a, self.b, self.c)))

    def _limit(self) -> str:
        """Write the value of the measure, not of the loss, that no size takes it beyond."""
        if self.higher_is_better:
            return _with_ends(1 - self.a, complement_of(self.a_interval))
        return _with_ends(self.a, self.a_interval)

    def _far(self, size: float) -> Iterator[Finding]:
        if size > FAR * self.sizes[-1]:
            yield Finding(
                f"more than {FAR} times the largest size tried ({self.sizes[-1]:,}): "
                "nothing measured supports the law there",
                code="far_beyond_sizes",
            )


def extrapolation_of(
    losses: Array,
    resampled: Array,
    variances: Array,
    *,
    design: Design,
    sizes: tuple[int, ...],
    last: Interval,
) -> Extrapolation:
    """Fit the law to mean losses at the sizes, and once more to each row of resampled means."""
    if len(sizes) < MIN_SIZES:
        raise InputError(
            f"`sizes` must be at least {MIN_SIZES} to extrapolate a law of three parameters; "
            f"got {len(sizes)}."
        )
    weights = 1 / variances
    law = fit_power_laws(sizes, losses[None], weights)
    laws = fit_power_laws(sizes, resampled.clip(0.0, 1.0), weights)
    a, b, c = (float(part[0]) for part in (law.a, law.b, law.c))
    a_ends, c_ends = (_around(part, at, design.level) for part, at in ((laws.a, a), (laws.c, c)))
    notes = tuple(_doubts(c_ends))
    return Extrapolation(
        measure=design.measure,
        higher_is_better=bool(design.higher_is_better),
        a=a,
        b=b,
        c=c,
        a_interval=a_ends,
        c_interval=c_ends,
        sizes=sizes,
        n=design.n,
        last=last,
        slope=late_slope(losses[None], sizes),
        determined=not notes,
        notes=notes,
        laws=laws,
    )


def why_no_law(losses: Array, sizes: tuple[int, ...], design: Design) -> Finding | None:
    """Say why a curve is not extrapolated: no law holds for a curve that does not surely fall.

    The mean slope of the losses against log n must be below 0: s̄ + t·sd(s)·√(1/J + ratio/3) < 0,
    and over the larger half of the sizes not above 0.  Test examples that repeats share move all
    sizes together: a third of the ratio was enough on the problems it was chosen on.
    """
    way, other = ("rise", "fall") if design.higher_is_better else ("fall", "rise")
    logs = np.log(np.asarray(sizes, dtype=np.float64))
    slopes, repeats = _slopes(losses, logs), len(losses)
    error = float(slopes.std(ddof=1)) * math.sqrt(1 / repeats + SLOPE_RATIO * design.ratio)
    if float(slopes.mean()) + float(stdtrit(repeats - 1, design.level)) * error >= 0:
        reason = f"over the sizes tried the curve does not surely {way}"
        return Finding(reason, code="not_surely_falling")
    if late_slope(losses, sizes) > 0:
        reason = f"over the larger half of the sizes the curve seems to {other}"
        return Finding(reason, code="rises_at_the_end")
    return None


def late_slope(losses: Array, sizes: tuple[int, ...]) -> float:
    """Give the mean slope of the losses against log n, over the larger half of the sizes."""
    half = len(sizes) // 2
    logs = np.log(np.asarray(sizes[half:], dtype=np.float64))
    return float(_slopes(losses[:, half:], logs).mean())


def _slopes(losses: Array, logs: Array) -> Array:
    """Give the slope of each row against the log of the size, by least squares."""
    centred = logs - logs.mean()
    # From the first loss on: a level row then has a slope of exactly 0.
    return np.asarray((losses - losses[:, :1]) @ centred / (centred @ centred))


def _doubts(c: Interval) -> Iterator[Finding]:
    """Say why the sizes tried do not pin the law down."""
    if c.high > MAX_OPEN * c.low:
        yield Finding(
            f"undetermined: the exponent may be anything from {c.low:.2g} to {c.high:.2g}; "
            "more repeats, or a wider range of sizes, would tell",
            code="exponent_undetermined",
        )


def complement_of(ends: Interval) -> Interval:
    """Give the interval of 1 less what an interval is of."""
    return Interval(1 - ends.high, 1 - ends.low, ends.level, ends.method)


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
