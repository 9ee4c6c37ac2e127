"""Sizes not yet tried: what the law says there, and when it says nothing."""

import math

import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.estimation.curves.extrapolation import extrapolation_of
from truerisk.results import as_plain

SIZES = (20, 50, 125, 320, 800)
N = np.array(SIZES)


def _law(losses, deviation=0.004, *, higher_is_better=False, n=1000, sizes=SIZES):
    rng = np.random.default_rng(3)
    losses = np.asarray(losses)
    resampled = losses + deviation * rng.normal(size=(400, len(sizes)))
    return extrapolation_of(
        losses,
        resampled,
        np.full(len(sizes), deviation**2),
        sizes=sizes,
        n=n,
        measure="accuracy" if higher_is_better else "error_rate",
        higher_is_better=higher_is_better,
        level=0.95,
    )


LOSSES = 0.05 + 1.2 * N**-0.5


def test_the_value_at_a_size_and_the_size_for_a_value_are_inverse():
    law = _law(LOSSES)
    needed = law.size_for(0.08)
    assert needed.size == pytest.approx((1.2 / 0.03) ** 2, rel=1e-4)  # 1600
    assert needed.more == math.ceil(needed.size) - 1000
    assert law.at(needed.size).value == pytest.approx(0.08)
    assert needed.interval.covers(1600)
    assert needed.reachable == "yes"
    assert law.determined


def test_a_higher_measure_is_its_loss_turned_round():
    error, accuracy = _law(LOSSES), _law(LOSSES, higher_is_better=True)
    assert accuracy.at(5000).value == pytest.approx(1 - error.at(5000).value)
    assert accuracy.at(5000).interval.low == pytest.approx(1 - error.at(5000).interval.high)
    assert accuracy.size_for(0.92).size == pytest.approx(error.size_for(0.08).size)
    assert str(accuracy).startswith("1 − accuracy = ")


def test_a_value_below_the_lower_end_of_the_level_is_not_reachable():
    needed = _law(0.2 + 3 * N**-1.0).size_for(0.15)
    assert needed.reachable == "no"
    assert needed.size == needed.interval.low == math.inf
    assert "not reachable" in str(needed)
    assert any("levels off at 0.2 " in note and "above" in note for note in needed.notes)


def test_where_a_measure_that_rises_levels_off_is_told_of_the_measure():
    needed = _law(0.2 + 3 * N**-1.0, higher_is_better=True).size_for(0.85)
    assert needed.reachable == "no"
    assert any("levels off at 0.8 " in note and "below" in note for note in needed.notes)


def test_a_value_that_may_be_below_the_level_is_perhaps_reachable():
    law = _law(LOSSES, deviation=0.01)
    needed = law.size_for(0.055)
    assert law.a_interval.low < 0.055 < law.a_interval.high
    assert needed.reachable == "perhaps"
    assert needed.interval.high == math.inf
    assert math.isfinite(needed.interval.low)


def test_a_value_already_reached_takes_no_more_examples():
    needed = _law(LOSSES).size_for(0.2)
    assert needed.reachable == "reached"
    assert needed.more == 0
    assert "there are enough" in str(needed)


def test_beyond_ten_times_the_largest_size_it_says_so():
    law = _law(LOSSES)
    assert not any("more than 10 times" in note for note in law.at(8000).notes)
    assert any("more than 10 times" in note for note in law.at(8001).notes)
    assert any("more than 10 times" in note for note in law.size_for(0.055).notes)


def test_a_level_curve_is_undetermined():
    law = _law(np.full(5, 0.2), deviation=0.02)
    assert not law.determined
    assert "does not surely fall" in law.notes[0]
    assert "undetermined" in str(law)
    rising = _law(np.full(5, 0.2), deviation=0.02, higher_is_better=True)
    assert "does not surely rise" in rising.notes[0]


def test_an_open_exponent_is_undetermined():
    law = _law(0.3 - 0.01 * np.log(N), deviation=0.008)
    assert not law.determined
    assert "exponent may be anything" in law.notes[0]


def test_more_noise_makes_the_interval_wider():
    narrow, wide = (_law(LOSSES, deviation).at(3000).interval.width for deviation in (0.002, 0.01))
    assert wide > 2 * narrow


def test_a_size_whose_mean_varies_much_counts_for_little():
    losses, variances = LOSSES.copy(), np.full(5, 1e-6)
    losses[1], variances[1] = 0.3, 1.0
    law = extrapolation_of(
        losses,
        losses[None],
        variances,
        sizes=SIZES,
        n=1000,
        measure="error_rate",
        higher_is_better=False,
        level=0.95,
    )
    assert (law.a, law.b, law.c) == pytest.approx((0.05, 1.2, 0.5), abs=0.01)


def test_three_sizes_are_too_few():
    with pytest.raises(InputError, match="at least 4 to extrapolate"):
        _law(LOSSES[:3], sizes=SIZES[:3])


@pytest.mark.parametrize("size", [0, -1, math.nan])
def test_a_size_must_be_one_example_at_least(size):
    with pytest.raises(InputError, match="`size` must lie in"):
        _law(LOSSES).at(size)


def test_a_wanted_value_must_be_a_share():
    with pytest.raises(InputError, match="`wanted` must lie in"):
        _law(LOSSES).size_for(5)


def test_an_infinite_size_can_be_told_in_json():
    assert as_plain(_law(0.2 + 3 * N**-1.0).size_for(0.15))["size"] == "Infinity"
