"""Estimates → figures: every measure, the values of refits, learners and methods side by side."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.reporting.figures.marks import (
    BLUE,
    GREY,
    VERMILION,
    Row,
    draw_rows,
    drawable,
    forest,
    note_below,
    short_label,
    size_in_points,
)
from truerisk.reporting.tables import confusion_of, share, spoken
from truerisk.reporting.wording import count, measure_of, percent, title_of
from truerisk.results import Estimate, Evaluation, Resampled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from truerisk.estimation.refits.best_of import BestOf
    from truerisk.estimation.svm.perturbation import Perturbed
    from truerisk.estimation.svm.without_resampling import SideBySide

SHARE_RANGE = (0.0, 1.0)
BESIDE = 0.02  # room for a dot at the ends of the axis from 0 to 1
MAX_BARS = 60
MAX_CONFUSED = 30  # classes; more cells cannot be told apart
DARKEST = 0.7  # a cell that holds all of its class lets this much of the letters' ground through
LARGEST_IN_CELL, SMALLEST_IN_CELL = 9.0, 4.0  # points
UPRIGHT_FROM = 7  # classes from which on their names stand upright under the matrix
MAX_ABREAST = 24  # letters, if all names are as long as the longest


def measures(evaluation: Evaluation, ax: "Axes") -> "Axes":
    """Draw the measures that lie between 0 and 1 as a forest, in groups; name the others."""
    groups: dict[str, list[Row]] = {}
    others = []
    for name, estimate in evaluation.items():
        heading = _heading(name)
        if heading is None:
            others.append(name)
        else:
            groups.setdefault(heading, []).append(Row(title_of(name), estimate))
    if not groups:
        return forest([replace(evaluation[name], measure=name) for name in others], ax)
    rows = [row for heading, found in groups.items() for row in (Row(heading), *found)]
    draw_rows(rows, ax)
    ax.set_xlim(-BESIDE, 1 + BESIDE)
    if others:
        note_below(f"On other scales: {', '.join(map(title_of, others))}", ax)
    return ax


def _heading(name: str) -> str | None:
    """Name the group of a measure; None where it is not between 0 and 1."""
    found, average = measure_of(name)
    if found is None or found.measure_range != SHARE_RANGE:
        return None
    if average:
        return f"{average.capitalize()} averages"
    return "Higher is better" if found.higher_is_better else "Lower is better"


def one_estimate(estimate: Estimate, ax: "Axes") -> "Axes":
    """Draw an estimate as a dot on its interval."""
    return forest([estimate], ax)


def replicates(estimate: Resampled, ax: "Axes") -> "Axes":
    """Draw how the values of the refits lie about the estimate and its interval."""
    return _histogram(estimate, estimate.replicates, "refits", ax)


def perturbed(estimate: "Perturbed", ax: "Axes") -> "Axes":
    """Draw where the truth may lie: the estimate less what each weighting moved it by."""
    places = [estimate.value - moved for moved in estimate.replicates]
    return _histogram(estimate, places, "weightings", ax)


def _histogram(estimate: Estimate, values: Sequence[float], what: str, ax: "Axes") -> "Axes":
    found = np.asarray(values, dtype=np.float64)
    found = found[np.isfinite(found)]
    if len(found) < 2:
        return forest([estimate], ax)
    bars = min(len(np.histogram_bin_edges(found, "auto")) - 1, MAX_BARS)
    ax.hist(found, bins=bars, color=BLUE, alpha=0.6)
    if estimate.interval is not None:
        ends, level = estimate.interval, percent(estimate.interval.level)
        words = f"{level} interval"
        ax.axvspan(ends.low, ends.high, color=GREY, alpha=0.25, linewidth=0, label=words)
    if estimate.is_defined:
        ax.axvline(estimate.value, color=VERMILION, linewidth=2, label="estimate")
    ax.set_xlabel(drawable(title_of(estimate.measure)))
    ax.set_ylabel(what)
    ax.legend(fontsize="small")
    return ax


def learners(found: "BestOf", ax: "Axes") -> "Axes":
    """Draw every learner, best first, and under them what choosing the best of them is worth."""
    rows = [Row(name, found.evaluations[name][found.measure]) for name in found.ranking]
    words = f"best of {len(rows)}, corrected"
    draw_rows([*rows, Row(words, found.corrected, VERMILION, "D")], ax)
    ax.set_xlabel(drawable(title_of(found.measure)))
    return ax


def side_by_side(found: "SideBySide", ax: "Axes") -> "Axes":
    """Draw the estimates of one machine, a row a method."""
    return forest(found.estimates, ax)


def intervals(found: "Perturbed", ax: "Axes") -> "Axes":
    """Draw the same estimate with every form of interval that its replicates give."""
    rows = [Row(spoken(name), replace(found, interval=one)) for name, one in found.forms.items()]
    draw_rows(rows, ax)
    ax.set_xlabel(drawable(title_of(found.measure)))
    return ax


def confusion(evaluation: Evaluation, ax: "Axes") -> "Axes":
    """Draw what was called what: counts, and how much of the true class they are.

    Right answers are blue and wrong ones vermilion, the stronger the larger their share.

    Raises
    ------
    InputError
        If examples have several labels each, or there are more than 30 classes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from truerisk import evaluate_counts
    >>> ax = confusion(evaluate_counts([[50, 50], [40, 850]]), Figure().subplots())
    >>> [text.get_text().split()[0] for text in ax.texts]
    ['850', '40', '50', '50']
    """
    found = confusion_of(evaluation)
    if found is None:
        raise InputError("`evaluation` must count one label an example against another; got none.")
    labels, counts = found
    if len(labels) > MAX_CONFUSED:
        raise InputError(
            f"`evaluation` must have at most {MAX_CONFUSED} classes to be drawn as a matrix; got "
            f"{len(labels):,}. Draw `evaluation.plot(ax)`, or look at the most frequent mistakes."
        )
    totals = counts.sum(axis=1)
    _cells(counts, totals, ax)
    _numbers(counts, totals, ax)
    places, names = range(len(labels)), [short_label(label) for label in labels]
    ax.set_xticks(places, names, rotation=90 if stand_upright(names) else 0)
    ax.set_yticks(places, names)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlabel("called")
    ax.set_ylabel("true")
    ax.tick_params(length=0)
    return ax


def stand_upright(names: Sequence[str]) -> bool:
    """Whether names have no room beside each other under the matrix."""
    longest = max(map(len, names), default=0)
    return len(names) >= UPRIGHT_FROM or longest * len(names) > MAX_ABREAST


def _cells(counts: NDArray[Any], totals: NDArray[Any], ax: "Axes") -> None:
    """Colour the cells; the ground shines through, so that letters of any style can be read."""
    from matplotlib.colors import to_rgba  # noqa: PLC0415  (only who draws needs it)

    size = len(counts)
    colours = np.where(np.eye(size, dtype=bool)[..., None], to_rgba(BLUE), to_rgba(VERMILION))
    shares = counts / np.where(totals > 0, totals, 1)[:, None]
    colours[..., 3] = DARKEST * shares
    edges = np.arange(size + 1) - 0.5
    ax.pcolormesh(edges, edges, colours, linewidth=0)


def _numbers(counts: NDArray[Any], totals: NDArray[Any], ax: "Axes") -> None:
    """Write count and share into each cell, where the cells are large enough for letters."""
    width, height = size_in_points(ax)
    longest = max(len(count(n)) for n in counts.ravel()) + 1
    wide = width / (0.65 * max(longest, 6) * len(counts))
    high = height / (2.8 * len(counts))
    size = min(wide, high, LARGEST_IN_CELL)
    if size < SMALLEST_IN_CELL:
        return
    for row, (line, total) in enumerate(zip(counts.tolist(), totals.tolist(), strict=True)):
        for column, n in enumerate(line):
            words = f"{count(n)}\n{share(n, total)}"
            ax.text(column, row, words, ha="center", va="center", fontsize=size)
