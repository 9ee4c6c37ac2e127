import math

import pytest
from matplotlib.figure import Figure

from truerisk.errors import InputError
from truerisk.reporting.figures import drawable, forest


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


def test_a_character_the_font_lacks_is_shown_as_its_escape():
    assert drawable("é漢") == r"é\u6f22"
