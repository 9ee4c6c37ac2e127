"""Files of scores → arrays, for the commands that look at single thresholds."""

from collections.abc import Sequence
from pathlib import Path

from truerisk.cli.progress import Progress
from truerisk.errors import InputError
from truerisk.inputs import Predictions, ReadingOptions, ResolvedRoles, Roles, open_predictions


def read_scores(
    paths: Sequence[Path], roles: Roles, options: ReadingOptions
) -> tuple[Predictions, str]:
    """Read labels and scores into memory; say which columns they are."""
    files = open_predictions(paths, roles=roles, options=options)
    files.check_labels()
    if not files.roles.score_columns:
        raise InputError(
            f"`score` must be a column of the file; the columns are {', '.join(files.columns)}. "
            "Say which with --score."
        )
    with Progress("Reading") as progress:
        return files.read(progress), _columns_in_words(files.roles)


def _columns_in_words(roles: ResolvedRoles) -> str:
    used = {"truth": roles.truth, "score": " + ".join(roles.score_columns), "weight": roles.weight}
    guessed = {role: " (guessed)" if role in roles.guessed else "" for role in used}
    return ", ".join(f"{role}: {name}{guessed[role]}" for role, name in used.items() if name)
