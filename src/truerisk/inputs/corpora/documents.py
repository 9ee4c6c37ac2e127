"""Documents as they are read from a corpus, each checked as it comes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions

Refuse = Callable[[str], InputError]


@dataclass
class Documents:
    """The documents so far.

    `add` takes a document that stands where `refuse` says, a value of None being one that is
    absent.  Under ``missing="drop"`` a document without text or labels is counted and left out.
    """

    options: ReadingOptions
    ids: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    labels: list[tuple[str, ...]] = field(default_factory=list)
    splits: list[str | None] = field(default_factory=list)
    dropped: int = 0
    files: int = 1
    bytes: int = 0
    sha256: str | None = None
    notes: list[str] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)

    def add(
        self,
        text: str | None,
        labels: Iterable[str] | None,
        *,
        refuse: Refuse,
        names: tuple[str, str] = ("text", "labels"),
        id: str | None = None,  # noqa: A002 - as the column is called
        split: str | None = None,
    ) -> None:
        """Take in one document; without an id its number in the file, from 1, stands for it."""
        for name, value in zip(names, (text, labels), strict=True):
            if value is None and self.options.missing == "refuse":
                raise refuse(
                    f"{shown(name)} must have a value for every document; got none. "
                    f"Use --missing drop to leave such documents out."
                )
        if text is None or labels is None:
            self.dropped += 1
            return
        own = str(len(self.ids) + self.dropped + 1) if id is None else id
        if own == "":
            raise refuse("the id must not be empty. --id '' leaves the ids aside.")
        if own in self._known:
            raise refuse(
                f"the id must name one document; got {shown(own)} for a second one. "
                f"--id '' leaves the ids aside."
            )
        kept = self._labels(labels, names[1], refuse)
        for part in (own, text, split or "", *kept):
            if not part.isascii():
                _check_characters(part, refuse)
        self._known.add(own)
        self.ids.append(own)
        self.texts.append(text)
        self.labels.append(kept)
        self.splits.append(split)

    def _labels(self, labels: Iterable[str], name: str, refuse: Refuse) -> tuple[str, ...]:
        kept = [label.strip() for label in labels] if self.options.strip else list(labels)
        if "" in kept:
            raise refuse(f"{shown(name)} must hold no empty label; got {shown(kept)}.")
        return tuple(dict.fromkeys(kept))


def _check_characters(text: str, refuse: Refuse) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = shown(text[error.start])
        raise refuse(f"must be text; got {half}, half of a character.") from None


def split_labels(cell: str, separator: str | None) -> list[str]:
    """Cut a cell into its labels; an empty one holds none.

    Examples
    --------
    >>> split_labels("grain|wheat", "|"), split_labels("grain|wheat", None), split_labels("", "|")
    (['grain', 'wheat'], ['grain|wheat'], [])
    """
    if cell == "":
        return []
    return [cell] if separator is None else cell.split(separator)
