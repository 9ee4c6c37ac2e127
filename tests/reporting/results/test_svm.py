from dataclasses import replace

import numpy as np
import pytest

from truerisk.estimation.svm.leave_one_out import leave_one_out
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.reporting.page import report_of
from truerisk.reporting.presenter import facts_of
from truerisk.reporting.results.svm import (
    METHODS,
    leave_one_out_chapter,
    side_by_side_chapter,
    xi_alpha_chapter,
)
from truerisk.svm.linear import LinearSVM


@pytest.fixture(scope="module")
def left_out():
    return leave_one_out(LinearSVM(C=10), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_it_says_what_it_is_and_what_it_took(left_out):
    chapter = leave_one_out_chapter(left_out)
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
    chapter = xi_alpha_chapter(result)
    assert chapter.subtitle.startswith("ξα-estimate, ρ = 1, no refit · 45 examples")
    assert chapter.verdict[0].startswith(f"{len(result.at_risk[0])} of 45 training examples are at")
    refined = xi_alpha_chapter(_estimated(problem, 2, refine="span"))
    assert refined.subtitle.startswith("ξα-estimate, ρ = 1, refined by the span, no refit")
    searched = xi_alpha_chapter(_estimated(problem, 2, refine="search", depth=3))
    assert "ρ = 1, refined by a search of depth 3, no refit" in searched.subtitle


def test_every_rho_has_a_column(problem):
    result = _estimated(problem, 2, rho=1.5)
    table = xi_alpha_chapter(result).sections[1].data
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
    chapter = xi_alpha_chapter(result)
    assert " of 135 decisions about the training examples are at risk" in chapter.verdict[0]
    assert "at every ρ" in report_of(result).html.lower()


def test_what_is_said_of_all_measures_is_said_once(problem):
    result = _estimated(problem, 2)
    notes = xi_alpha_chapter(result).notes
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
    rows = side_by_side_chapter(estimates_side_by_side).sections[0].data["groups"][0]["rows"]
    assert [row["title"] for row in rows] == [title for title, _ in METHODS.values()]
    assert rows[0]["summary"] == "leans to the good side, far"


def test_no_fold_is_told_only_where_there_is_none(estimates_side_by_side):
    assert (
        "one training, beside cross-validation"
        in side_by_side_chapter(estimates_side_by_side).subtitle
    )
    without = replace(
        estimates_side_by_side,
        estimates=estimates_side_by_side.estimates[:-1],
        seconds=estimates_side_by_side.seconds[:-1],
    )
    assert "one training, no fold" in side_by_side_chapter(without).subtitle


def test_the_exact_one_is_told_first(estimates_side_by_side):
    chapter = side_by_side_chapter(estimates_side_by_side)
    assert [tile.title for tile in chapter.tiles] == [
        "Leave-one-out, exact", "Span rule", "ξα, ρ = 2",
    ]  # fmt: skip
    assert chapter.verdict[0].startswith("Trained without each example in turn")
    assert "0.250 [0.000, 0.350]" in chapter.verdict[0]


def test_the_costs_are_those_after_training(estimates_side_by_side):
    table = side_by_side_chapter(estimates_side_by_side).sections[1]
    assert table.lead == "The SVM was trained once in 500 ms; each took so much longer."
    assert [row[3] for row in table.data["rows"]] == [
        "0 µs", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms", "6 ms", "7 ms", "8 ms", "9 ms",
    ]  # fmt: skip


def test_a_note_on_several_is_told_once(estimates_side_by_side):
    notes = side_by_side_chapter(estimates_side_by_side).notes
    assert notes[0] == "Training error: measured on the training"
    assert notes[1].startswith("ξα, ρ = 1; ξα, ρ = 2; ")
    assert len(notes) == 2


def test_the_page_of_all_estimates_is_made(estimates_side_by_side):
    assert "with no test set?" in report_of(estimates_side_by_side).html
