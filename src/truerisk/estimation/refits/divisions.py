"""Plans made at random from labels and groups: who is judged when."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.checks import check_number, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.estimation.refits.plans import Folds, Forward, HeldOut
from truerisk.estimation.refits.splits import five_by_two, k_fold


def repeated_folds(
    y: NDArray[Any],
    folds: int,
    repeats: int,
    rng: np.random.Generator,
    *,
    stratified: bool = True,
    allow_small_classes: bool = False,
    groups: NDArray[np.intp] | None = None,
) -> Folds:
    """Divide the examples into folds, several times over; groups stay together.

    Examples
    --------
    >>> plan = repeated_folds(np.repeat([0, 1], 10), 5, 2, np.random.default_rng(0))
    >>> plan.parts.shape, plan.train_and_test(0)[1].size
    ((2, 20), 4)
    """
    check_whole_number(repeats, "repeats", low=1, high=10_000)
    if groups is not None:
        parts = [
            _grouped_parts(y, groups, folds, rng, stratified=stratified) for _ in range(repeats)
        ]
    else:
        labels: Any = y if stratified else len(y)
        options = {"stratified": stratified, "allow_small_classes": allow_small_classes}
        parts = [k_fold(labels, folds, random_state=rng, **options) for _ in range(repeats)]
    return Folds(np.stack(parts).astype(np.int32))


def halves(
    y: NDArray[Any], rng: np.random.Generator, *, stratified: bool, allow_small_classes: bool
) -> Folds:
    """Divide the examples into two halves, five times over."""
    labels: Any = y if stratified else len(y)
    parts = five_by_two(
        labels, stratified=stratified, allow_small_classes=allow_small_classes, random_state=rng
    )
    return Folds(parts.astype(np.int32))


def each_left_out(n: int) -> Folds:
    """Leave each example out once."""
    return Folds(np.arange(n, dtype=np.int32)[None])


def random_divisions(
    y: NDArray[Any],
    share: float,
    divisions: int,
    rng: np.random.Generator,
    *,
    stratified: bool = True,
    groups: NDArray[np.intp] | None = None,
) -> HeldOut:
    """Hold out a share of the examples (or groups) at random; stratified, of every class.

    Examples
    --------
    >>> plan = random_divisions(np.repeat([0, 1], [90, 10]), 0.3, 2, np.random.default_rng(0))
    >>> [int(y.sum()) for y in plan.judged[:, 90:]], plan.judged.sum(axis=1).tolist()
    ([3, 3], [30, 30])
    """
    check_whole_number(divisions, "repeats", low=1, high=1_000_000)
    share = check_number(share, "test_size", low=0.0, high=1.0)
    judged = np.zeros((divisions, len(y)), dtype=bool)
    units = np.arange(len(y)) if groups is None else groups
    count = int(units.max()) + 1
    wanted = round(share * count)
    if not 0 < wanted < count:
        raise InputError(
            f"`test_size` must leave something on both sides of {count} "
            f"{'examples' if groups is None else 'groups'}; got {share:g}."
        )
    for row in judged:
        order = rng.permutation(count)
        if stratified and groups is None:
            # Dealt class after class, every k-th example of the line is held out.
            order = order[np.argsort(y[order], kind="stable")]
            start = rng.random() * count / wanted
            taken = np.floor((np.arange(count) + 1 + start) * wanted / count) > np.floor(
                (np.arange(count) + start) * wanted / count
            )
            row[order[taken]] = True
        else:
            row[:] = np.isin(units, order[:wanted])
    return HeldOut(judged)


def forward_blocks(n: int, folds: int) -> Forward:
    """Cut the examples, in the order given, into folds + 1 blocks of about one size.

    Examples
    --------
    >>> forward_blocks(6, 2).train_and_test(1)
    (array([0, 1, 2, 3]), array([4, 5]))
    """
    check_whole_number(folds, "folds", low=1)
    if folds + 1 > n:
        raise InputError(f"`folds` must be less than the {n} examples; got {folds}.")
    return Forward((np.arange(n) * (folds + 1) // n).astype(np.int32))


def _grouped_parts(
    y: NDArray[Any],
    groups: NDArray[np.intp],
    folds: int,
    rng: np.random.Generator,
    *,
    stratified: bool,
) -> NDArray[np.int64]:
    """Put whole groups into folds: the largest first, each where its classes are most wanted."""
    check_whole_number(folds, "folds", low=2)
    count = int(groups.max()) + 1
    if folds > count:
        raise InputError(
            f"`folds` must not exceed the {count} groups; got {shown(folds)}. Take fewer."
        )
    classes = int(y.max()) + 1 if stratified else 1
    table = np.zeros((count, classes))
    np.add.at(table, (groups, y if stratified else np.zeros(len(y), dtype=np.intp)), 1.0)
    weight = 1 / table.sum(axis=0)
    held = np.zeros((folds, classes))
    part = np.empty(count, dtype=np.int64)
    order = rng.permutation(count)
    order = order[np.argsort(-table[order].sum(axis=1), kind="stable")]
    for at, group in enumerate(order):
        empty = np.flatnonzero(held.sum(axis=1) == 0)
        if len(empty) >= count - at:  # the groups that are left must fill the empty folds
            part[group] = empty[0]
        else:
            crowding = ((held + table[group]) ** 2 - held**2) @ weight
            part[group] = int(np.argmin(crowding + 1e-9 * rng.random(folds)))
        held[part[group]] += table[group]
    return np.asarray(part[groups])
