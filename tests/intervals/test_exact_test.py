import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from truerisk.errors import InputError
from truerisk.intervals.exact_test import binomial_test, log_probability

REFERENCE = Path(__file__).parents[1] / "reference"
VECTORS = json.loads((REFERENCE / "binomial_test.json").read_text(encoding="utf-8"))["vectors"] + [
    vector
    for vector in json.loads((REFERENCE / "binomial_ci.json").read_text(encoding="utf-8"))[
        "vectors"
    ]
    if "pvalue" in vector["expected"]
]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_it_gives_the_p_values_of_others(vector):
    inputs, tolerance = vector["inputs"], vector["tolerance"]
    p_value = binomial_test(
        inputs["x"], inputs["n"], inputs["p0"], alternative=inputs["alternative"]
    )
    assert p_value == pytest.approx(
        vector["expected"]["pvalue"], rel=tolerance.get("rel", 0), abs=tolerance.get("abs", 0)
    )


@settings(max_examples=80, deadline=None)
@given(
    n=st.integers(0, 300),
    share=st.floats(0, 1),
    p0=st.one_of(st.floats(0.001, 0.999), st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    side=st.sampled_from(["two-sided", "less", "greater"]),
)
def test_it_agrees_with_scipy(n, share, p0, side):
    k = round(n * share)
    if n == 0:
        assert binomial_test(k, n, p0, alternative=side) == 1.0
        return
    expected = binomtest(k, n, p0, alternative=side).pvalue
    assert binomial_test(k, n, p0, alternative=side) == pytest.approx(expected, abs=1e-11)


def test_three_heads_of_three_by_hand():
    # ⅛ for three heads, ⅛ for three tails.
    assert binomial_test(3, 3) == pytest.approx(0.25, rel=1e-14)
    assert binomial_test(3, 3, alternative="greater") == pytest.approx(0.125, rel=1e-14)


@pytest.mark.parametrize(("j", "n", "p"), [(0, 5, 0.1), (5, 5, 0.1), (3, 7, 0.4), (480, 1000, 0.5)])
def test_a_probability_is_scipys(j, n, p):
    assert log_probability(j, n, p) == pytest.approx(binom.logpmf(j, n, p), rel=1e-11)


def test_impossible_outcomes_have_no_probability():
    assert log_probability(1, 2, 0.0) == -math.inf
    assert log_probability(2, 2, 1.0) == 0.0


def test_slips_are_told():
    with pytest.raises(InputError, match="`p0` must lie in"):
        binomial_test(1, 2, 1.5)
    with pytest.raises(InputError, match="`alternative` must be one of"):
        binomial_test(1, 2, 0.5, alternative="both")
