"""Evaluation → tables of words, which every format then escapes and draws in its own way."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.reporting.wording import (
    NO_INTERVAL,
    count,
    interval_heading,
    percent,
    plain_text,
    title_of,
    written,
)
from truerisk.results import Estimate, Evaluation, as_plain

Facts = Iterator[tuple[str, str]]

WIDEST_CONFUSION = 12  # more classes than this do not fit on a screen
MAX_MISTAKES = 10
MAX_NAMED = 4  # measures in one remark
SPOKEN = {
    "pos_label": "positive label",
    "binomial": "interval of k of n",
    "cell_interval": "interval of other measures",
    "random_state": "seed",
}


@dataclass(frozen=True)
class Column:
    """A heading; cells of a numeric column are written by us and stand to the right."""

    heading: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A title, columns and rows of unescaped words."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def measure_table(evaluation: Evaluation) -> Table:
    """Give one row a measure: value, interval, method, examples."""
    columns = (
        Column("Measure"),
        Column("Value", numeric=True),
        Column(interval_heading(evaluation.level), numeric=True),
        Column("Method"),
        Column("n", numeric=True),
    )
    rows = []
    for name, estimate in evaluation.items():
        words = written(estimate)
        method = NO_INTERVAL if estimate.interval is None else estimate.interval.method
        rows.append((title_of(name), words.value, words.interval, method, count(estimate.n)))
    return Table("Measures", columns, tuple(rows))


def class_table(evaluation: Evaluation, measures: tuple[str, ...] | None = None) -> Table | None:
    """Give one row a class; None when there are no estimates of single classes."""
    if not evaluation.by_class:
        return None
    names = measures or tuple(next(iter(evaluation.by_class.values())))
    columns = (Column("Class"), *(Column(title_of(name), numeric=True) for name in names))
    rows = tuple(
        (label, *(with_interval(estimates[name]) for name in names))
        for label, estimates in evaluation.by_class.items()
    )
    return Table(f"Classes ({percent(evaluation.level)} intervals)", columns, rows)


def with_interval(estimate: Estimate) -> str:
    """Write a value and its interval; what is undefined has no interval."""
    words = written(estimate)
    return f"{words.value} {words.interval}" if estimate.is_defined else words.value


def confusion_of(evaluation: Evaluation) -> tuple[tuple[str, ...], NDArray[Any]] | None:
    """Give the labels and the K × K counts, rows truth; None where there is no such table."""
    cells = evaluation.tallies
    if cells is None or not hasattr(cells, "confusion") or cells.multilabel:
        return None
    return tuple(cells.labels), cells.confusion()


def confusion_table(evaluation: Evaluation, *, narrow: bool = False) -> Table | None:
    """Give counts with the share of each true class; None for more than a dozen classes.

    The narrow form has the shares only, in whole percent.
    """
    found = confusion_of(evaluation)
    if found is None or len(found[0]) > WIDEST_CONFUSION:
        return None
    labels, counts = found
    totals = counts.sum(axis=1)
    columns = (
        Column("True" if narrow else "True \\ called"),
        *(Column(label, numeric=True) for label in labels),
        Column("n", numeric=True),
    )
    rows = []
    for label, row, total in zip(labels, counts, totals, strict=True):
        wide = [f"{count(n)} ({share(n, total)})" for n in row]
        rows.append((label, *([_whole(n, total) for n in row] if narrow else wide), count(total)))
    if narrow:
        return Table("Confusion matrix (% of the true class)", columns, tuple(rows))
    rows.append(("n", *map(count, counts.sum(axis=0)), count(totals.sum())))
    return Table("Confusion matrix (share of the true class)", columns, tuple(rows))


def mistake_table(evaluation: Evaluation) -> Table | None:
    """Give the most frequent mistakes, where the confusion matrix is too large to be read."""
    found = confusion_of(evaluation)
    if found is None or len(found[0]) <= WIDEST_CONFUSION:
        return None
    labels, counts = found
    wrong = counts - np.diag(np.diag(counts))
    worst = np.argsort(-wrong, axis=None, kind="stable")[:MAX_MISTAKES]
    totals = counts.sum(axis=1)
    rows = []
    for truth, called in zip(*np.unravel_index(worst, wrong.shape), strict=True):
        n = wrong[truth, called]
        if n > 0:
            rows.append((labels[truth], labels[called], count(n), share(n, totals[truth])))
    columns = (
        Column("True"),
        Column("Called"),
        Column("n", numeric=True),
        Column("of the true class", numeric=True),
    )
    return Table("Most frequent mistakes", columns, tuple(rows))


def share(part: float, whole: float) -> str:
    """Write part of whole as a percentage; a class without examples has no share."""
    return f"{100 * part / whole:.1f} %" if whole > 0 else NO_INTERVAL


def _whole(part: float, whole: float) -> str:
    if part == 0:
        return "·"
    return "<1" if 100 * part < whole else f"{100 * part / whole:.0f}"


def remarks(evaluation: Evaluation) -> tuple[str, ...]:
    """Give the notes of the evaluation, then those of its measures, each told once."""
    measures_with: dict[str, list[str]] = {}
    for name, estimate in evaluation.items():
        for note in estimate.notes:
            measures_with.setdefault(note, []).append(title_of(name))
    told = (_remark(titles, note) for note, titles in measures_with.items())
    return (*evaluation.notes, *told)


def _remark(titles: list[str], note: str) -> str:
    reason = note.removeprefix("undefined: ")
    named = "; ".join(titles)
    if len(titles) > MAX_NAMED:
        named = f"{titles[0]}; … {titles[-1]} ({len(titles)} measures)"
    are = "is" if len(titles) == 1 else "are"
    link = ":" if reason == note else f" {are} undefined:"
    return f"{named}{link} {reason}"


def provenance(evaluation: Evaluation) -> Facts:
    """Give what was assumed and where the predictions came from, as pairs of words."""
    yield from evaluation_facts(evaluation)
    yield from source_facts(evaluation.source)


def evaluation_facts(evaluation: Evaluation, told: Collection[str] = ()) -> Facts:
    """Give what was assumed, as pairs of words; settings that are `told` elsewhere are left out."""
    yield "examples", count(evaluation.n)
    if evaluation.labels:
        yield "classes", f"{len(evaluation.labels):,}"
    yield "positive label", plain_text(evaluation.pos_label)
    yield "confidence level", percent(evaluation.level)
    yield "the numbers are about", targets_of(evaluation.values())
    yield from setting_facts(evaluation.settings, told={"level", "pos_label", "target", *told})


def targets_of(estimates: Iterable[Estimate]) -> str:
    """Say what some estimates are about, each target once."""
    return " and ".join(dict.fromkeys(one.target for one in estimates)) or "nothing"


def setting_facts(settings: Mapping[str, Any], told: Collection[str] = ()) -> Facts:
    """Give settings as pairs of words, but those that are `told` elsewhere."""
    for name, value in settings.items():
        if name not in told:
            yield SPOKEN.get(name, spoken(name)), plain_text(as_plain(value))


def spoken(name: str) -> str:
    """Turn a name into words."""
    return name.replace("_", " ")


def source_facts(source: Mapping[str, Any]) -> Facts:
    """Give where data came from, as pairs of words: files, columns, and whatever else is known."""
    plain = as_plain(source)
    guessed = plain.pop("guessed", None) or []
    for file in plain.pop("files", []):
        yield "file", _file(file)
    for role, column in plain.pop("roles", {}).items():
        yield role, f"column {plain_text(column)}{' (guessed)' if role in guessed else ''}"
    for name, value in plain.items():
        yield spoken(name), plain_text(value)


def _file(facts: Mapping[str, Any]) -> str:
    told = dict(facts)
    name = told.pop("path", "")
    words = [
        f"{spoken(key)} {count(value) if isinstance(value, int) else plain_text(value)}"
        for key, value in told.items()
        if value  # nothing dropped and not compressed need no words
    ]
    return f"{name}: {', '.join(words)}"
