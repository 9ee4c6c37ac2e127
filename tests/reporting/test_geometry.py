import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.reporting.geometry import (
    MARGIN,
    MOST_POINTS,
    SQUARE,
    STRIP,
    Axis,
    axis_of,
    path,
    strip,
    thinned,
)

ends = st.floats(-1e6, 1e6)


@given(ends, ends)
def test_an_axis_holds_what_it_is_made_for(first, second):
    low, high = sorted((first, second))
    axis = Axis.around(low, high)
    slack = 1e-6 * max(1e-300, axis.high - axis.low)
    assert axis.low - slack <= low
    assert high <= axis.high + slack
    assert 2 <= len(axis.ticks) <= 7
    assert sorted(axis.ticks) == list(axis.ticks)


def test_ends_stand_at_the_ends_and_the_middle_in_the_middle():
    axis = Axis(0.0, 1.0, (0.0, 1.0))
    assert [axis.place(v) for v in (-5, 0, 0.5, 1, math.inf)] == [
        MARGIN,
        MARGIN,
        STRIP / 2,
        STRIP - MARGIN,
        STRIP - MARGIN,
    ]


def test_an_undefined_estimate_is_not_drawn(make_estimate):
    nothing = make_estimate("recall", math.nan, 0, 1)
    assert axis_of([nothing]) is None
    assert strip(nothing, Axis(0.0, 1.0, (0.0, 1.0))) is None


def test_the_axis_holds_the_best_value_too(make_estimate):
    axis = axis_of([make_estimate("recall", 0.5, 0.4, 0.6)], 1.0)
    assert (axis.low, axis.high) == (0.4, 1.0)


def test_an_endless_interval_is_marked(make_estimate):
    lone = make_estimate("positive_likelihood_ratio", math.inf, 5, math.inf)
    places = strip(lone, axis_of([lone]))
    assert places["endless"]
    assert MARGIN < places["low"] < places["high"] == STRIP - MARGIN


@pytest.mark.parametrize("n", [2, 400, 401, 100_000])
def test_a_long_curve_keeps_its_ends_and_few_points(n):
    x = np.linspace(0, 1, n)
    drawn = path(x, x)
    assert drawn.startswith("M0 240")
    assert drawn.endswith("L240 0")
    assert drawn.count("L") < MOST_POINTS


def test_a_thinned_curve_stays_within_a_pixel_of_all_its_points():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.beta(0.1, 1, 20_000)), np.sort(rng.beta(3, 1, 20_000))
    few_x, few_y = thinned(x, y)
    assert len(few_x) <= MOST_POINTS
    # Both rise, so the kept point before and the one after enclose what was left out.
    gaps = np.diff(few_x) + np.diff(few_y)
    dropped = np.diff(np.searchsorted(x, few_x)) > 1
    assert gaps[dropped].max() * SQUARE < 3


def test_points_that_are_not_numbers_are_left_out():
    assert path([0.0, math.nan, 1.0], [0.0, 0.5, 1.0]) == "M0 240 L240 0"
    assert path([], []) == ""
