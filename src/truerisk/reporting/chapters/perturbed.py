"""Perturbed → a chapter: where the error may lie, and what other rules say of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from truerisk.estimation.svm.perturbation import Perturbed
from truerisk.reporting.chapters.estimate import histogram, value_sentence
from truerisk.reporting.page.charts import charts_section
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.sections.estimate_forest import Entry, estimate_forest
from truerisk.reporting.tables import spoken
from truerisk.reporting.wording import counted
from truerisk.results import Estimate

FORMS = {
    "exact": "Exact binomial",
    "percentile": "Perturbation: percentile",
    "normal": "Perturbation: normal",
    "effective_size": "Perturbation: effective size",
}


def perturbed_chapter(found: Perturbed, rivals: Mapping[str, Estimate] | None = None) -> Chapter:
    """Make the chapter of an error rate with its interval by perturbation resampling.

    Parameters
    ----------
    found
        The estimate.
    rivals
        What other rules say of the same machine on the same examples, as `rival_intervals` does.

    Examples
    --------
    >>> from truerisk import LinearSVM, perturbation
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = perturbation(LinearSVM(), X, X[:, 0] > 0.3 * X[:, 1], random_state=1)
    >>> [section.title for section in perturbed_chapter(found).sections]
    ['Where the error may lie', 'Every rule on the same examples']
    """
    training = replace(found, value=found.training_error, interval=None)
    parts = (
        counted(found.n, "example"),
        counted(len(found.replicates), "weighting"),
        f"about {found.target}",
    )
    return Chapter(
        title="How often is this machine wrong?",
        subtitle=" · ".join(parts),
        verdict=sentences([value_sentence(found)]),
        tiles=(
            Tile.of("Error rate", found, "cross-validated"),
            Tile.of("Error in training", training, "on the examples it was trained on"),
        ),
        sections=tuple(_sections(found, rivals or {})),
        notes=sentences(_notes(found, rivals or {})),
    )


def _sections(found: Perturbed, rivals: Mapping[str, Estimate]) -> Iterator[Section]:
    # A replicate is a deviation, value − truth; less it, the value stands where the truth may.
    values = found.value - np.asarray(found.replicates)
    if len(values) > 1 and np.ptp(values) > 0:
        yield charts_section(
            "Where the error may lie",
            [histogram("The error, by random weights", found, values.tolist())],
            "The machine was trained again under random weights of the examples. A bar counts the "
            "weightings by which the error would lie there: the estimate less what they moved it "
            "by.",
        )
    entries = [
        Entry(
            FORMS.get(name, spoken(name)),
            replace(found, interval=ends, notes=()),
            _used(found, name),
        )
        for name, ends in found.forms.items()
    ]
    entries += [Entry(_title(name), one, f"speaks of {one.target}") for name, one in rivals.items()]
    if entries:
        yield estimate_forest(
            "Every rule on the same examples",
            "Rule",
            entries,
            "The same error by every form of interval that there is for it.",
        )


def _title(rival: str) -> str:
    return "VC bound" if rival == "vc_bound" else spoken(rival).capitalize()


def _used(found: Perturbed, form: str) -> str:
    return "the interval of this page" if found.forms[form] == found.interval else ""


def _notes(found: Perturbed, rivals: Mapping[str, Estimate]) -> Iterator[str]:
    yield from found.notes
    for name, one in rivals.items():
        yield from (f"{_title(name)}: {note}" for note in one.notes)
