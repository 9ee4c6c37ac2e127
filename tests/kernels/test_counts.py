"""Counting and ranking: the compiled loops and their uncompiled twin give the same bits."""

import copy
import itertools

import numpy as np
import pytest

from truerisk.kernels import counts as compiled

BUCKETS = 2**16


@pytest.fixture(scope="module")
def uncompiled(twin):
    return twin("counts")


def same(compiled_function, uncompiled_function, *arguments):
    """Run both on copies; compare what they return and what they write."""
    first, second = copy.deepcopy(arguments), copy.deepcopy(arguments)
    assert compiled_function(*first) == uncompiled_function(*second)
    for left, right in zip(first, second, strict=True):
        np.testing.assert_array_equal(left, right)
    return first


def test_words_below_a_bound(uncompiled):
    # 2³² mod 3 = 1: of the words whose product with 3 ends in 0 one leads to a number too many
    words = np.array([0, 1, 2**31, 2**32 - 1], np.uint32)
    room = np.zeros(4, np.uint32)
    _, _, draws = same(compiled.bound_words, uncompiled.bound_words, words, 3, room)
    assert compiled.bound_words(words, 3, room) == 3
    np.testing.assert_array_equal(draws[:3], [0, 1, 2])


def test_draws(uncompiled):
    # Of the examples 0 to 4, of kinds 0 1 0 1 1, the draw 1 1 2 4 1 leaves 0 and 3; then all of 0
    draws = np.array([[1, 1, 2, 4, 1], [0, 0, 0, 0, 0]], np.uint32)
    order, first = np.array([0, 2, 1, 3, 4]), np.array([0, 2, 5])
    room = np.full((2, 2), -1.0), np.full((2, 2), -1.0), np.full(5, 9, np.uint32)
    _, _, _, drawn, left, _ = same(
        compiled.count_draws, uncompiled.count_draws, draws, order, first, *room
    )
    np.testing.assert_array_equal(drawn, [[1, 4], [5, 0]])
    np.testing.assert_array_equal(left, [[1, 1], [1, 3]])


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32])
def test_pairs(uncompiled, kind):
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 5, size=(2, 80)).astype(kind)
    table = np.zeros(9, dtype=np.int64)
    same(compiled.count_pairs, uncompiled.count_pairs, first, second, 1, 0, 3, 3, table)
    outside = compiled.count_pairs(first, second, 1, 0, 3, 3, table)
    assert outside == 80 - table.sum()
    assert table.reshape(3, 3)[1, 2] == np.sum((first == 2) & (second == 2))


def test_pairs_below_the_table_are_outside():
    first, second = np.array([0, 1, 2, -1]), np.array([1, 1, 0, 0])
    table = np.zeros(4, dtype=np.int64)
    assert compiled.count_pairs(first, second, 0, 0, 2, 2, table) == 2
    assert table.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64])
def test_ones(uncompiled, kind):
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 2, size=(2, 90)).astype(kind)
    same(compiled.count_ones, uncompiled.count_ones, first, second)
    ones = int(first.sum()), int(second.sum()), int((first & second).sum())
    assert compiled.count_ones(first, second) == (*ones, 1)
    first[-1] = -2
    assert compiled.count_ones(first, second)[3] < 0


def scores_of(kind, rng, n):
    special = [np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40]
    scores = np.concatenate([special, np.round(rng.normal(size=n), 2), rng.normal(size=n)])
    return scores.astype(kind)


def test_buckets(uncompiled):
    rng = np.random.default_rng(2)
    exact = scores_of(np.float64, rng, 40)
    narrow = exact.astype(np.float32)
    labels = (rng.random(len(narrow)) < 0.4).view(np.uint8)
    counts = np.zeros(2**25, dtype=np.int64)
    for rounded in (np.zeros(1, dtype=np.uint8), (narrow > exact).view(np.uint8)):
        arguments = narrow.view(np.uint32), rounded, labels
        compiled.count_buckets(*arguments, counts)
        used = np.flatnonzero(counts)
        once = counts[used]
        counts[used] = 0
        uncompiled.count_buckets(*arguments, counts)
        np.testing.assert_array_equal(counts[used], once)
        assert counts.sum() == once.sum() == len(narrow)
        counts[used] = 0


@pytest.mark.parametrize(
    ("suffix", "kinds"),
    [
        ("narrow", (np.float32, np.uint32, np.uint16)),
        ("wide", (np.float64, np.uint64, np.uint64)),
    ],
)
@pytest.mark.parametrize(("spread", "rows"), [(1.0, 1100), (1e-4, 1100), (1e-3, 9000)])
def test_ranking(uncompiled, suffix, kinds, spread, rows):
    kind, bits, low_kind = kinds
    rng = np.random.default_rng(3)
    scores = np.concatenate([scores_of(kind, rng, 150), 1 + spread * rng.random(rows).astype(kind)])
    labels = (rng.random(len(scores)) < 0.4).view(np.uint8)

    def both(name, *arguments):
        pair = getattr(compiled, f"{name}_{suffix}"), getattr(uncompiled, f"{name}_{suffix}")
        return same(*pair, *arguments)

    *_, counts = both("count", scores.view(bits), labels, np.zeros(2 * BUCKETS, dtype=np.int64))
    starts = np.concatenate([[0], np.cumsum(counts)])
    place, low = starts[:-1].copy(), np.zeros(len(scores), dtype=low_kind)
    *_, low = both("scatter", scores.view(bits), labels, place, low)
    by_label = counts.reshape(-1, 2)[:, ::-1]
    totals = by_label.sum(axis=0)
    buckets = np.flatnonzero(by_label.any(axis=1))[::-1].copy()
    above = totals - np.cumsum(by_label, axis=0)
    points = np.zeros((200, 3), dtype=np.uint64), np.zeros((300, 3), dtype=np.uint64)
    groups = starts, above, buckets, *totals.tolist()
    sums = np.zeros(7, dtype=np.int64), np.zeros(3)
    may_be_best = (rng.random(len(buckets)) < 0.8).view(np.uint8)
    best, gain = np.array([-1.0, np.inf, -1.0]), np.array([-(10**9)])
    peaks = np.zeros((3, 3), dtype=np.uint64), best, gain, np.zeros(11)
    swept = both("sweep", low, *groups, 50, 0.7, *sums, *points, may_be_best, *peaks)

    # The same sums, from the sorted distinct scores.
    distinct, at = np.unique(-scores, return_inverse=True)
    positives = np.bincount(at[labels == 1], minlength=len(distinct))
    negatives = np.bincount(at[labels == 0], minlength=len(distinct))
    tp, fp = np.cumsum(positives), np.cumsum(negatives)
    state, summed, full, thin = swept[8:12]
    assert state[2:4].tolist() == [negatives @ (2 * tp - positives), len(distinct)]
    placed = (fp[-1] - fp + negatives / 2) / fp[-1], (tp - positives / 2) / tp[-1]
    squares = (positives @ (placed[0] - 0.7) ** 2, negatives @ (placed[1] - 0.7) ** 2)
    np.testing.assert_allclose(summed, [positives @ (tp / (tp + fp)), *squares])
    np.testing.assert_array_equal(full[:, 1:], np.column_stack([tp, fp])[:200])
    reached = [tp * 50 // tp[-1], fp * 50 // fp[-1]]
    further = np.any([np.diff(one, prepend=0) > 0 for one in reached], axis=0)
    np.testing.assert_array_equal(thin[: state[5], 1:], np.column_stack([tp, fp])[further])
    keys = set(full[:, 0].tolist())
    assert {int(key) for key in swept[13][:, 0] if key >= min(keys)} <= keys


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64, np.uint8, np.uint32])
@pytest.mark.parametrize("table", [[7, -1], [4, 9, -1, 2]])
@pytest.mark.parametrize("code", [np.int8, np.int32])
def test_values_are_looked_up_in_a_table(uncompiled, kind, table, code):
    entries = np.array(table, dtype=code)
    values = np.random.default_rng(0).integers(3, 3 + len(table), size=60).astype(kind)
    out = np.zeros(60, dtype=code)
    *_, out = same(compiled.look_up, uncompiled.look_up, values, 3, entries, out)
    np.testing.assert_array_equal(out, entries[values - 3])
    for strange in (2, 3 + len(table), 100):
        values[-1] = strange
        assert compiled.look_up(values, 3, entries, np.zeros(60, dtype=code))


def test_cells_and_buckets_by_hand(uncompiled):
    # Two shares, three buckets of negatives and positives; the middle bucket is empty.
    counts = np.array([[1, 0, 0, 0, 2, 1], [0, 2, 0, 0, 1, 0]])
    room = np.zeros(7, dtype=np.uint32), np.zeros(7, dtype=np.uint32)
    places, cells, starts = same(compiled.place_cells, uncompiled.place_cells, counts, *room)
    assert compiled.place_cells(counts.copy(), *room) == 4
    assert cells[:4].tolist() == [0, 1, 4, 5]
    assert starts[:5].tolist() == [0, 1, 3, 6, 7]
    assert places.tolist() == [[0, 1, 3, 3, 3, 6], [1, 1, 3, 3, 5, 7]]
    wide, above, filled = (
        np.array([0, 1, 3, 3, 3, 6, 7]),
        np.empty((3, 2), np.int64),
        np.empty(3, np.int64),
    )
    assert compiled.stack_buckets(wide, above, filled) == (2, 3, 4)
    assert uncompiled.stack_buckets(wide, above.copy(), filled.copy()) == (2, 3, 4)
    assert above.tolist() == [[1, 3], [1, 3], [0, 0]]
    assert filled[:2].tolist() == [2, 0]


def test_cells_are_gathered_by_hand(uncompiled):
    # A run of the cells 4 (7 8), 6 (9) and 9 (5 5 5); cell 6 has two rows of another run already
    run, cells = np.array([7, 8, 9, 5, 5, 5], np.uint16), np.array([4, 6, 9], np.uint32)
    starts, place = np.array([0, 2, 3, 6], np.uint32), np.array([0, 2, 4, 5, 5, 5])
    *_, place, low = same(
        compiled.gather, uncompiled.gather, run, cells, starts, 4, place, np.zeros(8, np.uint16)
    )
    assert low.tolist() == [7, 8, 0, 0, 9, 5, 5, 5]
    assert place.tolist() == [2, 2, 5, 5, 5, 8]


def test_packed_rows_are_scattered_gathered_and_sorted(uncompiled):
    rng = np.random.default_rng(4)
    scores = np.concatenate([scores_of(np.float64, rng, 300), 1 + 1e-3 * rng.random(1500)])
    labels = (rng.random(len(scores)) < 0.4).view(np.uint8)
    bits, counts = scores.view(np.uint64), np.zeros(2 * BUCKETS, dtype=np.int64)
    compiled.count_wide(bits, labels, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    cells = np.flatnonzero(counts)
    middle, highest = int(cells[len(cells) // 2]) & ~1, int(cells[-1]) + 1
    before = int(starts[middle])
    low = np.zeros(3 * (len(scores) - before), dtype=np.uint16)
    arguments = bits, labels, middle, highest, before, starts[:-1].copy(), low
    *_, low = same(compiled.scatter_packed, uncompiled.scatter_packed, *arguments)

    held = cells[cells >= middle].astype(np.uint32)
    within = (starts[[*held, 2 * BUCKETS]] - before).astype(np.uint32)
    first = middle // 2
    buckets = BUCKETS - first
    sizes = np.diff(starts[middle::2])
    parts = np.where(sizes > 1000, 8, np.where(sizes > 10, 2, 1))
    shifts, bases = 48 - np.log2(parts).astype(np.int64), np.cumsum(parts) - parts
    assert len(shifts) == buckets
    table = held, within, first, shifts, bases
    *_, counted = same(
        compiled.count_parts, uncompiled.count_parts, low, *table, np.zeros(parts.sum(), np.int64)
    )
    assert counted.sum() == len(scores) - before
    place, rows = np.cumsum(counted) - counted, np.zeros(len(scores) - before, dtype=np.uint64)
    *_, ends, rows = same(compiled.gather_parts, uncompiled.gather_parts, low, *table, place, rows)
    np.testing.assert_array_equal(ends, np.cumsum(counted))
    rows, _ = same(compiled.sort_parts, uncompiled.sort_parts, rows, ends)
    # Within its bucket, a row is the lower 48 bits of its key, then its label.
    for begin, end in itertools.pairwise(np.concatenate([[0], np.cumsum(sizes)]).tolist()):
        assert (np.diff(rows[begin:end].astype(np.int64)) >= 0).all()
    assert int((rows & np.uint64(1)).sum()) == sum(counts[middle + 1 :: 2])


@pytest.mark.parametrize("distinct", [1, 3, 40, 5000])
def test_parts_of_many_ties_are_sorted(uncompiled, distinct):
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2**45, distinct).astype(np.uint64)[rng.integers(0, distinct, 3000)]
    ends = np.array([0, 20, 20, 45, 700, 3000])
    found, _ = same(compiled.sort_parts, uncompiled.sort_parts, rows, ends)
    for begin, end in itertools.pairwise(ends.tolist()):
        np.testing.assert_array_equal(found[begin:end], np.sort(rows[begin:end]))


def test_rows_outside_are_seen_in_every_block():
    first = np.zeros(9000, dtype=np.int16)
    first[8999] = 7
    table = np.zeros(4, dtype=np.int64)
    assert compiled.count_pairs(first, first, 0, 0, 2, 2, table) == 1
    assert table.tolist() == [8999, 0, 0, 0]
