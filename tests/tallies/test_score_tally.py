import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.errors import InputError
from truerisk.tallies import score_tally
from truerisk.tallies.radix_rank import as_run
from truerisk.tallies.ranking import rank
from truerisk.tallies.score_tally import ScoreHistogram, ScoreTally

SHARED = ScoreHistogram()  # 256 MiB: made once, emptied before each use

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


def assert_same(found, expected):
    assert str(found.summary) == str(expected.summary)
    for name in ("thresholds", "tp", "fp"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@settings(max_examples=60)
@given(rows, st.lists(st.integers(0, 50), max_size=6), st.randoms(use_true_random=False))
def test_runs_give_the_same_ranking_for_any_cut_and_order(pairs, cuts, random):
    scores, positive = columns(pairs)
    edges = [0, *sorted(min(cut, len(pairs)) for cut in cuts), len(pairs)]
    merged = ScoreTally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score_tally, "RUN_ROWS", random.choice([1, 5, 20]))
        for low, high in itertools.pairwise(edges):
            kind = random.choice([np.float32, np.float64])
            part = scores[low:high].astype(kind), positive[low:high]
            merged.merge(ScoreTally().add(*part)) if random.random() < 0.5 else merged.add(*part)
    found, expected = merged.ranking(), rank(scores, positive)
    assert found.auc == pytest.approx(expected.auc, nan_ok=True)
    np.testing.assert_array_equal(found.thresholds, expected.thresholds)
    np.testing.assert_array_equal(found.tp, expected.tp)
    np.testing.assert_array_equal(found.fp, expected.fp)


@pytest.mark.parametrize("spread", [1.0, 0.01, 1e9])
@pytest.mark.parametrize("decimals", [1, 30])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_runs_change_no_bit(kind, decimals, spread, monkeypatch):
    rng = np.random.default_rng(3)
    positive = rng.random(600_000) < 0.3
    scores = (rng.normal(size=600_000) * spread + positive).round(decimals).astype(kind)
    scores[:4] = np.inf, -np.inf, 0.0, -0.0
    monkeypatch.setattr(score_tally, "RUN_ROWS", 100_000)
    tally = ScoreTally()
    for start in range(0, 600_000, 70_000):
        tally.add(scores[start : start + 70_000], positive[start : start + 70_000])
    assert sum(len(run.low) for run in tally.runs) == 560_000
    assert {run.low[0].nbytes for run in tally.runs} == {2 if kind == np.float32 else 6}
    expected = rank(scores, positive)
    assert_same(tally.ranking(), expected)
    assert_same(tally.ranking(), expected)  # the runs are as they were


def test_runs_of_two_widths_rank_as_the_wider(monkeypatch):
    rng = np.random.default_rng(4)
    positive = rng.random(80_000) < 0.3
    scores = rng.normal(size=80_000) + positive
    scores[:40_000] = scores[:40_000].astype(np.float32)
    monkeypatch.setattr(score_tally, "RUN_ROWS", 30_000)
    tally = ScoreTally().add(scores[:40_000].astype(np.float32), positive[:40_000])
    tally.add(scores[40_000:], positive[40_000:])
    assert [run.low[0].nbytes for run in tally.runs] == [2, 6]
    assert tally.bytes_held == 8 * 80_000
    assert_same(tally.ranking(), rank(scores, positive))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_run_leads_back_to_its_rows(kind):
    # By hand: the key of 1.0 is 0x8000_0000 + 0x3F80_0000, its lower 16 bits are 0.
    scores = np.array([1.0, -2.5, 0.1, 0.1, -np.inf, np.inf, -0.0], dtype=kind)
    positive = np.array([True, False, True, False, False, True, True])
    run = as_run([(scores, positive)])
    if kind == np.float32:
        at = run.cells.tolist().index(2 * 0xBF80 + 1)
        assert run.starts[at : at + 2].tolist() == [5, 6]
        assert run.low[5] == 0
    found, labels = run.part()
    pairs = zip(scores.astype(np.float64).tolist(), positive.tolist(), strict=True)
    assert sorted(zip(found.tolist(), labels.tolist(), strict=True)) == sorted(pairs)


def test_runs_are_counted_in_buckets_beyond_the_limit(monkeypatch):
    rng = np.random.default_rng(5)
    positive = rng.random(2_000) < 0.5
    scores = rng.normal(size=2_000).astype(np.float32)
    expected = ScoreTally(max_bytes=1).add(scores, positive).ranking()
    monkeypatch.setattr(score_tally, "RUN_ROWS", 300)
    tally = ScoreTally(max_bytes=2_000).add(scores[:900], positive[:900])
    assert tally.exact
    assert len(tally.runs) == 1
    other = ScoreTally().add(scores[1_500:], positive[1_500:])
    tally.add(scores[900:1_500], positive[900:1_500]).merge(other)
    assert not tally.exact
    assert tally.runs == []
    assert tally.rows == 2_000
    assert_same(tally.ranking(), expected)


def test_runs_without_weights_are_not_joined_to_weighted_scores(monkeypatch):
    monkeypatch.setattr(score_tally, "RUN_ROWS", 2)
    runs = ScoreTally().add([1.0, 2.0], [True, False])
    assert runs.parts == []
    for whole, part in [(ScoreTally().add([1.0], [True], [2.0]), runs), (runs, None)]:
        with pytest.raises(InputError, match="`weight` must be given for every batch or for none"):
            whole.merge(part) if part else whole.add([1.0], [True], [2.0])
    with pytest.raises(InputError, match="1 are NaN"):
        ScoreTally().add([1.0, np.nan], [True, False])


def test_many_small_batches_are_few_parts():
    tally = ScoreTally()
    for score in range(1000):
        tally.add([score], [score % 2 == 0])
    assert len(tally.parts) <= 10
    assert tally.rows == 1000


def test_a_narrow_score_takes_two_bytes_and_a_wide_one_eight():
    labels = [True] * 10
    assert ScoreTally().add(np.zeros(10, dtype=np.float32), labels).bytes_held == 20
    assert ScoreTally().add(np.zeros(10), labels).bytes_held == 80
    assert ScoreTally().add(np.zeros(10), labels, np.ones(10)).bytes_held == 170


def test_a_billion_narrow_scores_are_held():
    assert ScoreTally().max_bytes // 2 >= 10**9


def test_what_is_left_is_scattered_before_it_is_sent():
    rng = np.random.default_rng(6)
    positive = rng.random(90_000) < 0.5
    scores = rng.normal(size=90_000).astype(np.float32)
    tally = ScoreTally().add(scores[:60_000], positive[:60_000])
    tally.scatter(60_001)
    assert tally.runs == []
    tally.scatter(60_000)
    assert [len(run.low) for run in tally.runs] == [60_000]
    assert tally.parts == []
    tally.add(scores[60_000:], positive[60_000:])
    assert_same(tally.ranking(), rank(scores, positive))


def test_more_rows_than_can_be_ranked_are_counted_in_buckets(monkeypatch):
    monkeypatch.setattr(score_tally, "MAX_ROWS", 100)
    scores, positive = np.arange(100.0), np.arange(100) % 3 == 0
    assert ScoreTally().add(scores[1:], positive[1:]).exact
    assert not ScoreTally().add(scores, positive).exact


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


def histogram_of(scores, positive):
    SHARED.counts[:] = 0
    SHARED.rows = 0
    SHARED.add(scores, positive)
    return SHARED.ranking()


near_one = st.builds(lambda steps: 1 + steps * 2.0**-18, st.integers(-40, 40))
anything = st.floats(allow_nan=False)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.tuples(
            near_one | anything | st.sampled_from([np.inf, -np.inf, -0.0, -1e-60]), st.booleans()
        ),
        min_size=2,
        max_size=40,
    ),
    st.sampled_from([np.float32, np.float64]),
)
def test_the_bounds_hold_and_the_counts_are_exact_at_the_thresholds(pairs, kind):
    scores, positive = (np.array(column) for column in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        scores = scores.astype(kind)
    found, exact = histogram_of(scores, positive), rank(scores, positive)
    called = scores >= found.thresholds[:, None]
    np.testing.assert_array_equal(found.tp, (called & positive).sum(axis=1))
    np.testing.assert_array_equal(found.fp, (called & ~positive).sum(axis=1))
    if np.isnan(exact.auc):
        assert np.isnan(found.auc_bounds).all()
    else:
        low, high = found.auc_bounds
        assert low - 1e-15 <= exact.auc <= high + 1e-15
        assert 0 <= low <= found.auc <= high <= 1


def test_the_error_bound_worked_by_hand():
    # all four in one bucket: each of the 4 pairs may be won or lost, so ½ ± ½
    scores = np.array([1.0, 1.0 + 2**-20, 1.0 + 2**-19, 1.0 + 2**-18])
    found = histogram_of(scores, np.array([True, False, True, False]))
    assert found.auc == 0.5
    assert found.auc_bounds == (0.0, 1.0)
    # one pair of four shares a bucket: ½ · 1/4 on either side
    scores = np.array([3.0, 1.0, 1.0 + 2**-20, 0.5])
    found = histogram_of(scores, np.array([True, True, False, False]))
    assert found.auc == 0.875
    assert found.auc_bounds == (0.75, 1.0)
    assert not found.exact
    assert not found.complete


def test_histograms_add_up():
    rng = np.random.default_rng(0)
    scores, positive = rng.normal(size=200), rng.random(200) < 0.5
    whole = histogram_of(scores, positive)
    other = ScoreHistogram()
    other.add(scores[:80], positive[:80])
    SHARED.counts[:] = 0
    SHARED.rows = 0
    SHARED.add(scores[80:], positive[80:])
    SHARED.merge(other)
    assert SHARED.rows == 200
    assert str(SHARED.ranking().summary) == str(whole.summary)


def test_the_lowest_rows_are_let_go_of_and_stay_counted():
    rng = np.random.default_rng(6)
    positive = rng.random(90_000) < 0.3
    scores = rng.normal(size=90_000) + positive
    parts = [(scores[at : at + 30_000], positive[at : at + 30_000]) for at in (0, 30_000, 60_000)]
    tally = ScoreTally(runs=[as_run([part]) for part in parts], rows=90_000)
    assert tally.may_be_read_again(90_000)
    assert not tally.may_be_read_again(2**31)
    for limit in (60_000, 45_000, 50_000):
        tally.hold_at_most(limit)
        held = sum(len(run.low) for run in tally.runs)
        assert 40_000 < held <= limit
        assert sum(run.rows for run in tally.runs) == 90_000
        assert {run.held for run in tally.runs} == {tally.held}
    tally.read_again = lambda buckets: [as_run([part], buckets) for part in parts]
    assert_same(tally.ranking(), rank(scores, positive))
    assert tally.runs == []
