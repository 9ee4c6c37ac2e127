from dataclasses import fields

import pytest

from studies.reproduction import (
    EXPERIMENTS,
    SIMULATIONS,
    TABLES,
    JiangSettings,
    Reproduction,
    joachims,
)


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
    assert not set(SIMULATIONS) & {*TABLES, *EXPERIMENTS}
    assert set(joachims.TABLES) < set(EXPERIMENTS)


def test_every_setting_is_used_by_a_simulation_and_no_other_is_named():
    used = {name for simulation in SIMULATIONS.values() for name in simulation.uses}
    assert used == {field.name for field in fields(JiangSettings)} - {"progress"}
