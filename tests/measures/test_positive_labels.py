import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.measures.positive_labels import is_positive


@pytest.mark.parametrize(
    ("labels", "pos_label", "expected"),
    [
        ([0, 1], None, [False, True]),
        ([-1, 1], None, [False, True]),
        ([1, 1], None, [True, True]),
        ([0.0, 1.0], None, [False, True]),
        ([-0.0, 1.0], None, [False, True]),
        ([0, 0], None, [False, False]),
        (["0", "1"], None, [False, True]),
        (["true", "false"], None, [True, False]),
        ([True, False], None, [True, False]),
        (["a", "b"], "a", [True, False]),
        ([3, 5], 3, [True, False]),
        ([0, 1], 0, [True, False]),
    ],
)
def test_the_positive_label_is_found(labels, pos_label, expected):
    assert is_positive(np.array(labels), pos_label).tolist() == expected


@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        (["a", "b"], None, r"got \['a', 'b'\]. Name it with `pos_label=`"),
        ([1, 2], None, "Name it with `pos_label=`"),
        ([0.0, 1.5], None, "Name it with `pos_label=`"),
        ([1.0, np.nan], None, "Name it with `pos_label=`"),
        ([-1, 0, 1], None, "Name it with `pos_label=`"),
        (
            ["a", "b"],
            "c",
            r"`pos_label` must be a label that occurs, such as \['a', 'b'\]; got 'c'",
        ),
        ([[0, 1]], None, "`y_true` must be one column of labels"),
    ],
)
def test_a_positive_label_is_never_guessed(labels, pos_label, message):
    with pytest.raises(InputError, match=message):
        is_positive(np.array(labels), pos_label)
