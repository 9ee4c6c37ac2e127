"""One estimate: the number, its interval in words, the refits or random weights it is made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from truerisk.measures.registry import spoken_title, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.sections.coverage import EXACT, look_up, refit_uses, uses_by, uses_of
from truerisk.reporting.sections.provenance import unit_of
from truerisk.reporting.wording import count, counted, percent, spoken, written
from truerisk.results import Estimate, Resampled, number

if TYPE_CHECKING:
    from truerisk.estimation.svm.perturbation import Perturbed

MANY = 30  # replicates from which on they are counted in bars
MAX_BARS = 40
MIN_REFITS = 2  # of one nobody knows how much refits differ
FORMS = {
    "exact": "Exact binomial",
    "percentile": "Perturbation: percentile",
    "normal": "Perturbation: normal",
    "effective_size": "Perturbation: effective size",
    "plug_in": "Plug-in variance",
}


class EstimatePresenter(Presenter):
    """One number, its interval, and the refits it is made of."""

    def title(self, result: Estimate) -> str:
        return f"{title_of(result.measure)}: how good, and how sure?"

    def subtitle(self, result: Estimate) -> Iterator[str]:
        yield counted(result.n, unit_of(result))
        yield spoken(result.method)
        yield f"about {result.target}"

    def verdict(self, result: Estimate) -> list[str]:
        return [value_sentence(result)]

    def tiles(self, result: Estimate) -> Iterator[doc.Tile]:
        yield doc.Tile.of(title_of(result.measure), result)

    def sections(self, result: Estimate) -> Iterator[doc.Section]:
        if has_refits(result):
            lead = "The interval is about all of them together."
            yield doc.charts_section("How much the refits differ", [refit_chart(result)], lead)

    def facts(self, estimate: Any) -> doc.Facts:
        """Say what was assumed, in pairs of words."""
        yield "measure", title_of(estimate.measure)
        yield f"{unit_of(estimate)}s", count(estimate.n)
        yield "method", spoken(estimate.method)
        if estimate.interval is not None:
            yield "confidence level", percent(estimate.interval.level)
        yield "the numbers are about", estimate.target

    def intervals(self, estimate: Any) -> Iterator[Use]:
        """Look up what was measured of the interval; that of refits by their design."""
        design = getattr(estimate, "design", "")
        return refit_uses([estimate], design) if design else uses_by([estimate])

    def pictures(self, result: Estimate) -> doc.Pictures:
        """Draw the refits where there are several, else the estimate on its interval."""
        if has_refits(result):
            yield "replicates", refit_chart(result)
        else:
            yield "estimate", doc.forest_of([result])


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


def has_refits(result: Any) -> TypeGuard[Resampled]:
    """Whether an estimate has the values of several refits."""
    return isinstance(result, Resampled) and bool(
        np.isfinite(result.replicates).sum() >= MIN_REFITS
    )


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


@dataclass(frozen=True)
class PerturbationPresenter(EstimatePresenter):
    """An error rate with its interval by perturbation resampling; `rivals` are other rules."""

    rivals: Mapping[str, Estimate] | None = None

    def title(self, result: Any) -> str:
        if result.measure == "error_rate":
            return "How often is this model wrong?"
        return f"What {spoken_title(result.measure)} will this model have?"

    def subtitle(self, result: Any) -> Iterator[str]:
        yield counted(result.n, "example")
        yield counted(len(result.replicates), "weighting")
        yield f"about {result.target}"

    def tiles(self, result: Any) -> Iterator[doc.Tile]:
        yield doc.Tile.of(title_of(result.measure), result, "cross-validated")
        training = replace(result, value=result.training_error, interval=None)
        yield doc.Tile.of("In training", training, "on the examples it was trained on")

    def sections(self, result: Any) -> Iterator[doc.Section]:
        """Draw where the value may lie, and what other rules on the same examples say."""
        values = _places(result)
        if len(values) > 1 and np.ptp(values) > 0:
            yield doc.charts_section(
                "Where it may lie",
                [histogram(f"{title_of(result.measure)}, by random weights", result, values)],
                "The model was trained again under random weights of the examples. A bar counts "
                "the weightings by which the value would lie there: the estimate less what they "
                "moved it by.",
            )
        entries = [
            doc.Entry(
                FORMS.get(name, spoken(name)),
                replace(result, interval=ends, notes=()),
                "the interval of this page" if ends == result.interval else "",
            )
            for name, ends in result.forms.items()
        ]
        entries += [
            doc.Entry(_rival_title(name), one, f"speaks of {one.target}")
            for name, one in (self.rivals or {}).items()
        ]
        if entries:
            yield doc.estimate_forest(
                "Every rule on the same examples",
                "Rule",
                entries,
                "The same value by every form of interval that there is for it.",
            )

    def notes(self, result: Any) -> Iterator[str]:
        yield from result.notes
        for name, one in (self.rivals or {}).items():
            yield from (f"{_rival_title(name)}: {note}" for note in one.notes)

    def facts(self, result: Any) -> doc.Facts:
        yield "examples", count(result.n)
        yield "weightings", count(len(result.replicates))
        yield "losses that are perturbed", spoken(result.losses)
        yield "value in training", number(result.training_error)
        if result.interval is not None:
            yield "confidence level", percent(result.interval.level)
        yield "the numbers are about", result.target

    def next_steps(self, result: Any) -> Iterator[str]:
        """Say what to do about an interval by perturbation."""
        if result.losses == "training":
            covered = [use.measured.mean for use in uses_of(result) if use.measured is not None]
            reason = f": they were measured to cover {100 * covered[0]:.1f} %" if covered else ""
            yield (
                "Do not rely on intervals by losses in training, which vary too little"
                f"{reason}: `truerisk perturb --losses cross_validated`."
            )
        # With groups neither was measured.
        exact = result.forms["exact"].method == "clopper_pearson"
        if exact and result.measure == "error_rate":
            yield (
                f"Take the agreement interval for the error itself, {number(result.value)} here: "
                "it was measured to be shorter, and to keep its promise too: "
                "`truerisk estimate --interval agreement`."
            )

    def intervals(self, result: Any) -> Iterator[Use]:
        if result.interval is not None:
            grouped = result.forms["exact"].method.startswith(("cluster", "group", "agreement"))
            reason = "not measured with groups" if grouped else "not measured"
            losses = f"{result.losses.replace('_', '-')} losses"
            for interval in (result.interval, *result.forms.values()):
                design = "5 folds pooled" if interval.method == EXACT else losses
                yield look_up(interval, result.measure, reason, when=not grouped, design=design)

    def pictures(self, result: Any) -> doc.Pictures:
        """Draw where the error may lie, and the estimate with every form of interval."""
        values = _places(result)
        if len(values) > 1:
            title = f"{title_of(result.measure)}, by random weights"
            yield "weightings", histogram(title, result, values)
        else:
            yield "weightings", doc.forest_of([result])
        forms = result.forms.items()
        rows = [doc.Entry(spoken(name), replace(result, interval=one)) for name, one in forms]
        yield "intervals", doc.Forest(rows=rows, axis=title_of(result.measure))


def _rival_title(rival: str) -> str:
    return "VC bound" if rival == "vc_bound" else spoken(rival).capitalize()


def _places(result: "Perturbed") -> list[float]:
    # A replicate is a deviation, value − truth; less it, the value stands where the truth may.
    values: list[float] = (result.value - np.asarray(result.replicates)).tolist()
    return values
