import math

import pytest

from truerisk.reporting.wording import (
    count,
    counted,
    interval_heading,
    p_words,
    percent,
    plain_text,
    written,
)
from truerisk.results import Estimate, decimals_for, number


# The width is shown to two digits: 0.03 to three decimals, 0.0003 to five, 3e-9 to ten.
@pytest.mark.parametrize(("width", "decimals"), [(0.3, 3), (0.03, 3), (0.0003, 5), (3e-9, 10)])
def test_decimals_follow_the_width_of_the_interval(width, decimals):
    assert decimals_for(width) == decimals


@pytest.mark.parametrize("width", [0.0, math.inf, math.nan])
def test_a_width_that_says_nothing_gives_three_decimals(width):
    assert decimals_for(width) == 3


def test_ends_that_differ_look_different(make_estimate):
    words = written(make_estimate("recall", 0.9, 0.89999, 0.90001))
    assert words.interval == "[0.899990, 0.900010]"


def test_undefined_is_a_word_and_not_a_number(make_estimate):
    assert written(make_estimate("recall", math.nan, 0, 1)).value == "undefined"


def test_an_estimate_without_interval_says_so():
    bare = Estimate(value=0.5, interval=None, measure="recall", method="loo", n=9)
    assert written(bare).interval == "–"


@pytest.mark.parametrize(
    ("value", "decimals", "words"),
    [
        (0.0, 3, "0.000"),
        (1e-9, 11, "1.00e-09"),
        (1.23456e-6, 9, "1.235e-06"),
        (-math.inf, 3, "-∞"),
        (12345.678, 3, "12345.678"),
    ],
)
def test_numbers_keep_their_size_in_sight(value, decimals, words):
    assert number(value, decimals) == words


def test_counts_have_commas_and_levels_have_percent():
    assert (count(10**6), count(2.25), percent(0.9)) == ("1,000,000", "2.25", "90 %")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "none"),
        (True, "yes"),
        ((), "none"),
        (["a", 1], "a, 1"),
        ({"fp": 1.0}, "fp: 1"),
        (math.nan, "undefined"),
    ],
)
def test_settings_are_told_in_words(value, words):
    assert plain_text(value) == words


@pytest.mark.parametrize(
    ("p_value", "words"),
    [(0.5, "0.500"), (0.0049, "0.0049"), (1e-9, "<0.0001"), (math.nan, "undefined"), (None, "–")],
    ids=str,
)
def test_a_p_value_is_written_as_far_as_it_says_something(p_value, words):
    assert p_words(p_value) == words


@pytest.mark.parametrize(
    ("n", "words"), [(0, "0 classes"), (1, "1 class"), (2, "2 classes"), (1.5, "1.5 classes")]
)
def test_one_is_told_in_the_singular(n, words):
    assert counted(n, "class", "classes") == words


def test_the_heading_of_a_column_of_intervals():
    assert interval_heading(0.95) == "95 % interval"
