import math

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from truerisk.errors import InputError
from truerisk.estimation.refits.best_of import BestOf
from truerisk.estimation.svm.perturbation import Perturbed
from truerisk.reporting.figures.marks import BLUE, VERMILION
from truerisk.reporting.figures.of_estimates import (
    DARKEST,
    confusion,
    intervals,
    learners,
    measures,
    perturbed,
    replicates,
)
from truerisk.results import Interval, Resampled


@pytest.fixture
def ax():
    return Figure(figsize=(6, 5)).subplots()


def _rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def _resampled(estimate, values, **fields):
    return Resampled(**{**vars(estimate), "replicates": values, **fields})


def test_measures_stand_in_groups_on_the_axis_from_0_to_1(ax, evaluation):
    measures(evaluation, ax)
    assert _rows(ax) == [
        "Lower is better",
        "Error rate",
        "Higher is better",
        "Precision",
        "Recall",
        "F1",
        "Specificity",
    ]
    assert ax.get_xlim() == (-0.02, 1.02)
    assert [line.get_xdata()[0] for line in ax.lines] == [0.09, 50 / 90, 0.5, 0.526]


def test_measures_on_other_scales_are_named(ax, evaluation):
    measures(evaluation, ax)
    words = " ".join(ax.get_xlabel().split())
    assert words == "On other scales: Matthews correlation, Positive likelihood ratio"


def test_measures_on_other_scales_are_drawn_where_there_are_no_others(
    ax, make_evaluation, make_estimate
):
    ratio = make_estimate("positive_likelihood_ratio", 8.0, 5.0, 12.0)
    measures(make_evaluation(estimates={"positive_likelihood_ratio": ratio}), ax)
    assert ax.lines[0].get_xdata()[0] == 8.0
    assert ax.get_xlabel() == "Positive likelihood ratio"


def test_averages_have_a_heading_of_their_own(ax, make_evaluation, make_estimate):
    estimates = {name: make_estimate(name, 0.5, 0.4, 0.6) for name in ("f1_micro", "f1_macro")}
    measures(make_evaluation(estimates=estimates), ax)
    assert _rows(ax) == ["Micro averages", "F1, micro", "Macro averages", "F1, macro"]


def test_refits_are_bars_about_the_estimate_and_its_interval(ax, make_estimate):
    values = (0.05, 0.1, 0.1, 0.2, math.nan)
    replicates(_resampled(make_estimate("error_rate", 0.1, 0.04, 0.18), values), ax)
    *bars, span = ax.patches
    assert sum(bar.get_height() for bar in bars) == 4  # one has no value
    assert (bars[0].get_x(), bars[-1].get_x() + bars[-1].get_width()) == pytest.approx((0.05, 0.2))
    assert (span.get_x(), span.get_x() + span.get_width()) == pytest.approx((0.04, 0.18))
    assert ax.lines[0].get_xdata()[0] == 0.1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Error rate", "refits")
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["95 % interval", "estimate"]


@pytest.mark.parametrize("values", [(), (0.1,), (math.nan, math.nan)])
def test_an_estimate_of_fewer_than_two_refits_is_a_dot(ax, make_estimate, values):
    replicates(_resampled(make_estimate("error_rate", 0.1, 0.04, 0.18), values), ax)
    assert not ax.patches
    assert ax.lines[0].get_xdata()[0] == 0.1


def test_refits_that_agree_are_one_bar(ax, make_estimate):
    replicates(_resampled(make_estimate("error_rate", 0.1, 0.04, 0.18), (0.1,) * 9), ax)
    assert max(bar.get_height() for bar in ax.patches) == 9


def _perturbed(estimate, moved):
    forms = {
        "exact": Interval(0.03, 0.2, 0.95, "clopper_pearson"),
        "normal": Interval(0.02, 0.18, 0.95, "normal"),
    }
    fields = {**vars(estimate), "replicates": moved, "forms": forms}
    return Perturbed(**fields, losses="training", training_error=0.1)


def test_weightings_are_drawn_where_they_say_the_truth_may_lie(ax, make_estimate):
    # Replicates are value − truth: one that moved the value up speaks of a truth further down.
    perturbed(_perturbed(make_estimate("error_rate", 0.1, 0.04, 0.18), (0.06, 0.05, -0.02)), ax)
    bars = ax.patches[:-1]
    assert bars[0].get_x() == pytest.approx(0.04)
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(0.12)


def test_every_form_of_interval_has_its_row(ax, make_estimate):
    intervals(_perturbed(make_estimate("error_rate", 0.1, 0.04, 0.18), (0.0, 0.1)), ax)
    assert _rows(ax) == ["exact", "normal"]
    ends = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert ends == [[0.03, 0.2], [0.02, 0.18]]


def test_learners_stand_best_first_and_what_the_choice_is_worth_below(
    ax, make_evaluation, make_estimate
):
    def judged(value):
        one = make_estimate("error_rate", value, value - 0.02, value + 0.02)
        return make_evaluation(estimates={"error_rate": one})

    corrected = make_estimate("error_rate", 0.12, 0.08, 0.17)
    evaluations = {"tree": judged(0.3), "svm": judged(0.1)}
    learners(
        BestOf(
            evaluations=evaluations,
            measure="error_rate",
            winner="svm",
            optimism=0.02,
            corrected=corrected,
        ),
        ax,
    )
    assert _rows(ax) == ["svm", "tree", "best of 2, corrected"]
    assert [line.get_xdata()[0] for line in ax.lines] == [0.1, 0.3, 0.12]
    assert [line.get_color() for line in ax.lines] == [BLUE, BLUE, VERMILION]


def test_the_matrix_has_counts_shares_and_the_colours_of_right_and_wrong(ax, evaluation):
    confusion(evaluation, ax)
    told = {text.get_position(): text.get_text() for text in ax.texts}
    assert told == {
        (0, 0): "850\n95.5 %",
        (1, 0): "40\n4.5 %",
        (0, 1): "50\n50.0 %",
        (1, 1): "50\n50.0 %",
    }
    (cells,) = ax.collections
    colours = cells.get_array()
    assert colours[0, 0].tolist() == pytest.approx([*to_rgb(BLUE), DARKEST * 850 / 890])
    assert colours[1, 0].tolist() == pytest.approx([*to_rgb(VERMILION), DARKEST * 0.5])
    assert _rows(ax) == ["ham", "spam"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("called", "true")
    assert ax.get_ylim() == (1.5, -0.5)


def test_a_class_without_examples_has_no_share_and_no_colour(ax, make_evaluation):
    confusion(make_evaluation(counts=[[0, 0], [3, 4]]), ax)
    assert ax.texts[0].get_text() == "0\n–"
    assert ax.collections[0].get_array()[0, 0, 3] == 0


def test_cells_too_small_for_letters_have_none(make_evaluation):
    labels = [f"class {at}" for at in range(30)]
    ax = Figure(figsize=(2, 2)).subplots()
    confusion(make_evaluation(labels, counts=np.eye(30, dtype=int)), ax)
    assert not ax.texts
    assert len(ax.get_xticklabels()) == 30
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {90.0}


def test_what_has_no_matrix_or_too_many_classes_is_refused(ax, make_evaluation):
    with pytest.raises(InputError, match="must count one label an example"):
        confusion(make_evaluation(tallies=None), ax)
    labels = [str(at) for at in range(31)]
    with pytest.raises(InputError, match="at most 30 classes to be drawn as a matrix; got 31"):
        confusion(make_evaluation(labels, counts=np.eye(31, dtype=int)), ax)
