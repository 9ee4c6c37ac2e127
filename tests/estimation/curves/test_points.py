"""From refits put in by hand to points and laws."""

import math

import numpy as np
import pytest

from truerisk.estimation.curves.laws import fit_power_laws
from truerisk.estimation.curves.points import Design, Refits, curve_of

SIZES = (10, 20, 40, 80)
ERRORS = [[8, 5, 3, 2], [6, 5, 4, 3], [10, 5, 2, 2]]  # of 20, a row a repeat


def _refits(failing=None):
    design = Design(
        measure="error_rate",
        pos_label=1,
        level=0.95,
        n=120,
        held_out=20,
        sizes=SIZES,
        repeats=3,
        estimate="cross_validation",
        seed=1,
    )
    refits = Refits(("one",), design, 2)
    for repeat, row in enumerate(ERRORS):
        for size_at, errors in enumerate(row):
            result = {
                "confusion": np.array([[10 - errors // 2, errors // 2], [errors - errors // 2, 0]]),
                "costs": np.array([0.1 * SIZES[size_at], 2.0, 100.0, 0.1 + repeat]),
                "estimate_confusion": np.array([[5, 1], [0, 4]]),
            }
            result["confusion"][1, 1] = 20 - result["confusion"].sum()
            if (repeat, size_at) == failing:
                result = {"failed": np.array("ValueError: no")}
            refits.add((0, repeat, size_at), result)
    return refits


def test_a_point_is_the_mean_of_its_repeats_and_the_median_of_its_costs():
    first, second, *_ = curve_of(_refits())["one"].points
    assert first.replicates == (0.4, 0.3, 0.5)
    assert (first.mean, first.sd) == (pytest.approx(0.4), pytest.approx(0.1))
    assert (first.seconds_to_induce, first.cpu_seconds) == (pytest.approx(1.0), pytest.approx(1.1))
    assert (first.estimate_mean, first.estimate_sd) == (pytest.approx(0.1), 0.0)
    # t with two degrees of freedom at .975 is 4.302653 (any table); 20 of 120 are held out.
    assert first.interval.low == pytest.approx(0.4 - 4.302653 * 0.1 * math.sqrt(1 / 3 + 0.2))
    assert second.sd == 0
    assert second.interval.method == "clopper_pearson"


def test_the_time_grows_as_it_was_put_in():
    growth = curve_of(_refits())["one"].growth
    assert growth["seconds_to_induce"].exponent == pytest.approx(1)
    assert growth["memory"].exponent == pytest.approx(0)


def test_equal_repeats_do_not_make_a_size_certain():
    law = curve_of(_refits())["one"].extrapolation
    losses = np.array(ERRORS) / 20
    mean, variances = losses.mean(axis=0), losses.var(axis=0, ddof=1)
    # Half an error more, of one example more: (20·mean + ½)/21.
    smooth = (20 * mean + 0.5) / 21
    floors = np.maximum(variances, smooth * (1 - smooth) / 20)
    assert variances[1] == 0 < floors[1]
    expected = fit_power_laws(SIZES, mean[None], 1 / floors)
    assert law.at(30).value == pytest.approx(expected.at(30)[0])
    assert law.c == pytest.approx(expected.c[0])


def test_one_failure_leaves_its_size_without_a_value_and_the_others_with_theirs():
    curve = curve_of(_refits(failing=(2, 1)))
    points = curve["one"].points
    assert [math.isnan(point.mean) for point in points] == [False, True, False, False]
    assert points[1].interval is None
    assert points[1].seconds_to_induce == pytest.approx(2.0)  # of the repeats that did not fail
    assert curve["one"].extrapolation is None
    assert curve.failures == ("one on 20 examples, repeat 3: ValueError: no",)
