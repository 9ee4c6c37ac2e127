"""What a page is made of: chapters, one a result; in each of them sections, one a picture or table.

All values are plain and all texts visible ones (`escaping.visible`); the templates escape them, and
compute nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from truerisk.reporting.escaping import visible
from truerisk.reporting.page.geometry import axis_of, strip
from truerisk.reporting.wording import measure_of, written
from truerisk.results import Estimate

SENTENCE = 2000  # characters of one sentence that are shown
SHARE_RANGE = (0.0, 1.0)


@dataclass(frozen=True)
class Section:
    """One picture, table or control; `kind` names the template that draws `data`."""

    kind: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    lead: str = ""


@dataclass(frozen=True)
class Tile:
    """A number that matters, written and drawn on its interval."""

    title: str
    value: str
    interval: str
    strip: Mapping[str, Any] | None = None
    marks: tuple[Mapping[str, Any], ...] = ()
    beside: str = ""

    @classmethod
    def of(cls, title: str, estimate: Estimate, beside: str = "") -> "Tile":
        """Write and draw an estimate, a share on the whole way from 0 to 1."""
        words = written(estimate)
        found, _ = measure_of(estimate.measure)
        is_share = found is not None and found.measure_range == SHARE_RANGE
        axis = axis_of([estimate], *(SHARE_RANGE if is_share else ()))
        ends = () if axis is None else (axis.marks()[0], axis.marks()[-1])
        drawn = strip(estimate, axis)
        return cls(visible(title), words.value, words.interval, drawn, ends, visible(beside))


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """All that a page says of one result: the answer first, then what it rests on."""

    title: str
    subtitle: str
    verdict: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    tiles: tuple[Tile, ...] = ()
    sections: tuple[Section, ...] = ()
    notes: tuple[str, ...] = ()


def sentences(texts: Iterable[str]) -> tuple[str, ...]:
    """Make sentences visible, none of them endless."""
    return tuple(visible(text, most=SENTENCE) for text in texts)
