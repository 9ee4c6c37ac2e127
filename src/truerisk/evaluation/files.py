"""Files of predictions → Evaluation, in one pass and bounded memory."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import Columns, Members, PredictionTally
from truerisk.evaluation.request import Request
from truerisk.reading import Batch, PredictionFiles, ReadingOptions, Roles, open_predictions
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

    The result does not depend on how the rows are spread over files, formats or batches.

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
    files = open_predictions(paths, roles=roles, options=options)
    tally = PredictionTally(
        asked, files.options.multilabel_separator is not None, files.roles.score_classes
    )
    for columns in _columns(files):
        tally.add(columns)
        if progress is not None:
            progress(tally.n)
    tallies = tally.finish(_members(files))
    return assemble(tallies, asked, notes=files.notes, source=_source(files))


def _columns(files: PredictionFiles) -> Iterator[Columns]:
    members: Members = ()
    for batch in files.batches():
        if len(members) < len(files.labels):
            members = _members(files)
        yield _of_batch(batch, members)


def _of_batch(batch: Batch, members: Members) -> Columns:
    if batch.truth is None:
        raise TypeError("Files were opened with their truth required.")
    return Columns(
        batch.truth.codes,
        members,
        None if batch.pred is None else batch.pred.codes,
        batch.score,
        batch.weight,
        None if batch.group is None else batch.group.codes,
    )


def _members(files: PredictionFiles) -> Members:
    separator = files.options.multilabel_separator
    if separator is not None:
        return files.labels.sets(separator, strip=files.options.strip)
    return tuple((text,) for text in files.labels)


def _source(files: PredictionFiles) -> dict[str, Any]:
    roles = files.roles
    named = ("truth", "pred", "score", "group", "weight", "id")
    return {
        "files": files.files,
        "roles": {name: getattr(roles, name) for name in named if getattr(roles, name)},
        "guessed": roles.guessed,
    }
