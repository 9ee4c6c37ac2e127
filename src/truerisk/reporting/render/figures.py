"""Pictures → axes of matplotlib, and files: the same `Chart` that a page draws, drawn here.

Letters and axes keep the colours of the caller's style; all others are of `colours.FIGURE`.
Nothing sets a global style or shows anything.
"""

import io
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import check_choice, shown
from truerisk.errors import InputError, ResourceError
from truerisk.inputs.records.places import shown_path
from truerisk.intervals.distributions import normal_quantile
from truerisk.reporting import document as doc
from truerisk.reporting.colours import FIGURE
from truerisk.reporting.escaping import escape, figure_label, visible
from truerisk.reporting.files import put_files
from truerisk.reporting.presenter import presenter_of
from truerisk.reporting.wording import count, share
from truerisk.results import Estimate, Reportable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What each format would write that changes from run to run, or from release to release.
FORMATS: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# Letters of an SVG are shapes, so that it looks the same everywhere.
STYLE: dict[Any, str] = {"svg.hashsalt": "truerisk", "svg.fonttype": "path"}
WIDTH, HEIGHT = 7.2, 4.2  # inches
DOTS = 150  # of a PNG, an inch
ROW = 0.24  # inches that a row of a forest takes
LETTER = 0.1  # inches that a letter of a name takes at most
AROUND_ROWS = 0.9  # inches for the axis and its words
MAX_PLACES = 1500  # of a band; matplotlib thins lines, and no areas
MAX_TICKS = 6  # beside long names there is no room for the words of more
MAX_CONFUSED = 30  # classes; more cells cannot be told apart
BESIDE = 0.02  # room for a dot at the ends of an axis, as a share of it
DARKEST = 0.7  # a cell that holds all of its class lets this much of the letters' ground through
LARGEST_IN_CELL, SMALLEST_IN_CELL = 9.0, 4.0  # points
UPRIGHT_FROM = 7  # classes from which on their names stand upright under the matrix
MAX_ABREAST = 24  # letters, if all names are as long as the longest
LONGEST_LABEL = 40  # characters; a longer one would leave no room for the picture
LETTERS_OF_A_ROW = 0.72  # height of letters, in heights of a row
SMALLEST_LETTERS, LARGEST_LETTERS = 4.0, 10.0  # points
LETTERS_OF_A_LABEL = 1.2  # a label takes two thirds of the width of the axes, at most
NOTE_LETTER = 4.6  # width of a letter of a note, in points
SHORTEST_NOTE, LONGEST_NOTE = 24, 72  # characters of a line
POINTS = 72  # in an inch
BLUE, VERMILION, GREY = FIGURE["first"], FIGURE["second"], FIGURE["soft"]
DEVIATE_TICKS = (0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999)  # rates on normal deviates


def pictures_of(result: Any) -> dict[str, doc.Picture]:
    """List the pictures of a result, or of a dict of curves, by the names of their files."""
    if isinstance(result, Mapping) and not isinstance(result, Reportable):
        from truerisk.reporting.sections.score_charts import curve_pictures

        return dict(curve_pictures(result))
    if not isinstance(result, Reportable) and callable(getattr(result, "plot", None)):
        return {result.kind.replace("_", "-"): result.plot}
    return dict(presenter_of(result).pictures(result))


def draw_result(result: Any, ax: "Axes | None") -> "Axes":
    """Draw the first picture of a result into axes, and return them."""
    return draw(next(iter(pictures_of(result).values())), axes_or_new(ax))


def axes_or_new(ax: "Axes | None") -> "Axes":
    """Give the axes, or those of a new figure."""
    check_matplotlib()
    if ax is None:
        from matplotlib import pyplot as plt

        return plt.subplots()[1]
    if not hasattr(ax, "set_yticks"):
        raise InputError(
            f"`ax` must be axes of matplotlib; got {shown(ax)}. Make some with "
            "matplotlib.pyplot.subplots()."
        )
    return ax


def draw(picture: doc.Picture, ax: "Axes") -> "Axes":
    """Draw one picture into axes, and return them."""
    if isinstance(picture, doc.Chart):
        draw_chart(picture, ax)
    elif isinstance(picture, doc.Forest):
        draw_forest(picture, ax)
    elif isinstance(picture, doc.Matrix):
        draw_matrix(picture, ax)
    else:
        picture(ax)
    return ax


def draw_chart(chart: doc.Chart, ax: "Axes") -> None:
    """Draw the shapes of a chart, the first one undermost, on its scales."""
    for shape in chart.shapes:
        _SHAPES[type(shape)](shape, ax)
    for scale, axis in ((chart.x, "x"), (chart.y, "y")):
        _set_scale(scale, axis, ax)
    if chart.key:
        ax.set_title(_in_lines(chart.key, ax), fontsize="small", loc="left")
    if any(not isinstance(one, doc.Upright) and one.words for one in chart.shapes):
        ax.legend(fontsize="small")


def _set_scale(scale: doc.Scale, axis: str, ax: "Axes") -> None:
    low, high = scale.low, scale.high
    if scale.log:
        ax.set(**{f"{axis}scale": "log"})
    else:  # dots at the ends are drawn whole
        spare = BESIDE * (high - low)
        low, high = low - spare, high + spare
    ax.set(**{f"{axis}lim": (low, high), f"{axis}label": drawable(scale.title)})


def _line(line: doc.Line, ax: "Axes") -> None:
    style = "--" if line.dashed else "-"
    ax.plot(line.x, line.y, style, color=FIGURE[line.ink], label=_label(line.words))


def _band(band: doc.Band, ax: "Axes") -> None:
    x, low, high = thinned(
        *(np.asarray(one, dtype=np.float64) for one in (band.x, band.low, band.high))
    )
    colour, words = FIGURE[band.ink], _label(band.words)
    ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0, label=words)


def _dots(dots: doc.Dots, ax: "Axes") -> None:
    x, y = (np.asarray(one, dtype=np.float64) for one in (dots.x, dots.y))
    reach = None
    if dots.low is not None and dots.high is not None:
        low, high = (np.asarray(one, dtype=np.float64) for one in (dots.low, dots.high))
        reach = np.maximum([y - low, high - y], 0.0)
    ax.errorbar(
        x,
        y,
        yerr=reach,
        fmt="o",
        color=FIGURE[dots.ink],
        markersize=4,
        capsize=2,
        elinewidth=0.8,
        label=_label(dots.words),
    )


def _bars(bars: doc.Bars, ax: "Axes") -> None:
    colour, words = FIGURE[bars.ink], _label(bars.words)
    ax.stairs(bars.heights, bars.edges, fill=True, color=colour, alpha=0.6, label=words)


def _upright(upright: doc.Upright, ax: "Axes") -> None:
    ax.axvline(upright.x, color=FIGURE["soft"], linewidth=1)
    ax.annotate(
        drawable(upright.words),
        (upright.x, 1.0),
        xytext=(4, -10),
        xycoords=ax.get_xaxis_transform(),
        textcoords="offset points",
        fontsize="small",
    )


_SHAPES: dict[type, Callable[[Any, Any], None]] = {
    doc.Line: _line,
    doc.Band: _band,
    doc.Dots: _dots,
    doc.Bars: _bars,
    doc.Upright: _upright,
}


def thinned(x: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Keep places that are evenly spaced along a band of very many."""
    if len(x) <= MAX_PLACES:
        return x, low, high
    path = np.cumsum(sum(np.abs(np.diff(ends, prepend=ends[0])) for ends in (x, low, high)))
    places = np.unique(np.searchsorted(path, np.linspace(0, path[-1], MAX_PLACES)))
    places = places.clip(max=len(path) - 1)
    return x[places], low[places], high[places]


def _label(words: str) -> str:
    return drawable(words) if words else "_"  # which matplotlib leaves out of the legend


def draw_forest(forest: doc.Forest, ax: "Axes") -> None:
    """Draw rows of intervals, the first one on top, their letters as small as the axes need.

    An undefined estimate has a row, and no dot.
    """
    rows = forest.rows
    furthest = max(map(abs, doc.finite_numbers(row.estimate for row in rows)), default=1.0)
    for place, row in enumerate(rows):
        if row.region is not None:
            left, colour = -row.region, FIGURE["soft"]
            ax.barh(place, 2 * row.region, left=left, height=0.8, color=colour, alpha=0.25)
        if row.estimate is not None and row.estimate.is_defined:
            _draw_estimate(row, row.estimate, place, 1.2 * furthest, ax)
    labels = [short_label(row.title) for row in rows]
    ax.set_yticks(range(len(rows)), labels, fontsize=_letters(ax, labels))
    for row, label in zip(rows, ax.get_yticklabels(), strict=True):
        label.set_fontweight("bold" if row.estimate is None else "normal")
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=FIGURE["soft"], alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    _finish_forest(forest, ax)


def _finish_forest(forest: doc.Forest, ax: "Axes") -> None:
    if forest.extra_dots:
        rows, values = list(forest.extra_dots), list(forest.extra_dots.values())
        colour, words = FIGURE["second"], drawable(forest.extra_words)
        ax.plot(values, rows, "D", color=colour, fillstyle="none", label=words)
        ax.legend(fontsize="small")
    if forest.span is not None:
        ax.set_xlim(forest.span[0] - BESIDE, forest.span[1] + BESIDE)
    if forest.about_zero:
        ax.axvline(0, color=FIGURE["soft"], linewidth=1)
        # As much room on either side: a picture must not make a difference look one-sided.
        furthest = max(abs(end) for end in ax.get_xlim())
        ax.set_xlim(-furthest, furthest)
        ax.locator_params(axis="x", nbins=MAX_TICKS)
    if forest.note:
        note_below(forest.note, ax)
    elif forest.axis:
        ax.set_xlabel(drawable(forest.axis))


def _draw_estimate(
    row: doc.Entry, estimate: Estimate, place: int, beyond: float, ax: "Axes"
) -> None:
    """Draw one interval; what has no end runs to the far side, and ends in an arrow."""
    ends, colour = estimate.interval, FIGURE[row.ink]
    if ends is not None:
        low, high = (max(min(end, beyond), -beyond) for end in (ends.low, ends.high))
        ax.hlines(place, low, high, color=colour)
        for end, shown_at, arrow in ((ends.low, low, "<"), (ends.high, high, ">")):
            if math.isinf(end):
                ax.plot(shown_at, place, arrow, color=colour, markersize=5)
    if math.isfinite(estimate.value):
        ax.plot(estimate.value, place, row.mark, color=colour, markersize=5)


def _letters(ax: "Axes", labels: Sequence[str]) -> float:
    """Choose the size of letters: rows must not touch, and labels leave room for the picture."""
    width, height = size_in_points(ax)
    high = LETTERS_OF_A_ROW * height / max(len(labels), 1)
    wide = LETTERS_OF_A_LABEL * width / max(map(len, labels), default=1)
    return min(max(min(high, wide), SMALLEST_LETTERS), LARGEST_LETTERS)


def size_in_points(ax: "Axes") -> tuple[float, float]:
    """Measure the axes, width and height, in the unit that letters are measured in."""
    box, points = ax.get_window_extent(), POINTS / ax.figure.dpi
    return box.width * points, box.height * points


def note_below(words: str, ax: "Axes") -> None:
    """Write a sentence under the axes, in lines as long as these are wide."""
    ax.set_xlabel(_in_lines(words, ax), fontsize="small")


def _in_lines(words: str, ax: "Axes") -> str:
    fit = int(size_in_points(ax)[0] / NOTE_LETTER)
    return "\n".join(wrap(drawable(words), min(max(fit, SHORTEST_NOTE), LONGEST_NOTE)))


def short_label(text: str) -> str:
    """Escape a label, and shorten one that would leave no room for the picture."""
    return drawable(visible(text, most=LONGEST_LABEL))


def drawable(text: str) -> str:
    """Escape a label, and whatever the default font has no picture of."""
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    shown = figure_label(text)
    return "".join(c if font.get_char_index(ord(c)) else escape(c) for c in shown)


def draw_matrix(matrix: doc.Matrix, ax: "Axes") -> None:
    """Draw what was called what: counts, and how much of the true class they are.

    Right answers are blue and wrong ones vermilion, the stronger the larger their share.
    """
    labels, counts = matrix.labels, matrix.counts
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


def stand_upright(names: Sequence[str]) -> bool:
    """Whether names have no room beside each other under the matrix."""
    longest = max(map(len, names), default=0)
    return len(names) >= UPRIGHT_FROM or longest * len(names) > MAX_ABREAST


def _cells(counts: Array, totals: Array, ax: "Axes") -> None:
    """Colour the cells; the ground shines through, so that letters of any style can be read."""
    from matplotlib.colors import to_rgba

    size = len(counts)
    colours = np.where(
        np.eye(size, dtype=bool)[..., None], to_rgba(FIGURE["first"]), to_rgba(FIGURE["second"])
    )
    shares = counts / np.where(totals > 0, totals, 1)[:, None]
    colours[..., 3] = DARKEST * shares
    edges = np.arange(size + 1) - 0.5
    ax.pcolormesh(edges, edges, colours, linewidth=0)


def _numbers(counts: Array, totals: Array, ax: "Axes") -> None:
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


def save_figures(
    result: Any,
    folder: Path | str,
    formats: Sequence[str] = ("svg",),
    progress: Callable[[int, int, int], None] | None = None,
) -> list[Path]:
    """Draw all that there is to see of a result into files of the formats, and give their paths.

    All are drawn before the first replaces a file: either all are there or, with a full disk, none.
    """
    if isinstance(formats, str) or not formats:
        raise InputError(f"`formats` must be a list such as ['svg', 'pdf']; got {shown(formats)}.")
    chosen = list(dict.fromkeys(check_choice(one, FORMATS, "formats") for one in formats))
    contents: dict[str, bytes] = {}
    pictures = [(name, one, form) for name, one in pictures_of(result).items() for form in chosen]
    for name, picture, form in pictures:
        contents[f"{name}.{form}"] = figure_bytes(picture, form)
        if progress is not None:
            progress(len(contents), len(contents), len(pictures))
    return put_files(contents, Path(folder))


def check_folder(folder: Path, inputs: Sequence[Path] = ()) -> None:
    """Refuse a folder that figures cannot be put into, before anything is computed for them.

    `inputs` are the files and folders that are read: figures must not come among them.
    """
    check_matplotlib()
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ResourceError(f"The figures need a folder; {shown_path(there)} is a file.")
    for one in inputs:
        among = one if one.is_dir() else one.parent
        is_picture = one.is_dir() or one.suffix.lower().lstrip(".") in FORMATS
        if is_picture and folder.exists() and folder.samefile(among):
            raise InputError(f"The figures must not come among inputs; {shown_path(one)} is read.")
    put_files({}, there, folder)


def figure_bytes(picture: doc.Picture, form: str) -> bytes:
    """Draw a picture as the content of a file."""
    check_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    content = io.BytesIO()
    with rc_context(STYLE), warnings.catch_warnings():
        # A character that the font lacks is drawn as a box: a name may hold any.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size_of(picture), layout="constrained")
        draw(picture, figure.subplots())
        figure.savefig(content, format=form, metadata=FORMATS[form], dpi=DOTS)
    return content.getvalue()


def check_matplotlib() -> None:
    """Say what to install where figures are asked for and matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise ResourceError(
            "Drawing needs matplotlib, which is not installed: pip install 'truerisk[plot]'."
        )


def size_of(picture: doc.Picture) -> tuple[float, float]:
    """Give the width and the height that a picture needs, in inches."""
    if isinstance(picture, doc.Forest):
        return WIDTH, AROUND_ROWS + ROW * len(picture.rows)
    if isinstance(picture, doc.Matrix):
        names = [short_label(label) for label in picture.labels]
        side, beside = min(3.0 + 0.35 * len(names), 10.0), LETTER * max(map(len, names))
        return side + 0.6 + beside, side + (beside if stand_upright(names) else 0.0)
    return WIDTH, getattr(picture, "height", HEIGHT)


def draw_curve(curve: Any, ax: "Axes | None") -> "Axes":
    """Draw a curve or a band, by its kind, and return the axes."""
    ax = axes_or_new(ax)
    DRAWINGS[curve.kind](curve, ax)
    return ax


def _draw_line(
    curve: Any, x: Any, y: Any, ax: "Axes", *axes: str, style: str = "-", **how: Any
) -> None:
    """Draw one line under the name of the curve, and name the axes."""
    ax.plot(x, y, style, color=BLUE, label=figure_label(curve.label), **how)
    ax.set(xlabel=axes[0], ylabel=axes[1])


def _diagonal(ax: "Axes") -> None:
    ax.plot([0, 1], [0, 1], linestyle=":", color=GREY)


def _roc(curve: Any, ax: "Axes") -> None:
    _diagonal(ax)
    _draw_line(curve, curve.fpr, curve.tpr, ax, "1 − specificity", "recall")


def _precision_recall(curve: Any, ax: "Axes") -> None:
    ax.axhline(curve.prevalence, linestyle=":", color=GREY)
    steps = {"drawstyle": "steps-pre"}
    _draw_line(curve, curve.recall, curve.precision, ax, "recall", "precision", **steps)


def _breakeven(curve: Any, ax: "Axes") -> None:
    _diagonal(ax)  # on which precision equals recall
    axes = ("breakeven point", f"F{curve.beta:g}")
    _draw_line(curve, curve.breakeven, curve.f, ax, *axes, style="o-", markersize=3)


def _det(curve: Any, ax: "Axes") -> None:
    x, y = normal_quantile(curve.fpr), normal_quantile(curve.fnr)
    drawn = np.isfinite(x) & np.isfinite(y)
    _draw_line(curve, x[drawn], y[drawn], ax, "false positive rate", "false negative rate")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(normal_quantile(DEVIATE_TICKS), [f"{rate:g}" for rate in DEVIATE_TICKS])


def _cost(curve: Any, ax: "Axes") -> None:
    finite = np.isfinite(curve.thresholds)
    x, y = curve.thresholds[finite], curve.cost[finite]
    _draw_line(curve, x, y, ax, "threshold", "cost of an example", drawstyle="steps-pre")
    if np.isfinite(curve.best.at):
        ax.plot(curve.best.at, curve.best.value, "o", color=VERMILION)


def _normalised_cost(curve: Any, ax: "Axes") -> None:
    # The dotted line is that of the better constant answer.
    x = curve.probability_cost
    ax.plot(x, np.minimum(x, 1 - x), linestyle=":", color=GREY)
    _draw_line(curve, x, curve.cost, ax, "share of the positives in the cost", "normalised cost")


def _calibration(curve: Any, ax: "Axes") -> None:
    _diagonal(ax)  # on which scores mean what they say
    _draw_line(
        curve, curve.mean_score, curve.share, ax, "mean score", "share of positives", style="o-"
    )


def _score_distribution(counted: Any, ax: "Axes") -> None:
    # Each class as a share of its own examples: one may be a hundred times as large.
    for name, counts, ink in (
        ("negative", counted.negatives, VERMILION),
        ("positive", counted.positives, BLUE),
    ):
        words = figure_label(f"{counted.label}: {name}" if counted.label else name)
        share = counts / max(counts.sum(), 1)
        ax.stairs(share, counted.edges, fill=True, alpha=0.45, color=ink, label=words)
    ax.set(xlabel="score", ylabel="share of the class")


def _error_reject(curve: Any, ax: "Axes") -> None:
    axes = ("share rejected", "error rate of the rest")
    _draw_line(curve, curve.rejection_rate, curve.error_rate, ax, *axes)


def _draw_band(band: Any, ax: "Axes") -> None:
    if band.joined:
        ax.fill_between(band.x, band.low, band.high, color=BLUE, alpha=0.2, linewidth=0)
    else:
        ax.vlines(band.x, band.low, band.high, color=BLUE)


DRAWINGS: Mapping[str, Callable[[Any, "Axes"], None]] = {
    "roc_curve": _roc,
    "precision_recall_curve": _precision_recall,
    "breakeven_curve": _breakeven,
    "det_curve": _det,
    "cost_curve": _cost,
    "normalised_cost_curve": _normalised_cost,
    "calibration_curve": _calibration,
    "score_distribution": _score_distribution,
    "error_reject_curve": _error_reject,
    "band": _draw_band,
}
