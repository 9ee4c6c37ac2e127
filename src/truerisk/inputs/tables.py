"""Tables: examples with their features and labels, from files of several formats.

A column holds numbers, categories or texts; what is probably none of them is refused.
"""

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Codes, Flags
from truerisk.checks import LARGEST_COUNT, listed, shown
from truerisk.errors import InputError
from truerisk.inputs.corpora import read_corpus
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import DROP, ReadingOptions
from truerisk.inputs.records.checked_batches import LabelEncoder, encode
from truerisk.inputs.records.formats import FileFacts, open_reader, recognise
from truerisk.inputs.records.json_lines import JsonLinesFile
from truerisk.inputs.records.places import Places, ending, refusal
from truerisk.inputs.records.rows import Column as CellColumn
from truerisk.inputs.records.rows import Selection, Strings, as_floats
from truerisk.inputs.records.svmlight import is_svmlight
from truerisk.inputs.records.text_blocks import TextFile
from truerisk.inputs.roles import USUAL_NAMES, TableRoles

Kind = Literal["number", "category", "text"]
FEW = 10  # so few distinct numbers lose nothing as categories
MANY_CATEGORIES = 50
UNLIKELY_SHARE = 0.5  # of the rows: more distinct values are ids or texts, not categories
MISSING_WORDS = {"?", "NA", "N/A", "na", "n/a", "nan", "NaN", "null", "NULL", "None", "none"}
OTHER_MARK = {".": ",", ",": "."}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WHOLE = re.compile(r"[+-]?\d+")
LISTED = 5
VECTOR_TARGETS = ("label", "target")  # what may be said of a file whose columns have no names


@dataclass
class Cells:
    """The cells of one feature so far: numbers for as long as all are, else codes of a book.

    A column that turns out late to hold something else than numbers is `broken`: the file is then
    read again with that column as a category: nothing depends on how blocks were cut.
    """

    name: str
    kind: str
    missing: frozenset[str]
    options: ReadingOptions
    broken: bool = False
    texts: list[str | None] = field(default_factory=list)
    book: LabelBook = field(default_factory=LabelBook)
    _codes: list[Codes] = field(default_factory=list)
    _numbers: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.may_be_numbers, self.is_text = self.kind == "any", self.kind == "text"
        as_written = dataclasses.replace(self.options, numeric_labels=False, label_map={})
        self._encoder = LabelEncoder(self.name, self.book, as_written, may_be_empty=False)

    def add(self, column: CellColumn, places: Places) -> None:
        """Take in the cells of one block."""
        if self.broken:
            return
        if self.is_text:
            self.texts += self._words(column, places)
            return
        if self.may_be_numbers:
            numbers = self._as_numbers(column, places)
            if numbers is not None:
                self._numbers.append(numbers)
                return
            self.may_be_numbers = False
            self.broken = bool(self._numbers)
            if self.broken:
                self._numbers = []
                return
        self._codes += encode([self._encoder], [column], places)

    def numbers(self) -> Array:
        """Give all numbers, NaN where a cell is missing."""
        return np.concatenate(self._numbers)

    def codes(self) -> tuple[Codes, tuple[str, ...]]:
        """Give a code for each cell, −1 where it is missing, and the sorted words they stand for.

        Sorted: the order of the rows does not decide the order of the features.
        """
        codes = np.concatenate(self._codes)
        every = self.book.texts
        words = sorted(word for word in every if word.strip() not in self.missing)
        place = {word: code for code, word in enumerate(words)}
        table = np.array([*(place.get(word, -1) for word in every), -1], np.int32)
        # Missing cells have negative codes of their own: all end at the last entry.
        return table[np.maximum(codes, -1)], tuple(words)

    def _as_numbers(self, column: CellColumn, places: Places) -> Array | None:
        values = column.values
        if column.is_text:
            return self._parsed(column)
        if values.dtype.kind == "b":
            return _with_gaps(values.astype(np.float64), column)
        if values.dtype.kind == "O":
            raise refusal(
                places.path,
                f"{shown(self.name)} must hold numbers or words; got {column.kind}. "
                f"Cast it, or leave it out with --drop.",
            )
        numbers = np.asarray(as_floats(column, self.name, places), np.float64)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers)))
            raise places.refusal(
                row, f"{shown(self.name)} must be a finite number; got {numbers[row]}."
            )
        return numbers

    def _parsed(self, column: CellColumn) -> Array | None:
        values, words = column.values, column.words
        if isinstance(values, Strings):
            numbers, states = values.numbers(self.options.decimal)
            present = numbers[~np.isnan(numbers)]
            # The digits of long ids would be rounded, and what is infinite is no number.
            if not states.any() and (np.abs(present) <= LARGEST_COUNT).all():
                return _with_gaps(numbers, column)
            values, words = values.encoded()
        table = np.full(len(words or ()) + 1, np.nan)
        for place, text in enumerate(words or ()):
            gone = text is None or text.strip() in self.missing
            number = float("nan") if gone else as_number(str(text), self.options)
            if number is None:
                return None
            table[place] = number
        return _with_gaps(table[values], column)

    def _words(self, column: CellColumn, places: Places) -> list[str | None]:
        if not column.is_text:
            raise refusal(places.path, f"{shown(self.name)} must hold texts; got {column.kind}.")
        missing = self.missing
        cells = column.tolist()
        return [None if cell is None or cell.strip() in missing else cell for cell in cells]


def _with_gaps(numbers: Array, column: CellColumn) -> Array:
    if column.null is not None:
        numbers[column.null] = np.nan
    return numbers


def as_number(text: str, options: ReadingOptions) -> float | None:
    """Read a finite number, None if a text is something else.

    Whole numbers beyond 2⁵³ are something else: neighbours would become one number.
    """
    word = text.strip()
    if options.decimal == ",":
        if "." in word:
            return None
        word = word.replace(",", ".")
    if NUMBER.fullmatch(word) is None:
        return None
    number = float(word)
    if not np.isfinite(number):
        return None
    return None if abs(number) > LARGEST_COUNT and WHOLE.fullmatch(word) else number


def check_category(
    path: Path,
    name: str,
    codes: Codes,
    words: tuple[str, ...],
    options: ReadingOptions,
) -> None:
    """Refuse a column of words which are ids, texts, or numbers with a few strays."""
    numbers = [word for word in words if as_number(word, options) is not None]
    if len(numbers) > FEW and len(numbers) > len(words) / 2:
        raise _strays(path, name, codes, words, options)
    other = OTHER_MARK[options.decimal]
    swapped = ReadingOptions(decimal=other)
    marked = [word for word in words if other in word and as_number(word, swapped) is not None]
    if len(marked) > FEW and len(marked) > len(words) / 2:
        raise refusal(
            path,
            f"{shown(name)} must hold numbers with the decimal mark {options.decimal!r}; "
            f"got {shown(marked[0])}. Use --decimal {other} if that is the decimal mark.",
        )
    if len(words) > max(MANY_CATEGORIES, UNLIKELY_SHARE * len(codes)):
        several = sum(len(word.split()) > 1 for word in words) > len(words) / 2
        what = "texts" if several else "ids"
        remedy = f"Use --text {name} for texts, or" if several else "Use"
        raise refusal(
            path,
            f"{shown(name)} must be a category; {len(words)} distinct values in {len(codes)} rows, "
            f"such as {shown(words[0])}, are probably {what}. {remedy} --drop {name} to leave it "
            f"out, or --categorical {name} if it is one.",
        )


def note_of_words(name: str, words: tuple[str, ...]) -> list[str]:
    """Say which words look as if they said that a value is missing."""
    return [
        f"{name}: {word.strip()!r} is a category of its own; --missing-values {word.strip()!r} "
        f"says that the value is missing."
        for word in words
        if word.strip() in MISSING_WORDS
    ]


def check_number_column(path: Path, name: str, values: Array) -> str | None:
    """Refuse what is named as an id and numbers the rows; give a note when only one is so."""
    present = values[~np.isnan(values)]
    if len(present) < len(values) or len(present) < 3 or (present != np.floor(present)).any():
        return None
    if name.strip().lower() in USUAL_NAMES["id"] and len(np.unique(present)) == len(present):
        raise refusal(
            path,
            f"{shown(name)} must be a feature; its {len(present)} whole numbers are all different, "
            f"and its name says that they are ids. Use --drop {name}, or rename it.",
        )
    if (np.diff(present) == 1).all():
        return (
            f"{name}: numbers the rows; if that is no feature, a learner can read from it in "
            f"which order the file was written. --drop {name} leaves it out."
        )
    return None


def check_target(
    path: Path, name: str, labels: tuple[str, ...], n: int, options: ReadingOptions
) -> None:
    """Refuse a target that is no set of classes."""
    if n < 2:
        raise refusal(path, f"must hold at least 2 examples; got {n}.")
    if len(labels) == 1:
        raise refusal(
            path,
            f"{shown(name)} must have at least two classes; all {n} examples are of "
            f"{shown(labels[0])}.",
        )
    if len(labels) <= 20:
        return
    numbers = [as_number(label, options) for label in labels]
    if any(number is not None and number != np.floor(number) for number in numbers) and all(
        number is not None for number in numbers
    ):
        raise refusal(
            path,
            f"{shown(name)} must hold classes; {len(labels)} distinct numbers such as "
            f"{shown(labels[0])} are a quantity. Cut it into classes, or choose another --target.",
        )
    if len(labels) > UNLIKELY_SHARE * n:
        raise refusal(
            path,
            f"{shown(name)} must hold classes; {len(labels)} distinct labels in {n} rows are too "
            f"many to learn. Was an id chosen? Choose another --target.",
        )


def _strays(
    path: Path,
    name: str,
    codes: Codes,
    words: tuple[str, ...],
    options: ReadingOptions,
) -> InputError:
    wrong = [code for code, word in enumerate(words) if as_number(word, options) is None]
    rows = np.flatnonzero(np.isin(codes, wrong))
    stray = words[codes[rows[0]]]
    return refusal(
        path,
        f"{shown(name)} must be a finite number, as in most rows; got {shown(stray)} "
        f"({len(rows)} such rows). Use --missing-values {stray.strip()!r} if it says that the "
        f"value is missing, or --categorical {name}.",
        f"row {rows[0] + 1}",
    )


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
        source = TextFile(path, facts.compression, options)
        if facts.format == "csv" and is_svmlight(source.head(), ending(path)):
            return _table_of_vectors(path, roles, options)
        missing = frozenset(("", *(value.strip() for value in missing_values)))
        table = TableReading(path, facts, roles, missing, options).table()
        if misnamed is not None:
            table = dataclasses.replace(table, notes=(misnamed, *table.notes))
        return table


@dataclass
class TableReading:
    """One file on its way to a table."""

    path: Path
    facts: FileFacts
    roles: TableRoles
    missing: frozenset[str]
    options: ReadingOptions
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reader = open_reader(self.facts, self.path, self.options)
        if isinstance(self.reader, JsonLinesFile):  # an absent key is a missing value
            self.reader.columns = self.reader.all_keys()
        try:
            self.target, self.features = self.roles.settled(self.reader.columns)
        except InputError as error:
            raise refusal(self.path, str(error)) from None

    def table(self) -> Table:
        """Read the file, a second time for columns that turned out late to hold no numbers."""
        labels = [name for name in (self.target, self.roles.group) if name is not None]
        kinds = dict.fromkeys(self.features, "any")
        kinds |= dict.fromkeys(self.roles.categorical, "category")
        kinds |= dict.fromkeys(self.roles.text, "text")
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
        check_target(self.path, self.target, in_use, len(y), self.options)
        self.notes += books[0].notes("labels", "")
        groups = None if self.roles.group is None else np.array(books[1].texts)[codes[1][used]]
        return Table(
            X=X,
            y=y,
            columns=columns,
            target=self.target,
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
                    f"{len(absent)} have none. {DROP} to leave them out.",
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
        for place, name in enumerate(self.features):
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
                if name not in self.roles.categorical:
                    check_category(self.path, name, codes, words, self.options)
                    self.notes += note_of_words(name, words)
                X[:, place] = np.where(codes < 0, np.nan, codes)[used]
            columns.append(Column(name=name, kind=kind, values=X[:, place], categories=words))
        self._note_constants(columns)
        return tuple(columns), X

    def _note_constants(self, columns: Sequence[Column]) -> None:
        constant = [column.name for column in columns if _is_constant(column)]
        if constant:
            self.notes.append(
                f"{listed(constant, LISTED, str)}: the same value in every row, which says "
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
            f"have none. {DROP} to leave them out.",
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
