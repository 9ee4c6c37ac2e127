import math
from dataclasses import replace

import numpy as np
import pytest

from truerisk.reporting.page import report_of
from truerisk.reporting.render.html import svg_of
from truerisk.reporting.results.estimate import estimate_chapter, histogram
from truerisk.results import Estimate, Interval, Resampled


@pytest.fixture
def found():
    """Give an error rate with its interval."""
    return Resampled(
        value=0.15,
        interval=Interval(0.1, 0.21, 0.9, "corrected_t"),
        measure="error_rate",
        method="cross_validation",
        n=200,
        replicates=(0.14, 0.16, 0.15),
        notes=("Three folds.",),
    )


def test_the_number_is_told_in_words_and_in_a_tile(found):
    chapter = estimate_chapter(found)
    assert chapter.verdict == ("Error rate: 0.150; with 90 % confidence between 0.100 and 0.210.",)
    assert (chapter.tiles[0].value, chapter.tiles[0].interval) == ("0.150", "[0.100, 0.210]")
    assert chapter.notes == ("Three folds.",)


def test_few_refits_are_drawn_one_by_one(found):
    (section,) = estimate_chapter(found).sections
    chart = svg_of(section.data["charts"][0])
    assert [shape["kind"] for shape in chart["shapes"]] == ["band", "line", "dots"]
    assert chart["caption"] == "3 refits, standard deviation 0.010."
    assert chart["description"].startswith("3 values from 0.140 to 0.160")


def test_many_refits_are_counted_in_bars(found):
    values = tuple(np.random.default_rng(0).normal(0.15, 0.02, 400).tolist())
    (section,) = estimate_chapter(replace(found, replicates=values)).sections
    chart = svg_of(section.data["charts"][0])
    assert [shape["kind"] for shape in chart["shapes"]] == ["band", "bars", "upright"]


def test_bars_count_every_value_once(found):
    values = [0.1] * 3 + [0.2] * 5
    shape = histogram("t", found, values).shapes[1]
    assert int(np.sum(shape.heights)) == 8
    assert shape.edges[0] == pytest.approx(0.1)
    assert shape.edges[-1] == pytest.approx(0.2)


def test_outliers_do_not_make_hairs_of_the_bars(found):
    values = [*np.linspace(0.14, 0.16, 500).tolist(), 40.0]
    assert len(histogram("t", found, values).shapes[1].heights) <= 40


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"value": math.nan}, "Error rate is undefined on these examples."),
        ({"interval": None}, "Error rate: 0.150. There is no interval, so nobody knows how sure"),
    ],
)
def test_what_is_not_known_is_said(found, changes, told):
    assert estimate_chapter(replace(found, **changes)).verdict[0].startswith(told)


def test_a_plain_estimate_has_a_page():
    one = Estimate(value=0.2, interval=None, measure="my<own>", method="holdout", n=10)
    page = report_of(one).html
    assert "my&lt;own&gt;" in page
    assert "<own>" not in page
