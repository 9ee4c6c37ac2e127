import pytest

from truerisk.reproduction import EXPERIMENTS, TABLES, Reproduction, joachims


@pytest.mark.parametrize("name", TABLES)
def test_every_table_names_its_source_and_draws_a_conclusion(name):
    table = TABLES[name]()
    assert isinstance(table, Reproduction)
    assert table.title
    assert table.source
    assert table.rows
    assert table.conclusion


def test_no_name_means_two_tables():
    assert not set(TABLES) & set(EXPERIMENTS)
    assert set(joachims.TABLES) < set(EXPERIMENTS)
