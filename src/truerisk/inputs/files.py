"""Files and frames of predictions, read batch by batch as one source."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.checks import did_you_mean, shown
from truerisk.errors import InputError
from truerisk.inputs.arrays import Members
from truerisk.inputs.labels import LabelBook
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.predictions import Predictions
from truerisk.inputs.records.checked_batches import BatchMaker, UniqueIds
from truerisk.inputs.records.formats import ENDINGS, FileFacts, open_reader, recognise
from truerisk.inputs.records.places import Fingerprint, find_files, refusal, shown_path
from truerisk.inputs.records.rows import (
    Batch,
    LogFacts,
    Reader,
    Rows,
    Selection,
    Strings,
    as_strings,
)
from truerisk.inputs.roles import ResolvedRoles, Roles, check_columns, resolve_roles
from truerisk.inputs.roles import Source as RolesSource


def open_predictions(
    paths: Path | str | Sequence[Path | str],
    *,
    roles: Roles | None = None,
    options: ReadingOptions | None = None,
    needs_truth: bool = True,
) -> "PredictionFiles":
    """Open CSV, Parquet and JSON lines files (or folders of them) as one source of predictions.

    The format is recognised by the content.  Headers are read and roles settled here, from the
    usual names where none is given; rows are read by `PredictionFiles.batches`.
    """
    strictness = options or ReadingOptions()
    sources, notes = find_sources(paths, strictness)
    return PredictionFiles(
        sources, roles or Roles(), strictness, notes=notes, needs_truth=needs_truth
    )


def open_frame(
    frame: Any, *, roles: Roles | None = None, options: ReadingOptions | None = None
) -> "PredictionFiles":
    """Open a frame of pandas, polars, pyarrow or modin as a source of predictions."""
    from truerisk.inputs.records.frames import FRAME, Frame

    strictness = options or ReadingOptions()
    facts = FileFacts(path=str(FRAME), format="frame", compression=None, bytes=0)
    source = Source(FRAME, Frame(frame, strictness), facts)
    return PredictionFiles([source], roles or Roles(), strictness)


@dataclass(frozen=True)
class Source:
    """A file whose header has been read, or a frame, which has no fingerprint."""

    path: Path
    reader: Reader
    facts: FileFacts
    fingerprint: Fingerprint | None = None

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns, and refuse a file that changes meanwhile."""
        if self.fingerprint is None:
            yield from self.reader.rows(selection)
            return
        with self.fingerprint.watched(self.path):
            yield from self.reader.rows(selection)


def find_sources(
    paths: Path | str | Sequence[Path | str], options: ReadingOptions
) -> tuple[list[Source], tuple[str, ...]]:
    """Open the files that the paths name; the notes say what was left out or misnamed."""
    files, folder_notes = find_files(paths, ENDINGS)
    sources, notes = [], list(folder_notes)
    for path in files:
        facts, fingerprint, note = recognise(path, options)
        sources.append(Source(path, open_reader(facts, path, options), facts, fingerprint))
        log = log_of(sources[-1].reader)
        notes += [*([] if note is None else [note]), *(() if log is None else log.notes)]
    return sources, tuple(notes)


class PredictionFiles:
    """Files of predictions, read as one source with bounded memory, as often as needed.

    `labels` and `groups` grow while reading and keep their codes; `files` and `notes` are complete
    after the last batch.  No row of a file that turns out to be broken counts.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        roles: Roles,
        options: ReadingOptions,
        *,
        notes: tuple[str, ...] = (),
        needs_truth: bool = True,
    ) -> None:
        self.options = options
        self.labels = LabelBook()
        self.groups = LabelBook()
        self.sources = tuple(sources)
        self.columns = _columns(sources[0].reader)
        for place, source in enumerate(sources):
            try:
                if place == 0:
                    chosen = _of_log(source.reader, roles)
                    kind: RolesSource = "frame" if source.facts.format == "frame" else "file"
                    self.roles = _settled_roles(self.columns, chosen, options, needs_truth, kind)
                else:
                    check_columns(_columns(source.reader), self.roles)
                check_where(_columns(source.reader), options.where)
            except InputError as error:
                raise refusal(source.path, str(error)) from None
        if self.roles.correct is not None:
            self.options = dataclasses.replace(options, numeric_labels=True)
        self.files = tuple(source.facts for source in sources)
        self._opening_notes = self.notes = notes

    @property
    def members(self) -> Members:
        """The label set of every code met so far."""
        return self.labels.members(self.options.multilabel_separator, self.options.spelling)

    def check_labels(self) -> None:
        """Refuse rows that have values and no labels."""
        if self.roles.of_values:
            raise refusal(
                self.sources[0].path,
                "must hold labels for this; it holds answers that are right or wrong, or scores of "
                "them. `truerisk score` and `truerisk compare` take these.",
            )

    def predictions(self) -> Iterator[Predictions]:
        """Read all files from start to end, as coded predictions."""
        return coded_batches(self.batches(), self.labels, self.options, self.roles)

    def read(self, progress: Callable[[int], None] | None = None) -> Predictions:
        """Read all files into memory."""
        parts: list[Predictions] = []
        rows = 0
        for part in self.predictions():
            parts.append(part)
            rows += part.n
            if progress is not None:
                progress(rows)

        def column(name: str) -> Any:
            columns = [getattr(part, name) for part in parts]
            if columns[0] is None:
                return None
            if name == "ids":
                return np.array([one for ids in columns for one in ids.tolist()], dtype=object)
            return np.concatenate(columns)

        names = ("truth", "predicted", "score", "weight", "group", "ids")
        by = {name: np.concatenate([part.by[name] for part in parts]) for name in parts[0].by}
        return dataclasses.replace(
            parts[-1], members=self.members, by=by, **{name: column(name) for name in names}
        )

    def batches(self) -> Iterator[Batch]:
        """Read all files from start to end; at the end, `files` and `notes` are complete."""
        maker = BatchMaker(self.roles, self.options, self.labels, self.groups)
        unique = UniqueIds()
        facts = list(self.files)
        for place, source in enumerate(self.sources):
            rows = dropped = 0
            for read in source.rows(selected_columns(self.roles, source.reader, self.options)):
                chosen = chosen_rows(read, source.reader, self.options)
                batch, lost = maker.batch(chosen)
                rows, dropped = rows + chosen.count, dropped + lost
                if batch.ids is not None and not self.roles.of_values:
                    unique.add(batch.ids)
                if len(batch):
                    yield batch
            check_some_rows(source.path, rows, dropped, self.options.where)
            facts[place] = dataclasses.replace(
                facts[place], rows=rows, dropped=dropped, sha256=source.reader.sha256
            )
        if self.roles.id is not None:
            unique.check(self.roles.id, self._ids_again)
        self.files = tuple(facts)
        self.notes = (*self._opening_notes, *self._closing_notes(maker, facts))

    def _ids_again(self) -> Iterator[tuple[str, int, Strings]]:
        name = self.roles.id
        if name is not None:
            for source in self.sources:
                for rows in source.rows(Selection(texts=(name,))):
                    ids, _ = as_strings(rows.columns[name], name, rows.places)
                    yield shown_path(source.path), rows.first_row, ids

    def _closing_notes(self, maker: BatchMaker, facts: Sequence[FileFacts]) -> Iterator[str]:
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
            if fact.sha256 is None and fact.format != "frame":
                yield f"{shown_path(fact.path)}: too large to be hashed beside reading; --hash-all."


def check_some_rows(path: Path, rows: int, dropped: int, where: Mapping[str, str]) -> None:
    """Refuse a file of which no row is left."""
    if rows == 0 and where:
        chosen = " and ".join(f"{shown(name)} is {shown(value)}" for name, value in where.items())
        raise refusal(path, f"must hold rows in which {chosen}; there is none.")
    if rows == 0:
        raise refusal(path, "must hold predictions; it has 0 data rows.")
    if dropped == rows:
        raise refusal(path, f"must hold predictions; all {rows} rows have a value missing.")


def _settled_roles(
    columns: Sequence[str],
    roles: Roles,
    options: ReadingOptions,
    needs_truth: bool,  # noqa: FBT001
    source: RolesSource,
) -> ResolvedRoles:
    settled = resolve_roles(columns, roles, needs_truth=needs_truth, source=source)
    if settled.score_classes is None:
        return settled
    spelt = tuple(map(options.spelling, settled.score_classes))
    return dataclasses.replace(settled, score_classes=spelt)


def selected_columns(roles: ResolvedRoles, reader: Reader, options: ReadingOptions) -> Selection:
    """List the columns that the roles need, by how they are read."""
    ids = (roles.id,) if roles.id is not None else ()
    texts: tuple[str, ...] = (*ids, *roles.by, *options.where)
    log = log_of(reader)
    if log is not None and log.single is not None:
        texts += (log.single,)
    read = {*roles.label_columns, *roles.number_columns}
    return Selection(
        labels=roles.label_columns,
        numbers=roles.number_columns,
        texts=tuple(name for name in dict.fromkeys(texts) if name not in read),
    )


def chosen_rows(rows: Rows, reader: Reader, options: ReadingOptions) -> Rows:
    """Keep the rows that `where` chooses; refuse two kinds of rows where a log has one result."""
    for name, value in options.where.items():
        cells = rows.columns[name].tolist()
        match = [at for at, cell in enumerate(cells) if cell is not None and str(cell) == value]
        if len(match) < rows.count:
            rows = rows.taken(np.array(match, dtype=np.intp))
    log = log_of(reader)
    if log is not None and log.single is not None and log.single not in options.where:
        kinds = dict.fromkeys(rows.columns[log.single].tolist())
        if len(kinds) > 1:
            raise rows.places.refusal(
                0,
                f"{shown(log.single)} must be one for all rows; got {', '.join(map(shown, kinds))}."
                f" Choose one: --where {log.single} {next(iter(kinds))}.",
            )
    return rows


def check_where(columns: Sequence[str], where: Mapping[str, str]) -> None:
    """Refuse to choose rows by a column that is not there."""
    for name in where:
        if name not in columns:
            raise InputError(
                f"`where` must name a column; got {shown(name)}.{did_you_mean(name, columns)}"
            )


def log_of(reader: Reader) -> LogFacts | None:
    """Give what the tool that wrote a log says of it; None of other files."""
    return getattr(reader, "log", None)


def _columns(reader: Reader) -> tuple[str, ...]:
    """List the columns of a file, and those within its columns by their dotted names."""
    return (*reader.columns, *getattr(reader, "nested", ()))


def _of_log(reader: Reader, roles: Roles) -> Roles:
    """Take the only result of a log for what was right or wrong, where no role is given."""
    log = log_of(reader)
    if log is None or roles.of_values or roles.truth or roles.pred or roles.score:
        return roles
    if len(log.metrics) != 1:
        listed = ", ".join(log.metrics) or "none that is plain"
        raise InputError(
            f"`correct` or `value` must name one of the results of this log: {listed}. Use "
            f"--correct {next(iter(log.metrics), 'COLUMN')}, or --value COLUMN --range LOW HIGH."
        )
    return dataclasses.replace(roles, correct=log.metrics[0])


def coded_batches(
    batches: Iterable[Batch], labels: LabelBook, options: ReadingOptions, roles: ResolvedRoles
) -> Iterator[Predictions]:
    """Turn checked batches into predictions; `labels` grows while the batches are read."""
    classes = roles.score_classes
    if classes is not None and not options.multilabel:
        for label in classes:
            labels.add(label)  # a row may be given any of them
    members: Members = ()
    for batch in batches:
        if len(members) < len(labels):
            members = labels.members(options.multilabel_separator, options.spelling)
        truth: Any = None if batch.truth is None else batch.truth.codes
        yield Predictions(
            truth,
            members,
            None if batch.pred is None else batch.pred.codes,
            batch.score,
            batch.weight,
            None if batch.group is None else batch.group.codes,
            options.multilabel,
            classes,
            batch.ids,
            by=batch.by,
        )
