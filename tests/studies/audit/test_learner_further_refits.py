import dataclasses

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from studies.audit import learner_further_refits
from studies.audit.learner_further_refits import (
    FURTHER_INTERVALS,
    conservative_z,
    further_ends,
    is_affordable,
    nested,
)
from studies.audit.learner_problems import PROBLEMS
from studies.audit.learner_refits import Cell, learners
from studies.audit.learner_rules import NaiveBayes
from truerisk.estimation.refits.plans import NestedFolds
from truerisk.intervals.cross_validation import nested_cells, nested_interval

CELL = Cell(problem="crescent", n=50, learner="naive Bayes", repetitions=2, fresh=1000)


@pytest.fixture
def sample():
    return PROBLEMS[5].draw(60, np.random.default_rng(1))


def test_nested_cross_validation_is_that_of_refits_one_by_one(sample, monkeypatch):
    X, y = sample
    monkeypatch.setattr(learner_further_refits, "NESTED_REPEATS", 1)
    seen = {}

    def remembered(table, parts, level):
        seen.update(table=table, parts=parts)
        return nested_interval(table, parts, level=level)

    monkeypatch.setattr(learner_further_refits, "nested_interval", remembered)
    assert nested(NaiveBayes(), X, y, np.random.default_rng(2)) is not None
    plan = NestedFolds(seen["parts"])
    expected = np.zeros((10, 60), dtype=bool)
    for at in range(len(plan)):
        train, test = plan.train_and_test(at)
        wrong = GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]
        rows, examples = nested_cells(plan.left_out(at)[1], seen["parts"][0])
        np.testing.assert_array_equal(examples, test)
        expected[rows, examples] = wrong
    np.testing.assert_array_equal(seen["table"][0], expected)


def test_the_conservative_z_is_that_of_refits_one_by_one(sample, monkeypatch):
    X, y = sample
    seen = {}

    class Remembered(learner_further_refits.ConservativeZRuns):
        def arrange(self, values):
            seen.update(runs=self, values=values)
            return super().arrange(values)

    monkeypatch.setattr(learner_further_refits, "ConservativeZRuns", Remembered)
    learner_further_refits._runs.cache_clear()  # noqa: SLF001  (holds runs of the true class)
    assert conservative_z(NaiveBayes(), X, y, np.random.default_rng(2)) is not None
    learner_further_refits._runs.cache_clear()  # noqa: SLF001
    X, y = np.concatenate([X[~y], X[y]]), np.sort(y)
    np.testing.assert_array_equal(seen["runs"].strata, y)
    for at in (0, 14, 15, 314):
        train, test = seen["runs"].train_and_test(at)
        wrong = GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]
        assert seen["values"][at] == pytest.approx(wrong.mean())


@pytest.mark.parametrize("learner", ["linear discriminant", "naive Bayes", "decision tree"])
def test_a_training_set_without_positives_calls_all_negative(learner):
    rng = np.random.default_rng(1)
    X, y = PROBLEMS[0].draw(30, rng)
    kept = np.array([[True, False]])
    calls = learners()[learner].calls(X, y, y.astype(np.int64)[np.newaxis], kept, rng)
    assert not calls[0, 0, y].any()


def test_a_cell_has_the_intervals_it_can_afford():
    tree = dataclasses.replace(CELL, learner="decision tree", n=1000)
    for name in FURTHER_INTERVALS:
        assert is_affordable(CELL, name)
        assert not is_affordable(tree, name)
    assert further_ends(tree, None) == {}


def test_the_ends_are_kept(tmp_path, monkeypatch):
    first = further_ends(CELL, tmp_path)
    assert {name: ends.shape for name, ends in first.items()} == dict.fromkeys(
        FURTHER_INTERVALS, (2, 2)
    )
    monkeypatch.setattr(learner_further_refits, "_run", lambda *_: pytest.fail("was run again"))
    again = further_ends(CELL, tmp_path)
    assert list(again) == list(first)
    for name, ends in first.items():
        np.testing.assert_array_equal(ends, again[name])
