"""One estimate: the number, its interval in words, and the refits it is made of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.sections.coverage import refit_uses, uses_by
from truerisk.reporting.sections.provenance import unit_of
from truerisk.reporting.wording import count, counted, percent, spoken, written
from truerisk.results import Estimate, Resampled, number

MANY = 30  # replicates from which on they are counted in bars
MAX_BARS = 40
FEWEST = 2  # of one nobody knows how much refits differ


def estimate_chapter(result: Estimate) -> doc.Chapter:
    """Make the chapter of one estimate."""
    return doc.Chapter(
        title=f"{title_of(result.measure)}: how good, and how sure?",
        subtitle=f"{counted(result.n, unit_of(result))} · {spoken(result.method)} · about "
        f"{result.target}",
        verdict=doc.sentences([value_sentence(result)]),
        tiles=(doc.Tile.of(title_of(result.measure), result),),
        sections=tuple(_sections(result)),
        notes=doc.sentences(result.notes),
    )


def value_sentence(result: Estimate) -> str:
    """Say the value and the interval in one sentence."""
    words, ends = written(result), result.interval
    title = title_of(result.measure)
    if not result.is_defined:
        return f"{title} is undefined on these examples."
    if ends is None:
        return f"{title}: {words.value}. There is no interval, so nobody knows how sure this is."
    bounds = words.interval
    if ends.side == "both":
        bounds = f"between {bounds.strip('[]').replace(', ', ' and ')}"
    return f"{title}: {words.value}; with {percent(ends.level)} confidence {bounds}."


def _sections(result: Estimate) -> Iterator[doc.Section]:
    if isinstance(result, Resampled) and np.isfinite(result.replicates).sum() >= FEWEST:
        lead = "The interval is about all of them together."
        yield doc.charts_section("How much the refits differ", [refit_chart(result)], lead)


def refit_chart(result: Resampled) -> doc.Chart:
    """Draw refits one by one in their order; many of them are counted in bars."""
    values = [value for value in result.replicates if np.isfinite(value)]
    title = f"{title_of(result.measure)} of the refits"
    chart = histogram(title, result, values) if len(values) >= MANY else _in_order(title, result)
    spread = number(float(np.std(values, ddof=1)))
    return replace(
        chart,
        caption=f"{counted(len(values), 'refit')}, standard deviation {spread}.",
        description=(
            f"{counted(len(values), 'value')} from {number(min(values))} to "
            f"{number(max(values))}, standard deviation {spread}; {value_sentence(result)}"
        ),
    )


def histogram(title: str, result: Estimate, values: Sequence[float]) -> doc.Chart:
    """Count values in bars, behind them the estimate and its interval."""
    heights, edges = np.histogram(values, _edges(values))
    top = float(heights.max())
    ends = result.interval
    defined = [one for one in (() if ends is None else (ends.low, ends.high)) if np.isfinite(one)]
    shapes: list[doc.Shape] = []
    if ends is not None and len(defined) == 2:
        words = f"{percent(ends.level)} interval"
        shapes.append(doc.Band(defined, [0.0, 0.0], [1.08 * top] * 2, "soft", words=words))
    shapes.append(doc.Bars(edges, heights, words="replicates"))
    shapes.append(doc.Upright(result.value, written(result).value))
    return doc.Chart(
        title=title,
        x=doc.Scale.over(title_of(result.measure), [*edges, *defined, result.value]),
        y=doc.Scale("replicates", 0.0, 1.08 * top),
        shapes=shapes,
        description=(
            f"{len(values)} values from {number(min(values))} to {number(max(values))}; "
            f"{value_sentence(result)}"
        ),
    )


def _edges(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Give the edges of the bars: NumPy's rule, but never so many that they become hairs."""
    edges = np.histogram_bin_edges(values, "auto")
    return edges if len(edges) <= MAX_BARS else np.histogram_bin_edges(values, MAX_BARS)


def _in_order(title: str, result: Resampled) -> doc.Chart:
    """Draw a few values one by one, in the order of the refits."""
    reach = (0.5, len(result.replicates) + 0.5)
    shapes: list[doc.Shape] = []
    heights = [*result.replicates, result.value]
    if result.interval is not None:
        low, high = result.interval.low, result.interval.high
        words = f"{percent(result.interval.level)} interval"
        shapes.append(doc.Band(reach, [low] * 2, [high] * 2, "soft", words=words))
        heights += [low, high]
    shapes += [
        doc.Line(reach, [result.value] * 2, "soft", words=f"estimate: {written(result).value}"),
        doc.Dots(range(1, len(result.replicates) + 1), result.replicates, words="one refit"),
    ]
    return doc.Chart(
        title=title,
        x=doc.Scale.over("refit", reach),
        y=doc.Scale.over(title_of(result.measure), heights),
        shapes=shapes,
    )


def estimate_facts(estimate: Any) -> doc.Facts:
    """Say what was assumed, in pairs of words."""
    yield "measure", title_of(estimate.measure)
    yield f"{unit_of(estimate)}s", count(estimate.n)
    yield "method", spoken(estimate.method)
    if estimate.interval is not None:
        yield "confidence level", percent(estimate.interval.level)
    yield "the numbers are about", estimate.target


def estimate_uses(estimate: Any) -> Iterator[Use]:
    """Look up what was measured of the interval; that of refits by their design."""
    design = getattr(estimate, "design", "")
    return refit_uses([estimate], design) if design else uses_by([estimate])


def _pictures(result: Estimate) -> doc.Pictures:
    """Draw the refits where there are several, else the estimate on its interval."""
    if isinstance(result, Resampled) and np.isfinite(result.replicates).sum() >= FEWEST:
        yield "replicates", refit_chart(result)
    else:
        yield "estimate", doc.forest_of([result])


PRESENTER = Presenter(
    chapter=estimate_chapter,
    facts=estimate_facts,
    intervals=estimate_uses,
    pictures=_pictures,
)
