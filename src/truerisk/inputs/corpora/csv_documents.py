"""A corpus in CSV: a column of texts, a column of labels, maybe ids and a split."""

from collections.abc import Iterator

from truerisk.errors import InputError
from truerisk.inputs.corpora.columns import CorpusColumns
from truerisk.inputs.corpora.documents import Documents, split_labels
from truerisk.inputs.records.byte_streams import TextBytes
from truerisk.inputs.records.csv_rows import CsvFile
from truerisk.inputs.records.places import refusal
from truerisk.inputs.records.rows import Rows, Wanted


def read_csv(source: TextBytes, columns: CorpusColumns) -> Documents:
    """Read a corpus from start to end.

    An empty cell is a missing value, but for labels when a separator says that there may be any
    number of them.
    """
    options = source.options
    file = CsvFile(source.path, "gzip" if source.compressed else None, options)
    try:
        settled = columns.found_in(file.columns)
    except InputError as error:
        raise refusal(source.path, str(error)) from None
    text, labels = settled.text or "", settled.labels or ""
    found = Documents(options)
    separator = options.multilabel_separator
    wanted = tuple(name for name in (text, labels, settled.id, settled.split) if name is not None)
    for rows in file.rows(Wanted(texts=wanted)):
        cells = zip(
            _cells(rows, text),
            _cells(rows, labels),
            _cells(rows, settled.id),
            _cells(rows, settled.split),
            strict=True,
        )
        for row, (words, marks, own, part) in enumerate(cells):
            found.add(
                words or None,
                split_labels(marks or "", separator) if marks or separator else None,
                refuse=lambda sentence, rows=rows, row=row: rows.places.refusal(row, sentence),  # type: ignore[misc]
                names=(text, labels),
                id=own,
                split=part or None,
            )
    found.sha256 = file.sha256
    return found


def _cells(rows: Rows, name: str | None) -> Iterator[str | None]:
    if name is None:
        return iter([None] * rows.count)
    return iter(rows.columns[name].to_pylist())
