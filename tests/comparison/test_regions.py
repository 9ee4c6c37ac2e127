import pytest

from truerisk.comparison.regions import margins_of
from truerisk.errors import InputError

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
