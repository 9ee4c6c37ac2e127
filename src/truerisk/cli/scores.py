"""Files of scores → arrays, for the commands that look at single thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.evaluation.positive import positive_of_two
from truerisk.inputs import ReadingOptions, Roles, open_predictions


@dataclass(frozen=True)
class ScoredExamples:
    """The true label and the score of every example; several scores are one for each class."""

    labels: tuple[str, ...]
    codes: NDArray[Any]
    scores: NDArray[Any]
    weight: NDArray[np.float64] | None
    classes: tuple[str, ...] | None
    roles: str

    def pos_label(self, asked: str | None) -> str:
        """Give the positive label; refuse to guess it."""
        return positive_of_two(self.labels, asked)

    def is_positive(self, pos_label: str) -> NDArray[np.bool_]:
        """Say of each example whether it belongs to the positive class."""
        at = self.labels.index(pos_label) if pos_label in self.labels else -1
        return np.asarray(self.codes == at)

    def truth(self) -> NDArray[np.str_]:
        """Give the true labels themselves."""
        return np.asarray(np.array(self.labels)[self.codes], dtype=np.str_)


def read_scores(paths: Sequence[Path], roles: Roles, options: ReadingOptions) -> ScoredExamples:
    """Read the true labels and the scores of all examples into memory."""
    files = open_predictions(paths, roles=roles, options=options)
    if not files.roles.score_columns:
        raise InputError(
            f"`score` must be a column of the file; the columns are {', '.join(files.columns)}. "
            "Say which with --score."
        )
    codes, scores, weights = [], [], []
    rows = 0
    with Progress("Reading") as progress:
        for batch in files.batches():
            if batch.truth is None or batch.score is None:
                raise TypeError("Files were opened with truth and score required.")
            codes.append(batch.truth.codes)
            scores.append(batch.score)
            if batch.weight is not None:
                weights.append(batch.weight)
            rows += len(batch)
            progress(rows)
    texts, places = np.unique(np.concatenate(codes), return_inverse=True)
    return ScoredExamples(
        labels=tuple(files.labels.texts[code] for code in texts),
        codes=places,
        scores=np.concatenate(scores),
        weight=np.concatenate(weights) if weights else None,
        classes=files.roles.score_classes,
        roles=_told(files.roles),
    )


def one_score(examples: ScoredExamples) -> NDArray[Any]:
    """Give the scores if there is one an example."""
    if examples.scores.ndim != 1:
        raise InputError(
            f"`score` must be one column here; got {examples.scores.shape[1]}. "
            "Name the one of the positive class with --score."
        )
    return examples.scores


def _told(roles: Any) -> str:  # noqa: ANN401
    used = {"truth": roles.truth, "score": " + ".join(roles.score_columns), "weight": roles.weight}
    guessed = {role: " (guessed)" if role in roles.guessed else "" for role in used}
    return ", ".join(f"{role}: {name}{guessed[role]}" for role, name in used.items() if name)
