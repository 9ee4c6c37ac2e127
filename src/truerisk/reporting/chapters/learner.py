"""LearnerEvaluation → the chapter of an evaluation, and the refits that it rests on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from truerisk.estimation.refits.methods import METHODS
from truerisk.reporting.chapters.estimate import FEWEST, refit_chart
from truerisk.reporting.chapters.evaluation import HEADLINES, evaluation_chapter
from truerisk.reporting.escaping import visible
from truerisk.reporting.page.charts import charts_section
from truerisk.reporting.page.parts import Chapter, Section, Tile
from truerisk.reporting.sections.estimate_forest import Entry, estimate_forest
from truerisk.reporting.tables import spoken
from truerisk.reporting.wording import counted, number, title_of
from truerisk.results import Resampled

if TYPE_CHECKING:
    from truerisk.estimation.refits.estimate import LearnerEvaluation

MAX_SPREADS = 2  # pictures of how much refits differ
BASELINE = "Always the commonest class"


def learner_chapter(found: "LearnerEvaluation") -> Chapter:
    """Give all that a page says of a learner: its evaluation, and the refits it rests on."""
    chapter = evaluation_chapter(found)
    head, *rest = chapter.sections
    return replace(
        chapter,
        title="How good will this learner be?",
        subtitle=f"{_method(found)} · {chapter.subtitle}",
        tiles=tuple(_with_baseline(found, chapter)),
        sections=(head, *_spreads(found), *_others(found), *rest),
    )


def _method(found: "LearnerEvaluation") -> str:
    return f"{method_title(found)}, {_refits(found)}"


def method_title(found: "LearnerEvaluation") -> str:
    """Give the words for a method of resampling."""
    known = METHODS.get(found.method)
    return visible(spoken(found.method)) if known is None else known.title


def _refits(found: "LearnerEvaluation") -> str:
    return counted(found.refits, "refit")


def _with_baseline(found: "LearnerEvaluation", chapter: Chapter) -> Iterator[Tile]:
    titles = {title_of(name): one for name, one in found.baseline.items() if one.is_defined}
    for tile in chapter.tiles:
        always = titles.get(tile.title)
        told = "" if always is None else f"{BASELINE.lower()}: {number(always.value)}"
        yield replace(tile, beside=tile.beside or told)


def _spreads(found: "LearnerEvaluation") -> Iterator[Section]:
    """Draw the value of every refit, for the measures that matter."""
    several = [
        one
        for name in HEADLINES
        if isinstance(one := found.get(name), Resampled)
        and np.isfinite(one.replicates).sum() >= FEWEST
    ]
    if several:
        yield charts_section(
            "How much the refits differ",
            [refit_chart(one) for one in several[:MAX_SPREADS]],
            "The value of each refit on the examples that it did not train on. A single refit "
            "judges few examples, and so spreads more than the interval, which is about all of "
            "them together.",
        )


def _others(found: "LearnerEvaluation") -> Iterator[Section]:
    """Draw further estimates of the error rate, and that of always the same answer."""
    always = found.baseline.get("error_rate")
    entries = [Entry(method_title(found), found["error_rate"])] if "error_rate" in found else []
    entries += [Entry(spoken(name), one) for name, one in found.variants.items()]
    if always is not None:
        entries.append(Entry(BASELINE, always, "judged on the same examples"))
    if len(entries) > 1:
        yield estimate_forest("The error rate, and what it is to be held against", "By", entries)
