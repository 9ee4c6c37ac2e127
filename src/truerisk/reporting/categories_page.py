"""CorpusEvaluation → one page: each category's estimate drawn beside what was held out."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerisk.reporting.categories import (
    HELD_OUT,
    METHOD_TITLES,
    average_table,
    category_table,
    corpus_facts,
    in_one_cell,
    in_percent,
)
from truerisk.reporting.escaping import visible
from truerisk.reporting.files import write_whole
from truerisk.reporting.geometry import STRIP, axis_of, strip
from truerisk.reporting.rendering import rendered
from truerisk.reporting.tables import page_table
from truerisk.reporting.wording import count, percent, title_of
from truerisk.results import Estimate

if TYPE_CHECKING:
    from truerisk.estimation.corpus import CorpusEvaluation

STYLES = ("report.css", "categories.css")
HEADLINES = {"hamming_loss": "Wrong decisions", "f1_micro": "F1, micro", "f1_macro": "F1, macro"}
DRAWN = {"f1": 1.0, "error_rate": 0.0}  # and the perfect value, which stands on the axis
MOST_DRAWN = 500
SENTENCE = 2000


def categories_html(evaluation: "CorpusEvaluation") -> str:
    """Give the page as text."""
    return rendered("categories.html", STYLES, categories_data(evaluation))


def save_categories(evaluation: "CorpusEvaluation", path: Path | str) -> Path:
    """Write the page to a file, whole or not at all, and give its path."""
    return write_whole(Path(path), categories_html(evaluation))


def categories_data(evaluation: "CorpusEvaluation") -> dict[str, Any]:
    """Give everything the page shows, in plain values; all texts are visible ones."""
    return {
        "title": "How well will each category be told?",
        "subtitle": _subtitle(evaluation),
        "verdict": [visible(sentence, most=SENTENCE) for sentence in evaluation.verdict],
        "headlines": list(_headlines(evaluation)),
        "method": _method(evaluation),
        "held_out": evaluation.holdout is not None,
        "level": percent(evaluation.level),
        "pictures": [_picture(evaluation, name) for name in DRAWN],
        "tables": [
            page_table(table) for table in (average_table(evaluation), category_table(evaluation))
        ],
        "notes": [visible(note, most=SENTENCE) for note in evaluation.notes],
        "facts": [(visible(a), visible(b, most=SENTENCE)) for a, b in corpus_facts(evaluation)],
        "strip": STRIP,
        "version": version("truerisk"),
    }


def _subtitle(evaluation: "CorpusEvaluation") -> str:
    parts = [f"{count(evaluation.n)} training documents"]
    if evaluation.holdout is not None:
        parts.append(f"{count(evaluation.holdout.n)} {HELD_OUT}")
    parts.append(f"{len(evaluation.categories):,} categories")
    return " · ".join([*parts, f"{percent(evaluation.level)} intervals"])


def _method(evaluation: "CorpusEvaluation") -> str:
    name = str(evaluation.settings["method"])
    rho = f", ρ = {evaluation.settings['rho']:g}" if name == "xi_alpha" else ""
    return f"{METHOD_TITLES[name]}{rho}"


def _headlines(evaluation: "CorpusEvaluation") -> Iterator[dict[str, str]]:
    for name, title in HEADLINES.items():
        own, beside = evaluation[name], evaluation.holdout and evaluation.holdout[name]
        sign = " %" if own.is_defined else ""
        yield {
            "title": title,
            "value": f"{in_percent(own.value)}{sign}",
            "interval": _interval(own),
            "beside": "" if not beside else in_one_cell(beside),
        }


def _interval(estimate: Estimate) -> str:
    ends = estimate.interval
    if ends is None or not estimate.is_defined:
        return ""
    return f"[{in_percent(ends.low)}, {in_percent(ends.high)}]"


def _picture(evaluation: "CorpusEvaluation", name: str) -> dict[str, Any]:
    """Draw one measure of every category on one axis."""
    holdout = evaluation.holdout
    categories = evaluation.categories[:MOST_DRAWN]
    own = [evaluation.by_class[category.name][name] for category in categories]
    others = [] if holdout is None else [holdout.by_class[one.name][name] for one in categories]
    axis = axis_of([*own, *others], DRAWN[name])
    rows = []
    for at, (category, mine) in enumerate(zip(categories, own, strict=True)):
        beside = others[at] if others else None
        documents = [f"{count(category.documents)} documents"]
        if category.test_documents is not None:
            documents = [
                count(category.documents),
                f"{count(category.test_documents)} {HELD_OUT}",
            ]
        rows.append(
            {
                "label": visible(category.name),
                "documents": " + ".join(documents),
                "first": strip(mine, axis),
                "second": None if beside is None else strip(beside, axis),
                "own": in_one_cell(mine),
                "beside": "" if beside is None else in_one_cell(beside),
                "reason": visible("; ".join(mine.notes), most=SENTENCE),
            }
        )
    marks = [] if axis is None else axis.marks()
    for mark in marks:
        mark["words"] = f"{100 * float(mark['words']):g}"
    return {"title": f"{title_of(name)} of each category", "marks": marks, "rows": rows}
