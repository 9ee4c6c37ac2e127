"""Reuters-21578's own files: small ones, written as the collection's description says."""

import gzip
import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.corpora import read_corpus
from truerisk.inputs.records.reuters_sgml import is_reuters

HEAD = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n'


def document(number, body, *, topics="", has_topics="YES", split="TRAIN"):
    marks = "".join(f"<D>{topic}</D>" for topic in topics.split())
    return (
        f'<REUTERS TOPICS="{has_topics}" LEWISSPLIT="{split}" CGISPLIT="TRAINING-SET" '
        f'OLDID="{number + 5000}" NEWID="{number}">\n<DATE>26-FEB-1987 15:01:01.79</DATE>\n'
        f"<TOPICS>{marks}</TOPICS>\n<PLACES><D>usa</D></PLACES>\n<PEOPLE></PEOPLE>\n"
        f"<ORGS></ORGS>\n<EXCHANGES></EXCHANGES>\n<COMPANIES></COMPANIES>\n"
        f"<UNKNOWN> \n&#5;&#5;&#5;C T\n&#22;&#22;&#1;f0704&#31;reute</UNKNOWN>\n"
        f"{body}\n</REUTERS>\n"
    )


NORMAL = (
    "<TEXT>&#2;\n<TITLE>COCOA &lt;UP&gt; 5 PCT</TITLE>\n"
    "<DATELINE>    SALVADOR, Feb 26 - </DATELINE><BODY>Smith &amp; Co said\nso. &amp;lt;\n"
    " Reuter\n&#3;</BODY></TEXT>"
)
BRIEF = '<TEXT TYPE="BRIEF">&#2;\n<TITLE>ASSETS ROSE</TITLE>\nblah blah blah.\n&#3;\n</TEXT>'
UNPROCESSED = '<TEXT TYPE="UNPROC">&#2;\nRaw table &lt;X>\n 1 2 3\n&#3;\n</TEXT>'


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def test_title_and_body_are_the_text_and_the_dateline_is_not(write):
    corpus = read_corpus(write(HEAD + document(1, NORMAL, topics="cocoa bop"), "reut2-000.sgm"))
    assert corpus.texts == ("COCOA <UP> 5 PCT\nSmith & Co said\nso. &lt;\n Reuter",)
    assert corpus.labels == (("cocoa", "bop"),)
    assert corpus.ids == ("1",)


def test_brief_documents_have_a_title_and_unprocessed_ones_their_whole_text(write):
    content = document(1, BRIEF, topics="x") + document(2, UNPROCESSED)
    corpus = read_corpus(write(HEAD + content, "reut2-000.sgm"))
    assert corpus.texts == ("ASSETS ROSE", "Raw table <X>\n 1 2 3")
    assert corpus.labels == (("x",), ())


@pytest.mark.parametrize(
    ("split", "has_topics", "part"),
    [
        ("TRAIN", "YES", "train"),
        ("TEST", "YES", "test"),
        ("NOT-USED", "YES", "unused"),
        ("TRAIN", "NO", "unused"),
        ("TEST", "BYPASS", "unused"),
    ],
)
def test_the_split_is_that_of_modapte(write, split, has_topics, part):
    content = document(1, BRIEF, topics="x", split=split, has_topics=has_topics)
    assert read_corpus(write(content, "reut2-000.sgm")).split == (part,)


def test_a_folder_of_files_is_one_corpus_in_their_order(tmp_path):
    (tmp_path / "reut2-001.sgm").write_text(HEAD + document(2, BRIEF, topics="y"))
    (tmp_path / "reut2-000.sgm.gz").write_bytes(
        gzip.compress((HEAD + document(1, BRIEF, topics="x")).encode())
    )
    (tmp_path / "lewis.dtd").write_text("<!ELEMENT …>")
    corpus = read_corpus(tmp_path)
    assert corpus.ids == ("1", "2")
    assert (corpus.source.format, corpus.source.files) == ("reuters sgml", 2)


def test_the_few_bytes_that_are_no_utf8_are_read_as_latin_1_and_told_of(write):
    data = (HEAD + document(1, BRIEF.replace("ROSE", "GRÜN"), topics="x")).encode("latin-1")
    path = write(data, "reut2-017.sgm")
    corpus = read_corpus(path)
    assert corpus.texts == ("ASSETS GRÜN",)
    (note,) = corpus.notes  # a long path is shown by its end
    assert note.endswith(f"{path.name}: not UTF-8 throughout; read as Latin-1.")


GOOD = document(1, BRIEF, topics="x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD.replace("</REUTERS>", ""), "line 1: must hold documents that start with <REUTERS"),
        (GOOD + "\nmore", "must hold documents that start with <REUTERS …> and end with </R"),
        (GOOD.replace("</REUTERS>", "") + GOOD, "must end every document with </REUTERS>; this"),
        (GOOD.replace(' NEWID="1"', ""), 'line 1: must have NEWID="…" in its <REUTERS> tag'),
        (GOOD.replace('"TRAIN"', '"DEV"'), "LEWISSPLIT must be TRAIN, TEST, NOT-USED; got 'DEV'."),
        (GOOD.replace("TOPICS>", "TOPIX>"), "must have <TOPICS> … </TOPICS>; got none."),
        (GOOD.replace("<TEXT", "<TXT"), "must have <TEXT> … </TEXT>; got none."),
        (GOOD + GOOD, "the id must name one document; got '1' for a second one."),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(write, content, message):
    with refused(message):
        read_corpus(write(content, "reut2-000.sgm"))


def test_the_line_of_a_fault_is_named(write):
    content = HEAD + GOOD + document(2, BRIEF).replace("<TEXT", "<TXT")
    line = 2 + GOOD.count("\n")
    with refused(f"line {line}: must have <TEXT>"):
        read_corpus(write(content, "reut2-000.sgm"))


def test_a_file_in_a_folder_without_a_document_is_refused(tmp_path):
    (tmp_path / "reut2-000.sgm").write_text(HEAD)
    with refused("reut2-000.sgm: must hold <REUTERS> … </REUTERS>; got none."):
        read_corpus(tmp_path)


def test_a_file_of_the_collection_is_recognised_by_its_start():
    text = '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES" '
    assert is_reuters(text)
    assert not is_reuters("text,labels")
