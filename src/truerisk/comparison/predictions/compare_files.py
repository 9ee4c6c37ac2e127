"""Which of several models is really better, from files of their predictions."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from truerisk.comparison.predictions.compare import compare_joined
from truerisk.comparison.predictions.comparisons import Comparisons
from truerisk.comparison.predictions.joined_files import Join, join_files
from truerisk.comparison.predictions.paired_difference import PairedMethod
from truerisk.comparison.regions import Region
from truerisk.evaluation.request import Request
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.roles import Roles
from truerisk.tallies.cells import MAX_CLASSES


def compare_files(
    paths: Sequence[Path | str],
    *,
    predictions: Sequence[str] = (),
    names: Sequence[str] | None = None,
    join: Join = "auto",
    region: Region = None,
    interval: PairedMethod = "tango",
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    measures: Sequence[str] | None = None,
    pos_label: Any = None,  # noqa: ANN401
    level: float = 0.95,
    replicates: int = 1000,
    random_state: int | None = None,
    betas: Sequence[float] = (),
    costs: Any = None,  # noqa: ANN401
    binomial: str = "clopper_pearson",
    cell_interval: str = "smoothed_delta",
    zero_division: float = math.nan,
    average_over: Sequence[Any] | None = None,
    probabilities: bool = False,
    threshold: float | None = None,
    max_classes: int = MAX_CLASSES,
    progress: Callable[..., None] | None = None,
) -> Comparisons:
    r"""Compare models by files of their predictions: CSV, Parquet or JSON lines, one per model.

    The files must be about the same examples: they are joined one to one, and refused where ids or
    true labels disagree.  What is then estimated, and promised, is what `compare` says.

    Parameters
    ----------
    paths
        One file per model; or one file, with `predictions`.
    predictions
        Columns of the one file, each the predictions of a model; `roles.score` may name as many
        columns of scores.
    names
        What the models are called; their files, or columns, if absent.
    join
        "id": the same ids, in any order.  "row": as many rows, in one order.  "inner": the ids that
        all files have; a note says how many were left out.  "auto": by id where every file has
        ids, and by row elsewhere.
    region, interval
        As for `compare`.
    roles, options
        Which column is what, and how strictly to read; as for `evaluate_files`.
    measures, pos_label, level, replicates, random_state, betas, costs, binomial, cell_interval
        As for `compare`.
    zero_division, average_over, probabilities, threshold, max_classes
        As for `compare`.
    progress
        Called with the number of rows read, or of comparisons made, so far.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     a, b = Path(folder) / "a.csv", Path(folder) / "b.csv"
    ...     _ = a.write_text("id,y_true,y_pred\n1,1,1\n2,1,0\n3,0,0\n4,0,1\n")
    ...     _ = b.write_text("id,y_true,y_pred\n4,0,0\n3,0,0\n2,1,1\n1,1,1\n")
    ...     result = compare_files([a, b])
    >>> result.names, result["error_rate"].difference.value, result["error_rate"].p_value
    (('a', 'b'), -0.5, 0.25)
    """
    request = Request.of(locals())
    joined = join_files(
        paths,
        predictions=predictions,
        names=names,
        join=join,
        roles=roles,
        options=options,
        progress=progress,
    )
    return compare_joined(joined, request, region=region, interval=interval, progress=progress)
