"""The adaptive interval: its extremes against all linear rules there are, its ends by hand."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk import InputError
from truerisk.intervals.adaptive import Resamples, adaptive_interval, largest_sums


def _calls_of_a_line(x):
    """List every way in which a threshold, either side up, calls these numbers."""
    cuts = [min(x) - 1, *((a + b) / 2 for a, b in pairwise(sorted(x)))]
    return [np.where((x > cut) == up, 1.0, -1.0) for cut, up in product(cuts, (True, False))]


def _calls_of_a_plane(X):
    """List every way in which a line calls points of the plane, by turning it about pairs."""
    found = [np.ones(len(X)), -np.ones(len(X))]
    for i, j in combinations(range(len(X)), 2):
        normal = np.array([X[j, 1] - X[i, 1], X[i, 0] - X[j, 0]])
        side = np.sign((X - X[i]) @ normal)
        for first, second, turn in product((-1.0, 1.0), repeat=3):
            called = side.copy()
            called[[i, j]] = first, second
            found.append(turn * called)
    return found


def _largest(y, gains, calls):
    return max(float(gains[called != y].sum()) for called in calls)


@settings(max_examples=30)
@given(st.integers(3, 12), st.integers(0, 10_000))
def test_with_one_feature_no_rule_gains_more(n, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.choice([-1.0, 1.0], size=n)
    gains = rng.integers(-2, 4, size=(5, n)).astype(float)
    found = largest_sums(x[:, None], y, gains, np.tile(y < 0, (5, 1)))
    expected = [_largest(y, row, _calls_of_a_line(x)) for row in gains]
    # Where at most as many gain as there are coefficients, the bound is that of any calls.
    few = np.count_nonzero(gains, axis=1) <= 2
    expected = np.where(few, np.maximum(gains, 0).sum(axis=1), expected)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_with_two_features_it_comes_near_the_best_of_all_lines_and_never_above():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(14, 2)), rng.choice([-1.0, 1.0], size=14)
    gains = (rng.multinomial(14, np.full(14, 1 / 14), size=60) - 1).astype(float)
    found = largest_sums(X, y, gains, np.tile(y < 0, (60, 1)))
    exact = np.array([_largest(y, row, _calls_of_a_plane(X)) for row in gains])
    assert (found <= exact).all()
    assert np.mean(found) > 0.93 * np.mean(exact)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_a_rule_already_known_is_never_beaten_by_what_is_found(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 3)), rng.choice([-1.0, 1.0], size=12)
    gains = rng.integers(-1, 3, size=(4, 12)).astype(float)
    wrong = (X @ rng.normal(size=3) > 0) != (y > 0)
    found = largest_sums(X, y, gains, np.broadcast_to(wrong, gains.shape))
    assert (found >= gains[:, wrong].sum(axis=1) - 1e-12).all()
    assert (found <= np.maximum(gains, 0).sum(axis=1) + 1e-12).all()


def test_scores_that_are_equal_are_never_parted():
    X, y = np.ones((4, 1)), np.array([1.0, 1.0, -1.0, -1.0])
    gains = np.array([[3.0, -1.0, 2.0, -3.0]])
    # One call for all: wrong are the two of one class, which gain 2, or those of the other, −1.
    assert largest_sums(X, y, gains, y[None] < 0).tolist() == [2.0]


def _example():
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    decision = np.array([-2.0, 0.5, 1.0, 2.0])  # the second is called wrong: error 1/4
    counts = np.array([[1.0, 2.0, 0.0, 1.0], [2.0, 0.0, 1.0, 1.0], [0.0, 1.0, 2.0, 1.0]])
    decisions = np.array([[-2.0, 1.0, 1.0, 2.0], [-3.0, 0.5, 1.0, 3.0], [-2.0, 0.6, -1.0, 1.0]])
    return np.arange(4.0)[:, None], y, decision, Resamples(counts, decisions)


def test_with_no_example_near_it_is_the_bootstrap_of_the_optimism():
    # Wrong in the resamples: {2}, {2}, {2, 3}; counts − 1 there: 1, −1, 0 + 1.
    found = adaptive_interval(*_example(), level=0.5, cutoff=0.0)
    low, high = np.quantile([1.0, -1.0, 1.0], [0.25, 0.75])
    assert found.low == pytest.approx(max(0.0, 0.25 - high / 4))
    assert found.high == pytest.approx(0.25 - low / 4)
    assert (found.level, found.method) == (0.5, "adaptive")


def test_with_every_example_near_it_reaches_as_far_as_any_rule():
    x, y, decision, resamples = _example()
    found = adaptive_interval(x, y, decision, resamples, level=0.5, cutoff=1e9)
    moved, calls = resamples.counts - 1, _calls_of_a_line(x[:, 0])
    few = np.count_nonzero(moved, axis=1) <= 2
    most = np.where(few, np.maximum(moved, 0).sum(axis=1), [_largest(y, m, calls) for m in moved])
    least = np.where(
        few, np.minimum(moved, 0).sum(axis=1), [-_largest(y, -m, calls) for m in moved]
    )
    assert found.low == pytest.approx(max(0.0, 0.25 - np.quantile(most, 0.75) / 4))
    assert found.high == pytest.approx(0.25 - np.quantile(least, 0.25) / 4)


def test_far_from_the_boundary_it_is_the_rule_itself_and_near_it_any_rule():
    rng = np.random.default_rng(8)
    n, resamples = 12, 40
    x = rng.normal(size=n)
    y = np.where(x + rng.normal(size=n) > 0, 1.0, -1.0)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)
    rules = x * rng.uniform(0.5, 2, size=(resamples, 1)) + 0.5 * rng.normal(size=(resamples, 1))
    calls = _calls_of_a_line(x)
    most, least = [], []
    for drawn, rule in zip(counts, rules, strict=True):
        near = rule**2 <= 2.0 * rules.var(axis=0, ddof=1)
        gains = np.where(near, drawn - 1, 0.0)
        wrong = (rule > 0) != (y > 0)
        far = (drawn - 1)[wrong & ~near].sum()
        if np.count_nonzero(gains) <= 2:
            ends = np.minimum(gains, 0).sum(), np.maximum(gains, 0).sum()
        else:
            ends = -_largest(y, -gains, calls), _largest(y, gains, calls)
        least.append(far + ends[0])
        most.append(far + ends[1])
        assert 0 < near.sum() < n
    found = adaptive_interval(x[:, None], y, x, Resamples(counts, rules), level=0.8, cutoff=2.0)
    error = np.mean((x > 0) != (y > 0))
    assert found.low == pytest.approx(max(0.0, error - np.quantile(most, 0.9) / n))
    assert found.high == pytest.approx(error - np.quantile(least, 0.1) / n)


def test_near_is_measured_in_deviations_of_the_decision_value():
    x, y, decision, resamples = _example()
    ratio = resamples.decisions**2 / resamples.decisions.var(axis=0, ddof=1)
    none = adaptive_interval(x, y, decision, resamples, cutoff=0.999 * ratio.min())
    plain = adaptive_interval(x, y, decision, resamples, cutoff=0.0)
    assert (none.low, none.high) == (plain.low, plain.high)


def test_a_higher_cutoff_never_makes_it_shorter():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 1))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    counts = rng.multinomial(40, np.full(40, 1 / 40), size=100).astype(float)
    rules = X[:, 0] + 0.3 * rng.normal(size=(100, 1))
    resamples = Resamples(counts, rules)
    found = [adaptive_interval(X, y, X[:, 0], resamples, cutoff=at) for at in (0.0, 1.0, 4.0, 1e9)]
    for shorter, longer in pairwise(found):
        assert longer.low <= shorter.low + 1e-12
        assert longer.high >= shorter.high - 1e-12


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((3, 1))}, "`X`, `y` and `decision` must have a row"),
        ({"y": np.array([0.0, 1.0, 1.0, 1.0])}, "`y` must hold −1 and 1 only"),
        ({"resamples": Resamples(np.ones((1, 4)), np.ones((1, 4)))}, "at least 2 rows and 4 col"),
        ({"cutoff": -1.0}, "`cutoff` must lie in"),
        ({"level": 95}, "Write 0.95 for 95 %"),
    ],
    ids=["rows", "classes", "resamples", "cutoff", "level"],
)
def test_what_cannot_be_meant_is_refused(change, message):
    names = ("X", "y", "decision", "resamples")
    given_ = {**dict(zip(names, _example(), strict=True)), **change}
    with pytest.raises(InputError, match=message):
        adaptive_interval(**given_)
