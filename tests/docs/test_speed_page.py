"""docs/speed.md and benchmarks/results.md are made from benchmarks/results/*.csv."""

import pytest

from benchmarks import waits
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


WAIT = waits.Wait(
    "fits", "9 s", "fits", "^fit", "ours", "theirs", "ratio",
    (waits.Goal("≥ 2", "ratio"), waits.Goal("≤ 0.4 s", "ours", "^fit, large")),
)  # fmt: skip
TABLE = [
    ["work", "ours", "theirs", "ratio"],
    ["fit, small", "20 ms", "60 ms", "3.0"],
    ["fit, large", "0.50 s", "1.50 s", "3.0"],
    ["predict", "1 s", "1 s", "1.0"],
]


def test_a_wait_shows_its_rows_and_counts_the_goals_that_are_met():
    assert WAIT.line(TABLE) == (
        *("fits", "9 s", "20 ms / 0.5 s", "60 ms / 1.5 s", "3 / 3"),
        *("≥ 2; ≤ 0.4 s", "2 of 3"),
    )


def test_a_wait_whose_rows_are_gone_says_so():
    with pytest.raises(LookupError, match="fits has no 'ours' in rows like"):
        WAIT.line(TABLE[:1])
