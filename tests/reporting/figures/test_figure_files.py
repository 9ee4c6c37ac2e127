"""Pictures as files: named by what they show, the same bytes each time, all of them or none."""

import os
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from truerisk.comparison.datasets.many_datasets import compare_over_datasets
from truerisk.errors import InputError, ResourceError
from truerisk.estimation.curves.learning_curve import learning_curve
from truerisk.evaluation.evaluate import evaluate
from truerisk.measures.curves import roc
from truerisk.reporting.figures import figure_files
from truerisk.reporting.figures.figure_files import (
    FORMATS,
    check_folder,
    figure_bytes,
    pictures_of,
    save_figures,
)

HOSTILE = "_<b>$x_1$ \x1b[31m漢\u202e" + "w" * 60
STARTS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def scored():
    y_true = np.arange(60) % 3 == 0
    y_score = 0.6 * (np.arange(60) * 7 % 60 / 60) + 0.4 * y_true
    return evaluate(y_true, y_score >= 0.5, y_score=y_score, random_state=1)


@pytest.fixture
def small(make_evaluation, evaluation):
    return make_evaluation(estimates={"recall": evaluation["recall"]})


@pytest.mark.parametrize("form", FORMATS)
def test_a_picture_is_the_same_to_the_byte_each_time(small, tmp_path, form):
    paths = [save_figures(small, tmp_path / name, [form]) for name in ("one", "two")]
    assert [path.name for path in paths[0]] == [f"measures.{form}", f"confusion.{form}"]
    for first, second in zip(*paths, strict=True):
        content = first.read_bytes()
        assert content == second.read_bytes()
        assert content.startswith(STARTS[form])
        assert not re.search(rb"20[2-9]\d-|D:20|<dc:date>", content)


def test_every_picture_that_scores_have_has_its_file(scored):
    assert list(pictures_of(scored)) == [
        "measures",
        "confusion",
        "roc",
        "precision-recall",
        "normalised-cost",
        "scores",
        "calibration",
        "error-reject",
    ]


def test_the_folder_is_made_and_holds_nothing_else(small, tmp_path):
    paths = save_figures(small, tmp_path / "a" / "b")
    assert sorted((tmp_path / "a" / "b").iterdir()) == sorted(paths)
    assert [path.name for path in paths] == ["measures.svg", "confusion.svg"]


def test_several_formats_are_written_side_by_side_each_once(small, tmp_path):
    paths = save_figures(small, tmp_path, ["png", "svg", "png"])
    assert [path.name for path in paths] == [
        "measures.png",
        "measures.svg",
        "confusion.png",
        "confusion.svg",
    ]


def test_files_of_the_same_names_are_replaced_and_others_left_alone(small, tmp_path):
    (tmp_path / "measures.svg").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    save_figures(small, tmp_path)
    assert (tmp_path / "measures.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_disk_that_is_full_leaves_the_old_pictures_and_nothing_else(small, tmp_path, monkeypatch):
    (tmp_path / "measures.svg").write_text("old")
    synced = []

    def full(number):
        synced.append(number)
        if len(synced) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(figure_files.os, "fsync", full)
    with pytest.raises(ResourceError, match="No space left"):
        save_figures(small, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["measures.svg"]
    assert (tmp_path / "measures.svg").read_text() == "old"


def test_a_picture_that_cannot_be_drawn_leaves_no_file(evaluation, tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no ink")

    monkeypatch.setattr(figure_files, "confusion", broken)
    with pytest.raises(RuntimeError):
        save_figures(evaluation, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_style_of_the_caller_is_left_as_it_was(small, tmp_path):
    before = dict(mpl.rcParams)
    save_figures(small, tmp_path)
    assert dict(mpl.rcParams) == before


def test_progress_is_told_for_each_file(small, tmp_path):
    told = []
    save_figures(small, tmp_path, progress=lambda *numbers: told.append(numbers))
    assert told == [(1, 1, 2), (2, 2, 2)]


def test_hostile_names_are_drawn_in_pictures_that_have_their_own_way():
    X, y = np.arange(80.0)[:, None], np.arange(80) % 2
    curve = learning_curve({HOSTILE: DummyClassifier()}, X, y, sizes=[10, 20], repeats=2)
    pictures = pictures_of(curve)
    assert list(pictures) == [
        "learning-curve",
        "seconds-to-induce",
        "seconds-to-classify",
        "memory",
        "cpu-seconds",
    ]
    assert figure_bytes(pictures["memory"], "png")
    scores = np.random.default_rng(0).random((6, 3))
    ranks = pictures_of(compare_over_datasets(scores, names=["a", HOSTILE, "c"]))
    assert list(ranks) == ["ranks"]
    assert figure_bytes(ranks["ranks"], "png")


def test_a_curve_is_named_by_its_kind_and_curves_by_their_names():
    curve = roc([0, 1, 0, 1], [0.1, 0.4, 0.35, 0.8])
    assert list(pictures_of(curve)) == ["roc-curve"]
    assert list(pictures_of({"of_spam": curve, "counts": 3})) == ["of-spam"]


def test_classes_have_a_picture_and_too_many_have_no_matrix(make_evaluation):
    assert list(pictures_of(make_evaluation(["a", "b", "c"], counts=np.eye(3, dtype=int)))) == [
        "measures",
        "confusion",
        "classes",
    ]
    labels = [str(at) for at in range(31)]
    many = make_evaluation(labels, counts=np.eye(31, dtype=int))
    assert list(pictures_of(many)) == ["measures", "classes"]


def test_a_forest_is_as_high_as_its_rows_need(evaluation, make_evaluation):
    few = make_evaluation(estimates={"recall": evaluation["recall"]})
    rows = len(evaluation) - len(few)
    heights = [pictures_of(one)["measures"].height for one in (few, evaluation)]
    assert heights[1] - heights[0] == pytest.approx(0.24 * rows)


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (["gif"], "`formats` must be one of svg, png, pdf; got 'gif'"),
        ("svg", "`formats` must be a list such as"),
        ([], "`formats` must be a list such as"),
    ],
    ids=["unknown", "a text", "none"],
)
def test_formats_that_are_none_are_refused(evaluation, tmp_path, formats, message):
    with pytest.raises(InputError, match=re.escape(message)):
        save_figures(evaluation, tmp_path, formats)


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(InputError, match="`result` must be a result of truerisk"):
        save_figures(3, tmp_path)


def test_a_folder_is_checked_before_anything_is_drawn(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "below" / "it"):
        with pytest.raises(ResourceError, match=r"need a folder; \S*file is a file"):
            check_folder(folder)
    check_folder(tmp_path / "a" / "b")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_locked_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ResourceError, match="Permission denied"):
        check_folder(tmp_path / "new")


def test_pictures_never_come_among_the_inputs(tmp_path):
    (tmp_path / "data.csv").write_text("")
    (tmp_path / "data.png").write_text("")
    check_folder(tmp_path, [tmp_path / "data.csv"])
    for read in (tmp_path, tmp_path / "data.png"):
        with pytest.raises(InputError, match="must not come among inputs"):
            check_folder(tmp_path, [read])
    check_folder(tmp_path / "pictures", [tmp_path])


def test_a_relative_folder_is_one_of_the_working_folder(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_folder(Path("pictures"))
    assert save_figures(small, "pictures")[0] == Path("pictures/measures.svg")


def test_an_svg_is_one_that_loads_nothing(evaluation):
    text = figure_bytes(pictures_of(evaluation)["measures"], "svg").decode("utf-8")
    assert "<script" not in text
    assert not re.search(r'href="(?!#)', text)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_long_names_of_classes_leave_room_for_the_matrix(classes):
    names = [f"{'W' * 60}{at}" for at in range(classes)] if classes != 2 else ["日" * 60, "b"]
    truth = [names[at % classes] for at in range(70)]
    picture = pictures_of(evaluate(truth, truth, pos_label="b" if classes == 2 else None))
    assert figure_bytes(picture["confusion"], "png")  # a warning of no room would be an error
