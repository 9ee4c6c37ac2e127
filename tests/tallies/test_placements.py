import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.tallies.placements import placements, share_below, top_negative

columns = st.lists(st.integers(0, 5), min_size=1, max_size=20)


def test_two_ties_and_one_below_of_four_are_one_half():
    # 1 lies under 2, and the two ties count half each: (1 + 2 · ½) / 4.
    assert share_below(np.array([2.0]), np.array([2.0, 3.0, 1.0, 2.0])) == pytest.approx(0.5)


@given(columns, columns)
def test_it_is_the_mean_over_all_pairs(scores, others):
    ours, theirs = np.array(scores, float), np.array(others, float)
    won = (ours[:, None] > theirs) + 0.5 * (ours[:, None] == theirs)
    assert share_below(ours, theirs) == pytest.approx(won.mean(axis=1))


@given(columns, columns)
def test_placements_are_the_pairs_of_each_example_that_are_in_order(positives, negatives):
    score = np.array([*positives, *negatives], float)
    is_positive = np.arange(len(score)) < len(positives)
    above = score[is_positive][:, None] - score[~is_positive]
    won = (above > 0) + 0.5 * (above == 0)
    want = np.concatenate([won.mean(axis=1), won.mean(axis=0)])
    assert placements(score, is_positive) == pytest.approx(want)
    assert np.isnan(placements(score, np.ones(len(score), bool))).all()


@given(columns, columns)
def test_a_weight_of_three_counts_as_three_of_them(scores, others):
    ours, theirs = np.array(scores, float), np.array(others, float)
    times = 1 + np.arange(len(others)) % 3
    repeated = share_below(ours, np.repeat(theirs, times))
    assert share_below(ours, theirs, times.astype(float)) == pytest.approx(repeated)


def test_a_negative_at_the_very_top_takes_what_a_small_part_of_one_takes():
    rng = np.random.default_rng(3)
    score, positive = rng.normal(size=40), rng.random(40) < 0.4
    part = 1e-6
    score_with = np.append(score, 9.0)
    weight = np.append(np.ones(40), part)

    def precision(scores, flags, weights):
        order = np.argsort(-scores)
        hits = weights[order] * flags[order]
        return float(hits @ (np.cumsum(hits) / np.cumsum(weights[order])) / hits.sum())

    before = precision(score, positive, np.ones(40))
    after = precision(score_with, np.append(positive, False), weight)
    assert (before - after) / part == pytest.approx(top_negative(score, positive), rel=1e-4)
