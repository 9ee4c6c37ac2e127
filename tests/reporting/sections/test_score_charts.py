import json

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from truerisk.estimation.refits.estimate import estimate
from truerisk.evaluation.best_threshold import rejection
from truerisk.evaluation.curve_bands import NO_BAND
from truerisk.evaluation.evaluate import evaluate
from truerisk.measures.curves import roc
from truerisk.measures.thresholds import optimal_threshold, sweep
from truerisk.reporting.document import Upright
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.sections.score_charts import (
    OF_REFITS,
    cost_chart,
    cost_curve_chart,
    costs_of,
    rejection_chart,
    score_sections,
)
from truerisk.tallies.ranking import rank

RNG = np.random.default_rng(12)
TRUTH = (RNG.random(200) < 0.4).astype(int)
SCORES = (1 / (1 + np.exp(-RNG.normal(size=200) - 1.5 * TRUTH))).round(6)


def charts_of(evaluation):
    return {
        chart["title"]: chart
        for section in score_sections(evaluation)
        for chart in map(svg_of, section.data["charts"])
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
    words = charts_of(evaluate(TRUTH, y_score=SCORES, probabilities=True))["Calibration"]["caption"]
    assert words.startswith("Among examples")
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
        text = json.dumps(list(map(svg_of, section.data["charts"])), allow_nan=False)
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


SCORES_2 = RNG.normal(size=200) + 1.5 * TRUTH
RANKING = rank(SCORES_2, TRUTH == 1)
COSTS = {"tp": 0.0, "fp": 1.0, "fn": 5.0, "tn": -0.5}


@pytest.mark.parametrize(
    "costs",
    [
        {"fp": 1, "fn": 5, "tn": -0.5},
        {("0", "1"): 1, ("1", "0"): 5, ("0", "0"): -0.5},
        [[-0.5, 1], [5, 0]],
    ],
)
def test_costs_are_read_in_every_form_in_which_they_are_given(costs):
    assert costs_of(evaluate(TRUTH, y_score=SCORES_2, threshold=0, costs=costs)) == COSTS


def test_costs_are_of_the_label_that_is_positive():
    evaluation = evaluate(
        TRUTH, y_score=-SCORES_2, threshold=0, pos_label="0", costs=[[1, 2], [3, 4]]
    )
    assert costs_of(evaluation) == {"tp": 1, "fp": 3, "fn": 2, "tn": 4}


def test_without_costs_or_with_several_classes_there_are_none():
    assert costs_of(evaluate(TRUTH, y_score=SCORES_2, threshold=0)) is None
    assert costs_of(evaluate(["a", "b", "c"], ["a", "b", "b"], costs={("a", "b"): 1})) is None


def test_the_cheapest_threshold_is_marked():
    best = optimal_threshold(RANKING, by="cost", costs=COSTS)
    chart = cost_chart(sweep(RANKING), COSTS, [Upright(0.5, "here")])
    assert chart.description == (
        f"The least cost is {best.value:.3f}, at the threshold {best.at:.4g}."
    )
    assert "(a false alarm 1, a positive missed 5, a negative left alone -0.5)" in chart.caption
    assert [shape["kind"] for shape in svg_of(chart)["shapes"]] == ["line", "dots", "upright"]


def test_a_cost_holds_up_to_its_threshold():
    # Cost of false alarms: both at 1, one up to 2, none up to 3.
    table = sweep(rank([1.0, 2.0, 3.0], [False, False, True]))
    line = cost_chart(table, {"tp": 0.0, "fp": 3.0, "fn": 0.0, "tn": 0.0}).shapes[0]
    assert np.array(line.x).tolist() == [1, 1, 2, 2, 3]
    assert np.array(line.y).tolist() == [2, 1, 1, 0, 0]


def test_the_cost_of_scores_that_say_nothing_is_that_of_a_constant_answer():
    chart = cost_curve_chart(roc([0, 1, 0, 1], [1, 1, 1, 1]))
    trivial, best = chart.shapes
    np.testing.assert_allclose(trivial.y, best.y)
    assert chart.description.startswith("Where both classes weigh the same the cost is 0.500;")


def test_rejection_is_told_at_a_tenth():
    chart = rejection_chart(sweep(RANKING), 0.5)
    point = rejection(TRUTH, SCORES_2, threshold=0.5).threshold_for_rejection(0.1)
    assert f"with 10.0 % left undecided it is {point.error_rate:.3f}." in chart.description


def test_error_rates_of_a_handful_of_answers_are_not_drawn():
    line = rejection_chart(sweep(RANKING), 0.5).shapes[0]
    assert max(line.x) == pytest.approx(1 - 30 / 200)


def test_where_all_scores_are_equal_nothing_can_be_rejected():
    assert rejection_chart(sweep(rank([1.0, 1.0], [True, False])), 1.0) is None


@pytest.mark.parametrize(
    ("scores", "costs", "words"),
    [
        # A missed positive earns something: the best is to call none.
        ([1.0, 2.0, 3.0], {"fn": -1.0}, "The least cost is -0.667, if nothing is called positive."),
        ([-np.inf, 2.0, 3.0], {"tp": -1.0}, "if everything is called positive."),
        ([1.0, np.inf, np.inf], {"fn": 9.0}, "if only infinite scores are called positive."),
        ([1.0, 2.0, 3.0], {"fp": 1.0, "fn": 1.0}, "The least cost is 0.000, at the threshold 2."),
    ],
    ids=["none", "all", "infinite", "between"],
)
def test_the_cheapest_threshold_may_be_infinite(scores, costs, words):
    truth = [scores[0] == -np.inf, True, True]
    every = {"tp": 0.0, "fp": 0.0, "fn": 0.0, "tn": 0.0} | costs
    chart = cost_chart(sweep(rank(scores, truth)), every)
    assert chart.description.endswith(words)
    assert words.split(", ")[-1] in chart.caption
    assert len(svg_of(chart)["shapes"][1]["points"]) == ("threshold" in words)
