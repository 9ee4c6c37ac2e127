import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, chi2

from truerisk.comparison.outcome import Spread
from truerisk.comparison.predictions.paired_difference import by_groups, paired_difference_ends
from truerisk.comparison.predictions.right_answers import (
    FORMS,
    PairTable,
    by_table,
    cochran_q,
    mcnemar,
    planned_size,
    within_region,
)
from truerisk.errors import InputError
from truerisk.intervals.planning import sample_size

TABLE = PairTable(names=("a", "b"), both=20, only_first=2, only_second=12, neither=16)


def test_errors_are_compared_by_the_table_turned_around():
    errors = by_table(TABLE, of_errors=True, level=0.95, method="tango")
    accuracy = by_table(TABLE, of_errors=False, level=0.95, method="tango")
    assert errors.p_value == accuracy.p_value == mcnemar(2, 12)
    low, high = accuracy.ends_at(0.95)
    assert (low, high) == paired_difference_ends(20, 2, 12, 16, level=0.95)
    assert errors.ends_at(0.95) == pytest.approx((-high, -low))


def test_newcombes_interval_is_the_published_one_on_request():
    # Newcombe 1998, method 10.
    found = by_table(TABLE, of_errors=False, level=0.95, method="newcombe")
    assert found.ends_at(0.95) == pytest.approx((0.0562, 0.3292), abs=5e-5)
    assert found.interval_method == "newcombe"


def test_only_an_open_question_is_planned_for():
    open_table = PairTable(names=("a", "b"), both=80, only_first=6, only_second=9, neither=5)
    expected = sample_size(difference=0.03, discordant=0.15).n
    assert by_table(open_table, of_errors=True, level=0.95, method="tango").settled_by == expected
    assert by_table(TABLE, of_errors=True, level=0.95, method="tango").settled_by is None


def test_no_difference_cannot_be_planned_for():
    table = PairTable(names=("a", "b"), both=80, only_first=6, only_second=6, neither=5)
    assert planned_size(table, 0.95) is None


def test_models_without_a_discordant_pair_have_a_p_value_of_one_and_say_why():
    table = PairTable(names=("a", "b"), both=9, only_first=0, only_second=0, neither=1)
    found = by_table(table, of_errors=True, level=0.95, method="tango")
    assert found.p_value == 1
    assert "no discordant pairs" in found.notes[0]
    grouped = by_groups(np.zeros(6), np.array([0, 0, 1, 1, 2, 2]))
    assert grouped.p_value == 1
    assert "no discordant pairs" in grouped.notes[0]


def test_the_exact_and_the_asymptotic_test_stand_beside():
    found = {
        one.method: one.p_value for one in by_table(TABLE, of_errors=True, level=0.95).alternatives
    }
    # The same table in R's and in Newcombe's hands.
    assert found["mcnemar_exact"] == pytest.approx(0.012939453125)
    assert found["mcnemar_asymptotic"] == pytest.approx(0.00752631516645796)


@pytest.mark.parametrize("upwards", [True, False])
def test_a_region_is_tested_on_the_table_or_from_the_ends(upwards):
    spread = Spread(0.02)
    found = within_region(
        None, lambda level: spread.ends(0.01, level), 0.05, higher_is_better=upwards
    )
    p_values = {one.method: one.p_value for one in found}
    assert p_values["equivalence"] == pytest.approx(0.0228, abs=1e-4)
    assert p_values["non_inferiority"] == pytest.approx(0.00135 if upwards else 0.0228, abs=1e-4)
    table = PairTable(names=("a", "b"), both=120, only_first=4, only_second=5, neither=31)
    by_score = list(within_region(table, lambda _: (0.0, 0.1), 0.05, higher_is_better=upwards))
    assert all(0 < one.p_value < 0.05 for one in by_score)


def test_nothing_is_tested_where_there_are_no_ends():
    endless = within_region(None, lambda _: (-np.inf, np.inf), 0.1, higher_is_better=True)
    assert list(endless) == []


def test_a_region_of_a_measure_without_limits_is_tested_too():
    wide = within_region(None, lambda _: (0.0, 1.0), 5.0, higher_is_better=True)
    assert [one.p_value < 1e-8 for one in wide] == [True, True]


REFERENCE = Path(__file__).parents[2] / "reference" / "paired_tests.json"

VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]

NAMES = {
    "mcnemar_asym": "asymptotic",
    "mcnemar_exact": "exact",
    "mcnemar_cc": "continuity_corrected",
    "mcnemar_mid_p": "mid_p",
}

counts = st.integers(0, 200)


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["method"] in NAMES], ids=lambda vector: vector["id"]
)
def test_it_gives_the_numbers_of_others(vector):
    (_, only_first), (only_second, _) = vector["inputs"]["table"]
    found = {"pvalue": mcnemar(only_first, only_second, method=NAMES[vector["method"]])}
    if "statistic" in vector["expected"]:
        found["statistic"] = chi2.isf(found["pvalue"], 1)
    assert found == pytest.approx(vector["expected"], **vector["tolerance"])


def test_every_vector_is_tried_somewhere():
    tried = {*NAMES, "newcombe_paired", "tango", "wald", "bonett_price", "cochran_q"}
    assert {vector["method"] for vector in VECTORS} == tried
    assert len(VECTORS) == 43


def test_by_hand():
    # 1 of 8: P(X ≤ 1) = 9/256 and P(X = 1) = 8/256.
    assert mcnemar(1, 7, method="exact") == pytest.approx(18 / 256, rel=1e-14)
    assert mcnemar(1, 7) == pytest.approx(10 / 256, rel=1e-13)
    # 3 against 3: all but half of P(X = 3) = 20/64.
    assert mcnemar(3, 3) == pytest.approx(54 / 64, rel=1e-13)
    # (7 − 1)² / 8 = 4.5 and (7 − 1 − 1)² / 8 = 3.125
    assert mcnemar(1, 7, method="asymptotic") == pytest.approx(chi2.sf(4.5, 1), rel=1e-12)
    found = mcnemar(1, 7, method="continuity_corrected")
    assert found == pytest.approx(chi2.sf(3.125, 1), rel=1e-12)


@pytest.mark.parametrize("method", FORMS)
def test_models_that_agree_everywhere_have_a_p_value_of_1(method):
    assert mcnemar(0, 0, method=method) == 1.0


@settings(max_examples=30, deadline=None)
@given(first=counts, second=counts)
def test_the_forms_keep_their_order_and_do_not_know_first_from_second(first, second):
    p_values = {method: mcnemar(first, second, method=method) for method in FORMS}
    assert p_values == {method: mcnemar(second, first, method=method) for method in FORMS}
    assert all(0 < p_value <= 1 for p_value in p_values.values())
    assert p_values["mid_p"] <= p_values["exact"]
    assert p_values["asymptotic"] <= p_values["continuity_corrected"]
    assert p_values["exact"] == pytest.approx(
        binomtest(first, first + second).pvalue if first + second else 1.0, rel=1e-10
    )


@pytest.mark.parametrize("apart", [0, 1, 20, 30_000, 400_000])
def test_a_milliard_of_discordant_examples_is_no_other_matter(apart):
    first = (10**9 - apart) // 2
    second = 10**9 - first
    exact, mid_p = (mcnemar(first, second, method=method) for method in ("exact", "mid_p"))
    z = (abs(second - first) + 1) / math.sqrt(10**9)  # half a count on either side
    assert exact == pytest.approx(min(1.0, 2 * chi2.sf(z * z, 1) / 2), rel=1e-4)
    seen = binom.pmf(first, 10**9, 0.5)
    assert exact - mid_p == pytest.approx(seen / 2 if first == second else seen, rel=0.5)


@pytest.mark.parametrize(
    ("method", "largest", "mean"),
    [("mid_p", 0.0471, 0.0281), ("exact", 0.0306, 0.0148), ("asymptotic", 0.0537, 0.0380)],
)
def test_the_size_is_what_the_docstring_says(method, largest, mean):
    sizes = np.concatenate([size_of(method, n) for n in range(10, 61, 10)])
    assert sizes.max() == pytest.approx(largest, abs=5e-5)
    assert sizes.mean() == pytest.approx(mean, abs=5e-5)


def size_of(method, n):
    """The probability of rejecting at 0.05, for shares 0.01 … 0.50 of discordant examples."""
    rejected = np.zeros(n + 1)
    for discordant in range(n + 1):
        p_values = [mcnemar(k, discordant - k, method=method) for k in range(discordant + 1)]
        chances = binom.pmf(range(discordant + 1), discordant, 0.5)
        rejected[discordant] = chances[np.array(p_values) <= 0.05].sum()
    shares = np.arange(1, 51) / 100
    return binom.pmf(np.arange(n + 1), n, shares[:, np.newaxis]) @ rejected


def test_what_is_no_count_is_refused():
    with pytest.raises(InputError, match=r"`only_first` must lie in \[0, .*; got -1\."):
        mcnemar(-1, 3)
    with pytest.raises(InputError, match=r"`only_second` must be a whole number; got 2\.5\."):
        mcnemar(1, 2.5)
    with pytest.raises(InputError, match=r"`method` must be one of mid_p, exact, .*; got 'mid'\."):
        mcnemar(1, 2, method="mid")


tables = st.integers(2, 5).flatmap(
    lambda models: st.lists(
        st.lists(st.integers(0, 1), min_size=models, max_size=models), min_size=1, max_size=40
    )
)


def test_cochran_gives_the_numbers_of_others():
    (vector,) = (vector for vector in VECTORS if vector["method"] == "cochran_q")
    inputs = vector["inputs"]
    test = cochran_q(np.repeat(inputs["patterns"], inputs["counts"], axis=0))
    found = {"statistic": test.statistic, "pvalue": test.p_value}
    assert found == pytest.approx(vector["expected"], **vector["tolerance"])
    assert (test.degrees, test.method) == (2, "cochran_q")


def test_cochran_by_hand():
    # G = 5, 4, 1; N = 10; L = 2, 1, 2, 3, 1, 1: 2 (3 · 42 − 100) / (30 − 20) = 5.2
    test = cochran_q([[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 0]])
    assert test.statistic == pytest.approx(5.2, rel=1e-14)
    assert test.p_value == pytest.approx(np.exp(-2.6), rel=1e-12)  # χ² with two degrees


def test_where_no_example_tells_the_models_apart_the_p_value_is_1():
    test = cochran_q([[1, 1, 1], [0, 0, 0], [1, 1, 1]])
    assert (test.statistic, test.p_value) == (0.0, 1.0)


@settings(max_examples=25, deadline=None)
@given(table=tables)
def test_order_and_examples_on_which_all_agree_do_not_matter(table):
    right = np.array(table)
    test = cochran_q(right)
    assert 0 <= test.p_value <= 1
    assert cochran_q(right[::-1, ::-1]) == test
    assert cochran_q(1 - right) == test
    assert cochran_q(np.vstack([right, np.ones_like(right), np.zeros_like(right)])) == test


@settings(max_examples=20, deadline=None)
@given(only_first=st.integers(0, 30), only_second=st.integers(0, 30), both=st.integers(1, 9))
def test_for_two_models_it_is_mcnemars_asymptotic_test(only_first, only_second, both):
    right = np.repeat([[1, 1], [1, 0], [0, 1]], [both, only_first, only_second], axis=0)
    expected = mcnemar(only_first, only_second, method="asymptotic")
    assert cochran_q(right == 1).p_value == pytest.approx(expected, rel=1e-12)


def test_what_is_no_table_of_right_answers_is_refused():
    with pytest.raises(InputError, match=r"two models or more; got the shape \(3, 1\)\."):
        cochran_q([[1], [0], [1]])
    with pytest.raises(InputError, match=r"`right` must hold 0 and 1 only; got 2\."):
        cochran_q([[1, 2], [0, 1]])
    with pytest.raises(InputError, match=r"`right` must hold 0 and 1 only; got 'yes'\."):
        cochran_q([["yes", "no"]])
