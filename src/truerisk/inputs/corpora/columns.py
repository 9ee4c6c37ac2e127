"""Which column or key of a corpus holds the texts, the labels, the ids and the split."""

import dataclasses
import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.roles import USUAL_NAMES, listed

USUAL_CORPUS_NAMES = {
    "text": ("text", "texts", "document", "documents", "doc", "body", "content", "article"),
    "labels": ("labels", "label", "topics", "topic", "categories", "category", "class", "target"),
    "id": USUAL_NAMES["id"],
    "split": ("split", "set", "subset", "partition"),
}
NEEDED = {"text": "the texts", "labels": "the labels"}


@dataclass(frozen=True, kw_only=True)
class CorpusColumns:
    """The columns of texts, labels, ids and split.

    None is to be found by the usual names, and "" is not to be used even if a column has one.

    Examples
    --------
    >>> CorpusColumns(labels="topics").found_in(["id", "Text", "topics", "label"])
    CorpusColumns(text='Text', labels='topics', id='id', split=None)
    """

    text: str | None = None
    labels: str | None = None
    id: str | None = None
    split: str | None = None

    def found_in(self, columns: Sequence[str]) -> "CorpusColumns":
        """Settle which of `columns` is which; two that could be the same one are refused."""
        settled = {role: self._settled(role, columns) for role in USUAL_CORPUS_NAMES}
        used = [name for name in settled.values() if name is not None]
        for name in used:
            if used.count(name) > 1:
                raise InputError(
                    f"Each column must play one role; {shown(name)} is named for two of them."
                )
            if list(columns).count(name) > 1:
                raise InputError(
                    f"The column {shown(name)} must appear once in the header; it appears "
                    f"{list(columns).count(name)} times. Rename all but one of them."
                )
        for role, what in NEEDED.items():
            if settled[role] is None:
                raise InputError(
                    f"`{role}` must be the column with {what}; none of the names is a usual one. "
                    f"The columns are {listed(columns)}. Say which with --{role}."
                )
        return dataclasses.replace(self, **settled)

    def _settled(self, role: str, columns: Sequence[str]) -> str | None:
        given: str | None = getattr(self, role)
        if given == "":
            return None
        if given is not None:
            if given in columns:
                return given
            close = difflib.get_close_matches(given, columns, n=1)
            remedy = f" Did you mean {shown(close[0])}?" if close else ""
            raise InputError(
                f"`{role}` must be a column of the file; got {shown(given)}. "
                f"The columns are {listed(columns)}.{remedy}"
            )
        others = {getattr(self, other) for other in USUAL_CORPUS_NAMES}
        usual = USUAL_CORPUS_NAMES[role]
        names = [name for name in columns if name not in others and _plain(name) in usual]
        if len(set(names)) > 1:
            raise InputError(
                f"`{role}` must be one column; the names {listed(names)} could all be it. "
                f"Say which with --{role}."
            )
        return names[0] if names else None


def _plain(name: str) -> str:
    return name.strip().lower().replace(" ", "_").replace("-", "_")
