"""Logs of inspect_ai, as zip archives (.eval) or as JSON: one row per sample, with its scores.

A score of C, I, P or N (correct, incorrect, partial, no answer) is 1, 0, ½ or 0, as in inspect_ai.
Of an archive only the summaries are read, which hold no transcripts; archives of newer versions are
compressed by Zstandard, which Arrow has.
"""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from truerisk.checks import shown
from truerisk.errors import ResourceError
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.json_lines import nested_names, reach
from truerisk.inputs.records.places import Places, refusal, shown_path
from truerisk.inputs.records.rows import Column, LogFacts, Rows, Selection, text_column

ZSTANDARD = 93  # method of compression in a zip archive
LOCAL_HEADER = 30  # bytes before the name of a member
MARKS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
DAMAGE = (zipfile.BadZipFile, zlib.error, ValueError, KeyError, EOFError, RecursionError)


class InspectLog:
    """One log of inspect_ai, read at once: its summaries are small."""

    empty_is_missing = False
    columns = ("id", "epoch")

    def __init__(self, path: Path, compression: str | None, options: ReadingOptions) -> None:
        self.path = path
        self.options = options
        content = path.read_bytes()
        self.sha256: str | None = hashlib.sha256(content).hexdigest()
        try:
            if compression == "gzip":
                content = zlib.decompressobj(31).decompress(content, options.max_expanded_bytes)
            is_archive = content.startswith(b"PK")
            header, samples = self._of_archive() if is_archive else self._of_json(content)
            self.samples = [_record(sample) for sample in samples]
        except DAMAGE as error:
            raise refusal(
                path, f"must be an intact log of inspect_ai; {type(error).__name__}: {error}."
            ) from None
        names = (name for sample in self.samples for name in nested_names(sample))
        self.nested = tuple(dict.fromkeys(names))
        metrics = tuple(name for name in self.nested if name.startswith("scores."))
        status, model = header.get("status"), header.get("eval", {}).get("model", "")
        notes = () if status == "success" else (f"{shown_path(path)}: its status is {status}.",)
        self.log = LogFacts(metrics, str(model), notes=notes)

    def rows(self, selection: Selection) -> Iterator[Rows]:
        """Read the selected columns of all samples."""
        places = Places(self.path, lambda row: f"sample {row + 1}")
        columns = {}
        for name in dict.fromkeys(selection.columns):
            cells = [reach(sample, name) for sample in self.samples]
            columns[name] = (
                self._numbers(cells, name, places)
                if name in selection.numbers
                else text_column(
                    [
                        None if one is None else f"{one:g}" if isinstance(one, float) else str(one)
                        for one in cells
                    ]
                )
            )
        yield Rows(columns, len(self.samples), 1, places)

    def _numbers(self, cells: list[Any], name: str, places: Places) -> Column:
        for row, one in enumerate(cells):
            if one is not None and not isinstance(one, (int, float)):
                raise places.refusal(row, f"{shown(name)} must be a number; got {shown(one)}.")
        return Column(np.array([np.nan if one is None else float(one) for one in cells]), "double")

    @staticmethod
    def _of_json(content: bytes) -> tuple[dict[str, Any], list[Any]]:
        log = json.loads(content)
        return log, log.get("samples") or []

    def _of_archive(self) -> tuple[dict[str, Any], list[Any]]:
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
            if "header.json" in names and "summaries.json" in names:
                header = self._member(archive, "header.json")
                return header, self._member(archive, "summaries.json")
            # While the evaluation runs, or if it was stopped, there are only parts.
            parts = sorted(
                (name for name in names if name.startswith("_journal/summaries/")),
                key=lambda name: int(Path(name).stem),
            )
            header = self._member(archive, "_journal/start.json") | {"status": "unfinished"}
            return header, [one for name in parts for one in self._member(archive, name)]

    def _member(self, archive: zipfile.ZipFile, name: str) -> Any:
        member = archive.getinfo(name)
        if member.file_size > self.options.max_expanded_bytes:
            raise refusal(
                self.path,
                f"must expand to at most {self.options.max_expanded_bytes} bytes; it is larger. "
                "Raise --max-expanded-bytes.",
            )
        if member.compress_type != ZSTANDARD:
            return json.loads(archive.read(member))
        try:
            import pyarrow as pa
        except ModuleNotFoundError:
            raise ResourceError(
                f"{shown_path(self.path)}: is compressed by Zstandard, which needs the package "
                "pyarrow: `pip install 'truerisk[arrow]'`."
            ) from None
        with self.path.open("rb") as file:
            file.seek(member.header_offset)
            header = file.read(LOCAL_HEADER)
            file.seek(sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28)), 1)
            packed = file.read(member.compress_size)
        try:
            content = pa.Codec("zstd").decompress(packed, member.file_size).to_pybytes()
        except OSError as error:
            raise zipfile.BadZipFile(error) from None
        if zlib.crc32(content) != member.CRC:
            raise zipfile.BadZipFile(f"bad checksum of {name}")
        return json.loads(content)


def _record(sample: dict[str, Any]) -> dict[str, Any]:
    """Keep id, epoch, metadata and scores; a score becomes a number where inspect_ai makes it one.

    Samples without a score keep the place of one, to be missing there.
    """
    scores = {name: _value(one["value"]) for name, one in (sample.get("scores") or {}).items()}
    return {
        "id": sample.get("id"),
        "epoch": sample.get("epoch"),
        "scores": scores,
        "metadata": sample.get("metadata") or {},
    }


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _value(one) for name, one in value.items()}
    if isinstance(value, bool):
        return float(value)
    return MARKS.get(value, value) if isinstance(value, str) else value
