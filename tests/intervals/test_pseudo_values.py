"""The interval of a score by its pseudo-values: by hand, and as for means of losses."""

import numpy as np
import pytest

from truerisk.intervals.pseudo_values import pseudo_value_interval
from truerisk.intervals.variance_components import OTHER, components

T3 = 3.182446305  # Student's t of 3 degrees at .975
SHIFT = (1 + 2 * 1.959963985**2) / 6


def test_one_repetition_by_hand():
    pseudo, refits = np.array([[0.0, 0.0, 0.0, 4.0]]), np.zeros((1, 4), dtype=int)
    found = pseudo_value_interval(1.0, pseudo, refits, level=0.95)
    # ψ = −1, −1, −1, 3: V₁ = 12/16, V = 4/3 · V₁ = 1; Σψ⁴/(Σψ²)² − 1/4 = 1/3, so ν = min(3, 6).
    # Σψ³ = 24, and the largest ψ adds 3/4.
    assert found.low == pytest.approx(1 - T3)
    assert found.high == pytest.approx(1 + T3 + SHIFT * 24 / 64 + 3 / 4)
    assert found.method == "pseudo_values"


def test_two_repetitions_by_hand():
    pseudo = np.array([[0.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    refits = np.array([[0, 0, 1, 1], [2, 3, 2, 3]])
    found = pseudo_value_interval(0.5, pseudo, refits, level=0.95)
    # V₁ = (3 · ¼ + 6¼)/16 = 7/16.  The last example differs by 4: u = min(1, 8/7), and s² = 0.
    # Its mean influence is 3/2, that of the others −½.
    variance = 4 / 3 * 7 / 16 * 2
    half = T3 * np.sqrt(variance)
    assert found.low == pytest.approx(0.5 - half)
    assert found.high == pytest.approx(0.5 + half + SHIFT * 3 / (64 * variance) + 1.5 / 4)
    assert (found.disagreement, found.together) == (1.0, pytest.approx(0.0))


def test_it_turns_with_the_score_and_grows_with_its_unit():
    rng = np.random.default_rng(1)
    pseudo, refits = rng.exponential(size=(3, 40)), rng.integers(0, 5, (3, 40))
    refits += 5 * np.arange(3)[:, None]
    one = pseudo_value_interval(1.0, pseudo, refits, level=0.9)
    turned = pseudo_value_interval(-2.0, -2 * pseudo, refits, level=0.9)
    assert (turned.low, turned.high) == pytest.approx((-2 * one.high, -2 * one.low))
    assert one.high - 1 > 1 - one.low  # skewed to the right


def test_models_that_move_all_their_examples_lengthen_it():
    rng = np.random.default_rng(2)
    refits = np.array([rng.permutation(np.repeat(np.arange(5), 20)) + 5 * r for r in range(4)])
    losses = rng.normal(size=100) + rng.normal(size=(4, 100)) / 2
    together = losses + rng.normal(size=20)[refits]
    parts = components(together - together.mean(), refits)
    assert parts.together > 0.3
    apart = pseudo_value_interval(0.0, losses, refits, level=0.95)
    found = pseudo_value_interval(0.0, together, refits, level=0.95)
    assert found.lengthening > 2
    assert apart.lengthening < 1.2
    assert found.width > 2 * 1.96 * np.sqrt(parts.variance(OTHER))


def test_groups_are_the_units():
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(10), 5)
    refits = np.repeat(np.arange(5), 10)[None, :] + [[0], [5]]
    pseudo = np.repeat(rng.normal(size=10), 5) + np.zeros((2, 50))
    found = pseudo_value_interval(0.0, pseudo, refits, level=0.95, groups=groups)
    each = pseudo_value_interval(0.0, pseudo[:, ::5], refits[:, ::5], level=0.95)
    assert (found.low, found.high) == pytest.approx((each.low, each.high))
    assert found.method == "cluster_pseudo_values"


def test_an_example_that_stands_for_two_counts_as_two():
    rng = np.random.default_rng(6)
    pseudo, refits = rng.normal(size=(1, 30)), np.zeros((1, 30), dtype=int)
    half = pseudo_value_interval(0.0, pseudo, refits, level=0.95, weights=np.full(30, 2.0))
    whole = pseudo_value_interval(0.0, pseudo, refits, level=0.95)
    assert half.width == pytest.approx(whole.width / np.sqrt(2), rel=0.05)


@pytest.mark.parametrize("pseudo", [np.ones((2, 5)), np.array([[0.0, 1.0]])])
def test_without_a_spread_there_is_none(pseudo):
    refits = np.arange(pseudo.size).reshape(pseudo.shape) // 2
    assert pseudo_value_interval(1.0, pseudo, refits, level=0.95) is None


def test_an_example_that_was_never_judged_does_not_count():
    pseudo = np.array([[0.0, 1.0, 3.0, np.nan], [1.0, 1.0, 2.0, np.nan]])
    refits = np.array([[0, 0, 0, 0], [1, 1, 1, 1]])
    found = pseudo_value_interval(1.0, pseudo, refits, level=0.95)
    assert found == pseudo_value_interval(1.0, pseudo[:, :3], refits[:, :3], level=0.95)
