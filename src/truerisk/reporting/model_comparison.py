"""Comparison of two learners → a terminal, JSON, CSV, Markdown, LaTeX."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from truerisk.comparison.learners.model_comparisons import BayesianComparison
from truerisk.reporting.formats import csv_of, json_text, latex_table, markdown_table
from truerisk.reporting.tables import Column, Table
from truerisk.reporting.wording import interval_heading, p_words, title_of, written
from truerisk.results import Comparison, Estimate

if TYPE_CHECKING:
    from rich.console import Console


def print_model_comparison(found: Comparison, console: "Console") -> None:
    """Print the verdict, the table, and the notes."""
    from truerisk.reporting.summary import print_sentences, print_table  # noqa: PLC0415  (rich)

    told = [found.verdict]
    if isinstance(found, BayesianComparison):
        told.append(f"Probability that {found.names[1]} is: {found.probabilities}.")
    print_sentences(told, console)
    print_table(model_comparison_table(found), console)
    print_sentences(found.notes, console, heading="Notes")


def model_comparison_table(found: Comparison) -> Table:
    """Give one row a learner, and one of their difference with its test.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from truerisk import compare_models
    >>> found = compare_models("tree", "majority", *load_iris(return_X_y=True), random_state=1,
    ...                        repeats=1)
    >>> model_comparison_table(found).rows[2]
    ('majority − tree', '0.620', '[0.554, 0.686]', '<0.0001')
    """
    level = found.difference.interval.level if found.difference.interval is not None else None
    heading = "Interval" if level is None else interval_heading(level)
    columns = (
        Column("Learner"),
        Column(title_of(found.measure), numeric=True),
        Column(heading, numeric=True),
        Column("p", numeric=True),
    )
    rows = []
    for name, one in _rows(found):
        words = written(one)
        p_value = p_words(found.p_value) if one is found.difference else ""
        rows.append((name, words.value, words.interval, p_value))
    return Table(f"Learners compared ({found.method}): {found.finding}", columns, tuple(rows))


def _rows(found: Comparison) -> list[tuple[str, Estimate]]:
    first, second = found.names
    return [
        (first, found.first),
        (second, found.second),
        (f"{second} − {first}", found.difference),
    ]


def _as_json(found: Comparison, source: Mapping[str, Any]) -> str:
    return json_text({**found.to_dict(), "source": dict(source)})


def _as_csv(found: Comparison, _: Mapping[str, Any]) -> str:
    return csv_of(found)


def _as_markdown(found: Comparison, _: Mapping[str, Any]) -> str:
    return markdown_table(model_comparison_table(found))


def _as_latex(found: Comparison, _: Mapping[str, Any]) -> str:
    return latex_table(model_comparison_table(found))


COMPARISON_FORMATS: dict[str, Callable[[Comparison, Mapping[str, Any]], str]] = {
    "json": _as_json,
    "csv": _as_csv,
    "markdown": _as_markdown,
    "latex": _as_latex,
}
