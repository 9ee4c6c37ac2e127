"""Labels → one binary problem a class: −1 and 1, and what each α may be at most."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array
from truerisk.checks import check_choice, check_number
from truerisk.errors import InputError
from truerisk.svm.kernels import dense

ClassWeight = Mapping[Any, float] | str | None


@dataclass(frozen=True)
class Targets:
    """The binary problems of one training set.

    `signs` has a row of −1 and 1 for each problem: one for two classes (the second is positive),
    one a class for more, one a column for a matrix of label indicators.
    """

    classes: NDArray[Any]
    signs: Array
    is_multilabel: bool

    def labels_of(self, decision: Array) -> NDArray[Any]:
        """Turn decision values, a row a problem, into labels as they were handed over."""
        if self.is_multilabel:
            return (decision.T > 0).astype(int)
        codes = (decision[0] > 0).astype(int) if len(self.signs) == 1 else decision.argmax(axis=0)
        labels: NDArray[Any] = self.classes[codes]
        return labels


def targets_of(y: Any) -> Targets:
    """Find the classes of `y` and the binary problems they make."""
    if not is_plain_target(y) and _is_multilabel(y):
        table = dense(y)
        # The solvers take rows that lie in one piece.
        signs = np.where(np.ascontiguousarray(table.T) == 1, 1.0, -1.0)
        return Targets(np.arange(table.shape[1]), signs, True)  # noqa: FBT003
    y = np.asarray(y)
    classes = _classes_of(y)
    if len(classes) < 2:
        raise InputError(
            f"`y` must hold at least two classes; got one class only: {classes.tolist()}."
        )
    # Codes would be the places of a sort, which takes as long as a loose fit.
    positive = (y == classes[1])[None, :] if len(classes) == 2 else y == classes[:, None]
    return Targets(classes, np.where(positive, 1.0, -1.0), False)  # noqa: FBT003


def _classes_of(y: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels in order."""
    if len(y) and is_plain_target(y):
        # Two are found at a glance; a sort, or a table of hashes, takes as long as a sweep.
        first = y == y[0]
        second = int(first.argmin())
        if (first ^ (y == y[second])).all():
            return np.sort(y[[0, second]])
    return np.unique(y)


def is_plain_target(y: Any) -> bool:
    """Whether `y` is one label per example beyond doubt."""
    if type(y) is not np.ndarray or y.ndim != 1 or y.dtype.kind not in "biuUf":
        return False
    # Whole numbers are labels also where they are written as 1.0.
    return y.dtype.kind != "f" or bool((np.isfinite(y) & (y == np.rint(y))).all())


def _is_multilabel(y: Any) -> bool:
    from sklearn.utils.multiclass import check_classification_targets, type_of_target

    check_classification_targets(y)
    return bool(type_of_target(y, input_name="y").startswith("multilabel"))


def check_cost(C: float) -> float:
    """Return C if it can be the price of an error."""
    cost = check_number(C, "C", low=0.0, high=sys.float_info.max)
    if cost == 0.0:
        raise InputError("`C` must be positive; got 0. Small values, as 0.001, learn little.")
    return cost


def upper_bounds(targets: Targets, C: float, class_weight: ClassWeight, weights: Array) -> Array:
    """Return the bounds of α, one row per problem: U = C · class weight · sample weight.

    "balanced" gives both sides of a problem the same total.  A mapping weighs classes by name (of
    more than two, the positive side only), and columns of indicators by number.
    """
    upper = np.multiply(C, np.broadcast_to(weights, targets.signs.shape), order="C")
    if class_weight is None:
        return upper
    if isinstance(class_weight, str):
        check_choice(class_weight, ["balanced"], "class_weight")
        for signs, row in zip(targets.signs, upper, strict=True):
            for side in (signs > 0, signs < 0):
                if (on_side := weights[side].sum()) > 0:
                    row[side] *= weights.sum() / (2 * on_side)
        return upper
    factors = _factors(class_weight, targets.classes.tolist())
    if len(targets.signs) == 1 and not targets.is_multilabel:
        return upper * np.where(targets.signs > 0, factors[1], factors[0])
    return upper * np.where(targets.signs > 0, np.array(factors)[:, None], 1.0)


def _factors(class_weight: Mapping[Any, float], names: list[Any]) -> list[float]:
    """Return the weight of each class, 1 for those not named."""
    for name, factor in class_weight.items():
        if name not in names:
            raise InputError(
                f"`class_weight` must name classes of `y`; got {name!r}, none of {names}."
            )
        check_number(factor, f"class_weight[{name!r}]", low=0.0, high=sys.float_info.max)
    return [float(class_weight.get(name, 1.0)) for name in names]
