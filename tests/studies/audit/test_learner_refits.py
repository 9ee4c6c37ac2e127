import dataclasses

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB

from studies.audit import learner_refits
from studies.audit.learner_problems import PROBLEMS
from studies.audit.learner_refits import (
    FURTHER_INTERVALS,
    LEARNERS,
    SAMPLE,
    Cell,
    conservative_z,
    cross_validated_losses,
    divided,
    find_problem,
    further_ends,
    is_affordable,
    nested,
    refit_predictions,
    refits_of,
    run_cell,
    stream,
    train,
)
from truerisk.errors import InputError
from truerisk.estimation.refits.plans import NestedFolds
from truerisk.intervals.cross_validation import nested_cells, nested_interval

CELL = Cell(problem="overlapping", n=60, learner="linear discriminant", samples=3, fresh=200_000)
CRESCENT = Cell(problem="crescent", n=50, learner="naive Bayes", samples=2, fresh=1000)


def test_losses_are_those_of_scikit_learn_on_the_same_folds():
    rng = np.random.default_rng(1)
    X, y = PROBLEMS[1].draw(80, rng)
    parts = np.stack([rng.permutation(80) % 4 for _ in range(2)])
    found = cross_validated_losses("linear discriminant", X, y, parts, 4, rng)
    for division, losses in zip(parts, found, strict=True):
        folds = PredefinedSplit(division)
        expected = cross_val_predict(LinearDiscriminantAnalysis(), X, y, cv=folds) != y
        np.testing.assert_array_equal(losses, expected)


def test_every_learner_sees_the_same_samples_in_the_same_folds():
    cells = [dataclasses.replace(CELL, learner=name, fresh=1000) for name in LEARNERS]
    found = [run_cell(cell) for cell in cells]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].parts, other.parts)
        np.testing.assert_array_equal(found[0].positive, other.positive)
        assert (found[0].losses != other.losses).any()


def test_folds_are_stratified():
    found = run_cell(dataclasses.replace(CELL, fresh=1000))
    for sample, y in zip(found.parts, found.positive, strict=True):
        for division in sample:
            counts = np.bincount(division[y], minlength=10)
            assert np.ptp(counts) <= 1
            assert np.ptp(np.bincount(division, minlength=10)) == 0


def test_the_truth_is_that_of_the_formula():
    rare = dataclasses.replace(CELL, problem="one in ten positive")
    problem = find_problem(rare.problem)
    found = run_cell(rare)
    for at, error in enumerate(found.errors):
        rng = stream(rare, SAMPLE, rare.n, at)
        model = train(rare.learner, *problem.draw(rare.n, rng), rng)
        exact = problem.linear_error(model.coef_[0], float(model.intercept_[0]))
        assert error == pytest.approx(exact, abs=0.003)
    assert found.prevalence == pytest.approx(0.1, abs=0.003)
    assert (found.truth > 0).all()


def test_a_third_is_held_out_of_the_training():
    found = run_cell(dataclasses.replace(CELL, fresh=1000))
    for at, (wrong, tested) in enumerate(found.held_out.tolist()):
        rng = stream(CELL, SAMPLE, CELL.n, at)
        X, y = find_problem(CELL.problem).draw(CELL.n, rng)
        *_, thirds = [divided(y, parts, rng) for parts in (10, 10, 10, 10, 10, 3)]
        train, test = thirds > 0, thirds == 0
        called = LinearDiscriminantAnalysis().fit(X[train], y[train]).predict(X[test])
        assert (wrong, tested) == (np.count_nonzero(called != y[test]), 20)


def test_a_cell_that_is_done_is_read_and_not_run_again(tmp_path, monkeypatch):
    first = refits_of(CELL, tmp_path / "new")
    monkeypatch.setattr(learner_refits, "run_cell", lambda _: pytest.fail("was run again"))
    again = refits_of(CELL, tmp_path / "new")
    for field in dataclasses.fields(first):
        one, other = getattr(first, field.name), getattr(again, field.name)
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
    assert [path.name for path in (tmp_path / "new").iterdir()] == [f"{CELL.file_name}.npz"]


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="`learner` must be one of linear discriminant, naive"):
        run_cell(dataclasses.replace(CELL, learner="oracle"))
    with pytest.raises(InputError, match="`problem` must be one of well separated"):
        run_cell(dataclasses.replace(CELL, problem="life"))


@pytest.fixture
def sample():
    return PROBLEMS[5].draw(60, np.random.default_rng(1))


def test_nested_cross_validation_is_that_of_refits_one_by_one(sample, monkeypatch):
    X, y = sample
    monkeypatch.setattr(learner_refits, "NESTED_REPEATS", 1)
    seen = {}

    def remembered(table, parts, level):
        seen.update(table=table, parts=parts)
        return nested_interval(table, parts, level=level)

    monkeypatch.setattr(learner_refits, "nested_interval", remembered)
    assert nested("naive Bayes", X, y, np.random.default_rng(2)) is not None
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

    class Remembered(learner_refits.ConservativeZRuns):
        def arrange(self, values):
            seen.update(runs=self, values=values)
            return super().arrange(values)

    monkeypatch.setattr(learner_refits, "ConservativeZRuns", Remembered)
    learner_refits._runs.cache_clear()  # noqa: SLF001  (holds runs of the true class)
    assert conservative_z("naive Bayes", X, y, np.random.default_rng(2)) is not None
    learner_refits._runs.cache_clear()  # noqa: SLF001
    X, y = np.concatenate([X[~y], X[y]]), np.sort(y)
    np.testing.assert_array_equal(seen["runs"].strata, y)
    for at in (0, 14, 15, 314):
        train, test = seen["runs"].train_and_test(at)
        wrong = GaussianNB().fit(X[train], y[train]).predict(X[test]) != y[test]
        assert seen["values"][at] == pytest.approx(wrong.mean())


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_training_set_without_positives_predicts_all_negative(learner):
    rng = np.random.default_rng(1)
    X, y = PROBLEMS[0].draw(30, rng)
    trained_on = np.array([[True, False]])
    parts = y.astype(np.int64)[np.newaxis]
    assert not refit_predictions(learner, X, y, parts, trained_on, rng)[0, 0, y].any()


def test_a_cell_has_the_intervals_it_can_afford():
    tree = dataclasses.replace(CRESCENT, learner="decision tree", n=1000)
    for name in FURTHER_INTERVALS:
        assert is_affordable(CRESCENT, name)
        assert not is_affordable(tree, name)
    assert further_ends(tree, None) == {}


def test_the_ends_are_kept(tmp_path, monkeypatch):
    first = further_ends(CRESCENT, tmp_path)
    assert {name: ends.shape for name, ends in first.items()} == dict.fromkeys(
        FURTHER_INTERVALS, (2, 2)
    )
    monkeypatch.setattr(learner_refits, "_run", lambda *_: pytest.fail("was run again"))
    again = further_ends(CRESCENT, tmp_path)
    assert list(again) == list(first)
    for name, ends in first.items():
        np.testing.assert_array_equal(ends, again[name])
