"""Average ranks → the critical-difference picture of a page.

Places across are per cent of the width, so that letters keep their size on every screen; places
down are pixels.
"""

import math
from typing import Any

from truerisk.comparison.datasets.over_datasets import OverDatasets
from truerisk.reporting.escaping import visible
from truerisk.reporting.page.parts import SENTENCE, Section
from truerisk.reporting.wording import percent

WORST, BEST = 27.0, 73.0  # the ends of the line of ranks; names stand outside
GAP = 1.5  # between the end of a leader and its name
ABOVE, LINE = 34, 76  # the critical difference, the line of ranks
FIRST_BAR, BAR_STEP = 90, 11
NAME_STEP = 26
LONGEST_NAME = 24
MAX_TICKS = 12
PAD = 0.5  # a group of equal ranks would have no width
NARROW_ROW, NARROW_TOP = 46, 30  # of the picture for phones: height of a row, room for the ticks
LANE = 9  # pixels between the bars of two groups
LANE_SHARE = 3.0  # per cent of a narrow screen that a bar needs


def critical_difference_section(found: OverDatasets) -> Section:
    """Give the section of the picture; the best rank is at the right.

    Examples
    --------
    >>> from truerisk.comparison.datasets.over_datasets import compare_over_datasets
    >>> found = compare_over_datasets([[0.8, 0.9, 0.7]] * 6, names=["a", "b", "c"])
    >>> [(one["words"], one["rank"]) for one in critical_difference_section(found).data["names"]]
    [('1.00 b', 73.0), ('2.00 a', 50.0), ('c 3.00', 27.0)]
    """
    bars = _bars(found)
    depth = FIRST_BAR + BAR_STEP * len(bars) + NAME_STEP // 2
    k = len(found.names)
    data = {
        "names": [_name(found, at, depth) for at in range(k)],
        "bars": bars,
        "ticks": _ticks(k),
        "line": {"low": WORST, "high": BEST, "y": LINE},
        "difference": _difference(found),
        "height": depth + NAME_STEP * ((k + 1) // 2 - 1) + 14,
        "description": _description(found),
        "narrow": _narrow(found),
    }
    return Section("critical_difference", "Average ranks", data, _lead(found))


def _lead(found: OverDatasets) -> str:
    if found.control is not None:
        return (
            "The best rank is at the right. Outside the bar, a rank differs from that of the "
            "control."
        )
    return (
        "The best rank is at the right. A bar joins classifiers whose average ranks differ by less "
        "than the critical difference: these data sets do not tell them apart by rank."
    )


def _place(rank: float, k: int, worst: float = WORST, best: float = BEST) -> float:
    return round(best - (best - worst) * (rank - 1) / (k - 1), 2)


def _ticks(k: int) -> list[dict[str, Any]]:
    every = math.ceil(k / MAX_TICKS)
    ranks = range(1, k + 1)
    return [
        {"x": _place(rank, k), "words": str(rank) if (rank - 1) % every == 0 else ""}
        for rank in ranks
    ]


def _bars(found: OverDatasets) -> list[dict[str, Any]]:
    """Give what is drawn under the line: the groups, or all that is not told from the control."""
    k = len(found.names)
    if found.control is not None and found.control_difference is not None:
        centre, half = found.rank_of(found.control), found.control_difference
        ends, mark = [(max(1.0, centre - half), min(float(k), centre + half))], "control"
    else:
        ends = [(found.rank_of(group[0]), found.rank_of(group[-1])) for group in found.cliques]
        mark = "group"
    return [
        {
            "low": _place(high, k) - PAD,
            "high": _place(low, k) + PAD,
            "y": FIRST_BAR + BAR_STEP * row,
            "mark": mark,
        }
        for row, (low, high) in enumerate(ends)
    ]


def _name(found: OverDatasets, at: int, depth: int) -> dict[str, Any]:
    """Give the leader down from a rank and out to its name: the better half at the right."""
    k, name = len(found.names), found.in_order[at]
    on_right = at < (k + 1) // 2
    rank = found.rank_of(name)
    short = visible(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…")
    return {
        "words": f"{rank:.2f} {short}" if on_right else f"{short} {rank:.2f}",
        "rank": _place(rank, k),
        "end": BEST + GAP if on_right else WORST - GAP,
        "text": BEST + 2 * GAP if on_right else WORST - 2 * GAP,
        "side": "start" if on_right else "end",
        "y": depth + NAME_STEP * (at if on_right else k - 1 - at),
        "control": name == found.control,
    }


def _narrow(found: OverDatasets) -> dict[str, Any]:
    """Give the picture for phones: a row a classifier, the best first; groups join rows."""
    k, names = len(found.names), found.in_order
    groups = [] if found.control is not None else found.cliques
    worst, best = 3.0, max(60.0, 97.0 - LANE_SHARE * len(groups))
    lanes = [
        {
            "shift": -LANE * lane - 3,
            "top": NARROW_TOP + NARROW_ROW * names.index(group[0]) + 12,
            "bottom": NARROW_TOP + NARROW_ROW * names.index(group[-1]) + NARROW_ROW - 4,
        }
        for lane, group in enumerate(groups)
    ]
    band = None
    if found.control is not None and found.control_difference is not None:
        centre, half = found.rank_of(found.control), found.control_difference
        high = _place(max(1.0, centre - half), k, worst, best)
        low = _place(min(float(k), centre + half), k, worst, best)
        band = {"low": low, "width": round(high - low, 2)}
    return {
        "height": NARROW_TOP + NARROW_ROW * k + 6,
        "low": worst,
        "high": best,
        "ticks": [{**one, "x": _place(at, k, worst, best)} for at, one in enumerate(_ticks(k), 1)],
        "lanes": lanes,
        "band": band,
        "rows": [
            {
                "words": f"{found.rank_of(name):.2f} {visible(name, most=LONGEST_NAME + 8)}",
                "rank": _place(found.rank_of(name), k, worst, best),
                "y": NARROW_TOP + NARROW_ROW * row,
                "control": name == found.control,
            }
            for row, name in enumerate(names)
        ],
    }


def _difference(found: OverDatasets) -> dict[str, Any] | None:
    """Give the critical difference, from the best rank on; it may run past the worst one."""
    is_control = found.control_difference is not None
    length = found.control_difference if is_control else found.critical_difference
    if length is None:
        return None
    low = max(0.0, _place(1 + length, len(found.names)))
    kind = "Bonferroni-Dunn" if is_control else "Nemenyi"
    return {
        "low": low,
        "high": BEST,
        "y": ABOVE,
        "words": f"critical difference {length:.2f} ({kind}, {percent(found.level)})",
    }


def _description(found: OverDatasets) -> str:
    """Say what the picture shows, for those who hear the page."""
    ranked = ", ".join(f"{name} {found.rank_of(name):.2f}" for name in found.in_order)
    told = f"Average ranks, the best first: {ranked}."
    if found.control is None and found.cliques:
        groups = "; ".join(", ".join(group) for group in found.cliques)
        told += f" Not told apart: {groups}."
    return visible(told, most=SENTENCE)
