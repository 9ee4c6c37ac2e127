import numpy as np

from studies.audit.coverage_page import coverage_page
from studies.audit.predictions import TablePopulation, simulate_coverage
from studies.audit.proportions import enumerate_all

ROWS = list(enumerate_all(["clopper_pearson", "wald"], [5, 10], [0.9, 0.95]))


def test_the_page_holds_each_level_method_and_size():
    text = coverage_page(ROWS)
    assert "at 550 proportions" in text
    assert "### Promised: 90 %" in text
    assert "### Promised: 95 %" in text
    assert text.count("| clopper_pearson |") == 4
    assert "| method | 5 | 10 |" in text


def test_widths_are_relative_to_the_exact_ones():
    lines = [line for line in coverage_page(ROWS).splitlines() if "n = " in line]
    assert all(line.endswith("| 1.000 |") for line in lines if "clopper_pearson" in line)
    wald = [float(line.split("|")[-2]) for line in lines if "| wald |" in line]
    assert all(width < 0.9 for width in wald)


def test_simulated_rows_are_summed_up_by_measure_and_size():
    first = TablePopulation("first", ((5.0, 1.0), (1.0, 5.0)))
    second = TablePopulation("second", ((5.0, 4.0), (4.0, 5.0)))
    simulated = [
        row
        for population in (first, second)
        for n in (10, 20)
        for row in simulate_coverage(population, n, samples=5, rng=np.random.default_rng(1))
    ]
    text = coverage_page(ROWS, simulated)
    assert "over the\npopulations: first; second." in text
    assert "| measure | method | n = 10: least / mean | n = 20: least / mean |" in text
    assert text.count("| accuracy | clopper_pearson |") == 1
