import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.inputs.arrays import code_label_sets, code_labels
from truerisk.measures import find_measure
from truerisk.measures.costs import CostMatrix
from truerisk.tallies.cells import CellTally, ClassCounts


def cells_of(y_true, y_pred):
    coded = code_labels(y_true, y_pred)
    return CellTally().add(coded.truth, coded.predicted).cells(coded.members)


def cost_of(cells, costs):
    features = cells.totals @ cells.design(costs.of_cells(cells))
    return float(find_measure("cost").value(ClassCounts.from_features(features)))


def test_two_classes_by_hand():
    # 3 false negatives at 5 and 2 false positives at 1, among 10 examples: 17/10
    cells = cells_of([1] * 5 + [0] * 5, [0, 0, 0, 1, 1, 1, 1, 0, 0, 0])
    costs = CostMatrix.of({"fp": 1, "fn": 5}, cells.labels, pos_label="1")
    assert cost_of(cells, costs) == 1.7


def test_three_classes_by_pair_and_by_table():
    cells = cells_of(list("aabbcc"), list("abbcca"))
    pairs = {("a", "b"): 2, ("b", "c"): 3, ("c", "a"): 5}
    table = [[0, 2, 0], [0, 0, 3], [5, 0, 0]]
    assert cost_of(cells, CostMatrix.of(pairs, cells.labels, None)) == pytest.approx(10 / 6)
    assert cost_of(cells, CostMatrix.of(table, cells.labels, None)) == pytest.approx(10 / 6)


def test_unit_costs_are_the_error_rate():
    rng = np.random.default_rng(0)
    cells = cells_of(*rng.integers(0, 4, (2, 100)))
    costs = CostMatrix.of(1 - np.eye(4), cells.labels, None)
    assert cost_of(cells, costs) == float(find_measure("error_rate").value(cells.class_counts()))
    assert costs.measure_range == (0.0, 1.0)


@pytest.mark.parametrize(
    ("costs", "labels", "message"),
    [
        ({"fp": 1}, "abc", "pairs of labels when there are 3 classes"),
        ({("a", "x"): 1}, "ab", r"pairs of the labels a, b; got \('a', 'x'\)"),
        ([[0, 1]], "ab", r"a 2 × 2 table, .* got shape \(1, 2\)"),
        ({"fp": np.nan}, "ab", "must be finite"),
    ],
)
def test_costs_that_say_nothing_are_refused(costs, labels, message):
    with pytest.raises(InputError, match=message):
        CostMatrix.of(costs, tuple(labels), pos_label="a")


def test_sets_of_labels_have_no_costs():
    coded = code_label_sets([{"a"}], [{"b"}])
    cells = CellTally().add(coded.truth, coded.predicted).cells(coded.members, multilabel=True)
    with pytest.raises(InputError, match="must not be given for sets of labels"):
        CostMatrix.of(np.zeros((2, 2)), ("a", "b"), None).of_cells(cells)


def test_what_is_right_costs_nothing_and_a_pair_is_truth_then_prediction():
    # 1 false negative, 1 false positive, 6 right: 5 + 1 of 8
    cells = cells_of([1] * 4 + [0] * 4, [1, 1, 1, 0, 0, 0, 0, 1])
    costs = CostMatrix.of({"fp": 1, "fn": 5}, cells.labels, pos_label="1")
    assert cost_of(cells, costs) == 6 / 8
    by_pair = CostMatrix.of({("1", "0"): 5, ("0", "1"): 1}, cells.labels, pos_label="1")
    assert by_pair.values.tolist() == costs.values.tolist() == [[0, 1], [5, 0]]
