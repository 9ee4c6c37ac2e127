"""OverDatasets → a chapter: the critical-difference picture, every pair, how probable it is."""

from collections.abc import Iterator, Sequence

from truerisk.comparison.datasets.bayesian import HierarchicalPosterior
from truerisk.comparison.datasets.over_datasets import OverDatasets, PairOverDatasets
from truerisk.reporting.chapters.comparisons import SIDES
from truerisk.reporting.escaping import visible
from truerisk.reporting.page.parts import Chapter, Section, Tile, sentences
from truerisk.reporting.rankings import (
    control_table,
    p_value_table,
    rank_table,
    ranking_notes,
    together_table,
)
from truerisk.reporting.sections.differences import (
    Difference,
    DifferenceGroup,
    difference_tile,
    differences_section,
    p_sentence,
)
from truerisk.reporting.sections.probability_bars import ProbabilityBar, probabilities_section
from truerisk.reporting.sections.rank_picture import critical_difference_section
from truerisk.reporting.sections.tables import table_section
from truerisk.reporting.tables import Table
from truerisk.reporting.wording import counted, percent
from truerisk.results import Estimate

MAX_PAIRS = 300  # drawn on one page


def rankings_chapter(found: OverDatasets) -> Chapter:
    """Make the chapter of classifiers compared over many data sets.

    Examples
    --------
    >>> from truerisk.comparison.datasets.over_datasets import compare_over_datasets
    >>> found = compare_over_datasets([[0.8, 0.9, 0.7]] * 6, names=["a", "b", "c"])
    >>> [section.kind for section in rankings_chapter(found).sections][:3]
    ['critical_difference', 'differences', 'probabilities']
    """
    parts = (
        counted(found.n, "data set"),
        counted(len(found.names), "classifier"),
        f"{percent(found.level)} intervals",
    )
    return Chapter(
        title="Which classifier is better over many data sets?",
        subtitle=" · ".join(parts),
        verdict=sentences(found.verdict),
        tiles=tuple(_tiles(found)),
        sections=tuple(_sections(found)),
        notes=sentences(ranking_notes(found)),
    )


def _sections(found: OverDatasets) -> Iterator[Section]:
    if found.friedman is not None:
        yield critical_difference_section(found)
    shown = found.pairs[:MAX_PAIRS]
    left_out = len(found.pairs) - len(shown)
    yield _pairs(found, shown, left_out)
    yield _posteriors(found, shown, left_out)
    yield from map(table_section, _tables(found))


def _tables(found: OverDatasets) -> Iterator[Table]:
    """Give the tables of what is not drawn."""
    yield rank_table(found)
    if found.friedman is not None:
        yield together_table(found)
    yield p_value_table(found)
    if found.against_control:
        yield control_table(found)


def _tiles(found: OverDatasets) -> Iterator[Tile]:
    if found.friedman is None:
        yield difference_tile(_difference(found, found.pairs[0], "Typical difference"))
    best = found.in_order[0]
    among = f"of {len(found.names)} classifiers, over {counted(found.n, 'data set')}"
    yield Tile(visible(f"Best average rank: {best}"), f"{found.rank_of(best):.2f}", among)
    if found.friedman is not None:
        yield Tile("Are all alike?", p_sentence(found.friedman.p_value), "Iman-Davenport")
    length = found.critical_difference if found.control is None else found.control_difference
    if length is not None:
        kind = "Nemenyi" if found.control is None else "Bonferroni-Dunn"
        words = f"{kind}, {percent(found.level)}"
        yield Tile("Critical difference of ranks", f"{length:.2f}", words)


def _pairs(found: OverDatasets, shown: Sequence[PairOverDatasets], left_out: int) -> Section:
    rows = [_difference(found, pair, f"{pair.names[1]} − {pair.names[0]}") for pair in shown]
    alone = len(rows) == 1
    side = SIDES[found.higher_is_better]
    region = "" if found.region is None else f", ± {found.region:g} does not matter"
    return differences_section(
        "Every pair, and how sure it is",
        [] if alone else [DifferenceGroup(f"Typical difference. {side}{region}", rows)],
        level=percent(found.level),
        main=rows[0] if alone else None,
        left_out=left_out,
        seen="data sets",
    )


def _difference(found: OverDatasets, pair: PairOverDatasets, title: str) -> Difference:
    estimate = Estimate(
        value=pair.difference,
        interval=pair.interval,
        measure="score",
        method="signed_rank",
        n=found.n,
        target="the learner at this sample size",
    )
    return Difference(
        title=title,
        names=pair.names,
        estimate=estimate,
        finding=pair.finding,
        higher_is_better=found.higher_is_better,
        region=found.region,
        p_value=pair.p_value,
        method="Wilcoxon, Holm" if len(found.pairs) > 1 else "Wilcoxon",
        seen=f"won {pair.wins}, tied {pair.ties}, lost {pair.losses}",
    )


def _posteriors(found: OverDatasets, shown: Sequence[PairOverDatasets], left_out: int) -> Section:
    region = (
        "Without a region of equivalence only exact ties are equivalent."
        if found.region is None
        else f"Equivalent is a difference within ± {found.region:g}."
    )
    return probabilities_section(
        "How probable is each finding?",
        [bar for pair in shown for bar in _bars(pair)],
        lead="How probable it is, after these data sets, that the second is worse, equivalent or "
        f"better: by Bayesian tests. {region}",
        left_out=left_out,
    )


def _bars(pair: PairOverDatasets) -> Iterator[ProbabilityBar]:
    title = f"{pair.names[1]} − {pair.names[0]}"
    for posterior, model in ((pair.posterior, "signed rank"), (pair.hierarchical, "hierarchical")):
        if posterior is not None:
            yield ProbabilityBar(
                title=title,
                worse=posterior.worse,
                equivalent=posterior.equivalent,
                better=posterior.better,
                model=model,
            )
    if isinstance(pair.hierarchical, HierarchicalPosterior):
        yield ProbabilityBar(
            title=title,
            worse=pair.hierarchical.next_worse,
            equivalent=pair.hierarchical.next_equivalent,
            better=pair.hierarchical.next_better,
            model="on the next data set",
        )
