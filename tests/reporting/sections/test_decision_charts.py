import numpy as np
import pytest

from truerisk.evaluation.evaluate import evaluate
from truerisk.measures.curves import roc
from truerisk.measures.rejection import rejection
from truerisk.measures.thresholds import best_threshold, sweep
from truerisk.reporting.page.charts import Upright, drawn
from truerisk.reporting.sections.decision_charts import (
    cost_chart,
    cost_curve_chart,
    costs_of,
    rejection_chart,
)
from truerisk.tallies.ranking import rank

RNG = np.random.default_rng(12)
TRUTH = (RNG.random(200) < 0.4).astype(int)
SCORES = RNG.normal(size=200) + 1.5 * TRUTH
RANKING = rank(SCORES, TRUTH == 1)
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
    assert costs_of(evaluate(TRUTH, y_score=SCORES, threshold=0, costs=costs)) == COSTS


def test_costs_are_of_the_label_that_is_positive():
    evaluation = evaluate(
        TRUTH, y_score=-SCORES, threshold=0, pos_label="0", costs=[[1, 2], [3, 4]]
    )
    assert costs_of(evaluation) == {"tp": 1, "fp": 3, "fn": 2, "tn": 4}


def test_without_costs_or_with_several_classes_there_are_none():
    assert costs_of(evaluate(TRUTH, y_score=SCORES, threshold=0)) is None
    assert costs_of(evaluate(["a", "b", "c"], ["a", "b", "b"], costs={("a", "b"): 1})) is None


def test_the_cheapest_threshold_is_marked():
    best = best_threshold(RANKING, by="cost", costs=COSTS)
    chart = cost_chart(sweep(RANKING), COSTS, [Upright(0.5, "here")])
    assert chart.description == (
        f"The least cost is {best.value:.3f}, at the threshold {best.at:.4g}."
    )
    assert "(a false alarm 1, a positive missed 5, a negative left alone -0.5)" in chart.caption
    assert [shape["kind"] for shape in drawn(chart)["shapes"]] == ["line", "dots", "upright"]


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
    point = rejection(TRUTH, SCORES, threshold=0.5).threshold_for_rejection(0.1)
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
    assert len(drawn(chart)["shapes"][1]["points"]) == ("threshold" in words)
