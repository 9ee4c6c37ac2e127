import math

from studies.audit.sizes import TestSize as Size
from studies.audit.sizes_page import sizes_page


def row(
    test="f1", *, n=300, rejected=0.05, excluded=0.05, kind="classes", defined=2000, pairs=2000
):
    return Size(
        kind=kind,
        setting="much alike",
        n=n,
        random_state=7,
        test=test,
        method="paired_delta",
        pairs=pairs,
        defined=defined,
        rejected=rejected,
        excluded=excluded,
    )


ROWS = [
    row(n=100, rejected=0.2),
    row(rejected=0.04, excluded=0.045),
    row("recall", n=100, defined=1900),
    row("recall", rejected=0.09, excluded=0.091),
    row("nemenyi", kind="datasets", n=10, rejected=0.02, excluded=math.nan),
]


def lines(start):
    return [line for line in sizes_page(ROWS).splitlines() if line.startswith(start)]


def test_a_figure_that_misses_the_goal_is_bold_and_told():
    assert lines("| recall") == [
        "| recall | paired_delta | 0.050 / 0.050 of 1900 | **0.090 / 0.091** |"
    ]
    assert lines("- Missed") == [
        "- Missed: recall (paired_delta), much alike, n = 300: 0.090 / 0.091 of 2000 pairs."
    ]


def test_a_small_sample_may_miss_the_goal():
    assert lines("| f1") == ["| f1 | paired_delta | 0.200 / 0.050 | 0.040 / 0.045 |"]


def test_a_test_without_an_interval_has_one_share():
    assert lines("| nemenyi") == ["| nemenyi | paired_delta | 0.020 |"]


def test_the_page_is_summed_up():
    [told] = lines("- 2 of 3 figures")
    assert "the mean share of p ≤ 0.05 is 0.050, the largest 0.090." in told


def test_the_page_says_what_was_measured():
    text = sizes_page(ROWS)
    assert "Much alike:" in text
    assert "| n = 100: 2000 pairs, ±0.010 | n = 300: 2000 pairs, ±0.010 |" in text
    assert "## `tr.compare`: three classes" in text
    assert "Seed: 7." in text


def test_a_page_of_small_samples_says_so():
    assert "No figure at a size for which the goal is set." in sizes_page([row(n=100)])


def test_figures_of_few_pairs_are_told_for_what_they_are():
    text = sizes_page([row(), row("recall", pairs=50, defined=50)])
    assert "- 1 of these figures are from fewer than 1000 pairs, the least from 50" in text
    assert "fewer than 1000" not in sizes_page([row()])


def test_what_was_not_measured_is_told():
    assert "- Not measured: perturbation, linear machines, halves of the features, n = 100." in (
        sizes_page(ROWS)
    )
