"""The figures of the paper: all of them, and such as can belong together."""

import pytest

from studies.reproduction.jiang_printed import SOURCE, printed_rows

ROWS = {2: 6, 3: 10, 4: 4, 5: 7}


@pytest.mark.parametrize("table", ROWS)
def test_every_row_has_every_figure(table):
    rows = printed_rows(table)
    assert len(rows) == ROWS[table]
    for row in rows:
        assert all(value is not None and value.strip() for value in row.values())
        assert None not in row


def test_table_2_has_both_sizes_and_three_dimensions():
    assert [(row["n"], row["d"]) for row in printed_rows(2)] == [
        (n, d) for n in ("50", "100") for d in ("10", "20", "30")
    ]
    assert [row["percentile_ca"] for row in printed_rows(2)] == [
        *("94.7", "94.4", "93.8"),
        *("95.1", "95.2", "94.6"),
    ]
    assert {row["vc_ca"] for row in printed_rows(2)} == {"100.0"}


def test_table_3_has_half_the_partitions_where_the_paper_says_so():
    fifty = {row["data_set"] for row in printed_rows(3) if row["partitions"] == "50"}
    assert fifty == {"flare-solar", "image", "titanic"}
    assert sum(float(row["true_sd"]) for row in printed_rows(3)) == pytest.approx(0.615)
    assert sum(float(row["resampling_sd"]) for row in printed_rows(3)) == pytest.approx(0.640)
    assert sum(float(row["splitting_sd"]) for row in printed_rows(3)) == pytest.approx(0.898)
    assert sum(float(row["rho_sd"]) for row in printed_rows(3)) == pytest.approx(0.262)


@pytest.mark.parametrize(
    ("table", "low", "value", "high"),
    [
        (5, "without_low", "without_error", "without_high"),
        (5, "with_low", "with_error", "with_high"),
    ],
)
def test_an_error_lies_in_its_interval(table, low, value, high):
    for row in printed_rows(table):
        assert float(row[low]) <= float(row[value]) <= float(row[high])


def test_the_differences_of_tables_4_and_5_lie_in_their_intervals():
    for row in printed_rows(4):
        difference = float(row["polynomial_cv"]) - float(row["linear_cv"])
        assert float(row["estimated_low"]) <= difference <= float(row["estimated_high"])
    for row in printed_rows(5):
        difference = float(row["with_error"]) - float(row["without_error"])
        assert float(row["difference_low"]) <= difference <= float(row["difference_high"])


def test_the_source_is_named():
    assert "JMLR 9, 521-540, 2008" in SOURCE
