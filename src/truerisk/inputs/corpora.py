"""Corpora: documents with their labels, from files of several formats, checked as they are read."""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from truerisk.aliases import Flags, Indices
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.labels import label_notes
from truerisk.inputs.options import DROP, ReadingOptions
from truerisk.inputs.records.formats import FileFacts, open_reader, recognise
from truerisk.inputs.records.places import (
    GZIP_MAGIC,
    Fingerprint,
    ending,
    reading,
    refusal,
    shown_path,
)
from truerisk.inputs.records.rows import Reader, records
from truerisk.inputs.records.svmlight import is_svmlight, read_svmlight
from truerisk.inputs.records.text_blocks import TextFile
from truerisk.inputs.roles import CorpusColumns

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Refuse = Callable[[str], InputError]
CorpusFormat = Literal["json lines", "csv", "parquet", "folders", "reuters sgml", "svmlight"]
SGML_ENDINGS = (".sgm", ".sgml")


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
                    f"{DROP} to leave such documents out."
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
            split=None
            if columns.split is None or record[columns.split] is None
            else _word(record, columns.split, refuse, "Write null for a document of no part."),
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


def _text(path: Path, options: ReadingOptions) -> tuple[str, TextFile]:
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


def whole_text(path: Path, options: ReadingOptions) -> tuple[bytes, TextFile]:
    """Read a file into memory, expanded; its source then knows the SHA-256."""
    fingerprint = Fingerprint.of(path)
    with reading(path), path.open("rb") as file:
        head = file.read(len(GZIP_MAGIC))
    source = TextFile(path, "gzip" if head == GZIP_MAGIC else None, options)
    with source.complete():
        data = b"".join(source.pieces(options.block_bytes))
    fingerprint.check_unchanged(path)
    return data, source


@dataclass(frozen=True, kw_only=True)
class CorpusSource:
    """Where a corpus comes from; `sha256` is that of the file, or of the list of all files."""

    path: str
    format: CorpusFormat
    files: int
    bytes: int
    sha256: str | None
    dropped: int = 0


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Documents and their labels: a label set each, which may be empty.

    Either `texts` or `matrix` is there: svmlight files hold vectors, all others texts.  `split`
    says which part each document is meant for ("train", "test", …), if the source says so at all.

    Examples
    --------
    >>> corpus = Corpus(ids=("1", "2"), texts=("wheat up", "gold"), labels=(("grain", "wheat"), ()),
    ...                 split=("train", None), source=None)
    >>> corpus.categories, corpus.members("wheat"), corpus.part("train")
    (('grain', 'wheat'), array([ True, False]), array([0]))
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...] | None
    labels: tuple[tuple[str, ...], ...]
    split: tuple[str | None, ...] | None = None
    matrix: "csr_matrix | None" = None
    source: CorpusSource | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def categories(self) -> tuple[str, ...]:
        """Every label that occurs, sorted."""
        return tuple(sorted({label for labels in self.labels for label in labels}))

    def members(self, category: str) -> Flags:
        """Return which documents have a label."""
        has_label = np.fromiter((category in labels for labels in self.labels), np.bool_, len(self))
        if not has_label.any():
            raise InputError(f"`category` must be a label of the corpus; got {shown(category)}.")
        return has_label

    def part(self, name: str) -> Indices:
        """Give the places of the documents of one part of the split."""
        parts = self.split or ()
        places = [place for place, part in enumerate(parts) if part == name]
        if not places:
            known = ", ".join(shown(part) for part in dict.fromkeys(parts) if part is not None)
            raise InputError(
                f"`name` must be a part of the split ({known or 'there is none'}); "
                f"got {shown(name)}."
            )
        return np.array(places, np.intp)


def read_corpus(
    path: Path | str,
    *,
    text: str | None = None,
    labels: str | None = None,
    id: str | None = None,  # noqa: A002 - as the column is called
    split: str | None = None,
    options: ReadingOptions | None = None,
) -> Corpus:
    r"""Read a corpus; its format is recognised by its content.

    ===================  =========================================================================
    JSON lines           one object per document; labels a list or a string; plain or gzip
    CSV, Parquet         one row per document; several labels of a cell are separated by
                         ``options.multilabel_separator``, or a list
    folders              one folder per category, one file per document
    Reuters SGML         ``reut2-*.sgm`` of Reuters-21578, a file or the folder; split by ModApte
    svmlight             ``label index:value …``; gives a matrix and no texts
    ===================  =========================================================================

    The whole corpus is in memory.  A file that is broken or changes while it is read is refused,
    with the place of what is wrong; nothing is repaired or left out without a note.

    Parameters
    ----------
    path
        The file, or the folder.
    text, labels, id, split
        The columns (or keys) of a CSV or JSON lines file.  None finds them by the usual names; ""
        does without ids or split.  Without ids documents are numbered from 1.
    options
        What is allowed in the files.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "corpus.jsonl"
    ...     _ = path.write_text('{"text": "Wheat up", "labels": ["grain", "wheat"]}\n'
    ...                         '{"text": "Gold falls", "labels": ["gold"]}\n')
    ...     corpus = read_corpus(path)
    >>> corpus.texts, corpus.labels, corpus.ids
    (('Wheat up', 'Gold falls'), (('grain', 'wheat'), ('gold',)), ('1', '2'))
    """
    where, allowed = Path(path), options or ReadingOptions()
    if not where.is_dir():
        columns = CorpusColumns(text=text, labels=labels, id=id, split=split)
        return _from_file(where, columns, allowed)
    sgml = [path for path in visible(where) if ending(path) in SGML_ENDINGS]
    if sgml:
        from truerisk.inputs.records.reuters_sgml import read_reuters

        return _corpus(where, "reuters sgml", read_reuters(sgml, allowed))
    return _corpus(where, "folders", read_folders(where, allowed))


def _from_file(path: Path, columns: CorpusColumns, options: ReadingOptions) -> Corpus:
    facts, fingerprint, misnamed = recognise(path, options, holds="documents")
    kind = _kind(path, facts, options)
    with fingerprint.watched(path):
        corpus = _read(path, facts, kind, columns, options)
    if misnamed is None:
        return corpus
    zipped = "" if facts.compression is None else ", compressed by gzip"
    note = f"{shown_path(path)}: read as {kind}{zipped}, whatever its name says."
    return dataclasses.replace(corpus, notes=(note, *corpus.notes))


def _kind(path: Path, facts: FileFacts, options: ReadingOptions) -> CorpusFormat:
    from truerisk.inputs.records.reuters_sgml import is_reuters

    if facts.format != "csv":
        return facts.format  # type: ignore[return-value]
    head = TextFile(path, facts.compression, options).head()
    if not head.strip():
        raise refusal(path, "must hold documents; the file is empty.")
    if is_reuters(head):
        return "reuters sgml"
    return "svmlight" if is_svmlight(head, ending(path)) else "csv"


def _read(
    path: Path,
    facts: FileFacts,
    kind: CorpusFormat,
    columns: CorpusColumns,
    options: ReadingOptions,
) -> Corpus:
    if kind == "svmlight":
        return _from_vectors(TextFile(path, facts.compression, options))
    if kind == "reuters sgml":
        from truerisk.inputs.records.reuters_sgml import read_reuters

        documents = read_reuters([path], options)
    else:
        documents = read_records(path, open_reader(facts, path, options), columns, options)
    documents.bytes = path.stat().st_size
    return _corpus(path, kind, documents)


def _from_vectors(source: TextFile) -> Corpus:
    vectors, path = read_svmlight(source), source.path
    _check_some(path, vectors.labels)
    matrix = vectors.matrix()
    if matrix.shape[1] == 0:
        raise refusal(path, "must hold vectors; no line has a feature.")
    notes = tuple(label_notes(vectors.labels, ","))
    if vectors.queries:
        notes += (f"{shown_path(path)}: qid of {vectors.queries} lines is not used.",)
    if vectors.from_zero:
        notes += (f"{shown_path(path)}: index 0 occurs, so indices count from 0.",)
    facts = CorpusSource(
        path=str(path), format="svmlight", files=1, bytes=path.stat().st_size, sha256=source.sha256
    )
    return Corpus(
        ids=tuple(map(str, range(1, len(vectors.labels) + 1))),
        texts=None,
        labels=tuple(vectors.labels),
        matrix=matrix,
        source=facts,
        notes=notes,
    )


def _corpus(path: Path, kind: CorpusFormat, documents: Documents) -> Corpus:
    _check_some(path, documents.labels)
    notes = (
        *documents.notes,
        *label_notes(documents.labels, documents.options.multilabel_separator),
    )
    if documents.dropped:
        rows = documents.dropped + len(documents.ids)
        notes += (f"{documents.dropped} of {rows} documents dropped for a missing value.",)
    empty = sum(not text.strip() for text in documents.texts)
    if empty:
        notes += (f"{empty} documents have no text.",)
    return Corpus(
        ids=tuple(documents.ids),
        texts=tuple(documents.texts),
        labels=tuple(documents.labels),
        split=tuple(documents.splits) if any(documents.splits) else None,
        source=CorpusSource(
            path=str(path),
            format=kind,
            files=documents.files,
            bytes=documents.bytes,
            sha256=documents.sha256,
            dropped=documents.dropped,
        ),
        notes=notes,
    )


def _check_some(path: Path, labels: Sequence[tuple[str, ...]]) -> None:
    if not labels:
        raise refusal(path, "must hold documents; got 0 of them.")
    if not any(labels):
        raise refusal(path, f"must hold labels; none of the {len(labels)} documents has one.")
