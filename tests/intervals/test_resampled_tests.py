import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f, t

from truerisk.errors import InputError
from truerisk.intervals.resampled_tests import (
    corrected_resampled_t,
    corrected_standard_error,
    correlated_t_posterior,
    five_by_two_f,
    five_by_two_t,
)

REFERENCE = Path(__file__).parents[1] / "reference" / "cv_tests.json"
VECTORS = json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
PAIRS = [[0.02, 0.04], [0.05, 0.01], [0.03, 0.03], [0.0, 0.02], [0.04, 0.02]]

differences = st.lists(st.floats(-1, 1), min_size=2, max_size=20)


def found_for(vector):
    """What our functions say of a vector, by the names that it expects."""
    inputs, method = vector["inputs"], vector["method"]
    if method == "5x2cv_paired_t":
        found = five_by_two_t(inputs["differences_5x2"])
        if not found.is_defined:
            assert math.isnan(found.p_value)
            return {"outcome": "undefined: variance is zero"}
        return {"t": found.statistic, "pvalue": found.p_value}
    if method == "corrected_repeated_kfold_t":
        ratio = inputs["n_test"] / inputs["n_train"]
        found = corrected_resampled_t(np.subtract(inputs["a"], inputs["b"]), ratio)
        return {"t": found.statistic, "pvalue": found.p_value}
    posterior = correlated_t_posterior(
        np.subtract(inputs["y"], inputs["x"]), test_share=inputs["runs"] / len(inputs["x"])
    )
    return {"mean": posterior.mean, "variance": posterior.variance, "df": posterior.degrees}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_it_gives_the_numbers_of_others(vector):
    found = found_for(vector)
    expected = vector["expected"]
    if "outcome" in expected:
        assert found == expected
    else:
        assert found == pytest.approx(expected, abs=vector["tolerance"]["abs"])


def test_all_seven_vectors_are_there():
    assert len(VECTORS) == 7


def test_five_by_two_by_hand():
    # (d₁ − d₂)²/2: .0002, .0008, 0, .0002, .0002: sum .0014.
    found = five_by_two_t(PAIRS)
    assert found.statistic == pytest.approx(0.02 / math.sqrt(0.0014 / 5))
    assert found.degrees == (5,)
    assert found.p_value == pytest.approx(2 * t.sf(found.statistic, 5))
    assert found.difference == pytest.approx(0.026)
    # Squares: 4 + 16 + 25 + 1 + 9 + 9 + 0 + 4 + 16 + 4 = 88 ten-thousandths.
    combined = five_by_two_f(PAIRS)
    assert combined.statistic == pytest.approx(0.0088 / 0.0028)
    assert combined.degrees == (10, 5)
    assert combined.p_value == pytest.approx(f.sf(combined.statistic, 10, 5))


def test_the_order_matters_to_t_and_not_to_f():
    turned = [pair[::-1] for pair in PAIRS[::-1]]
    assert five_by_two_f(turned).statistic == pytest.approx(five_by_two_f(PAIRS).statistic)
    assert five_by_two_t(turned).statistic == pytest.approx(0.02 / math.sqrt(0.0014 / 5))
    assert five_by_two_t(PAIRS[::-1]).statistic == pytest.approx(0.04 / math.sqrt(0.0014 / 5))


def test_the_corrected_t_by_hand():
    # Mean .02; squares .0001 + .0009 + .0004 + 0 = .0014; s² = .0014/3; · (1/4 + 1/3)
    found = corrected_resampled_t([0.03, -0.01, 0.04, 0.02], 1 / 3)
    error = math.sqrt(0.0014 / 3 * 7 / 12)
    assert found.statistic == pytest.approx(0.02 / error)
    assert found.p_value == pytest.approx(2 * t.sf(0.02 / error, 3))
    assert (found.degrees, found.method) == ((3,), "corrected_resampled_t")


def test_the_posterior_by_hand():
    # ρ = ¼: ρ/(1 − ρ) = 1/3, so that the scale is the corrected standard error.
    found = correlated_t_posterior([0.03, -0.01, 0.04, 0.02], test_share=0.25, rope=0.01)
    scale = math.sqrt(0.0014 / 3 * 7 / 12)
    assert found.variance == pytest.approx(scale**2)
    assert found.below == pytest.approx(t.cdf(-0.01, 3, 0.02, scale))
    assert found.above == pytest.approx(t.sf(0.01, 3, 0.02, scale))
    assert found.within == pytest.approx(t.cdf(0.01, 3, 0.02, scale) - found.below)
    interval = found.interval(0.9)
    ends = t.ppf([0.05, 0.95], 3, 0.02, scale)
    assert [interval.low, interval.high] == pytest.approx(ends.tolist())


@given(values=differences, share=st.floats(0.05, 0.5), rope=st.floats(0, 0.5))
def test_the_probabilities_sum_to_one_and_mirror(values, share, rope):
    one = correlated_t_posterior(values, test_share=share, rope=rope)
    other = correlated_t_posterior(np.negative(values), test_share=share, rope=rope)
    if math.isnan(one.below):
        assert one.interval() is None
        assert one.variance == 0
        return
    assert one.below + one.within + one.above == pytest.approx(1, abs=1e-12)
    assert [one.below, one.within, one.above] == pytest.approx(
        [other.above, other.within, other.below], abs=1e-12
    )


@given(values=differences, ratio=st.floats(0.01, 1))
def test_the_posterior_and_the_corrected_t_say_the_same(values, ratio):
    tested = corrected_resampled_t(values, ratio)
    believed = correlated_t_posterior(values, test_share=ratio / (1 + ratio))
    assert math.isnan(tested.p_value) == math.isnan(believed.below)
    if tested.is_defined:
        assert 2 * min(believed.below, believed.above) == pytest.approx(tested.p_value, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_zero_variance_is_undefined_and_never_infinite(value):
    for found in (
        five_by_two_t([[value, value]] * 5),
        five_by_two_f([[value, value]] * 5),
        corrected_resampled_t([value] * 10, 1 / 9),
    ):
        assert not found.is_defined
        assert math.isnan(found.statistic)
        assert math.isnan(found.p_value)
        assert found.difference == pytest.approx(value)
    assert corrected_standard_error([value] * 10, 1 / 9) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: five_by_two_t(PAIRS[:4]), "`differences` must be 5 × 2; got 4 × 2"),
        (lambda: five_by_two_f([[math.nan, 0]] * 5), "must all be defined"),
        (lambda: corrected_resampled_t([0.1], 0.1), "`differences` must be at least two; got 1"),
        (lambda: corrected_resampled_t([0.1, math.nan], 0.1), "must all be defined"),
        (lambda: corrected_resampled_t([0.1, 0.2], 0.0), "`test_train_ratio` must lie in"),
        (lambda: correlated_t_posterior([0.1, 0.2], test_share=1.0), "`test_share` must lie in"),
        (
            lambda: correlated_t_posterior([0.1, 0.2], test_share=0.1, rope=-1.0),
            "`rope` must lie in",
        ),
    ],
    ids=["shape", "nan in pairs", "one", "nan", "ratio", "share", "rope"],
)
def test_slips_are_told(call, message):
    with pytest.raises(InputError, match=message):
        call()
