"""Corpora: documents with their labels, from files of several formats, checked as they are read."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from truerisk.aliases import Flags, Indices
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.corpora.documents import Documents, read_folders, read_records, visible
from truerisk.inputs.labels import label_notes
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.formats import FileFacts, open_reader, recognise
from truerisk.inputs.records.places import ending, refusal, shown_path
from truerisk.inputs.records.text_blocks import TextBytes
from truerisk.inputs.roles import CorpusColumns

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

CorpusFormat = Literal["json lines", "csv", "parquet", "folders", "reuters sgml", "svmlight"]
SGML_ENDINGS = (".sgm", ".sgml")
SVMLIGHT_ENDINGS = (".svm", ".svmlight", ".libsvm")


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
    columns = CorpusColumns(text=text, labels=labels, id=id, split=split)
    if where.is_dir():
        return _from_folder(where, allowed)
    return _from_file(where, columns, allowed)


def _from_folder(folder: Path, options: ReadingOptions) -> Corpus:
    sgml = [path for path in visible(folder) if ending(path) in SGML_ENDINGS]
    if sgml:
        from truerisk.inputs.corpora.reuters_sgml import read_reuters

        return _corpus(folder, "reuters sgml", read_reuters(sgml, options))
    return _corpus(folder, "folders", read_folders(folder, options))


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
    from truerisk.inputs.corpora.reuters_sgml import is_reuters
    from truerisk.inputs.records.svmlight import is_svmlight

    if facts.format != "csv":
        return facts.format  # type: ignore[return-value]
    head = TextBytes(path, facts.compression, options).head()
    if not head.strip():
        raise refusal(path, "must hold documents; the file is empty.")
    if is_reuters(head):
        return "reuters sgml"
    return "svmlight" if ending(path) in SVMLIGHT_ENDINGS or is_svmlight(head) else "csv"


def _read(
    path: Path,
    facts: FileFacts,
    kind: CorpusFormat,
    columns: CorpusColumns,
    options: ReadingOptions,
) -> Corpus:
    if kind == "svmlight":
        return _from_vectors(TextBytes(path, facts.compression, options))
    if kind == "reuters sgml":
        from truerisk.inputs.corpora.reuters_sgml import read_reuters

        documents = read_reuters([path], options)
    else:
        documents = read_records(path, open_reader(facts, path, options), columns, options)
    documents.bytes = path.stat().st_size
    return _corpus(path, kind, documents)


def _from_vectors(source: TextBytes) -> Corpus:
    from truerisk.inputs.records.svmlight import read_svmlight

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
