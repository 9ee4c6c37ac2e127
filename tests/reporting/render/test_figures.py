import math
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.spatial import KDTree
from sklearn.dummy import DummyClassifier

from truerisk.comparison.datasets.over_datasets import compare_over_datasets
from truerisk.comparison.learners.compare_models import ModelComparisons
from truerisk.comparison.predictions.compare import compare
from truerisk.errors import InputError, ResourceError
from truerisk.estimation.corpus.categories import Category
from truerisk.estimation.corpus.corpus import CorpusEvaluation
from truerisk.estimation.curves.learning_curve import learning_curve
from truerisk.estimation.refits.best_of import BestOf
from truerisk.estimation.refits.estimate import LearnerEvaluation
from truerisk.estimation.svm.perturbation import Perturbed
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.evaluation.curve_bands import Band, confidence_band
from truerisk.evaluation.evaluate import evaluate
from truerisk.measures import calibration, rejection
from truerisk.measures.curves import Curve, roc
from truerisk.reporting.colours import FIGURE
from truerisk.reporting.document import Entry, Forest, Matrix, forest_of
from truerisk.reporting.presenter import Presenter, presenter_class
from truerisk.reporting.render import figures as figure_files
from truerisk.reporting.render.figures import (
    DARKEST,
    DRAWINGS,
    FORMATS,
    LARGEST_LETTERS,
    MAX_PLACES,
    SMALLEST_LETTERS,
    check_folder,
    draw,
    draw_result,
    drawable,
    figure_bytes,
    note_below,
    pictures_of,
    save_figures,
    short_label,
)
from truerisk.reporting.results.comparison import FINDINGS, difference_forest
from truerisk.reporting.results.evaluation import MAX_DRAWN_CLASSES, class_sizes, measure_forest
from truerisk.reporting.sections.score_charts import curve_pictures, score_pictures
from truerisk.results import Comparison, Interval, Reportable, Resampled

BLUE, VERMILION, GREY = (FIGURE[ink] for ink in ("first", "second", "soft"))
HOSTILE = "_<b>$x_1$ \x1b[31m漢\u202e" + "w" * 60
DRAWN = (
    "Estimate", "Resampled", "Perturbed", "Evaluation", "CorpusEvaluation", "Comparison",
    "Comparisons", "ModelComparisons", "BestOf", "SideBySide",
)  # fmt: skip
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
        "scores",
        "calibration",
        "error-reject",
        "normalised-cost",
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

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResourceError, match="No space left"):
        save_figures(small, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["measures.svg"]
    assert (tmp_path / "measures.svg").read_text() == "old"


def test_a_picture_that_cannot_be_drawn_leaves_no_file(evaluation, tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no ink")

    monkeypatch.setattr(figure_files, "draw_matrix", broken)
    with pytest.raises(RuntimeError):
        save_figures(evaluation, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_style_of_the_caller_is_left_as_it_was(small, tmp_path):
    before = dict(mpl.rcParams)
    save_figures(small, tmp_path)
    assert dict(mpl.rcParams) == before


def test_progress_is_told_for_each_file(small, tmp_path):
    words = []
    save_figures(small, tmp_path, progress=lambda *numbers: words.append(numbers))
    assert words == [(1, 1, 2), (2, 2, 2)]


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
    sizes = [figure_files.size_of(pictures_of(one)["measures"]) for one in (few, evaluation)]
    headings = 1  # lower is better: few has only what is better if higher
    assert sizes[1][1] - sizes[0][1] == pytest.approx(0.24 * (rows - 2 + headings))


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


@pytest.fixture
def ax():
    return Figure().subplots()


def test_each_estimate_is_a_dot_on_its_interval_the_first_on_top(ax, make_estimate):
    estimates = [make_estimate("recall", 0.5, 0.4, 0.7), make_estimate("f1", 0.6, 0.5, 0.8)]
    assert draw(forest_of(estimates), ax) is ax
    assert [line.get_xdata()[0] for line in ax.lines] == [0.5, 0.6]
    segments = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert segments == [[0.4, 0.7], [0.5, 0.8]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Recall", "F1"]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_estimates_of_one_measure_are_told_apart_by_method(ax, make_estimate):
    draw(forest_of([make_estimate("recall", 0.5, 0.4, 0.7)]), ax)
    assert ax.get_xlabel() == "Recall"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["holdout"]


def test_an_undefined_estimate_keeps_its_line_and_has_no_dot(ax, make_estimate):
    draw(
        forest_of([make_estimate("recall", math.nan, 0, 1), make_estimate("f1", 0.5, 0.4, 0.6)]), ax
    )
    assert len(ax.lines) == 1
    assert len(ax.get_yticks()) == 2


def test_nothing_to_draw_is_refused(ax):
    with pytest.raises(InputError, match="`estimates` must hold at least one"):
        draw(forest_of([]), ax)


def test_an_end_that_is_infinite_is_an_arrow_beyond_all_numbers(ax, make_estimate):
    draw(forest_of([make_estimate("positive_likelihood_ratio", 8.0, 5.0, math.inf)]), ax)
    arrow, dot = ax.lines
    assert (arrow.get_marker(), dot.get_marker()) == (">", "o")
    assert arrow.get_xdata()[0] == pytest.approx(1.2 * 8)
    assert ax.collections[0].get_segments()[0][:, 0].tolist() == pytest.approx([5.0, 9.6])


def test_an_infinite_value_has_its_interval_and_no_dot(ax, make_estimate):
    draw(forest_of([make_estimate("positive_likelihood_ratio", math.inf, 5.0, math.inf)]), ax)
    assert [line.get_marker() for line in ax.lines] == [">"]
    assert all(map(math.isfinite, ax.get_xlim()))


def test_headings_are_bold_and_regions_are_grey_bars_about_0(ax, make_estimate):
    estimate = make_estimate("f1", 0.02, -0.01, 0.05)
    draw(Forest(rows=[Entry("All of them"), Entry("f", estimate, region=0.03)]), ax)
    weights = [label.get_fontweight() for label in ax.get_yticklabels()]
    assert weights == ["bold", "normal"]
    (bar,) = ax.patches
    assert (bar.get_x(), bar.get_width()) == pytest.approx((-0.03, 0.06))
    assert bar.get_y() + bar.get_height() / 2 == pytest.approx(1)
    assert bar.get_facecolor()[:3] == pytest.approx(
        [int(GREY[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    )


@pytest.mark.parametrize(("height", "rows"), [(1.0, 60), (3.0, 12), (20.0, 3)])
def test_letters_are_as_small_as_the_axes_need(make_estimate, height, rows):
    ax = Figure(figsize=(4, height)).subplots()
    draw(Forest(rows=[Entry("row", make_estimate("f1", 0.5, 0.4, 0.6))] * rows), ax)
    (size,) = {label.get_fontsize() for label in ax.get_yticklabels()}
    room = 72 * height * 0.77 / rows  # the axes take 0.77 of the figure
    assert size == pytest.approx(min(max(0.72 * room, SMALLEST_LETTERS), LARGEST_LETTERS))


def test_a_long_note_is_broken_and_a_long_label_shortened(ax):
    note_below("one of many words " * 20, ax)
    assert max(map(len, ax.get_xlabel().split("\n"))) <= 72
    assert short_label("x" * 100) == "x" * 39 + "…"


def test_a_character_the_font_lacks_is_shown_as_its_escape():
    assert drawable("é漢") == r"é\u6f22"


def test_narrow_axes_have_small_labels_and_short_lines(make_estimate):
    ax = Figure(figsize=(3, 2)).subplots()
    draw(Forest(rows=[Entry("w" * 40, make_estimate("f1", 0.5, 0.4, 0.6))]), ax)
    width = 72 * 3 * 0.775  # the axes take 0.775 of the figure
    assert ax.get_yticklabels()[0].get_fontsize() == pytest.approx(1.2 * width / 40)
    note_below("one of many words " * 20, ax)
    assert max(map(len, ax.get_xlabel().split("\n"))) <= width / 4.6


WITH_SURROGATE = "_<b>$x_1$ \x1b[31m漢\u202e\ud800" + "w" * 60


def learner_of(evaluation):
    return LearnerEvaluation(**evaluation.fields())


def matrix_of(evaluation):
    labels, counts = evaluation.confusion
    return Matrix(labels=labels, counts=counts)


def _category(name):
    return Category(name=name, documents=9, test_documents=None, stable=True, gap=0.0, reason=None)


@pytest.fixture(scope="module")
def comparisons():
    truth = np.arange(40) % 2
    first, second = truth.copy(), truth.copy()
    first[:9] = 1 - first[:9]
    second[:3] = 1 - second[:3]
    return compare(truth, first, second, names=["old", WITH_SURROGATE], region=0.05, random_state=1)


@pytest.fixture
def results(make_evaluation, make_estimate, comparisons):
    error = make_estimate("error_rate", 0.1, 0.05, 0.2)
    interval = Interval(0.05, 0.2, 0.95, "percentile")
    refits = {**vars(error), "replicates": tuple(np.linspace(0.05, 0.2, 30))}
    several = make_evaluation(["a", WITH_SURROGATE, "c"], counts=[[5, 1, 0], [2, 6, 1], [0, 0, 9]])
    best = BestOf(
        evaluations={name: learner_of(make_evaluation()) for name in ("tree", WITH_SURROGATE)},
        measure="error_rate",
        winner="tree",
        optimism=0.01,
        corrected=error,
    )
    return {
        "Estimate": error,
        "Resampled": Resampled(**refits),
        "Perturbed": Perturbed(
            **refits, losses="training", training_error=0.1, forms={"percentile": interval}
        ),
        "Evaluation": several,
        "CorpusEvaluation": CorpusEvaluation(
            **several.fields(), categories=(_category("c"), _category(WITH_SURROGATE))
        ),
        "Comparison": comparisons["error_rate"],
        "Comparisons": comparisons,
        "ModelComparisons": ModelComparisons(comparisons={"f1": comparisons["f1"]}),
        "BestOf": best,
        "SideBySide": SideBySide(
            estimates=(error, replace(error, method=WITH_SURROGATE)),
            seconds=(0, 0),
            training_seconds=0,
        ),
    }


def _kinds(of=Reportable):
    for kind in of.__subclasses__():
        if kind.__module__.startswith("truerisk"):
            if hasattr(kind, "kind"):  # not a base of several
                yield kind
            yield from _kinds(kind)


def test_every_kind_of_result_has_a_presenter_with_pictures():
    for one in _kinds():
        presenter = presenter_class(one.kind)
        # What a file holds is a table.
        assert one.kind == "diagnosis" or presenter.pictures is not Presenter.pictures, one


@pytest.mark.parametrize("kind", DRAWN)
def test_a_result_is_drawn_into_the_axes_given_whatever_its_names(results, kind):
    result = results[kind]
    assert type(result).__name__ == kind
    style, figure = dict(mpl.rcParams), Figure(figsize=(3, 2))
    ax = figure.subplots()
    assert result.plot(ax) is ax
    assert dict(mpl.rcParams) == style
    assert ax.has_data() or ax.get_yticklabels()
    figure.canvas.draw()  # which warns of what the font lacks, and fails on broken mathematics
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert all("\x1b" not in text and "\u202e" not in text for text in texts)
    if any(name in kind for name in ("Evaluation", "Comp", "BestOf")) and kind != "Evaluation":
        assert any(r"<b>\$x_1\$" in text for text in texts)


@pytest.mark.parametrize("kind", DRAWN)
def test_every_picture_of_a_result_is_drawn_whatever_its_names(results, kind):
    pictures = pictures_of(results[kind])
    assert pictures
    for name, picture in pictures.items():
        assert name == name.lower().replace("_", "-")
        assert figure_bytes(picture, "png")


def test_without_axes_a_new_figure_is_drawn(results):
    from matplotlib import pyplot as plt

    for drawn in (results["Estimate"], roc([0, 1], [0.2, 0.7])):
        axes = drawn.plot()
        assert axes.figure.number in plt.get_fignums()
        plt.close(axes.figure)


def test_what_is_no_axes_and_what_is_no_result_is_refused(results):
    with pytest.raises(InputError, match="`ax` must be axes of matplotlib; got 3"):
        results["Estimate"].plot(3)
    with pytest.raises(InputError, match="`result` must be a result of truerisk"):
        draw_result(SimpleNamespace(), Figure().subplots())


@pytest.fixture
def make_comparison(make_estimate):
    def make(value, low, high, finding, *, measure="error_rate", names=("old", "new"), region=None):
        one = make_estimate(measure, 0.5, 0.4, 0.6)
        return Comparison(
            names=names,
            first=one,
            second=one,
            difference=make_estimate(measure, value, low, high),
            p_value=0.5,
            method="mcnemar_mid_p",
            finding=finding,
            verdict="",
            region=region,
        )

    return make


def _rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_a_difference_is_drawn_against_0_and_the_region(ax, make_comparison):
    draw_result(make_comparison(-0.06, -0.11, -0.01, "better", region=0.02), ax)
    dot, zero = ax.lines
    assert (dot.get_xdata()[0], dot.get_marker(), dot.get_color()) == (-0.06, "^", BLUE)
    assert list(zero.get_xdata()) == [0, 0]
    assert (ax.patches[0].get_x(), ax.patches[0].get_width()) == pytest.approx((-0.02, 0.04))
    assert _rows(ax) == ["Error rate: better"]
    assert ax.get_xlabel() == "new − old"
    low, high = ax.get_xlim()
    assert low == -high < -0.11


@pytest.mark.parametrize("finding", FINDINGS)
def test_each_finding_has_its_own_shape_and_colour(ax, make_comparison, finding):
    draw_result(make_comparison(0.01, -0.01, 0.03, finding), ax)
    others = [drawn for name, drawn in FINDINGS.items() if name != finding]
    ink, marker = FINDINGS[finding]
    assert all(ink != one and marker != two for one, two in others)
    assert ax.lines[0].get_marker() == marker
    assert not ax.patches  # no region was given


def test_of_two_models_each_measure_has_a_row_and_unbounded_ones_are_named(ax):
    truth, first = [0, 1] * 10, [0, 1] * 7 + [1, 0] * 3
    result = compare(
        truth,
        first,
        truth,
        measures=["accuracy", "f1", "positive_likelihood_ratio"],
        random_state=1,
    )
    draw_result(result, ax)
    assert [words.split(":")[0] for words in _rows(ax)] == ["Accuracy", "F1"]
    assert ax.get_xlabel() == "second − first. On other scales: Positive likelihood ratio"


def test_of_three_models_each_pair_has_a_row_by_the_main_measure(ax):
    truth, names = [0, 1] * 10, ["a", "b", "c"]
    result = compare(truth, [1, 0] * 10, truth, truth, names=names, random_state=1)
    draw_result(result, ax)
    assert [words.split(":")[0] for words in _rows(ax)] == ["b − a", "c − a", "c − b"]
    assert ax.get_xlabel() == "Error rate: difference"


def test_of_two_learners_each_measure_has_a_row(ax, make_comparison):
    result = {
        "error_rate": make_comparison(0.01, -0.01, 0.03, "no evidence"),
        "f1": make_comparison(math.nan, -1, 1, "no evidence", measure="f1"),
    }
    draw_result(ModelComparisons(comparisons=result), ax)
    assert _rows(ax) == ["Error rate: no evidence", "F1: no evidence"]
    assert len(ax.lines) == 2  # a dot, and the line at 0


def test_unbounded_measures_are_drawn_where_there_are_no_others(ax, make_comparison):
    draw_result(
        make_comparison(3.0, 1.0, math.inf, "better", measure="positive_likelihood_ratio"), ax
    )
    assert _rows(ax) == ["Positive likelihood ratio: better"]
    assert all(map(math.isfinite, ax.get_xlim()))


def test_long_names_leave_room_for_the_finding(ax, make_comparison):
    pairs = [
        make_comparison(0.01, -0.01, 0.03, "no evidence", names=(one, "w" * 90))
        for one in ("a", "b")
    ]
    draw(difference_forest(pairs), ax)
    assert _rows(ax) == ["wwwwwwwwwww… − a: no evidence", "wwwwwwwwwww… − b: no evidence"]


def test_nothing_to_compare_is_refused():
    with pytest.raises(InputError, match="must hold at least one comparison"):
        difference_forest([])


def test_the_axis_has_no_more_numbers_than_there_is_room_for(ax, make_comparison):
    draw_result(make_comparison(0.01, -0.09, 0.098, "no evidence"), ax)
    low, high = ax.get_xlim()
    assert 3 <= sum(low <= tick <= high for tick in ax.get_xticks()) <= 7


@pytest.fixture
def wide_ax():
    return Figure(figsize=(6, 5)).subplots()


def _resampled(estimate, values, **fields):
    return Resampled(**{**vars(estimate), "replicates": values, **fields})


def test_measures_stand_in_groups_on_the_axis_from_0_to_1(wide_ax, evaluation):
    draw(measure_forest(evaluation), wide_ax)
    assert _rows(wide_ax) == [
        "Lower is better",
        "Error rate",
        "Higher is better",
        "Precision",
        "Recall",
        "F1",
        "Specificity",
    ]
    assert wide_ax.get_xlim() == (-0.02, 1.02)
    assert [line.get_xdata()[0] for line in wide_ax.lines] == [0.09, 50 / 90, 0.5, 0.526]


def test_measures_on_other_scales_are_named(wide_ax, evaluation):
    draw(measure_forest(evaluation), wide_ax)
    words = " ".join(wide_ax.get_xlabel().split())
    assert words == "On other scales: Matthews correlation, Positive likelihood ratio"


def test_measures_on_other_scales_are_drawn_where_there_are_no_others(
    wide_ax, make_evaluation, make_estimate
):
    ratio = make_estimate("positive_likelihood_ratio", 8.0, 5.0, 12.0)
    draw(measure_forest(make_evaluation(estimates={"positive_likelihood_ratio": ratio})), wide_ax)
    assert wide_ax.lines[0].get_xdata()[0] == 8.0
    assert wide_ax.get_xlabel() == "Positive likelihood ratio"


def test_averages_have_a_heading_of_their_own(wide_ax, make_evaluation, make_estimate):
    estimates = {name: make_estimate(name, 0.5, 0.4, 0.6) for name in ("f1_micro", "f1_macro")}
    draw(measure_forest(make_evaluation(estimates=estimates)), wide_ax)
    assert _rows(wide_ax) == ["Micro averages", "F1, micro", "Macro averages", "F1, macro"]


def test_many_refits_are_bars_about_the_estimate_and_its_interval(wide_ax, make_estimate):
    values = (*np.linspace(0.05, 0.2, 40), math.nan)
    draw_result(_resampled(make_estimate("error_rate", 0.1, 0.04, 0.18), values), wide_ax)
    (bars,) = wide_ax.patches
    heights, edges, _ = bars.get_data()
    assert heights.sum() == 40  # one has no value
    assert (edges[0], edges[-1]) == pytest.approx((0.05, 0.2))
    band = wide_ax.collections[0].get_paths()[0].vertices[:, 0]
    assert (band.min(), band.max()) == pytest.approx((0.04, 0.18))
    assert wide_ax.lines[0].get_xdata()[0] == 0.1
    assert (wide_ax.get_xlabel(), wide_ax.get_ylabel()) == ("Error rate", "replicates")
    legend = [text.get_text() for text in wide_ax.get_legend().get_texts()]
    assert legend == ["95 % interval", "replicates"]


def test_few_refits_are_dots_in_their_order(wide_ax, make_estimate):
    draw_result(_resampled(make_estimate("error_rate", 0.1, 0.04, 0.18), (0.05, 0.2)), wide_ax)
    assert wide_ax.lines[1].get_ydata().tolist() == [0.05, 0.2]


@pytest.mark.parametrize("values", [(), (0.1,), (math.nan, math.nan)])
def test_an_estimate_of_fewer_than_two_refits_is_a_dot(wide_ax, make_estimate, values):
    draw_result(_resampled(make_estimate("error_rate", 0.1, 0.04, 0.18), values), wide_ax)
    assert not wide_ax.patches
    assert wide_ax.lines[0].get_xdata()[0] == 0.1


def test_refits_that_agree_are_one_bar(wide_ax, make_estimate):
    draw_result(_resampled(make_estimate("error_rate", 0.1, 0.04, 0.18), (0.1,) * 30), wide_ax)
    assert wide_ax.patches[0].get_data().values.max() == 30


def _perturbed(estimate, moved):
    forms = {
        "exact": Interval(0.03, 0.2, 0.95, "clopper_pearson"),
        "normal": Interval(0.02, 0.18, 0.95, "normal"),
    }
    fields = {**vars(estimate), "replicates": moved, "forms": forms}
    return Perturbed(**fields, losses="training", training_error=0.1)


def test_weightings_are_drawn_where_they_say_the_truth_may_lie(wide_ax, make_estimate):
    # Replicates are value − truth: one that moved the value up speaks of a truth further down.
    draw_result(
        _perturbed(make_estimate("error_rate", 0.1, 0.04, 0.18), (0.06, 0.05, -0.02)), wide_ax
    )
    edges = wide_ax.patches[0].get_data().edges
    assert (edges[0], edges[-1]) == pytest.approx((0.04, 0.12))


def test_every_form_of_interval_has_its_row(wide_ax, make_estimate):
    draw(
        pictures_of(_perturbed(make_estimate("error_rate", 0.1, 0.04, 0.18), (0.0, 0.1)))[
            "intervals"
        ],
        wide_ax,
    )
    assert _rows(wide_ax) == ["exact", "normal"]
    ends = [bar.get_segments()[0][:, 0].tolist() for bar in wide_ax.collections]
    assert ends == [[0.03, 0.2], [0.02, 0.18]]


def test_learners_stand_best_first_and_what_the_choice_is_worth_below(
    wide_ax, make_evaluation, make_estimate
):
    def judged(value):
        one = make_estimate("error_rate", value, value - 0.02, value + 0.02)
        return learner_of(make_evaluation(estimates={"error_rate": one}))

    corrected = make_estimate("error_rate", 0.12, 0.08, 0.17)
    evaluations = {"tree": judged(0.3), "svm": judged(0.1)}
    draw_result(
        BestOf(
            evaluations=evaluations,
            measure="error_rate",
            winner="svm",
            optimism=0.02,
            corrected=corrected,
        ),
        wide_ax,
    )
    assert _rows(wide_ax) == ["svm", "tree", "best of 2, corrected"]
    assert [line.get_xdata()[0] for line in wide_ax.lines] == [0.1, 0.3, 0.12]
    assert [line.get_color() for line in wide_ax.lines] == [BLUE, BLUE, VERMILION]


def test_the_matrix_has_counts_shares_and_the_colours_of_right_and_wrong(wide_ax, evaluation):
    draw(matrix_of(evaluation), wide_ax)
    words = {text.get_position(): text.get_text() for text in wide_ax.texts}
    assert words == {
        (0, 0): "850\n95.5 %",
        (1, 0): "40\n4.5 %",
        (0, 1): "50\n50.0 %",
        (1, 1): "50\n50.0 %",
    }
    (cells,) = wide_ax.collections
    colours = cells.get_array()
    assert colours[0, 0].tolist() == pytest.approx([*to_rgb(BLUE), DARKEST * 850 / 890])
    assert colours[1, 0].tolist() == pytest.approx([*to_rgb(VERMILION), DARKEST * 0.5])
    assert _rows(wide_ax) == ["ham", "spam"]
    assert (wide_ax.get_xlabel(), wide_ax.get_ylabel()) == ("called", "true")
    assert wide_ax.get_ylim() == (1.5, -0.5)


def test_a_class_without_examples_has_no_share_and_no_colour(wide_ax, make_evaluation):
    draw(matrix_of(make_evaluation(counts=[[0, 0], [3, 4]])), wide_ax)
    assert wide_ax.texts[0].get_text() == "0\n–"
    assert wide_ax.collections[0].get_array()[0, 0, 3] == 0


def test_cells_too_small_for_letters_have_none(make_evaluation):
    labels = [f"class {at}" for at in range(30)]
    wide_ax = Figure(figsize=(2, 2)).subplots()
    draw(matrix_of(make_evaluation(labels, counts=np.eye(30, dtype=int))), wide_ax)
    assert not wide_ax.texts
    assert len(wide_ax.get_xticklabels()) == 30
    assert {label.get_rotation() for label in wide_ax.get_xticklabels()} == {90.0}


@pytest.fixture
def make_corpus(make_evaluation, make_estimate):
    def make(sizes, *, holdout=None):
        by_class = {
            name: {"f1": make_estimate("f1", 1 / (at + 2), 0.1, 0.9)}
            for at, name in enumerate(sizes)
        }
        facts = [
            Category(
                name=name, documents=size, test_documents=None, stable=True, gap=0.0, reason=None
            )
            for name, size in sizes.items()
        ]
        fields = make_evaluation(by_class=by_class).fields()
        return CorpusEvaluation(**fields, categories=tuple(facts), holdout=holdout)

    return make


def test_categories_stand_in_their_order_with_their_documents(ax, make_corpus):
    draw_result(make_corpus({"earn": 2877, "acq": 1650}), ax)
    assert _rows(ax) == ["earn (2,877)", "acq (1,650)"]
    assert [line.get_xdata()[0] for line in ax.lines] == [1 / 2, 1 / 3]
    assert ax.get_xlabel() == "F1"
    assert ax.get_xlim() == (-0.02, 1.02)


def test_only_the_most_frequent_are_drawn_and_the_others_counted(ax, make_corpus):
    draw_result(make_corpus({f"topic {at}": 1000 - at for at in range(MAX_DRAWN_CLASSES + 7)}), ax)
    assert len(_rows(ax)) == MAX_DRAWN_CLASSES
    assert ax.get_xlabel() == "F1; 7 rarer ones are not drawn"


def test_what_the_documents_held_out_say_stands_beside(
    ax, make_corpus, make_evaluation, make_estimate
):
    held_out = make_evaluation(by_class={"acq": {"f1": make_estimate("f1", 0.25, 0.1, 0.5)}})
    draw_result(make_corpus({"earn": 20, "acq": 10}, holdout=held_out), ax)
    beside = ax.lines[-1]
    assert (list(beside.get_xdata()), list(beside.get_ydata())) == ([0.25], [1])
    assert beside.get_color() == VERMILION
    assert ax.get_legend().get_texts()[0].get_text() == "on the documents held out"


def test_a_corpus_without_categories_shows_its_averages(ax, make_corpus):
    draw_result(make_corpus({}), ax)
    assert "Error rate" in _rows(ax)


def test_a_long_name_leaves_room_for_the_number_of_documents(ax, make_corpus):
    draw_result(make_corpus({"w" * 90: 12}), ax)
    assert _rows(ax) == ["w" * 29 + "… (12)"]


def test_classes_stand_with_the_most_frequent_first(ax, make_evaluation):
    result = make_evaluation(["a", "b", "c"], counts=[[1, 0, 0], [0, 5, 2], [0, 0, 3]])
    assert class_sizes(result) == {"b": 7, "c": 3, "a": 1}
    draw(pictures_of(result)["classes"], ax)
    assert _rows(ax) == ["b (7)", "c (3)", "a (1)"]


def test_classes_that_nobody_counted_keep_their_order(ax, make_evaluation):
    draw(pictures_of(make_evaluation(["a", "b", "c"], counts=[[1]], tallies=None))["classes"], ax)
    assert _rows(ax) == ["a", "b", "c"]


ALL = ["roc", "precision-recall", "scores", "calibration", "error-reject", "normalised-cost"]


def _scored(n=120, **options):
    y_true = np.arange(n) % 3 == 0
    y_score = 0.6 * (np.arange(n) * 7 % n / n) + 0.4 * y_true
    return evaluate(y_true, y_score >= 0.5, y_score=y_score, random_state=1, **options)


@pytest.fixture(scope="module")
def probabilities():
    return _scored()


def _drawn(evaluation, name):
    ax = Figure().subplots()
    draw(dict(score_pictures(evaluation))[name], ax)
    return ax


def test_probabilities_have_every_picture(probabilities):
    assert [name for name, _ in score_pictures(probabilities)] == ALL


@pytest.mark.parametrize(
    ("name", "curve"), [("roc", "roc"), ("precision-recall", "precision_recall")]
)
def test_a_curve_lies_on_its_band_of_the_level_asked_for(name, curve):
    evaluation = _scored(level=0.8)
    ax = _drawn(evaluation, name)
    (band,) = ax.collections
    expected = confidence_band(evaluation.curves[curve], level=0.8)
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (expected.low.min(), expected.high.max())
    assert any(
        np.array_equal(heights[1 : len(expected.x) + 1], e) for e in (expected.low, expected.high)
    )
    assert len(ax.lines) == 3  # chance, the curve, the threshold


def test_weighted_examples_have_a_curve_and_no_band():
    evaluation = _scored(sample_weight=np.linspace(1, 2, 120))
    for name in ("roc", "precision-recall", "calibration"):
        ax = _drawn(evaluation, name)
        assert not ax.collections
        assert len(ax.lines) == (2 if name == "calibration" else 3)


def test_bins_of_probabilities_stand_on_their_intervals(probabilities):
    ax = _drawn(probabilities, "calibration")
    assert len(ax.collections[0].get_segments()) == len(ax.lines[1].get_xdata()) == 10


def test_both_classes_are_named_beside_their_scores(probabilities):
    legend = _drawn(probabilities, "scores").get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["False", "True"]


def test_the_error_at_no_rejection_is_that_of_the_classifier(probabilities):
    (line,) = _drawn(probabilities, "error-reject").lines
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (0, probabilities["error_rate"].value)


def test_scores_that_are_no_probabilities_are_not_calibrated():
    truth = [0, 1] * 20
    evaluation = evaluate(truth, y_score=np.arange(40.0) - 20, random_state=1)
    assert "calibration" not in dict(score_pictures(evaluation))


@pytest.mark.parametrize("infinite", [False, True])
def test_one_class_has_what_one_class_can_have(infinite):
    scores = np.full(4, np.inf) if infinite else np.arange(4.0)
    evaluation = evaluate([0] * 4, y_score=scores, pos_label=1, allow_inf=True, random_state=1)
    for _, picture in score_pictures(evaluation):
        draw(picture, Figure().subplots())


def test_predictions_without_scores_have_no_such_picture(evaluation):
    assert not list(score_pictures(evaluation))


def test_curves_are_drawn_by_their_names_and_tables_left_out(probabilities):
    assert [name for name, _ in curve_pictures(probabilities.curves, 0.95)] == ALL[:2]


def test_a_band_of_many_places_is_drawn_by_few_from_end_to_end():
    y_true = np.arange(20_000) % 3 == 0
    y_score = 0.6 * np.random.default_rng(0).random(20_000) + 0.4 * y_true
    curve = roc(y_true, y_score)
    ax = Figure().subplots()
    draw(dict(curve_pictures({"roc": curve}))["roc"], ax)
    drawn = ax.collections[0].get_paths()[0].vertices
    band = confidence_band(curve)
    assert len(drawn) < 2 * MAX_PLACES + 10 < len(band.x)
    for ends in (band.low, band.high):
        shown = drawn[np.isin(drawn[:, 1], ends)]
        assert (shown[:, 0].min(), shown[:, 0].max()) == (0, 1)
    # Every corner of the band has one that is drawn within one share of the way along it.
    way = sum(np.abs(np.diff(one)).sum() for one in (band.x, band.low, band.high))
    for ends in (band.low, band.high):
        distances, _ = KDTree(drawn).query(np.column_stack([band.x, ends]), p=np.inf)
        assert distances.max() <= way / (MAX_PLACES - 1) < 0.003


def test_without_matplotlib_figures_say_what_to_install(small, tmp_path, monkeypatch):
    monkeypatch.setattr(figure_files, "find_spec", lambda _: None)
    for call in (lambda: check_folder(tmp_path / "new"), lambda: save_figures(small, tmp_path)):
        with pytest.raises(ResourceError, match=r"pip install 'truerisk\[plot\]'"):
            call()


def test_every_kind_of_curve_can_be_drawn():
    assert {calibration.Curve, rejection.Curve} == {Curve}
    assert {one.kind for one in Curve.__subclasses__()} == set(DRAWINGS)


def test_the_colours_are_those_of_all_figures():
    ax = roc([0, 1, 1], [0.1, 0.7, 0.4]).plot(Figure().subplots())
    assert [line.get_color() for line in ax.lines] == [FIGURE["soft"], FIGURE["first"]]


def test_a_band_is_an_area_or_upright_lines():
    places = np.array([0.0, 1.0])
    for joined in (True, False):
        ax = Band(places, places - 0.1, places + 0.1, 0.95, "x", joined=joined).plot(
            Figure().subplots()
        )
        assert isinstance(ax.collections[0], LineCollection) != joined
        assert len(ax.collections) == 1
