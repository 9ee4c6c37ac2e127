import io
import json
import math
from dataclasses import fields as fields_of
from dataclasses import replace

import pytest
from rich.console import Console

from truerisk.comparison.learners.compare_models import (
    BayesianComparison,
    ModelComparisons,
    Probabilities,
)
from truerisk.reporting.page import report_of
from truerisk.reporting.render.formats import formatted
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.results.comparison import model_comparison_chapter, model_comparison_table
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
def result():
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


def fields(result):
    return {one.name: getattr(result, one.name) for one in fields_of(Comparison)}


def test_one_comparison_is_drawn_large_with_both_values_in_tiles(result):
    chapter = model_comparison_chapter(result)
    assert chapter.title == "Is b better than a?"
    assert chapter.verdict == ("b is better than a.",)
    assert [tile.value for tile in chapter.tiles] == ["0.160", "0.100", "-0.060"]
    drawn = chapter.sections[0].data
    assert drawn["main"]["drawn"]["sides"]["left"] == "← b better"
    assert drawn["groups"] == []


def test_refits_are_drawn_second_against_first(result):
    section = model_comparison_chapter(result).sections[1]
    assert section.kind == "charts"
    chart = svg_of(section.data["charts"][0])
    assert chart["caption"] == "b is higher in 1 of 5 refits, lower in 3."
    assert (chart["x_title"], chart["y_title"]) == ("Error rate: a", "Error rate: b")
    assert len(chart["shapes"][1]["points"]) == 5
    alone = replace(result, first=error(0.16, 0.1, 0.22))
    assert len(model_comparison_chapter(alone).sections) == 1


def test_a_posterior_is_a_bar_of_three_parts(result):
    chances = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    bayesian = BayesianComparison(**fields(result) | {"p_value": None}, probabilities=chances)
    section = model_comparison_chapter(bayesian).sections[1]
    assert section.kind == "probabilities"
    widths = [part["width"] for part in section.data["rows"][0]["parts"]]
    assert widths == pytest.approx([3, 7, 90])
    assert "± 0.02" in section.lead


def test_several_measures_are_grouped_under_the_first(result):
    f1 = replace(result, difference=replace(result.difference, measure="f1"), verdict="By F1 too.")
    chapter = model_comparison_chapter(
        ModelComparisons(comparisons={"error_rate": result, "f1": f1})
    )
    assert chapter.verdict == ("b is better than a.", "By F1 too.")
    assert [group["rows"][0]["title"] for group in chapter.sections[0].data["groups"]] == ["F1"]
    assert "not adjusted" in chapter.notes[-1]
    assert chapter.notes.count("Both on the same folds.") == 1


def test_names_are_texts_on_the_page(result):
    page = report_of(replace(result, names=("a", HOSTILE), verdict=HOSTILE)).html
    assert "<img" not in page
    assert "\u202e" not in page


def test_plain_estimates_need_no_replicates(result):
    plain = Estimate(value=0.1, interval=None, measure="error_rate", method="counts", n=10)
    bare = replace(result, first=plain, second=plain, difference=plain, region=None)
    chapter = model_comparison_chapter(bare)
    assert chapter.tiles[2].interval == "–"
    assert len(chapter.sections) == 1


HOSTILE_2 = "<b>=1+1\x1b[31m"


def error_2(value, low, high):
    interval = Interval(low, high, 0.95, "corrected_t")
    return Estimate(value=value, interval=interval, measure="error_rate", method="refits", n=100)


@pytest.fixture
def other():
    """Give a comparison whose second learner is better."""
    return Comparison(
        names=("a", "b"),
        first=error_2(0.16, 0.1, 0.22),
        second=error_2(0.10, 0.05, 0.15),
        difference=error_2(-0.06, -0.11, -0.01),
        p_value=0.02,
        method="corrected_t",
        finding="better",
        verdict="b is better than a.",
        notes=("Both on the same folds.",),
    )


def test_the_table_has_a_row_for_each_learner_and_one_for_the_difference(other):
    table = model_comparison_table(other)
    assert table.title == "Learners compared (corrected_t): better"
    assert table.rows == (
        ("a", "0.160", "[0.100, 0.220]", ""),
        ("b", "0.100", "[0.050, 0.150]", ""),
        ("b − a", "-0.060", "[-0.110, -0.010]°", "0.020"),  # of a difference, not measured
    )


@pytest.mark.parametrize(
    ("p_value", "shown"), [(None, "–"), (math.nan, "undefined"), (1e-9, "<0.0001"), (1.0, "1.000")]
)
def test_a_p_value_is_told_as_far_as_it_is_known(other, p_value, shown):
    assert model_comparison_table(replace(other, p_value=p_value)).rows[2][3] == shown


def test_the_terminal_gets_the_verdict_first_and_the_notes_last(other):
    words = io.StringIO()
    print_result(other, Console(file=words, width=80))
    text = words.getvalue()
    assert text.index("b is better") < text.index("Learners") < text.index("same folds")


def test_the_terminal_gets_the_probabilities(other):
    shares = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    words = io.StringIO()
    fields = {one.name: getattr(other, one.name) for one in fields_of(Comparison)}
    one = BayesianComparison(**fields, probabilities=shares)
    print_result(one, Console(file=words, width=80))
    assert "better 0.900" in words.getvalue()


def test_json_holds_every_number_and_csv_a_row_for_each(other):
    plain = json.loads(formatted(other, "json", source={"target": "y"}))
    assert plain["difference"]["interval"]["low"] == -0.11
    assert plain["source"] == {"target": "y"}
    lines = formatted(other, "csv").splitlines()
    assert lines[3].startswith("b,a,error_rate,,-0.06,-0.11,-0.01,0.95,corrected_t,")
    assert ",100,this model,Both on the same folds.,0.02,better," in lines[3]


def test_names_of_learners_are_never_interpreted(other):
    hostile = replace(other, names=("a", HOSTILE_2))
    words = io.StringIO()
    print_result(replace(hostile, verdict=HOSTILE_2), Console(file=words, width=80))
    assert "\x1b[31m" not in words.getvalue()
    for form in ("csv", "markdown", "latex"):
        text = formatted(hostile, form)
        assert "\x1b" not in text
    assert "<b>" not in formatted(hostile, "markdown")
    formula = replace(other, names=("=1+1", "b"))
    assert formatted(formula, "csv").splitlines()[1].startswith("'=1+1")
