import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.reporting.document import MARGIN, STRIP
from truerisk.reporting.sections.differences import (
    Difference,
    DifferenceGroup,
    ProbabilityBar,
    difference_tile,
    differences_section,
    p_sentence,
    probabilities_section,
    probability_words,
    signed_words,
)
from truerisk.results import Comparison, Estimate, Interval


def estimate(value, low, high, measure="error_rate"):
    interval = Interval(low, high, 0.95, "tango")
    return Estimate(value=value, interval=interval, measure=measure, method="mcnemar", n=100)


def difference(value=-0.06, low=-0.11, high=-0.01, **changes):
    plain = Difference(
        title="Error rate",
        names=("old", "new"),
        estimate=estimate(value, low, high),
        finding="better",
        higher_is_better=False,
        region=0.02,
        p_value=0.02,
        method="mcnemar_mid_p",
    )
    return replace(plain, **changes)


def main_of(one):
    return differences_section("All", [], level="95 %", main=one).data["main"]


def group_of(*rows):
    return differences_section("All", [DifferenceGroup("g", rows)], level="95 %").data["groups"][0]


def test_every_number_stands_at_its_place_on_the_axis():
    # The axis goes from -0.15 to 0.05: the round ends around [-0.11, 1.2 * 0.02].
    drawn = main_of(difference())["drawn"]
    inner = 100 * (STRIP - 2 * MARGIN) / STRIP
    edge = 100 * MARGIN / STRIP

    def place(value):
        return edge + inner * (value + 0.15) / 0.2

    assert [mark["words"] for mark in drawn["marks"]] == ["-0.15", "-0.1", "-0.05", "0", "0.05"]
    assert drawn["value"] == pytest.approx(place(-0.06), abs=0.01)
    assert drawn["low"] == pytest.approx(place(-0.11), abs=0.01)
    assert drawn["high"] == pytest.approx(place(-0.01), abs=0.01)
    assert drawn["zero"] == pytest.approx(place(0), abs=0.01)
    assert drawn["band"]["low"] == pytest.approx(place(-0.02), abs=0.01)
    assert drawn["band"]["high"] == pytest.approx(place(0.02), abs=0.01)


@pytest.mark.parametrize(
    ("higher_is_better", "left", "right"),
    [
        (True, "← old better", "new better →"),
        (False, "← new better", "old better →"),
        (None, "", ""),
    ],
)
def test_the_better_side_is_named(higher_is_better, left, right):
    sides = group_of(difference(higher_is_better=higher_is_better))["sides"]
    assert sides == {"left": left, "right": right}


def test_names_that_have_no_room_or_differ_are_called_first_and_second():
    long = difference(names=("old", "n" * 30))
    assert group_of(long)["sides"]["left"] == "← second better"
    several = (difference(), difference(names=("old", "other")))
    assert group_of(*several)["sides"]["right"] == "first better →"


@pytest.mark.parametrize(
    ("finding", "mark", "sign"),
    [
        ("better", "better", "▲"),
        ("worse", "worse", "▼"),
        ("equivalent", "equivalent", "≈"),
        ("no evidence", "none", "?"),
        ("better alone", "none", "?"),
    ],
)
def test_a_finding_is_told_by_a_word_a_sign_and_a_colour(finding, mark, sign):
    row = group_of(difference(finding=finding))["rows"][0]
    assert (row["finding"], row["mark"], row["sign"]) == (finding, mark, sign)


def test_rows_of_several_regions_have_their_bands_and_no_common_one():
    group = group_of(difference(), difference(region=0.05), difference(region=None))
    assert group["band"] is None
    assert [row["band"] and row["band"]["high_words"] for row in group["rows"]] == [
        "+0.02",
        "+0.05",
        None,
    ]


def test_the_lead_speaks_of_a_region_only_where_there_is_one():
    rows = [difference(region=None)]
    without = differences_section("All", [DifferenceGroup("g", rows)], level="90 %")
    assert "90 % interval" in without.lead
    assert "region" not in without.lead
    assert "region" in differences_section("All", [], level="90 %", main=difference()).lead


def test_an_undefined_difference_is_written_and_not_drawn():
    nothing = replace(estimate(0.0, -1.0, 1.0), value=math.nan, notes=("undefined: no positives",))
    one = difference(estimate=nothing, p_value=math.nan, finding="no evidence")
    assert main_of(one)["drawn"] is None
    row = group_of(one)["rows"][0]
    assert (row["value"], row["strip"]) == ("undefined", None)
    assert row["reason"] == "undefined: no positives"
    assert difference_tile(one).strip is None


def test_the_tile_has_zero_in_the_middle():
    tile = difference_tile(difference())
    assert tile.note == "▲ better"
    assert [mark["words"] for mark in tile.marks] == ["-0.15", "0.15"]
    assert tile.strip["value"] == pytest.approx(
        MARGIN + (STRIP - 2 * MARGIN) * 0.09 / 0.3, abs=0.01
    )


def test_a_comparison_brings_all_that_is_written():
    compared = Comparison(
        names=("a", "b"),
        first=estimate(0.9, 0.8, 1.0, "f1"),
        second=estimate(0.95, 0.9, 1.0, "f1"),
        difference=estimate(0.05, 0.01, 0.09, "f1"),
        p_value=0.01,
        method="paired_delta",
        finding="better",
        verdict="b is better.",
        region=0.01,
    )
    one = Difference.of(compared, "F1", "better alone")
    assert (one.seen, one.finding, one.higher_is_better) == (
        "a 0.900, b 0.950",
        "better alone",
        True,
    )


@settings(max_examples=30, deadline=None)
@given(
    ends=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3),
    region=st.none() | st.floats(0, 1e6),
)
def test_nothing_is_drawn_outside_or_out_of_order(ends, region):
    low, value, high = sorted(ends)
    drawn = main_of(difference(value, low, high, region=region))["drawn"]
    assert 0 <= drawn["low"] <= drawn["value"] <= drawn["high"] <= 100
    if region is not None:
        assert 0 <= drawn["band"]["low"] <= drawn["zero"] <= drawn["band"]["high"] <= 100


def test_a_difference_without_an_interval_is_written_without_one():
    assert signed_words(replace(estimate(0.1, 0, 1), interval=None)) == ("+0.100", "–")


def parts(worse, equivalent, better):
    bar = ProbabilityBar(title="b − a", worse=worse, equivalent=equivalent, better=better)
    return probabilities_section("How probable?", [bar]).data["rows"][0]["parts"]


def test_the_parts_follow_each_other_and_fill_the_bar():
    result = parts(0.05, 0.2, 0.75)
    assert [part["at"] for part in result] == [0.0, 5.0, 25.0]
    assert [part["width"] for part in result] == [5.0, 20.0, 75.0]
    assert result[2]["middle"] == 62.5
    assert [part["has_room"] for part in result] == [False, True, True]


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        ((0.0, 0.0, 1.0), ["0.000", "0.000", "1.000"]),
        ((2e-6, 2e-6, 1 - 4e-6), ["<0.001", "<0.001", ">0.999"]),
        ((math.nan,) * 3, ["undefined"] * 3),
    ],
)
def test_what_is_not_certain_is_not_written_as_certain(chances, words):
    assert [part["words"] for part in parts(*chances)] == words


def test_p_values_and_probabilities_in_words():
    assert [p_sentence(p) for p in (0.0213, 1e-9, None)] == ["p = 0.021", "p < 0.0001", ""]
    words = [probability_words(p) for p in (0.25, 1e-6, 1 - 1e-6)]
    assert words == ["0.250", "<0.001", ">0.999"]
