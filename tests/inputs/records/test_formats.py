"""A file format is one reader and one line of the registry."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import truerisk as tr
from truerisk.inputs.records import formats
from truerisk.inputs.records.formats import ENDINGS, FORMATS, Format
from truerisk.inputs.records.places import Places
from truerisk.inputs.records.rows import Rows, text_column


class PairsFile:
    """Lines ``true>predicted`` after a first line ``pairs!``."""

    columns = ("y_true", "y_pred")
    sha256 = "none"
    empty_is_missing = True

    def __init__(self, path, _compression, _options):
        self.path = path

    def rows(self, selection):
        pairs = [line.split(">") for line in Path(self.path).read_text().splitlines()[1:]]
        columns = dict(zip(self.columns, map(text_column, zip(*pairs, strict=True)), strict=True))
        places = Places(self.path, lambda row: f"pair {row + 1}")
        yield Rows({name: columns[name] for name in selection.columns}, len(pairs), 1, places)


@pytest.fixture
def pairs_format(monkeypatch):
    module = ModuleType("truerisk.inputs.records.pairs")
    module.PairsFile = PairsFile
    monkeypatch.setitem(sys.modules, module.__name__, module)
    pairs = Format("pairs", "pairs", "PairsFile", (".pairs",), b"pairs!")
    monkeypatch.setattr(formats, "FORMATS", (pairs, *FORMATS))
    monkeypatch.setitem(ENDINGS, ".pairs", pairs)


def test_a_new_format_is_read_as_every_other_is(pairs_format, tmp_path):  # noqa: ARG001
    (tmp_path / "a.pairs").write_text("pairs!\n1>1\n0>0\n1>0\n")
    (tmp_path / "b.csv").write_text("y_true,y_pred\n0,1\n")
    result = tr.evaluate_files(tmp_path)
    assert result.n == 4
    assert result["accuracy"].value == 0.5
    assert [facts.format for facts in result.source["files"]] == ["pairs", "csv"]


def test_a_file_of_a_new_format_is_refused_with_its_place(pairs_format, tmp_path):  # noqa: ARG001
    path = tmp_path / "a.pairs"
    path.write_text("pairs!\n1>1\n0>\n")
    with pytest.raises(tr.InputError, match=r"a\.pairs, pair 2: 'y_pred' must have a value"):
        tr.evaluate_files(path)


def test_every_ending_belongs_to_a_format():
    endings = [ending for one in FORMATS for ending in one.endings]
    assert set(endings) == set(ENDINGS)
    assert FORMATS[-1].start == b""
