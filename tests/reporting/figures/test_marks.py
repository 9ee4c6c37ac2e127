import math

import pytest
from matplotlib.figure import Figure

from truerisk.errors import InputError
from truerisk.reporting.figures.marks import (
    GREY,
    LARGEST_LETTERS,
    SMALLEST_LETTERS,
    Row,
    draw_rows,
    drawable,
    forest,
    note_below,
    short_label,
)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_each_estimate_is_a_dot_on_its_interval_the_first_on_top(ax, make_estimate):
    estimates = [make_estimate("recall", 0.5, 0.4, 0.7), make_estimate("f1", 0.6, 0.5, 0.8)]
    assert forest(estimates, ax) is ax
    assert [line.get_xdata()[0] for line in ax.lines] == [0.5, 0.6]
    segments = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert segments == [[0.4, 0.7], [0.5, 0.8]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Recall", "F1"]
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_estimates_of_one_measure_are_told_apart_by_method(ax, make_estimate):
    forest([make_estimate("recall", 0.5, 0.4, 0.7)], ax)
    assert ax.get_xlabel() == "Recall"
    assert [label.get_text() for label in ax.get_yticklabels()] == ["holdout"]


def test_an_undefined_estimate_keeps_its_line_and_has_no_dot(ax, make_estimate):
    forest([make_estimate("recall", math.nan, 0, 1), make_estimate("f1", 0.5, 0.4, 0.6)], ax)
    assert len(ax.lines) == 1
    assert len(ax.get_yticks()) == 2


def test_nothing_to_draw_is_refused(ax):
    with pytest.raises(InputError, match="`estimates` must hold at least one"):
        forest([], ax)


def test_an_end_that_is_infinite_is_an_arrow_beyond_all_numbers(ax, make_estimate):
    forest([make_estimate("positive_likelihood_ratio", 8.0, 5.0, math.inf)], ax)
    arrow, dot = ax.lines
    assert (arrow.get_marker(), dot.get_marker()) == (">", "o")
    assert arrow.get_xdata()[0] == pytest.approx(1.2 * 8)
    assert ax.collections[0].get_segments()[0][:, 0].tolist() == pytest.approx([5.0, 9.6])


def test_an_infinite_value_has_its_interval_and_no_dot(ax, make_estimate):
    forest([make_estimate("positive_likelihood_ratio", math.inf, 5.0, math.inf)], ax)
    assert [line.get_marker() for line in ax.lines] == [">"]
    assert all(map(math.isfinite, ax.get_xlim()))


def test_headings_are_bold_and_regions_are_grey_bars_about_0(ax, make_estimate):
    estimate = make_estimate("f1", 0.02, -0.01, 0.05)
    draw_rows([Row("All of them"), Row("f", estimate, region=0.03)], ax)
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
    draw_rows([Row("row", make_estimate("f1", 0.5, 0.4, 0.6))] * rows, ax)
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
    draw_rows([Row("w" * 40, make_estimate("f1", 0.5, 0.4, 0.6))], ax)
    width = 72 * 3 * 0.775  # the axes take 0.775 of the figure
    assert ax.get_yticklabels()[0].get_fontsize() == pytest.approx(1.2 * width / 40)
    note_below("one of many words " * 20, ax)
    assert max(map(len, ax.get_xlabel().split("\n"))) <= width / 4.6
