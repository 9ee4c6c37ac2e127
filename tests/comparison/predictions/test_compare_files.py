import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from truerisk.comparison.predictions.compare import compare
from truerisk.comparison.predictions.compare_files import compare_files, join_models, read_models
from truerisk.errors import InputError
from truerisk.inputs import ReadingOptions, Roles


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def join_files(paths, *, roles=None, options=None, progress=None, predictions=(), **how):
    models = read_models(paths, predictions, roles, options, progress)
    return join_models(models, predictions=predictions, **how)


def called(joined, model):
    return [joined.shared.members[code][0] for code in joined.models[model].predicted]


def test_ids_join_rows_that_stand_in_another_order(write):
    a = write("a.csv", "id,y_true,y_pred\nx,1,1\ny,0,1\nz,1,0\n")
    b = write("b.csv", "id,y_true,y_pred\nz,1,1\nx,1,0\ny,0,0\n")
    joined = join_files([a, b])
    assert joined.names == ("a", "b")
    assert (called(joined, 0), called(joined, 1)) == (["1", "1", "0"], ["0", "0", "1"])
    assert joined.source["joined_by"] == "id"


def test_files_without_ids_are_joined_row_by_row(write):
    a = write("a.csv", "y_true,y_pred\n1,1\n0,1\n")
    b = write("b.csv", "id,y_true,y_pred\nx,1,0\ny,0,0\n")
    joined = join_files([a, b])
    assert joined.source["joined_by"] == "row"
    assert called(joined, 1) == ["0", "0"]


def test_formats_may_differ(write, tmp_path):
    a = write("a.csv", "id,y_true,y_pred\n1,cat,cat\n2,dog,cat\n")
    rows = [
        {"id": "2", "y_true": "dog", "y_pred": "dog"},
        {"id": "1", "y_true": "cat", "y_pred": "dog"},
    ]
    b = write("b.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    c = tmp_path / "c.parquet"
    columns = {"id": ["1", "2"], "y_true": ["cat", "dog"], "y_pred": ["cat", "dog"]}
    parquet.write_table(pa.table(columns), c)
    joined = join_files([a, b, c])
    assert [called(joined, at) for at in range(3)] == [
        ["cat", "cat"],
        ["dog", "dog"],
        ["cat", "dog"],
    ]
    assert len(joined.source["files"]) == 3


def test_ids_that_only_one_file_has_are_counted_and_refused(write):
    a = write("a.csv", "id,y_true,y_pred\nx,1,1\ny,0,1\nw,0,0\n")
    b = write("b.csv", "id,y_true,y_pred\nz,1,1\nx,1,0\n")
    with pytest.raises(InputError, match=r"2 ids \('y', …\) are only in .*a.csv, 1 id \('z'\) is"):
        join_files([a, b])
    joined = join_files([a, b], join="inner")
    assert joined.n == 1
    assert joined.source["left_out"] == (2, 1)
    assert any("left out: 2 of a, 1 of b" in note for note in joined.notes)


def test_files_that_share_no_example_are_refused(write):
    a = write("a.csv", "id,y_true,y_pred\nx,1,1\n")
    b = write("b.csv", "id,y_true,y_pred\nz,1,1\n")
    with pytest.raises(InputError, match="no id is in all of them"):
        join_files([a, b], join="inner")


@pytest.mark.parametrize("join", ["id", "inner"])
def test_joining_by_ids_needs_ids(write, join):
    a = write("a.csv", "id,y_true,y_pred\nx,1,1\n")
    b = write("b.csv", "y_true,y_pred\n1,1\n")
    with pytest.raises(InputError, match=r"b\.csv: must have a column of ids"):
        join_files([a, b], join=join)


def test_rows_of_different_number_are_refused(write):
    a = write("a.csv", "y_true,y_pred\n1,1\n0,1\n")
    b = write("b.csv", "y_true,y_pred\n1,1\n")
    with pytest.raises(InputError, match=r"a.csv has 2 rows, .*b.csv has 1"):
        join_files([a, b])


@pytest.mark.parametrize(("join", "place"), [("id", "id 'y'"), ("row", "row 2")])
def test_true_labels_that_disagree_are_refused_with_their_place(write, join, place):
    a = write("a.csv", f"{join},y_true,y_pred\nx,1,1\ny,0,1\n")
    b = write("b.csv", f"{join},y_true,y_pred\nx,1,1\ny,1,1\n")
    with pytest.raises(InputError, match=f"differ for 1 of 2 examples, first at {place}: '0' in"):
        join_files([a, b], join=join)


def test_only_the_first_file_needs_the_truth(write):
    a = write("a.csv", "id,y_true,y_pred\nx,1,1\ny,0,1\n")
    b = write("b.csv", "id,y_pred\ny,0\nx,1\n")
    assert called(join_files([a, b]), 1) == ["1", "0"]
    with pytest.raises(InputError, match="truth"):
        join_files([b, a])


def test_sets_of_labels_agree_in_any_order(write):
    a = write("a.csv", "y_true,y_pred\na|b,a\nc,c\n")
    b = write("b.csv", "y_true,y_pred\nb|a,b\nc,\n")
    joined = join_files([a, b], options=ReadingOptions(multilabel_separator="|"))
    assert joined.shared.multilabel
    assert joined.shared.members[joined.models[1].predicted[1]] == ()


def test_columns_of_one_file_are_models_each_with_its_scores(write):
    path = write("all.csv", "y_true,old,new,s_old,s_new\n1,1,0,0.9,0.1\n0,1,0,0.8,0.2\n")
    plain = join_files([path], predictions=["old", "new"])
    assert plain.names == ("old", "new")
    assert [model.score for model in plain.models] == [None, None]
    assert len(plain.source["files"]) == 1
    scored = join_files([path], predictions=["old", "new"], roles=Roles(score=("s_old", "s_new")))
    assert [model.score.tolist() for model in scored.models] == [[0.9, 0.8], [0.1, 0.2]]


@pytest.mark.parametrize(
    ("predictions", "score"), [(["old"], None), (["old", "new"], "s")], ids=["one", "one score"]
)
def test_columns_of_one_file_must_be_two_and_have_as_many_scores(write, predictions, score):
    path = write("all.csv", "y_true,old,new,s\n1,1,0,0.9\n")
    with pytest.raises(InputError, match="must name"):
        join_files([path], predictions=predictions, roles=Roles(score=score))


def test_one_file_alone_is_refused_with_the_remedy(write):
    path = write("a.csv", "y_true,y_pred\n1,1\n")
    with pytest.raises(InputError, match="--prediction a --prediction b"):
        join_files([path])


def test_a_file_or_a_column_named_twice_is_refused_as_such(write):
    path = write("a.csv", "id,y_true,p,q\nx,1,1,0\ny,0,0,0\n")
    with pytest.raises(
        InputError, match=r"`paths` must be different files; got '.*a\.csv' 2 times"
    ):
        compare_files([path, path], roles=Roles(pred="p"))
    with pytest.raises(InputError, match="`predictions` must be different columns; got 'p' 2 tim"):
        join_files([path], predictions=["p", "p"])
    named = join_files([path, path], roles=Roles(pred="p"), names=("one", "again"))
    assert named.names == ("one", "again")


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    paths = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        paths.append(tmp_path / folder / "p.csv")
        paths[-1].write_text("y_true,y_pred\n1,1\n")
    assert join_files(paths).names == tuple(map(str, paths))
    assert join_files(paths, names=["x", "y"]).names == ("x", "y")


def test_score_columns_are_put_in_one_order_of_the_classes(write):
    a = write("a.csv", "y_true,prob_cat,prob_dog\ncat,0.9,0.1\ndog,0.2,0.8\n")
    b = write("b.csv", "y_true,prob_dog,prob_cat\ncat,0.3,0.7\ndog,0.6,0.4\n")
    joined = join_files([a, b])
    assert joined.shared.classes == ("cat", "dog")
    assert joined.models[1].score.tolist() == [[0.7, 0.3], [0.4, 0.6]]
    c = write("c.csv", "y_true,prob_dog,prob_cow\ncat,0.3,0.7\ndog,0.6,0.4\n")
    with pytest.raises(InputError, match="must score the same classes; 'cat'"):
        join_files([a, c])


def test_groups_and_weights_may_stand_in_one_file_and_must_agree_in_two(write):
    a = write("a.csv", "id,y_true,y_pred,patient,weight\nx,1,1,p,1\ny,0,1,p,2\n")
    b = write("b.csv", "id,y_true,y_pred\nx,1,1\ny,0,1\n")
    joined = join_files([b, a])
    assert joined.shared.group.tolist() == [0, 0]
    assert joined.shared.weight.tolist() == [1, 2]
    c = write("c.csv", "id,y_true,y_pred,patient\nx,1,1,p\ny,0,1,q\n")
    with pytest.raises(InputError, match=r"agree about each example's group.* id 'y': 'p' in"):
        join_files([a, c])


def test_rows_dropped_for_a_missing_value_need_ids_to_be_joined(write):
    a = write("a.csv", "y_true,y_pred\n1,1\n0,\n")
    b = write("b.csv", "y_true,y_pred\n1,1\n0,1\n")
    with pytest.raises(InputError, match="1 rows were dropped"):
        join_files([a, b], options=ReadingOptions(missing="drop"))
    c = write("c.csv", "id,y_true,y_pred\nx,1,1\ny,0,\n")
    d = write("d.csv", "id,y_true,y_pred\nx,1,1\ny,0,1\n")
    kept = join_files([c, d], join="inner", options=ReadingOptions(missing="drop"))
    assert kept.n == 1


def test_progress_is_told_in_rows(write):
    a = write("a.csv", "y_true,y_pred\n" + "1,1\n" * 7)
    told = []
    join_files([a, write("b.csv", "y_true,y_pred\n" + "1,0\n" * 7)], progress=told.append)
    assert told == [7, 7]
    assert np.all(np.diff(told) == 0)


def test_ids_that_are_written_otherwise_are_not_offered_an_empty_join(write):
    a = write("a.csv", "id,y_true,y_pred\n1,1,1\n2,0,1\n")
    b = write("b.csv", "id,y_true,y_pred\n01,1,1\n02,0,0\n")
    with pytest.raises(InputError, match="Write the ids alike"):
        join_files([a, b])


def test_a_file_without_ids_is_trusted_row_by_row_and_that_is_said(write):
    a = write("a.csv", "id,y_true,y_pred\n1,1,1\n2,0,1\n")
    b = write("b.csv", "y_true,y_pred\n1,1\n0,0\n")
    assert join_files([a, b]).notes == (
        "Joined row by row: b without ids; their order was trusted.",
    )
    assert join_files([a, b], join="row").notes == ()


def test_the_columns_of_all_models_are_told(write):
    path = write("all.csv", "y_true,old,new\n1,1,1\n0,1,0\n")
    joined = join_files([path], predictions=["old", "new"])
    assert joined.source["roles"] == {"truth": "y_true", "pred": ("old", "new")}


def test_files_are_compared_as_their_columns_are(tmp_path):
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=50)
    called = [np.where(rng.random(50) < 0.8, truth, 1 - truth) for _ in range(2)]
    scores = [np.round(one + rng.normal(size=50), 6) for one in called]
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path, one, score in zip(paths, called, scores, strict=True):
        rows = zip(truth, one, score, strict=True)
        text = "".join(f"{y},{p},{s}\n" for y, p, s in rows)
        path.write_text("y_true,y_pred,score\n" + text)
    found = compare_files(paths, random_state=4, region=0.1)
    expected = compare(truth, *called, scores=scores, names=["a", "b"], region=0.1, random_state=4)
    assert found.pairs == expected.pairs
    assert found.beside == expected.beside


@pytest.mark.parametrize(
    ("other", "remedy"),
    [("0.0", "same number: use --numeric-labels"), ("0 ", "white space: use --strip")],
)
def test_true_labels_that_two_files_spell_in_two_ways_have_a_remedy(tmp_path, other, remedy):
    for name, label in (("a", "0"), ("b", other)):
        (tmp_path / f"{name}.csv").write_text(f"y_true,y_pred\n{label},{label}\n1,1\n")
    with pytest.raises(InputError, match=rf"first at row 1: .* in .*b\.csv\. They .*{remedy}"):
        compare_files([tmp_path / "a.csv", tmp_path / "b.csv"])
