import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, multilabel_confusion_matrix

from truerisk.errors import InputError
from truerisk.inputs.arrays import code_label_sets, code_labels
from truerisk.tallies.cells import Cells, CellTally, Design, LabelSets, SideBySide

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


def cells_of(y_true, y_pred, weight=None, group=None):
    coded = code_labels(y_true, y_pred)
    tally = CellTally(weighted=weight is not None, grouped=group is not None)
    tally.add(coded.truth, coded.predicted, weight=weight, group=group)
    return tally.cells(coded.members)


def test_a_table_counted_by_hand():
    # pos pos, pos neg, pos pos, neg pos, neg neg
    cells = cells_of(list("ppp") + list("nn"), list("pnp") + list("pn"))
    assert cells.labels == ("n", "p")
    assert cells.confusion().tolist() == [[1, 1], [1, 2]]
    each = cells.class_counts().one_vs_rest
    assert (each.tp[1], each.fp[1], each.fn[1], each.tn[1]) == (2, 1, 1, 1)


@given(pairs)
def test_it_is_the_confusion_matrix_of_scikit_learn(rows):
    rows = [(0, 1), *rows]
    y_true, y_pred = (np.array(column) for column in zip(*rows, strict=True))
    labels = sorted({*y_true, *y_pred})
    expected = confusion_matrix(y_true, y_pred, labels=labels)
    assert cells_of(y_true, y_pred).confusion().tolist() == expected.tolist()


@given(st.lists(st.tuples(st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc")))))
def test_label_sets_are_counted_as_scikit_learn_counts_them(rows):
    rows = [({"a"}, {"b"}), ({"c"}, set()), *rows]
    truth, predicted = zip(*rows, strict=True)
    coded = code_label_sets(truth, predicted)
    cells = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    indicators = [
        np.array([[x in one for x in "abc"] for one in side]) for side in (truth, predicted)
    ]
    expected = multilabel_confusion_matrix(*indicators)
    each = cells.class_counts().one_vs_rest
    found = np.array([[each.tn, each.fp], [each.fn, each.tp]]).transpose(2, 0, 1)
    assert found.tolist() == expected.tolist()


@given(pairs, st.integers(0, 60), st.booleans(), st.booleans())
def test_parts_merge_into_the_whole(rows, cut, weighted, grouped):
    y_true, y_pred = (np.array(column) for column in zip(*rows, strict=True))
    coded = code_labels(y_true, y_pred)
    weight = 0.1 + np.arange(len(rows)) % 7 / 3 if weighted else None
    group = np.arange(len(rows)) % 5 if grouped else None

    def tally(at):
        part = CellTally(weighted=weighted, grouped=grouped)
        return part.add(
            coded.truth[at],
            coded.predicted[at],
            weight=None if weight is None else weight[at],
            group=None if group is None else group[at],
        )

    backwards = tally(slice(cut, None)).merge(tally(slice(None, cut))).cells(coded.members)
    whole = tally(slice(None)).cells(coded.members)
    for name in ("totals", "squares"):
        first, second = getattr(backwards, name), getattr(whole, name)
        assert (first is None and second is None) or np.array_equal(first, second)
    for name in ("group", "cell", "value") if grouped else ():
        first, second = (getattr(one.by_group, name) for one in (backwards, whole))
        assert np.array_equal(first, second)
    assert backwards.n == whole.n == len(rows)


def test_many_labels_are_counted_like_few():
    rng = np.random.default_rng(0)
    y_true, y_pred = rng.integers(0, 300, (2, 5000))
    cells = cells_of(y_true, y_pred)
    labels = sorted({*y_true, *y_pred})
    expected = confusion_matrix(y_true, y_pred, labels=labels)
    assert np.array_equal(cells.confusion(), expected)


def test_a_large_design_is_sparse_and_gives_the_same_counts(monkeypatch):
    rng = np.random.default_rng(0)
    cells = cells_of(*rng.integers(0, 9, (2, 200)))
    dense = cells.class_counts()
    monkeypatch.setattr("truerisk.tallies.cells.DENSE_ENTRIES", 0)
    sparse = dataclasses.replace(cells).class_counts()
    assert np.array_equal(dense.tp, sparse.tp)
    assert np.array_equal(dense.predicted, sparse.predicted)
    assert dense.correct == sparse.correct


def test_weights_add_up_exactly():
    cells = cells_of([0, 0, 1], [0, 0, 1], weight=np.array([0.1, 0.2, 3.0]))
    assert cells.totals.tolist() == [0.1 + 0.2, 3.0]
    assert cells.effective_n == pytest.approx(3.3**2 / (0.01 + 0.04 + 9))


def test_groups_are_kept_apart():
    cells = cells_of([0, 1, 1, 1], [0, 1, 1, 0], group=np.array([7, 7, 3, 3]))
    (table,) = cells.by_group.features(np.eye(3))
    assert sorted(table.tolist()) == [[0, 1, 1], [1, 0, 1]]
    assert cells.by_group.sizes.tolist() == [2, 2]


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=40),
    order=st.randoms(use_true_random=False),
    weighted=st.booleans(),
)
def test_features_of_groups_are_those_of_a_table(rows, order, weighted):
    shuffled = order.sample(rows, len(rows))
    tables = []
    for one, name in ((rows, 1), (shuffled, -1)):  # neither order nor names of groups matter
        truth, predicted, group = np.array(one).T
        weight = 0.3 + truth / 7 + predicted / 11 if weighted else None
        cells = cells_of(truth, predicted, weight=weight, group=name * group)
        design = cells.design(np.arange(len(cells.totals)) % 3 - 1.0)
        for step in (1, 2**20):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("truerisk.tallies.cells.ENTRIES_AT_ONCE", step)
                tables.append(np.concatenate(list(cells.by_group.features(design))))
                patch.setattr("truerisk.tallies.cells.DENSE_ENTRIES", 0)
                large = cells.design(np.arange(len(cells.totals)) % 3 - 1.0)
                tables.append(np.concatenate(list(cells.by_group.features(large))))
    for table in tables[1:]:
        assert np.allclose(table, tables[0], rtol=1e-14, atol=1e-14)
    assert np.allclose(tables[0].sum(axis=0), cells.totals @ design)
    assert np.allclose(cells.by_group.sizes, tables[0][:, -2])
    assert len(tables[0]) == len({group for *_, group in rows})


def test_some_cells_keep_the_groups_that_have_them():
    cells = cells_of([0, 1, 1, 1], [0, 1, 1, 0], group=np.array([7, 7, 3, 3]))
    right = cells.only(cells.right)
    (table,) = right.by_group.features(np.eye(2))
    assert sorted(table.tolist()) == [[0, 1], [1, 1]]
    (alone,) = cells.only(cells.truth.has(0)).by_group.features(np.eye(1))
    assert alone.tolist() == [[1]]


def test_groups_of_a_class_are_counted_by_their_harmonic_mean():
    # Class 0 is in one group, class 1 in two equal ones: 2 / (1/1 + 1/2).
    cells = cells_of([0, 1, 1, 1], [0, 1, 1, 0], group=np.array([7, 7, 3, 7]))
    sizes = {7: 2, 3: 1}  # of class 1: 9 / 5 effective groups
    of_second = sum(sizes.values()) ** 2 / sum(size**2 for size in sizes.values())
    assert cells.by_group.class_units(cells.truth) == pytest.approx(2 / (1 + 1 / of_second))


@pytest.mark.parametrize("multilabel", [False, True])
def test_outcomes_of_all_classes_are_those_of_each(multilabel):
    rng = np.random.default_rng(0)
    if multilabel:
        coded = code_label_sets(*rng.integers(0, 2, (2, 80, 4)))
        cells = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    else:
        cells = cells_of(*rng.integers(0, 4, (2, 80)), weight=rng.random(80))
    every = cells.outcomes_by_class(cells.totals)
    for label in range(4):
        truth, predicted = cells.truth.has(label), cells.predicted.has(label)
        flags = (truth & predicted, predicted & ~truth, truth & ~predicted, ~truth & ~predicted)
        assert every[label] == pytest.approx([cells.totals[one].sum() for one in flags])


def test_a_class_of_every_example_leaves_no_true_negative():
    cells = cells_of([0, 0, 1], [1, 1, 1], weight=np.array([0.1, 0.2, 0.3]))
    assert cells.outcomes_by_class(cells.totals)[1, 3] == 0.0


def test_a_column_of_ids_is_refused_as_labels():
    coded = code_labels(np.arange(6), np.arange(6))
    tally = CellTally().add(coded.truth, coded.predicted)
    with pytest.raises(InputError, match=r"at most 5 classes; got 6\. A score or an id"):
        tally.cells(coded.members, max_classes=5)


def test_sets_of_labels_have_no_confusion_table():
    coded = code_label_sets([{"a"}], [{"a"}])
    cells = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    with pytest.raises(InputError, match="one label per example"):
        cells.confusion()


flags = st.integers(1, 6).flatmap(
    lambda k: st.lists(st.lists(st.booleans(), min_size=k, max_size=k), min_size=1, max_size=8)
)


@given(rows=flags, data=st.data())
def test_label_sets_are_their_table_of_flags(rows, data):
    table = np.array(rows)
    sets = LabelSets.of_flags(table)
    m, k = table.shape
    column, values = np.arange(1.0, m + 1), np.arange(1.0, k + 1)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    assert sets.sums(column).tolist() == (column @ table).tolist()
    assert sets.spread(values).tolist() == (table @ values).tolist()
    assert sets.sizes.tolist() == table.sum(axis=1).tolist()
    assert sets.has(k - 1).tolist() == table[:, k - 1].tolist()
    assert sets.only(chosen).sums(np.ones(chosen.sum())).tolist() == table[chosen].sum(0).tolist()
    twice = sets.followed_by(sets)
    assert twice.spread(values).tolist() == [*(table @ values), *(table @ values)]
    alike = sets.numbers[:, None] == sets.numbers
    assert alike.tolist() == (table[:, None] == table).all(axis=2).tolist()


@given(rows=flags, shift=st.integers(0, 5))
def test_a_design_that_is_not_written_out_is_its_matrix(rows, shift):
    truth = np.array(rows)
    predicted = np.roll(truth, shift, axis=0)
    m, k = truth.shape
    cells = Cells(
        labels=tuple(map(str, range(k))),
        truth=LabelSets.of_flags(truth),
        predicted=LabelSets.of_flags(predicted),
        totals=np.arange(m),
        rows=np.arange(m),
        multilabel=True,
    )
    matrix = cells.design(np.arange(m) / 2.0)
    right = (truth == predicted).all(axis=1)
    overall = np.column_stack([right, np.ones(m), np.arange(m) / 2])
    expected = np.hstack([truth & predicted, truth, predicted, overall])
    assert matrix.tolist() == expected.tolist()
    design = Design(cells, overall)
    tables = np.arange(2.0 * m).reshape(2, m)
    slopes = np.arange(3.0 * k + 3)
    assert (tables @ design).tolist() == (tables @ expected).tolist()
    assert (design @ slopes).tolist() == (expected @ slopes).tolist()
    both = SideBySide(design, design)
    assert both.shape == (m, 6 * k + 6)
    assert (tables @ both).tolist() == np.hstack([tables @ expected] * 2).tolist()
    assert (both @ np.concatenate([slopes, slopes])).tolist() == (2 * expected @ slopes).tolist()


def test_many_classes_are_counted_by_what_occurs():
    rng = np.random.default_rng(1)
    truth, called = rng.integers(0, 3000, (2, 5000))
    called = np.where(rng.random(5000) < 0.7, truth, called)
    members = [(f"c{at:04d}",) for at in range(3000)]
    cells = CellTally().add(truth, called).cells(members)
    counts = cells.class_counts()
    labels = np.array(cells.labels)
    assert counts.tp.tolist() == [
        np.sum((truth == int(one[1:])) & (called == truth)) for one in labels
    ]
    table = cells.confusion()
    assert table.shape == (len(labels), len(labels))
    assert table.sum() == 5000
    assert table.diagonal().tolist() == counts.tp.tolist()


def test_mistakes_are_the_pairs_of_classes_that_are_confused():
    cells = (
        CellTally()
        .add(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 0, 1]))
        .cells([("a",), ("b",)])
    )
    true, called, totals = cells.mistakes()
    assert (true.tolist(), called.tolist(), totals.tolist()) == ([0, 1], [1, 0], [1, 2])
