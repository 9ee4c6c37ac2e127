import pytest

from studies.reproduction import Reproduction
from truerisk.errors import InputError


def test_a_row_with_a_missing_cell_is_refused():
    with pytest.raises(InputError, match=r"`rows` must have 2 cells each; got 1"):
        Reproduction(title="", source="", columns=("a", "b"), rows=(("1",),), conclusion=())


def test_printed_columns_line_up():
    table = Reproduction(
        title="T", source="S", columns=("a", "long"), rows=(("wide cell", "1"),), conclusion=("C",)
    )
    assert str(table).splitlines() == ["T", "S", "", "a          long", "wide cell  1", "", "C"]


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match="'ours' twice"):
        Reproduction(title="T", source="S", columns=("ours", "ours"), rows=(), conclusion=())
