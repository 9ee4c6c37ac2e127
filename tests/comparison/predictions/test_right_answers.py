import numpy as np
import pytest

from truerisk.comparison.predictions.comparisons import PairTable
from truerisk.comparison.predictions.mcnemar import mcnemar
from truerisk.comparison.predictions.paired_difference import paired_difference_ends
from truerisk.comparison.predictions.right_answers import (
    by_groups,
    by_table,
    other_tests,
    settled_by,
    within_region,
)
from truerisk.comparison.spread import Spread
from truerisk.intervals.planning import sample_size

TABLE = PairTable(names=("a", "b"), both=20, only_first=2, only_second=12, neither=16)


def test_errors_are_compared_by_the_table_turned_around():
    errors = by_table(TABLE, of_errors=True, level=0.95, method="tango")
    accuracy = by_table(TABLE, of_errors=False, level=0.95, method="tango")
    assert errors.p_value == accuracy.p_value == mcnemar(2, 12)
    low, high = accuracy.spread.ends(0.2, 0.95)
    assert (low, high) == paired_difference_ends(20, 2, 12, 16, level=0.95)
    assert errors.spread.ends(-0.2, 0.95) == pytest.approx((-high, -low))


def test_newcombes_interval_is_the_published_one_on_request():
    # Newcombe 1998, method 10.
    found = by_table(TABLE, of_errors=False, level=0.95, method="newcombe")
    assert found.spread.ends(0.2, 0.95) == pytest.approx((0.0562, 0.3292), abs=5e-5)
    assert found.interval_method == "newcombe"


def test_only_an_open_question_is_planned_for():
    open_table = PairTable(names=("a", "b"), both=80, only_first=6, only_second=9, neither=5)
    expected = sample_size(difference=0.03, discordant=0.15).n
    assert by_table(open_table, of_errors=True, level=0.95, method="tango").settled_by == expected
    assert by_table(TABLE, of_errors=True, level=0.95, method="tango").settled_by is None


def test_no_difference_cannot_be_planned_for():
    table = PairTable(names=("a", "b"), both=80, only_first=6, only_second=6, neither=5)
    assert settled_by(table, 0.95) is None


def test_models_without_a_discordant_pair_have_a_p_value_of_one_and_say_why():
    table = PairTable(names=("a", "b"), both=9, only_first=0, only_second=0, neither=1)
    found = by_table(table, of_errors=True, level=0.95, method="tango")
    assert found.p_value == 1
    assert "no discordant pairs" in found.notes[0]
    grouped = by_groups(np.zeros(6), np.array([0, 0, 1, 1, 2, 2]))
    assert grouped.p_value == 1
    assert "no discordant pairs" in grouped.notes[0]


def test_the_exact_and_the_asymptotic_test_stand_beside():
    found = {one.method: one.p_value for one in other_tests(TABLE)}
    # The same table in R's and in Newcombe's hands.
    assert found["mcnemar_exact"] == pytest.approx(0.012939453125)
    assert found["mcnemar_asymptotic"] == pytest.approx(0.00752631516645796)


@pytest.mark.parametrize("upwards", [True, False])
def test_a_region_is_tested_on_the_table_or_from_the_ends(upwards):
    spread = Spread(0.02)
    found = within_region(
        None, lambda level: spread.ends(0.01, level), 0.05, higher_is_better=upwards
    )
    p_values = {one.method: one.p_value for one in found}
    assert p_values["equivalence"] == pytest.approx(0.0228, abs=1e-4)
    assert p_values["non_inferiority"] == pytest.approx(0.00135 if upwards else 0.0228, abs=1e-4)
    table = PairTable(names=("a", "b"), both=120, only_first=4, only_second=5, neither=31)
    by_score = list(within_region(table, lambda _: (0.0, 0.1), 0.05, higher_is_better=upwards))
    assert all(0 < one.p_value < 0.05 for one in by_score)


def test_nothing_is_tested_where_there_are_no_ends():
    endless = within_region(None, lambda _: (-np.inf, np.inf), 0.1, higher_is_better=True)
    assert list(endless) == []


def test_a_region_of_a_measure_without_limits_is_tested_too():
    wide = within_region(None, lambda _: (0.0, 1.0), 5.0, higher_is_better=True)
    assert [one.p_value < 1e-8 for one in wide] == [True, True]
