import math
from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from truerisk.comparison.learners.model_comparisons import ModelComparisons
from truerisk.comparison.predictions.compare import compare
from truerisk.errors import InputError
from truerisk.reporting.figures.of_comparisons import (
    FINDINGS,
    difference,
    differences,
    learner_differences,
)
from truerisk.results import Comparison


@pytest.fixture
def ax():
    return Figure().subplots()


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
    difference(make_comparison(-0.06, -0.11, -0.01, "better", region=0.02), ax)
    dot, zero = ax.lines
    assert (dot.get_xdata()[0], dot.get_marker(), dot.get_color()) == (
        -0.06,
        *FINDINGS["better"][::-1],
    )
    assert list(zero.get_xdata()) == [0, 0]
    assert (ax.patches[0].get_x(), ax.patches[0].get_width()) == pytest.approx((-0.02, 0.04))
    assert _rows(ax) == ["Error rate: better"]
    assert ax.get_xlabel() == "new − old"
    low, high = ax.get_xlim()
    assert low == -high < -0.11


@pytest.mark.parametrize("finding", FINDINGS)
def test_each_finding_has_its_own_shape_and_colour(ax, make_comparison, finding):
    difference(make_comparison(0.01, -0.01, 0.03, finding), ax)
    others = [drawn for name, drawn in FINDINGS.items() if name != finding]
    ink, marker = FINDINGS[finding]
    assert all(ink != one and marker != two for one, two in others)
    assert ax.lines[0].get_marker() == marker
    assert not ax.patches  # no region was given


def test_of_two_models_each_measure_has_a_row_and_unbounded_ones_are_named(ax):
    truth, first = [0, 1] * 10, [0, 1] * 7 + [1, 0] * 3
    found = compare(
        truth,
        first,
        truth,
        measures=["accuracy", "f1", "positive_likelihood_ratio"],
        random_state=1,
    )
    differences(found, ax)
    assert [words.split(":")[0] for words in _rows(ax)] == ["Accuracy", "F1"]
    assert ax.get_xlabel() == "second − first. On other scales: Positive likelihood ratio"


def test_of_three_models_each_pair_has_a_row_by_the_main_measure(ax):
    truth, names = [0, 1] * 10, ["a", "b", "c"]
    found = compare(truth, [1, 0] * 10, truth, truth, names=names, random_state=1)
    differences(found, ax)
    assert [words.split(":")[0] for words in _rows(ax)] == ["b − a", "c − a", "c − b"]
    assert ax.get_xlabel() == "Error rate: difference"


def test_of_two_learners_each_measure_has_a_row(ax, make_comparison):
    found = {
        "error_rate": make_comparison(0.01, -0.01, 0.03, "no evidence"),
        "f1": make_comparison(math.nan, -1, 1, "no evidence", measure="f1"),
    }
    learner_differences(ModelComparisons(comparisons=found), ax)
    assert _rows(ax) == ["Error rate: no evidence", "F1: no evidence"]
    assert len(ax.lines) == 2  # a dot, and the line at 0


def test_unbounded_measures_are_drawn_where_there_are_no_others(ax, make_comparison):
    difference(
        make_comparison(3.0, 1.0, math.inf, "better", measure="positive_likelihood_ratio"), ax
    )
    assert _rows(ax) == ["Positive likelihood ratio: better"]
    assert all(map(math.isfinite, ax.get_xlim()))


def test_long_names_leave_room_for_the_finding(ax, make_comparison):
    pairs = [
        make_comparison(0.01, -0.01, 0.03, "no evidence", names=(one, "w" * 90))
        for one in ("a", "b")
    ]
    differences(_Several(("a", "b", "w" * 90), "error_rate", tuple(pairs)), ax)
    assert _rows(ax) == ["wwwwwwwwwww… − a: no evidence", "wwwwwwwwwww… − b: no evidence"]


class _Several:
    def __init__(self, names, measure, pairs):
        self.names, self.measure, self.pairs = names, measure, pairs


def test_nothing_to_compare_is_refused(ax, make_comparison):
    one = replace(make_comparison(0.01, -0.01, 0.03, "better"), names=("a", "b"))
    with pytest.raises(InputError, match="must hold at least one comparison"):
        differences(_Several(("a", "b", "c"), "f1", (one,)), ax)


def test_the_axis_has_no_more_numbers_than_there_is_room_for(ax, make_comparison):
    difference(make_comparison(0.01, -0.09, 0.098, "no evidence"), ax)
    low, high = ax.get_xlim()
    assert 3 <= sum(low <= tick <= high for tick in ax.get_xticks()) <= 7
