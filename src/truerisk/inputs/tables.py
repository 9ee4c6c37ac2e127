"""Tables: examples with their features and labels, from files of several formats."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Codes, Flags
from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.corpora.corpora import SVMLIGHT_ENDINGS, read_corpus
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.encoding import LabelEncoder, encode
from truerisk.inputs.records.formats import FileFacts, open_reader, recognise
from truerisk.inputs.records.json_lines import JsonLinesFile
from truerisk.inputs.records.places import ending, refusal
from truerisk.inputs.records.rows import Selection
from truerisk.inputs.records.svmlight import is_svmlight
from truerisk.inputs.records.text_blocks import TextBytes
from truerisk.inputs.roles import SettledTableRoles, TableRoles
from truerisk.inputs.table_columns import (
    Cells,
    Kind,
    check_category,
    check_number_column,
    check_target,
    note_of_words,
)

LISTED = 5
VECTOR_TARGETS = ("label", "target")  # what may be said of a file whose columns have no names


@dataclass(frozen=True, kw_only=True)
class Column:
    """One feature.

    Its values are numbers (NaN where missing), codes of `categories` (NaN where missing), or texts
    (None where missing).
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    categories: tuple[str, ...] = ()

    @property
    def words(self) -> list[str | None]:
        """The cells of a category or a text as they stand in the file."""
        if self.kind != "category":
            return [None if cell is None else str(cell) for cell in self.values.tolist()]
        return [None if code != code else self.categories[int(code)] for code in self.values]  # noqa: PLR0124


@dataclass(frozen=True, kw_only=True)
class TableSource:
    """Where a table comes from; `rows` are those of the file, of which `dropped` are not used."""

    path: str
    format: str
    bytes: int
    rows: int
    dropped: int
    sha256: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """Examples: their features `X`, their labels `y` as text, and the groups they belong to.

    `X` is one float64 matrix, in which categories are codes and NaN is missing; with a column of
    texts it is an array of objects, and from an svmlight file a sparse matrix with no `columns`.
    Codes are names in the order of the alphabet: nothing is learnt from them.

    Examples
    --------
    >>> table = Table(X=np.eye(3), y=np.array(["b", "a", "b"]), columns=(), target="y")
    >>> table.labels, len(table), table.kinds
    (('b', 'a'), 3, None)
    """

    X: Any
    y: NDArray[np.str_]
    columns: tuple[Column, ...]
    target: str
    groups: NDArray[np.str_] | None = None
    source: TableSource | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, in the order in which they first appear."""
        return tuple(dict.fromkeys(self.y.tolist()))

    @property
    def kinds(self) -> tuple[Kind, ...] | None:
        """What each column of `X` is; None if all are numbers that came as vectors."""
        return tuple(column.kind for column in self.columns) or None


def read_table(
    path: Path | str,
    *,
    target: str | None = None,
    group: str | None = None,
    drop: Sequence[str] = (),
    text: str | Sequence[str] = (),
    categorical: Sequence[str] = (),
    missing_values: Sequence[str] = (),
    options: ReadingOptions | None = None,
) -> Table:
    r"""Read examples from CSV, Parquet, JSON lines or svmlight, recognised by the content.

    A column is a number if every cell that is not missing is a finite number, otherwise a category.
    What is probably an id or a text is refused, with the option that leaves it out or keeps it.

    Parameters
    ----------
    path
        The file; CSV, JSON lines and svmlight may be compressed by gzip.
    target
        The column of labels; when not given, the one called target, label, class or y.
    group
        The column that says which rows belong together (one patient, one user).
    drop
        Columns that are no features.
    text
        Columns of texts, which become words.
    categorical
        Columns whose values are names, even if they are numbers.
    missing_values
        What says that a cell is missing, besides nothing at all: "?", "NA".
    options
        How strictly the file is read; ``missing="drop"`` leaves out rows with no label or group.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "patients.csv"
    ...     _ = path.write_text("age,sex,target\n63,m,ill\n,f,well\n41,f,well\n")
    ...     table = read_table(path)
    >>> table.X
    array([[63.,  1.],
           [nan,  0.],
           [41.,  0.]])
    >>> table.y, table.kinds
    (array(['ill', 'well', 'well'], dtype='<U4'), ('number', 'category'))
    """
    path = Path(path)
    options = options or ReadingOptions()
    roles = TableRoles(
        target=target,
        group=group,
        drop=tuple(drop),
        text=(text,) if isinstance(text, str) else tuple(text),
        categorical=tuple(categorical),
    )
    facts, fingerprint, misnamed = recognise(path, options, holds="examples")
    with fingerprint.watched(path):
        if facts.format == "csv" and _is_svmlight(path, facts, options):
            return _table_of_vectors(path, roles, options)
        missing = frozenset(("", *(value.strip() for value in missing_values)))
        table = TableReading(path, facts, roles, missing, options).table()
        if misnamed is not None:
            table = dataclasses.replace(table, notes=(misnamed, *table.notes))
        return table


def _is_svmlight(path: Path, facts: FileFacts, options: ReadingOptions) -> bool:
    if ending(path) in SVMLIGHT_ENDINGS:
        return True
    return is_svmlight(TextBytes(path, facts.compression, options).head())


class TableReading:
    """One file on its way to a table."""

    def __init__(
        self,
        path: Path,
        facts: FileFacts,
        roles: TableRoles,
        missing: frozenset[str],
        options: ReadingOptions,
    ) -> None:
        self.path = path
        self.facts = facts
        self.given = roles
        self.missing = missing
        self.options = options
        self.notes: list[str] = []
        self.reader = open_reader(facts, path, options)
        if isinstance(self.reader, JsonLinesFile):  # an absent key is a missing value
            self.reader.columns = self.reader.all_keys()
        try:
            self.roles: SettledTableRoles = roles.settled(self.reader.columns)
        except InputError as error:
            raise refusal(path, str(error)) from None

    def table(self) -> Table:
        """Read the file, a second time for columns that turned out late to hold no numbers."""
        labels = [name for name in (self.roles.target, self.roles.group) if name is not None]
        kinds = {name: self._kind(name) for name in self.roles.features}
        cells, codes, books = self._read(kinds, labels)
        broken = {name: "category" for name, column in cells.items() if column.broken}
        if broken:
            cells |= self._read(broken, [])[0]
        rows = len(codes[0])
        if rows == 0:
            raise refusal(self.path, "must hold examples; the file has 0 data rows.")
        used = self._used_rows(codes, labels)
        columns, X = self._columns(cells, used)
        y = np.array(books[0].texts)[codes[0][used]]
        in_use = tuple(dict.fromkeys(y.tolist()))
        check_target(self.path, self.roles.target, in_use, len(y), self.options)
        self.notes += books[0].notes("labels", "")
        groups = None if self.roles.group is None else np.array(books[1].texts)[codes[1][used]]
        return Table(
            X=X,
            y=y,
            columns=columns,
            target=self.roles.target,
            groups=groups,
            source=TableSource(
                path=self.facts.path,
                format=self.facts.format,
                bytes=self.facts.bytes,
                rows=rows,
                dropped=rows - len(y),
                sha256=self.reader.sha256,
            ),
            notes=tuple(self.notes),
        )

    def _kind(self, name: str) -> str:
        if name in self.given.text:
            return "text"
        return "category" if name in self.given.categorical else "any"

    def _read(
        self, kinds: dict[str, str], labels: Sequence[str]
    ) -> tuple[dict[str, Cells], list[Codes], list[LabelBook]]:
        cells = {
            name: Cells(name, kind, self.missing, self.options) for name, kind in kinds.items()
        }
        books = [LabelBook() for _ in labels]
        encoders = [
            LabelEncoder(name, book, self.options, may_be_empty=False)
            for name, book in zip(labels, books, strict=True)
        ]
        parts_of: list[list[Codes]] = [[np.empty(0, np.int32)] for _ in labels]
        for rows in self.reader.rows(Selection(labels=tuple(labels), texts=tuple(kinds))):
            for name, column in cells.items():
                column.add(rows.columns[name], rows.places)
            for encoder, parts in zip(encoders, parts_of, strict=True):
                parts.extend(encode([encoder], [rows.columns[encoder.column]], rows.places))
        return cells, [np.concatenate(parts) for parts in parts_of], books

    def _used_rows(self, codes: Sequence[Codes], labels: Sequence[str]) -> Flags:
        used = np.ones(len(codes[0]), np.bool_)
        for name, column in zip(labels, codes, strict=True):
            absent = column < 0
            if absent.any() and self.options.missing == "refuse":
                raise refusal(
                    self.path,
                    f"{shown(name)} must have a value in every row; {np.count_nonzero(absent)} of "
                    f"{len(absent)} have none. Use --missing drop to leave them out.",
                    f"row {np.argmax(absent) + 1}",
                )
            used &= ~absent
        if not used.all():
            self.notes.append(
                f"{np.count_nonzero(~used)} of {len(used)} rows dropped for a missing value "
                f"({', '.join(labels)})."
            )
        return used

    def _columns(
        self, cells: dict[str, Cells], used: Flags
    ) -> tuple[tuple[Column, ...], NDArray[Any]]:
        has_text = any(column.is_text for column in cells.values())
        X = np.empty((np.count_nonzero(used), len(cells)), object if has_text else np.float64)
        columns: list[Column] = []
        for place, name in enumerate(self.roles.features):
            column = cells.pop(name)
            kind: Kind = "number"
            words: tuple[str, ...] = ()
            if column.is_text:
                kind = "text"
                X[:, place] = np.array([*column.texts, None], object)[:-1][used]
            elif column.may_be_numbers:
                values = column.numbers()[used]
                X[:, place] = values
                self.notes += filter(None, [check_number_column(self.path, name, values)])
            else:
                kind = "category"
                codes, words = column.codes()
                if name not in self.given.categorical:
                    check_category(self.path, name, codes, words, self.options)
                    self.notes += note_of_words(name, words)
                X[:, place] = np.where(codes < 0, np.nan, codes)[used]
            columns.append(Column(name=name, kind=kind, values=X[:, place], categories=words))
        self._note_constants(columns)
        return tuple(columns), X

    def _note_constants(self, columns: Sequence[Column]) -> None:
        constant = [column.name for column in columns if _is_constant(column)]
        if constant:
            rest = len(constant) - LISTED
            more = f" and {rest} more" if rest > 0 else ""
            self.notes.append(
                f"{', '.join(constant[:LISTED])}{more}: the same value in every row, which says "
                f"nothing of the label."
            )


def _is_constant(column: Column) -> bool:
    if column.kind == "text":
        return False
    values = column.values.astype(np.float64)
    return bool((values == values[0]).all() or np.isnan(values).all())


def _table_of_vectors(path: Path, roles: TableRoles, options: ReadingOptions) -> Table:
    """Read svmlight: columns without names, sparse unless an array would be smaller."""
    named = [*roles.drop, *roles.text, *roles.categorical]
    named += [name for name in (roles.target, roles.group) if name is not None]
    if [name for name in named if name not in VECTOR_TARGETS]:
        raise refusal(
            path,
            f"must have named columns; it is svmlight, which has none, and {shown(named[0])} was "
            f"named. Leave the names out.",
        )
    corpus = read_corpus(path, options=options)
    counts = np.array([len(labels) for labels in corpus.labels])
    if (counts > 1).any():
        row = int(np.argmax(counts > 1))
        raise refusal(
            path,
            f"must have one label per vector; got {shown(','.join(corpus.labels[row]))} "
            f"({np.count_nonzero(counts > 1)} such rows).",
            f"row {row + 1}",
        )
    if (counts == 0).any() and options.missing == "refuse":
        raise refusal(
            path,
            f"must have a label for every vector; {np.count_nonzero(counts == 0)} of {len(counts)} "
            f"have none. Use --missing drop to leave them out.",
            f"row {np.argmax(counts == 0) + 1}",
        )
    used = np.flatnonzero(counts)
    y = np.array([corpus.labels[row][0] for row in used])
    check_target(path, "label", tuple(dict.fromkeys(y.tolist())), len(y), options)
    X: Any = corpus.matrix[used]  # type: ignore[index]
    # Whichever is smaller: 12 bytes an entry and 4 a row, or 8 a cell.
    if 12 * X.nnz + 4 * X.shape[0] > 8 * X.shape[0] * X.shape[1]:
        X = X.toarray()
    dropped = len(counts) - len(used)
    notes = corpus.notes
    if dropped:
        notes += (f"{dropped} of {len(counts)} rows dropped for a missing label.",)
    return Table(
        X=X,
        y=y,
        columns=(),
        target="label",
        source=TableSource(
            path=str(path),
            format="svmlight",
            bytes=path.stat().st_size,
            rows=len(counts),
            dropped=dropped,
            sha256=None if corpus.source is None else corpus.source.sha256,
        ),
        notes=notes,
    )
