import hashlib

import numpy as np
import pytest
from scipy import sparse

from truerisk.execution import fingerprint


def test_it_is_the_sha256_of_type_shape_and_bytes():
    by_hand = hashlib.sha256(b"<i8 (2,) " + bytes([1] + [0] * 7 + [2] + [0] * 7)).hexdigest()
    assert fingerprint(np.array([1, 2], dtype="<i8")) == by_hand


DIFFERENT = {
    "a number": np.array([[1.0, 2.0], [3.0, 5.0]]),
    "a shape": np.array([1.0, 2.0, 3.0, 4.0]),
    "a type": np.array([[1, 2], [3, 4]]),
    "a sign of zero": np.array([[1.0, 2.0], [3.0, 4.0]]) * -1,
    "texts": np.array([["1", "2"], ["3", "4"]]),
    "sparse": sparse.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]])),
    "sparse by columns": sparse.csc_array(np.array([[1.0, 2.0], [3.0, 4.0]])),
    "nothing": np.empty((0, 2)),
    "objects": np.array([["a", None], [1, 2.5]], dtype=object),
}


def test_whatever_differs_makes_another_fingerprint():
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = {fingerprint(one) for one in (array, *DIFFERENT.values())}
    assert len(found) == len(DIFFERENT) + 1


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_same_content_has_the_same_fingerprint(name):
    array = DIFFERENT[name]
    assert fingerprint(array, array) == fingerprint(array.copy(), array.copy())
    assert fingerprint(array) != fingerprint(array, array)


def test_the_layout_does_not_count():
    array = np.arange(6.0).reshape(2, 3)
    assert fingerprint(array) == fingerprint(np.asfortranarray(array))
    assert fingerprint(array[:, ::2]) == fingerprint(array[:, ::2].copy())


def test_a_sparse_matrix_of_lists_counts_as_its_rows():
    matrix = sparse.csr_array(np.eye(3))
    assert fingerprint(matrix.tolil()) == fingerprint(matrix)
