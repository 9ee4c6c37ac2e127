import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics

from truerisk.inputs.arrays import code_label_sets, code_labels
from truerisk.measures import find_measure
from truerisk.tallies.cells import CellTally, Rejections

SCIKIT_LEARN = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "matthews_correlation": metrics.matthews_corrcoef,
    "cohen_kappa": metrics.cohen_kappa_score,
}


def counts_of(y_true, y_pred):
    coded = code_labels(y_true, y_pred)
    return CellTally().add(coded.truth, coded.predicted).cells(coded.members).class_counts()


def value_of(name, counts):
    return float(find_measure(name).value(counts))


def test_three_classes_worked_by_hand():
    # Truth a 5, b 3, c 2; predicted a 4, b 4, c 2; right: a 4, b 2, c 1, that is 7 of 10.
    counts = counts_of(list("aaaaabbbcc"), list("aaaabbbccb"))
    assert counts.tp.tolist() == [4, 2, 1]
    assert value_of("accuracy", counts) == 0.7
    assert value_of("error_rate", counts) == 0.3
    assert value_of("balanced_accuracy", counts) == pytest.approx((4 / 5 + 2 / 3 + 1 / 2) / 3)
    by_chance = 5 * 4 + 3 * 4 + 2 * 2  # Σ t·p = 36 of n² = 100
    assert value_of("cohen_kappa", counts) == pytest.approx((70 - by_chance) / (100 - by_chance))
    spread = (100 - (16 + 16 + 4)) * (100 - (25 + 9 + 4))
    correlation = (70 - by_chance) / math.sqrt(spread)
    assert value_of("matthews_correlation", counts) == pytest.approx(correlation)


def test_the_hamming_loss_of_label_sets_by_hand():
    # {a,b} called {a}: 1 wrong; {c} called {b,c}: 1 wrong; {a} called {a}: 0; of 3 × 3 decisions
    coded = code_label_sets([{"a", "b"}, {"c"}, {"a"}], [{"a"}, {"b", "c"}, {"a"}])
    cells = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    assert value_of("hamming_loss", cells.class_counts()) == pytest.approx(2 / 9)
    assert value_of("accuracy", cells.class_counts()) == pytest.approx(1 / 3)


def test_the_rejection_rate_is_a_share_of_all_examples():
    assert value_of("rejection_rate", Rejections(3, 12)) == 0.25
    assert math.isnan(value_of("rejection_rate", Rejections(0, 0)))


def test_one_class_alone_has_neither_correlation_nor_kappa():
    counts = counts_of([1, 1], [1, 1])
    assert math.isnan(value_of("matthews_correlation", counts))
    assert math.isnan(value_of("cohen_kappa", counts))
    assert value_of("balanced_accuracy", counts) == 1.0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=50))
def test_multiclass_values_agree_with_scikit_learn(rows):
    y_true, y_pred = (np.array(column) for column in zip(*rows, strict=True))
    assume(len(set(y_true)) > 1 and len(set(y_pred)) > 1)
    coded = code_labels(y_true, y_pred)
    counts = CellTally().add(coded.truth, coded.predicted).cells(coded.members).class_counts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a predicted class that never occurs: both leave it out
        for name in ("accuracy", "balanced_accuracy", "matthews_correlation", "cohen_kappa"):
            ours = float(find_measure(name).value(counts))
            assert ours == pytest.approx(SCIKIT_LEARN[name](y_true, y_pred), abs=1e-12), name
