"""Labels as binary problems, and the bounds that weights make."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.utils.class_weight import compute_class_weight

from truerisk.errors import InputError
from truerisk.svm.one_vs_rest import is_plain_target, targets_of, upper_bounds

ONES = np.ones(4)


def test_two_classes_are_one_problem_and_the_second_is_positive():
    targets = targets_of(["yes", "no", "yes", "no"])
    assert targets.classes.tolist() == ["no", "yes"]
    assert targets.signs.tolist() == [[1, -1, 1, -1]]
    assert targets.labels_of(np.array([[0.1, 0.0, -2.0, 3.0]])).tolist() == [
        "yes",
        "no",
        "no",
        "yes",
    ]


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "yes"],
        [True, False],
        [2.0, -1.0, 2.0],
        [-0.0, 3.0, 0.0],
        np.array([250, 3, 250], np.uint8),
        [5, 7, 6, 5],
        ["b", "a", "c"],
    ],
)
def test_classes_are_the_distinct_labels_in_order(labels):
    classes, expected = targets_of(np.array(labels)).classes, np.unique(labels)
    np.testing.assert_array_equal(classes, expected)
    assert classes.dtype == expected.dtype


def test_three_classes_are_three_problems_and_the_largest_wins():
    targets = targets_of([3, 1, 2])
    assert targets.signs.tolist() == [[-1, 1, -1], [-1, -1, 1], [1, -1, -1]]
    assert targets.labels_of(np.array([[-1.0], [-0.5], [-0.7]])).tolist() == [2]


@pytest.mark.parametrize("form", [np.array, csr_matrix])
def test_indicators_are_columns(form):
    targets = targets_of(form([[1, 0], [1, 1], [0, 0]]))
    assert targets.is_multilabel
    assert targets.signs.tolist() == [[1, 1, -1], [-1, 1, -1]]
    assert targets.labels_of(np.array([[0.5, -1, 2], [1, 0, -1]])).tolist() == [
        [1, 1],
        [0, 0],
        [1, 0],
    ]


def test_a_bound_is_the_product_of_three():
    targets = targets_of([0, 1, 1, 0])
    weights = np.array([1.0, 2.0, 0.0, 3.0])
    assert upper_bounds(targets, 0.5, None, weights).tolist() == [[0.5, 1.0, 0.0, 1.5]]
    assert upper_bounds(targets, 0.5, {1: 4.0}, weights).tolist() == [[0.5, 4.0, 0.0, 1.5]]
    assert upper_bounds(targets, 1.0, {0: 4.0}, ONES).tolist() == [[4.0, 1.0, 1.0, 4.0]]


def test_of_several_classes_the_positive_side_is_weighed():
    targets = targets_of([0, 1, 2, 2])
    assert upper_bounds(targets, 1.0, {2: 3.0}, ONES).tolist() == [
        [1, 1, 1, 1],
        [1, 1, 1, 1],
        [1, 1, 3, 3],
    ]


def test_balanced_is_that_of_scikit_learn_and_counts_weights():
    y = np.array([0, 0, 0, 1])
    expected = compute_class_weight("balanced", classes=np.array([0, 1]), y=y)[y]
    assert upper_bounds(targets_of(y), 1.0, "balanced", ONES)[0] == pytest.approx(expected)
    weights = np.array([1.0, 0.0, 0.0, 2.0])
    assert upper_bounds(targets_of(y), 1.0, "balanced", weights)[0] == pytest.approx(
        [1.5, 0, 0, 1.5]
    )


@pytest.mark.parametrize("weight", [{0: -1.0}, {0: float("nan")}, {0: float("inf")}])
def test_a_weight_that_is_none_is_refused(weight):
    with pytest.raises(InputError, match=r"class_weight\[0\]"):
        upper_bounds(targets_of([0, 1, 1, 0]), 1.0, weight, ONES)


@pytest.mark.parametrize(
    ("y", "is_plain"),
    [
        (np.array([-1.0, 1.0]), True),
        (np.array([0, 1]), True),
        (np.array([0.5, 1.0]), False),
        (np.array([np.nan, 1.0]), False),
        (np.array([np.inf, 1.0]), False),
        (np.array([[0.0], [1.0]]), False),
    ],
)
def test_whole_numbers_are_labels_beyond_doubt(y, is_plain):
    assert is_plain_target(y) is is_plain
