import numpy as np
import pytest

from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.reporting.page import report_of
from truerisk.reporting.results.xi_alpha import xi_alpha_chapter
from truerisk.svm.linear import LinearSVM


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    return rng.normal(size=(45, 2)) + 2 * y[:, None], y


def _found(problem, classes, **options):
    X, y = problem
    y = y if classes > 2 else (y == 2).astype(int)
    return xi_alpha(LinearSVM(C=0.05).fit(X, y), X, y, **options)


def test_it_says_which_estimate_it_is_and_how_many_are_at_risk(problem):
    found = _found(problem, 2)
    chapter = xi_alpha_chapter(found)
    assert chapter.subtitle.startswith("ξα-estimate, ρ = 1, no refit · 45 examples")
    assert chapter.verdict[0].startswith(f"{len(found.at_risk[0])} of 45 training examples are at")
    refined = xi_alpha_chapter(_found(problem, 2, refine="span"))
    assert refined.subtitle.startswith("ξα-estimate, ρ = 1, refined by the span, no refit")
    searched = xi_alpha_chapter(_found(problem, 2, refine="search", depth=3))
    assert "ρ = 1, refined by a search of depth 3, no refit" in searched.subtitle


def test_every_rho_has_a_column(problem):
    found = _found(problem, 2, rho=1.5)
    table = xi_alpha_chapter(found).sections[1].data
    assert [column["heading"] for column in table["columns"]] == [
        "Measure", "ρ = 1", "ρ = 1.5", "ρ = 2",
    ]  # fmt: skip
    assert found.at_rho[1.0]["error_rate"].value < found.at_rho[2.0]["error_rate"].value
    row = dict(zip(found, table["rows"], strict=True))["error_rate"]
    for cell, at in zip(row[1:], found.at_rho.values(), strict=True):
        bound = at["error_rate"].interval.high
        assert cell == f"{at['error_rate'].value:.3f}, at most {bound:.3f}"


def test_of_several_classes_decisions_are_counted(problem):
    found = _found(problem, 3)
    chapter = xi_alpha_chapter(found)
    assert " of 135 decisions about the training examples are at risk" in chapter.verdict[0]
    assert "at every ρ" in report_of(found).html.lower()


def test_what_is_said_of_all_measures_is_said_once(problem):
    found = _found(problem, 2)
    notes = xi_alpha_chapter(found).notes
    for note in found.notes:
        assert sum(note in told for told in notes) == 1
