"""Tables on a terminal: numbers stay whole, and intervals move to the next line whole."""

import io

import pytest
from rich.console import Console

from truerisk.reporting.document import Table, heads
from truerisk.reporting.render.terminal import print_table

NUMBERS = ("0.123 [0.100, 0.150]", "0.456 [0.400, 0.500]", "0.789 [0.700, 0.800]")
TABLE = Table("Measures", heads("name", "#first", "#second", "#third"), (("recall", *NUMBERS),))


def printed(table, width):
    text = io.StringIO()
    print_table(table, Console(file=text, width=width))
    return text.getvalue()


def test_a_wide_table_has_one_line_per_row():
    assert any(all(number in line for number in NUMBERS) for line in printed(TABLE, 80).split("\n"))


@pytest.mark.parametrize("width", [56, 60, 70])
def test_a_narrow_table_breaks_before_an_interval_and_nowhere_in_it(width):
    text = printed(TABLE, width)
    for number in NUMBERS:
        assert number[:5] in text
        assert number[6:] in text
    assert not any(all(number in line for number in NUMBERS) for line in text.split("\n"))


def test_words_with_a_bracket_are_left_as_they_are():
    table = Table("", heads("name", *(f"#{at}" for at in range(4))), (("a [b]", *NUMBERS, "1"),))
    assert "a [b]" in printed(table, 80)


def test_a_narrow_table_breaks_names_after_hyphens_and_underscores():
    rows = (
        ("Kolmogorov-Smirnov distance", "variance_components_moving_threshold", "0.865"),
        ("F1", "clopper_pearson", "0.933"),
    )
    table = Table("Measures", heads("measure", "method", "#value"), rows)
    broken = printed(table, 54).split()
    assert {"Kolmogorov-Smirnov", "variance_components_", "moving_threshold"} <= set(broken)
    narrow = printed(table, 38).split()
    assert {"Kolmogorov-", "Smirnov", "variance_", "components_"} <= set(narrow)
    assert rows[0][1] in printed(table, 100)
