import pytest

from truerisk.errors import InputError
from truerisk.measures import MEASURES, find_measure
from truerisk.measures.registry import BINOMIAL_INTERVALS, CELL_INTERVALS, RANKING_INTERVALS

KNOWN = {*BINOMIAL_INTERVALS, *CELL_INTERVALS, *RANKING_INTERVALS, "delong"}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda measure: measure.name)
def test_every_entry_explains_itself(measure):
    assert measure.title
    assert measure.summary.endswith((".", "?"))
    assert measure.formula
    assert measure.undefined
    assert measure.measure_range[0] < measure.measure_range[1]
    assert measure.intervals[0] != "wald"
    assert set(measure.intervals) <= KNOWN


def test_beta_stands_in_the_name():
    assert find_measure("f0.5").title == "F0.5"
    assert find_measure("e2").parameters == {"beta": 2.0}


def test_a_misspelt_name_is_refused():
    with pytest.raises(InputError, match=r"`measure` must be one of .*accuracy.*; got 'acuracy'"):
        find_measure("acuracy")
