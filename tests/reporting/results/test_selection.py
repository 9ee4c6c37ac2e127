import numpy as np
import pytest

from truerisk.estimation.svm.selection import Candidate, Selection, select
from truerisk.reporting.page import report_of
from truerisk.reporting.render.html import WIDTH, svg_of
from truerisk.reporting.results.selection import selection_chapter
from truerisk.svm.kernel import KernelSVM
from truerisk.svm.linear import LinearSVM


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.normal(size=(40, 2)) + 1.5 * y[:, None], y


@pytest.fixture(scope="module")
def result(problem):
    over = {"gamma": [0.1, 1.0], "C": [0.1, 1.0, 10.0]}
    return select(KernelSVM(), *problem, over=over, replicates=50)


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


def test_a_line_for_each_other_setting_and_a_mark_at_the_chosen_cost(result):
    chapter = selection_chapter(result)
    assert chapter.title == "Which C and gamma?"
    chart = svg_of(chapter.sections[0].data["charts"][0])
    lines = [shape for shape in chart["shapes"] if shape["kind"] == "line"]
    assert len(lines) == len([shape for shape in chart["shapes"] if shape["kind"] == "band"]) == 2
    assert sorted(entry["words"] for entry in chart["legend"]) == ["gamma=0.1", "gamma=1.0"]
    (mark,) = [shape for shape in chart["shapes"] if shape["kind"] == "upright"]
    assert mark["words"] == f"chosen: {result.best['C']:g}"


def test_costs_over_a_decade_are_on_a_log_scale(problem):
    over = {"C": [0.1, 1.0, 10.0]}
    chapter = selection_chapter(select(LinearSVM(), *problem, over=over, replicates=50))
    assert chapter.title == "Which C?"
    chart = svg_of(chapter.sections[0].data["charts"][0])
    (dots,) = [shape for shape in chart["shapes"] if shape["kind"] == "dots"]
    assert float(dots["points"][1]["x"]) == pytest.approx(WIDTH / 2, abs=0.1)
    assert chart["legend"] == []


def test_the_table_has_every_candidate_and_marks_the_chosen_one(result):
    table = selection_chapter(result).sections[1].data
    assert len(table["rows"]) == 6
    (chosen,) = [row for row in table["rows"] if row[-1]]
    assert dict(zip(result.best, chosen, strict=False)) == {
        name: f"{value:g}" for name, value in result.best.items()
    }


def test_the_corrected_value_comes_first(result):
    chapter = selection_chapter(result)
    assert chapter.tiles[0].value == f"{result.corrected.value:.3f}"
    assert chapter.verdict[0].startswith("Chosen: gamma=")
    assert f"is worth Error rate {result.corrected.value:.3f}" in chapter.verdict[1]


def test_where_nothing_is_a_number_the_settings_are_a_forest(make_estimate):
    made = _made(make_estimate, [{"kernel": "linear"}, {"kernel": "<rbf>"}])
    chapter = selection_chapter(made)
    assert chapter.title == "Which kernel?"
    assert chapter.sections[0].kind == "forest"
    assert chapter.verdict[-1].startswith("1 other setting lies")
    assert "1 setting is not stable" in chapter.notes[0]
    assert "&lt;rbf&gt;" in report_of(made).html


def test_the_best_settings_are_drawn_where_there_are_many(make_estimate):
    settings = [{"gamma": gamma, "C": cost} for gamma in range(1, 8) for cost in (1.0, 2.0)]
    chapter = selection_chapter(_made(make_estimate, settings))
    chart = svg_of(chapter.sections[0].data["charts"][0])
    assert [entry["words"] for entry in chart["legend"]] == [
        f"gamma={at}" for at in (7, 6, 5, 4, 3)
    ]
