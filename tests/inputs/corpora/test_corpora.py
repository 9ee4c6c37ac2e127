"""Corpora as a whole: which format a path has, what is told of it, what is refused."""

import gzip
import json
import os
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from truerisk.errors import InputError, ResourceError
from truerisk.inputs.corpora import corpora
from truerisk.inputs.corpora.corpora import Corpus, read_corpus
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.places import Fingerprint

JSON = (
    '{"id": "a", "split": "train", "text": "Wheat up", "labels": ["grain", "wheat"]}\n'
    '{"id": "b", "split": "test", "text": "Gold", "labels": []}\n'
)
CSV = "id,split,text,labels\na,train,Wheat up,grain|wheat\nb,test,Gold,\n"
SGML = (
    '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'
    '<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5" NEWID="a">\n'
    "<TOPICS><D>grain</D><D>wheat</D></TOPICS>\n"
    "<TEXT>&#2;\n<TITLE>Wheat up</TITLE></TEXT>\n</REUTERS>\n"
    '<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" OLDID="6" NEWID="b">\n'
    "<TOPICS></TOPICS>\n<TEXT><TITLE>Gold</TITLE></TEXT>\n</REUTERS>\n"
)


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (JSON, "corpus.jsonl", "json lines"),
        (CSV, "corpus.csv", "csv"),
        (SGML, "reut2-000.sgm", "reuters sgml"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_one_corpus_in_three_formats_is_one_corpus(write, content, name, kind, zipped):
    data = gzip.compress(content.encode()) if zipped else content
    corpus = read_corpus(
        write(data, name + ".gz" * zipped), options=ReadingOptions(multilabel_separator="|")
    )
    assert corpus.ids == ("a", "b")
    assert corpus.texts == ("Wheat up", "Gold")
    assert corpus.labels == (("grain", "wheat"), ())
    assert corpus.split == ("train", "test")
    assert corpus.matrix is None
    assert corpus.notes == ()
    assert (corpus.source.format, corpus.source.files) == (kind, 1)
    assert len(corpus.source.sha256) == 64


def test_the_content_tells_the_format_and_the_name_is_noted(write):
    path = write(JSON, "corpus.csv")
    corpus = read_corpus(path)
    assert corpus.source.format == "json lines"
    (note,) = corpus.notes  # a long path is shown by its end
    assert note.endswith(f"{path.name}: read as json lines, whatever its name says.")
    path = write(gzip.compress(SGML.encode()), "reut2-000.sgm")
    assert "read as reuters sgml, compressed by gzip" in read_corpus(path).notes[0]


def test_vectors_are_told_by_their_first_line(write):
    corpus = read_corpus(write("# by hand\n-1 1:0.5 3:2 # x\n+1 2:1\n", "corpus.txt"))
    assert corpus.texts is None
    assert corpus.labels == (("-1",), ("+1",))
    assert corpus.ids == ("1", "2")
    assert corpus.matrix.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
    assert corpus.source.format == "svmlight"


def test_facts_of_a_corpus_can_be_asked():
    corpus = Corpus(
        ids=("1", "2", "3"),
        texts=("a", "b", "c"),
        labels=(("x", "y"), (), ("y",)),
        split=("train", None, "train"),
    )
    assert len(corpus) == 3
    assert corpus.categories == ("x", "y")
    assert corpus.members("y").tolist() == [True, False, True]
    assert corpus.part("train").tolist() == [0, 2]
    with refused("`category` must be a label of the corpus; got 'z'."):
        corpus.members("z")
    with refused("`name` must be a part of the split ('train'); got 'test'."):
        corpus.part("test")


def test_a_split_of_nothing_is_no_split(write):
    lines = '{"text": "a", "labels": "x", "split": null}\n{"text": "b", "labels": "y"}\n'
    corpus = read_corpus(write(lines, "c.jsonl"))
    assert corpus.split is None
    with refused("(there is none)"):
        corpus.part("train")


def test_documents_without_text_are_told_of(write):
    lines = '{"text": " ", "labels": "x"}\n{"text": "b", "labels": "y"}\n'
    assert read_corpus(write(lines, "c.jsonl")).notes == ("1 documents have no text.",)


def test_labels_that_look_like_slips_are_told_of(write):
    lines = '{"text": "a", "labels": "x|y"}\n{"text": "b", "labels": "y|z"}\n'
    (note,) = read_corpus(write(lines, "c.jsonl")).notes
    assert "100% of the distinct labels contain '|'" in note


@pytest.mark.parametrize("name", ["c.jsonl", "c.csv"])
def test_rows_without_a_value_are_dropped_when_that_is_asked(write, name):
    lines = '{"text": null, "labels": "x"}\n{"text": "b", "labels": "y"}\n{"text": "c"}\n'
    if name == "c.csv":
        lines = "text,labels\n,x\nb,y\nc,\n"
    path = write(lines, name)
    corpus = read_corpus(path, options=ReadingOptions(missing="drop"))
    assert (corpus.texts, corpus.ids, corpus.source.dropped) == (("b",), ("2",), 2)
    assert corpus.notes == ("2 of 3 documents dropped for a missing value.",)
    with refused("must have a value for every document; got none. Use --missing drop"):
        read_corpus(path)


# What is refused


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", gzip.compress(b""), gzip.compress(b"\n")],
    # gzip writes the time, and names must not differ between two workers
    ids=["nothing", "blank lines", "nothing, gzipped", "a blank line, gzipped"],
)
def test_an_empty_file_is_refused(write, content):
    with refused("must hold documents; the file is empty."):
        read_corpus(write(content, "c.jsonl"))


def test_no_documents_and_no_labels_are_refused(write):
    with refused("must hold documents; got 0 of them."):
        read_corpus(write("text,labels\n", "c.csv"))
    with refused("must hold labels; none of the 1 documents has one."):
        read_corpus(write('{"text": "a", "labels": []}', "c.jsonl"))


def test_what_is_no_corpus_is_refused(write, tmp_path):
    with refused("there is no such file."):
        read_corpus(tmp_path / "none.jsonl")
    with refused("it is a zip archive"):
        read_corpus(write(b"PK\x03\x04....", "c.jsonl"))
    with refused("must be an intact Parquet file"):
        read_corpus(write(b"PAR1....PAR1", "c.parquet"))
    with refused("got a JSON array"):
        read_corpus(write('[{"text": "a"}]', "c.json"))
    with refused("Use --encoding utf-16"):
        read_corpus(write("text,labels\na,x\n".encode("utf-16"), "c.csv"))


@pytest.mark.parametrize(("content", "name"), [(JSON, "c.jsonl.gz"), (CSV, "c.csv.gz")])
@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_a_truncated_gzip_file_is_refused(write, content, name, kept):
    rng = np.random.default_rng(0)
    noise = "".join(map(chr, rng.integers(97, 123, 300_000)))
    data = gzip.compress(content.replace("Wheat up", noise).encode())
    with refused("must be complete; the gzip data end early"):
        read_corpus(write(data[: int(kept * len(data))], name))


def test_a_bomb_is_refused_before_it_expands(write):
    line = b'{"text": "' + b"a" * 4_000_000 + b'", "labels": "x"}\n'
    with refused("must expand at most 100-fold"):
        read_corpus(write(gzip.compress(line), "c.jsonl.gz"), options=ReadingOptions(max_ratio=100))
    with refused("must have shorter lines"):
        read_corpus(write(line, "c.jsonl"), options=ReadingOptions(max_line_bytes=1000))


@pytest.mark.parametrize(
    ("content", "name"),
    [(b'{"text": "caf\xe9", "labels": "x"}\n', "c.jsonl"), (b"text,labels\ncaf\xe9,x\n", "c.csv")],
)
def test_text_that_is_no_utf8_is_refused_and_read_by_its_encoding(write, content, name):
    path = write(content, name)
    with refused("Use --encoding, such as latin-1"):
        read_corpus(path)
    assert read_corpus(path, options=ReadingOptions(encoding="latin-1")).texts == ("café",)


def test_a_file_that_changes_while_it_is_read_is_refused(write, monkeypatch):
    path = write(JSON, "c.jsonl")
    before = corpora.recognise

    def then_grow(*arguments, **named):
        found = before(*arguments, **named)
        path.write_text(JSON + "{broken", encoding="utf-8")
        return found

    monkeypatch.setattr(corpora, "recognise", then_grow)
    with pytest.raises(ResourceError, match="changed while it was read"):
        read_corpus(path)
    assert Fingerprint.of(path).size > len(JSON)


# Real data


@pytest.mark.data
@pytest.mark.skipif("TRUERISK_DATA" not in os.environ, reason="TRUERISK_DATA names no folder")
def test_reuters_has_the_documents_it_is_known_for():
    corpus = read_corpus(
        Path(os.environ["TRUERISK_DATA"]) / "text" / "reuters21578_modapte.jsonl.gz"
    )
    assert len(corpus) == 12902
    train, test = corpus.part("train"), corpus.part("test")
    assert (len(train), len(test)) == (9603, 3299)
    for category, in_train, in_test in (("earn", 2877, 1087), ("corn", 181, 56)):
        members = corpus.members(category)
        assert (members[train].sum(), members[test].sum()) == (in_train, in_test)
    both = [set(corpus.labels[place]) for place in train], [corpus.labels[place] for place in test]
    in_both = set().union(*both[0]) & set().union(*both[1])
    assert len(in_both) == 90
    assert json.loads(json.dumps(corpus.labels[0])) == ["cocoa"]


def test_a_parquet_file_is_read_as_json_lines_are(tmp_path):
    columns = {"id": [7, 8], "text": ["wheat up", "gold"], "labels": [["grain", "wheat"], []]}
    path = tmp_path / "corpus.parquet"
    pq.write_table(pa.table(columns), path)
    corpus = read_corpus(path)
    assert (corpus.ids, corpus.texts) == (("7", "8"), ("wheat up", "gold"))
    assert corpus.labels == (("grain", "wheat"), ())
    assert corpus.source.format == "parquet"
