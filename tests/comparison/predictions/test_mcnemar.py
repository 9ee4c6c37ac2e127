import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, chi2

from truerisk.comparison.predictions.mcnemar import METHODS, mcnemar
from truerisk.errors import InputError

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


@pytest.mark.parametrize("method", METHODS)
def test_models_that_agree_everywhere_have_a_p_value_of_1(method):
    assert mcnemar(0, 0, method=method) == 1.0


@settings(max_examples=30, deadline=None)
@given(first=counts, second=counts)
def test_the_forms_keep_their_order_and_do_not_know_first_from_second(first, second):
    p_values = {method: mcnemar(first, second, method=method) for method in METHODS}
    assert p_values == {method: mcnemar(second, first, method=method) for method in METHODS}
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
