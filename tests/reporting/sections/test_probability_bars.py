"""Bars of three probabilities."""

import math

import pytest

from truerisk.reporting.sections.probability_bars import ProbabilityBar, probabilities_section


def parts(worse, equivalent, better):
    bar = ProbabilityBar(title="b − a", worse=worse, equivalent=equivalent, better=better)
    return probabilities_section("How probable?", [bar]).data["rows"][0]["parts"]


def test_the_parts_follow_each_other_and_fill_the_bar():
    found = parts(0.05, 0.2, 0.75)
    assert [part["at"] for part in found] == [0.0, 5.0, 25.0]
    assert [part["width"] for part in found] == [5.0, 20.0, 75.0]
    assert found[2]["middle"] == 62.5
    assert [part["has_room"] for part in found] == [False, True, True]


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
