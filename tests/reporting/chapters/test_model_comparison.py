"""The chapter of two learners compared."""

from dataclasses import fields as fields_of
from dataclasses import replace

import pytest

from truerisk.comparison.learners.model_comparisons import (
    BayesianComparison,
    ModelComparisons,
    Probabilities,
)
from truerisk.reporting.chapters.model_comparison import model_comparison_chapter
from truerisk.reporting.page.report import report_of
from truerisk.results import Comparison, Estimate, Interval, Resampled

HOSTILE = '<img src=x onerror="alert(1)">\u202e'


def error(value, low, high, replicates=()):
    return Resampled(
        value=value,
        interval=Interval(low, high, 0.95, "corrected_t"),
        measure="error_rate",
        method="refits",
        n=100,
        target="the learner at this sample size",
        replicates=replicates,
    )


@pytest.fixture
def found():
    """Give a comparison whose second learner is better in three refits of five."""
    return Comparison(
        names=("a", "b"),
        first=error(0.16, 0.1, 0.22, (0.1, 0.2, 0.2, 0.14, 0.1)),
        second=error(0.10, 0.05, 0.15, (0.12, 0.1, 0.1, 0.08, 0.1)),
        difference=error(-0.06, -0.11, -0.01),
        p_value=0.02,
        method="corrected_t",
        finding="better",
        verdict="b is better than a.",
        region=0.02,
        notes=("Both on the same folds.",),
    )


def fields(found):
    return {one.name: getattr(found, one.name) for one in fields_of(Comparison)}


def test_one_comparison_is_drawn_large_with_both_values_in_tiles(found):
    chapter = model_comparison_chapter(found)
    assert chapter.title == "Is b better than a?"
    assert chapter.verdict == ("b is better than a.",)
    assert [tile.value for tile in chapter.tiles] == ["0.160", "0.100", "-0.060"]
    drawn = chapter.sections[0].data
    assert drawn["main"]["drawn"]["sides"]["left"] == "← b better"
    assert drawn["groups"] == []


def test_refits_are_drawn_second_against_first(found):
    section = model_comparison_chapter(found).sections[1]
    assert section.kind == "charts"
    (chart,) = section.data["charts"]
    assert chart["caption"] == "b is higher in 1 of 5 refits, lower in 3."
    assert (chart["x_title"], chart["y_title"]) == ("Error rate: a", "Error rate: b")
    assert len(chart["shapes"][1]["points"]) == 5
    alone = replace(found, first=error(0.16, 0.1, 0.22))
    assert len(model_comparison_chapter(alone).sections) == 1


def test_a_posterior_is_a_bar_of_three_parts(found):
    chances = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    bayesian = BayesianComparison(**fields(found) | {"p_value": None}, probabilities=chances)
    section = model_comparison_chapter(bayesian).sections[1]
    assert section.kind == "probabilities"
    widths = [part["width"] for part in section.data["rows"][0]["parts"]]
    assert widths == pytest.approx([3, 7, 90])
    assert "± 0.02" in section.lead


def test_several_measures_are_grouped_under_the_first(found):
    f1 = replace(found, difference=replace(found.difference, measure="f1"), verdict="By F1 too.")
    chapter = model_comparison_chapter(
        ModelComparisons(comparisons={"error_rate": found, "f1": f1})
    )
    assert chapter.verdict == ("b is better than a.", "By F1 too.")
    assert [group["rows"][0]["title"] for group in chapter.sections[0].data["groups"]] == ["F1"]
    assert "not adjusted" in chapter.notes[-1]
    assert chapter.notes.count("Both on the same folds.") == 1


def test_names_are_texts_on_the_page(found):
    page = report_of(replace(found, names=("a", HOSTILE), verdict=HOSTILE)).html
    assert "<img" not in page
    assert "\u202e" not in page


def test_plain_estimates_need_no_replicates(found):
    plain = Estimate(value=0.1, interval=None, measure="error_rate", method="counts", n=10)
    bare = replace(found, first=plain, second=plain, difference=plain, region=None)
    chapter = model_comparison_chapter(bare)
    assert chapter.tiles[2].interval == "–"
    assert len(chapter.sections) == 1
