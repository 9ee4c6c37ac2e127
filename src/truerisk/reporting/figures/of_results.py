"""Results → figures.  Each function takes axes and returns them; matplotlib is the caller's."""

from typing import TYPE_CHECKING, Any

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.reporting.figures.marks import drawable, forest
from truerisk.reporting.figures.of_categories import categories, classes
from truerisk.reporting.figures.of_comparisons import (
    difference,
    differences,
    learner_differences,
)
from truerisk.reporting.figures.of_estimates import (
    confusion,
    learners,
    measures,
    one_estimate,
    perturbed,
    replicates,
    side_by_side,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

__all__ = ["DRAWINGS", "classes", "confusion", "drawable", "drawn", "forest"]

# By name, so that drawing one kind of result loads nothing of the others.
DRAWINGS: "dict[str, Callable[[Any, Axes], Axes]]" = {
    "CorpusEvaluation": categories,
    "Evaluation": measures,
    "Perturbed": perturbed,
    "Resampled": replicates,
    "Estimate": one_estimate,
    "Comparison": difference,
    "Comparisons": differences,
    "ModelComparisons": learner_differences,
    "BestOf": learners,
    "SideBySide": side_by_side,
}


def drawn(result: Any, ax: "Axes") -> "Axes":  # noqa: ANN401
    """Draw a result into axes as its kind is drawn, and give the axes back.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from truerisk import evaluate_counts
    >>> ax = drawn(evaluate_counts([[50, 50], [40, 850]])["recall"], Figure().subplots())
    >>> ax.get_xlabel()
    'Recall'
    """
    if not hasattr(ax, "set_yticks"):
        raise InputError(
            f"`ax` must be axes of matplotlib; got {shown(ax)}. Make some with "
            "matplotlib.pyplot.subplots()."
        )
    for kind in type(result).__mro__:
        if kind.__name__ in DRAWINGS:
            return DRAWINGS[kind.__name__](result, ax)
    raise InputError(
        f"`result` must be a result of truerisk that can be drawn; got {shown(result)}."
    )
