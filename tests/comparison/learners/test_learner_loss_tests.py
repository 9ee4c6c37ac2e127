"""Two learners by the losses of single examples: worked by hand, and by loops as published."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from truerisk.comparison.learners.learner_loss_tests import by_agreement, by_nested_cross_validation


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
