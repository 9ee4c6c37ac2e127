"""Comparisons → figures: each difference on its interval, against 0 and what does not matter."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from truerisk.errors import InputError
from truerisk.reporting.escaping import visible
from truerisk.reporting.figures.marks import (
    BLUE,
    GREEN,
    GREY,
    VERMILION,
    Row,
    draw_rows,
    drawable,
    note_below,
)
from truerisk.reporting.wording import measure_of, title_of
from truerisk.results import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from truerisk.comparison.learners.model_comparisons import ModelComparisons
    from truerisk.comparison.predictions.comparisons import Comparisons

MAX_TICKS = 6  # beside long names there is no room for the words of more
IN_A_ROW, UNDER_THE_AXIS = 12, 30  # characters of a name, so that both have room
# Told apart by their shapes as well.
FINDINGS = {
    "better": (BLUE, "^"),
    "worse": (VERMILION, "v"),
    "equivalent": (GREEN, "s"),
    "no evidence": (GREY, "o"),
}


def difference(comparison: Comparison, ax: "Axes") -> "Axes":
    """Draw one difference."""
    return _differences([comparison], ax)


def differences(found: "Comparisons", ax: "Axes") -> "Axes":
    """Draw the differences of two models, a row a measure; of more, a row a pair."""
    if len(found.names) == 2:
        return _differences(found.pairs, ax)
    return _differences([one for one in found.pairs if one.measure == found.measure], ax)


def learner_differences(found: "ModelComparisons", ax: "Axes") -> "Axes":
    """Draw the differences of two learners, a row a measure."""
    return _differences(list(found.values()), ax)


def _differences(comparisons: Sequence[Comparison], ax: "Axes") -> "Axes":
    """Draw differences as triangles, squares (equivalent) and dots (no evidence).

    Measures without an upper end are left out where there are others, and named: their
    differences would leave no room for those of rates.
    """
    if not comparisons:
        raise InputError("`comparisons` must hold at least one comparison; got none.")
    bounded = [one for one in comparisons if _is_bounded(one.measure)]
    drawn = bounded or list(comparisons)
    one_pair = len({one.names for one in drawn}) == 1
    draw_rows([_row(one, by_measure=one_pair) for one in drawn], ax)
    ax.axvline(0, color=GREY, linewidth=1)
    # As much room on either side: a picture must not make a difference look one-sided.
    furthest = max(abs(end) for end in ax.get_xlim())
    ax.set_xlim(-furthest, furthest)
    ax.locator_params(axis="x", nbins=MAX_TICKS)
    words = (
        _pair(drawn[0], UNDER_THE_AXIS) if one_pair else f"{title_of(drawn[0].measure)}: difference"
    )
    left_out = dict.fromkeys(title_of(one.measure) for one in comparisons if one not in drawn)
    if left_out:
        note_below(f"{words}. On other scales: {', '.join(left_out)}", ax)
    else:
        ax.set_xlabel(drawable(words))
    return ax


def _row(comparison: Comparison, *, by_measure: bool) -> Row:
    what = title_of(comparison.measure) if by_measure else _pair(comparison, IN_A_ROW)
    ink, marker = FINDINGS[comparison.finding]
    words = f"{what}: {comparison.finding}"
    return Row(words, comparison.difference, ink, marker, comparison.region)


def _pair(comparison: Comparison, most: int) -> str:
    first, second = (visible(name, most=most) for name in comparison.names)
    return f"{second} − {first}"


def _is_bounded(measure: str) -> bool:
    found, _ = measure_of(measure)
    return found is not None and all(map(math.isfinite, found.measure_range))
