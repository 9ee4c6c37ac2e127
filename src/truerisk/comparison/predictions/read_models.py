"""Files of predictions, one a model, read whole: comparing needs every row at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.evaluation.batch_columns import members_of
from truerisk.inputs import Batch, PredictionFiles, ReadingOptions, Roles, open_predictions

Progress = Callable[[int], None]
LabelSet = tuple[str, ...]


@dataclass(frozen=True)
class ReadModel:
    """The rows of one model's file, all of them in memory."""

    path: Path
    truth: NDArray[Any] | None
    predicted: NDArray[Any] | None
    members: tuple[LabelSet, ...]
    score: NDArray[Any] | None
    weight: NDArray[np.float64] | None
    group: NDArray[Any] | None
    ids: list[str] | None
    files: PredictionFiles

    @property
    def rows(self) -> int:
        """How many rows were kept."""
        columns = (self.truth, self.predicted, self.score)
        return next(len(column) for column in columns if column is not None)

    @property
    def dropped(self) -> int:
        """How many rows were dropped for a missing value."""
        return sum(fact.dropped for fact in self.files.files)

    def taken(self, rows: NDArray[np.intp]) -> "ReadModel":
        """Take some rows, in this order."""

        def of(column: NDArray[Any] | None) -> Any:  # noqa: ANN401
            return None if column is None else column[rows]

        return replace(
            self,
            truth=of(self.truth),
            predicted=of(self.predicted),
            score=of(self.score),
            weight=of(self.weight),
            group=of(self.group),
            ids=None if self.ids is None else [self.ids[row] for row in rows.tolist()],
        )


def read_models(
    paths: list[Path],
    predictions: Sequence[str],
    roles: Roles,
    options: ReadingOptions,
    progress: Progress | None,
) -> list[ReadModel]:
    """Read one file a model, or the columns of one file; only the first must have the truth."""
    if predictions:
        return _read_columns(paths, predictions, roles, options, progress)
    if len(paths) < 2:
        raise InputError(
            f"`paths` must name two files or more, one a model; got {len(paths)}. For one file "
            "with a column a model, name the columns: --prediction a --prediction b."
        )
    first = _read(paths[0], roles, options, progress)
    return [first, *(_read(path, roles, options, progress, False) for path in paths[1:])]  # noqa: FBT003


def _read_columns(
    paths: list[Path],
    predictions: Sequence[str],
    roles: Roles,
    options: ReadingOptions,
    progress: Progress | None,
) -> list[ReadModel]:
    if len(paths) != 1 or len(predictions) < 2 or roles.pred is not None:
        raise InputError(
            "`predictions` must name two columns or more of one file, and `pred` none; got "
            f"{len(predictions)} columns and {len(paths)} files."
        )
    scores = roles.score_columns or ("",) * len(predictions)
    if len(scores) != len(predictions):
        raise InputError(
            f"`score` must name one column for each of the {len(predictions)} `predictions`, or "
            f"none; got {len(scores)}."
        )
    return [
        _read(paths[0], replace(roles, pred=pred, score=score), options, progress)
        for pred, score in zip(predictions, scores, strict=True)
    ]


def _read(
    path: Path,
    roles: Roles,
    options: ReadingOptions,
    progress: Progress | None,
    needs_truth: bool = True,  # noqa: FBT001, FBT002
) -> ReadModel:
    files = open_predictions([path], roles=roles, options=options, needs_truth=needs_truth)
    parts: list[Batch] = []
    rows = 0
    for batch in files.batches():
        parts.append(batch)
        rows += len(batch)
        if progress is not None:
            progress(rows)

    def column(name: str) -> NDArray[Any] | None:
        found = [getattr(part, name) for part in parts]
        if found[0] is None:
            return None
        return np.concatenate([getattr(one, "codes", one) for one in found])

    group = column("group")
    return ReadModel(
        path=path,
        truth=column("truth"),
        predicted=column("pred"),
        members=tuple(members_of(files.labels, options)),
        score=column("score"),
        weight=column("weight"),
        group=None if group is None else np.array(files.groups.texts, dtype=object)[group],
        ids=_ids(parts),
        files=files,
    )


def _ids(parts: list[Batch]) -> list[str] | None:
    if parts[0].ids is None:
        return None
    return [one for part in parts if part.ids is not None for one in part.ids.to_pylist()]
