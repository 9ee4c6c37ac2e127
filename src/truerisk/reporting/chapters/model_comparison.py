"""Two learners or machines compared → a chapter: the difference, its chances, refit by refit."""

from collections.abc import Iterator, Sequence

import numpy as np

from truerisk.comparison.learners.model_comparisons import BayesianComparison, ModelComparisons
from truerisk.reporting.chapters.comparisons import by_measure
from truerisk.reporting.escaping import visible
from truerisk.reporting.page.charts import Chart, Dots, Line, Scale, charts_section
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.sections.differences import (
    Difference,
    difference_tile,
    differences_section,
)
from truerisk.reporting.sections.probability_bars import ProbabilityBar, probabilities_section
from truerisk.reporting.tables import spoken
from truerisk.reporting.wording import counted, percent, title_of
from truerisk.results import Comparison, Estimate, Resampled

SEVERAL = "The p-values of different measures are not adjusted for being several."
MAX_SCATTERS = 2  # measures whose refits are drawn one by one


def model_comparison_chapter(found: Comparison | ModelComparisons) -> Chapter:
    """Make the chapter of one comparison, or of one for each of several measures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import compare_models
    >>> found = compare_models("tree", "majority", *load_iris(return_X_y=True), random_state=1,
    ...                        repeats=1)
    >>> model_comparison_chapter(found).title
    'Is majority better than tree?'
    """
    compared = list(found.values()) if isinstance(found, ModelComparisons) else [found]
    main = compared[0]
    first, second = map(visible, main.names)
    ends = main.difference.interval
    parts = (
        counted(main.difference.n, "example"),
        visible(spoken(main.method)),
        *(() if ends is None else (f"{percent(ends.level)} intervals",)),
    )
    notes = dict.fromkeys(note for one in compared for note in one.notes)
    return Chapter(
        title=f"Is {second} better than {first}?",
        subtitle=" · ".join(parts),
        verdict=sentences(one.verdict for one in compared),
        tiles=tuple(_tiles(main)),
        sections=tuple(_sections(compared)),
        notes=sentences([*notes, *([SEVERAL] if len(compared) > 1 else [])]),
    )


def _tiles(main: Comparison) -> Iterator[Tile]:
    title = title_of(main.measure)
    for name, estimate in zip(main.names, (main.first, main.second), strict=True):
        yield Tile.of(f"{title}: {name}", estimate)
    yield difference_tile(Difference.of(main, title))


def _sections(compared: Sequence[Comparison]) -> Iterator[Section]:
    main, *others = compared
    ends = main.difference.interval
    yield differences_section(
        "The difference, and how sure it is",
        by_measure(others),
        level="" if ends is None else percent(ends.level),
        main=Difference.of(main, title_of(main.measure)),
    )
    bars = [_bar(one) for one in compared if isinstance(one, BayesianComparison)]
    if bars:
        region = (
            "Without a region of equivalence only a difference of exactly 0 is equivalent."
            if main.region is None
            else f"Equivalent is a difference within ± {main.region:g}."
        )
        lead = f"How probable it is that {main.names[1]} is worse, equivalent or better. {region}"
        yield probabilities_section("How probable is each finding?", bars, lead=visible(lead, 500))
    scatters = [chart for one in compared[:MAX_SCATTERS] for chart in _refits(one)]
    if scatters:
        yield charts_section(
            "Refit by refit",
            scatters,
            "A dot is one refit of both on the same examples. On the dashed line both are alike.",
        )


def _bar(found: BayesianComparison) -> ProbabilityBar:
    chances = found.probabilities
    first, second = found.names
    return ProbabilityBar(
        title=f"{title_of(found.measure)}: {second} − {first}",
        worse=chances.worse,
        equivalent=chances.equivalent,
        better=chances.better,
    )


def _refits(found: Comparison) -> Iterator[Chart]:
    """Draw the second's value against the first's, where both have one in each refit."""
    x, y = (np.asarray(_replicates(one)) for one in (found.first, found.second))
    if len(x) != len(y) or len(x) < 2 or not np.isfinite([x, y]).all():
        return
    first, second = found.names
    title = title_of(found.measure)
    across, up = (Scale.over(f"{title}: {name}", [*x, *y]) for name in (first, second))
    ends = (across.low, across.high)
    above, below = int((y > x).sum()), int((y < x).sum())
    told = f"{second} is higher in {above} of {len(x)} refits, lower in {below}."
    yield Chart(
        title=title,
        x=across,
        y=up,
        shapes=[
            Line(ends, ends, "soft", dashed=True, words="alike"),
            Dots(x, y, words="one refit"),
        ],
        caption=told,
    )


def _replicates(estimate: Estimate) -> tuple[float, ...]:
    # Those of a perturbed machine are deviations, not values.
    is_plain = isinstance(estimate, Resampled) and not hasattr(estimate, "training_error")
    return estimate.replicates if isinstance(estimate, Resampled) and is_plain else ()
