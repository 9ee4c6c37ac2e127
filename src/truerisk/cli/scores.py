"""Files of scores → arrays, for the commands that look at single thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Flags
from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.inputs import Predictions, ReadingOptions, ResolvedRoles, Roles, open_predictions
from truerisk.labels import positive_of_two


@dataclass(frozen=True)
class ScoredExamples:
    """The true label and the score of every example; several scores are one for each class."""

    predictions: Predictions
    roles: str

    @property
    def scores(self) -> Any:
        """One score for each example, or one for each example and class."""
        return self.predictions.score

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The classes of several score columns."""
        return self.predictions.classes

    @property
    def weight(self) -> Array | None:
        """The weights of the examples, if they have any."""
        return self.predictions.weight

    def pos_label(self, given: str | None) -> str:
        """Return the positive label; refuse to guess it."""
        return positive_of_two(self.predictions.labels_of_truth, given)

    def is_positive(self, pos_label: str) -> Flags:
        """Return for each example whether it belongs to the positive class."""
        members = self.predictions.members
        is_positive = np.array([one == (pos_label,) for one in members])
        return np.asarray(is_positive[self.predictions.truth])

    def truth(self) -> NDArray[np.str_]:
        """Return the true labels themselves."""
        labels = np.array([one[0] if one else "" for one in self.predictions.members])
        return np.asarray(labels[self.predictions.truth], dtype=np.str_)

    def one_score(self, pos_label: str) -> NDArray[Any]:
        """Return the scores of the positive label, of one column or of two classes."""
        score: NDArray[Any] = self.predictions.with_one_score(pos_label).score  # type: ignore[assignment]
        if score.ndim != 1:
            raise InputError(
                f"`score` must be one column here; got {score.shape[1]}. "
                "Name the one of the positive class with --score."
            )
        return score


def read_scores(paths: Sequence[Path], roles: Roles, options: ReadingOptions) -> ScoredExamples:
    """Read the true labels and the scores of all examples into memory."""
    files = open_predictions(paths, roles=roles, options=options)
    files.check_labels()
    if not files.roles.score_columns:
        raise InputError(
            f"`score` must be a column of the file; the columns are {', '.join(files.columns)}. "
            "Say which with --score."
        )
    with Progress("Reading") as progress:
        return ScoredExamples(files.read(progress), _columns_in_words(files.roles))


def _columns_in_words(roles: ResolvedRoles) -> str:
    used = {"truth": roles.truth, "score": " + ".join(roles.score_columns), "weight": roles.weight}
    guessed = {role: " (guessed)" if role in roles.guessed else "" for role in used}
    return ", ".join(f"{role}: {name}{guessed[role]}" for role, name in used.items() if name)
