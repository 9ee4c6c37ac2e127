"""What a learning curve is asked for, checked before anything is trained."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from truerisk.aliases import Indices
from truerisk.checks import check_number, check_whole_number, shown
from truerisk.errors import InputError
from truerisk.estimation.curves.runs import MIN_OF_A_CLASS, CurvePlan, is_svm
from truerisk.estimation.svm.one_vs_rest_counts import base_measure
from truerisk.labels import positive_of_two
from truerisk.measures.averages import AVERAGES

SIZES = 8
MIN_SIZES = 5  # of those chosen here
SMALLEST_SIZE = 10


def named_models(models: Any) -> dict[str, Any]:  # noqa: ANN401
    """Give each model its name: the one in the mapping, or that of its class."""
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise InputError("`models` must hold at least one model; got none.")
    for name, model in named.items():
        if isinstance(model, type) or not all(hasattr(model, each) for each in ("fit", "predict")):
            remedy = " Call it, to make a model." if isinstance(model, type) else ""
            raise InputError(
                f"`models` must have fit and predict; got {shown(model)} as {shown(name)}.{remedy}"
            )
    return {str(name): model for name, model in named.items()}


def sized(X: Any) -> Any:  # noqa: ANN401
    """Give something whose length is the number of examples: a sparse matrix has none."""
    return range(X.shape[0]) if hasattr(X, "shape") else X


def coded(y: ArrayLike) -> tuple[NDArray[Any], Indices]:
    """Give the distinct labels in order, and the position of each example's among them."""
    column = np.asarray(y)
    if column.ndim != 1:
        raise InputError(f"`y` must be one column of labels; got shape {column.shape}.")
    missing = [value is None or value != value for value in column.tolist()]  # noqa: PLR0124
    if any(missing):
        raise InputError(
            f"`y` must have a label for every example; {sum(missing)} are missing. Drop these "
            "examples first."
        )
    try:
        labels, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in column.tolist()}))
        raise InputError(f"`y` must hold labels of one type; got {kinds}.") from None
    if len(labels) < 2:
        raise InputError(f"`y` must hold two classes at least; got {len(labels)}.")
    if counts.min() <= MIN_OF_A_CLASS:
        rare = labels[counts.argmin()]
        raise InputError(
            f"`y` must hold {MIN_OF_A_CLASS + 1} examples of every class, to train on and to "
            f"hold out; got {counts.min()} of {shown(rare)}. Leave rare classes out, or join them."
        )
    return labels, codes.astype(np.intp)


def positive_at(measure: str, labels: NDArray[Any], asked: Any) -> int:  # noqa: ANN401
    """Give the position of the positive label; of the last one where the measure has none."""
    names = [str(label) for label in labels]
    if asked is not None and str(asked) not in names:
        raise InputError(
            f"`pos_label` must be one of the labels, {', '.join(map(shown, names[:10]))}; "
            f"got {shown(asked)}."
        )
    entry, is_average = base_measure(measure), measure.rpartition("_")[2] in AVERAGES
    if not all(map(math.isfinite, entry.measure_range)):  # costs too, which nobody told us
        raise InputError(f"`measure` must have a bounded range; got {measure!r}, which has none.")
    if entry.needs != "binary counts" or is_average:
        return len(names) - 1 if asked is None else names.index(str(asked))
    if len(names) > 2:
        raise InputError(
            f"`measure` must be one of several classes; got {measure!r}, which is of one of two. "
            f"Take {measure}_macro or {measure}_micro."
        )
    return names.index(positive_of_two(names, None if asked is None else str(asked)))


def check_machines(models: Mapping[str, Any], labels: NDArray[Any]) -> None:
    """Refuse ξα where no model or no problem has it."""
    if len(labels) > 2:
        raise InputError(
            f"`estimate` 'xi_alpha' must have two classes; got {len(labels)}. Take "
            "'cross_validation'."
        )
    if not any(map(is_svm, models.values())):
        raise InputError(
            "`estimate` 'xi_alpha' must have a support vector machine among the models; got "
            f"{', '.join(models)}. Take 'cross_validation'."
        )


def units_of(groups: ArrayLike | None) -> Indices | None:
    """Give each example the number of its group."""
    if groups is None:
        return None
    found = np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.intp)
    if found.max() < 2:
        raise InputError(
            f"`groups` must be three at least, to hold out and to train on; got {found.max() + 1}."
        )
    return found


def held_out_of(codes: Indices, test_size: float) -> int:
    """Give how many examples to hold out."""
    check_number(test_size, "test_size", low=0.0, high=1.0)
    held = round(test_size * len(codes))
    if not 0 < held < len(codes):
        raise InputError(
            f"`test_size` must leave some of {len(codes)} examples on both sides; got "
            f"{shown(test_size)}."
        )
    return held


def sizes_of(plan: CurvePlan, repeats: int, asked: Sequence[int] | None) -> tuple[int, ...]:
    """Choose the training sizes, or check those asked for."""
    # Only groups can make the lines of repeats differ in length and in their classes.
    lines = [plan.division(at)[0] for at in range(repeats if plan.groups is not None else 1)]
    least, largest = max(map(plan.shortest, lines)), min(map(len, lines))
    if min(map(plan.shortest, lines)) == 0:
        raise InputError(
            "`groups` must leave two groups, and two examples of every class, to train on in every "
            "repeat; they do not. Hold out less, or make the groups smaller."
        )
    if asked is not None:
        chosen = sorted(check_whole_number(size, "sizes", low=1) for size in asked)
        if len(set(chosen)) < max(2, len(chosen)):
            raise InputError(f"`sizes` must be two different numbers at least; got {shown(asked)}.")
        for size in (chosen[0], chosen[-1]):
            if not least <= size <= largest:
                raise InputError(
                    f"`sizes` must lie in [{least}, {largest}]: two examples of every class, and "
                    f"those that are not held out; got {size}."
                )
        return tuple(chosen)
    first = max(least, min(SMALLEST_SIZE, largest))
    grid = sorted(set(np.geomspace(first, largest, SIZES).round().astype(int).tolist()))
    if len(grid) < MIN_SIZES:
        raise InputError(
            f"`y` must hold enough examples for a curve: from {first} (two of every class) to "
            f"{largest} (not held out) there are too few sizes. Get more examples, or give `sizes`."
        )
    return tuple(grid)
