"""Probabilities of worse, equivalent and better → a bar of three parts for each pair."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from truerisk.reporting.escaping import visible
from truerisk.reporting.page.parts import Section
from truerisk.reporting.sections.differences import SIGNS
from truerisk.reporting.wording import UNDEFINED

LEAST = 0.001
ROOM = 14.0  # per cent of a bar that the sign and the number of a part need


@dataclass(frozen=True, kw_only=True)
class ProbabilityBar:
    """How probable it is that the second of two is worse, equivalent, better."""

    title: str
    worse: float
    equivalent: float
    better: float
    model: str = ""


def probabilities_section(
    title: str, bars: Sequence[ProbabilityBar], *, lead: str = "", left_out: int = 0
) -> Section:
    """Give the section of some bars.

    Examples
    --------
    >>> bar = ProbabilityBar(title="b − a", worse=0.05, equivalent=0.2, better=0.75)
    >>> part = probabilities_section("How probable?", [bar]).data["rows"][0]["parts"][2]
    >>> part["name"], part["at"], part["width"], part["words"]
    ('better', 25.0, 75.0, '0.750')
    """
    rows = [
        {"title": visible(bar.title), "model": visible(bar.model), "parts": _parts(bar)}
        for bar in bars
    ]
    return Section("probabilities", visible(title), {"rows": rows, "left_out": left_out}, lead)


def _parts(bar: ProbabilityBar) -> list[dict[str, Any]]:
    shares = (bar.worse, bar.equivalent, bar.better)
    drawn, at = [], 0.0
    for name, share in zip(("worse", "equivalent", "better"), shares, strict=True):
        width = 0.0 if math.isnan(share) else 100 * share
        drawn.append(
            {
                "name": name,
                "sign": SIGNS[name],
                "words": probability_words(share),
                "at": round(at, 3),
                "width": round(width, 3),
                "middle": round(at + width / 2, 3),
                "has_room": width >= ROOM,
            }
        )
        at += width
    return drawn


def probability_words(share: float) -> str:
    """Write a probability to three decimals; one that would look certain, as being almost so.

    Examples
    --------
    >>> probability_words(0.25), probability_words(1e-6), probability_words(1 - 1e-6)
    ('0.250', '<0.001', '>0.999')
    """
    if math.isnan(share):
        return UNDEFINED
    if 0 < share < LEAST:
        return f"<{LEAST:g}"
    return f">{1 - LEAST:g}" if 1 - LEAST < share < 1 else f"{share:.3f}"
