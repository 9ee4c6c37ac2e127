import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.reporting.document import (
    Band,
    Bars,
    Chapter,
    Chart,
    Dots,
    Line,
    Scale,
    Section,
    Upright,
    charts_section,
)
from truerisk.reporting.render.html import (
    HEIGHT,
    MAX_POINTS,
    SCRIPTS,
    STYLES,
    WIDTH,
    rendered,
    svg_of,
)

TEXT = "</style></script><script>alert(1)</script>"


def page_of(*sections, **fields):
    return rendered(TEXT, TEXT, [Chapter(title=TEXT, subtitle=TEXT, sections=sections, **fields)])


def test_texts_are_escaped_wherever_they_stand():
    table = {"columns": [{"heading": TEXT, "numeric": False}], "rows": [[TEXT]], "left_out": 0}
    page = page_of(
        Section("table", TEXT, table, TEXT), verdict=(TEXT,), next_steps=(TEXT,), notes=(TEXT,)
    )
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 10


def test_a_page_brings_only_what_its_sections_need():
    assert "<script>" not in page_of()
    assert "explorer" not in page_of()


def test_styles_and_scripts_are_listed_for_sections_that_exist():
    from importlib.resources import files

    templates = files("truerisk.reporting") / "templates"
    for assets in (STYLES, SCRIPTS):
        for kind, names in assets.items():
            assert (templates / "sections" / f"{kind}.html").is_file()
            assert all((templates / name).is_file() for name in names)


UNIT = {"x": Scale("false alarms", 0, 1), "y": Scale("recall", 0, 1)}


def shape_of(shape, **scales):
    return svg_of(Chart(title="t", shapes=[shape], **{**UNIT, **scales}))["shapes"][0]


def test_a_line_starts_below_on_the_left():
    assert shape_of(Line([0, 0.5, 1], [0, 1, 1]))["path"] == "M0 240 L170 0 L340 0"


def test_a_band_goes_along_its_low_line_and_back_along_its_high_one():
    path = shape_of(Band([0, 1], [0, 0.5], [0.5, 1]))["path"]
    assert path == "M0 240 L340 120 L340 0 L0 120 Z"


def test_dots_have_whiskers_where_both_ends_are_known():
    result = shape_of(Dots([0.5, 1], [0.5, math.nan], low=[0.25, 0], high=[0.75, math.nan]))
    assert result["points"] == [{"x": "170", "y": "120"}]
    assert result["whiskers"] == [{"x": "170", "low": "180", "high": "60"}]


def test_bars_stand_on_the_ground_and_empty_ones_are_not_drawn():
    result = shape_of(Bars([0, 0.5, 1], [0.5, 0]))
    assert result["boxes"] == [{"x": "0", "width": "170", "y": "120", "height": "120"}]


def test_the_words_of_an_upright_stay_inside():
    assert shape_of(Upright(0.9, "here"))["side"] == "end"
    assert shape_of(Upright(0.1, "here"))["side"] == "start"


def test_a_long_line_is_thinned_and_keeps_its_ends():
    x = np.linspace(0, 1, 20_000)
    path = shape_of(Line(x, x**2))["path"]
    assert path.count("L") < MAX_POINTS
    assert path.startswith("M0 240")
    assert path.endswith("L340 0")


def test_a_thinned_line_stays_within_three_hundredths_of_the_field_of_all_its_points():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.beta(0.1, 1, 20_000)), np.sort(rng.beta(3, 1, 20_000))
    points = shape_of(Line(x, y))["path"][1:].split(" L")
    few = np.array([[float(part) for part in point.split()] for point in points])
    few_x, few_y = few[:, 0] / WIDTH, 1 - few[:, 1] / HEIGHT
    # Both rise, so the kept point before and the one after enclose what was left out.
    gaps = np.diff(few_x) + np.diff(few_y)
    dropped = np.diff(np.searchsorted(x, few_x)) > 1
    assert gaps[dropped].max() < 0.03


def test_numbers_without_a_place_are_left_out():
    assert shape_of(Line([0, math.nan, 1], [0, 0.5, math.inf]))["path"] == "M0 240 L340 0"
    assert shape_of(Line([], []))["path"] == ""


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=8), st.booleans())
def test_every_place_lies_in_the_field(values, log):
    scale = Scale.over("x", values, log=log)
    assert scale.low < scale.high
    places = scale.places(values)
    listed = places[np.isfinite(places)]
    assert ((listed >= 0) & (listed <= 1)).all()
    for at, words in scale.marks():
        assert 0 <= at <= 1
        assert words


def test_a_scale_of_powers_has_round_numbers():
    marks = Scale("examples", 50, 5000, log=True).marks()
    assert [words for _, words in marks] == ["100", "300", "1,000", "3,000"]


@pytest.mark.parametrize("log", [False, True])
def test_one_value_still_has_a_scale(log):
    scale = Scale.over("x", [3.0], log=log)
    assert scale.low <= 3.0 <= scale.high
    assert scale.low < scale.high


def test_a_legend_names_what_has_words():
    chart = Chart(
        title="<t>",
        shapes=[Line([0], [0], words="a\x1b"), Band([0], [0], [1], ink="second"), Upright(0, "u")],
        caption="c",
        **UNIT,
    )
    result = svg_of(chart)
    assert result["legend"] == [{"ink": "first", "kind": "line", "words": "a\\x1b"}]
    assert (result["description"], result["width"], result["height"]) == ("c", WIDTH, HEIGHT)
    assert charts_section("s", [chart]).data["charts"] == (chart,)
