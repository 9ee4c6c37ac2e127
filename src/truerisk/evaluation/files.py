"""Files of predictions → Evaluation, in one pass and bounded memory."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.batch_columns import columns_of, members_of
from truerisk.evaluation.prediction_tally import PredictionTally
from truerisk.evaluation.request import Request
from truerisk.inputs import PredictionFiles, ReadingOptions, Roles, open_predictions
from truerisk.results import Evaluation

Progress = Callable[[int], None]


def evaluate_files(
    paths: Sequence[Path | str],
    *,
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    request: Request | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    r"""Estimate every measure of the predictions in CSV, Parquet or JSON lines files.

    The result does not depend on how the rows are spread over files, formats or batches.  Where a
    cluster is in use (`use_cluster`), its workers read the files, and must see them under the same
    paths; the result is the same to the last bit.

    Parameters
    ----------
    paths
        Files, or folders of them.
    roles
        Which column is what; the usual names are recognised, and what was guessed is told in
        `source`.
    options
        How strictly to read.
    request
        What to estimate.
    progress
        Called with the number of rows read so far.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("y_true,y_pred\n" + "1,1\n" * 9 + "1,0\n" + "0,0\n" * 10)
    ...     print(evaluate_files([path])["recall"])
    recall = 0.900 [0.555, 0.997] at 95 % (clopper_pearson, n = 10, this model)
    """
    asked = (request or Request()).checked()
    files, tally = _tallied(paths, roles or Roles(), options or ReadingOptions(), asked, progress)
    tallies = tally.finish(members_of(files.labels, files.options))
    return assemble(tallies, asked, notes=files.notes, source=_source(files))


def _tallied(
    paths: Sequence[Path | str],
    roles: Roles,
    options: ReadingOptions,
    request: Request,
    progress: Progress | None,
) -> tuple[PredictionFiles, PredictionTally]:
    if _a_cluster_is_in_use():
        from truerisk.evaluation.files_on_cluster import FilesOnCluster  # noqa: PLC0415  (rare)

        elsewhere = FilesOnCluster(paths, roles, options, needs_truth=True)
        return elsewhere, elsewhere.tally(request, progress)
    files = open_predictions(paths, roles=roles, options=options)
    tally = PredictionTally(
        request, options.multilabel_separator is not None, files.roles.score_classes
    )
    for columns in columns_of(files.batches(), files.labels, options):
        tally.add(columns)
        if progress is not None:
            progress(tally.n)
    return files, tally


def _a_cluster_is_in_use() -> bool:
    # Nobody can have named a cluster while the module that clusters are named to is not loaded.
    clusters = sys.modules.get("truerisk.execution.cluster")
    return clusters is not None and clusters.cluster_in_use() is not None


def _source(files: PredictionFiles) -> dict[str, Any]:
    roles = files.roles
    named = ("truth", "pred", "score", "group", "weight", "id")
    return {
        "files": files.files,
        "roles": {name: getattr(roles, name) for name in named if getattr(roles, name)},
        "guessed": roles.guessed,
    }
