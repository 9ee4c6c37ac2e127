import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from truerisk.estimation.refits.estimate import estimate
from truerisk.evaluation.curve_bands import NO_BAND
from truerisk.evaluation.evaluate import evaluate
from truerisk.reporting.sections.score_curves import OF_REFITS, score_sections

RNG = np.random.default_rng(12)
TRUTH = (RNG.random(200) < 0.4).astype(int)
SCORES = (1 / (1 + np.exp(-RNG.normal(size=200) - 1.5 * TRUTH))).round(6)


def charts_of(evaluation):
    return {
        chart["title"]: chart
        for section in score_sections(evaluation)
        for chart in section.data["charts"]
    }


def inks(chart, kind):
    return [shape["ink"] for shape in chart["shapes"] if shape["kind"] == kind]


def test_every_chart_says_what_it_shows_and_its_key_numbers():
    evaluation = evaluate(TRUTH, y_score=SCORES, threshold=0.6)
    charts = charts_of(evaluation)
    assert list(charts) == [
        "ROC curve",
        "Precision and recall",
        "Scores by class",
        "Calibration",
        "Errors against rejections",
        "Cost curve",
    ]
    for chart in charts.values():
        assert chart["caption"].endswith(".")
        assert any(character.isdigit() for character in chart["description"])
    area = evaluation["roc_auc"].value
    assert f"The area under the curve is {area:.3f}." in charts["ROC curve"]["description"]
    wrong = evaluation["error_rate"].value
    rejected = charts["Errors against rejections"]["description"]
    assert f"answered the error rate is {wrong:.3f};" in rejected


def test_the_working_point_lies_where_the_evaluation_says():
    evaluation = evaluate(TRUTH, y_score=SCORES, threshold=0.6)
    charts = charts_of(evaluation)
    for title, x, y in (
        ("ROC curve", 1 - evaluation["specificity"].value, evaluation["recall"].value),
        ("Precision and recall", evaluation["recall"].value, evaluation["precision"].value),
    ):
        dots = [shape for shape in charts[title]["shapes"] if shape["kind"] == "dots"]
        place = dots[0]["points"][0]
        assert float(place["x"]) == pytest.approx(340 * x, abs=0.01)
        assert float(place["y"]) == pytest.approx(240 * (1 - y), abs=0.01)
        assert {"at threshold 0.6"} <= {entry["words"] for entry in charts[title]["legend"]}


def test_bands_are_drawn_at_the_level_of_the_evaluation():
    charts = charts_of(evaluate(TRUTH, y_score=SCORES, level=0.9))
    for title in ("ROC curve", "Precision and recall"):
        assert inks(charts[title], "band") == ["first"]
        assert charts[title]["legend"][0]["words"] == "90 % band for the whole curve"


@pytest.mark.parametrize(
    "options", [{"groups": np.arange(200) // 4}, {"sample_weight": np.linspace(1, 3, 200)}]
)
def test_rows_that_are_weighted_or_grouped_have_no_band_and_the_page_says_why(options):
    evaluation = evaluate(TRUTH, y_score=SCORES, threshold=0.5, **options)
    sections = {section.title: section for section in score_sections(evaluation)}
    assert sections["How well the scores rank"].lead == NO_BAND
    charts = charts_of(evaluation)
    assert not inks(charts["ROC curve"], "band")
    dots = [shape for shape in charts["Calibration"]["shapes"] if shape["kind"] == "dots"]
    assert dots[0]["points"]
    assert not dots[0]["whiskers"]
    assert "bars" not in charts["Calibration"]["caption"]


def test_calibration_is_about_probabilities_or_says_if():
    unsaid = charts_of(evaluate(TRUTH, y_score=SCORES))["Calibration"]["caption"]
    assert unsaid.startswith("If the scores are meant as probabilities: among examples")
    said = charts_of(evaluate(TRUTH, y_score=SCORES, probabilities=True))["Calibration"]["caption"]
    assert said.startswith("Among examples")
    assert "Calibration" not in charts_of(evaluate(TRUTH, y_score=2 * SCORES))


def test_costs_that_were_given_take_the_place_of_all_possible_ones():
    charts = charts_of(evaluate(TRUTH, y_score=SCORES, threshold=0.5, costs={"fp": 1, "fn": 5}))
    assert "Cost by threshold" in charts
    assert "Cost curve" not in charts


def test_several_columns_of_scores_and_none_have_no_charts():
    assert not list(score_sections(evaluate([0, 1], [0, 1])))
    scores = [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.6, 0.2, 0.2]]
    assert not list(score_sections(evaluate(["c", "b", "a"], y_score=scores, labels="abc")))


@pytest.mark.parametrize(
    ("truth", "scores"),
    [
        ([1, 1, 1], [0.1, 0.2, 0.3]),
        ([0, 0, 0], [0.1, 0.2, 0.3]),
        ([0, 1], [0.5, 0.5]),
        ([0, 1], [3.0, 3.0]),
        ([1], [0.5]),
        ([0, 1, 1], [-np.inf, np.inf, 2.0]),
        ([0, 1], [-np.inf, np.inf]),
        ([0, 1], [1e300, -1e300]),
        ([0, 1], [1.7e308, -1.7e308]),
        ([0, 1], [5e-324, 0.0]),
        ([0, 1], [1e15, 1e15 + 1]),
    ],
)
@pytest.mark.parametrize("costs", [None, {"fp": 1, "fn": 5}])
def test_scores_of_any_kind_are_drawn_as_far_as_they_go(truth, scores, costs):
    evaluation = evaluate(
        truth, [0] * len(truth), y_score=scores, pos_label="1", allow_inf=True, costs=costs
    )
    for section in score_sections(evaluation):
        text = json.dumps(section.data, allow_nan=False)
        assert "nan" not in text
        assert "inf" not in text.replace("infinite", "")


def test_names_are_made_visible():
    labels = np.array(["b\u202e", "<script>"])
    chart = charts_of(evaluate(labels[TRUTH], y_score=SCORES, pos_label="<script>"))
    words = [entry["words"] for entry in chart["Scores by class"]["legend"]]
    assert words == ["b\\u202e", "<script>"]  # the template escapes the rest


def test_a_class_that_is_not_there_is_not_described_and_a_long_name_is_cut():
    one = charts_of(evaluate([1, 1], y_score=[0.25, 0.75], threshold=0.5))["Scores by class"]
    assert one["description"] == "Half of the examples of 1 score at least 0.75."
    labels = np.array(["a" * 5000, "b" * 5000])
    long = charts_of(evaluate(labels[TRUTH], y_score=SCORES, pos_label=str(labels[1])))
    assert "…. Half of the" not in long["Scores by class"]["description"]
    assert len(long["Scores by class"]["description"]) < 250


def test_scores_of_several_refits_are_promised_no_band():
    X = np.random.default_rng(3).normal(size=(40, 2)) + (np.arange(40) % 2)[:, None]
    learner = estimate(
        GaussianNB(), X, np.arange(40) % 2, folds=2, repeats=1, random_state=1, replicates=100
    )
    sections = {section.title: section for section in score_sections(learner)}
    assert sections["How well the scores rank"].lead == OF_REFITS
    charts = charts_of(learner)
    for name in ("ROC curve", "Precision and recall"):
        assert "band" not in [shape["kind"] for shape in charts[name]["shapes"]]
        assert "The band holds" not in charts[name]["caption"]
    assert "cross it" not in charts["Calibration"]["caption"]
