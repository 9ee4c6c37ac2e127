import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import multinomial

from truerisk.comparison.predictions.paired_difference import (
    paired_difference_bounds,
    paired_difference_ends,
)
from truerisk.comparison.predictions.paired_intervals import PAIRED_DIFFERENCES, score_statistic

REFERENCE = Path(__file__).parents[2] / "reference" / "paired_tests.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
NAMES = {"newcombe_paired": "newcombe", **{name: name for name in PAIRED_DIFFERENCES}}


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["method"] in NAMES], ids=lambda vector: vector["id"]
)
def test_it_gives_the_numbers_of_others(vector):
    # Theirs is first − second, ours second − first: the models change places.
    (both, only_first), (only_second, neither) = vector["inputs"]["table"]
    ends = paired_difference_ends(
        both,
        only_second,
        only_first,
        neither,
        level=vector["inputs"]["confidence"],
        method=NAMES[vector["method"]],
    )
    assert ends == pytest.approx(vector["expected"]["interval"], **vector["tolerance"])


def test_tango_by_hand():
    # Without a discordant example n²δ² ≤ z² n |δ| (1 − |δ|): Wilson's end of 0 of n.
    assert paired_difference_ends(10, 0, 0, 0, level=0.95) == pytest.approx(
        (-0.2775328, 0.2775328), abs=5e-8
    )
    # At no difference the statistic is McNemar's: (7 − 1) / √8.
    counts = (np.array(value) for value in (1.0, 7.0, 21.0, 0.0))
    assert score_statistic(*counts) == pytest.approx(6 / math.sqrt(8), rel=1e-14)


def test_newcombe_by_hand():
    # No correlation, as ad = bc; Wilson of 10 of 20 is [0.2992980, 0.7007020] for both.
    ends = paired_difference_ends(5, 5, 5, 5, level=0.95, method="newcombe")
    assert ends == pytest.approx((-math.sqrt(2) * 0.2007020, math.sqrt(2) * 0.2007020), abs=2e-7)


def test_wald_and_bonett_price_by_hand():
    # 0.3 ± 1.959964 √((0.5 − 0.09) / 20) = 0.3 ± 0.2806241; then with 3 and 9 of 22.
    ends = paired_difference_ends(6, 2, 8, 4, level=0.95, method="wald")
    assert ends == pytest.approx((0.3 - 0.2806241, 0.3 + 0.2806241), abs=2e-7)
    ends = paired_difference_ends(6, 2, 8, 4, level=0.95, method="bonett_price")
    spread = 1.9599640 * math.sqrt((12 / 22 - (6 / 22) ** 2) / 22)
    assert ends == pytest.approx((6 / 22 - spread, 6 / 22 + spread), abs=2e-7)


@settings(max_examples=20, deadline=None)
@given(
    only_first=st.integers(0, 20),
    only_second=st.integers(0, 20),
    rest=st.integers(0, 40),
    null=st.floats(-0.95, 0.95),
)
def test_the_fitted_share_is_the_most_likely_one(only_first, only_second, rest, null):
    n = only_first + only_second + rest
    if n == 0 or abs(null) < 1e-3:
        return

    def loss(share):  # of those that only the first judges rightly
        others = max(0.0, 1 - 2 * share - null)
        of_second = max(0.0, share + null)
        return -xlogy(only_first, share) - xlogy(only_second, of_second) - xlogy(rest, others)

    bounds = (max(0.0, -null), (1 - null) / 2)
    share = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    variance = n * (2 * share + null - null**2)
    expected = (only_second - only_first - n * null) / math.sqrt(variance)
    counts = (np.array(float(value)) for value in (only_first, only_second, n, null))
    assert score_statistic(*counts) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_a_difference_that_cannot_be_is_infinitely_far():
    sure = np.array([1.0, -1.0])
    z = score_statistic(np.zeros(2), np.array([5.0, 5.0]), np.array([10.0, 10.0]), sure)
    assert z.tolist() == [-math.inf, math.inf]
    assert score_statistic(np.zeros(1), np.full(1, 5.0), np.full(1, 5.0), np.ones(1)) == 0


@pytest.mark.parametrize(
    ("method", "least", "average"),
    [("tango", 0.9283, 0.9591), ("bonett_price", 0.8906, 0.9629), ("wald", 0.2617, 0.9129)],
)
def test_the_coverage_is_what_the_docstring_says(method, least, average):
    coverage = [cover for n in range(10, 61, 10) for cover in coverage_of(method, n)]
    assert min(coverage) == pytest.approx(least, abs=6e-5)
    assert np.mean(coverage) == pytest.approx(average, abs=6e-5)


def test_the_least_coverage_of_newcombe_is_what_the_docstring_says():
    tables = np.array(
        [
            (a, b, c, 10 - a - b - c)
            for a in range(11)
            for b in range(11 - a)
            for c in range(11 - a - b)
        ]
    )
    chances = multinomial.pmf(tables, 10, [0.0, 0.8, 0.2, 0.0])
    low, high = paired_difference_bounds(*tables.T, level=0.95, method="newcombe")
    covered = (low - 1e-12 <= -0.6) & (high + 1e-12 >= -0.6)
    assert chances[covered].sum() == pytest.approx(0.8598, abs=6e-5)


def coverage_of(method, n):
    """The coverage at 95 % for every pair of shares that only the one model judges rightly."""
    shares = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8]
    pairs = np.array([(b, c) for b in range(n + 1) for c in range(n + 1 - b)])
    rest = n - pairs.sum(axis=1)
    low, high = paired_difference_bounds(
        rest, pairs[:, 1], pairs[:, 0], 0, level=0.95, method=method
    )
    factorials = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    ways = factorials[n] - factorials[pairs].sum(axis=1) - factorials[rest]
    for p in shares:
        for q in shares:
            if p + q <= 1 + 1e-12:
                agreed = xlogy(rest, max(0.0, 1 - p - q))
                chances = np.exp(ways + xlogy(pairs, [p, q]).sum(axis=1) + agreed)
                yield chances[(low - 1e-12 <= p - q) & (p - q <= high + 1e-12)].sum()
