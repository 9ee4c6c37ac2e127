import numpy as np
import pytest

from truerisk.estimation.corpus.category_machines import Machines
from truerisk.estimation.corpus.trained_categories import Trained

# a: documents 0-2; b: none; c: all of them; d: document 5.
TRUTH = np.array([[1, 1, 1, 0, 0, 0], [0] * 6, [1] * 6, [0, 0, 0, 0, 0, 1]], dtype=bool)
TEST_TRUTH = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)


def machines_of(categories=4, tested=3, **fields):
    given = {
        "flagged": np.zeros((2, categories, 6), dtype=bool),
        "left_out": np.zeros((categories, 0), dtype=bool),
        "decision": np.full((categories, tested), -1.0),
        "stable": np.ones(categories, dtype=bool),
        "gap": np.zeros(categories),
        "refits": np.zeros(categories, dtype=int),
        "ties": np.zeros(categories, dtype=int),
        "squared_radius": 1.0,
        "radius_rule": "unit length",
    }
    return Machines(**{**given, **fields})


@pytest.fixture
def trained():
    return Trained(
        names=("a", "b", "c", "d"), truth=TRUTH, test_truth=TEST_TRUTH, machines=machines_of()
    )


def test_what_cannot_be_told_from_the_rest_has_a_reason(trained):
    assert trained.reasons == (
        None,
        "no training document carries it",
        "every training document carries it",
        None,
    )


def test_averages_are_over_what_both_sides_have(trained):
    assert trained.averaged.tolist() == [True, False, False, False]
    alone = Trained(names=trained.names, truth=TRUTH, test_truth=None, machines=trained.machines)
    assert alone.averaged.tolist() == [True, False, False, True]
    assert alone.held_out(0.95) is None


def test_a_decision_of_exactly_0_is_no(trained):
    decision = np.zeros((4, 3))
    tested = Trained(
        names=trained.names,
        truth=TRUTH,
        test_truth=TEST_TRUTH,
        machines=machines_of(decision=decision),
    ).held_out(0.95)
    assert tested.by_class["a"]["recall"].value == 0.0
    assert tested.by_class["a"]["error_rate"].value == pytest.approx(1 / 3)


def test_the_facts_of_a_category(trained):
    first, second, third, last = trained.categories()
    assert (first.documents, first.test_documents, first.reason) == (3, 1, None)
    assert second.reason == "no training document carries it"
    assert third.documents == 6
    assert (last.name, last.test_documents) == ("d", 0)


def test_notes_name_what_is_in_no_average(trained):
    nothing, everything, untested = trained.notes()
    assert nothing == "Not estimated, as no training document carries it: 'b'."
    assert everything == "Not estimated, as every training document carries it: 'c'."
    assert untested.startswith("In no average, as no document held out carries it: 'd'. So both")
