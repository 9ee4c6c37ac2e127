from truerisk.reporting.sections.tables import MAX_ROWS, table_section
from truerisk.reporting.tables import Column, Table

COLUMNS = (Column("Model\x07"), Column("n", numeric=True))


def test_what_a_table_says_is_made_visible():
    section = table_section(Table("Models\x1b", COLUMNS, (("  a\x00", "1 "),)), "Of all.")
    assert (section.kind, section.title, section.lead) == ("table", r"Models\x1b", "Of all.")
    assert section.data["columns"][0] == {"heading": r"Model\x07", "numeric": False}
    assert section.data["rows"] == [[r"a\x00", "1"]]
    assert section.data["left_out"] == 0


def test_rows_that_are_left_out_are_counted():
    rows = tuple((str(at), "1") for at in range(MAX_ROWS + 3))
    data = table_section(Table("Models", COLUMNS, rows)).data
    assert len(data["rows"]) == MAX_ROWS
    assert data["left_out"] == 3
