from dataclasses import replace

import numpy as np
import pytest

from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.selection import Candidate, Selection, select
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.reporting.page import report_of
from truerisk.reporting.presenter import facts_of
from truerisk.reporting.render.html import WIDTH, svg_of
from truerisk.reporting.results.svm import (
    METHODS,
    LeaveOneOutPresenter,
    SelectionPresenter,
    SideBySidePresenter,
    XiAlphaPresenter,
)
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM


@pytest.fixture(scope="module")
def left_out():
    return leave_one_out(LinearSVM(C=10), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_it_says_what_it_is_and_what_it_took(left_out):
    chapter = LeaveOneOutPresenter().chapter(left_out)
    assert chapter.subtitle.startswith("leave-one-out, exact · 4 examples")
    facts = dict(facts_of(left_out))
    assert facts["called wrong by the model trained without them"] == "1 example"
    assert facts["margin exactly 0, so that the call is arbitrary"] == "2 examples"
    assert facts["refits; the other calls follow from the training on all"] == "2"


def test_the_page_of_leave_one_out_is_made(left_out):
    assert "leave-one-out, exact" in report_of(left_out).html


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    return rng.normal(size=(45, 2)) + 2 * y[:, None], y


def _estimated(problem, classes, **options):
    X, y = problem
    y = y if classes > 2 else (y == 2).astype(int)
    return xi_alpha(LinearSVM(C=0.05).fit(X, y), X, y, **options)


def test_it_says_which_estimate_it_is_and_how_many_are_at_risk(problem):
    result = _estimated(problem, 2)
    chapter = XiAlphaPresenter().chapter(result)
    assert chapter.subtitle.startswith("ξα-estimate, ρ = 1, no refit · 45 examples")
    assert chapter.verdict[0].startswith(f"{len(result.at_risk[0])} of 45 training examples are at")
    refined = XiAlphaPresenter().chapter(_estimated(problem, 2, refine="span"))
    assert refined.subtitle.startswith("ξα-estimate, ρ = 1, refined by the span, no refit")
    searched = XiAlphaPresenter().chapter(_estimated(problem, 2, refine="search", depth=3))
    assert "ρ = 1, refined by a search of depth 3, no refit" in searched.subtitle


def test_every_rho_has_a_column(problem):
    result = _estimated(problem, 2, rho=1.5)
    table = XiAlphaPresenter().chapter(result).sections[1].data
    assert [column["heading"] for column in table["columns"]] == [
        "Measure", "ρ = 1", "ρ = 1.5", "ρ = 2",
    ]  # fmt: skip
    assert result.at_rho[1.0]["error_rate"].value < result.at_rho[2.0]["error_rate"].value
    row = dict(zip(result, table["rows"], strict=True))["error_rate"]
    for cell, at in zip(row[1:], result.at_rho.values(), strict=True):
        bound = at["error_rate"].interval.high
        assert cell == f"{at['error_rate'].value:.3f}, at most {bound:.3f}"


def test_of_several_classes_decisions_are_counted(problem):
    result = _estimated(problem, 3)
    chapter = XiAlphaPresenter().chapter(result)
    assert " of 135 decisions about the training examples are at risk" in chapter.verdict[0]
    assert "at every ρ" in report_of(result).html.lower()


def test_what_is_said_of_all_measures_is_said_once(problem):
    result = _estimated(problem, 2)
    notes = XiAlphaPresenter().chapter(result).notes
    for note in result.notes:
        assert sum(note in words for words in notes) == 1


@pytest.fixture
def estimates_side_by_side(make_estimate):
    estimates = []
    for at, method in enumerate(METHODS):
        one = make_estimate("error_rate", at / 20, 0.0, at / 20 + 0.1, notes=("of all",))
        estimates.append(replace(one, method=method))
    estimates[0] = replace(estimates[0], interval=None, notes=("measured on the training",))
    return SideBySide(
        estimates=tuple(estimates),
        seconds=tuple(at / 1000 for at in range(len(estimates))),
        training_seconds=0.5,
    )


def test_every_method_has_a_row_in_its_own_words(estimates_side_by_side):
    rows = (
        SideBySidePresenter().chapter(estimates_side_by_side).sections[0].data["groups"][0]["rows"]
    )
    assert [row["title"] for row in rows] == [title for title, _ in METHODS.values()]
    assert rows[0]["summary"] == "leans to the good side, far"


def test_no_fold_is_told_only_where_there_is_none(estimates_side_by_side):
    assert (
        "one training, beside cross-validation"
        in SideBySidePresenter().chapter(estimates_side_by_side).subtitle
    )
    without = replace(
        estimates_side_by_side,
        estimates=estimates_side_by_side.estimates[:-1],
        seconds=estimates_side_by_side.seconds[:-1],
    )
    assert "one training, no fold" in SideBySidePresenter().chapter(without).subtitle


def test_the_exact_one_is_told_first(estimates_side_by_side):
    chapter = SideBySidePresenter().chapter(estimates_side_by_side)
    assert [tile.title for tile in chapter.tiles] == [
        "Leave-one-out, exact", "Span rule", "ξα, ρ = 2",
    ]  # fmt: skip
    assert chapter.verdict[0].startswith("Trained without each example in turn")
    assert "0.250 [0.000, 0.350]" in chapter.verdict[0]


def test_the_costs_are_those_after_training(estimates_side_by_side):
    table = SideBySidePresenter().chapter(estimates_side_by_side).sections[1]
    assert table.lead == "The SVM was trained once in 500 ms; each took so much longer."
    assert [row[3] for row in table.data["rows"]] == [
        "0 µs", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms", "6 ms", "7 ms", "8 ms", "9 ms",
    ]  # fmt: skip


def test_a_note_on_several_is_told_once(estimates_side_by_side):
    notes = SideBySidePresenter().chapter(estimates_side_by_side).notes
    assert notes[0] == "Training error: measured on the training"
    assert notes[1].startswith("ξα, ρ = 1; ξα, ρ = 2; ")
    assert len(notes) == 2


def test_the_page_of_all_estimates_is_made(estimates_side_by_side):
    assert "with no test set?" in report_of(estimates_side_by_side).html


@pytest.fixture(scope="module")
def choices():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 2)) + 1.5 * y[:, None], y


@pytest.fixture(scope="module")
def selection(choices):
    over = {"gamma": [0.1, 1.0], "C": [0.1, 1.0, 10.0]}
    return select(KernelSVM(), *choices, over=over, replicates=50)


def _made(make_estimate, settings):
    candidates = tuple(
        Candidate(
            parameters=one, estimate=make_estimate("f1", 0.5 + at / 10, 0.4, 0.9), stable=at > 0
        )
        for at, one in enumerate(settings)
    )
    best = candidates[-1]
    return Selection(
        candidates=candidates,
        best=best.parameters,
        estimate=best.estimate,
        corrected=make_estimate("f1", 0.55, 0.4, 0.7),
    )


def test_a_line_for_each_other_setting_and_a_mark_at_the_chosen_cost(selection):
    chapter = SelectionPresenter().chapter(selection)
    assert chapter.title == "Which C and gamma?"
    chart = svg_of(chapter.sections[0].data["charts"][0])
    lines = [shape for shape in chart["shapes"] if shape["kind"] == "line"]
    assert len(lines) == len([shape for shape in chart["shapes"] if shape["kind"] == "band"]) == 2
    assert sorted(entry["words"] for entry in chart["legend"]) == ["gamma=0.1", "gamma=1.0"]
    (mark,) = [shape for shape in chart["shapes"] if shape["kind"] == "upright"]
    assert mark["words"] == f"chosen: {selection.best['C']:g}"


def test_costs_over_a_decade_are_on_a_log_scale(choices):
    over = {"C": [0.1, 1.0, 10.0]}
    chapter = SelectionPresenter().chapter(select(LinearSVM(), *choices, over=over, replicates=50))
    assert chapter.title == "Which C?"
    chart = svg_of(chapter.sections[0].data["charts"][0])
    (dots,) = [shape for shape in chart["shapes"] if shape["kind"] == "dots"]
    assert float(dots["points"][1]["x"]) == pytest.approx(WIDTH / 2, abs=0.1)
    assert chart["legend"] == []


def test_the_table_has_every_candidate_and_marks_the_chosen_one(selection):
    table = SelectionPresenter().chapter(selection).sections[1].data
    assert len(table["rows"]) == 6
    (chosen,) = [row for row in table["rows"] if row[-1]]
    assert dict(zip(selection.best, chosen, strict=False)) == {
        name: f"{value:g}" for name, value in selection.best.items()
    }


def test_the_corrected_value_comes_first(selection):
    chapter = SelectionPresenter().chapter(selection)
    assert chapter.tiles[0].value == f"{selection.corrected.value:.3f}"
    assert chapter.verdict[0].startswith("Chosen: gamma=")
    assert f"is worth Error rate {selection.corrected.value:.3f}" in chapter.verdict[1]


def test_where_nothing_is_a_number_the_settings_are_a_forest(make_estimate):
    made = _made(make_estimate, [{"kernel": "linear"}, {"kernel": "<rbf>"}])
    chapter = SelectionPresenter().chapter(made)
    assert chapter.title == "Which kernel?"
    assert chapter.sections[0].kind == "forest"
    assert chapter.verdict[-1].startswith("1 other setting lies")
    assert "1 setting is not stable" in chapter.notes[0]
    assert "&lt;rbf&gt;" in report_of(made).html


def test_the_best_settings_are_drawn_where_there_are_many(make_estimate):
    settings = [{"gamma": gamma, "C": cost} for gamma in range(1, 8) for cost in (1.0, 2.0)]
    chapter = SelectionPresenter().chapter(_made(make_estimate, settings))
    chart = svg_of(chapter.sections[0].data["charts"][0])
    assert [entry["words"] for entry in chart["legend"]] == [
        f"gamma={at}" for at in (7, 6, 5, 4, 3)
    ]
