"""Rows, labels and groups as users hand them over."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples

X = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("y", "labels", "pos_label"),
    [
        pytest.param([0, 1, 1, 0], ("0", "1"), "1", id="whole numbers"),
        pytest.param([-1, 1, 1, -1], ("-1", "1"), "1", id="signs"),
        pytest.param([0.0, 1.0, 1.0, 0.0], ("0", "1"), "1", id="floats"),
        pytest.param([False, True, True, False], ("False", "True"), "True", id="booleans"),
        pytest.param(np.array([[0], [1], [1], [0]]), ("0", "1"), "1", id="one column"),
        pytest.param(pd.Series([0, 1, 1, 0], index=list("dbca")), ("0", "1"), "1", id="a series"),
    ],
)
def test_labels_are_codes_in_order_and_the_positive_one_is_plain(y, labels, pos_label):
    examples = Examples.of(X, y)
    assert examples.codes.tolist() == [0, 1, 1, 0]
    assert (examples.labels, examples.pos_label) == (labels, pos_label)
    values = examples.values  # noqa: PD011  (no data frame)
    assert np.array_equal(values[examples.codes], examples.y)


@pytest.mark.parametrize("kind", ["list", "array", "objects", "categorical"])
def test_texts_need_to_be_told_which_is_positive(kind):
    y = ["spam", "ham", "ham", "spam"]
    given = {
        "list": y,
        "array": np.array(y),
        "objects": np.array(y, dtype=object),
        "categorical": pd.Categorical(y),
    }[kind]
    examples = Examples.of(X, given, pos_label="ham")
    assert (examples.labels, examples.pos_label) == (("ham", "spam"), "ham")
    assert examples.y.tolist() == y
    with pytest.raises(InputError, match="`pos_label` must be given"):
        Examples.of(X, given)
    with pytest.raises(InputError, match="`pos_label` must be one of ham, spam; got egg"):
        Examples.of(X, given, pos_label="egg")


@pytest.mark.parametrize("pos_label", [1.0, np.float32(1), 1, "1"], ids=repr)
@pytest.mark.parametrize("kind", [float, int])
def test_the_positive_number_may_be_written_with_a_point(kind, pos_label):
    assert Examples.of(X, np.array([0, 1, 1, 0], dtype=kind), pos_label=pos_label).pos_label == "1"


def test_a_text_is_no_number_however_it_is_written():
    assert Examples.of(X, ["0.0", "1.0", "1.0", "0.0"], pos_label=1.0).pos_label == "1.0"
    for wrong in (0.5, np.nan, np.inf):
        with pytest.raises(InputError, match=f"`pos_label` must be one of 0, 1; got {wrong}"):
            Examples.of(X, [0, 1, 1, 0], pos_label=wrong)


def test_of_three_classes_none_is_positive():
    examples = Examples.of(X, ["b", "c", "a", "a"])
    assert (examples.pos_label, examples.labels) == (None, ("a", "b", "c"))
    assert examples.codes.tolist() == [1, 2, 0, 0]


def test_whole_numbers_are_in_the_order_of_their_values():
    assert Examples.of(X, [10, 9, 2, 10]).labels == ("2", "9", "10")


def test_a_code_leads_back_to_its_label():
    examples = Examples.of(X, ["c", "c", "a", "b"])
    values = examples.values  # noqa: PD011  (no data frame)
    assert values[examples.codes].tolist() == ["c", "c", "a", "b"]


def test_rows_stay_what_they_are():
    frame = pd.DataFrame(X)
    assert Examples.of(frame, [0, 1, 1, 0]).X is frame
    columns = pl.DataFrame(X, schema=["a", "b"])
    assert Examples.of(columns, [0, 1, 1, 0]).X is columns
    assert Examples.of(["a", "b", "c", "d"], [0, 1, 1, 0]).X == ["a", "b", "c", "d"]
    rows = Examples.of(sparse.coo_array(X), [0, 1, 1, 0]).X
    assert rows.format == "csr"
    assert rows.shape == (4, 2)
    assert Examples.of(X.tolist(), [0, 1, 1, 0]).X.shape == (4, 2)


def test_groups_are_numbers_from_zero():
    examples = Examples.of(X, [0, 1, 1, 0], groups=["z", "a", "z", "m"])
    assert examples.groups.tolist() == [2, 0, 2, 1]


def test_days_are_groups():
    days = np.array(["2001-02-05", "2001-02-03", "2001-02-05", "2001-02-04"], dtype="M8[D]")
    assert Examples.of(X, [0, 1, 1, 0], groups=days).groups.tolist() == [2, 0, 2, 1]


def test_a_table_of_one_column_is_a_column_of_groups():
    groups = np.array([[7], [3], [7], [5]])
    assert Examples.of(X, [0, 1, 1, 0], groups=groups).groups.tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize(
    ("rows", "y", "options", "message"),
    [
        pytest.param(X, [0, 1, 1], {}, "`y` must have a label for each of 4 rows; got 3", id="few"),
        pytest.param(X[:1], [1], {}, "`X` must have at least two rows", id="one row"),
        pytest.param(X, [[0, 1]] * 4, {}, "`y` must be one label for each example", id="sets"),
        pytest.param(X, [1] * 4, {}, "two classes or more; all 4 are '1'", id="one class"),
        pytest.param(X, [0, 1, np.nan, np.nan], {}, "must have a label everywhere; 2 ", id="NaN"),
        pytest.param(X, ["a", None, "b", "a"], {}, "must have a label everywhere; 1 ", id="None"),
        pytest.param(
            X, ["a", np.nan, "b", "a"], {}, "`y` must have a label everywhere; 1 ", id="NaN, texts"
        ),
        pytest.param(
            X,
            pd.Series(["a", "b", "a", pd.NA], dtype="string"),
            {},
            "`y` must have a label everywhere; 1 is missing",
            id="NA",
        ),
        pytest.param(
            X, ["1", 1, 2, 2], {}, "`y` must hold labels of one type; got int, str", id="1 and '1'"
        ),
        pytest.param(
            X,
            ["a", "", "a", ""],
            {"pos_label": "a"},
            "`y` must have a label everywhere; 2 are empty, the first at index 1. Drop these",
            id="empty",
        ),
        pytest.param(
            X, [0, 0.5, 1, 1], {}, "`y` must hold labels; got 0.5. Numbers with", id="a fraction"
        ),
        pytest.param(X, ["a", "a\0", "b", "b"], {}, "`y` must hold labels without NUL", id="NUL"),
        pytest.param(
            X,
            [["a"], ["a", "b"], [], ["b"]],
            {},
            "`y` must be one label for each example; got .* Sets of labels are judged one at a",
            id="sets of several sizes",
        ),
        pytest.param(
            [[1], [1, 2]],
            [0, 1],
            {},
            r"`X` must have rows of one length; got \[\[1\],",
            id="ragged",
        ),
        pytest.param(3.0, [0, 1], {}, "`X` must have one row for each example", id="a number"),
        pytest.param(
            X, [0, 1, 1, 0], {"groups": [1, 2]}, "`groups` must say it for each of 4", id="groups"
        ),
        pytest.param(
            X,
            [0, 1, 1, 0],
            {"groups": [1, np.nan, 2, np.nan]},
            "`groups` must have a value for every example; 2 are missing",
            id="two NaN in groups",
        ),
        pytest.param(
            X,
            [0, 1, 1, 0],
            {"groups": np.array(["a", None, "b", None], dtype=object)},
            "`groups` must have a value for every example; 2 are missing",
            id="two None in groups",
        ),
        pytest.param(
            X,
            [0, 1, 1, 0],
            {"groups": ["a", np.nan, "b", np.nan]},
            "`groups` must have a value for every example; 2 are missing",
            id="two NaN among the texts of groups",
        ),
        pytest.param(
            X,
            [0, 1, 1, 0],
            {"groups": pd.Series(["a", pd.NA, "b", "b"], dtype="string")},
            "`groups` must have a value for every example; 1 is missing",
            id="NA in groups",
        ),
        pytest.param(
            X,
            [0, 1, 1, 0],
            {"groups": np.array(["2001-02-03", "NaT", "2001-02-03", "NaT"], dtype="M8[ns]")},
            "`groups` must have a value for every example; 2 are missing",
            id="two missing dates in groups",
        ),
        pytest.param(
            X,
            [0, 1, 1, 0],
            {"groups": ["1", 1, 2, 2]},
            "`groups` must hold values of one type; got int, str",
            id="1 and '1' in groups",
        ),
        pytest.param(
            X,
            [0, 1, 1, 0],
            {"groups": [[1, 2]] * 4},
            r"`groups` must be one group for each example; got shape \(4, 2\)",
            id="two columns of groups",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(rows, y, options, message):
    with pytest.raises(InputError, match=message) as refused:
        Examples.of(rows, y, **options)
    assert "y_" not in str(refused.value)  # `y_true` and `y_score` are other functions' arguments
