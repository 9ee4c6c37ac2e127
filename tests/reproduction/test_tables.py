import pytest

from truerisk.reproduction import TABLES, Reproduction


@pytest.mark.parametrize("name", TABLES)
def test_every_table_names_its_source_and_draws_a_conclusion(name):
    table = TABLES[name]()
    assert isinstance(table, Reproduction)
    assert table.title
    assert table.source
    assert table.rows
    assert table.conclusion
