"""Tables: examples with their features and labels, from files of several formats."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.byte_streams import EndsEarlyError, TextBytes
from truerisk.inputs.records.formats import FileFacts, recognise
from truerisk.inputs.records.places import Fingerprint, refusal
from truerisk.inputs.table_kinds import Kind
from truerisk.inputs.table_roles import TableRoles

HEAD_BYTES = 2**16
SVMLIGHT_ENDINGS = (".svm", ".svmlight", ".libsvm")


@dataclass(frozen=True, kw_only=True)
class Column:
    """One feature.

    Its values are numbers (NaN where missing), codes of `categories` (NaN where missing), or texts
    (None where missing).

    Examples
    --------
    >>> Column(name="sex", kind="category", values=np.array([1.0, np.nan, 0.0]),
    ...        categories=("f", "m")).words
    ['m', None, 'f']
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
    r"""Read examples from CSV, Parquet, JSON lines or svmlight; the format is told by the content.

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
    # Both load the parsers, which are not needed to name a table.
    from truerisk.inputs.table_files import TableReading  # noqa: PLC0415
    from truerisk.inputs.table_vectors import table_of_vectors  # noqa: PLC0415

    path = Path(path)
    options = options or ReadingOptions()
    roles = TableRoles(
        target=target,
        group=group,
        drop=tuple(drop),
        text=(text,) if isinstance(text, str) else tuple(text),
        categorical=tuple(categorical),
    )
    if Fingerprint.of(path).size == 0:
        raise refusal(path, "must hold examples; the file is empty.")
    facts, fingerprint, misnamed = recognise(path, options)
    try:
        if facts.format == "csv" and _is_svmlight(path, facts, options):
            table = table_of_vectors(path, roles, options)
        else:
            missing = frozenset(("", *(value.strip() for value in missing_values)))
            table = TableReading(path, facts, roles, missing, options).table()
            if misnamed is not None:
                table = dataclasses.replace(table, notes=(misnamed, *table.notes))
    except InputError:
        # What looks like a broken file may be one that is still being written.
        fingerprint.check_unchanged(path)
        raise
    fingerprint.check_unchanged(path)
    return table


def _is_svmlight(path: Path, facts: FileFacts, options: ReadingOptions) -> bool:
    from truerisk.inputs.records.svmlight import is_svmlight  # noqa: PLC0415  (as in `_reader`)

    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    if plain.suffix.lower() in SVMLIGHT_ENDINGS:
        return True
    try:
        head = next(TextBytes(path, facts.compression, options).pieces(HEAD_BYTES), b"")
    except EndsEarlyError as error:
        raise refusal(path, f"must be complete; {error}. Copy the file again.") from None
    return is_svmlight(head.decode(errors="replace"))
