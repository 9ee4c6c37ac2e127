import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from truerisk.inputs.arrays import code_label_sets, code_labels
from truerisk.measures import AVERAGES, find_measure
from truerisk.measures.averages import left_out, of_each_cell, value_of_tables
from truerisk.tallies.cells import CellTally

label_sets = st.sets(st.integers(0, 3))
PEERS = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
}


def counts_of(y_true, y_pred):
    coded = code_labels(y_true, y_pred)
    return CellTally().add(coded.truth, coded.predicted).cells(coded.members).class_counts()


def test_three_classes_averaged_by_hand():
    # a: TP 2 of 3 true, 2 predicted; b: TP 1 of 2 true, 3 predicted; c: TP 1 of 1 true, 1 predicted
    counts = counts_of(list("aaabbc"), list("aabbbc"))
    assert counts.tp.tolist() == [2, 2, 1]
    precision = find_measure("precision")
    assert AVERAGES["micro"].function(precision, counts, None, np.nan) == 5 / 6
    macro = AVERAGES["macro"].function(precision, counts, None, np.nan)
    assert macro == pytest.approx((2 / 2 + 2 / 3 + 1 / 1) / 3)
    weighted = AVERAGES["weighted"].function(precision, counts, None, np.nan)
    assert weighted == pytest.approx((3 * 1 + 2 * 2 / 3 + 1 * 1) / 6)


@given(st.lists(st.tuples(label_sets, label_sets), min_size=1, max_size=30))
def test_they_agree_with_scikit_learn_on_sets_of_labels(rows):
    rows = [({0, 1, 2, 3}, {0, 1, 2, 3}), *rows]  # no class is undefined
    truth, predicted = (
        [[x in one for x in range(4)] for one in side] for side in zip(*rows, strict=True)
    )
    truth, predicted = np.array(truth), np.array(predicted)
    coded = code_label_sets(truth, predicted)
    counts = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    for name, peer in PEERS.items():
        for average in AVERAGES.values():
            ours = average.function(find_measure(name), counts.class_counts(), None, np.nan)
            theirs = peer(truth, predicted, average=average.name)
            assert float(ours) == pytest.approx(theirs, abs=1e-12), (name, average.name)


def test_a_class_without_a_value_is_left_out_and_named():
    counts = counts_of(list("aabb"), list("aaaa"))
    precision = find_measure("precision")
    assert left_out(precision, counts).tolist() == [False, True]
    assert AVERAGES["macro"].function(precision, counts, None, np.nan) == 0.5
    assert AVERAGES["macro"].function(precision, counts, None, 0.0) == 0.25


def test_a_class_that_never_occurs_is_averaged_only_when_it_is_named():
    counts = counts_of(list("aab"), list("aac"))
    recall = find_measure("recall")
    assert AVERAGES["macro"].function(recall, counts, None, np.nan) == 0.5
    over = np.array([True, True, True])
    assert AVERAGES["macro"].function(recall, counts, over, 0.0) == pytest.approx(1 / 3)


def test_the_measure_of_single_examples():
    coded = code_label_sets([{"a", "b"}, {"a"}, set()], [{"b", "c"}, {"a"}, set()])
    cells = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    values = of_each_cell(find_measure("jaccard"), cells)
    assert sorted(values[~np.isnan(values)].tolist()) == pytest.approx([1 / 3, 1.0])
    assert np.isnan(values).sum() == 1


def test_a_measure_of_several_tables_by_hand():
    tables = np.array([[[8, 2], [1, 4]], [[9, 1], [5, 0]]])
    assert value_of_tables("recall", tables, pos_label=1).tolist() == [0.8, 0.0]
