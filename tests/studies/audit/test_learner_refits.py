import dataclasses

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from studies.audit import learner_refits
from studies.audit.learner_problems import PROBLEMS
from studies.audit.learner_refits import (
    SAMPLE,
    Cell,
    cross_validated_losses,
    divided,
    find_problem,
    kept_or_run,
    learners,
    run_cell,
    stream,
)
from truerisk.errors import InputError

CELL = Cell(
    problem="overlapping", n=60, learner="linear discriminant", repetitions=3, fresh=200_000
)


def test_losses_are_those_of_scikit_learn_on_the_same_folds():
    rng = np.random.default_rng(1)
    X, y = PROBLEMS[1].draw(80, rng)
    parts = np.stack([rng.permutation(80) % 4 for _ in range(2)])
    learner = learners()["linear discriminant"]
    found = cross_validated_losses(learner, X, y, parts, 4, rng)
    for division, losses in zip(parts, found, strict=True):
        folds = PredefinedSplit(division)
        expected = cross_val_predict(LinearDiscriminantAnalysis(), X, y, cv=folds) != y
        np.testing.assert_array_equal(losses, expected)


def test_every_learner_sees_the_same_samples_in_the_same_folds():
    cells = [dataclasses.replace(CELL, learner=name, fresh=1000) for name in learners()]
    found = [run_cell(cell) for cell in cells]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].parts, other.parts)
        np.testing.assert_array_equal(found[0].pos_label, other.pos_label)
        assert (found[0].losses != other.losses).any()


def test_folds_are_stratified():
    found = run_cell(dataclasses.replace(CELL, fresh=1000))
    for sample, y in zip(found.parts, found.pos_label, strict=True):
        for division in sample:
            counts = np.bincount(division[y], minlength=10)
            assert np.ptp(counts) <= 1
            assert np.ptp(np.bincount(division, minlength=10)) == 0


def test_the_truth_is_that_of_the_formula():
    rare = dataclasses.replace(CELL, problem="one in ten positive")
    problem, learner = find_problem(rare.problem), learners()[rare.learner]
    found = run_cell(rare)
    for at, error in enumerate(found.errors):
        rng = stream(rare, SAMPLE, rare.n, at)
        model = learner.train(*problem.draw(rare.n, rng), rng)
        exact = problem.linear_error(model.weights[0, 0], float(model.constants[0, 0]))
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
    first = kept_or_run(CELL, tmp_path / "new")
    monkeypatch.setattr(learner_refits, "run_cell", lambda _: pytest.fail("was run again"))
    again = kept_or_run(CELL, tmp_path / "new")
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
