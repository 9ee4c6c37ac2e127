"""The hierarchical model: against its posterior integrated on a grid, and known limits."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln, logsumexp

from truerisk.comparison.datasets.bayesian_hierarchical import bayesian_hierarchical
from truerisk.errors import InputError

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


def test_wrong_tables_are_refused():
    with pytest.raises(InputError, match="two data sets and two folds or more; got 1 × 5"):
        bayesian_hierarchical(np.ones((1, 5)), test_share=0.2)
    with pytest.raises(InputError, match="must all be finite"):
        bayesian_hierarchical([[1.0, np.nan], [1.0, 2.0]], test_share=0.2)
    with pytest.raises(InputError, match="`test_share` must lie in"):
        bayesian_hierarchical(np.ones((3, 5)), test_share=1.0)
