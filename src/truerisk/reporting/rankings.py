"""OverDatasets → tables on a terminal, JSON, CSV and Markdown."""

from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING

from truerisk.comparison.datasets.bayesian_hierarchical import HierarchicalPosterior
from truerisk.comparison.datasets.bayesian_signed_rank import PracticalPosterior
from truerisk.comparison.datasets.over_datasets import OverDatasets, PairOverDatasets
from truerisk.reporting.formats import csv_of, json_text, markdown_table
from truerisk.reporting.tables import Column, Table
from truerisk.reporting.wording import (
    NO_INTERVAL,
    count,
    interval_heading,
    number,
    p_words,
    percent,
)

if TYPE_CHECKING:
    from rich.console import Console

MAX_PAIRS = 60  # on a terminal


def print_ranking(found: OverDatasets, console: "Console") -> None:
    """Print what may be said, the tables, and what was assumed."""
    from truerisk.reporting.summary import (  # noqa: PLC0415  (needs rich)
        print_facts,
        print_sentences,
        print_table,
    )

    print_sentences(found.verdict, console)
    for table in ranking_tables(found):
        shown = Table(table.title, table.columns, table.rows[:MAX_PAIRS])
        print_table(shown, console)
        left = len(table.rows) - MAX_PAIRS
        if left > 0:
            print_sentences([f"{left:,} pairs more: --json and --csv have them."], console)
    print_sentences(ranking_notes(found), console, heading="Notes")
    print_facts(ranking_facts(found), console)


def ranking_tables(found: OverDatasets) -> Iterator[Table]:
    """Give the tables: ranks, all together, pairs, their tests and posteriors, the control."""
    yield rank_table(found)
    if found.friedman is not None:
        yield together_table(found)
    yield pair_table(found)
    yield p_value_table(found)
    yield posterior_table(found)
    if found.against_control:
        yield control_table(found)


def rank_table(found: OverDatasets) -> Table:
    """Give one row a classifier, the best first; who shares a group is not told apart by ranks."""
    groups = {
        name: ", ".join(str(at) for at, one in enumerate(found.cliques, 1) if name in one)
        for name in found.names
    }
    grouped = found.critical_difference is not None
    columns = (
        Column("Classifier"),
        Column("Average rank", numeric=True),
        Column("Mean score", numeric=True),
        *((Column("Groups"),) if grouped else ()),
    )
    rows = tuple(
        (
            name,
            f"{found.rank_of(name):.3f}",
            number(found.mean_scores[found.names.index(name)], 4),
            *((groups[name] or NO_INTERVAL,) if grouped else ()),
        )
        for name in found.in_order
    )
    return Table(f"Average ranks over {count(found.n)} data sets", columns, rows)


def together_table(found: OverDatasets) -> Table:
    """Give one row a test of all classifiers together."""
    columns = (Column("Test"), Column("Statistic", numeric=True), Column("p", numeric=True))
    test = found.friedman
    if test is None:
        return Table("All together", columns, ())
    rows = (
        ("Iman-Davenport F", number(test.f), p_words(test.p_value)),
        ("Friedman χ²", number(test.chi2), p_words(test.chi2_p_value)),
        (
            "Friedman χ², corrected for ties",
            number(test.chi2_tie_corrected),
            p_words(test.tie_corrected_p_value),
        ),
    )
    return Table("All together", columns, rows)


def pair_table(found: OverDatasets) -> Table:
    """Give one row a pair: typical difference, interval, wins, finding."""
    columns = (
        Column("Second − first"),
        Column("Typical", numeric=True),
        Column(interval_heading(found.level), numeric=True),
        Column("Won, tied, lost", numeric=True),
        Column("The second is"),
    )
    rows = tuple(
        (
            _title(pair),
            number(pair.difference),
            _interval(pair),
            f"{pair.wins}, {pair.ties}, {pair.losses}",
            pair.finding,
        )
        for pair in found.pairs
    )
    return Table("Pairs", columns, rows)


def p_value_table(found: OverDatasets) -> Table:
    """Give one row a pair: the p-values of its tests, of which Holm's tells the finding."""
    offered: tuple[tuple[str, Callable[[PairOverDatasets], float | None]], ...] = (
        ("Wilcoxon", lambda pair: pair.wilcoxon.p_value),
        ("Holm", lambda pair: pair.p_value),
        ("Sign", lambda pair: pair.sign_p_value),
        ("Nemenyi", lambda pair: pair.nemenyi_p_value),
        ("Equivalence", lambda pair: pair.equivalence_p_value),
    )
    used = [(head, value) for head, value in offered if value(found.pairs[0]) is not None]
    columns = (Column("Second − first"), *(Column(head, numeric=True) for head, _ in used))
    rows = tuple(
        (_title(pair), *(p_words(value(pair)) for _, value in used)) for pair in found.pairs
    )
    return Table("p-values", columns, rows)


def _title(pair: PairOverDatasets) -> str:
    return f"{pair.names[1]} − {pair.names[0]}"


def _interval(pair: PairOverDatasets) -> str:
    ends = pair.interval
    return NO_INTERVAL if ends is None else f"[{number(ends.low)}, {number(ends.high)}]"


def posterior_table(found: OverDatasets) -> Table:
    """Give one row a pair and model: how probable it is that the second is worse, alike, better."""
    columns = (
        Column("Second − first"),
        Column("Model"),
        *(Column(heading, numeric=True) for heading in ("Worse", "Equivalent", "Better")),
    )
    rows: list[tuple[str, ...]] = []
    for pair in found.pairs:
        title = _title(pair)
        rows.append((title, "signed rank", *_chances(pair.posterior)))
        if pair.hierarchical is not None:
            rows.append((title, "hierarchical", *_chances(pair.hierarchical)))
        if isinstance(pair.hierarchical, HierarchicalPosterior):
            of = pair.hierarchical
            chances = (of.next_worse, of.next_equivalent, of.next_better)
            rows.append((title, "next data set", *map(number, chances)))
    region = "no region" if found.region is None else f"within ± {found.region:g}"
    return Table(f"Posterior probabilities ({region})", columns, tuple(rows))


def _chances(posterior: PracticalPosterior) -> tuple[str, str, str]:
    return number(posterior.worse), number(posterior.equivalent), number(posterior.better)


def control_table(found: OverDatasets) -> Table:
    """Give one row a classifier: its average rank against the control's."""
    columns = (
        Column("Classifier"),
        *(
            Column(heading, numeric=True)
            for heading in ("z", "p", "Bonferroni-Dunn", "Holm", "Hochberg")
        ),
    )
    rows = tuple(
        (
            one.name,
            number(one.z),
            *map(p_words, (one.p_value, one.bonferroni_dunn, one.holm, one.hochberg)),
        )
        for one in found.against_control
    )
    return Table(f"Average ranks against {found.control} (positive z: better)", columns, rows)


def ranking_notes(found: OverDatasets) -> Iterator[str]:
    """Say what is to be known of the tests that were used."""
    if any(pair.interval is None for pair in found.pairs):
        yield f"Too few data sets for an interval at {percent(found.level)}."
    if len(found.pairs) > 1:
        yield "An interval is for its pair alone; findings are for all pairs together."
    if not found.pairs[0].wilcoxon.is_exact:
        yield "Over 50 data sets: Wilcoxon's p-values are normal approximations."
    if any(pair.ties for pair in found.pairs):
        yield "Ties: ranked, then left out (Pratt) by Wilcoxon's test; left out by the sign test."
    if found.friedman is not None and found.control is None:
        yield (
            "Groups and Nemenyi's test go by average ranks, which hang on all classifiers of the "
            "table; findings go by Wilcoxon's test of the pair and Holm's adjustment."
        )
    for pair in found.pairs:
        model = pair.hierarchical
        if isinstance(model, HierarchicalPosterior) and not model.is_mixed:
            yield f"{' and '.join(pair.names)}: the chains of the hierarchical model disagree."


def ranking_facts(found: OverDatasets) -> Iterator[tuple[str, str]]:
    """Give what was assumed, as pairs of words."""
    yield "data sets", count(found.n)
    yield "classifiers", count(len(found.names))
    yield "control", found.control or "none"
    yield "better is", "a higher score" if found.higher_is_better else "a lower score"
    yield "region of equivalence", "none" if found.region is None else f"± {found.region:g}"
    yield "confidence level", percent(found.level)
    if found.critical_difference is not None:
        yield "critical difference (Nemenyi)", number(found.critical_difference)
    if found.control_difference is not None:
        yield "critical difference (Bonferroni-Dunn)", number(found.control_difference)
    yield "seed", str(found.random_state)


def ranking_json(found: OverDatasets) -> str:
    """Write the comparison as one JSON object: every number in full."""
    return json_text(found.to_dict())


def ranking_csv(found: OverDatasets) -> str:
    """Write one row a pair; numbers in full."""
    return csv_of(found)


def ranking_markdown(found: OverDatasets) -> str:
    """Write the tables in Markdown."""
    return "\n\n".join(map(markdown_table, ranking_tables(found)))


RANKING_FORMATS: MappingProxyType[str, Callable[[OverDatasets], str]] = MappingProxyType(
    {"json": ranking_json, "csv": ranking_csv, "markdown": ranking_markdown}
)
