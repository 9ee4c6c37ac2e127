"""The Bayesian signed-rank test: limits that are known, and symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from truerisk.comparison.datasets.bayesian_signed_rank import bayesian_signed_rank
from truerisk.comparison.datasets.signed_rank import signed_rank
from truerisk.errors import InputError

columns = st.lists(st.integers(-5, 5), min_size=1, max_size=12)


def _by_matrices(differences, region, draws, seed):
    """Take the definition at its word: all pairs, weight by weight."""
    z = np.concatenate([[0.0], differences])
    weights = np.random.default_rng(seed).dirichlet([0.5] + [1.0] * len(differences), draws)
    sums = z[:, None] + z
    above = np.einsum("di,ij,dj->d", weights, (sums > 2 * region).astype(float), weights)
    below = np.einsum("di,ij,dj->d", weights, (sums < -2 * region).astype(float), weights)
    within = 1 - above - below if region > 0 else np.zeros(draws)
    largest = np.argmax([within, below, above], axis=0)
    return np.bincount(largest, minlength=3) / draws


@pytest.mark.parametrize("region", [0.0, 0.4])
def test_as_by_the_definition(region):
    column = np.random.default_rng(3).normal(0.4, 1, 15)
    found = bayesian_signed_rank(column, region=region, draws=20000)
    equivalent, worse, better = _by_matrices(column, region, 20000, seed=99)
    # Two simulations of 20,000 draws: standard error of a difference at most .005.
    assert (found.worse, found.equivalent, found.better) == pytest.approx(
        (worse, equivalent, better), abs=0.02
    )


def test_two_data_sets_worked_by_hand():
    # With one difference d > 0 and w₀ the weight of z₀ = 0, a share 1 − w₀² lies above 0 and none
    # below: surely better.  With a region of 3d/4, only the pair (d, d) of weight (1 − w₀)² lies
    # above; it is more than one half if 1 − w₀ > √½, and w₀ is beta(½, 1) with P(w₀ < x) = √x.
    assert bayesian_signed_rank([1.0]).better == 1
    found = bayesian_signed_rank([1.0], region=0.75, draws=100_000)
    assert found.better == pytest.approx(np.sqrt(1 - np.sqrt(0.5)), abs=0.006)
    assert found.worse == 0
    weaker = bayesian_signed_rank([1.0], region=0.75, strength=1.0, draws=100_000)
    assert weaker.better == pytest.approx(1 - np.sqrt(0.5), abs=0.006)  # now w₀ is uniform


@settings(max_examples=20)
@given(columns, st.integers(0, 3), st.randoms(use_true_random=False))
def test_swapping_the_classifiers_swaps_exactly_and_order_does_not_matter(column, region, random):
    found = bayesian_signed_rank(column, region=region, draws=200)
    assert bayesian_signed_rank([-d for d in column], region=region, draws=200) == found.reversed
    mixed = list(column)
    random.shuffle(mixed)
    assert bayesian_signed_rank(mixed, region=region, draws=200) == found
    assert found.worse + found.equivalent + found.better == pytest.approx(1)


def test_all_differences_within_the_region_are_surely_equivalent():
    column = np.random.default_rng(0).uniform(-0.01, 0.01, 20)
    found = bayesian_signed_rank(column, region=0.01)
    assert (found.worse, found.equivalent, found.better) == (0, 1, 0)


def test_identical_classifiers_are_equivalent():
    assert bayesian_signed_rank(np.zeros(5)).equivalent == 1
    assert bayesian_signed_rank(np.zeros(5), region=0.01).equivalent == 1


def test_many_data_sets_come_to_the_p_value_of_wilcoxon():
    column = np.random.default_rng(5).normal(0, 1, 400)
    column += 0.08 - column.mean()
    found = bayesian_signed_rank(column, draws=8000)
    p_value = signed_rank(column).less
    assert 0.8 < p_value < 0.995
    assert found.better == pytest.approx(p_value, abs=0.03)
    assert stats.wilcoxon(column, alternative="less").pvalue == pytest.approx(p_value, abs=1e-3)


def test_the_seed_decides():
    column = np.random.default_rng(5).normal(0.3, 1, 12)
    first = bayesian_signed_rank(column, random_state=1)
    assert bayesian_signed_rank(column, random_state=1) == first
    assert bayesian_signed_rank(column, random_state=2) != first


def test_wrong_settings_are_refused():
    with pytest.raises(InputError, match="`region` must lie in"):
        bayesian_signed_rank([1.0], region=-1)
    with pytest.raises(InputError, match="`strength` must lie in"):
        bayesian_signed_rank([1.0], strength=0)
