"""CorpusEvaluation: each category beside what was held out."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from truerisk.checks import shown
from truerisk.estimation.corpus.corpus import CorpusEvaluation
from truerisk.measures.registry import title_of
from truerisk.reporting import document as doc
from truerisk.reporting.escaping import visible
from truerisk.reporting.presenter import Presenter, Rule, Use, by_rules
from truerisk.reporting.results import evaluation as predictions
from truerisk.reporting.sections.coverage import OF_HELD_OUT, prediction_uses, svm_uses
from truerisk.reporting.sections.provenance import setting_facts, source_facts, targets_of
from truerisk.reporting.wording import count, counted, interval_subtitle, percent
from truerisk.results import UNDEFINED, Estimate, Evaluation

HEADLINES = {"hamming_loss": "Wrong decisions", "f1_micro": "F1, micro", "f1_macro": "F1, macro"}
DRAWN = {"f1": 1.0, "precision": 1.0, "recall": 1.0, "error_rate": 0.0}  # and the perfect value
MAX_DRAWN = 300  # categories; with four pictures each they are the weight of the page
AVERAGES = {"micro": "Micro average", "macro": "Macro average"}
MEASURES = {"error_rate": "Error %", "recall": "Recall %", "precision": "Precision %", "f1": "F1 %"}
RANKED = {"breakeven_point": "BEP %", "eleven_point_precision": "11-pt %"}
METHOD_TITLES = {"xi_alpha": "ξα", "leave_one_out": "leave-one-out"}
HELD_OUT = "held out"
NOTHING = "–"
LEAD = (
    "Each category against the rest, that with most documents first. Numbers are percent; the line "
    "is the interval. F1 is the balance of precision (what is called so is so) and recall (what is "
    "so is called so); the micro average counts every decision the same, the macro average every "
    "category."
)
ENOUGH_DOCUMENTS = 10  # of a category, under which its interval says next to nothing


@dataclass(frozen=True)
class CorpusEvaluationPresenter(Presenter):
    """Each category beside what was held out; `top` are the categories a terminal shows."""

    question: ClassVar[str] = "How well will each category be told?"
    top: int | None = None

    def subtitle(self, evaluation: CorpusEvaluation) -> Iterator[str]:
        yield counted(evaluation.n, "training document")
        if evaluation.holdout is not None:
            yield f"{count(evaluation.holdout.n)} {HELD_OUT}"
        yield counted(len(evaluation.categories), "category", "categories")
        yield _method(evaluation)
        yield _sureness(evaluation)

    def tiles(self, evaluation: CorpusEvaluation) -> Iterator[doc.Tile]:
        for name, title in HEADLINES.items():
            note = ""
            if evaluation.holdout is not None:
                note = f"{HELD_OUT}: {in_one_cell(evaluation.holdout[name])} %"
            one = evaluation[name]
            tile = doc.Tile.of(title, one, note)
            # In percent, as everything on this page is.
            yield replace(
                tile,
                value=f"{in_percent(one.value)} %" if one.is_defined else tile.value,
                interval=tile.interval if one.interval is None else one.interval.words(in_percent),
                marks=tuple(map(_in_percent, tile.marks)),
            )

    def sections(self, evaluation: CorpusEvaluation) -> Iterator[doc.Section]:
        yield doc.Section("categories", "Category by category", _categories(evaluation), LEAD)
        yield doc.table_section(average_table(evaluation), "Numbers are percent.")
        yield from map(doc.table_section, one_label_tables(evaluation))

    def blocks(self, evaluation: CorpusEvaluation) -> Iterator[doc.Block]:
        """Give what a terminal shows: categories, averages, verdict, notes and what was assumed."""
        yield category_table(evaluation, self.top)
        left = len(evaluation.categories) - (self.top or len(evaluation.categories))
        if left > 0:
            are = "category is" if left == 1 else "categories are"
            yield doc.Sentences([f"{left:,} smaller {are} not shown; --csv has them all."])
        yield average_table(evaluation)
        yield from one_label_tables(evaluation)
        yield doc.Sentences(evaluation.verdict, "Verdict")
        yield doc.Sentences(evaluation.notes, "Notes")
        yield doc.FactList([*self.facts(evaluation), *source_facts(evaluation.source)])

    def tables(self, evaluation: CorpusEvaluation) -> Iterator[doc.Table]:
        """Give the tables of Markdown and LaTeX."""
        yield category_table(evaluation)
        yield average_table(evaluation)
        yield from one_label_tables(evaluation)

    def facts(self, evaluation: Any) -> doc.Facts:
        """Say what was assumed, in pairs of words."""
        yield "training documents", count(evaluation.n)
        if evaluation.holdout is not None:
            yield "documents held out", count(evaluation.holdout.n)
        yield "categories", count(len(evaluation.categories))
        yield "confidence level", percent(evaluation.level)
        yield "the numbers are about", targets_of(evaluation.values())
        yield from setting_facts(evaluation.settings, skip={"level", "pos_label", "target"})

    def next_steps(self, evaluation: Any) -> Iterable[str]:
        return by_rules(CORPUS_RULES, _between_documents)(evaluation)

    def intervals(self, evaluation: Any) -> Iterator[Use]:
        yield from svm_uses(evaluation)
        for held_out in filter(None, (evaluation.holdout, evaluation.one_label)):
            for use in prediction_uses(held_out):
                yield replace(use, of=f"{OF_HELD_OUT}{use.of}")

    def pictures(self, evaluation: CorpusEvaluation) -> doc.Pictures:
        """Draw the most frequent categories, then what is drawn of any evaluation."""
        defined = [one for one in evaluation.categories if one.name in evaluation.by_class]
        if defined:
            held_out = {} if evaluation.holdout is None else evaluation.holdout.by_class
            sizes = {one.name: float(one.documents) for one in defined}
            yield "categories", predictions.class_forest(evaluation.by_class, sizes, held_out)
        yield from (
            (name, one)
            for name, one in predictions.EvaluationPresenter().pictures(evaluation)
            if name != "classes"
        )


def _method(evaluation: CorpusEvaluation) -> str:
    name = str(evaluation.settings["method"])
    rho = f", ρ = {evaluation.settings['rho']:g}" if name == "xi_alpha" else ""
    return f"{METHOD_TITLES[name]}{rho}"


def _categories(evaluation: CorpusEvaluation) -> dict[str, Any]:
    """Give one row per average, which stay on top, and one row per category, with pictures."""
    holdout = evaluation.holdout
    shown = evaluation.categories[:MAX_DRAWN]
    ways = [evaluation.by_class] + ([] if holdout is None else [holdout.by_class])
    axes = {
        name: doc.axis_of([path[one.name][name] for path in ways for one in shown], perfect)
        for name, perfect in DRAWN.items()
    }

    def row(label: str, documents: str, tested: str, of: Callable[[Any], Any]) -> dict[str, Any]:
        own, held_out = of(evaluation), {} if holdout is None else of(holdout)
        cells = [_page_cell(own.get(name), held_out.get(name), axes[name]) for name in DRAWN]
        ranks = [] if holdout is None else [_rank(held_out.get(name)) for name in RANKED]
        counts = {"documents": documents, "tested": tested}
        return {"label": label, **counts, "cells": cells, "ranks": ranks}

    totals = [
        row(title, "", "", partial(_averages, average=average))
        for average, title in AVERAGES.items()
    ]
    rows = [
        row(
            visible(one.name),
            count(one.documents),
            "" if one.test_documents is None else count(one.test_documents),
            lambda result, name=one.name: result.by_class[name],  # type: ignore[misc]
        )
        for one in shown
    ]
    return {
        "method": _method(evaluation),
        "held_out": holdout is not None,
        "columns": [
            {
                "title": title_of(name),
                "marks": [] if axis is None else list(map(_in_percent, axis.marks())),
            }
            for name, axis in axes.items()
        ],
        "ranked": [] if holdout is None else [title.split()[0] for title in RANKED.values()],
        "totals": totals,
        "rows": rows,
        "left_out": len(evaluation.categories) - len(shown),
    }


def _page_cell(
    own: Estimate | None, beside: Estimate | None, axis: doc.Axis | None
) -> dict[str, Any]:
    return {
        "own": NOTHING if own is None else in_one_cell(own),
        "beside": None if beside is None else in_one_cell(beside),
        "first": None if own is None else doc.strip(own, axis),
        "second": None if beside is None else doc.strip(beside, axis),
        "reason": "" if own is None else visible("; ".join(own.notes), most=doc.SENTENCE),
    }


def _averages(result: Evaluation, average: str) -> dict[str, Estimate]:
    """Give one average of every measure that has it."""
    names = {name: f"{name}_{average}" for name in (*DRAWN, *RANKED)}
    # Every category has as many documents: both averages of their errors are one number.
    names["error_rate"] = "hamming_loss"
    return {name: result[full] for name, full in names.items() if full in result}


def _in_percent(mark: Mapping[str, Any]) -> dict[str, Any]:
    return {**mark, "words": f"{100 * float(mark['words']):g}"}


def category_table(evaluation: CorpusEvaluation, top: int | None = None) -> doc.Table:
    """Give one row per category and, below it, a row of what the documents held out say."""
    holdout = evaluation.holdout
    ranked = {} if holdout is None else RANKED
    columns = doc.heads(
        "Category", "#Docs", *doc.number_columns((*MEASURES.values(), *ranked.values()))
    )
    rows = []
    for category in evaluation.categories[:top]:
        own = evaluation.by_class[category.name]
        beside = (NOTHING,) * len(ranked)
        rows.append((category.name, count(category.documents), *_cells(own), *beside))
        if holdout is not None and category.reason is None:
            tested = holdout.by_class[category.name]
            documents = count(category.test_documents or 0)
            ranks = (_rank(tested[name]) for name in ranked)
            rows.append((f"└ {HELD_OUT}", documents, *_cells(tested), *ranks))
    title = f"Each category against the rest: {_method(evaluation)} ({_sureness(evaluation)})"
    return doc.Table(title, columns, tuple(rows))


def average_table(evaluation: CorpusEvaluation) -> doc.Table:
    """Give micro and macro averages: those asked for, those of the other ρ, those held out."""
    measures = MEASURES if evaluation.holdout is None else MEASURES | RANKED
    columns = doc.heads("Average", *doc.number_columns(measures.values()))
    rows = []
    for source, result in _sources(evaluation):
        for average in ("micro", "macro"):
            values = _averages(result, average)
            cells = [
                NOTHING if name not in values else in_one_cell(values[name]) for name in MEASURES
            ]
            ranks = [_rank(values.get(name)) for name in measures if name in RANKED]
            rows.append((f"{average}, {source}", *cells, *ranks))
    return doc.Table("Averages over the categories", columns, tuple(rows))


def one_label_tables(evaluation: CorpusEvaluation) -> Iterator[doc.Table]:
    """Give accuracy, macro averages and confusions, where every document has one label."""
    one_label = evaluation.one_label
    if one_label is not None:
        title = "One label per document: the largest decision value, held out"
        yield replace(predictions.measure_table(one_label), title=title)
        confused = predictions.confusion_table(one_label) or predictions.mistake_table(one_label)
        if confused is not None:
            yield confused


def in_percent(value: float) -> str:
    """Write a share in percent, two decimals under ten percent."""
    if value != value:  # noqa: PLR0124  (NaN)
        return UNDEFINED
    return f"{100 * value:.1f}" if value >= 0.1 else f"{100 * value:.2f}"


def in_one_cell(estimate: Estimate) -> str:
    """Write an estimate and its interval in percent."""
    if not estimate.is_defined or estimate.interval is None:
        return in_percent(estimate.value)
    ends, comma = estimate.interval, "" if estimate.interval.side == "both" else ","
    return f"{in_percent(estimate.value)}{comma} {ends.words(in_percent, signs=True)}"


def _sureness(evaluation: CorpusEvaluation) -> str:
    """Say which intervals or bounds there are, of the estimate and of the documents held out."""
    holdout = () if evaluation.holdout is None else evaluation.holdout.values()
    return interval_subtitle(evaluation.level, (*evaluation.values(), *holdout))


def _cells(row: Mapping[str, Estimate]) -> Iterator[str]:
    return (in_one_cell(row[name]) for name in MEASURES)


def _rank(estimate: Estimate | None) -> str:
    return NOTHING if estimate is None or not estimate.is_defined else in_percent(estimate.value)


def _sources(evaluation: CorpusEvaluation) -> Iterator[tuple[str, Evaluation]]:
    if evaluation.settings["method"] != "xi_alpha":
        yield METHOD_TITLES[str(evaluation.settings["method"])], evaluation
    for rho, result in evaluation.at_rho.items():
        yield f"ξα, ρ = {rho:g}", result
    if evaluation.holdout is not None:
        yield HELD_OUT, evaluation.holdout


def categories_with_few_documents(evaluation: Any) -> Iterator[str]:
    """Ask for documents of the categories that have hardly any."""
    few = [one for one in evaluation.categories if 0 < one.documents < ENOUGH_DOCUMENTS]
    if few:
        least = min(few, key=lambda one: one.documents)
        yield (
            f"Collect documents of the {count(len(few))} categories that have fewer than "
            f"{ENOUGH_DOCUMENTS}, such as {shown(least.name)} ({count(least.documents)}): their F1 "
            "is hardly known: `truerisk estimate` again with them."
        )


def nothing_held_out(evaluation: Any) -> Iterator[str]:
    """Ask for documents to be held out, where the estimates stand alone."""
    if evaluation.holdout is None:
        yield (
            f"Hold out a part of the {count(evaluation.n)} documents once, to see how far the "
            "estimates lean to the pessimistic side: `truerisk estimate --holdout 0.3`."
        )


CORPUS_RULES: tuple[Rule, ...] = (categories_with_few_documents, nothing_held_out)


def _between_documents(evaluation: Any) -> Iterator[str]:
    categories = count(len(evaluation.categories))
    yield (
        f"Try another C or other words for the {categories} categories, and compare the estimates: "
        "`truerisk estimate --C 1 --min-documents 2`."
    )
