import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.svm.dual_of import signs_of, smallest_proven_rho
from truerisk.svm.solution import Solution


def with_bounds(upper):
    n = len(upper)
    zeros = np.zeros(n)
    return Solution(
        y=np.ones(n), upper=upper, alpha=zeros, bias=0.0, decision=zeros, gap=0.0, passes=0
    )


def test_one_bound_for_all_is_proven_at_two():
    assert smallest_proven_rho(with_bounds(np.array([1.0, 1.0, 0.0]))) == 2.0


def test_several_bounds_are_not_proven():
    assert smallest_proven_rho(with_bounds(np.array([1.0, 2.0]))) is None


def test_the_second_class_is_positive():
    assert signs_of(["a", "b", "a"], np.array(["a", "b"])).tolist() == [-1.0, 1.0, -1.0]


def test_a_label_that_was_not_trained_is_refused():
    with pytest.raises(InputError, match=r"`y` must hold the labels of the training.*got .*'c'"):
        signs_of(["a", "c"], np.array(["a", "b"]))


def test_a_table_of_labels_is_refused():
    with pytest.raises(InputError, match="one column of labels"):
        signs_of([[1, 0]], np.array([0, 1]))
