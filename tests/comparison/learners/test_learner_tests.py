"""Two learners by the losses of single examples: worked by hand, and by loops as published."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import f, norm, t, ttest_1samp

from truerisk.comparison.learners.learner_tests import (
    by_agreement,
    by_cautious_t,
    by_corrected_t,
    by_five_by_two_f,
    by_five_by_two_t,
    by_k_fold_t,
    by_nested_cross_validation,
    by_posterior,
    by_resampled_t,
    by_variance_components,
    differences_of_refits,
    refits_without_spread,
)
from truerisk.results import Resampled

REFERENCE = Path(__file__).parents[2] / "reference" / "cv_tests.json"

VECTORS = {
    vector["id"]: vector for vector in json.loads(REFERENCE.read_text(encoding="utf-8"))["vectors"]
}

PAIRS = np.array([[0.02, 0.04], [0.05, 0.01], [0.03, 0.03], [0.0, 0.02], [0.04, 0.02]])

OF_FOLDS = (by_cautious_t, by_corrected_t, by_resampled_t, by_k_fold_t, by_posterior)

OF_HALVES = (by_five_by_two_t, by_five_by_two_f)

tables = arrays(np.float64, (5, 2), elements=st.integers(-20, 20).map(lambda k: k / 40))


def test_the_corrected_t_is_that_of_another_program():
    vector = VECTORS["nadeau-bengio-correctR-repkfold"]
    values = vector["inputs"]
    differences = np.subtract(values["b"], values["a"]).reshape(values["r"], values["k"])
    found = by_corrected_t(differences, 100)
    assert found.p_value == pytest.approx(vector["expected"]["pvalue"], abs=1e-12)
    low, high = found.ends_at(0.95)
    # The mean lies t standard errors from 0, so that half the interval is mean / t · quantile.
    half = abs(differences.mean()) / vector["expected"]["t"] * t.ppf(0.975, 19)
    assert (low, high) == pytest.approx((differences.mean() - half, differences.mean() + half))


@pytest.mark.parametrize("name", [name for name in VECTORS if name.startswith("mlxtend-5x2cv-t")])
def test_five_by_two_t_is_that_of_another_program(name):
    vector = VECTORS[name]
    differences = -np.array(vector["inputs"]["differences_5x2"])
    found = by_five_by_two_t(differences, 150)
    assert found.p_value == pytest.approx(vector["expected"]["pvalue"], abs=5.1e-4)


def test_differences_without_variance_have_no_test():
    table = np.array(VECTORS["5x2cv-zero-variance"]["inputs"]["differences_5x2"])
    for rule in (*OF_FOLDS, *OF_HALVES):
        found = rule(table, 100)
        assert found.p_value is None or math.isnan(found.p_value)
        assert found.ends_at(0.95) == (-math.inf, math.inf)
        assert "no test" in found.notes[0]


def test_the_posterior_is_that_of_another_program():
    vector = VECTORS["baycomp-correlated-3-1"]
    differences = np.subtract(vector["inputs"]["y"], vector["inputs"]["x"]).astype(float)
    found = by_posterior(differences[None], 3)
    low, high = found.ends_at(0.9)
    scale = math.sqrt(vector["expected"]["variance"])
    assert (low + high) / 2 == pytest.approx(vector["expected"]["mean"])
    assert (high - low) / 2 == pytest.approx(scale * t.ppf(0.95, vector["expected"]["df"]))
    below, within, above = found.shares_at(1.0)
    assert below == pytest.approx(t.cdf((-1 - 1) / scale, 2))
    assert above == pytest.approx(t.sf(0.0, 2))
    assert below + within + above == pytest.approx(1)


def test_the_cautious_t_has_the_degrees_of_one_cross_validation():
    # Mean .02; squares .0001, .0009, .0004, 0, 0, .0004, .0001, .0001: s² = .002/7; K = 4, R = 2.
    twice = np.array([[0.03, -0.01, 0.04, 0.02], [0.02, 0.0, 0.03, 0.03]])
    error = math.sqrt(0.002 / 7 * (1 / 8 + 1 / 3))
    found = by_cautious_t(twice, 100)
    assert found.p_value == pytest.approx(2 * t.sf(0.02 / error, 3))
    assert found.ends_at(0.9)[0] == pytest.approx(0.02 - t.ppf(0.95, 3) * error)
    once = by_cautious_t(twice[:1], 100)
    assert once.p_value == pytest.approx(by_corrected_t(twice[:1], 100).p_value)


def test_five_by_two_f_worked_by_hand():
    # S = (.02² + .04² + 0 + .02² + .02²)/2 = .0014; Σd² = .0088
    found = by_five_by_two_f(PAIRS, 100)
    assert found.p_value == pytest.approx(f.sf(0.0088 / 0.0028, 10, 5))
    half = math.sqrt(0.0028 * f.ppf(0.95, 10, 5) / 10)
    assert found.ends_at(0.95) == pytest.approx((0.026 - half, 0.026 + half))


def test_five_by_two_t_worked_by_hand():
    # (d₁ − d₂)²/2: .0002, .0008, 0, .0002, .0002: sum .0014; the order of the pairs matters.
    error = math.sqrt(0.0014 / 5)
    for table, first in ((PAIRS, 0.02), (PAIRS[::-1], 0.04)):
        found = by_five_by_two_t(table, 100)
        assert found.p_value == pytest.approx(2 * t.sf(first / error, 5))
        assert found.ends_at(0.95)[0] == pytest.approx(first - t.ppf(0.975, 5) * error)


def test_all_vectors_of_other_programs_are_used():
    assert len(VECTORS) == 7


@pytest.mark.parametrize("name", [name for name in VECTORS if name.startswith("baycomp")])
def test_every_posterior_of_another_program(name):
    vector = VECTORS[name]
    inputs, expected = vector["inputs"], vector["expected"]
    differences = np.subtract(inputs["y"], inputs["x"]).astype(float)
    # `runs` repetitions of so many folds: their test share is runs / refits.
    found = by_posterior(differences.reshape(inputs["runs"], -1), 100)
    low, high = found.ends_at(0.9)
    if expected["variance"] == 0:  # the same in every refit: the interval stays open
        assert (low, high) == (-math.inf, math.inf)
        return
    half = math.sqrt(expected["variance"]) * t.ppf(0.95, expected["df"])
    assert (low, high) == pytest.approx((expected["mean"] - half, expected["mean"] + half))


@settings(max_examples=15)
@given(tables, st.floats(0, 0.5))
def test_the_probabilities_sum_to_one_mirror_and_agree_with_the_corrected_t(table, region):
    one, other = (by_posterior(part, 100).shares_at(region) for part in (table, -table))
    if math.isnan(one[0]) or np.ptp(table) == 0:
        return
    assert sum(one) == pytest.approx(1, abs=1e-12)
    assert one == pytest.approx(other[::-1], abs=1e-12)
    below, _, above = by_posterior(table, 100).shares_at(0.0)
    assert 2 * min(below, above) == pytest.approx(by_corrected_t(table, 100).p_value, abs=1e-9)


def test_the_uncorrected_t_is_students_and_says_that_it_is_invalid():
    found = by_resampled_t(np.array([[0.03, -0.01, 0.04, 0.02]]), 100)
    # mean .02, s² = .0014/3, s.e. √(.0014/12)
    error = math.sqrt(0.0014 / 12)
    assert found.p_value == pytest.approx(2 * t.sf(0.02 / error, 3))
    assert found.ends_at(0.95)[1] == pytest.approx(0.02 + t.ppf(0.975, 3) * error)
    assert "invalid" in found.method


@given(arrays(np.float64, (1, 6), elements=st.integers(-20, 20).map(lambda k: k / 40)))
def test_the_k_fold_t_is_the_paired_t_over_folds_and_says_that_it_is_invalid(folds):
    found = by_k_fold_t(folds, 100)
    assert found.method == "k_fold_t (invalid)"
    if np.ptp(folds) > 0:
        expected = ttest_1samp(folds[0], 0.0)
        assert found.p_value == pytest.approx(expected.pvalue)
        assert found.ends_at(0.9) == pytest.approx(tuple(expected.confidence_interval(0.9)))


@settings(max_examples=15)
@given(tables)
def test_swapping_the_learners_negates_the_interval_and_keeps_p(table):
    for rule in (*OF_FOLDS, *OF_HALVES):
        found, swapped = rule(table, 100), rule(-table, 100)
        low, high = found.ends_at(0.95)
        assert swapped.ends_at(0.95) == pytest.approx((-high, -low))
        if found.p_value is not None:
            assert swapped.p_value == pytest.approx(found.p_value, nan_ok=True)


@settings(max_examples=15)
@given(tables, st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_excludes_0_where_the_test_rejects(table, level):
    for rule in (by_cautious_t, by_corrected_t, by_resampled_t, by_five_by_two_t):
        found = rule(table, 100)
        low, high = found.ends_at(level)
        if abs(low) > 1e-12 and abs(high) > 1e-12:
            assert (low > 0 or high < 0) == (found.p_value < 1 - level)
    found = by_five_by_two_f(table, 100)
    low, high = found.ends_at(level)
    assert low <= 0 <= high or found.p_value <= 1 - level + 1e-12


def test_learners_that_nothing_tells_apart_have_p_1_and_an_exact_bound():
    for rule in (*OF_FOLDS, *OF_HALVES):
        found = rule(np.zeros((5, 2)), 100)
        assert found.p_value in {1.0, None}
        low, high = found.ends_at(0.95)
        # A difference of δ shows no disagreement in 100 examples with probability (1 − δ)^100.
        assert (1 - high) ** 100 == pytest.approx(0.025)
        assert low == -high
    assert by_posterior(np.zeros((5, 2)), 100).shares_at(0.01) == (0.0, 1.0, 0.0)
    same = refits_without_spread(0.0, 100, "t")
    assert same.ends_at(-0.5) == same.ends_at(0.0)


def nested_by_the_book(losses, parts):
    """Bates, Hastie and Tibshirani's value and standard error, loop by loop."""
    repetitions, folds, n = losses.shape
    squares, inner, outer, spread = [], [], [], []
    for r in range(repetitions):
        own = []
        for k in range(folds):
            aside = parts[r] == k
            a, b = losses[r, k, ~aside], losses[r, k, aside]
            squares.append((a.mean() - b.mean()) ** 2 - b.var(ddof=1) / b.size)
            inner.extend(a)
            outer.extend(b)
            own.extend(b)
        spread.append(np.var(own, ddof=1))
    naive = math.sqrt(np.mean(spread) / n)
    mse = (folds - 1) / folds * np.mean(squares)
    error = min(max(math.sqrt(max(mse, 0)), naive), math.sqrt(folds) * naive)
    bias = (1 + (folds - 2) / folds) * (np.mean(inner) - np.mean(outer))
    return np.mean(inner) - bias, error


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_nested_cross_validation_of_differences_follows_the_book(seed):
    rng = np.random.default_rng(seed)
    parts = np.stack([rng.permutation(np.arange(24) % 4) for _ in range(2)])
    losses = rng.choice(np.array([-1, 0, 1], dtype=np.int8), size=(2, 4, 24), p=[0.1, 0.7, 0.2])
    value, error = nested_by_the_book(losses.astype(float), parts)
    found = by_nested_cross_validation(losses, parts)
    low, high = found.ends_at(0.95)
    assert (low + high) / 2 == pytest.approx(value)
    assert (high - low) / 2 == pytest.approx(norm.ppf(0.975) * error)
    assert found.p_value == pytest.approx(2 * norm.sf(abs(value) / error))


def test_nested_cross_validation_of_equal_losses_has_p_1():
    found = by_nested_cross_validation(np.zeros((1, 3, 30), dtype=np.int8), np.arange(30)[None] % 3)
    assert found.p_value == 1.0
    assert found.ends_at(0.95)[1] == pytest.approx(1 - 0.025 ** (1 / 30))


def test_agreement_worked_by_hand():
    # Four examples, twice: (1, 1), (1, 0), (0, 0), (−1, −1).  m = 1/8.
    losses = np.array([[1, 1, 0, -1], [1, 0, 0, -1]], dtype=np.int8)
    m = 1 / 8
    square = (1 - m) ** 2 + ((1 - m) ** 2 + m**2) / 2 + m**2 + (1 + m) ** 2
    within = 1 / 2  # of the second example only: (1 − ½)² + (0 − ½)², over one degree
    variance = (square / 16) * (1 + within / square)
    low, high = by_agreement(losses, None).ends_at(0.95)
    assert (low + high) / 2 == pytest.approx(m)
    assert (high - low) / 2 == pytest.approx(norm.ppf(0.975) * math.sqrt(variance))
    assert by_agreement(losses, None).p_value == pytest.approx(2 * norm.sf(m / math.sqrt(variance)))


def test_agreement_takes_groups_for_the_units():
    losses = np.array([[1, 1, 0, 0, -1, 0, 1, 1]], dtype=np.int8)
    found = by_agreement(losses, np.array([0, 0, 1, 1, 2, 2, 3, 3]))
    # m = 3/8; sums over groups of d − m: 5/4, −3/4, −7/4, 5/4; G/(G − 1) = 4/3; t of 3 degrees
    error = math.sqrt(4 / 3 * (25 + 9 + 49 + 25) / 16) / 8
    low, high = found.ends_at(0.95)
    assert (low + high) / 2 == pytest.approx(3 / 8)
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 3) * error)
    assert found.p_value == pytest.approx(2 * t.sf(3 / 8 / error, 3))
    assert found.method == "cluster_pooled"


def test_agreement_of_equal_losses_has_p_1():
    assert by_agreement(np.zeros((2, 9), dtype=np.int8), None).p_value == 1.0


def test_agreement_tells_learners_apart_that_differ_in_every_example():
    found = by_agreement(np.ones((2, 9), dtype=np.int8), None)
    assert found.p_value == pytest.approx(2 / 2**9)
    low, high = found.ends_at(0.95)
    assert ((low + 1) / 2) ** 9 == pytest.approx(0.025)
    assert high == 1
    turned = by_agreement(-np.ones((2, 9), dtype=np.int8), None)
    assert turned.ends_at(0.95) == (-1.0, -low)


def test_differences_of_refits_are_laid_out_by_repetition():
    def of(*values):
        return Resampled(
            value=0.0, interval=None, measure="error_rate", method="", n=9, replicates=values
        )

    assert differences_of_refits(of(0.25, 0.5), of(0.25, 0.25), 2).tolist() == [[0.0, -0.25]]


def test_components_without_disagreement_are_independent_examples():
    always = np.repeat([1, -1, 0], [20, 10, 70])
    refits = np.arange(300).reshape(3, 100) // 10
    outcome = by_variance_components(np.tile(always, (3, 1)).astype(np.int8), refits, None)
    # .1 ± 1.96 √(.29 / 100)
    assert outcome.ends_at(0.95) == pytest.approx((-0.0055, 0.2055), abs=5e-5)
