"""What is believed of two classifiers after many data sets: the signed-rank and hierarchical tests.

The hierarchical test is one model for the folds of all data sets.

Problem   folds    x_i1 … x_iJ normal about μ_i, variance σ_i², correlation ρ between any two
          sets     μ_i Student's t of ν degrees about μ₀, scale σ₀
          priors   μ₀ uniform on ± the largest difference seen; σ₀ and σ_i uniform up to 1,000 times
                   what is seen; ν − 1 gamma(a, b), a uniform on [½, 5], b uniform on [.05, .15]
Given     the differences of all folds, and ρ
Returns   the posterior of μ₀, σ₀, ν, by simulation, and what it says of a data set still to come
Method    Student's t as normals of variance σ₀²/λ_i.  μ_i, λ_i, μ₀ and σ_i are drawn from what they
          are given the others; σ₀ with all μ_i integrated out, and ν with all λ_i, by Metropolis
          steps on the logarithm.  Many chains at once, each entry of an array.
Source    Corani, Benavoli, Demšar, Mangili and Zaffalon, Machine Learning 106, 2017; the priors
          are those of its authors' program
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import gammainc, gammaincinv, gammaln, ndtr, ndtri, stdtr

from truerisk.aliases import Array, ArrayLike
from truerisk.checks import check_random_state

PRIOR_STRENGTH = 0.5  # of one data set on which both classifiers do equally well
DRAWS = 20_000
MAX_CELLS = 2**21  # drawn at a time
CHAINS, WARM_UP, DRAWN_SWEEPS = 50, 200, 400
WIDEST = 1000.0  # upper end of the priors of σ, in units of what is seen
SHAPES, RATES = (0.5, 5.0), (0.05, 0.15)  # of the gamma prior of ν − 1
STEPS = (1.2, 0.3)  # of the walk of log σ₀: one for few data sets, one for many
MIXED = 1.1  # ratio of spreads up to which chains are taken to agree


@dataclass(frozen=True, kw_only=True)
class PracticalPosterior:
    """Probabilities that the second classifier is practically worse, equivalent or better.

    Within ± region the two are equivalent; with a region of 0, only where nothing differs at all.
    """

    worse: float
    equivalent: float
    better: float
    region: float
    method: str


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    region: float = 0.0,
    strength: float = PRIOR_STRENGTH,
    draws: int = DRAWS,
    random_state: int | np.random.Generator | None = 0,
) -> PracticalPosterior:
    """Give the probabilities that a classifier is better than, or equivalent to, another one.

    The prior is a Dirichlet process of strength s at a difference of 0; with weights w ~
    Dirichlet(s, 1, …, 1), θ_above = Σᵢⱼ wᵢwⱼ[zᵢ + zⱼ > 2r], and so on.  Each probability is the
    share of draws in which that θ is the largest; 20,000 draws: standard error at most 0.0035.
    Sources: A. Benavoli et al., ICML 2014, 1026-1034, and JMLR 18(77), 1-36, 2017.
    """
    column, rng = np.asarray(differences, dtype=np.float64), check_random_state(random_state)
    # The same draws for the differences as they are and turned round: swapping the classifiers
    # then swaps the result exactly.
    wins = np.zeros(3)
    for weights in _weights(column.size, strength, draws, rng):
        wins += _largest(weights, column, region) + _largest(weights, -column, region)[::-1]
    worse, equivalent, better = (wins / (2 * draws)).tolist()
    return PracticalPosterior(
        worse=worse,
        equivalent=equivalent,
        better=better,
        region=float(region),
        method="bayesian_signed_rank",
    )


def _weights(n: int, strength: float, draws: int, rng: np.random.Generator) -> Iterator[Array]:
    """Draw the weights of the prior and of n differences, a bounded number at a time.

    They are not divided by their sum: which of three chances is the largest does not need that.
    """
    block = max(1, MAX_CELLS // (n + 1))
    for start in range(0, draws, block):
        size = min(block, draws - start)
        prior = rng.standard_gamma(strength, (size, 1))
        yield np.concatenate([prior, rng.standard_exponential((size, n))], axis=1)


def _largest(weights: Array, differences: Array, region: float) -> Array:
    """Count the draws in which below, within and above have the largest chance."""
    # Weights go by the size of a difference, not by its row.
    order = np.lexsort((differences, np.abs(differences)))
    z = np.concatenate([[0.0], differences[order]])
    rising = np.argsort(z, kind="stable")
    z, sorted_weights = z[rising], weights[:, rising]
    upto = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(sorted_weights, axis=1)], axis=1)
    # zᵢ + zⱼ > 2r holds for all j from a place on, zᵢ + zⱼ < −2r for all before another.
    above_from = np.searchsorted(z, 2 * region - z, side="right")
    below_to = np.searchsorted(z, -2 * region - z, side="left")
    above = (sorted_weights * (upto[:, -1:] - upto[:, above_from])).sum(axis=1)
    below = (sorted_weights * upto[:, below_to]).sum(axis=1)
    total = upto[:, -1]
    within = np.maximum(total**2 - above - below, 0.0) if region > 0 else np.zeros(len(weights))
    is_above = above > np.maximum(below, within)
    is_below = below > np.maximum(above, within)
    rest = len(weights) - is_above.sum() - is_below.sum()
    return np.array([is_below.sum(), rest, is_above.sum()], dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class HierarchicalPosterior(PracticalPosterior):
    """The posterior of two classifiers over data sets, from their folds.

    `worse`, `equivalent` and `better` are the probabilities that this is what is most probable on
    a data set still to come; `next_worse`, `next_equivalent` and `next_better` are how probable
    each is there.  `mean` is the posterior mean of μ₀.  `mixing` is the ratio of the spread over
    all chains to that within a chain, of the slowest parameter: 1 is perfect.
    """

    next_worse: float
    next_equivalent: float
    next_better: float
    mean: float
    mixing: float

    @property
    def is_mixed(self) -> bool:
        """Whether the chains agree well enough for the probabilities to be believed."""
        return self.mixing <= MIXED


@dataclass(frozen=True)
class _Folds:
    """What the likelihood needs of the folds, in units of their typical deviation."""

    means: Array
    squares: Array  # sums of squares about the mean, over 1 − ρ
    folds: int
    spread: float  # (1 + (J − 1) ρ) / J: the variance of a mean in units of σ²
    reach: float
    widest_within: float
    widest_between: float


@dataclass
class _State:
    """Where all chains are."""

    mean: Array
    scale: Array
    excess: Array  # ν − 1
    shape: Array
    rate: Array
    mu: Array
    precision: Array  # λ
    variance: Array  # σ²


def bayesian_hierarchical(
    differences: ArrayLike,
    *,
    test_share: float,
    region: float = 0.0,
    random_state: int | np.random.Generator | None = 0,
) -> HierarchicalPosterior:
    """Give the probabilities that a classifier is better on data sets to come, from folds.

    xᵢ ~ N(1μᵢ, Σᵢ) with correlation ρ = `test_share` between folds, and μᵢ ~ t_ν(μ₀, σ₀).  Each
    probability is the share of 20,000 draws in which below, within or above is most probable on the
    next data set; measured on nine data sets, its standard error is 0.004.
    Source: G. Corani et al., Machine Learning 106, 1817-1837, 2017.
    """
    table = np.asarray(differences, dtype=np.float64)
    rng = check_random_state(random_state)
    if not table.any():
        return _posterior(np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), region)
    unit = _unit(table)
    data = _summary(table / unit, test_share)
    mean, scale, degrees = _simulate(data, rng)
    return _posterior(mean * unit, scale * unit, degrees, region)


def _unit(table: Array) -> float:
    """Give the typical deviation within data sets, or between them if there is none within."""
    within = float(table.std(axis=1, ddof=1).mean())
    return within if within > 0 else float(np.abs(table).max())


def _summary(table: Array, rho: float) -> _Folds:
    sets, folds = table.shape
    means = table.mean(axis=1)
    squares = ((table - means[:, None]) ** 2).sum(axis=1) / (1 - rho)
    deviations = table.std(axis=1, ddof=1)
    # A data set whose folds are all alike would pull σ_i to 0 for ever: it gets a trace of spread.
    squares = np.maximum(squares, 1e-6 * max(float(squares.max()), 1e-6) * (folds - 1))
    between = float(means.std(ddof=1)) if sets > 1 else 0.0
    return _Folds(
        means=means,
        squares=squares,
        folds=folds,
        spread=(1 + (folds - 1) * rho) / folds,
        reach=float(np.abs(table).max()),
        widest_within=WIDEST * max(float(deviations.mean()), 1e-3),
        widest_between=WIDEST * max(between, 1e-3),
    )


def _simulate(data: _Folds, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    state = _start(data, rng)
    draws = np.empty((3, DRAWN_SWEEPS, CHAINS))
    for sweep in range(WARM_UP + DRAWN_SWEEPS):
        _draw_variances(state, data, rng)
        _draw_scale(state, data, rng)
        _draw_mean(state, data, rng)
        _draw_degrees(state, rng)
        if sweep >= WARM_UP:
            draws[:, sweep - WARM_UP] = state.mean, state.scale, 1 + state.excess
    return draws[0], draws[1], draws[2]


def _start(data: _Folds, rng: np.random.Generator) -> _State:
    """Start the chains far apart: otherwise their agreement means nothing."""
    sets = data.means.size
    variance = data.squares / (data.folds - 1)
    typical = max(float(data.means.std()), 1e-3)
    return _State(
        mean=rng.uniform(data.means.min(), data.means.max(), CHAINS),
        scale=typical * np.exp(rng.uniform(-2, 2, CHAINS)),
        excess=np.exp(rng.uniform(0, 4, CHAINS)),
        shape=rng.uniform(*SHAPES, CHAINS),
        rate=rng.uniform(*RATES, CHAINS),
        mu=np.tile(data.means, (CHAINS, 1)),
        precision=np.ones((CHAINS, sets)),
        variance=np.tile(variance, (CHAINS, 1)),
    )


def _draw_variances(state: _State, data: _Folds, rng: np.random.Generator) -> None:
    """Draw σ_i² given μ_i: inverse gamma, cut off where the prior of σ_i ends."""
    half = (data.squares + (data.means - state.mu) ** 2 / data.spread) / 2
    shape = (data.folds - 1) / 2
    precision = rng.gamma(shape, 1 / half)
    cut = precision < data.widest_within**-2
    if cut.any():  # seldom: the inverse of the whole distribution takes ten times as long
        least = gammainc(shape, half[cut] / data.widest_within**2)
        share = least + (1 - least) * rng.uniform(size=least.shape)
        precision[cut] = gammaincinv(shape, share) / half[cut]
    state.variance = 1 / np.maximum(precision, np.finfo(float).tiny)


def _draw_scale(state: _State, data: _Folds, rng: np.random.Generator) -> None:
    """Move σ₀ with every μ_i integrated out: held fast by them, it could hardly move near 0."""
    density = _scale_density(state.scale, state, data)
    for step in STEPS:
        proposed = state.scale * np.exp(step * rng.normal(size=CHAINS))
        there = _scale_density(proposed, state, data)
        accepted = np.log(rng.uniform(size=CHAINS)) < there - density
        state.scale = np.where(accepted, proposed, state.scale)
        density = np.where(accepted, there, density)


def _scale_density(scale: Array, state: _State, data: _Folds) -> Array:
    """Give the log density of log σ₀, given everything but μ_i."""
    total = _total_variance(scale, state, data)
    distance = (data.means - state.mean[:, None]) ** 2
    log_density = -(np.log(total) + distance / total).sum(axis=1) / 2 + np.log(scale)
    return np.where(scale < data.widest_between, log_density, -np.inf)


def _total_variance(scale: Array, state: _State, data: _Folds) -> Array:
    return state.variance * data.spread + scale[:, None] ** 2 / state.precision


def _draw_mean(state: _State, data: _Folds, rng: np.random.Generator) -> None:
    """Draw μ₀ with every μ_i integrated out, then every μ_i."""
    weight = 1 / _total_variance(state.scale, state, data)
    centre = (weight * data.means).sum(axis=1) / weight.sum(axis=1)
    error = 1 / np.sqrt(weight.sum(axis=1))
    low = ndtr((-data.reach - centre) / error)
    high = ndtr((data.reach - centre) / error)
    share = low + (high - low) * rng.uniform(size=CHAINS)
    state.mean = np.clip(centre + error * ndtri(share), -data.reach, data.reach)
    own, common = 1 / (state.variance * data.spread), state.precision / state.scale[:, None] ** 2
    middle = (own * data.means + common * state.mean[:, None]) / (own + common)
    state.mu = middle + rng.normal(size=middle.shape) / np.sqrt(own + common)


def _draw_degrees(state: _State, rng: np.random.Generator) -> None:
    """Move ν with every λ_i integrated out, its prior with it, then draw every λ_i."""
    squares = ((state.mu - state.mean[:, None]) / state.scale[:, None]) ** 2
    proposed = state.excess * np.exp(rng.normal(size=CHAINS))
    gain = _degrees_density(proposed, squares, state) - _degrees_density(
        state.excess, squares, state
    )
    accepted = np.log(rng.uniform(size=CHAINS)) < gain
    state.excess = np.where(accepted, proposed, state.excess)
    shape, rate = rng.uniform(*SHAPES, CHAINS), rng.uniform(*RATES, CHAINS)
    gain = _gamma_density(state.excess, shape, rate) - _gamma_density(
        state.excess, state.shape, state.rate
    )
    accepted = np.log(rng.uniform(size=CHAINS)) < gain
    state.shape = np.where(accepted, shape, state.shape)
    state.rate = np.where(accepted, rate, state.rate)
    degrees = 1 + state.excess[:, None]
    state.precision = np.maximum(
        rng.gamma((degrees + 1) / 2, 2 / (degrees + squares)), np.finfo(float).tiny
    )


def _degrees_density(excess: Array, squares: Array, state: _State) -> Array:
    """Give the log density of log(ν − 1), given μ_i, μ₀ and σ₀."""
    degrees = 1 + excess[:, None]
    student = (
        gammaln((degrees + 1) / 2)
        - gammaln(degrees / 2)
        - np.log(degrees) / 2
        - (degrees + 1) / 2 * np.log1p(squares / degrees)
    )
    prior = _gamma_density(excess, state.shape, state.rate)
    return np.asarray(student.sum(axis=1) + prior + np.log(excess))


def _gamma_density(excess: Array, shape: Array, rate: Array) -> Array:
    return np.asarray(
        shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(excess) - rate * excess
    )


def _posterior(mean: Array, scale: Array, degrees: Array, region: float) -> HierarchicalPosterior:
    """Put the draws, sweeps × chains, into probabilities."""
    if scale.any():
        below = stdtr(degrees, (-region - mean) / scale)
        above = stdtr(degrees, (mean - region) / scale)
    else:
        below, above = np.zeros_like(mean), np.zeros_like(mean)
    within = np.maximum(1 - below - above, 0.0)
    rest = within if region > 0 else np.zeros_like(within)
    is_above, is_below = above > np.maximum(below, rest), below > np.maximum(above, rest)
    worse, better = float(is_below.mean()), float(is_above.mean())
    return HierarchicalPosterior(
        worse=worse,
        equivalent=max(0.0, 1 - worse - better),
        better=better,
        region=float(region),
        method="bayesian_hierarchical",
        next_worse=float(below.mean()),
        next_equivalent=float(within.mean()),
        next_better=float(above.mean()),
        mean=float(mean.mean()),
        mixing=max(_mixing(mean), _mixing(np.log(scale)) if scale.any() else 1.0),
    )


def _mixing(draws: Array) -> float:
    r"""Give Gelman and Rubin's ratio of spreads, over the halves of all chains."""
    half = draws.shape[0] // 2
    if half < 2:
        return 1.0
    parts = np.concatenate([draws[:half], draws[half : 2 * half]], axis=1)
    within = float(parts.var(axis=0, ddof=1).mean())
    between = float(parts.mean(axis=0).var(ddof=1))
    return math.sqrt((half - 1) / half + between / within) if within > 0 else 1.0
