"""A table of words → the section that shows it, its rows sorted by whoever reads it."""

from truerisk.reporting.escaping import visible
from truerisk.reporting.page.parts import Section
from truerisk.reporting.tables import Table

MAX_ROWS = 500


def table_section(table: Table, lead: str = "") -> Section:
    r"""Give the section of a table: all texts visible, so many rows at most.

    Examples
    --------
    >>> from truerisk.reporting.tables import Column
    >>> table_section(Table("Values", (Column("Model"),), (("a\x1b",), ("b",)))).data["rows"]
    [['a\\x1b'], ['b']]
    """
    rows = [[visible(cell.strip()) for cell in row] for row in table.rows[:MAX_ROWS]]
    data = {
        "columns": [
            {"heading": visible(column.heading), "numeric": column.numeric}
            for column in table.columns
        ],
        "rows": rows,
        "left_out": len(table.rows) - len(rows),
    }
    return Section("table", visible(table.title), data, lead)
