"""Labels are text; each distinct one gets a number, in order of first appearance."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from truerisk.aliases import Codes
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.labels import Spelling, as_drawn, told_apart

MANY_LABELS = 1000
COMMON_SEPARATORS = "|;,"


class LabelBook:
    """Every distinct label of a source, numbered from 0 as it first appears.

    Labels are never interpreted: "01" is not "1", and "NA" is a label.
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._codes)

    def __contains__(self, text: object) -> bool:
        return text in self._codes

    @property
    def texts(self) -> tuple[str, ...]:
        """The labels; a label's place is its code."""
        return tuple(self._codes)

    def add(self, text: str) -> int:
        """Give the code of a label, a new one if it has none."""
        return self._codes.setdefault(text, len(self._codes))

    def find(self, texts: Sequence[str | None], otherwise: int) -> list[int]:
        """Give the codes of labels, `otherwise` for those that have none."""
        get = self._codes.get
        return [get(text, otherwise) for text in texts]  # type: ignore[arg-type]

    def members(
        self, separator: str | None, spelling: Spelling | None = None
    ) -> tuple[tuple[str, ...], ...]:
        """Return the label set of each code: the label itself, or the sorted parts of the cell."""
        if separator is None:
            return tuple((text,) for text in self)
        return tuple(_split(text, separator, spelling or Spelling()) for text in self)

    def notes(self, what: str, separator: str | None) -> Iterator[str]:
        """Say what looks like a slip in the labels that were met."""
        stripped: dict[str, str] = {}
        drawn: dict[str, str] = {}
        for text in self:
            other = stripped.setdefault(text.strip(), text)
            if other != text:
                yield (
                    f"{what}: the labels {shown(other)} and {shown(text)} differ only in white "
                    f"space and are counted as different. --strip makes them one (strip=True in "
                    f"Python)."
                )
                break
            other = drawn.setdefault(as_drawn(text), text)
            if other != text:
                first, second = told_apart(other, text)
                yield (
                    f"{what}: the labels {first} and {second} look the same and are counted as "
                    f"different. Rename one with --map (label_map= in Python)."
                )
                break
        if separator is None and len(self) > 1:
            for mark in COMMON_SEPARATORS:
                share = sum(mark in text for text in self) / len(self)
                if share > 0.5:
                    yield (
                        f"{what}: {share:.0%} of the distinct labels contain {mark!r}. If a cell "
                        f"holds several labels, say so with --multilabel-sep {mark!r} "
                        f"(multilabel= in Python)."
                    )
                    break
            if len(self) > MANY_LABELS:
                yield (
                    f"{what}: {len(self)} distinct labels. If this is no label column, choose "
                    f"another; if a cell holds several labels, use --multilabel-sep."
                )


def label_notes(members: Iterable[tuple[str, ...]], separator: str | None) -> Iterator[str]:
    """Say what looks like a slip in label sets, in memory as in a file."""
    book = LabelBook()
    for label in dict.fromkeys(chain.from_iterable(members)):
        book.add(label)
    return book.notes("labels", separator)


def _split(text: str, separator: str, spelling: Spelling) -> tuple[str, ...]:
    if text == "":
        return ()
    parts = [spelling(part) for part in text.split(separator)]
    if "" in parts:
        raise InputError(
            f"A cell of labels must hold no empty label; got {shown(text)}. "
            f"Remove the separator {separator!r} that has nothing beside it."
        )
    return tuple(sorted(set(parts)))


@dataclass(frozen=True)
class LabelColumn:
    """A column of labels: codes into the book that the whole source shares."""

    codes: Codes
    book: LabelBook = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    def texts(self) -> list[str]:
        """Return the labels themselves, one per row."""
        texts = self.book.texts
        return [texts[code] for code in self.codes.tolist()]
