"""Columns beside the predictions → slices of the rows: values, quantiles, the missing, the few."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Flags, Indices
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.arrays import as_column, column_names, missing_in, number_of_rows
from truerisk.labels import in_order
from truerisk.results import Finding

PARTS = 4  # of a column of numbers, cut at its quartiles
MAX_VALUES = 10  # distinct numbers that are taken for categories
MIN_ROWS = 20  # of a slice; smaller ones are pooled
MIN_GROUPS = 10  # of a slice, where rows come in groups
MAX_SLICES = 50  # of a column; the smallest ones beyond are pooled


@dataclass(frozen=True)
class SlicedRows:
    """The slices of one column, or of a pair: the place of each row among `names`, −1 for none."""

    columns: tuple[str, ...]
    names: tuple[str, ...]
    codes: Indices
    notes: tuple[Finding, ...] = ()


def columns_of(by: Any, rows: int) -> dict[str, NDArray[Any]]:
    """Give the columns to slice by: of a frame, a mapping, a series or an array."""
    if isinstance(by, Mapping):
        columns = {str(name): as_column(column) for name, column in by.items()}
    elif (names := column_names(by)) is not None:
        columns = {name: as_column(_column(by, at)) for at, name in enumerate(names)}
    else:
        table = as_column(by)
        name = getattr(by, "name", None)
        if table.ndim == 1:
            columns = {str(name) if name is not None else "by": table}
        elif table.ndim == 2:
            columns = {f"by{at + 1}": table[:, at] for at in range(table.shape[1])}
        else:
            raise InputError(f"`by` must be a column or a table; got {table.ndim} dimensions.")
    if not columns:
        raise InputError("`by` must hold a column at least; got none.")
    for name, column in columns.items():
        if column.ndim != 1 or number_of_rows(column) != rows:
            raise InputError(
                f"`by` must have one value per example; {shown(name)} has the shape "
                f"{column.shape}, and there are {rows} examples."
            )
    return columns


def _column(frame: Any, at: int) -> Any:
    import narwhals

    return narwhals.from_native(frame)[:, at].to_native()


def sliced(
    columns: Mapping[str, NDArray[Any]],
    *,
    counts: Flags,
    group: NDArray[Any] | None = None,
    pairs: bool = False,
) -> Iterator[SlicedRows]:
    """Slice the rows by each column and, if requested, by each pair of them.

    `counts` says which rows have a weight at all.
    """
    if pairs and len(columns) < 2:
        raise InputError(f"`by_pairs` must have two columns at least; `by` has {len(columns)}.")
    cut = {name: _categories(name, column) for name, column in columns.items()}
    for name, (names, codes, notes) in cut.items():
        yield _with_few_pooled((name,), names, codes, notes, counts=counts, group=group)
    for one, other in combinations(cut, 2) if pairs else ():
        (names, codes, _), (others, other_codes, _) = cut[one], cut[other]
        both = tuple(f"{first}, {second}" for first in names for second in others)
        joint = codes * len(others) + other_codes
        yield _with_few_pooled((one, other), both, joint, (), counts=counts, group=group)


def _categories(
    name: str, column: NDArray[Any]
) -> tuple[tuple[str, ...], Indices, tuple[Finding, ...]]:
    """Give the slices of a column, and the place of each row among them."""
    values = column.tolist() if column.dtype.kind not in "iufMm" else None
    missing = missing_in(column)
    numbers = column if values is None else _as_numbers(values, missing)
    if numbers is not None:
        distinct = np.unique(numbers[~missing])
        if len(distinct) > MAX_VALUES:
            return _quantile_slices(name, numbers, missing)
        values = [_written(value) for value in numbers.tolist()] if values is None else values
        if column.dtype.kind in "Mm":
            values = column.astype(str).tolist()
    texts = ["" if gap else str(value) for gap, value in zip(missing, values or [], strict=True)]
    labels = in_order({text for gap, text in zip(missing, texts, strict=True) if not gap})
    place = {label: at for at, label in enumerate(labels)}
    codes = np.array(
        [len(labels) if gap else place[text] for gap, text in zip(missing, texts, strict=True)],
        dtype=np.intp,
    )
    return (*(f"{name}={label}" for label in labels), f"{name} is missing"), codes, ()


def _as_numbers(values: Sequence[Any], missing: Flags) -> NDArray[Any] | None:
    """Read texts as numbers, if all of them are; None for anything else."""
    numbers = np.full(len(values), np.nan)
    read: dict[Any, float] = {}
    for at in np.flatnonzero(~missing).tolist():
        value = values[at]
        if isinstance(value, bool):
            return None
        if value not in read:
            try:
                read[value] = float(value)
            except (TypeError, ValueError):
                return None
        numbers[at] = read[value]
    return numbers if np.isfinite(numbers[~missing]).all() and read else None


def _quantile_slices(
    name: str, numbers: NDArray[Any], missing: Flags
) -> tuple[tuple[str, ...], Indices, tuple[Finding, ...]]:
    """Cut numbers, or times, at values that occur: as equal parts as their ties allow."""
    order = np.sort(numbers[~missing])
    at = [-(-len(order) * part // PARTS) - 1 for part in range(1, PARTS)]
    cuts = [cut for cut in np.unique(order[at]) if cut < order[-1]]
    words = [_written(cut.item() if numbers.dtype.kind not in "Mm" else cut) for cut in cuts]
    names = (
        (
            f"{name} ≤ {words[0]}",
            *(f"{low} < {name} ≤ {high}" for low, high in pairwise(words)),
            f"{name} > {words[-1]}",
        )
        if cuts
        else (f"{name} = {_written(order[0])}",)
    )
    codes = np.searchsorted(np.array(cuts, dtype=numbers.dtype), numbers, side="left")
    codes = np.where(missing, len(names), codes)
    text = f"{name} is cut at its quartiles: {', '.join(words)}."
    note = (Finding(text, code="slices_cut"),)
    return (*names, f"{name} is missing"), codes.astype(np.intp), note


def _written(value: Any) -> str:
    return f"{value:.12g}" if isinstance(value, (int, float)) else str(value)


def _with_few_pooled(
    columns: tuple[str, ...],
    names: tuple[str, ...],
    codes: Indices,
    notes: tuple[Finding, ...],
    *,
    counts: Flags,
    group: NDArray[Any] | None,
) -> SlicedRows:
    """Pool the slices that are too small to say much; leave the pool out if it is small itself."""
    title = " × ".join(columns)
    sizes = np.bincount(codes[counts], minlength=len(names))
    few = sizes < MIN_ROWS
    groups = None
    if group is not None:
        groups = _groups(codes[counts], group[counts], len(names))
        few |= groups < MIN_GROUPS
    few &= sizes > 0
    by_size = np.argsort(-sizes, kind="stable")
    few[by_size[MAX_SLICES:]] |= sizes[by_size[MAX_SLICES:]] > 0
    large = np.flatnonzero((sizes > 0) & ~few)
    place = np.full(len(names), -1, dtype=np.intp)
    place[large] = np.arange(len(large))
    labels = [names[at] for at in large]
    pooled = np.flatnonzero(few)
    if len(pooled):
        rows = int(sizes[pooled].sum())
        inside = few[codes] & counts
        enough = rows >= MIN_ROWS and (group is None or len(np.unique(group[inside])) >= MIN_GROUPS)
        what = f"{len(pooled)} slices" if len(pooled) > 1 else f"one slice ({names[pooled[0]]})"
        limit = f"{MIN_ROWS} rows" if group is None else f"{MIN_ROWS} rows or {MIN_GROUPS} groups"
        why = f"with fewer than {limit}" + (" each" if len(pooled) > 1 else "")
        if enough:
            place[pooled] = len(labels)
            several = len(pooled) > 1
            labels.append(f"{title}: {len(pooled)} others" if several else names[pooled[0]])
            text = f"{title}: {what} {why} are pooled as {labels[-1]!r} ({rows} rows)."
        else:
            are = "are" if len(pooled) > 1 else "is"
            text = f"{title}: {what} {why} {are} left out ({rows} rows); the rest holds them."
        notes = (*notes, Finding(text, code="slices_pooled"))
    if len(labels) + int((place[pooled] < 0).any() if len(pooled) else 0) < 2:
        raise InputError(
            f"`by` must leave two slices at least; {shown(title)} leaves {len(labels)} of "
            f"{int(np.count_nonzero(sizes))} with {MIN_ROWS} rows or more"
            + ("" if group is None else f" of {MIN_GROUPS} groups or more")
            + ". Choose another column."
        )
    return SlicedRows(columns, tuple(labels), np.where(counts, place[codes], -1), notes)


def _groups(codes: Indices, group: NDArray[Any], slices: int) -> NDArray[Any]:
    """Count the groups that have rows in each slice."""
    width = int(group.max(initial=0)) + 1
    return np.bincount(np.unique(codes * width + group) // width, minlength=slices)
