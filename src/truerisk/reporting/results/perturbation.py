"""Perturbed: where the error may lie, and what other rules say of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from truerisk.estimation.svm.perturbation import Perturbed
from truerisk.measures.registry import spoken_title, title_of
from truerisk.reporting import document as doc
from truerisk.reporting.presenter import Presenter, Use
from truerisk.reporting.results.estimate import histogram, value_sentence
from truerisk.reporting.sections.coverage import EXACT, svm_coverage, uses_of
from truerisk.reporting.wording import count, counted, percent, spoken
from truerisk.results import Estimate, number

FORMS = {
    "exact": "Exact binomial",
    "percentile": "Perturbation: percentile",
    "normal": "Perturbation: normal",
    "effective_size": "Perturbation: effective size",
    "plug_in": "Plug-in variance",
}


def perturbed_chapter(
    result: Perturbed, rivals: Mapping[str, Estimate] | None = None
) -> doc.Chapter:
    """Make the chapter of an error rate with its interval by perturbation resampling."""
    training = replace(result, value=result.training_error, interval=None)
    parts = (
        counted(result.n, "example"),
        counted(len(result.replicates), "weighting"),
        f"about {result.target}",
    )
    return doc.Chapter(
        title=_title(result),
        subtitle=" · ".join(parts),
        verdict=doc.sentences([value_sentence(result)]),
        tiles=(
            doc.Tile.of(title_of(result.measure), result, "cross-validated"),
            doc.Tile.of("In training", training, "on the examples it was trained on"),
        ),
        sections=tuple(_sections(result, rivals or {})),
        notes=doc.sentences(_notes(result, rivals or {})),
    )


def _title(result: Perturbed) -> str:
    if result.measure == "error_rate":
        return "How often is this model wrong?"
    return f"What {spoken_title(result.measure)} will this model have?"


def _sections(result: Perturbed, rivals: Mapping[str, Estimate]) -> Iterator[doc.Section]:
    values = _places(result)
    if len(values) > 1 and np.ptp(values) > 0:
        yield doc.charts_section(
            "Where it may lie",
            [histogram(f"{title_of(result.measure)}, by random weights", result, values)],
            "The model was trained again under random weights of the examples. A bar counts the "
            "weightings by which the value would lie there: the estimate less what they moved it "
            "by.",
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
        for name, one in rivals.items()
    ]
    if entries:
        yield doc.estimate_forest(
            "Every rule on the same examples",
            "Rule",
            entries,
            "The same value by every form of interval that there is for it.",
        )


def _rival_title(rival: str) -> str:
    return "VC bound" if rival == "vc_bound" else spoken(rival).capitalize()


def _notes(result: Perturbed, rivals: Mapping[str, Estimate]) -> Iterator[str]:
    yield from result.notes
    for name, one in rivals.items():
        yield from (f"{_rival_title(name)}: {note}" for note in one.notes)


def _facts(result: Any) -> doc.Facts:
    yield "examples", count(result.n)
    yield "weightings", count(len(result.replicates))
    yield "losses that are perturbed", spoken(result.losses)
    yield "value in training", number(result.training_error)
    if result.interval is not None:
        yield "confidence level", percent(result.interval.level)
    yield "the numbers are about", result.target


def _uses(result: Any) -> Iterator[Use]:
    if result.interval is not None:
        grouped = result.forms["exact"].method.startswith(("cluster", "group", "agreement"))
        reason = "not measured with groups" if grouped else "not measured"
        losses = f"{result.losses.replace('_', '-')} losses"
        for interval in (result.interval, *result.forms.values()):
            design = "5 folds pooled" if interval.method == EXACT else losses
            measured = None if grouped else svm_coverage(interval, result.measure, design)
            yield Use(interval, result.measure, measured, reason)


def _next_steps(result: Any) -> Iterator[str]:
    """Say what to do about an interval by perturbation."""
    if result.losses == "training":
        covered = [use.measured.mean for use in uses_of(result) if use.measured is not None]
        reason = f": they were measured to cover {100 * covered[0]:.1f} %" if covered else ""
        yield (
            "Do not rely on intervals by losses in training, which vary too little"
            f"{reason}: `truerisk perturb --losses cross_validated`."
        )
    exact = result.forms["exact"].method == "clopper_pearson"  # with groups neither was measured
    if exact and result.measure == "error_rate":
        yield (
            f"Take the agreement interval for the error itself, {number(result.value)} here: it "
            "was measured to be shorter, and to keep its promise too: "
            "`truerisk estimate --interval agreement`."
        )


def _pictures(result: Perturbed) -> doc.Pictures:
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


def _places(result: Perturbed) -> list[float]:
    # A replicate is a deviation, value − truth; less it, the value stands where the truth may.
    values: list[float] = (result.value - np.asarray(result.replicates)).tolist()
    return values


PRESENTER = Presenter(
    chapter=perturbed_chapter,
    facts=_facts,
    next_steps=_next_steps,
    intervals=_uses,
    pictures=_pictures,
)
