import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.estimation.refits.splits import (
    five_by_two,
    k_fold,
    read_labels,
    split_file,
    split_table,
)

labels = st.lists(st.sampled_from("abc"), min_size=2, max_size=60)
seeds = st.integers(0, 2**32)


def _sizes_differ_by_at_most_one(parts, folds):
    sizes = np.bincount(parts, minlength=folds)
    return sizes.max() - sizes.min() <= 1


@given(y=labels, folds=st.integers(2, 12), seed=seeds, stratified=st.booleans())
def test_folds_part_the_examples_into_sizes_that_differ_by_at_most_one(y, folds, seed, stratified):
    folds = min(folds, len(y))
    parts = k_fold(y, folds, stratified=stratified, allow_small_classes=True, random_state=seed)
    assert parts.shape == (len(y),)
    assert set(parts) == set(range(folds))
    assert _sizes_differ_by_at_most_one(parts, folds)


@given(y=labels, folds=st.integers(2, 12), seed=seeds)
def test_each_class_is_spread_evenly_over_stratified_folds(y, folds, seed):
    folds = min(folds, len(y))
    parts = k_fold(y, folds, allow_small_classes=True, random_state=seed)
    for label in set(y):
        assert _sizes_differ_by_at_most_one(parts[np.array(y) == label], folds)


@given(y=labels, seed=seeds, stratified=st.booleans())
def test_five_times_two_halves_are_halves_of_everything_and_of_each_class(y, seed, stratified):
    halves = five_by_two(y, stratified=stratified, allow_small_classes=True, random_state=seed)
    assert halves.shape == (5, len(y))
    for half in halves:
        assert _sizes_differ_by_at_most_one(half, 2)
        for label in set(y) if stratified else ():
            assert _sizes_differ_by_at_most_one(half[np.array(y) == label], 2)


@given(y=labels, seed=seeds)
def test_a_seed_gives_one_division(y, seed):
    options = {"allow_small_classes": True, "random_state": seed}
    assert np.array_equal(k_fold(y, 2, **options), k_fold(y, 2, **options))
    assert np.array_equal(five_by_two(y, **options), five_by_two(y, **options))


def test_the_five_divisions_differ():
    halves = five_by_two(100, stratified=False, random_state=3)
    assert len({half.tobytes() for half in halves}) == 5


def test_another_seed_gives_another_division():
    y = ["a", "b"] * 50
    assert not np.array_equal(k_fold(y, 10, random_state=1), k_fold(y, 10, random_state=2))


def test_no_seed_gives_a_new_division_each_time():
    assert not np.array_equal(k_fold(200, stratified=False), k_fold(200, stratified=False))


@pytest.mark.parametrize("stratified", [True, False])
def test_every_example_is_as_likely_in_one_part_as_in_another(stratified):
    # Three of one class and four of another in three parts: sizes 3, 2, 2.  Over 3,000 draws the
    # share of each part has a standard deviation of √(1/3 · 2/3 / 3000) = .0086.
    y, rng = ["a"] * 3 + ["b"] * 4, np.random.default_rng(11)
    draws = np.array([k_fold(y, 3, stratified=stratified, random_state=rng) for _ in range(3000)])
    for part in range(3):
        assert np.mean(draws == part, axis=0) == pytest.approx([1 / 3] * 7, abs=0.043)


def test_kubats_example_of_five_folds():
    # 60 positives and 940 negatives in five folds: 200 examples each, of which 12 are positive
    # (Kubat, ch. 11.5).
    y = np.array(["pos"] * 60 + ["neg"] * 940)
    parts = k_fold(y, 5, random_state=5)
    for part in range(5):
        assert np.sum(parts == part) == 200
        assert np.sum(y[parts == part] == "pos") == 12


def test_an_unstratified_division_does_not_look_at_the_classes():
    # With stratification the 10 positives would be 1 a fold in every one of the 20 draws.
    y = np.array([1] * 10 + [0] * 90)
    drawn = [k_fold(y, 10, stratified=False, random_state=seed) for seed in range(20)]
    assert any(np.bincount(parts[y == 1], minlength=10).max() > 1 for parts in drawn)


def test_more_folds_than_examples_are_refused():
    with pytest.raises(InputError, match=r"`folds` must not exceed the 3 examples; got 4\."):
        k_fold(3, 4, stratified=False)


@pytest.mark.parametrize("folds", [0, 1, -2])
def test_fewer_than_two_folds_are_refused(folds):
    with pytest.raises(InputError, match="`folds` must lie in"):
        k_fold(["a", "a"], folds)


def test_a_class_smaller_than_the_number_of_folds_is_refused_with_the_counts():
    y = ["rare"] * 3 + ["common"] * 30
    with pytest.raises(InputError) as refusal:
        k_fold(y, 5)
    assert str(refusal.value) == (
        "`folds` must not exceed the examples of any class; got 5, with 3 of 'rare', 30 of "
        "'common'. Take fewer, or allow it (allow_small_classes=True, --allow-small-classes)."
    )
    parts = k_fold(y, 5, allow_small_classes=True, random_state=1)
    assert np.bincount(parts[:3], minlength=5).max() == 1


def test_a_class_of_one_cannot_be_halved():
    with pytest.raises(InputError, match=r"`halves` must not exceed.*1 of 'b'"):
        five_by_two(["a", "a", "b"])


def test_a_number_of_examples_cannot_be_stratified():
    with pytest.raises(InputError, match=r"Give the labels, or stratified=False\."):
        k_fold(100, 5)


@pytest.mark.parametrize(
    "y",
    [
        ["a", None, "b"],
        ["a", "", "b"],
        ["a", float("nan"), "b"],
        np.array([1, np.nan, 0]),
        ["a", pd.NA, "b"],
        ["a", pd.NaT, "b"],
    ],
    ids=["None", "empty", "NaN among texts", "NaN among numbers", "pandas' NA", "pandas' NaT"],
)
@pytest.mark.parametrize("stratified", [True, False])
def test_a_missing_label_is_refused(y, stratified):
    with pytest.raises(InputError, match="got 1 without, the first at position 1"):
        k_fold(y, 2, stratified=stratified)


def test_an_empty_text_in_an_array_is_missing():
    with pytest.raises(InputError, match="got 1 without"):
        k_fold(np.array(["a", ""]), 2)


def test_labels_of_several_types_are_refused():
    with pytest.raises(InputError, match="`y` must hold labels of one type; got int, str"):
        k_fold([1, "1", 1, "1"], 2)


@pytest.mark.parametrize("y", [[], [["a"], ["b"]], True])
def test_what_is_not_a_column_is_refused(y):
    with pytest.raises(InputError, match="`y` must be one column of labels"):
        k_fold(y, 2)


def test_a_seed_must_be_a_whole_number():
    with pytest.raises(InputError, match="`random_state` must be a whole number"):
        k_fold(["a", "a"], 2, random_state=0.5)


def test_the_table_holds_every_row_once_in_each_repetition():
    table = split_table(["a", "b", "a", "b", "b"], random_state=4)
    assert table["row"] == [1, 2, 3, 4, 5] * 5
    assert table["label"] == ["a", "b", "a", "b", "b"] * 5
    assert table["repetition"] == [1] * 5 + [2] * 5 + [3] * 5 + [4] * 5 + [5] * 5
    assert set(table["part"]) == {1, 2}
    halves = five_by_two(["a", "b", "a", "b", "b"], random_state=4)
    assert table["part"] == (halves.ravel() + 1).tolist()


def test_the_table_of_folds_is_that_of_k_fold():
    y = ["a", "b"] * 6
    table = split_table(y, "k_fold", folds=3, random_state=4)
    assert table["part"] == (k_fold(y, 3, random_state=4) + 1).tolist()
    assert set(table["repetition"]) == {1}


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="`method` must be one of five_by_two, k_fold"):
        split_table(["a", "a"], "2x5")


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "data.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_the_rightmost_column_holds_the_labels_unless_told(written):
    path = written('size,kind,label\n1,"x, y",01\n2,z,1\n')
    assert read_labels(path) == ["01", "1"]
    assert read_labels(path, "kind") == ["x, y", "z"]


def test_a_file_is_split_as_its_labels_are(written):
    path = written("f;label\n" + "1;a\n2;b\n" * 5)
    labels = ["a", "b"] * 5
    table = split_file(path, "label", "k_fold", delimiter=";", folds=5, random_state=2)
    assert table == split_table(labels, "k_fold", folds=5, random_state=2)


def test_other_formats_are_read_too(tmp_path):
    frame = pd.DataFrame({"f": [1, 2], "label": ["01", "b"]})
    frame.to_parquet(tmp_path / "data.parquet")
    frame.to_json(tmp_path / "data.jsonl", orient="records", lines=True)
    for name in ("data.parquet", "data.jsonl"):
        assert read_labels(tmp_path / name) == ["01", "b"]


def test_a_byte_order_mark_is_no_part_of_the_first_name(written):
    assert read_labels(written(b"\xef\xbb\xbflabel\na\n"), "label") == ["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a,label\n", "must have at least one row below its header; got 0"),
        (
            "label,label\na,b\n",
            r"`target` must name one column of \['label', 'label'\]; got 'label'",
        ),
        ("a,b\n1,2\n", r"`target` must name one column of \['a', 'b'\]; got 'label'"),
        ("a,label\n1,x\n2\n", "line 3: must have 2 cells, as the header has; got 1"),
        ("a,label\n1,x,y\n", "line 2: must have 2 cells, as the header has; got 3"),
        ("a,label\n1,\n", "line 2: 'label' must hold a label in every row"),
        ("a,label\n1,x\0\n", "line 2, byte 11: must be text; got a NUL byte"),
        ('a,label\n1,x\n2,"y\n', "line 3: must close every quote"),
        (b"a,label\n1,\xff\n", "line 2, byte 10: must be UTF-8"),
    ],
    ids=[
        *("empty", "header only", "two such columns", "no such column", "short", "long"),
        *("no label", "NUL", "open quote", "not UTF-8"),
    ],
)
def test_a_broken_file_is_refused(written, content, message):
    with pytest.raises(InputError, match=message):
        read_labels(written(content), "label")


def test_an_absent_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_labels(tmp_path / "absent.csv")
