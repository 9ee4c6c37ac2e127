import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit

from truerisk.errors import InputError
from truerisk.estimation.curves.laws import (
    METHOD,
    Design,
    NeededSize,
    PowerLaws,
    extrapolation_of,
    fit_power_laws,
    growth_of,
    why_no_law,
)
from truerisk.results import Interval, as_plain


def test_the_slope_and_its_error_worked_by_hand():
    # log₂ n is 0, 1, 2 and log₂ cost is 0, 3, 3: the slope is 3/2; the residuals −½, 1, −½ have
    # the squares 3/2, with 3 − 2 = 1 degree of freedom, and Σ (x − x̄)² is 2.
    found = growth_of([1, 2, 4], [1.0, 8.0, 8.0])
    assert found.exponent == pytest.approx(1.5)
    assert found.standard_error == pytest.approx(math.sqrt(1.5 / 1 / 2))
    # Student's t with one degree of freedom at .975 is 12.7062 (any table).
    assert found.interval.high - 1.5 == pytest.approx(12.7062 * math.sqrt(0.75), rel=1e-5)
    assert found.at(2) == pytest.approx(2**2)  # through the mean: log₂ cost is 2 at log₂ n = 1


def test_the_slope_is_that_of_numpy():
    sizes, costs = [10, 25, 70, 200, 500], [0.2, 0.5, 0.9, 3.5, 8.0]
    line, covariance = np.polyfit(np.log(sizes[-3:]), np.log(costs[-3:]), 1, cov=True)
    found = growth_of(sizes, costs)
    assert found.sizes == (70, 200, 500)
    assert found.exponent == pytest.approx(line[0])
    assert found.standard_error == pytest.approx(math.sqrt(covariance[0, 0]))


@given(exponent=st.floats(-1, 3), factor=st.floats(1e-6, 1e6), count=st.integers(3, 12))
def test_an_exact_power_is_recovered(exponent, factor, count):
    sizes = [10 * 2**at for at in range(count)]
    found = growth_of(sizes, [factor * size**exponent for size in sizes])
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.at(777) == pytest.approx(factor * 777**exponent, rel=1e-7)


@given(unit=st.floats(1e-3, 1e3))
def test_the_unit_of_the_cost_changes_no_exponent(unit):
    sizes, costs = [10, 100, 1000, 10_000], np.array([1.0, 3.0, 20.0, 90.0])
    found, scaled = growth_of(sizes, costs), growth_of(sizes, unit * costs)
    assert scaled.exponent == pytest.approx(found.exponent)
    assert scaled.standard_error == pytest.approx(found.standard_error)


def test_what_every_call_costs_hides_nothing_at_the_larger_sizes():
    sizes = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000]
    costs = [0.01 + 1e-5 * size for size in sizes]
    found = growth_of(sizes, costs)
    assert found.sizes == (1000, 3000, 10_000, 30_000)
    assert found.exponent > 0.75  # by all eight sizes it would be .4


def test_costs_that_are_not_known_are_left_out():
    found = growth_of([1, 2, 4, 8, 16, 32], [0.0, math.nan, 4.0, 8.0, 16.0, math.inf])
    assert found.sizes == (4, 8, 16)
    assert growth_of([1, 2, 4, 8], [math.nan, 2.0, 4.0, 0.0]) is None


def test_sizes_must_increase():
    with pytest.raises(InputError, match="`sizes` must increase"):
        growth_of([1, 3, 2], [1.0, 2.0, 3.0])


LAW_SIZES = np.array([10, 21, 46, 100, 215, 464, 1000])


def _fit(losses, weights=None, sizes=LAW_SIZES):
    law = fit_power_laws(
        sizes, np.asarray(losses)[None], np.ones(len(sizes)) if weights is None else weights
    )
    return tuple(float(part[0]) for part in (law.a, law.b, law.c))


@settings(max_examples=30)
@given(a=st.floats(0, 0.5), b=st.floats(0.1, 3), c=st.floats(0.1, 1.8))
def test_an_exact_law_is_recovered(a, b, c):
    assert _fit(a + b * LAW_SIZES**-c) == pytest.approx((a, b, c), rel=1e-4, abs=1e-5)


@settings(max_examples=10)
@given(scale=st.floats(0.01, 100))
def test_only_the_ratios_of_weights_matter(scale):
    losses = 0.1 + 0.8 * LAW_SIZES**-0.4 + 0.01 * np.sin(LAW_SIZES)
    weights = 1 / np.arange(1.0, 8)
    assert _fit(losses, scale * weights) == pytest.approx(_fit(losses, weights), rel=1e-5)


def test_the_fit_is_that_of_scipy():
    noisy = (
        0.08 + 0.9 * LAW_SIZES**-0.5 + np.array([0.01, -0.012, 0.006, -0.004, 0.003, 0.002, -0.001])
    )
    deviations = np.linspace(0.02, 0.005, 7)
    theirs, _ = curve_fit(
        lambda n, a, b, c: a + b * n**-c, LAW_SIZES, noisy, p0=(0.1, 1.0, 0.5), sigma=deviations
    )
    assert _fit(noisy, deviations**-2) == pytest.approx(tuple(theirs), rel=1e-4)


def test_a_weight_draws_the_law_to_its_size():
    losses = 0.1 + 0.8 * LAW_SIZES**-0.4
    losses[3] += 0.05
    near, far = np.ones(7), np.ones(7)
    near[3], far[3] = 1e6, 1e-6
    at = [
        PowerLaws(*map(np.array, _fit(losses, weights))).at(LAW_SIZES[3]) for weights in (near, far)
    ]
    assert at[0] == pytest.approx(losses[3], abs=1e-4)
    assert at[1] == pytest.approx(losses[3] - 0.05, abs=1e-4)


def test_no_law_levels_off_below_nothing():
    a, b, _ = _fit(0.9 * LAW_SIZES**-0.7 - 0.005)  # the free fit has a = −.005
    assert a == 0
    assert b > 0


def test_a_rising_curve_is_level():
    a, b, _ = _fit(0.1 + 0.0001 * LAW_SIZES)
    assert b == 0
    assert a == pytest.approx(np.mean(0.1 + 0.0001 * LAW_SIZES))


def test_each_row_is_fitted_by_itself():
    rows = np.stack([0.1 + 0.5 * LAW_SIZES**-0.5, 0.2 + 0.9 * LAW_SIZES**-1.0, np.full(7, 0.3)])
    together = fit_power_laws(LAW_SIZES, rows, np.ones(7))
    for at, row in enumerate(rows):
        alone = fit_power_laws(LAW_SIZES, row[None], np.ones(7))
        assert together.at(300)[at] == pytest.approx(alone.at(300)[0], rel=1e-9)


def test_the_size_for_a_loss_worked_by_hand():
    law = PowerLaws(np.array([0.1]), np.array([0.9]), np.array([0.5]))
    assert law.at(81)[0] == pytest.approx(0.2)  # .1 + .9/9
    assert law.size_for(0.2)[0] == pytest.approx(81)
    assert law.size_for(0.1)[0] == math.inf
    assert law.size_for(0.05)[0] == math.inf


def test_a_level_law_is_at_its_loss_always_or_never():
    law = PowerLaws(np.array([0.1]), np.array([0.0]), np.array([0.5]))
    assert law.size_for(0.1)[0] == 0
    assert law.size_for(0.09)[0] == math.inf


SIZES = (20, 50, 125, 320, 800)
N = np.array(SIZES)


def _design(measure="error_rate", n=1000, held_out=250, level=0.95, sizes=SIZES):
    return Design(
        measure=measure,
        pos_label=1,
        level=level,
        n=n,
        held_out=held_out,
        sizes=sizes,
        repeats=10,
        estimate=None,
        seed=1,
    )


def _law(losses, deviation=0.004, *, higher_is_better=False, n=1000, sizes=SIZES):
    rng = np.random.default_rng(3)
    losses = np.asarray(losses)
    resampled = losses + deviation * rng.normal(size=(400, len(sizes)))
    return extrapolation_of(
        losses,
        resampled,
        np.full(len(sizes), deviation**2),
        design=_design("accuracy" if higher_is_better else "error_rate", n=n),
        sizes=sizes,
        last=Interval(losses[-1] - 2 * deviation, losses[-1] + 2 * deviation, 0.95, "made"),
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


def test_the_interval_holds_a_curve_that_levels_off_and_one_that_goes_on_as_fast():
    law = _law(LOSSES)
    assert law.last.high == pytest.approx(LOSSES[-1] + 0.008)
    assert law.at(100_000).interval.high == law.last.high
    accuracy = _law(LOSSES, higher_is_better=True)
    assert accuracy.at(100_000).interval.low == pytest.approx(1 - law.last.high)
    # It falls by .1 with each factor of 2.5, and so to .1 − .008 from 800 to 2,000 examples.
    sizes, losses = (20, 50, 125, 312.5, 781.25), np.array([0.6, 0.5, 0.4, 0.3, 0.2])
    steady = _law(losses, sizes=sizes)
    assert steady.slope == pytest.approx(-0.1 / math.log(2.5))
    assert steady.at(2.5 * sizes[-1]).interval.low <= 0.092 + 1e-9


def refusal(losses):
    found = why_no_law(np.asarray(losses), SIZES, _design())
    return None if found is None else found.code


def test_a_curve_that_does_not_surely_fall_has_no_law():
    rng = np.random.default_rng(1)
    noise = 0.01 * rng.normal(size=(10, len(SIZES)))
    assert refusal(LOSSES + noise) is None
    assert refusal(LOSSES[::-1] + noise) == "not_surely_falling"
    assert refusal(np.full(5, 0.2) + noise) == "not_surely_falling"
    falls_then_rises = [0.4, 0.2, 0.12, 0.14, 0.16]
    assert refusal(falls_then_rises + noise) == "rises_at_the_end"


def test_the_words_are_those_of_the_measure():
    level = np.full((3, 5), 0.2)
    found = why_no_law(level, SIZES, _design("accuracy"))
    assert found == "over the sizes tried the curve does not surely rise"


def test_surely_falling_by_hand():
    # Sizes e⁰ to e³ and slopes of −.3 and −.1: the mean is −.2, the sd .1414, the factor
    # √(½ + .9/3) = .8944, and t with one degree at .75 is 1: −.2 + .1265 < 0.
    sizes = tuple(math.e**at for at in range(4))
    losses = 0.95 - np.outer([0.3, 0.1], np.arange(4))
    assert why_no_law(losses, sizes, _design(n=19, held_out=9, level=0.75)) is None
    # At .9 it is 3.078: −.2 + .389 > 0.
    found = why_no_law(losses, sizes, _design(n=19, held_out=9, level=0.9))
    assert found.code == "not_surely_falling"


def test_an_open_exponent_is_undetermined():
    law = _law(0.3 - 0.01 * np.log(N), deviation=0.008)
    assert not law.determined
    assert "exponent may be anything" in law.notes[0]


def test_more_noise_makes_the_interval_wider():
    narrow, wide = (_law(LOSSES, deviation).at(3000).interval.width for deviation in (0.002, 0.01))
    assert wide > 1.5 * narrow


def test_a_size_whose_mean_varies_much_counts_for_little():
    losses, variances = LOSSES.copy(), np.full(5, 1e-6)
    losses[1], variances[1] = 0.3, 1.0
    law = extrapolation_of(
        losses,
        losses[None],
        variances,
        design=_design(),
        sizes=SIZES,
        last=Interval(0.1, 0.2, 0.95, "made"),
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


def test_growth_and_needed_sizes_in_words():
    growth = growth_of([100, 200, 400], [1.0, 4.0, 16.0])
    assert str(growth) == "n^2.00 (±0.00, from 100 to 400 examples)"
    needed = NeededSize(
        wanted=0.05,
        size=4000.0,
        more=1500.0,
        measure="error_rate",
        interval=Interval(2600.0, 9000.0, 0.95, METHOD),
        reachable="yes",
    )
    words = "error_rate 0.05 takes about 4,000 examples [2,600, 9,000] at 95 %: 1,500 more"
    assert str(needed) == words
