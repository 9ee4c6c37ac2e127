"""docs/speed.md and benchmarks/results.md are made from benchmarks/results/*.csv."""

import pytest

from benchmarks.pages import RESULTS, SPEED, ratios, results_page, speed_page


@pytest.mark.parametrize(("page", "made"), [(SPEED, speed_page), (RESULTS, results_page)])
def test_the_pages_of_speed_are_the_last_benchmark(page, made):
    assert page.read_text(encoding="utf-8") == made(), "run `python -m benchmarks.pages`"


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1,552; 1,129", 1552.0),
        ("> 4.93", 4.93),
        ("16×", 16.0),
        ("14.12 × polars", 14.12),
        ("2.04e+03", 2040.0),
    ],
)
def test_a_ratio_is_read_however_it_is_written(cell, number):
    assert ratios([["work", "ratio"], ["fit", cell]], "fit", 0) == [number]


def test_rows_without_a_ratio_and_sums_of_rows_are_left_out():
    rows = [["work", "ratio"], ["fit", "–"], ["fit", "2"], ["other", "3"]]
    assert ratios([*rows, ["**median of fits**", "**4**"]], "fit", 0) == [2.0]
