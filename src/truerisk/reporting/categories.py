"""CorpusEvaluation → tables on a terminal, CSV and JSON: a line a category."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from truerisk.reporting.formats import csv_of, json_text
from truerisk.reporting.tables import Column, Table
from truerisk.reporting.wording import UNDEFINED, count, percent
from truerisk.results import Estimate, Evaluation

if TYPE_CHECKING:
    from rich.console import Console

    from truerisk.estimation.corpus.corpus import CorpusEvaluation

WIDTH = 120  # of a table where no terminal says how wide it is
MEASURES = {"error_rate": "Error %", "recall": "Recall %", "precision": "Precision %", "f1": "F1 %"}
RANKED = {"breakeven_point": "BEP %", "eleven_point_precision": "11-pt %"}
METHOD_TITLES = {"xi_alpha": "ξα", "leave_one_out": "leave-one-out"}
HELD_OUT = "held out"
NOTHING = "–"
SAID_OTHERWISE = {"examples", "classes", "positive label"}


def print_categories(
    evaluation: "CorpusEvaluation", console: "Console", *, top: int | None = None
) -> None:
    """Print the categories, the averages, the verdict, the notes and what was assumed."""
    from truerisk.reporting.summary import (  # noqa: PLC0415  (needs rich)
        print_facts,
        print_sentences,
        print_table,
    )

    print_table(category_table(evaluation, top), console)
    left = len(evaluation.categories) - (top or len(evaluation.categories))
    if left > 0:
        are = "category is" if left == 1 else "categories are"
        print_sentences([f"{left:,} smaller {are} not shown; --csv has them all."], console)
    print_table(average_table(evaluation), console)
    print_sentences(evaluation.verdict, console, heading="Verdict")
    print_sentences(evaluation.notes, console, heading="Notes")
    print_facts(corpus_facts(evaluation), console)


def category_table(evaluation: "CorpusEvaluation", top: int | None = None) -> Table:
    """Give a row a category and, below it, a row of what the documents held out say."""
    holdout = evaluation.holdout
    ranked = {} if holdout is None else RANKED
    columns = (
        Column("Category"),
        Column("Docs", numeric=True),
        *(Column(title, numeric=True) for title in (*MEASURES.values(), *ranked.values())),
    )
    rows = []
    for category in evaluation.categories[:top]:
        own = evaluation.by_class[category.name]
        beside = (NOTHING,) * len(ranked)
        rows.append((category.name, count(category.documents), *_cells(own), *beside))
        if holdout is not None and category.reason is None:
            tested = holdout.by_class[category.name]
            documents = count(category.test_documents or 0)
            ranks = (_value(tested[name]) for name in ranked)
            rows.append((f"└ {HELD_OUT}", documents, *_cells(tested), *ranks))
    return Table(_title(evaluation), columns, tuple(rows))


def average_table(evaluation: "CorpusEvaluation") -> Table:
    """Give micro and macro averages: those asked for, those of the other ρ, those held out."""
    measures = MEASURES if evaluation.holdout is None else MEASURES | RANKED
    columns = (
        Column("Average"),
        *(Column(title, numeric=True) for title in measures.values()),
    )
    rows = [
        (f"{average}, {name}", *_averages(found, average, measures))
        for name, found in _sources(evaluation)
        for average in ("micro", "macro")
    ]
    return Table("Averages over the categories", columns, tuple(rows))


def corpus_facts(evaluation: "CorpusEvaluation") -> Iterator[tuple[str, str]]:
    """Give what was assumed and where the documents came from, as pairs of words."""
    from truerisk.reporting.tables import provenance  # noqa: PLC0415

    yield "training documents", count(evaluation.n)
    if evaluation.holdout is not None:
        yield "documents held out", count(evaluation.holdout.n)
    yield "categories", count(len(evaluation.categories))
    yield from (pair for pair in provenance(evaluation) if pair[0] not in SAID_OTHERWISE)


def categories_csv(evaluation: "CorpusEvaluation") -> str:
    """Write one row per category and measure, for every method; averages come last."""
    return csv_of(evaluation)


def categories_json(evaluation: "CorpusEvaluation") -> str:
    """Write the evaluation as one JSON object, a list entry a category."""
    return json_text(evaluation.to_dict())


CORPUS_FORMATS = {"json": categories_json, "csv": categories_csv}


def in_percent(value: float) -> str:
    """Write a share in percent, two decimals under ten percent.

    Examples
    --------
    >>> in_percent(0.0259), in_percent(0.983), in_percent(float("nan"))
    ('2.59', '98.3', 'undefined')
    """
    if value != value:  # noqa: PLR0124  (NaN)
        return UNDEFINED
    return f"{100 * value:.1f}" if value >= 0.1 else f"{100 * value:.2f}"


def in_one_cell(estimate: Estimate) -> str:
    """Write an estimate and its interval in percent."""
    if not estimate.is_defined or estimate.interval is None:
        return in_percent(estimate.value)
    ends = (in_percent(end) for end in (estimate.interval.low, estimate.interval.high))
    return f"{in_percent(estimate.value)} [{', '.join(ends)}]"


def _title(evaluation: "CorpusEvaluation") -> str:
    what = METHOD_TITLES[str(evaluation.settings["method"])]
    if what == "ξα":
        what += f", ρ = {evaluation.settings['rho']:g}"
    return f"Each category against the rest: {what} ({percent(evaluation.level)} intervals)"


def _cells(row: Mapping[str, Estimate]) -> Iterator[str]:
    return (in_one_cell(row[name]) for name in MEASURES)


def _value(estimate: Estimate) -> str:
    return in_percent(estimate.value) if estimate.is_defined else NOTHING


def _averages(found: Evaluation, average: str, measures: Iterable[str]) -> Iterator[str]:
    for name in measures:
        # Every category has as many documents: both averages of their errors are one number.
        measure = "hamming_loss" if name == "error_rate" else f"{name}_{average}"
        if measure not in found:
            yield NOTHING
        else:
            estimate = found[measure]
            yield _value(estimate) if name in RANKED else in_one_cell(estimate)


def _sources(evaluation: "CorpusEvaluation") -> Iterator[tuple[str, Evaluation]]:
    if evaluation.settings["method"] != "xi_alpha":
        yield METHOD_TITLES[str(evaluation.settings["method"])], evaluation
    for rho, found in evaluation.at_rho.items():
        yield f"ξα, ρ = {rho:g}", found
    if evaluation.holdout is not None:
        yield HELD_OUT, evaluation.holdout
