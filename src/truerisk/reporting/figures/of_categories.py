"""Classes and categories → figures: one row each, the most frequent on top."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from truerisk.errors import InputError
from truerisk.reporting.escaping import visible
from truerisk.reporting.figures.marks import VERMILION, Row, draw_rows, note_below
from truerisk.reporting.figures.of_estimates import BESIDE, measures
from truerisk.reporting.wording import count, title_of
from truerisk.results import Estimate, Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from truerisk.estimation.corpus.corpus import CorpusEvaluation

MAX_ROWS = 40
MEASURE = "f1"
LONGEST_NAME = 30  # characters, so that the number behind it is seen


def categories(found: "CorpusEvaluation", ax: "Axes") -> "Axes":
    """Draw the F1 of the most frequent categories, and beside it that of the held-out documents."""
    sizes = {one.name: one.documents for one in found.categories if one.name in found.by_class}
    if not sizes:
        return measures(found, ax)
    held_out = {} if found.holdout is None else found.holdout.by_class
    return _draw_classes(found.by_class, sizes, held_out, ax)


def classes(evaluation: Evaluation, ax: "Axes") -> "Axes":
    """Draw the F1 of the classes with most examples."""
    if not evaluation.by_class:
        raise InputError("`evaluation` must have estimates of single classes; got none.")
    return _draw_classes(evaluation.by_class, class_sizes(evaluation), {}, ax)


def class_sizes(evaluation: Evaluation) -> dict[str, float]:
    """Count the examples of each class, the most frequent first; 0 where nobody counted."""
    if evaluation.tallies is None:
        return dict.fromkeys(evaluation.by_class, 0)
    counts = evaluation.tallies.class_counts().truth.tolist()
    known = dict(zip(evaluation.tallies.labels, counts, strict=True))
    sizes = {label: known.get(label, 0) for label in evaluation.by_class}
    return dict(sorted(sizes.items(), key=lambda pair: -pair[1]))


def _draw_classes(
    by_class: Mapping[str, Mapping[str, Estimate]],
    sizes: Mapping[str, float],
    held_out: Mapping[str, Mapping[str, Estimate]],
    ax: "Axes",
) -> "Axes":
    shown = list(sizes)[:MAX_ROWS]
    offered = by_class[shown[0]]
    measure = MEASURE if MEASURE in offered else next(iter(offered))
    draw_rows([Row(_words(name, sizes[name]), by_class[name][measure]) for name in shown], ax)
    beside = {
        row: held_out[name][measure].value
        for row, name in enumerate(shown)
        if name in held_out and measure in held_out[name]
    }
    if beside:
        words = "on the documents held out"
        values = list(beside.values())
        ax.plot(values, list(beside), "D", color=VERMILION, fillstyle="none", label=words)
        ax.legend(fontsize="small")
    ax.set_xlim(-BESIDE, 1 + BESIDE)
    left_out = len(sizes) - len(shown)
    words = title_of(measure)
    note_below(f"{words}; {left_out:,} rarer ones are not drawn" if left_out else words, ax)
    return ax


def _words(name: str, size: float) -> str:
    return f"{visible(name, most=LONGEST_NAME)} ({count(size)})" if size else name
