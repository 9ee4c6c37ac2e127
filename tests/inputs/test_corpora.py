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
from truerisk.inputs import corpora
from truerisk.inputs.corpora import Corpus, Documents, read_corpus, split_labels
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
@pytest.mark.parametrize("remaining", [0.3, 0.9])
def test_a_truncated_gzip_file_is_refused(write, content, name, remaining):
    rng = np.random.default_rng(0)
    noise = "".join(map(chr, rng.integers(97, 123, 300_000)))
    data = gzip.compress(content.replace("Wheat up", noise).encode())
    with refused("must be complete; the gzip data end early"):
        read_corpus(write(data[: int(remaining * len(data))], name))


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
        result = before(*arguments, **named)
        path.write_text(JSON + "{broken", encoding="utf-8")
        return result

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


def refuse(sentence):
    return InputError(f"here: {sentence}")


def test_a_label_that_is_there_twice_counts_once():
    result = Documents(ReadingOptions())
    result.add("text", ["b", "a", "b"], refuse=refuse)
    assert (result.labels, result.ids) == ([("b", "a")], ["1"])


def test_white_space_around_labels_is_kept_unless_told_otherwise():
    remaining, stripped = Documents(ReadingOptions()), Documents(ReadingOptions(strip=True))
    for result in (remaining, stripped):
        result.add("text", [" a"], refuse=refuse)
    assert (remaining.labels, stripped.labels) == ([(" a",)], [("a",)])


def test_numbers_of_documents_count_those_left_out():
    result = Documents(ReadingOptions(missing="drop"))
    for text, labels in (("a", ["x"]), (None, ["x"]), ("b", None), ("c", [])):
        result.add(text, labels, refuse=refuse)
    assert (result.ids, result.texts, result.dropped) == (["1", "4"], ["a", "c"], 2)


@pytest.mark.parametrize(
    ("text", "labels", "more", "message"),
    [
        (None, ["x"], {}, "here: 'text' must have a value for every document; got none."),
        ("a", None, {}, "here: 'labels' must have a value for every document; got none."),
        ("a", ["x", ""], {}, "here: 'labels' must hold no empty label; got ['x', '']."),
        ("a", ["x"], {"id": "first"}, "here: the id must name one document; got 'first' for a"),
        ("a", ["x"], {"id": ""}, "here: the id must not be empty."),
        ("a\ud800", ["x"], {}, "here: must be text; got '\\ud800', half of a character."),
        ("a", ["\ud800"], {}, "half of a character."),
        ("a", ["x"], {"split": "\ud800"}, "half of a character."),
    ],
)
def test_a_document_that_cannot_be_is_refused(text, labels, more, message):
    result = Documents(ReadingOptions())
    result.add("one", ["x"], refuse=refuse, id="first")
    with refused(message):
        result.add(text, labels, refuse=refuse, **more)


def test_a_cell_is_cut_at_the_separator():
    assert split_labels("a;b", ";") == ["a", "b"]
    assert split_labels("a;", ";") == ["a", ""]
    assert split_labels("", None) == []


def test_labels_are_a_list_or_a_string_and_numbers_keep_their_spelling(write):
    lines = (
        '{"text": "a", "labels": ["x", 1.0]}\n{"text": "b", "labels": "y"}\n'
        '{"text": "c", "labels": 01}\n'.replace("01", "7")
        + '{"text": "d", "labels": true}\n{"text": "e", "labels": ""}\n'
    )
    corpus = read_corpus(write(lines, "c.jsonl"))
    assert corpus.labels == (("x", "1.0"), ("y",), ("7",), ("True",), ())
    assert all(type(label) is str for labels in corpus.labels for label in labels)


def test_a_string_of_several_labels_is_cut_at_the_separator(write):
    path = write('{"text": "a", "labels": "x;y"}\n', "c.jsonl")
    corpus = read_corpus(path, options=ReadingOptions(multilabel_separator=";"))
    assert corpus.labels == (("x", "y"),)


def test_keys_can_be_named_and_ids_may_be_numbers(write):
    lines = '{"n": 9007199254740993, "words": "a", "topic": "x", "text": 3}\n'
    corpus = read_corpus(write(lines, "c.jsonl"), text="words", labels="topic", id="n")
    assert (corpus.ids, corpus.texts) == (("9007199254740993",), ("a",))


def test_escapes_and_other_scripts_are_read(write):
    lines = '{"text": "caf\\u00e9 \\ud83d\\ude00 日本", "labels": "x"}\r\n'
    assert read_corpus(write(lines, "c.jsonl")).texts == ("café 😀 日本",)


def test_a_corpus_over_several_blocks_keeps_its_lines(write):
    lines = "".join(f'{{"text": "t{i}", "labels": "x"}}\n' for i in range(50))
    path = write(lines, "c.jsonl")
    corpus = read_corpus(path, options=ReadingOptions(block_bytes=100))
    assert corpus.texts == tuple(f"t{i}" for i in range(50))
    with refused("line 51: must be one JSON object"):
        read_corpus(write(lines + "{", "c.jsonl"), options=ReadingOptions(block_bytes=100))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a", "labels": ', "line 2: must be one JSON object; got"),
        ('["a"]', "line 2: must be one JSON object; got"),
        ('{"text": "a", "labels": "x"} {}', "line 2: must be one JSON object; got"),
        ("", "line 2: must be one JSON object; got"),
        ('{"text": "a", "text": "b", "labels": "x"}', "the key 'text' appears twice"),
        ("[" * 100_000, "line 2: must not be nested so deeply."),
        ('{"text": 3, "labels": "x"}', "line 2: 'text' must be a string; got '3'."),
        ('{"text": ["a"], "labels": "x"}', "line 2: 'text' must be a string; got ['a']."),
        ('{"text": null, "labels": "x"}', "line 2: 'text' must have a value for every document"),
        ('{"labels": "x"}', "line 2: 'text' must have a value for every document"),
        ('{"text": "a"}', "line 2: 'labels' must have a value for every document"),
        ('{"text": "a", "labels": {"x": 1}}', "line 2: 'labels' must be a label or a list"),
        ('{"text": "a", "labels": [["x"]]}', "line 2: 'labels' must be a label or a list"),
        ('{"text": "a", "labels": [null]}', "line 2: 'labels' must be a label or a list"),
        ('{"text": "a", "labels": [""]}', "line 2: 'labels' must hold no empty label"),
        ('{"text": "\\ud800", "labels": "x"}', "line 2: must be text; got '\\ud800', half of"),
        ('{"text": "a\\u0000", "labels": "x\0"}', "line 2, byte"),
    ],
)
def test_a_line_that_is_no_document_is_refused_with_its_place(write, line, message):
    content = '{"text": "first", "labels": "x"}\n' + line + '\n{"text": "z", "labels": "x"}\n'
    with refused(message):
        read_corpus(write(content, "c.jsonl"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "1", "split": "train", "text": "a", "labels": "x"}', "got '1' for a second one"),
        ('{"id": null, "text": "a", "labels": "x"}', "'id' must be a string or a number; got None"),
        ('{"id": [2], "text": "a", "labels": "x"}', "'id' must be a string or a number; got ["),
        ('{"id": 2, "split": [], "text": "a", "labels": "x"}', "Write null for a document of no"),
    ],
)
def test_ids_and_parts_are_text(write, line, message):
    first = '{"id": 1, "split": "train", "text": "a", "labels": "x"}\n'
    with refused("line 2: ") as caught:
        read_corpus(write(first + line, "c.jsonl"))
    assert message in str(caught.value)


def test_a_key_that_is_not_there_is_refused_with_those_that_are(write):
    with refused("c.jsonl: `text` must be a column of the file; got 'body'. The columns are"):
        read_corpus(write('{"text": "a", "labels": "x"}', "c.jsonl"), text="body")


def test_a_text_may_hold_delimiters_quotes_and_line_ends(write):
    content = 'text;label\n"Wheat; ""corn""\nup";grain\nGold;metal\n'
    corpus = read_corpus(write(content, "c.csv"))
    assert corpus.texts == ('Wheat; "corn"\nup', "Gold")
    assert corpus.labels == (("grain",), ("metal",))


def test_a_cell_is_one_label_unless_a_separator_is_told(write):
    path = write("text,label\na,x|y\nb,\n", "c.csv")
    corpus = read_corpus(path, options=ReadingOptions(multilabel_separator="|"))
    assert corpus.labels == (("x", "y"), ())
    with refused("line 3: 'label' must have a value for every document; got none."):
        read_corpus(path)


def test_labels_are_never_numbers(write):
    corpus = read_corpus(write("id,text,label,split\n07,a,01,\n7,NA,1,test\n", "c.csv"))
    assert corpus.ids == ("07", "7")
    assert corpus.texts == ("a", "NA")
    assert corpus.labels == (("01",), ("1",))
    assert corpus.split == (None, "test")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,label\n,x\n", "line 2: 'text' must have a value for every document; got none."),
        ("text,label\na,x\nb\n", "line 3: must have 2 cells, as the header has; got 1"),
        ('text,label\n"a,x\n', "must close every quote"),
        ("id,text,label\n1,a,x\n1,b,y\n", "line 3: the id must name one document; got '1'"),
        ("id,text,label\n,a,x\n", "line 2: the id must not be empty."),
        ("words,label\na,x\n", "c.csv: `text` must be the column with the texts"),
        ("text,label\na,x\0\n", "must be text; got a NUL byte."),
    ],
)
def test_a_row_that_is_no_document_is_refused_with_its_place(write, content, message):
    with refused(message):
        read_corpus(write(content, "c.csv"))


def test_an_empty_label_beside_a_separator_is_refused(write):
    with refused("line 2: 'label' must hold no empty label; got ['x', '']."):
        read_corpus(
            write("text,label\na,x|\n", "c.csv"), options=ReadingOptions(multilabel_separator="|")
        )


@pytest.fixture
def folder(tmp_path):
    """Write files below a folder and give the folder."""

    def make(**files):
        for name, content in files.items():
            path = tmp_path / "corpus" / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / "corpus"

    return make


def test_a_folder_is_a_category_and_a_file_a_document(folder):
    corpus = read_corpus(folder(grain__b="Wheat", grain__a="Corn\n", gold__a="Gold é"))
    assert corpus.ids == ("gold/a", "grain/a", "grain/b")
    assert corpus.texts == ("Gold é", "Corn\n", "Wheat")
    assert corpus.labels == (("gold",), ("grain",), ("grain",))
    assert corpus.split is None
    assert (corpus.source.format, corpus.source.files) == ("folders", 3)
    assert corpus.source.bytes == len("Gold é".encode()) + len("Corn\nWheat")


def test_folders_below_a_category_belong_to_it(folder):
    corpus = read_corpus(folder(course__cornell__x="a", course__texas__x="b", staff__x="c"))
    assert corpus.ids == ("course/cornell/x", "course/texas/x", "staff/x")
    assert corpus.labels == (("course",), ("course",), ("staff",))


def test_hidden_files_are_left_out_and_files_in_no_category_told_of(folder):
    where = folder(grain__a="Wheat", README="read me")
    (where / ".DS_Store").write_text("x")
    (where / "grain" / ".hidden").write_text("x")
    corpus = read_corpus(where)
    assert corpus.ids == ("grain/a",)
    assert corpus.notes == (f"{where}: 1 files in no category left out.",)


def test_compressed_documents_are_expanded(folder):
    assert read_corpus(folder(grain__a=gzip.compress(b"Wheat"))).texts == ("Wheat",)


def test_the_hash_is_of_names_and_contents(folder):
    first = read_corpus(folder(grain__a="Wheat")).source.sha256
    assert read_corpus(folder(grain__a="Corn")).source.sha256 != first
    assert read_corpus(folder(grain__a="Wheat")).source.sha256 == first
    assert read_corpus(folder(grain__b="Wheat")).source.sha256 != first


def test_other_encodings_are_read_when_they_are_told(folder):
    where = folder(grain__a="café".encode("latin-1"))
    with refused("a, byte 3: must be UTF-8; got b'\\xe9'. Use --encoding"):
        read_corpus(where)
    assert read_corpus(where, options=ReadingOptions(encoding="latin-1")).texts == ("café",)


def test_what_is_no_text_is_refused(folder):
    with refused("a, byte 1: must be text; got a NUL byte."):
        read_corpus(folder(grain__a="x\0"))
    with refused("must be complete; the gzip data end early. Copy the file again."):
        read_corpus(folder(grain__a=gzip.compress(b"Wheat" * 100)[:-12]))


def test_a_folder_of_no_folders_is_refused(folder, tmp_path):
    with refused("must hold a folder for each category, with a file for each document; got 1"):
        read_corpus(folder(a="Wheat"))
    (tmp_path / "empty" / "grain").mkdir(parents=True)
    with refused("must hold documents; got 0 of them."):
        read_corpus(tmp_path / "empty")


def test_a_link_that_leads_back_is_refused(folder):
    where = folder(grain__a="Wheat")
    (where / "grain" / "loop").symlink_to(where, target_is_directory=True)
    with refused("must not be a link to a folder, which may never end."):
        read_corpus(where)
