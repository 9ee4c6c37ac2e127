import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.tallies.ranking import rank
from truerisk.tallies.score_tally import ScoreTally

rows = st.lists(
    st.tuples(st.floats(allow_nan=False, width=32), st.booleans()), min_size=1, max_size=50
)


def columns(pairs):
    scores, positive = zip(*pairs, strict=True)
    return np.array(scores), np.array(positive)


@settings(max_examples=60)
@given(rows, st.lists(st.integers(0, 50), max_size=4), st.randoms(use_true_random=False))
def test_any_cut_and_order_gives_the_same_ranking(pairs, cuts, random):
    scores, positive = columns(random.sample(pairs, len(pairs)))
    edges = [0, *sorted(min(cut, len(pairs)) for cut in cuts), len(pairs)]
    tallies = []
    for low, high in itertools.pairwise(edges):
        kind = random.choice([np.float32, np.float64])
        tallies.append(ScoreTally().add(scores[low:high].astype(kind), positive[low:high]))
    random.shuffle(tallies)
    merged = ScoreTally()
    for tally in tallies:
        merged.merge(tally)
    found, expected = merged.ranking(), rank(*columns(pairs))
    assert str(found.summary) == str(expected.summary)
    assert found.thresholds.tolist() == expected.thresholds.tolist()
    assert found.tp.tolist() == expected.tp.tolist()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_batches_of_many_rows_give_the_same_ranking(kind):
    rng = np.random.default_rng(1)
    positive = rng.random(100_000) < 0.3
    scores = (rng.normal(size=100_000) + positive).astype(kind)
    tally = ScoreTally()
    for start in range(0, 100_000, 3_000):
        part = slice(start, start + 3_000)
        tally.add(scores[part], positive[part])
    found, expected = tally.ranking(), rank(scores, positive)
    assert str(found.summary) == str(expected.summary)
    np.testing.assert_array_equal(found.fp, expected.fp)


def test_many_small_batches_are_few_parts():
    tally = ScoreTally()
    for score in range(1000):
        tally.add([score], [score % 2 == 0])
    assert len(tally.parts) <= 10
    assert tally.rows == 1000


def test_a_narrow_score_takes_five_bytes_and_a_wide_one_nine():
    labels = [True] * 10
    assert ScoreTally().add(np.zeros(10, dtype=np.float32), labels).bytes_held == 50
    assert ScoreTally().add(np.zeros(10), labels).bytes_held == 90


def test_weights_stay_with_their_scores():
    scores, positive = [3, 2, 2, 1, 0], np.array([True, False, True, True, False])
    weight = np.array([1.0, 2, 3, 1, 2])
    tally = ScoreTally().add(scores[3:], positive[3:], weight[3:])
    tally.merge(ScoreTally().add(scores[:3], positive[:3], weight[:3]))
    assert tally.ranking().auc == rank(scores, positive, weight).auc


def test_the_batch_may_be_overwritten_afterwards():
    scores, positive = np.array([1.0, 2.0]), np.array([False, True])
    tally = ScoreTally().add(scores, positive)
    scores[:], positive[:] = 0, False
    assert tally.ranking().auc == 1.0


def test_too_many_scores_are_counted_in_buckets():
    rng = np.random.default_rng(2)
    positive = rng.random(2_000) < 0.5
    scores = rng.normal(size=2_000) + positive
    exact = rank(scores, positive)
    in_parts = ScoreTally(max_bytes=900).merge(
        ScoreTally(max_bytes=900).add(scores[:99], positive[:99])
    )
    assert in_parts.exact
    in_parts.merge(ScoreTally(max_bytes=9).add(scores[99:1000], positive[99:1000]))
    in_parts.add(scores[1000:], positive[1000:])
    assert not in_parts.exact
    assert in_parts.rows == 2_000
    found = in_parts.ranking()
    assert not found.exact
    assert found.auc_bounds[0] <= exact.auc <= found.auc_bounds[1]
    assert found.n == 2_000


def test_what_cannot_be_added_is_refused():
    tally = ScoreTally().add([1.0], [True])
    with pytest.raises(InputError, match="`weight` must be given for every batch or for none"):
        tally.add([1.0], [True], [1.0])
    with pytest.raises(InputError, match="`scores` must have at least one example; got 0"):
        ScoreTally().add([], []).ranking()
    with pytest.raises(InputError, match="`scores` has 1, `is_positive` has 2"):
        tally.add([1.0], [True, False])
    with pytest.raises(InputError, match="`max_bytes` must be at least 17 to hold these weighted"):
        ScoreTally(max_bytes=5).add([1.0], [True], [1.0])
    with pytest.raises(InputError, match="1 are NaN"):
        ScoreTally(max_bytes=1).add([np.nan], [True])
