"""A corpus in JSON lines: one document a line, its labels a list or a string."""

from pathlib import Path
from typing import Any

from truerisk.checks import shown
from truerisk.errors import InputError
from truerisk.inputs.corpora.columns import CorpusColumns
from truerisk.inputs.corpora.documents import Documents, Refuse, split_labels
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.byte_streams import TextBytes
from truerisk.inputs.records.json_lines import DECODER
from truerisk.inputs.records.line_blocks import blocks, check_block
from truerisk.inputs.records.pipeline import ahead
from truerisk.inputs.records.places import refusal


def read_json_lines(source: TextBytes, columns: CorpusColumns) -> Documents:
    """Read a corpus from start to end; the keys of the first object are the columns."""
    options, path = source.options, source.path
    found = Documents(options)
    settled: CorpusColumns | None = None
    limit = options.max_line_bytes
    pieces = blocks(source, options.block_bytes, quotes=False, has_header=False, max_line=limit)
    for block in ahead(pieces):
        check_block(block, max_line=limit)
        for row, line in enumerate(block.data.split(b"\n")[:-1]):
            refuse = _refuser(path, block.first_row + row)
            record = _object(line, refuse)
            if settled is None:
                settled = _settled(path, columns, record)
            _add(found, record, settled, refuse)
    found.sha256 = source.sha256
    return found


def _refuser(path: Path, line: int) -> Refuse:
    return lambda sentence: refusal(path, sentence, f"line {line}")


def _settled(path: Path, columns: CorpusColumns, record: dict[str, Any]) -> CorpusColumns:
    try:
        return columns.found_in(tuple(record))
    except InputError as error:
        raise refusal(path, str(error)) from None


def _object(line: bytes, refuse: Refuse) -> dict[str, Any]:
    text = line.decode().strip(" \t\r")
    try:
        record, end = DECODER.raw_decode(text)
    except RecursionError:
        raise refuse("must not be nested so deeply.") from None
    except ValueError as error:
        raise refuse(f"must be one JSON object; got {shown(text)} ({error}).") from None
    if not isinstance(record, dict) or end != len(text):
        raise refuse(f"must be one JSON object; got {shown(text)}.")
    return record


def _add(found: Documents, record: dict[str, Any], columns: CorpusColumns, refuse: Refuse) -> None:
    name = columns.text or ""
    text = record.get(name)
    if type(text) is not str and text is not None:
        raise refuse(f"{shown(name)} must be a string; got {shown(text)}.")
    found.add(
        text,
        _labels(record, columns, found.options, refuse),
        refuse=refuse,
        names=(name, columns.labels or ""),
        id=_word(record, columns.id, refuse, "Give every document an id, or use --id ''."),
        split=None if columns.split is None else _split(record, columns.split, refuse),
    )


def _labels(
    record: dict[str, Any], columns: CorpusColumns, options: ReadingOptions, refuse: Refuse
) -> list[str] | None:
    name = columns.labels or ""
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, str):
        return split_labels(str(value), options.multilabel_separator)
    if isinstance(value, bool):
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
    value = record.get(name)
    if not isinstance(value, str) or value == "":
        raise refuse(f"{shown(name)} must be a string or a number; got {shown(value)}. {remedy}")
    return str(value)


def _split(record: dict[str, Any], name: str, refuse: Refuse) -> str | None:
    if record.get(name) is None:
        return None
    return _word(record, name, refuse, "Write null for a document of no part.")
