import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, hypergeom, norm

from truerisk.errors import InputError
from truerisk.intervals.differences import (
    DIFFERENCES,
    difference_bounds,
    difference_interval,
    fisher_mid_p,
    mover_difference,
    mover_p_value,
)
from truerisk.results import Interval

REFERENCE = Path(__file__).parents[1] / "reference" / "proportion_differences.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_it_gives_the_numbers_of_others(vector):
    inputs = vector["inputs"]
    counts = (inputs[name] for name in ("x1", "n1", "x2", "n2"))
    interval = difference_interval(*counts, level=inputs["confidence"], method=vector["method"])
    assert [interval.low, interval.high] == pytest.approx(
        vector["expected"]["interval"], abs=vector["tolerance"]["abs"]
    )


@pytest.mark.parametrize(("method", "factor"), [("mee_score", 1), ("miettinen_nurminen", 100 / 99)])
@settings(max_examples=25, deadline=None)
@given(k1=st.integers(0, 40), k2=st.integers(0, 60), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_at_the_ends_the_score_test_is_on_the_verge(method, factor, k1, k2, level):
    interval = difference_interval(k1, 40, k2, 60, level=level, method=method)
    for end in (interval.low, interval.high):
        if abs(end) < 1 - 1e-6:
            # The fitted proportions, by maximising the likelihood numerically.
            fitted = minimize_scalar(
                lambda p2, d=end: -binom.logpmf(k1, 40, p2 + d) - binom.logpmf(k2, 60, p2),
                bounds=(max(0.0, -end), min(1.0, 1 - end)),
                method="bounded",
                options={"xatol": 1e-12},
            ).x
            p1 = min(max(fitted + end, 0.0), 1.0)
            error = math.sqrt(factor * (p1 * (1 - p1) / 40 + fitted * (1 - fitted) / 60))
            z = abs(k1 / 40 - k2 / 60 - end) / error
            assert z == pytest.approx(norm.isf((1 - level) / 2), rel=1e-3)


def test_wald_by_hand():
    # 0.5 − 0.2 ± 1.959964 √(0.25/10 + 0.16/20) = 0.3 ± 0.3560451
    interval = difference_interval(5, 10, 4, 20, method="wald")
    assert [interval.low, interval.high] == pytest.approx([-0.0560451, 0.6560451], abs=2e-7)


def test_newcombe_by_hand():
    # Wilson of 0/10 is [0, 0.2775328], of 10/10 [0.7224672, 1]: 1 − √2 · 0.2775328 below.
    interval = difference_interval(10, 10, 0, 10)
    assert [interval.low, interval.high] == pytest.approx(
        [1 - math.sqrt(2) * 0.2775328, 1], abs=1e-7
    )


def test_miettinen_and_nurminen_by_hand():
    # Of 10/10 and 0/10 the proportions fitted to d are (1 ± d)/2, by symmetry.  So (1 − d)² =
    # z² · 20/19 · (1 − d²)/20, d = (1 − c)/(1 + c) with c = z²/19 = 3.841459/19.
    interval = difference_interval(10, 10, 0, 10, method="miettinen_nurminen")
    c = 3.841459 / 19
    assert [interval.low, interval.high] == pytest.approx([(1 - c) / (1 + c), 1], abs=1e-6)


@given(k1=st.integers(0, 7), k2=st.integers(0, 12), level=st.floats(0.5, 0.99))
def test_miettinen_and_nurminen_enclose_mee(k1, k2, level):
    narrow, wide = (
        difference_interval(k1, 7, k2, 12, level=level, method=method)
        for method in ("mee_score", "miettinen_nurminen")
    )
    assert wide.low <= narrow.low + 1e-12
    assert wide.high >= narrow.high - 1e-12
    assert wide.width > narrow.width


@pytest.mark.parametrize("shares", [(0.1, 0.1), (0.3, 0.6), (0.95, 0.2), (0.02, 0.5)])
def test_miettinen_and_nurminen_cover_as_stated(shares):
    k1, k2 = np.meshgrid(np.arange(11), np.arange(11), indexing="ij")
    low, high = difference_bounds(k1, 10, k2, 10, method="miettinen_nurminen")
    chance = binom.pmf(k1, 10, shares[0]) * binom.pmf(k2, 10, shares[1])
    covers = (low <= shares[0] - shares[1]) & (shares[0] - shares[1] <= high)
    assert 0.929 <= chance[covers].sum() < 0.999


@pytest.mark.parametrize("method", DIFFERENCES)
@settings(max_examples=40, deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 500), st.integers(1, 500)),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    level=st.floats(0.5, 0.999),
)
def test_it_contains_the_difference_and_mirrors(method, sizes, shares, level):
    (k1, n1), (k2, n2) = ((round(n * p), n) for n, p in zip(sizes, shares, strict=True))
    one = difference_interval(k1, n1, k2, n2, level=level, method=method)
    other = difference_interval(k2, n2, k1, n1, level=level, method=method)
    assert -1 <= one.low <= k1 / n1 - k2 / n2 <= one.high <= 1
    assert [one.low, one.high] == pytest.approx([-other.high, -other.low], abs=1e-7)


@pytest.mark.parametrize("method", [name for name in DIFFERENCES if name != "wald"])
def test_only_wald_has_no_width_at_the_ends(method):
    assert difference_interval(0, 10, 0, 10, method=method).width > 0.2
    assert difference_interval(0, 10, 0, 10, method="wald").width == 0


def test_many_are_the_single_ones():
    low, high = difference_bounds([3, 4], [10, 20], 2, 9, method="mee_score")
    single = difference_interval(4, 20, 2, 9, method="mee_score")
    assert (low[1], high[1]) == (single.low, single.high)
    assert np.shape(low) == (2,)


def test_slips_are_told():
    with pytest.raises(InputError, match="`n1` and `n2` must be at least 1; got 0"):
        difference_interval(0, 0, 1, 2)
    with pytest.raises(InputError, match="`method` must be one of newcombe_hybrid_score"):
        difference_interval(1, 2, 1, 2, method="newcombe")


proportions = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=60)
@given(first=proportions, second=proportions, level=st.sampled_from([0.8, 0.95, 0.99]))
def test_laws_of_miettinen_and_nurminen(first, second, level):
    def ends(one, other, at=level):
        found = difference_interval(*one, *other, level=at, method="miettinen_nurminen")
        return found.low, found.high

    low, high = ends(first, second)
    assert -1 <= low <= first[0] / first[1] - second[0] / second[1] <= high <= 1
    assert ends(second, first) == pytest.approx((-high, -low), abs=1e-7)
    failures = [(n - k, n) for k, n in (first, second)]
    assert ends(*failures) == pytest.approx((-high, -low), abs=1e-7)
    wider = ends(first, second, 0.995)
    assert wider[0] <= low + 1e-9
    assert high <= wider[1] + 1e-9


def test_fisher_by_hand():
    # 1 of 4 against 3 of 4: of the C(8, 4) = 70 tables 1 has none here, 16 have one.
    assert fisher_mid_p(1, 4, 3, 4) == pytest.approx(2 * (1 / 70 + 8 / 70))
    assert fisher_mid_p(2, 4, 2, 4) == pytest.approx(1.0)
    assert math.isnan(fisher_mid_p(0, 0, 3, 4))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 300), m=st.integers(1, 300), data=st.data())
def test_fisher_is_scipys_hypergeometric_tail(n, m, data):
    k, j = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    law = hypergeom(n + m, k + j, n)
    expected = 2 * min(law.cdf(k), law.sf(k - 1)) - law.pmf(k)
    assert fisher_mid_p(k, n, j, m) == pytest.approx(min(1.0, expected), rel=1e-7, abs=1e-12)
    assert fisher_mid_p(k, n, j, m) == pytest.approx(fisher_mid_p(j, m, k, n), rel=1e-9)


def test_fisher_of_millions():
    law = hypergeom(3_000_000, 1_501_000, 1_000_000)
    expected = 2 * law.sf(501_000) + law.pmf(501_000)
    assert fisher_mid_p(501_000, 10**6, 10**6, 2 * 10**6) == pytest.approx(expected, rel=1e-4)


def interval(low, high):
    return Interval(low, high, 0.95, "wilson")


def test_mover_by_hand():
    # 0.6 in [0.5, 0.7] less 0.2 in [0.1, 0.4]: √(0.1² + 0.2²) below, √(0.1² + 0.1²) above.
    low, high = mover_difference(0.6, interval(0.5, 0.7), 0.2, interval(0.1, 0.4))
    assert low == pytest.approx(0.4 - math.sqrt(0.05))
    assert high == pytest.approx(0.4 + math.sqrt(0.02))


def test_the_test_says_what_the_interval_says():
    # With many examples p is 5 % exactly where the interval ends at 0.
    a, b = interval(0.5, 0.7), interval(0.3, 0.6)
    other = 0.6 - math.hypot(0.1, 0.15)
    shifted = Interval(other - 0.15, other + 0.15, 0.95, "wilson")
    p = mover_p_value(0.6, a, other, shifted, (10**9, 10**9))
    assert p == pytest.approx(0.05, abs=1e-6)
    assert mover_p_value(0.6, a, 0.6, b, (10, 10)) == 1.0
    assert math.isnan(mover_p_value(math.nan, a, 0.6, b, (10, 10)))
    few = mover_p_value(0.6, a, other, shifted, (5, 10**9))
    assert few > p


def test_an_end_at_infinity_proves_nothing():
    wide = Interval(0.0, math.inf, 0.95, "delta")
    assert mover_p_value(1.0, wide, 3.0, wide, (50, 50)) == 1.0
    assert np.isfinite(mover_difference(1.0, interval(0, 1), 0.5, interval(0, 1))).all()
