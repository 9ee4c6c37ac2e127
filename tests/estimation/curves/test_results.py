"""Learners side by side: crossings worked by hand, and the front of cost and value."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.estimation.curves.laws import Design
from truerisk.estimation.curves.results import Affordable, affordable, crossings_of

DESIGN = Design(
    measure="error_rate",
    pos_label=1,
    level=0.95,
    n=4,
    held_out=1,
    sizes=(10, 100, 1000),
    repeats=6,
    estimate=None,
    seed=1,
)


def _cross(first, second, noise=0.0, names=("a", "b")):
    rng = np.random.default_rng(5)
    losses = {
        name: np.asarray(row) + noise * rng.normal(size=(6, len(row)))
        for name, row in zip(names, (first, second), strict=True)
    }
    return crossings_of(losses, DESIGN, 300)


def test_a_crossing_worked_by_hand():
    # a − b is −.1, .05, .2: on log n it is 0 two thirds of the way from 10 to 100.
    (found,) = _cross([0.2, 0.2, 0.3], [0.3, 0.15, 0.1])
    assert found.size == pytest.approx(10 ** (1 + 2 / 3))
    assert (found.before, found.after, found.times, found.share) == ("a", "b", 1, 1.0)
    assert str(found).startswith("b has a better mean than a from about 46 examples on [46, 46]; ")
    assert found.lead == pytest.approx(0.2)


def test_no_crossing_is_said():
    (found,) = _cross([0.2, 0.2, 0.2], [0.1, 0.1, 0.1])
    assert math.isnan(found.size)
    assert str(found).startswith("b has a better mean than a at every size; ")


def test_the_lead_at_the_last_size_worked_by_hand():
    last = np.array([[0.1], [0.2], [0.3]])
    losses = {"a": np.hstack([last, last, last + 0.2]), "b": np.tile([0.0, 0.0, 0.2], (3, 1))}
    (found,) = crossings_of(losses, DESIGN, 10)
    # s = .1, J = 3; t with two degrees of freedom at .975 is 4.302653 (any table).
    half = 4.302653 * 0.1 * math.sqrt(1 / 3 + 1 / 3)
    assert (found.after, found.lead) == ("b", pytest.approx(0.2))
    assert found.lead_interval.low == pytest.approx(0.2 - half)
    assert not found.is_sure
    assert str(found).endswith("its lead at the last, 0.2 [-0.151, 0.551], is not sure")
    losses["a"] = losses["a"] / 100 + 0.5
    (found,) = crossings_of(losses, DESIGN, 10)
    assert found.is_sure


def test_the_order_of_the_learners_changes_nothing():
    rows = [0.2, 0.2, 0.3], [0.3, 0.15, 0.1]
    (one,), (other,) = _cross(*rows), _cross(*rows[::-1], names=("b", "a"))
    assert one == other


def test_of_several_crossings_the_last_is_told():
    (found,) = _cross([0.2, 0.3, 0.1], [0.3, 0.2, 0.2])
    assert (found.times, found.after) == (2, "a")
    assert found.size == pytest.approx(10**2.5)
    assert "cross 2 times" in str(found)


def test_where_nobody_leads_the_line_goes_on():
    (found,) = _cross([0.2, 0.2, 0.3], [0.3, 0.2, 0.2])
    assert (found.size, found.times) == (pytest.approx(100), 1)


def test_noise_opens_the_interval_up_to_the_sizes_tried():
    rows = [0.2, 0.2, 0.21], [0.21, 0.2, 0.2]
    (sure,), (unsure,) = _cross(*rows), _cross(*rows, noise=0.3)
    assert sure.interval.width == pytest.approx(0, abs=1e-6)
    assert unsure.interval.width > 300
    assert 0 < unsure.share < 1


def test_a_crossing_that_may_lie_outside_reaches_the_end_of_the_sizes():
    difference = np.array([0.05, 0.04, -0.005]) + 0.02 * np.linspace(-1, 1, 8)[:, None]
    losses = {"a": 0.3 + difference, "b": np.full((8, 3), 0.3)}
    (found,) = crossings_of(losses, DESIGN, 500)
    assert found.interval.high == pytest.approx(1000)
    assert found.interval.low < found.size < 1000


def test_equal_curves_and_undefined_ones_have_no_crossing():
    assert _cross([0.2, 0.2, 0.2], [0.2, 0.2, 0.2]) == ()
    assert _cross([0.2, math.nan, 0.2], [0.1, 0.1, 0.3]) == ()


offers = st.lists(
    st.builds(
        Affordable,
        cpu_seconds=st.sampled_from([0.1, 0.2, 0.5, 1.0, math.nan]),
        learner=st.sampled_from("ab"),
        size=st.integers(1, 100),
        value=st.sampled_from([0.1, 0.2, 0.3, math.nan]),
    )
)


@given(offers)
def test_the_front_gets_dearer_and_better_and_nothing_beats_it(some):
    front = affordable(some)
    assert all(one.cpu_seconds < two.cpu_seconds for one, two in itertools.pairwise(front))
    assert all(one.value > two.value for one, two in itertools.pairwise(front))
    for offer in some:
        if not math.isnan(offer.cpu_seconds + offer.value):
            paid = [one for one in front if one.cpu_seconds <= offer.cpu_seconds]
            assert paid
            assert paid[-1].value <= offer.value


def test_where_higher_is_better_the_front_rises():
    some = [
        Affordable(cpu_seconds=cost, learner="a", size=1, value=value)
        for cost, value in ((1.0, 0.5), (2.0, 0.4), (3.0, 0.9))
    ]
    assert [one.value for one in affordable(some, higher_is_better=True)] == [0.5, 0.9]
