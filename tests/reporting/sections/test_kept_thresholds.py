"""A thousand thresholds in place of all, and the cheapest for any costs among them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.measures.thresholds import Sweep, mean_cost, sweep
from truerisk.reporting.sections.kept_thresholds import MAX_THRESHOLDS, kept_rows
from truerisk.tallies.ranking import rank


def long_ranking(seed=0, n=6000):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    return rank(rng.normal(size=n) + 1.5 * truth, truth)


@given(
    seed=st.integers(0, 50),
    costs=st.tuples(*[st.integers(-9, 9)] * 4),
    rows=st.lists(st.integers(0, 6000), max_size=4),
)
@settings(max_examples=15, deadline=None)
def test_of_many_scores_a_thousand_are_kept_and_the_cheapest_is_always_among_them(
    seed, costs, rows
):
    table = sweep(long_ranking(seed))
    kept = kept_rows(table, rows)
    assert len(kept) <= MAX_THRESHOLDS
    assert {0, len(table) - 1, *rows} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()
    cost = mean_cost(table, dict(zip(("tp", "fp", "fn", "tn"), costs, strict=True)))
    assert cost[kept].min() == pytest.approx(cost.min(), abs=1e-12)


def test_what_lies_between_two_kept_thresholds_is_little():
    table = sweep(long_ranking())
    kept = kept_rows(table, [])
    assert len(kept) > 0.9 * MAX_THRESHOLDS
    for found in (table.tp, table.fp):
        assert np.diff(found[kept]).max() <= max(1, 0.004 * found[-1])


def test_a_hull_of_too_many_corners_is_thinned():
    # Each step of a convex curve is flatter than the one before: every point is a corner.
    steps = np.arange(1, 1501)
    fp, tp = np.cumsum(steps), np.cumsum(steps[::-1])
    table = Sweep(
        -np.arange(len(fp) + 1.0),
        np.concatenate([[0], tp]),
        np.concatenate([[0], fp]),
        tp[-1] - np.concatenate([[0], tp]),
        fp[-1] - np.concatenate([[0], fp]),
    )
    kept = kept_rows(table, [77])
    assert len(kept) <= MAX_THRESHOLDS
    assert {0, 77, 1500} <= set(kept.tolist())
