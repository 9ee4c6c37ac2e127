import numpy as np
import pandas as pd
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.inputs.predictions import Predictions


def against_the_rest(labels, pos_label=None, scores=None):
    scores = np.arange(float(len(labels))) if scores is None else scores
    return Predictions.from_arrays(labels, y_score=scores).against_the_rest(pos_label)


@pytest.mark.parametrize(
    ("labels", "pos_label", "expected"),
    [
        ([0, 1], None, [False, True]),
        ([-1, 1], None, [False, True]),
        ([1, 1], None, [True, True]),
        ([0.0, 1.0], None, [False, True]),
        ([-0.0, 1.0], None, [False, True]),
        ([0.0, 1.0], 0.0, [True, False]),
        ([0.0, 1.0], np.float32(1), [False, True]),
        ([0, 0], None, [False, False]),
        ([0, 0], 1, [False, False]),
        (["0", "1"], None, [False, True]),
        (["true", "false"], None, [True, False]),
        ([True, False], None, [True, False]),
        ([True, False], False, [False, True]),
        (["a", "b"], "a", [True, False]),
        (["a", "b", "c"], "b", [False, True, False]),
        ([3, 5], 3, [True, False]),
        ([0, 1], 0, [True, False]),
    ],
)
def test_the_positive_label_is_set_against_the_rest(labels, pos_label, expected):
    _, is_positive, _ = against_the_rest(np.array(labels), pos_label)
    assert is_positive.tolist() == expected


@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        (["a", "b"], None, "`pos_label` must be given: the labels are 'a', 'b'"),
        ([1, 2], None, "`pos_label` must be given"),
        ([-1, 0, 1], None, "`pos_label` must be given"),
        ([0.0, 1.5], None, "`y_true` must hold labels; got 1.5"),
        ([1.0, np.nan], None, "`y_true` must have a label everywhere; 1 is NaN"),
        ([1.0, np.nan], 1, "`y_true` must have a label everywhere; 1 is NaN"),
        (["a", "b"], "c", "`pos_label` must be one of the labels 'a', 'b'; got 'c'"),
        ([[0, 1]], None, "`y_true` must be one column of labels"),
    ],
)
def test_a_positive_label_is_never_guessed(labels, pos_label, message):
    with pytest.raises(InputError, match=message):
        against_the_rest(np.array(labels), pos_label)


@pytest.mark.parametrize(("pos_label", "column"), [("a", 0), ("b", 1), ("c", 2)])
def test_of_several_score_columns_that_of_the_positive_label_is_taken(pos_label, column):
    table = np.arange(9.0).reshape(3, 3)
    scores, is_positive, positive = against_the_rest(["c", "a", "b"], pos_label, table)
    assert scores.tolist() == table[:, column].tolist()
    assert is_positive.tolist() == [one == pos_label for one in "cab"]
    assert positive == pos_label


def test_two_columns_of_plain_labels_need_no_positive_label():
    scores, _, positive = against_the_rest([0, 1], None, np.array([[0.1, 0.9], [0.4, 0.6]]))
    assert (scores.tolist(), positive) == ([0.9, 0.6], "1")


def test_a_label_without_a_score_column_is_refused():
    coded = Predictions.from_arrays(["a", "b", "c"], y_score=np.zeros((3, 2)), labels=["a", "b"])
    with pytest.raises(InputError, match="'c' has none, the columns are of 'a', 'b'"):
        coded.against_the_rest("a")
    with pytest.raises(InputError, match="'c' has none"):
        coded.against_the_rest("c")


def test_labels_that_are_the_numbers_of_the_score_columns_are_told_how():
    frame = pd.DataFrame({"label": [0.0, 1.0], "proba_0": [0.9, 0.2], "proba_1": [0.1, 0.8]})
    words = frame.astype({"label": str})
    with pytest.raises(InputError, match=r"'0\.0' has none, .* Use --numeric-labels"):
        tr.evaluate_frame(words)
    options = tr.ReadingOptions(numeric_labels=True)
    assert tr.evaluate_frame(words, options=options)["recall"].value == 1.0
