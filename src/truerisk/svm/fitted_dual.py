"""One binary problem of a fitted SVM, as the estimates without resampling read it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerisk.aliases import Array
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.results import Finding
from truerisk.svm.solution import Solution
from truerisk.svm.training_kernel import TrainingKernel

NOT_THE_EXAMPLES = "must be that of the examples the SVM was trained on"


@dataclass(frozen=True, kw_only=True)
class FittedDual:
    """The dual solution of one binary problem, and what bounds its leave-one-out errors.

    `proven_rho` is the smallest ρ for which it is proven that an example with ρ·α·R² + ξ < 1 is
    classified rightly by the SVM trained without it; None where no ρ is.
    """

    label: Any  # the class whose examples have y = 1
    rest: Any  # the other class of two; None for one class against all others
    solution: Solution = field(repr=False)
    squared_radius: float
    radius_rule: str
    proven_rho: float | None
    kernel: TrainingKernel = field(repr=False)
    free_bias: bool = True
    notes: tuple[Finding, ...] = ()


def smallest_proven_rho(solution: Solution) -> float | None:
    """Give 2 where all examples that count have one bound, else None.

    With several bounds the path from α to 0 may pass a point at which every other example is at its
    bound.  The bias then jumps, and by more than α·R² can tell.
    """
    return 2.0 if solution.has_one_bound else None


def signs_of(y: Any, classes: Any) -> Array:  # noqa: ANN401
    """Give 1 for the second class and −1 for the first; refuse labels that are neither."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"`y` must be one column of labels; got shape {labels.shape}.")
    known = np.isin(labels, classes)
    if not known.all():
        raise InputError(
            f"`y` must hold the labels of the training, {shown(list(classes))}; got "
            f"{shown(labels[~known][0])}."
        )
    return np.where(labels == classes[1], 1.0, -1.0)
