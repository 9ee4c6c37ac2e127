"""What a solution says of itself."""

from dataclasses import replace

import numpy as np

from truerisk.svm.solution import Solution, bounds_of_bias

FOUR = Solution(
    y=np.array([1.0, 1, -1, -1]),
    upper=np.ones(4),
    alpha=np.array([0.0, 1.0, 0.4, 0.6]),
    bias=0.0,
    decision=np.array([1.5, 0.2, -1.0, 0.3]),
    gap=0.0,
    passes=1,
)


def test_slack_and_the_free_by_hand():
    assert FOUR.slack.tolist() == [0.0, 0.8, 0.0, 1.3]
    assert FOUR.free.tolist() == [False, False, True, True]
    assert FOUR.stable


def test_a_rounding_error_from_a_bound_is_at_the_bound():
    edge = replace(FOUR, alpha=np.array([1e-16, 1.0 - 1e-15, 1.0, 0.0]))
    assert not edge.free.any()
    assert not edge.stable


def test_pruning_asks_for_one_bound_and_three_free_support_vectors():
    three = replace(FOUR, alpha=np.array([0.1, 0.9, 0.4, 0.6]))
    assert three.is_prunable
    assert not FOUR.is_prunable
    left_out = replace(three, upper=np.array([1.0, 1.0, 1.0, 0.0]))
    assert left_out.has_one_bound
    weighted = replace(three, upper=np.array([1.0, 1.0, 1.0, 2.0]))
    assert not weighted.has_one_bound
    assert not weighted.is_prunable


def test_the_bounds_of_the_bias_by_hand():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    alpha = np.array([0.0, 1.0, 1.0, 0.5])
    margin = np.array([3.0, 0.5, -0.2, 1.0])
    # y(1 − margin) is −2, ½, −1.2, 0; rises: 1, 3, 4; falls: 2, 4.
    assert bounds_of_bias(y, np.ones(4), alpha, margin) == (0.0, 0.0)
    assert bounds_of_bias(y, np.full(4, 2.0), alpha, margin) == (0.5, -1.2)
