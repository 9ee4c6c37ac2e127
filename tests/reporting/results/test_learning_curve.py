import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from truerisk.estimation.curves.laws import growth_of
from truerisk.reporting.document import Scale
from truerisk.reporting.page import report_of
from truerisk.reporting.render.formats import csv_of, formatted
from truerisk.reporting.render.html import HEIGHT, WIDTH, svg_of
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.results.learning_curve import (
    LAW_POINTS,
    LearningCurvePresenter,
    budget_charts,
    cost_chart,
    curve_sentences,
    needed_sizes,
    value_charts,
)
from truerisk.reporting.wording import cost_words
from truerisk.results import Interval

HOSTILE = "<script>alert(1)</script> $x_1$ =1+1"


def _charts(chapter):
    return {
        chart["title"]: chart
        for section in chapter.sections
        if section.kind == "charts"
        for chart in map(svg_of, section.data["charts"])
    }


def test_the_best_learner_is_told_first(curve):
    chapter = LearningCurvePresenter(wanted=0.1).chapter(curve)
    assert chapter.verdict[0].startswith(f"{HOSTILE}: trained on all 160 examples")
    assert chapter.tiles[0].title == f"{HOSTILE}: Error rate from 80 examples"
    assert chapter.tiles[0].note.startswith("320 examples: ")
    turned = LearningCurvePresenter().chapter(replace(curve, higher_is_better=True))
    assert turned.tiles[0].title.startswith("baseline")


def test_one_learner_has_tiles_of_what_was_measured_and_of_what_is_expected(curve):
    alone = replace(curve, curves={HOSTILE: curve[HOSTILE]})
    tiles = LearningCurvePresenter().chapter(alone).tiles
    assert [tile.title for tile in tiles] == [
        f"Error rate from {size} examples" for size in (80, 160, 320)
    ]
    assert tiles[0].value == f"{curve[HOSTILE].points[-1].mean:.3f}"
    assert tiles[2].value == f"{curve[HOSTILE].at(320).value:.3f}"


def test_what_is_wanted_and_who_is_better_have_tables(curve):
    tables = [
        one
        for one in LearningCurvePresenter(wanted=0.1).chapter(curve).sections
        if one.kind == "table"
    ]
    needed, crossings = tables[:2]
    assert needed.title == "What Error rate 0.1 takes"
    assert [row[0] for row in needed.data["rows"]] == ["baseline", HOSTILE]
    assert needed.data["rows"][0][1:] == ["–", "–", "–", "cannot be said"]
    assert crossings.data["rows"][0][:3] == [HOSTILE, "baseline", "8"]
    (crossing,) = curve.crossings
    assert crossings.data["rows"][0][3] == f"{crossing.lead:.3f}"
    assert crossings.data["rows"][0][-1] == ("yes" if crossing.is_sure else "no")
    turned = replace(crossing, lead_interval=Interval(0.1, 0.2, 0.95, "corrected_t"))
    sure = LearningCurvePresenter(wanted=0.1).chapter(replace(curve, crossings=(turned,)))
    assert [one for one in sure.sections if one.kind == "table"][1].data["rows"][0][-1] == "yes"


def test_the_page_runs_nothing_of_the_data_and_is_the_same_twice(curve, tmp_path):
    page = report_of(curve, wanted=0.1)
    assert "<script>alert" not in page.html
    assert "&lt;script&gt;alert" in page.html
    saved = curve.report(wanted=0.1).save(tmp_path / "curve.html")
    assert saved.read_text(encoding="utf-8") == page.html


def test_a_page_can_be_made_of_what_failed(failed):
    chapter = LearningCurvePresenter(wanted=0.2).chapter(failed)
    assert math.isnan(failed["Failing"].points[-1].mean)
    assert chapter.tiles[0].value == "undefined"
    assert chapter.verdict[0].startswith("What more examples would bring cannot be said")
    assert "too &lt;many&gt;" in report_of(failed, wanted=0.2).html
    for chart in _charts(chapter).values():
        assert all(shape.get("path", "M").startswith("M") for shape in chart["shapes"])


def _printed(curve, wanted=None):
    file = io.StringIO()
    print_result(curve, Console(file=file, width=100, markup=False, highlight=False), wanted=wanted)
    return file.getvalue()


def test_the_terminal_shows_values_costs_growth_budget_and_settings(curve):
    text = _printed(curve, wanted=0.1)
    for part in (
        "Error rate on examples held out",
        "95 % interval",
        "Cross-validated",
        "What it costs",
        "n to the power of",
        "The best for a budget of CPU time",
        "on twice as many",
        "error_rate 0.1",
        "has a better mean than",
        "the learner at each sample size",
        "seed",
    ):
        assert part in text, part


def test_what_failed_is_told(failed):
    sentences = list(curve_sentences(failed, wanted=0.2))
    assert any(one.startswith("Failing is not extrapolated: fewer than 4") for one in sentences)
    assert any("Failed: Failing on 40 examples, repeat 1: RuntimeError" in s for s in sentences)
    assert "undefined" in _printed(failed)


def test_a_table_has_a_row_for_each_learner_and_size(curve):
    values, costs, growth, budget = LearningCurvePresenter().tables(curve)
    assert len(values.rows) == len(costs.rows) == 8
    assert len(growth.rows) == 2
    assert budget.rows
    assert {len(row) for row in values.rows} == {len(values.columns)}


def test_the_csv_has_every_number_in_full_and_no_formula(curve):
    rows = list(csv.DictReader(io.StringIO(csv_of(curve))))
    assert len(rows) == 8
    point = curve[HOSTILE].points[2]
    assert float(rows[6]["value"]) == point.mean
    assert float(rows[6]["high"]) == point.interval.high
    assert float(rows[6]["cpu_seconds"]) == point.cpu_seconds
    assert rows[6]["learner"] == HOSTILE


def test_an_undefined_value_is_an_empty_cell(failed):
    rows = list(csv.DictReader(io.StringIO(csv_of(failed))))
    assert (rows[2]["value"], rows[2]["low"]) == ("", "")
    assert "repeat 1 failed" in rows[2]["notes"]


def test_the_json_holds_all_and_what_is_wanted(curve, failed):
    plain = json.loads(formatted(curve, "json", needed=needed_sizes(curve, 0.05)))
    assert plain["schema"] == "truerisk/learning_curve/1"
    assert plain["curves"]["baseline"]["points"][0]["size"] == 8
    assert set(plain["needed"]) == {HOSTILE, "baseline"}
    assert "needed" not in json.loads(formatted(curve, "json"))
    plain = json.loads(formatted(failed, "json", needed=needed_sizes(failed, 0.2)))["needed"]
    assert (plain["Failing"]["size"], plain["Failing"]["reachable"]) == (None, "unknown")


@pytest.mark.parametrize(
    ("cost", "value", "words"),
    [
        ("memory", 999.0, "999 B"),
        ("memory", 1500.0, "1.5 kB"),
        ("memory", 0.0, "0 B"),
        ("seconds_to_induce", 0.0, "0 µs"),
        ("seconds_to_induce", 2e-5, "20 µs"),
        ("seconds_to_induce", 0.5, "500 ms"),
        ("seconds_to_induce", 12.34, "12.3 s"),
        ("seconds_to_induce", 12345.0, "12,345 s"),
        ("seconds_to_induce", float("nan"), "–"),
    ],
)
def test_costs_are_written_with_a_unit_that_fits(cost, value, words):
    assert cost_words(cost, value) == words


def _charts_3(curve, wanted=None):
    charts = (
        *value_charts(curve, wanted),
        cost_chart(curve, "seconds_to_induce"),
        *budget_charts(curve),
    )
    return {chart.title: svg_of(chart) for chart in charts}


def _shapes(chart, kind):
    return [shape for shape in chart["shapes"] if shape["kind"] == kind]


def test_a_learner_has_its_mean_its_band_its_whiskers_and_its_training_part(curve):
    chart = _charts_3(curve)["Error rate on examples held out"]
    lines = _shapes(chart, "line")
    assert [line["ink"] for line in lines] == ["first", "first", "second", "second"]
    assert [line["dashed"] for line in lines] == [True, False, True, False]
    assert len(_shapes(chart, "band")) == 2
    for dots in _shapes(chart, "dots"):
        assert len(dots["points"]) == len(dots["whiskers"]) == 4
    assert "cross-validated" in chart["caption"]


def test_a_mean_is_drawn_where_its_value_is(curve):
    chart = _charts_3(curve)["Error rate on examples held out"]
    ticks = [(float(mark["at"]), float(mark["words"])) for mark in chart["y_marks"]]
    (low_at, low), (high_at, high) = ticks[0], ticks[-1]
    place = float(_shapes(chart, "dots")[1]["points"][-1]["y"])
    drawn = low + (place - low_at) / (high_at - low_at) * (high - low)
    assert drawn == pytest.approx(curve[HOSTILE].points[-1].mean, abs=0.01 * (high - low))
    assert float(_shapes(chart, "dots")[1]["points"][0]["x"]) < 0.1 * WIDTH


def test_sizes_over_a_decade_are_on_a_log_scale(curve):
    wide = _charts_3(curve)["Time to train"]
    x = [float(point["x"]) for point in _shapes(wide, "dots")[0]["points"]]
    assert x[3] - x[2] == pytest.approx(x[2] - x[1], abs=0.1)  # 20, 40, 80


def test_the_law_goes_on_to_twice_the_examples_and_on_to_what_is_wanted(curve):
    title = "What more examples would bring, by an inverse power law"
    chart = _charts_3(curve)[title]
    assert [entry["words"] for entry in chart["legend"]] == [HOSTILE]
    (mark,) = _shapes(chart, "upright")
    assert mark["words"] == "all there are"
    to_twice = Scale.over("training examples", [8, 320], log=True)
    assert float(mark["x"]) == pytest.approx(WIDTH * to_twice.place(160), abs=0.01)
    for line in _shapes(chart, "line"):
        assert float(line["path"].split(" L")[-1].split()[0]) > 0.9 * WIDTH
    wanted = _charts_3(curve, wanted=0.1)[title]
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
    chart = _charts_3(replace(curve, curves={"a": made}))["Time to train"]
    (line,), (dots,) = _shapes(chart, "line"), _shapes(chart, "dots")
    places = [f"{point['x']} {point['y']}" for point in dots["points"]]
    ends = line["path"][1:].split(" L")[:: LAW_POINTS - 1]
    assert ends == [places[1], places[3]]  # the larger three of the sizes
    assert chart["legend"][0]["words"] == "a ~ n^1.50"
    assert chart["y_title"] == "ms"


def test_a_budget_buys_one_of_the_points(curve):
    chart = _charts_3(curve)["What a budget of CPU time buys"]
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
