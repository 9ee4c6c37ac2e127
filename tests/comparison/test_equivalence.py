import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from truerisk.comparison.equivalence import (
    equivalence_p,
    equivalence_p_from_ends,
    margins_of,
    non_inferiority_p,
    non_inferiority_p_from_ends,
)
from truerisk.comparison.predictions.paired_difference import paired_difference_ends
from truerisk.errors import InputError

regions = st.floats(0.02, 0.4)

tables = st.tuples(*[st.integers(0, 60)] * 4).filter(any)


def normal_ends(value, error):
    """The intervals of a normal difference: their inversion is known."""

    def ends_at(level):
        spread = error * norm.ppf(0.5 + level / 2)
        return value - spread, value + spread

    return ends_at


def test_by_hand():
    # No discordant example of 100 and a region of r: z = −100 r / √(100 r (1 − r)), both sides.
    z = -100 * 0.1 / math.sqrt(100 * 0.1 * 0.9)
    assert equivalence_p(90, 0, 0, 10, region=0.1) == pytest.approx(norm.cdf(z), rel=1e-12)
    assert non_inferiority_p(90, 0, 0, 10, region=0.1) == pytest.approx(norm.cdf(z), rel=1e-12)


def test_non_inferiority_has_a_direction():
    # The second is right where the first is not nine times, the first once.
    better = non_inferiority_p(50, 1, 9, 0, region=0.05)
    worse = non_inferiority_p(50, 9, 1, 0, region=0.05)
    assert better < 0.01
    assert worse > 0.5
    # Where the counts are of wrong answers, it is the other way round.
    assert non_inferiority_p(50, 1, 9, 0, region=0.05, higher_is_better=False) == worse


@settings(max_examples=15, deadline=None)
@given(table=tables, region=regions)
def test_it_is_what_tangos_intervals_say(table, region):
    both, only_first, only_second, neither = table
    p_value = equivalence_p(*table, region=region)
    swapped = equivalence_p(both, only_second, only_first, neither, region=region)
    assert swapped == pytest.approx(p_value, abs=1e-12)
    assert p_value == max(
        non_inferiority_p(*table, region=region),
        non_inferiority_p(*table, region=region, higher_is_better=False),
    )
    for level in (0.9, 0.99):
        if abs(p_value - (1 - level)) > 1e-9:
            low, high = paired_difference_ends(*table, level=2 * level - 1)
            assert (p_value < 1 - level) == (-region < low and high < region)


def test_from_intervals_it_is_the_score_test_again():
    table = (120, 4, 5, 31)
    found = equivalence_p_from_ends(
        lambda level: paired_difference_ends(*table, level=level), region=0.05
    )
    assert found == pytest.approx(equivalence_p(*table, region=0.05), abs=2e-9)


@settings(max_examples=20, deadline=None)
@given(value=st.floats(-0.3, 0.3), error=st.floats(0.01, 0.2), region=regions)
def test_from_normal_intervals_it_is_two_normal_tests(value, error, region):
    ends_at = normal_ends(value, error)
    above, below = (norm.sf((region + sign * value) / error) for sign in (1, -1))

    def up_to_a_half(p_value):
        return pytest.approx(p_value if p_value < 0.5 - 1e-8 else 1.0, abs=3e-9)

    if min(abs(above - 0.5), abs(below - 0.5)) > 1e-6:
        assert equivalence_p_from_ends(ends_at, region=region) == up_to_a_half(max(above, below))
        assert non_inferiority_p_from_ends(ends_at, region=region) == up_to_a_half(above)
        found = non_inferiority_p_from_ends(ends_at, region=region, higher_is_better=False)
        assert found == up_to_a_half(below)


def test_a_difference_beyond_the_region_is_never_equivalent():
    assert equivalence_p_from_ends(normal_ends(0.2, 0.01), region=0.1) == 1.0
    assert equivalence_p(0, 0, 20, 80, region=0.1) > 0.99


@pytest.mark.parametrize("wrong", [0, -0.1, math.nan])
def test_what_is_no_region_is_refused(wrong):
    with pytest.raises(InputError, match=r"`region` must"):
        equivalence_p(120, 4, 5, 31, region=wrong)
    with pytest.raises(InputError, match=r"`region` must"):
        non_inferiority_p_from_ends(normal_ends(0, 1), region=wrong)


def test_only_a_difference_of_shares_is_at_most_1():
    with pytest.raises(InputError, match=r"`region` must lie in \[0, 1\]; got 1\.5\."):
        equivalence_p(120, 4, 5, 31, region=1.5)
    found = equivalence_p_from_ends(normal_ends(0.5, 0.5), region=1.5)
    assert found == pytest.approx(norm.sf(2), abs=3e-9)


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match=r"The four counts must hold at least one example; got 0"):
        equivalence_p(0, 0, 0, 0, region=0.1)
    with pytest.raises(InputError, match=r"`both` must be a whole number; got 'many'\."):
        non_inferiority_p("many", 0, 0, 0, region=0.1)


NAMES = ["error_rate", "f1"]


def test_one_number_is_the_region_of_every_measure():
    assert margins_of(0.02, NAMES) == {"error_rate": 0.02, "f1": 0.02}
    assert margins_of(None, NAMES) == {}


def test_a_region_may_be_given_for_single_measures():
    assert margins_of({"f1": 0.05}, NAMES) == {"f1": 0.05}


@pytest.mark.parametrize("region", [0, -0.1, float("nan"), {"f1": 0}, {"recall": 0.1}], ids=str)
def test_a_region_must_be_above_0_and_of_a_measure_compared(region):
    with pytest.raises(InputError, match="`region` must"):
        margins_of(region, NAMES)


@pytest.mark.parametrize("region", [1, 5, {"f1": 1.5}], ids=str)
def test_a_region_that_no_difference_can_leave_is_refused(region):
    with pytest.raises(InputError, match="the largest difference that"):
        margins_of(region, NAMES)
    assert margins_of(1.5, ["matthews_correlation"]) == {"matthews_correlation": 1.5}
    assert margins_of(1.5, ["positive_likelihood_ratio"]) == {"positive_likelihood_ratio": 1.5}


def test_a_percentage_is_told_how_to_be_written():
    with pytest.raises(InputError, match=r"Write 0.05 for 5 %"):
        margins_of(5, NAMES)
