"""Numbers → places in a picture; the templates only draw what stands here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from truerisk.results import Estimate

STRIP = 300.0  # width of the strip an interval is drawn on
MARGIN = 6.0  # room for a dot at either end of it
LEAST = 1e-300  # smaller numbers have no precision left to divide
STEPS = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers, and the round ones among them."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, low: float, high: float, *, ticks: int = 4) -> "Axis":
        """Make the axis of round ends that holds [low, high].

        Examples
        --------
        >>> Axis.around(0.83, 0.97).ticks
        (0.8, 0.85, 0.9, 0.95, 1.0)
        """
        if high - low <= max(1e-9 * abs(low), LEAST):
            high = low + (abs(low) if abs(low) > LEAST else 1.0)  # one number: as far to the right
        rough = (high - low) / ticks
        power = 10.0 ** math.floor(math.log10(rough))
        # A hair of slack, so that 0.2000000001 counts as 0.2.
        step = next(power * factor for factor in STEPS if power * factor >= rough * (1 - 1e-9))
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        last = max(last, first + 1)
        digits = max(0, 2 - math.floor(math.log10(step)))
        places = tuple(round(step * at, digits) + 0.0 for at in range(first, last + 1))
        return cls(places[0], places[-1], places)

    def place(self, value: float) -> float:
        """Give the place of a value on the strip; what lies outside stands at the end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(MARGIN + share * (STRIP - 2 * MARGIN), 2)

    def marks(self) -> list[dict[str, Any]]:
        """Give each round number's place and its words."""
        return [{"x": self.place(tick), "words": f"{tick:g}"} for tick in self.ticks]


def axis_of(estimates: Sequence[Estimate], *also: float) -> Axis | None:
    """Make the axis that holds every finite number of these estimates; None if there is none.

    `also` are numbers that must be on it, such as the best possible value.
    """
    numbers = []
    for estimate in estimates:
        if estimate.is_defined:
            ends = estimate.interval
            found = (estimate.value, *((ends.low, ends.high) if ends is not None else ()))
            numbers += [value for value in found if math.isfinite(value)]
    return Axis.around(min([*numbers, *also]), max([*numbers, *also])) if numbers else None


def strip(estimate: Estimate, axis: Axis | None) -> dict[str, Any] | None:
    """Give the places of an estimate on an axis; None when it is undefined."""
    if axis is None or not estimate.is_defined:
        return None
    ends = estimate.interval
    high = estimate.value if ends is None else ends.high
    return {
        "value": axis.place(estimate.value),
        "low": axis.place(estimate.value if ends is None else ends.low),
        "high": axis.place(high),
        "endless": math.isinf(high),
    }
