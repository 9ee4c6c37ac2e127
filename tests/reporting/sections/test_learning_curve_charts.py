"""The charts of a learning curve: every shape lies where its numbers say."""

from dataclasses import replace

import numpy as np
import pytest

from truerisk.estimation.curves.laws import growth_of
from truerisk.reporting.page.charts import HEIGHT, WIDTH, Scale, drawn
from truerisk.reporting.sections.learning_curve_charts import (
    LAW_POINTS,
    budget_charts,
    cost_chart,
    value_charts,
)

HOSTILE = "<script>alert(1)</script> $x_1$ =1+1"


def _charts(curve, wanted=None):
    charts = (
        *value_charts(curve, wanted),
        cost_chart(curve, "seconds_to_induce"),
        *budget_charts(curve),
    )
    return {chart.title: drawn(chart) for chart in charts}


def _shapes(chart, kind):
    return [shape for shape in chart["shapes"] if shape["kind"] == kind]


def test_a_learner_has_its_mean_its_band_its_whiskers_and_its_training_part(curve):
    chart = _charts(curve)["Error rate on examples held out"]
    lines = _shapes(chart, "line")
    assert [line["ink"] for line in lines] == ["first", "first", "second", "second"]
    assert [line["dashed"] for line in lines] == [True, False, True, False]
    assert len(_shapes(chart, "band")) == 2
    for dots in _shapes(chart, "dots"):
        assert len(dots["points"]) == len(dots["whiskers"]) == 4
    assert "cross-validated" in chart["caption"]


def test_a_mean_is_drawn_where_its_value_is(curve):
    chart = _charts(curve)["Error rate on examples held out"]
    ticks = [(float(mark["at"]), float(mark["words"])) for mark in chart["y_marks"]]
    (low_at, low), (high_at, high) = ticks[0], ticks[-1]
    place = float(_shapes(chart, "dots")[1]["points"][-1]["y"])
    drawn = low + (place - low_at) / (high_at - low_at) * (high - low)
    assert drawn == pytest.approx(curve[HOSTILE].points[-1].mean, abs=0.01 * (high - low))
    assert float(_shapes(chart, "dots")[1]["points"][0]["x"]) < 0.1 * WIDTH


def test_sizes_over_a_decade_are_on_a_log_scale(curve):
    wide = _charts(curve)["Time to train"]
    x = [float(point["x"]) for point in _shapes(wide, "dots")[0]["points"]]
    assert x[3] - x[2] == pytest.approx(x[2] - x[1], abs=0.1)  # 20, 40, 80


def test_the_law_goes_on_to_twice_the_examples_and_on_to_what_is_wanted(curve):
    title = "What more examples would bring, by an inverse power law"
    chart = _charts(curve)[title]
    assert [entry["words"] for entry in chart["legend"]] == ["baseline", HOSTILE]
    (mark,) = _shapes(chart, "upright")
    assert mark["words"] == "all there are"
    to_twice = Scale.over("training examples", [8, 320], log=True)
    assert float(mark["x"]) == pytest.approx(WIDTH * to_twice.place(160), abs=0.01)
    for line in _shapes(chart, "line"):
        assert float(line["path"].split(" L")[-1].split()[0]) > 0.9 * WIDTH
    wanted = _charts(curve, wanted=0.1)[title]
    assert wanted["legend"][-1]["words"] == "wanted: 0.1"
    (ends,) = [line["path"] for line in _shapes(wanted, "line") if line["ink"] == "soft"]
    heights = {part.split()[1] for part in ends[1:].split(" L")}
    assert len(heights) == 1
    assert 0 < float(heights.pop()) < HEIGHT


def test_the_growth_is_drawn_through_the_costs_that_it_fits(curve):
    learner = curve["baseline"]
    points = tuple(
        replace(point, seconds_to_induce=1e-3 * point.size**1.5) for point in learner.points
    )
    growth = growth_of(learner.sizes, [point.seconds_to_induce for point in points])
    made = replace(learner, points=points, growth={**learner.growth, "seconds_to_induce": growth})
    chart = _charts(replace(curve, curves={"a": made}))["Time to train"]
    (line,), (dots,) = _shapes(chart, "line"), _shapes(chart, "dots")
    places = [f"{point['x']} {point['y']}" for point in dots["points"]]
    ends = line["path"][1:].split(" L")[:: LAW_POINTS - 1]
    assert ends == [places[1], places[3]]  # the larger three of the sizes
    assert chart["legend"][0]["words"] == "a ~ n^1.50"
    assert chart["y_title"] == "ms"


def test_a_budget_buys_one_of_the_points(curve):
    chart = _charts(curve)["What a budget of CPU time buys"]
    (line,) = _shapes(chart, "line")
    points = [
        (point["x"], point["y"]) for dots in _shapes(chart, "dots") for point in dots["points"]
    ]
    corners = [tuple(part.split()) for part in line["path"][1:].split(" L")]
    assert len(points) == 8  # two that took as long, and are worth as much, stand on one place
    assert set(corners[::2]) <= set(points)
    assert len(corners) == 2 * len(curve.error_per_cpu_second)


def test_no_law_is_drawn_beyond_what_a_rate_can_be(curve):
    law = curve[HOSTILE].extrapolation
    steep = replace(law, b=9.0, laws=replace(law.laws, b=np.full_like(law.laws.b, 9.0)))
    learner = replace(curve[HOSTILE], extrapolation=steep)
    _, promised = value_charts(replace(curve, curves={HOSTILE: learner}), None)
    assert promised.y.high <= 1
    assert promised.y.low >= 0
