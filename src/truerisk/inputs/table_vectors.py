"""Tables from svmlight files: a label and a sparse vector a line, columns without names."""

from pathlib import Path
from typing import Any

import numpy as np

from truerisk.checks import shown
from truerisk.inputs.corpora.corpora import read_corpus
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import refusal
from truerisk.inputs.table_kinds import check_target
from truerisk.inputs.table_roles import TableRoles
from truerisk.inputs.tables import Table, TableSource

VECTOR_TARGETS = ("label", "target")  # what may be said of a file whose columns have no names


def table_of_vectors(path: Path, roles: TableRoles, options: ReadingOptions) -> Table:
    r"""Read vectors; dense ones become an array.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "vectors.svm"
    ...     _ = path.write_text("+1 2:0.5\n-1 1:2 7:1\n")
    ...     table = table_of_vectors(path, TableRoles(), ReadingOptions())
    >>> table.X.shape, table.labels
    ((2, 7), ('+1', '-1'))
    """
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
            f"must have one label a vector; got {shown(','.join(corpus.labels[row]))} "
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
    kept = np.flatnonzero(counts)
    y = np.array([corpus.labels[row][0] for row in kept])
    check_target(path, "label", tuple(dict.fromkeys(y.tolist())), len(y), options)
    X: Any = corpus.matrix[kept]  # type: ignore[index]
    # Whichever is smaller: 12 bytes an entry and 4 a row, or 8 a cell.
    if 12 * X.nnz + 4 * X.shape[0] > 8 * X.shape[0] * X.shape[1]:
        X = X.toarray()
    dropped = len(counts) - len(kept)
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
