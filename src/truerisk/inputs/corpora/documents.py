"""Documents of a corpus, each checked as it comes: from records of a file, or one file each."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import GZIP_MAGIC, Fingerprint, reading, refusal, shown_path
from truerisk.inputs.records.rows import Reader, records
from truerisk.inputs.records.text_blocks import TextBytes
from truerisk.inputs.roles import CorpusColumns

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
    _ids: set[str] = field(default_factory=set)

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
        if own in self._ids:
            raise refuse(
                f"the id must name one document; got {shown(own)} for a second one. "
                f"--id '' leaves the ids aside."
            )
        distinct = self._labels(labels, names[1], refuse)
        for part in (own, text, split or "", *distinct):
            if not part.isascii():
                _check_characters(part, refuse)
        self._ids.add(own)
        self.ids.append(own)
        self.texts.append(text)
        self.labels.append(distinct)
        self.splits.append(split)

    def _labels(self, labels: Iterable[str], name: str, refuse: Refuse) -> tuple[str, ...]:
        texts = [label.strip() for label in labels] if self.options.strip else list(labels)
        if "" in texts:
            raise refuse(f"{shown(name)} must hold no empty label; got {shown(texts)}.")
        return tuple(dict.fromkeys(texts))


def _check_characters(text: str, refuse: Refuse) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = shown(text[error.start])
        raise refuse(f"must be text; got {half}, half of a character.") from None


def split_labels(cell: str, separator: str | None) -> list[str]:
    """Cut a cell into its labels; an empty one holds none."""
    if cell == "":
        return []
    return [cell] if separator is None else cell.split(separator)


def read_records(
    path: Path, reader: Reader, given: CorpusColumns, options: ReadingOptions
) -> Documents:
    """Read the documents of a CSV, JSON lines or Parquet file.

    An empty cell of CSV is a missing value, but for labels when a separator says that there may be
    any number of them.
    """
    try:
        columns = given.settled(reader.columns)
    except InputError as error:
        raise refusal(path, str(error)) from None
    documents = Documents(options)
    text, labels = columns.text or "", columns.labels or ""
    names = tuple(name for name in (text, labels, columns.id, columns.split) if name is not None)
    may_be_empty = {columns.id, labels if options.multilabel else columns.id}
    for record, refuse in records(reader, names):
        if reader.empty_is_missing:
            empty = [name for name, cell in record.items() if cell == ""]
            record.update(dict.fromkeys(name for name in empty if name not in may_be_empty))
        words = record[text]
        if type(words) is not str and words is not None:
            raise refuse(f"{shown(text)} must be a string; got {shown(words)}.")
        documents.add(
            words,
            _labels(record[labels], labels, options, refuse),
            refuse=refuse,
            names=(text, labels),
            id=_word(record, columns.id, refuse, "Give every document an id, or use --id ''."),
            split=_part(record, columns.split, refuse),
        )
    documents.sha256 = reader.sha256
    return documents


def _labels(value: Any, name: str, options: ReadingOptions, refuse: Refuse) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return split_labels(str(value), options.multilabel_separator)
    if isinstance(value, (bool, int)):
        return [str(value)]
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        raise refuse(
            f"{shown(name)} must be a label or a list of labels, text or numbers; "
            f"got {shown(value)}."
        )
    return [str(label) for label in value]


def _word(record: dict[str, Any], name: str | None, refuse: Refuse, remedy: str) -> str | None:
    if name is None:
        return None
    value = record[name]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise refuse(f"{shown(name)} must be a string or a number; got {shown(value)}. {remedy}")
    return str(value)


def _part(record: dict[str, Any], name: str | None, refuse: Refuse) -> str | None:
    if name is None or record[name] is None:
        return None
    return _word(record, name, refuse, "Write null for a document of no part.")


def read_folders(folder: Path, options: ReadingOptions) -> Documents:
    """Read every file below each folder of `folder`, in the order of their names.

    The label of a document is the name of the folder, its id the path from there.  Hidden files are
    left out.  The SHA-256 is that of the list of all files with theirs.
    """
    documents = Documents(options, files=0)
    digest = hashlib.sha256()
    inside = visible(folder)
    categories = [path for path in inside if path.is_dir()]
    if not categories:
        raise refusal(
            folder,
            f"must hold a folder for each category, with a file for each document; "
            f"got {len(inside)} files and no folder.",
        )
    for category in categories:
        for path in _files(category):
            name = path.relative_to(folder).as_posix()
            text, source = _text(path, options)
            digest.update(f"{source.sha256}  {name}\n".encode(errors="surrogateescape"))
            documents.files += 1
            documents.bytes += path.stat().st_size
            documents.add(
                text,
                [category.name],
                id=name,
                refuse=lambda sentence, path=path: refusal(path, sentence),  # type: ignore[misc]
            )
    if len(inside) > len(categories):
        others = len(inside) - len(categories)
        documents.notes.append(f"{shown_path(folder)}: {others} files in no category left out.")
    documents.sha256 = digest.hexdigest()
    return documents


def visible(folder: Path) -> list[Path]:
    """List what is in a folder and not hidden, sorted."""
    with reading(folder):
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def _files(folder: Path) -> Iterator[Path]:
    for path in visible(folder):
        if not path.is_dir():
            yield path
        elif path.is_symlink():
            raise refusal(path, "must not be a link to a folder, which may never end.")
        else:
            yield from _files(path)


def _text(path: Path, options: ReadingOptions) -> tuple[str, TextBytes]:
    data, source = whole_text(path, options)
    nul = data.find(b"\0")
    if nul >= 0:
        raise refusal(path, "must be text; got a NUL byte.", f"byte {nul}")
    try:
        return data.decode(), source
    except UnicodeDecodeError as error:
        raise refusal(
            path,
            f"must be UTF-8; got {shown(data[error.start : error.start + 4])}. "
            f"Use --encoding, such as latin-1 or cp1252.",
            f"byte {error.start}",
        ) from None


def whole_text(path: Path, options: ReadingOptions) -> tuple[bytes, TextBytes]:
    """Read a file into memory, expanded; its source then knows the SHA-256."""
    fingerprint = Fingerprint.of(path)
    with reading(path), path.open("rb") as file:
        head = file.read(len(GZIP_MAGIC))
    source = TextBytes(path, "gzip" if head == GZIP_MAGIC else None, options)
    with source.complete():
        data = b"".join(source.pieces(options.block_bytes))
    fingerprint.check_unchanged(path)
    return data, source
