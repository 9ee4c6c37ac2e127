"""The chapter of a learning curve: what is drawn where, and nothing that runs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB

from truerisk.curves.growth import growth_of
from truerisk.curves.learning_curve import learning_curve
from truerisk.reporting.charts import HEIGHT, WIDTH, Scale
from truerisk.reporting.learning_curve_chapter import learning_curve_chapter
from truerisk.reporting.report import report_of
from truerisk.results import Interval

HOSTILE = "<script>alert(1)</script> $x_1$ =1+1"


class Failing(DummyClassifier):
    def fit(self, X, y):
        if len(X) > 30:
            message = "too <many>"
            raise RuntimeError(message)
        return super().fit(X, y)


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    y = np.arange(160) % 2
    X = rng.normal(size=(160, 3)) + 1.5 * y[:, None]
    models = {"baseline": DummyClassifier(), HOSTILE: GaussianNB()}
    return learning_curve(models, X, y, sizes=[8, 20, 40, 80], repeats=3, random_state=1)


@pytest.fixture(scope="module")
def failed():
    X, y = np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 2
    return learning_curve(Failing(), X, y, sizes=[10, 20, 40], repeats=2, random_state=1)


def _charts(chapter):
    return {
        chart["title"]: chart
        for section in chapter.sections
        if section.kind == "charts"
        for chart in section.data["charts"]
    }


def _shapes(chart, kind):
    return [shape for shape in chart["shapes"] if shape["kind"] == kind]


def test_a_learner_has_its_mean_its_band_its_whiskers_and_its_training_part(curve):
    chart = _charts(learning_curve_chapter(curve))["Error rate on examples held out"]
    lines = _shapes(chart, "line")
    assert [line["ink"] for line in lines] == ["first", "first", "second", "second"]
    assert [line["dashed"] for line in lines] == [True, False, True, False]
    assert len(_shapes(chart, "band")) == 2
    for dots in _shapes(chart, "dots"):
        assert len(dots["points"]) == len(dots["whiskers"]) == 4
    assert "cross-validated" in chart["caption"]


def test_a_mean_is_drawn_where_its_value_is(curve):
    chapter = learning_curve_chapter(curve)
    chart = _charts(chapter)["Error rate on examples held out"]
    ticks = [(float(mark["at"]), float(mark["words"])) for mark in chart["y_marks"]]
    (low_at, low), (high_at, high) = ticks[0], ticks[-1]
    place = float(_shapes(chart, "dots")[1]["points"][-1]["y"])
    drawn = low + (place - low_at) / (high_at - low_at) * (high - low)
    assert drawn == pytest.approx(curve[HOSTILE].points[-1].mean, abs=0.01 * (high - low))
    assert float(_shapes(chart, "dots")[1]["points"][0]["x"]) < 0.1 * WIDTH


def test_sizes_over_a_decade_are_on_a_log_scale(curve):
    wide = _charts(learning_curve_chapter(curve))["Time to train"]
    x = [float(point["x"]) for point in _shapes(wide, "dots")[0]["points"]]
    assert x[3] - x[2] == pytest.approx(x[2] - x[1], abs=0.1)  # 20, 40, 80


def test_the_law_goes_on_to_twice_the_examples_and_on_to_what_is_wanted(curve):
    title = "What more examples would bring, by an inverse power law"
    chart = _charts(learning_curve_chapter(curve))[title]
    assert [entry["words"] for entry in chart["legend"]] == ["baseline", HOSTILE]
    (mark,) = _shapes(chart, "upright")
    assert mark["words"] == "all there are"
    to_twice = Scale.over("training examples", [8, 320], log=True)
    assert float(mark["x"]) == pytest.approx(WIDTH * to_twice.place(160), abs=0.01)
    for line in _shapes(chart, "line"):
        assert float(line["path"].split(" L")[-1].split()[0]) > 0.9 * WIDTH
    wanted = _charts(learning_curve_chapter(curve, wanted=0.1))[title]
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
    chart = _charts(learning_curve_chapter(replace(curve, curves={"a": made})))["Time to train"]
    (line,), (dots,) = _shapes(chart, "line"), _shapes(chart, "dots")
    places = [f"{point['x']} {point['y']}" for point in dots["points"]]
    assert line["path"][1:].split(" L") == [places[1], places[3]]  # the larger three of the sizes
    assert chart["legend"][0]["words"] == "a ~ n^1.50"
    assert chart["y_title"] == "ms"


def test_a_budget_buys_one_of_the_points(curve):
    chart = _charts(learning_curve_chapter(curve))["What a budget of CPU time buys"]
    (line,) = _shapes(chart, "line")
    points = {
        (point["x"], point["y"]) for dots in _shapes(chart, "dots") for point in dots["points"]
    }
    corners = [tuple(part.split()) for part in line["path"][1:].split(" L")]
    assert len(points) == 8
    assert set(corners[::2]) <= points
    assert len(corners) == 2 * len(curve.error_per_cpu_second)


def test_the_best_learner_is_told_first(curve):
    chapter = learning_curve_chapter(curve, wanted=0.1)
    assert chapter.verdict[0].startswith(f"{HOSTILE}: trained on all 160 examples")
    assert chapter.tiles[0].title == f"{HOSTILE}: Error rate from 80 examples"
    assert chapter.tiles[0].beside.startswith("320 examples: ")
    turned = learning_curve_chapter(replace(curve, higher_is_better=True))
    assert turned.tiles[0].title.startswith("baseline")


def test_what_is_wanted_and_who_is_better_have_tables(curve):
    tables = [
        one for one in learning_curve_chapter(curve, wanted=0.1).sections if one.kind == "table"
    ]
    needed, crossings = tables[:2]
    assert needed.title == "What Error rate 0.1 takes"
    assert [row[0] for row in needed.data["rows"]] == ["baseline", HOSTILE]
    assert needed.data["rows"][0][1:] == ["∞", "[∞, ∞]", "∞", "no"]
    assert crossings.data["rows"][0][:3] == [HOSTILE, "baseline", "8"]
    (crossing,) = curve.crossings
    assert crossings.data["rows"][0][3] == f"{crossing.lead:.3f}"
    assert crossings.data["rows"][0][-1] == ("yes" if crossing.is_sure else "no")
    turned = replace(crossing, lead_interval=Interval(0.1, 0.2, 0.95, "corrected_t"))
    sure = learning_curve_chapter(replace(curve, crossings=(turned,)), wanted=0.1)
    assert [one for one in sure.sections if one.kind == "table"][1].data["rows"][0][-1] == "yes"


def test_the_page_runs_nothing_of_the_data_and_is_the_same_twice(curve, tmp_path):
    page = report_of(curve, wanted=0.1)
    assert "<script>alert" not in page.html
    assert "&lt;script&gt;alert" in page.html
    saved = curve.report(wanted=0.1).save(tmp_path / "curve.html")
    assert saved.read_text(encoding="utf-8") == page.html


def test_a_page_can_be_made_of_what_failed(failed):
    chapter = learning_curve_chapter(failed, wanted=0.2)
    assert math.isnan(failed["Failing"].points[-1].mean)
    assert chapter.tiles[0].value == "undefined"
    assert chapter.verdict[0].startswith("What more examples would bring cannot be said")
    assert "too &lt;many&gt;" in report_of(failed, wanted=0.2).html
    for chart in _charts(chapter).values():
        assert all(shape.get("path", "M").startswith("M") for shape in chart["shapes"])
