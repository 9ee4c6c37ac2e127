"""Random divisions of the examples: N folds, and five times two halves; stratified or not.

A division is an array of part numbers 0, 1, …, one for each example: example i is tested when its
part is, and trained on otherwise.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import ArrayLike
from truerisk.checks import check_choice, check_random_state, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.inputs.arrays import missing_in

REPETITIONS, HALVES = 5, 2  # Dietterich's 5×2
SHOWN_CLASSES = 10

Parts = NDArray[np.int64]


def k_fold(
    y: ArrayLike | int,
    folds: int = 10,
    *,
    stratified: bool = True,
    allow_small_classes: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Parts:
    """Divide the examples at random into `folds` parts of one size, to test on each in turn.

    The shuffled examples are dealt out like cards.  Stratified, they are dealt class by class
    without going back to the first fold in between; so the sizes of the folds differ by at most
    one, and so do the examples of each class in them.

    Parameters
    ----------
    y
        The label of each example; or, for a division that is not stratified, their number.
    folds
        How many parts, from 2 to the number of examples.
    stratified
        Whether each part is to hold the same share of each class.
    allow_small_classes
        Whether a class may have fewer examples than there are parts: some parts then lack it.
    random_state
        A seed or a generator; the same seed gives the same division.

    Returns
    -------
    parts
        The part, from 0 to `folds` − 1, of each example.

    References
    ----------
    .. [1] M. Kubat, "An Introduction to Machine Learning", ch. 11.5.

    Examples
    --------
    >>> parts = k_fold(["pos"] * 60 + ["neg"] * 940, 5, random_state=1)
    >>> [(int(sum(parts == part)), int(sum(parts[:60] == part))) for part in range(5)]
    [(200, 12), (200, 12), (200, 12), (200, 12), (200, 12)]
    """
    options = {"stratified": stratified, "allow_small_classes": allow_small_classes}
    once = repeated_k_fold(y, folds, 1, random_state=random_state, **options)
    return np.asarray(once[0])


def repeated_k_fold(
    y: ArrayLike | int,
    folds: int,
    repeats: int,
    *,
    stratified: bool = True,
    allow_small_classes: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Parts:
    """Divide the examples as `k_fold` does, several times over; one row per repetition."""
    codes, names = _codes(y, stratified=stratified)
    _check_parts(codes, names, folds, "folds", allow_small_classes=allow_small_classes)
    rng = check_random_state(random_state)
    return np.stack([_deal(codes, folds, rng) for _ in range(repeats)])


def five_by_two(
    y: ArrayLike | int,
    *,
    stratified: bool = True,
    allow_small_classes: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> Parts:
    """Divide the examples at random into two halves, five times over, independently.

    Each half is trained on once and tested on once: ten runs.  The sizes of two halves differ
    by at most one and, stratified, so do the examples of each class in them.

    Parameters
    ----------
    y, stratified, allow_small_classes, random_state
        As for `k_fold`.

    Returns
    -------
    halves
        One row a repetition, one column an example: 0 or 1.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised classification
       learning algorithms", Neural Computation 10(7), 1895-1923, 1998.
       https://doi.org/10.1162/089976698300017197
    .. [2] M. Kubat, "An Introduction to Machine Learning", Table 11.3.

    Examples
    --------
    >>> halves = five_by_two(["pos"] * 4 + ["neg"] * 6, random_state=1)
    >>> halves.shape, halves.sum(axis=1).tolist(), halves[:, :4].sum(axis=1).tolist()
    ((5, 10), [5, 5, 5, 5, 5], [2, 2, 2, 2, 2])
    """
    codes, names = _codes(y, stratified=stratified)
    _check_parts(codes, names, HALVES, "halves", allow_small_classes=allow_small_classes)
    rng = check_random_state(random_state)
    return np.stack([_deal(codes, HALVES, rng) for _ in range(REPETITIONS)])


METHODS: dict[str, Callable[..., Parts]] = {
    "five_by_two": lambda labels, _, **options: five_by_two(labels, **options),
    "k_fold": lambda labels, folds, **options: k_fold(labels, folds, **options)[np.newaxis],
}


def split_table(
    labels: Sequence[str],
    method: str = "five_by_two",
    *,
    folds: int = 10,
    stratified: bool = True,
    allow_small_classes: bool = False,
    random_state: int | np.random.Generator | None = None,
) -> dict[str, list[int] | list[str]]:
    """Divide labelled rows and give the division as the columns of a table, all counted from 1."""
    divide = METHODS[check_choice(method, METHODS, "method")]
    parts = divide(
        labels,
        folds,
        stratified=stratified,
        allow_small_classes=allow_small_classes,
        random_state=random_state,
    )
    repetitions, n = parts.shape
    return {
        "row": list(range(1, n + 1)) * repetitions,
        "label": list(labels) * repetitions,
        "repetition": np.repeat(np.arange(1, repetitions + 1), n).tolist(),
        "part": (parts.ravel() + 1).tolist(),
    }


def split_file(
    path: str | Path,
    target: str | None = None,
    method: str = "five_by_two",
    *,
    delimiter: str = ",",
    **options: Any,
) -> dict[str, list[int] | list[str]]:
    """Divide the rows of a file, as `split_table` does; the target is the last column if absent."""
    return split_table(read_labels(path, target, delimiter=delimiter), method, **options)


def read_labels(path: str | Path, target: str | None = None, *, delimiter: str = ",") -> list[str]:
    """Read one column of a file as text; refuse a file that is ragged, broken or has gaps."""
    from truerisk.inputs.options import ReadingOptions
    from truerisk.inputs.records.formats import open_reader, recognise
    from truerisk.inputs.records.places import refusal
    from truerisk.inputs.records.rows import records

    path, options = Path(path), ReadingOptions(delimiter=delimiter)
    reader = open_reader(recognise(path, options)[0], path, options)
    name = reader.columns[-1] if target is None else target
    if reader.columns.count(name) != 1:
        raise refusal(
            path,
            f"`target` must name one column of {shown(list(reader.columns))}; got {shown(name)}.",
        )
    labels = []
    for record, refuse in records(reader, (name,)):
        if record[name] is None or not str(record[name]):
            raise refuse(f"{shown(name)} must hold a label in every row; it is empty.")
        labels.append(str(record[name]))
    if not labels:
        raise refusal(path, "must have at least one row below its header; got 0.")
    return labels


def _codes(y: ArrayLike | int, *, stratified: bool) -> tuple[Parts, list[str]]:
    """Give each example the number of its class; one class when nothing is stratified."""
    if isinstance(y, (int, np.integer)) and not isinstance(y, bool):
        n = check_whole_number(int(y), "y", low=1)
        if stratified:
            raise InputError(
                f"`y` must hold the labels of a stratified division; got the number {n}. "
                "Give the labels, or stratified=False."
            )
        return np.zeros(n, dtype=np.int64), ["all"]
    # Of a list, NumPy would make the text "nan" out of a missing label among texts.
    labels = y if isinstance(y, np.ndarray) else np.asarray(y, dtype=object)
    if labels.ndim != 1 or len(labels) == 0:
        raise InputError(f"`y` must be one column of labels; got shape {labels.shape}.")
    gaps = np.flatnonzero(missing_in(labels))
    if gaps.size:
        raise InputError(
            f"`y` must have a label for every example; got {gaps.size} without, the first at "
            f"position {gaps[0]}."
        )
    if not stratified:
        return np.zeros(len(labels), dtype=np.int64), ["all"]
    try:
        names, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise InputError(f"`y` must hold labels of one type; got {kinds}.") from None
    return codes.astype(np.int64), [str(name) for name in names]


def _check_parts(
    codes: Parts, names: list[str], parts: int, name: str, *, allow_small_classes: bool
) -> None:
    n = len(codes)
    check_whole_number(parts, name, low=2)
    if parts > n:
        raise InputError(f"`{name}` must not exceed the {n} examples; got {parts}.")
    sizes = np.bincount(codes)
    if sizes.min() < parts and not allow_small_classes:
        rarest = np.argsort(sizes, kind="stable")[:SHOWN_CLASSES]
        listed = ", ".join(f"{sizes[code]} of {shown(names[code])}" for code in rarest)
        raise InputError(
            f"`{name}` must not exceed the examples of any class; got {parts}, with {listed}. "
            "Take fewer, or allow it (allow_small_classes=True, --allow-small-classes)."
        )


def _deal(codes: Parts, parts: int, rng: np.random.Generator) -> Parts:
    """Deal the shuffled examples out, class after class, to the parts in a shuffled order."""
    shuffled = rng.permutation(len(codes))
    # The order of the classes is drawn too: it decides which of them share a short part.
    ranks = rng.permutation(codes.max() + 1)
    order = shuffled[np.argsort(ranks[codes[shuffled]], kind="stable")]
    dealt = np.empty(len(codes), dtype=np.int64)
    dealt[order] = rng.permutation(parts)[np.arange(len(codes)) % parts]
    return dealt
