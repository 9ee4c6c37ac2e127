import numpy as np
import pandas as pd
import polars as pl
import pytest

from truerisk.errors import InputError
from truerisk.evaluation.slicing import MIN_ROWS, columns_of, sliced


def cut(column, **options):
    rows = np.ones(len(column), bool)
    return next(sliced({"x": np.asarray(column)}, counts=rows, **options))


def test_every_kind_of_column_is_taken():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    for by in (frame, pl.from_pandas(frame), {"a": [1, 2], "b": ["x", "y"]}):
        assert list(columns_of(by, 2)) == ["a", "b"]
    assert list(columns_of(pd.Series([1, 2], name="age"), 2)) == ["age"]
    assert list(columns_of(["x", "y"], 2)) == ["by"]
    assert list(columns_of(np.zeros((2, 2)), 2)) == ["by1", "by2"]


def test_a_column_of_another_length_is_refused():
    with pytest.raises(InputError, match="one value per example; 'a' has the shape"):
        columns_of({"a": [1, 2, 3]}, 2)
    with pytest.raises(InputError, match="a column at least"):
        columns_of({}, 2)


def test_numbers_are_cut_at_values_that_occur():
    # 1 to 100: quartiles 25, 50, 75, and each part has 25 rows.
    part = cut(np.arange(1, 101))
    assert part.names == ("x ≤ 25", "25 < x ≤ 50", "50 < x ≤ 75", "x > 75")
    assert np.bincount(part.codes).tolist() == [25] * 4
    assert part.notes[0] == "x is cut at its quartiles: 25, 50, 75."


def test_texts_of_numbers_are_numbers_and_few_of_them_categories():
    assert cut([str(n) for n in range(1, 101)]).names == cut(np.arange(1, 101)).names
    assert cut(["2", "10"] * 30).names == ("x=2", "x=10")
    assert cut([True, False] * 30).names == ("x=False", "x=True")
    dates = np.array("2024-01-01", "M8[D]") + np.arange(100)
    assert cut(dates).names[0] == "x ≤ 2024-01-25"


def test_tied_numbers_make_fewer_parts():
    part = cut([0.0] * 120 + [float(n) for n in range(1, 81)])
    assert part.names == ("x ≤ 0", "0 < x ≤ 30", "x > 30")
    assert max(np.bincount(part.codes)) == 120


def test_missing_values_are_a_slice():
    part = cut(["a"] * 30 + [None] * 30)
    assert part.names == ("x=a", "x is missing")
    assert cut([1.0 * n for n in range(100)] + [np.nan] * 25).names[-1] == "x is missing"
    assert cut(["a"] * 30 + [""] * 30).names == ("x=a", "x is missing")
    without = [None, pd.NA, pd.NaT, float("nan"), ""]
    gaps = np.array(["a"] * 30 + without * 6, dtype=object)
    assert cut(gaps).names == ("x=a", "x is missing")


def test_small_slices_are_pooled_and_said():
    part = cut(["a"] * 50 + ["b"] * 15 + ["c"] * 10)
    assert part.names == ("x=a", "x: 2 others")
    assert np.bincount(part.codes).tolist() == [50, 25]
    assert "2 slices with fewer than 20 rows each are pooled" in part.notes[0]


def test_a_pool_that_is_small_itself_is_left_out():
    part = cut(["a"] * 50 + ["b"] * 40 + ["c"] * 5)
    assert part.names == ("x=a", "x=b")
    assert (part.codes == -1).sum() == 5
    assert "(x=c) with fewer than 20 rows is left out (5 rows)" in part.notes[0]


def test_a_slice_of_few_groups_is_small():
    group = np.repeat(np.arange(40), 5)
    column = np.where(group < 3, "few", np.where(group < 20, "b", "c"))
    assert cut(column, group=group).names == ("x=b", "x=c")


def test_a_column_without_slices_is_refused():
    with pytest.raises(InputError, match="two slices at least; 'x' leaves 1 of 100"):
        cut([f"id{n}" for n in range(MIN_ROWS - 1)] + [f"k{n}" for n in range(81)][:81])
    with pytest.raises(InputError, match="two slices"):
        cut(["a"] * 100)


def test_pairs_of_columns():
    columns = {"a": np.array(["x", "y"] * 50), "b": np.repeat(["u", "v"], 50)}
    parts = list(sliced(columns, counts=np.ones(100, bool), pairs=True))
    assert parts[2].columns == ("a", "b")
    assert parts[2].names == ("a=x, b=u", "a=x, b=v", "a=y, b=u", "a=y, b=v")
    with pytest.raises(InputError, match="two columns"):
        list(sliced({"a": columns["a"]}, counts=np.ones(100, bool), pairs=True))
