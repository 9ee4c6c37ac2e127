from dataclasses import replace

import pytest

from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.reporting.page import report_of
from truerisk.reporting.results.side_by_side import METHODS, side_by_side_chapter


@pytest.fixture
def found(make_estimate):
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


def test_every_method_has_a_row_in_its_own_words(found):
    rows = side_by_side_chapter(found).sections[0].data["groups"][0]["rows"]
    assert [row["title"] for row in rows] == [title for title, _ in METHODS.values()]
    assert rows[0]["summary"] == "leans to the good side, far"


def test_no_fold_is_told_only_where_there_is_none(found):
    assert "one training, beside cross-validation" in side_by_side_chapter(found).subtitle
    without = replace(found, estimates=found.estimates[:-1], seconds=found.seconds[:-1])
    assert "one training, no fold" in side_by_side_chapter(without).subtitle


def test_the_exact_one_is_told_first(found):
    chapter = side_by_side_chapter(found)
    assert [tile.title for tile in chapter.tiles] == [
        "Leave-one-out, exact", "Span rule", "ξα, ρ = 2",
    ]  # fmt: skip
    assert chapter.verdict[0].startswith("Trained without each example in turn")
    assert "0.250 [0.000, 0.350]" in chapter.verdict[0]


def test_the_costs_are_those_after_training(found):
    table = side_by_side_chapter(found).sections[1]
    assert table.lead == "The SVM was trained once in 500 ms; each took so much longer."
    assert [row[3] for row in table.data["rows"]] == [
        "0 µs", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms", "6 ms", "7 ms", "8 ms", "9 ms",
    ]  # fmt: skip


def test_a_note_on_several_is_told_once(found):
    notes = side_by_side_chapter(found).notes
    assert notes[0] == "Training error: measured on the training"
    assert notes[1].startswith("ξα, ρ = 1; ξα, ρ = 2; ")
    assert len(notes) == 2


def test_the_page_is_made(found):
    assert "with no test set?" in report_of(found).html
