"""Open files of predictions and read them, batch by batch, as one source."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerisk.errors import InputError
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.batch import Batch
from truerisk.inputs.records.formats import FileFacts, Fingerprint, find_files, recognise
from truerisk.inputs.records.refusals import refusal, shown_path
from truerisk.inputs.records.rows import Reader, Wanted
from truerisk.inputs.roles import ResolvedRoles, Roles, check_columns, resolve_roles

if TYPE_CHECKING:
    from truerisk.inputs.records.checked_batches import BatchMaker


def open_predictions(
    paths: Sequence[Path | str],
    *,
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    needs_truth: bool = True,
) -> "PredictionFiles":
    r"""Open CSV, Parquet and JSON lines files (or folders of them) as one source of predictions.

    The format is told by a file's content.  Headers are read and roles settled here; everything
    else is read by `PredictionFiles.batches`.

    Parameters
    ----------
    paths
        Files, or folders whose files are read in the order of their names.
    roles
        Which column plays which role; what is not given is guessed from the usual names.
    options
        What is allowed in the files.
    needs_truth
        Whether files without true labels are refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("y_true,y_pred\ncat,dog\ndog,dog\n")
    ...     files = open_predictions([path])
    ...     [batch.truth.texts() for batch in files.batches()]
    [['cat', 'dog']]
    """
    return PredictionFiles(
        paths, roles or Roles(), options or ReadingOptions(), needs_truth=needs_truth
    )


class PredictionFiles:
    """Files of predictions, read as one source with bounded memory, as often as needed.

    Labels of truth and prediction share `labels`, groups have `groups`; both grow while reading
    and keep their codes from one reading to the next.  `files` and `notes` are complete after the
    last batch.  What was read of a file that turns out to be broken must be thrown away:
    `batches` raises, and no row of it counts.
    """

    def __init__(
        self,
        paths: Sequence[Path | str],
        roles: Roles,
        options: ReadingOptions,
        *,
        needs_truth: bool,
    ) -> None:
        self.options = options
        self.labels = LabelBook()
        self.groups = LabelBook()
        found, folder_notes = find_files(paths)
        self._paths = found
        self._readers: list[Reader] = []
        self._fingerprints: list[Fingerprint] = []
        facts: list[FileFacts] = []
        opening_notes = list(folder_notes)
        for place, path in enumerate(found):
            fact, fingerprint, note = recognise(path, options)
            reader = _reader(fact, path, options)
            try:
                if place == 0:
                    self.roles = resolve_roles(reader.columns, roles, needs_truth=needs_truth)
                    self.columns = reader.columns
                else:
                    check_columns(reader.columns, self.roles)
            except InputError as error:
                raise refusal(path, str(error)) from None
            self._readers.append(reader)
            self._fingerprints.append(fingerprint)
            facts.append(fact)
            opening_notes += [note] if note is not None else []
        self.files = tuple(facts)
        self._opening_notes = tuple(opening_notes)
        self.notes = self._opening_notes

    @property
    def guessed(self) -> tuple[str, ...]:
        """The roles whose columns were guessed."""
        return self.roles.guessed

    def batches(self) -> Iterator[Batch]:
        """Read all files from start to end; at the end, `files` and `notes` are complete."""
        # Arrow is loaded when a file is read, not when its types are named.
        from truerisk.inputs.ids import UniqueIds  # noqa: PLC0415
        from truerisk.inputs.records.checked_batches import BatchMaker  # noqa: PLC0415

        maker = BatchMaker(self.roles, self.options, self.labels, self.groups)
        unique = UniqueIds()
        facts = list(self.files)
        for place, path in enumerate(self._paths):
            rows = dropped = 0
            for found in self._rows(place, wanted_columns(self.roles)):
                batch, lost = maker.batch(found)
                rows, dropped = rows + found.count, dropped + lost
                if batch.ids is not None:
                    unique.add(batch.ids)
                if len(batch):
                    yield batch
            if rows == 0:
                raise refusal(path, "must hold predictions; the file has 0 data rows.")
            if dropped == rows:
                raise refusal(path, f"must hold predictions; all {rows} rows have a value missing.")
            facts[place] = dataclasses.replace(
                facts[place], rows=rows, dropped=dropped, sha256=self._readers[place].sha256
            )
        if self.roles.id is not None:
            unique.check(self.roles.id, self._ids_again)
        self.files = tuple(facts)
        self.notes = (*self._opening_notes, *self._closing_notes(maker, facts))

    def _rows(self, place: int, wanted: Wanted) -> Iterator[Any]:
        path, fingerprint = self._paths[place], self._fingerprints[place]
        fingerprint.check_unchanged(path)
        try:
            yield from self._readers[place].rows(wanted)
        except InputError:
            # What looks like a broken file may be one that is still being written.
            fingerprint.check_unchanged(path)
            raise
        fingerprint.check_unchanged(path)

    def _ids_again(self) -> Iterator[tuple[str, int, Any]]:
        from truerisk.inputs.ids import as_text  # noqa: PLC0415 - as in `batches`

        name = self.roles.id
        if name is not None:
            for place, path in enumerate(self._paths):
                for rows in self._rows(place, Wanted(texts=(name,))):
                    yield shown_path(path), rows.first_row, as_text(rows, name).fill_null("")

    def _closing_notes(self, maker: "BatchMaker", facts: Sequence[FileFacts]) -> Iterator[str]:
        dropped, rows = sum(fact.dropped for fact in facts), sum(fact.rows or 0 for fact in facts)
        if dropped:
            by_column = ", ".join(f"{name} {count}" for name, count in maker.dropped.items())
            yield f"{dropped} of {rows} rows dropped for a missing value ({by_column})."
        for encoder in (*maker.labels, *maker.groups):
            if encoder.whole_floats:
                yield f"{encoder.column}: whole numbers such as 1.0 are read as the label '1'."
        yield from self.labels.notes("labels", self.options.multilabel_separator)
        yield from (note for note in self.groups.notes("groups", "") if "white" in note)
        for fact in facts:
            if fact.sha256 is None:
                yield f"{shown_path(fact.path)}: too large to be hashed beside reading; --hash-all."


def wanted_columns(roles: ResolvedRoles) -> Wanted:
    """List the columns that the roles need, by how they are read."""
    ids = (roles.id,) if roles.id is not None else ()
    return Wanted(labels=roles.label_columns, numbers=roles.number_columns, texts=ids)


def _reader(fact: FileFacts, path: Path, options: ReadingOptions) -> Reader:
    # Each parser is loaded when a file needs it: together they take a quarter of a second.
    if fact.format == "parquet":
        from truerisk.inputs.records.parquet import ParquetFile  # noqa: PLC0415

        return ParquetFile(path, options)
    if fact.format == "json lines":
        from truerisk.inputs.records.json_lines import JsonLinesFile  # noqa: PLC0415

        return JsonLinesFile(path, fact.compression, options)
    from truerisk.inputs.records.csv_rows import CsvFile  # noqa: PLC0415

    return CsvFile(path, fact.compression, options)
