"""Corpora in folders: categories, files, what is left out."""

import gzip
import re

import pytest

from truerisk.errors import InputError
from truerisk.inputs.corpora.corpora import read_corpus
from truerisk.inputs.options import ReadingOptions


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


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
