import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.errors import InputError, ResourceError
from truerisk.tallies import radix_rank
from truerisk.tallies import ranking as ranking_module
from truerisk.tallies.radix_rank import NARROW, WIDE, as_run, rank_by_radix, scores_of_narrow
from truerisk.tallies.ranking import rank, rank_parts

SPECIAL = [-np.inf, -1e30, -1.0, -1e-45, -0.0, 0.0, 1e-45, 0.5, 1.0, 1.0000001, 3e38, np.inf]


def assert_same(found, expected):
    """Everything but the last bits of the sums of fractions is the same."""
    for name in ("best_f1", "best_f1_threshold", "ks", "ks_threshold", "auc"):
        np.testing.assert_equal(getattr(found.summary, name), getattr(expected.summary, name))
    assert str(found.summary.breakeven) == str(expected.summary.breakeven)
    np.testing.assert_equal(found.summary.eleven_point, expected.summary.eleven_point)
    for name in ("average_precision", "delong_variance"):
        np.testing.assert_allclose(
            getattr(found.summary, name), getattr(expected.summary, name), rtol=1e-11
        )
    np.testing.assert_array_equal(found.thresholds, expected.thresholds)
    np.testing.assert_array_equal(found.tp, expected.tp)
    np.testing.assert_array_equal(found.fp, expected.fp)
    assert (found.distinct, found.complete) == (expected.distinct, expected.complete)
    assert (found.n_positive, found.n_negative) == (expected.n_positive, expected.n_negative)


def sorted_ranking(scores, positive, monkeypatch):
    monkeypatch.setattr(ranking_module, "SORTED_UP_TO", len(scores))
    return rank_parts([(scores, positive)])


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.sampled_from(SPECIAL), st.booleans()), min_size=1, max_size=60),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_it_agrees_with_sorting(rows, kind):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    scores = scores.astype(kind)
    assert_same(rank_by_radix([(scores, positive)]), rank(scores, positive))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.floats(allow_nan=False, width=32), st.booleans()), min_size=1, max_size=60
    ),
    kind=st.sampled_from([np.float32, np.float64]),
)
def test_it_agrees_with_sorting_whatever_the_scores(rows, kind):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    scores = scores.astype(kind)
    assert_same(rank_by_radix([(scores, positive)]), rank(scores, positive))


def noise(rng, n):
    return rng.random(n)


def shifted(rng, n):
    return rng.normal(size=n)


def rounded(rng, n):
    return np.round(rng.normal(size=n), 2)


def one_bucket(rng, n):
    return 1 + rng.random(n) / 300


def infinite_ends(rng, n):
    scores = rng.normal(size=n)
    return np.where(np.abs(scores) > 1, np.sign(scores) * np.inf, scores)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("make", [noise, shifted, rounded, one_bucket, infinite_ends])
@pytest.mark.parametrize("help_of_label", [0.0, 1.0, -1.0])
def test_many_rows_agree_with_sorting(make, kind, help_of_label, monkeypatch):
    rng = np.random.default_rng(5)
    n = 120_000
    positive = rng.random(n) < 0.3
    scores = (make(rng, n) + help_of_label * positive).astype(kind)
    expected = sorted_ranking(scores, positive, monkeypatch)
    assert_same(rank_by_radix([(scores, positive)]), expected)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("positives", [0, 1, 2, 69_999, 70_000])
def test_rare_and_missing_classes_agree_with_sorting(kind, positives, monkeypatch):
    rng = np.random.default_rng(6)
    positive = rng.permutation(np.arange(70_000) < positives)
    scores = rng.normal(size=70_000).astype(kind)
    expected = sorted_ranking(scores, positive, monkeypatch)
    assert_same(rank_by_radix([(scores, positive)]), expected)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_number_of_threads_and_of_parts_changes_no_bit(kind, monkeypatch):
    rng = np.random.default_rng(7)
    positive = rng.random(90_000) < 0.4
    scores = (rng.normal(size=90_000) + positive).astype(kind)
    whole = rank_by_radix([(scores, positive)])
    monkeypatch.setattr(radix_rank, "threads_for", lambda _: 3)
    cuts = [0, 1, 5_000, 40_000, 90_000]
    parts = [(scores[a:b], positive[a:b]) for a, b in itertools.pairwise(cuts)]
    shared = rank_by_radix(parts[::-1])
    assert str(shared.summary) == str(whole.summary)
    np.testing.assert_array_equal(shared.tp, whole.tp)


def test_rank_takes_this_way_for_many_rows():
    rng = np.random.default_rng(8)
    positive = rng.random(60_000) < 0.5
    scores = rng.random(60_000, dtype=np.float32)
    assert str(rank(scores, positive).summary) == str(rank_by_radix([(scores, positive)]).summary)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("sign", [1, -1])
def test_nan_is_refused(kind, sign):
    scores = np.zeros(60_000, dtype=kind)
    scores[7] = np.copysign(np.nan, sign)
    with pytest.raises(InputError, match="`scores` must be numbers; 1 are NaN"):
        rank(scores, np.arange(60_000) % 2 == 0)


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(radix_rank, "MAX_ROWS", 3)
    with pytest.raises(InputError, match=r"fewer than 2\*\*31 rows to be ranked; got 3"):
        rank_by_radix([(np.zeros(3), np.array([True, False, True]))])


@pytest.mark.parametrize(("layout", "kind"), [(NARROW, np.float32), (WIDE, np.float64)])
def test_keys_keep_the_order_and_lead_back(layout, kind):
    scores = np.unique(np.array(SPECIAL, dtype=kind))
    counts = np.zeros(2 * radix_rank.BUCKETS, dtype=np.int64)
    layout.count(scores.view(layout.bits), np.ones(len(scores), dtype=np.uint8), counts)
    buckets = np.flatnonzero(counts) // 2
    assert counts.sum() == len(scores)
    assert (buckets[0], buckets[-1]) == layout.infinity_buckets
    found = rank_by_radix([(scores, np.ones(len(scores), dtype=bool))])
    assert found.thresholds[::-1].tolist() == [float(score) for score in scores]


def test_narrow_keys_turn_back_into_scores():
    keys = np.array([0x8000_0000, 0xBF80_0000, 0x4080_0000])
    assert scores_of_narrow(keys).tolist() == [0.0, 1.0, -1.0]


@pytest.mark.parametrize("make", [noise, shifted, rounded, one_bucket, infinite_ends])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.99])
def test_rows_that_are_read_again_change_no_bit(make, share):
    rng = np.random.default_rng(9)
    positive = rng.random(90_000) < 0.4
    scores = make(rng, 90_000) + positive
    whole = rank_by_radix([(scores, positive)])
    cuts = [0, 1, 5_000, 40_000, 90_000]
    parts = [(scores[a:b], positive[a:b]) for a, b in itertools.pairwise(cuts)]
    runs = [as_run([part]) for part in parts]
    buckets = np.concatenate([np.repeat(run.cells // 2, np.diff(run.starts)) for run in runs])
    lowest = int(np.sort(buckets)[int((1 - share) * 89_999)]) + 1
    held = range(lowest, radix_rank.BUCKETS)
    runs = [run.only(held) for run in runs]
    read = []

    def read_again(buckets):
        assert not runs  # what was swept is let go of
        read.append(buckets)
        return [as_run([part], buckets) for part in parts]

    ranking = rank_by_radix([], runs, read_again)
    assert str(ranking.summary) == str(whole.summary)
    np.testing.assert_array_equal(ranking.thresholds, whole.thresholds)
    np.testing.assert_array_equal(ranking.tp, whole.tp)
    for earlier, later in itertools.pairwise(read):
        assert later.stop == earlier.start


def test_a_run_that_holds_some_buckets_has_their_rows():
    rng = np.random.default_rng(10)
    scores, positive = rng.normal(size=3000), rng.random(3000) < 0.4
    whole = as_run([(scores, positive)])
    buckets = range(int(whole.cells[40]) // 2, int(whole.cells[80]) // 2)
    some = as_run([(scores, positive)], buckets)
    np.testing.assert_array_equal(some.low, whole.only(buckets).low)
    assert 0 < len(some.low) < 3000
    assert some.rows == whole.rows == 3000


def test_scores_that_change_before_they_are_read_again_are_refused():
    rng = np.random.default_rng(11)
    scores, positive = rng.normal(size=60_000), rng.random(60_000) < 0.4
    runs = [as_run([(scores, positive)]).only(range(49_100, radix_rank.BUCKETS))]
    with pytest.raises(ResourceError, match="the same when they are read again"):
        rank_by_radix([], runs, lambda held: [as_run([(scores + 1, positive)], held)])


def test_large_runs_have_pages_of_their_own():
    own = radix_rank.own_pages((2**19, 3))
    own[:] = 7
    assert own.shape == (2**19, 3)
    assert own.sum(dtype=np.int64) == 21 * 2**19
