"""Scores of classifiers on data sets, from arrays, frames or a file: checked, and with names."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Places, refusal

WHAT = {"names": ("classifier", "columns"), "datasets": ("data set", "index")}
USUAL_NAMES = frozenset({"", "dataset", "data_set", "data set", "data", "task", "problem"})


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreTable:
    """Scores, data sets × classifiers × folds, and their names."""

    scores: Array
    names: tuple[str, ...]
    datasets: tuple[str, ...]
    source: dict[str, Any]


def read_scores(
    path: Path | str,
    *,
    dataset: str | None = None,
    folds: bool = False,
    options: ReadingOptions | None = None,
) -> ScoreTable:
    """Read scores from a CSV file: a column of names of data sets, and one for each classifier.

    Without `dataset`, the names are a column called dataset, data, task, problem or nothing, else
    the first column if it holds no number, else the line numbers.
    """
    # Both load the parser, which is not needed to name a table.
    from truerisk.inputs.records.csv_rows import CsvFile
    from truerisk.inputs.records.formats import recognise
    from truerisk.inputs.records.rows import Selection

    path = Path(path)
    options = options or ReadingOptions()
    facts, fingerprint, _ = recognise(path, options)
    if facts.format != "csv":
        raise refusal(path, f"must be a CSV file; it is {facts.format}.")
    file = CsvFile(path, facts.compression, options)
    twice = [name for name, times in Counter(file.columns).items() if times > 1]
    if twice:
        raise refusal(path, f"must have columns of different names; {shown(twice[0])} is twice.")
    cells: dict[str, list[str]] = {name: [] for name in file.columns}
    places: list[tuple[Places, int]] = []
    for rows in file.rows(Selection(texts=file.columns)):
        for name, column in cells.items():
            column.extend(rows.columns[name].tolist())
        places += [(rows.places, row) for row in range(rows.count)]
    fingerprint.check_unchanged(path)
    if not places:
        raise refusal(path, "must hold scores; the file has 0 data rows.")
    named = _column_of_names(path, cells, dataset, options)
    names = tuple(name for name in file.columns if name != named)
    scores = np.array([_numbers(name, cells[name], places, options) for name in names]).T
    of_row = cells[named] if named is not None else None
    table, datasets = _by_dataset(path, scores, of_row, places, folds=folds)
    source = {"path": str(path), "bytes": facts.bytes, "rows": len(places), "sha256": file.sha256}
    return ScoreTable(scores=table, names=names, datasets=datasets, source=source)


def named_scores(
    scores: ArrayLike, names: Sequence[str] | None, datasets: Sequence[str] | None
) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    """Give data sets × classifiers × folds, the classifiers' names, and the data sets'."""
    folds = _check_scores(scores)
    classifiers = _names(scores, names, folds.shape[1], "names")
    rows = _names(scores, datasets, folds.shape[0], "datasets")
    _check_finite(folds, classifiers, rows)
    return folds, classifiers, rows


def fold_means(folds: Array) -> Array:
    """Give the mean of folds, exactly rounded: the same folds in another order are a tie."""
    if folds.shape[2] == 1:
        return folds[:, :, 0]
    return np.array([[math.fsum(one) / len(one) for one in row] for row in folds.tolist()])


def _column_of_names(
    path: Path, cells: dict[str, list[str]], given: str | None, options: ReadingOptions
) -> str | None:
    from truerisk.inputs.tables import as_number

    if given is not None:
        if given not in cells:
            listed = ", ".join(map(shown, cells))
            raise refusal(path, f"must have the column {shown(given)}; it has {listed}.")
        return given
    usual = [name for name in cells if name.strip().lower() in USUAL_NAMES]
    if usual:
        return usual[0]
    first = next(iter(cells))
    if any(as_number(cell, options) is not None for cell in cells[first]):
        return None
    return first


def _numbers(
    name: str, column: list[str], places: list[tuple[Places, int]], options: ReadingOptions
) -> list[float]:
    from truerisk.inputs.tables import as_number

    numbers = []
    for cell, (place, row) in zip(column, places, strict=True):
        number = as_number(cell, options)
        if number is None:
            raise place.refusal(
                row,
                f"{shown(name)} must be a finite number; got {shown(cell)}. Leave out data sets "
                "that a classifier has no score on; name the column of names with --dataset.",
            )
        numbers.append(number)
    return numbers


def _by_dataset(
    path: Path,
    scores: Array,
    of_row: list[str] | None,
    places: list[tuple[Places, int]],
    *,
    folds: bool,
) -> tuple[Array, tuple[str, ...]]:
    """Gather the rows of each data set, in the order in which they first appear."""
    if of_row is None:
        if folds:
            raise InputError("`folds` need a column that names the data set. Use --dataset.")
        return scores[:, :, None], tuple(place.where(row) for place, row in places)
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(of_row):
        rows.setdefault(name, []).append(row)
    counts = {name: len(of) for name, of in rows.items()}
    if not folds:
        twice = next((name for name, count in counts.items() if count > 1), None)
        if twice is not None:
            place, row = places[rows[twice][1]]
            raise place.refusal(
                row,
                f"a data set must have one row; {shown(twice)} has {counts[twice]}. If they are "
                "folds, say --test-share.",
            )
    first = next(iter(counts))
    odd = next((name for name, count in counts.items() if count != counts[first]), None)
    if odd is not None:
        raise refusal(
            path,
            f"must have as many folds for each data set; {shown(first)} has {counts[first]}, "
            f"{shown(odd)} {counts[odd]}.",
        )
    table = np.array([scores[of].T for of in rows.values()])
    return table, tuple(rows)


def _check_scores(scores: ArrayLike) -> Array:
    """Give data sets × classifiers × folds; one score is one fold."""
    try:
        table = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "`scores` must be numbers, as many for each data set; got something else."
        ) from None
    shape = " × ".join(map(str, table.shape)) or "one number"
    if table.ndim not in {2, 3}:
        raise InputError(
            f"`scores` must be data sets × classifiers, or × folds as well; got {shape}."
        )
    if table.shape[0] < 2 or table.shape[1] < 2 or table.size == 0:
        raise InputError(f"`scores` must be of two data sets and classifiers or more; got {shape}.")
    return table[:, :, None] if table.ndim == 2 else table


def _check_finite(folds: Array, names: tuple[str, ...], datasets: tuple[str, ...]) -> None:
    wrong = np.argwhere(~np.isfinite(folds))
    if len(wrong):
        row, column, fold = wrong[0]
        raise InputError(
            f"`scores` must all be finite; got {folds[row, column, fold]} for {names[column]} on "
            f"{datasets[row]}. Leave out data sets that a classifier has no score on."
        )


def _names(
    scores: object, given: Sequence[str] | None, count: int, argument: str
) -> tuple[str, ...]:
    what, attribute = WHAT[argument]
    if isinstance(given, str):
        raise InputError(f"`{argument}` must be a list of names; got {shown(given)}.")
    # A data frame names its columns and rows; so do some arrays, which is as well.
    labels = getattr(scores, attribute, None) if given is None else given
    if labels is None or callable(labels):
        return tuple(f"{what} {place + 1}" for place in range(count))
    texts = tuple(map(str, labels))
    if len(texts) != count:
        raise InputError(f"`{argument}` must be {count}, one for each {what}; got {len(texts)}.")
    twice = next((name for name in texts if texts.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"`{argument}` must differ; got {shown(twice)} twice.")
    return texts
