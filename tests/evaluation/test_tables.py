import numpy as np
import pytest

import truerisk as tr
from truerisk.errors import InputError


def test_a_table_is_worth_the_examples_it_counts():
    table = np.array([[50, 50], [40, 850]])
    truth, predicted = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], table.ravel(), axis=0).T
    by_table = tr.evaluate_counts(table, random_state=1)
    by_rows = tr.evaluate(truth, predicted, random_state=1)
    assert by_table.to_dict() == by_rows.to_dict()


def test_a_trillion_examples_are_counted_like_ten():
    evaluation = tr.evaluate_counts([[10**12 - 5, 5], [1, 10**12]], random_state=1)
    assert evaluation["recall"].value == 1 - 5e-12
    assert evaluation["recall"].interval.high < 1
    assert evaluation["gmean"].interval.width < 1e-10


def test_three_classes_have_names():
    evaluation = tr.evaluate_counts([[5, 1, 0], [0, 4, 2], [1, 0, 3]], labels=["a", "b", "c"])
    assert evaluation.by_class["b"]["recall"].value == pytest.approx(4 / 6)
    assert evaluation.tallies.confusion().tolist() == [[5, 1, 0], [0, 4, 2], [1, 0, 3]]


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        ([[1, 2]], None, r"must be K × K with K ≥ 2; got shape \(1, 2\)"),
        ([[1, -2], [3, 4]], None, "whole numbers"),
        ([[1.5, 2], [3, 4]], None, "whole numbers"),
        ([[2**53, 2], [3, 4]], None, r"at most 2\*\*53 examples"),
        ([[0, 0], [0, 0]], None, "at least one example"),
        ([[1, 2], [3, 4]], ["a", "a"], "must be 2 different names"),
    ],
)
def test_a_table_that_counts_nothing_is_refused(table, labels, message):
    with pytest.raises(InputError, match=message):
        tr.evaluate_counts(table, labels=labels)


def test_classes_of_which_nothing_was_asked_are_not_listed():
    table = [[5, 1, 0], [0, 4, 2], [1, 0, 3]]
    assert tr.evaluate_counts(table, measures=("cohen_kappa",)).by_class == {}
    assert list(tr.evaluate_counts(table, measures=("f1_macro",)).by_class) == ["0", "1", "2"]
