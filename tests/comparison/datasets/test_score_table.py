"""Files of scores: which column names the data sets, what folds are, and what is refused."""

import gzip

import numpy as np
import pytest

from truerisk.comparison.datasets.score_table import fold_means, named_scores, read_scores
from truerisk.errors import InputError
from truerisk.inputs.options import ReadingOptions


@pytest.mark.parametrize(
    ("text", "names", "datasets"),
    [
        ("dataset,a,b\n1,0.5,0.6\n2,0.7,0.8\n", ("a", "b"), ("1", "2")),
        ("a,Data Set,b\n0.5,x,0.6\n0.7,y,0.8\n", ("a", "b"), ("x", "y")),
        (",a,b\nx,0.5,0.6\ny,0.7,0.8\n", ("a", "b"), ("x", "y")),
        ("corpus,a,b\nx,0.5,0.6\ny,0.7,0.8\n", ("a", "b"), ("x", "y")),
        ("a,b\n0.5,0.6\n0.7,0.8\n", ("a", "b"), ("line 2", "line 3")),
        ("dataset;a;b\nx;0.5;0.6\ny;0.7;0.8\n", ("a", "b"), ("x", "y")),
    ],
)
def test_the_column_of_names_is_found(write, text, names, datasets):
    found = read_scores(write(text))
    assert (found.names, found.datasets) == (names, datasets)
    assert found.scores[:, :, 0].tolist() == [[0.5, 0.6], [0.7, 0.8]]
    assert found.source["rows"] == 2
    assert len(found.source["sha256"]) == 64


def test_the_column_of_names_may_be_given(write):
    path = write("year,a,b\n2001,0.5,0.6\n2002,0.7,0.8\n")
    assert read_scores(path, dataset="year").datasets == ("2001", "2002")
    with pytest.raises(InputError, match="must have the column 'month'; it has 'year', 'a', 'b'"):
        read_scores(path, dataset="month")


def test_rows_of_one_data_set_are_its_folds(write):
    text = "dataset,a,b\nx,1,2\ny,5,6\nx,3,4\ny,7,8\n"
    found = read_scores(write(text), folds=True)
    assert found.datasets == ("x", "y")
    assert found.scores.tolist() == [[[1, 3], [2, 4]], [[5, 7], [6, 8]]]


def test_gzip_and_decimal_commas(write):
    path = write(gzip.compress(b"dataset;a;b\nx;0,5;0,6\ny;0,7;0,8\n"), "scores.csv.gz")
    found = read_scores(path, options=ReadingOptions(decimal=","))
    assert found.scores[0, :, 0].tolist() == [0.5, 0.6]


@pytest.mark.parametrize(
    ("text", "folds", "message"),
    [
        ("", False, "the file is empty"),
        ("dataset,a,b\n", False, "the file has 0 data rows"),
        ("dataset,a,a\nx,1,2\n", False, "'a' is twice"),
        ("dataset,a,b\nx,1,\n", False, "line 2: 'b' must be a finite number; got ''"),
        ("dataset,a,b\nx,1,2\ny,nan,2\n", False, "line 3: 'a' must be a finite number; got 'nan'"),
        ("dataset,a,b\nx,1\n", False, "line 2: must have 3 cells"),
        ("dataset,a,b\nx,1,2\nx,3,4\n", False, "line 3: a data set must have one row; 'x' has 2"),
        ("dataset,a,b\nx,1,2\nx,3,4\ny,5,6\n", True, "'x' has 2, 'y' 1"),
        ("a,b\n1,2\n3,4\n", True, "`folds` need a column that names the data set"),
        ('{"a": 1, "b": 2}\n', False, "must be a CSV file; it is json lines"),
    ],
)
def test_what_is_no_table_of_scores_is_refused(write, text, folds, message):
    with pytest.raises(InputError, match=message):
        read_scores(write(text, "scores.csv"), folds=folds)


def test_one_score_is_one_fold_and_numbers_stand_for_names():
    folds, names, datasets = named_scores([[0.9, 0.8], [0.7, 0.6], [0.5, 0.4]], None, None)
    assert folds.shape == (3, 2, 1)
    assert names == ("classifier 1", "classifier 2")
    assert datasets[2] == "data set 3"


def test_the_place_of_a_score_that_is_missing_is_told():
    with pytest.raises(InputError, match=r"got inf for tree on wine\. Leave out data sets"):
        named_scores([[1, 2], [3, np.inf]], ["svm", "tree"], ["iris", "wine"])


def test_text_is_refused():
    with pytest.raises(InputError, match="`scores` must be numbers"):
        named_scores([["a", "b"], ["c", "d"]], None, None)


def test_means_do_not_depend_on_the_order_of_folds():
    folds = np.random.default_rng(0).uniform(size=(4, 2, 10))
    assert np.array_equal(fold_means(folds), fold_means(folds[:, :, ::-1]))
    assert fold_means(folds) == pytest.approx(folds.mean(axis=2), rel=1e-14)
