"""The Bayesian signed-rank test: limits that are known, and symmetries."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, logsumexp

from truerisk.comparison.datasets.bayesian import bayesian_hierarchical, bayesian_signed_rank
from truerisk.comparison.datasets.rank_tests import signed_rank

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
    turned = bayesian_signed_rank([-d for d in column], region=region, draws=200)
    assert turned == replace(found, worse=found.better, better=found.worse)
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


FOLDS, SHARE = 5, 0.2


def _prior_of_degrees(excess):
    """Give the density of ν − 1, its gamma prior averaged over shape and rate."""
    shapes, rates = np.linspace(0.5, 5, 60)[:, None, None], np.linspace(0.05, 0.15, 30)[:, None]
    return stats.gamma.pdf(excess, shapes, scale=1 / rates).mean(axis=(0, 1))


def _on_a_grid(table, region):
    """Integrate every parameter but μ₀, σ₀, ν by hand or by sums; those three on a grid.

    Integrating σ_i over its flat prior leaves (S/(1 − ρ) + (x̄ − μ)²/c)^(−(J − 1)/2), a function of
    the difference μ on that data set.
    """
    unit = table.std(axis=1, ddof=1).mean()
    x = table / unit
    means = x.mean(axis=1)
    squares = ((x - means[:, None]) ** 2).sum(axis=1) / (1 - SHARE)
    spread = (1 + (FOLDS - 1) * SHARE) / FOLDS
    reach = np.abs(x).max()
    mu = np.linspace(-20, 20, 401)
    likelihood = (squares[:, None] + (means[:, None] - mu) ** 2 / spread) ** (-(FOLDS - 1) / 2)
    centres = np.linspace(-reach, reach, 121)
    scales = np.exp(np.linspace(np.log(0.02), np.log(30), 30))
    excess = np.exp(np.linspace(np.log(0.05), np.log(150), 8))
    prior = _prior_of_degrees(excess) * excess
    log_weight = np.empty((len(excess), len(scales), len(centres)))
    chances = np.empty((3, *log_weight.shape))
    for e, over in enumerate(excess):
        v = 1 + over
        constant = gammaln((v + 1) / 2) - gammaln(v / 2) - np.log(v * np.pi) / 2
        for s, scale in enumerate(scales):
            z = (mu[:, None] - centres) / scale
            density = np.exp(constant - (v + 1) / 2 * np.log1p(z * z / v)) / scale
            density /= density.sum(axis=0)  # narrow ones fall between the points
            log_weight[e, s] = np.log(likelihood @ density).sum(axis=0) + np.log(prior[e] * scale)
            chances[0, e, s] = stats.t.cdf((-region / unit - centres) / scale, v)
            chances[2, e, s] = stats.t.sf((region / unit - centres) / scale, v)
    chances[1] = 1 - chances[0] - chances[2]
    weight = np.exp(log_weight - logsumexp(log_weight))
    largest = np.argmax(chances, axis=0)
    return [float(weight[largest == at].sum()) for at in range(3)], (chances * weight).sum(
        axis=(1, 2, 3)
    ).tolist()


def test_the_simulation_agrees_with_a_grid():
    rng = np.random.default_rng(4)
    truth = rng.normal(0.012, 0.02, (9, 1))
    table = truth + rng.normal(0, 0.02, (9, FOLDS)) * rng.uniform(0.5, 2, (9, 1))
    probabilities, to_come = _on_a_grid(table, 0.01)
    found = bayesian_hierarchical(table, test_share=SHARE, region=0.01)
    assert 0.1 < found.better < 0.9  # or it would show nothing
    assert (found.worse, found.equivalent, found.better) == pytest.approx(probabilities, abs=0.02)
    assert (found.next_worse, found.next_equivalent, found.next_better) == pytest.approx(
        to_come, abs=0.01
    )
    assert found.is_mixed


def test_the_unit_of_the_scores_does_not_matter():
    table = np.random.default_rng(1).normal(0.02, 0.03, (4, 3))
    found = bayesian_hierarchical(table, test_share=0.25, region=0.01)
    in_percent = bayesian_hierarchical(100 * table, test_share=0.25, region=1.0)
    assert in_percent.better == pytest.approx(found.better, abs=1e-9)
    assert in_percent.mean == pytest.approx(100 * found.mean, rel=1e-9)


def test_identical_classifiers_are_equivalent_and_constant_ones_do_not_break_it():
    found = bayesian_hierarchical(np.zeros((4, 5)), test_share=0.2)
    assert (found.worse, found.equivalent, found.better) == (0, 1, 0)
    some = np.zeros((4, 5))
    some[0] = 0.01
    assert 0 <= bayesian_hierarchical(some, test_share=0.2, region=0.02).equivalent <= 1
