"""A table of counts → Evaluation, for those who have no more than the table."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from truerisk.checks import LARGEST_COUNT, shown
from truerisk.errors import InputError
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.request import Request
from truerisk.results import Evaluation
from truerisk.tallies.cells import CellTally, cell_code


def evaluate_counts(
    table: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    **options: Any,  # noqa: ANN401
) -> Evaluation:
    """Estimate every measure from a K × K table of counts, rows truth and columns predicted.

    Parameters
    ----------
    table
        Whole numbers.  Two classes without `labels` are positive ("1") and then negative ("0"), as
        the textbooks print them.
    labels
        Names of the classes, in the order of the rows.
    **options
        The fields of `Request`.

    Examples
    --------
    >>> evaluation = evaluate_counts([[50, 50], [40, 850]])
    >>> print(evaluation["precision"])
    precision = 0.556 [0.447, 0.660] at 95 % (clopper_pearson, n = 90, this model)
    """
    counts = np.asarray(table)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise InputError(f"`table` must be K × K with K ≥ 2; got shape {counts.shape}.")
    _refuse_what_counts_nothing(counts.ravel().tolist())
    if not counts.any():
        raise InputError("`table` must count at least one example; got 0.")
    names = _names(len(counts), labels)
    request = Request(**options).checked()
    cells = Counter(
        {
            cell_code(truth, predicted): int(counts[truth, predicted])
            for truth, predicted in zip(*np.nonzero(counts), strict=True)
        }
    )
    tally = PredictionTally(request, n=int(counts.sum()), cells=CellTally(counts=cells))
    return assemble(tally.finish([(name,) for name in names]), request)


def _refuse_what_counts_nothing(counts: list[Any]) -> None:
    wrong = [count for count in counts if type(count) is not int or count < 0]
    if wrong:
        raise InputError(f"`table` must hold whole numbers from 0 on; got {shown(wrong[0])}.")
    # Python's integers do not overflow, as the sum of an array may.
    if sum(counts) > LARGEST_COUNT:
        raise InputError(f"`table` must count at most 2**53 examples in all; got {sum(counts)}.")


def _names(n_classes: int, labels: Sequence[Any] | None) -> tuple[str, ...]:
    if labels is None:
        return ("1", "0") if n_classes == 2 else tuple(str(at) for at in range(n_classes))
    names = tuple(str(label) for label in labels)
    if len(set(names)) != n_classes:
        raise InputError(f"`labels` must be {n_classes} different names; got {names}.")
    return names
