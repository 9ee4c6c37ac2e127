import numpy as np

from truerisk.audit.enumeration import enumerate_all
from truerisk.audit.ledger import ledger_text, write_ledger
from truerisk.audit.simulation import simulate_coverage
from truerisk.intervals.binomial import binomial_interval


def rows():
    return enumerate_all(["clopper_pearson", "wald"], [5, 10], [0.9, 0.95])


def simulated():
    return simulate_coverage(
        [0.7, 0.3],
        20,
        lambda cells, _: binomial_interval(int(cells[0]), int(cells.sum())),
        lambda cells: cells[..., 0] / cells.sum(axis=-1),
        repetitions=50,
        rng=np.random.default_rng(1),
    )


def test_the_page_holds_each_level_method_and_size():
    text = ledger_text(list(rows()))
    assert "at 550 proportions" in text
    assert "### Promised: 90 %" in text
    assert "### Promised: 95 %" in text
    assert text.count("| clopper_pearson |") == 4
    assert "| method | 5 | 10 |" in text


def test_widths_are_relative_to_the_exact_ones():
    lines = [line for line in ledger_text(list(rows())).splitlines() if "n = " in line]
    assert all(line.endswith("| 1.000 |") for line in lines if "clopper_pearson" in line)
    wald = [float(line.split("|")[-2]) for line in lines if "| wald |" in line]
    assert all(width < 0.9 for width in wald)


def test_simulated_rows_get_their_own_table():
    text = ledger_text(list(rows()), [simulated()])
    assert "## Count measures, by simulation" in text
    assert "| 0 of 50 |" in text


def test_it_is_written_whole(tmp_path):
    path = write_ledger(tmp_path / "coverage.md", rows(), [simulated()])
    assert path.read_text(encoding="utf-8").startswith("# Measured coverage\n")
    assert [file.name for file in tmp_path.iterdir()] == ["coverage.md"]


def test_a_row_that_fails_leaves_the_old_page(tmp_path):
    path = tmp_path / "coverage.md"
    path.write_text("old", encoding="utf-8")

    def failing():
        yield from rows()
        raise RuntimeError

    try:
        write_ledger(path, failing())
    except RuntimeError:
        assert path.read_text(encoding="utf-8") == "old"
    else:
        raise AssertionError
