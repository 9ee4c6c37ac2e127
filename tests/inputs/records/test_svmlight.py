"""Vectors in SVM-light's format: what is read, what scikit-learn reads, what is refused."""

import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from truerisk.errors import InputError
from truerisk.inputs.corpora import read_corpus
from truerisk.inputs.options import ReadingOptions
from truerisk.inputs.records.svmlight import is_svmlight, read_svmlight
from truerisk.inputs.records.text_blocks import TextFile


def refused(message):
    """Expect a refusal whose text holds `message` literally."""
    return pytest.raises(InputError, match=re.escape(message))


def test_labels_may_be_several_or_none(write):
    corpus = read_corpus(write("b,a 1:1\n 2:2.5e-1\na 1:-3 # c: d 7:7\n", "c.svm"))
    assert corpus.labels == (("b", "a"), (), ("a",))
    assert corpus.matrix.toarray().tolist() == [[1, 0], [0, 0.25], [-3, 0]]
    assert corpus.matrix.indices.dtype == np.int32


def test_a_vector_of_zeros_is_a_row(write):
    assert read_corpus(write("1 2:1\n-1\n-1 # none\n", "c.svm")).matrix.shape == (3, 2)


def test_vectors_without_any_feature_are_refused(write):
    with refused("must hold vectors; no line has a feature."):
        read_corpus(write("# none\n1 # 1:1\n", "c.svm"))


def test_comments_alone_are_no_rows_and_queries_are_told_of(write):
    path = write("# head\n1 qid:3 1:1\n# middle\n-1 qid:4 2:1\n", "c.svm")
    corpus = read_corpus(path)
    assert len(corpus) == 2
    assert corpus.notes == (f"{path}: qid of 2 lines is not used.",)


def test_indices_count_from_0_where_0_occurs(write):
    path = write("1 1:1\n-1 0:2\n", "c.svm")
    corpus = read_corpus(path, options=ReadingOptions(block_bytes=6))
    assert corpus.matrix.toarray().tolist() == [[0, 1], [2, 0]]
    assert corpus.notes == (f"{path}: index 0 occurs, so indices count from 0.",)


rows = st.lists(
    st.dictionaries(st.integers(1, 30), st.floats(-1e300, 1e300), max_size=5),
    min_size=1,
    max_size=8,
)


@given(vectors=rows, block=st.integers(1, 50))
def test_it_reads_what_scikit_learn_reads(tmp_path_factory, vectors, block):
    vectors = [*vectors, {1: 0.5}]  # with none, scikit-learn makes up a feature
    lines = [
        " ".join([str(row % 3), *(f"{index}:{value!r}" for index, value in sorted(vector.items()))])
        for row, vector in enumerate(vectors)
    ]
    data = "".join(f"{line}\n" for line in lines).encode()
    path = tmp_path_factory.mktemp("svm") / "c.svm"
    path.write_bytes(data)
    result = read_svmlight(TextFile(path, None, ReadingOptions(block_bytes=block)))
    matrix, labels = load_svmlight_file(io.BytesIO(data), zero_based=False)
    assert [float(label) for (label,) in result.labels] == labels.tolist()
    assert np.array_equal(result.matrix().toarray(), matrix.toarray())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 3:1 2:1", "line 2: must have indices that rise within a line; got 2 after 3. Sort"),
        ("1 3:1 3:1", "line 2: must have indices that rise within a line; got 3 twice."),
        ("1 3:nan", "line 2: must have features index:value, a whole number and a number; got '3:"),
        ("1 3:inf", "got '3:inf'."),
        ("1 3:1e999", "line 2: must have finite values; got inf."),
        ("1 3:1_0", "got '3:1_0'."),
        ("1 -3:1", "got '-3:1'."),
        ("1 x", "got 'x'."),
        ("1 3: 4", "got '3:'."),
        ("1 3:4:5", "got '3:4:5'."),
        ("1 1:1 qid:2", "got 'qid:2'."),
        ("1 2147483647:1", "must have indices up to 2147483646; got 2147483647."),
        ("1 99999999999999999999:1", "got 100000000000000000000."),
        ("a,,b 1:1", "line 2: must hold no empty label; got 'a,,b'."),
        ("", "line 2: must have a vector in every line; this one is blank."),
        ("1 1:1\0", "must be text; got a NUL byte."),
    ],
)
def test_a_line_that_is_no_vector_is_refused_with_its_place(write, line, message):
    with refused(message):
        read_corpus(write(f"1 1:1\n{line}\n-1 2:1\n", "c.svm"))


@pytest.mark.parametrize(
    ("head", "result"),
    [
        ("1 1:1", True),
        (" 1:1", True),
        ("a,b 1:1 2:x # c", True),
        ("1\n-1 1:1", True),
        ("1\r\n-1 1:1\r\n", True),
        ("text,labels\nnoon,12:30", False),
        ("text,labels\nnoon 12:30,x", False),
        ("1 qid:1 1:1", True),
        ("text,labels", False),
        ("text label: x", False),
        ("12:30 is noon", False),
        ("", False),
    ],
)
def test_vectors_are_told_from_other_texts(head, result):
    assert is_svmlight(head) is result
