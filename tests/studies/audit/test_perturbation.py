import inspect
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from studies.audit import perturbation as study
from studies.audit.pages import DEFAULT
from studies.audit.perturbation import (
    FORMS,
    INTERVALS,
    PerturbationCell,
    all_cells,
    coverage_of,
    measure_cells,
    plane_error,
    run_sample,
)
from truerisk import LinearSVM, perturbation

CELL = PerturbationCell(classifier="linear", n=50, d=2, error=0.3)


def test_coverage_by_hand():
    ends = np.zeros((4, len(INTERVALS), 2))
    ends[:, 0] = [[0.1, 0.3], [0.1, 0.2], [0.25, 0.4], [0.0, 0.5]]
    rows = coverage_of(CELL, ends, np.array([0.3, 0.25, 0.2, 0.35]), replicates=100)
    # The learner's error is 0.275.
    assert rows[0].truth == pytest.approx(0.275)
    assert (rows[0].of_model, rows[0].of_learner) == (0.5, 0.75)
    assert rows[0].width == pytest.approx((0.2 + 0.1 + 0.15 + 0.5) / 4)
    assert (rows[1].of_model, rows[1].width) == (0.0, 0.0)


def test_the_default_of_the_page_is_that_of_perturbation():
    defaults = inspect.signature(perturbation).parameters
    assert FORMS[DEFAULT] == defaults["interval"].default
    assert DEFAULT.startswith(defaults["losses"].default.replace("_", "-"))


def test_a_sample_gets_the_intervals_that_users_get():
    ends, truth = run_sample(CELL, 0, 100)
    rng = CELL.stream(0, 0)
    X, y = CELL.draw(50, rng)
    user = perturbation(LinearSVM(), X, y, replicates=100, random_state=rng)
    at = {name: tuple(own) for name, own in zip(INTERVALS, ends.tolist(), strict=True)}
    for name, form in FORMS.items():
        assert at[name] == (user.forms[form].low, user.forms[form].high)
    assert at["exact binomial"] == (user.forms["exact"].low, user.forms["exact"].high)
    assert 0.3 <= truth < 0.5


def test_the_published_form_is_as_printed():
    ends, _ = run_sample(CELL, 0, 100)
    rng = CELL.stream(0, 0)
    X, y = CELL.draw(50, rng)
    user = perturbation(LinearSVM(), X, y, replicates=100, losses="training", random_state=rng)
    low, high = np.quantile(user.replicates, [0.025, 0.975])
    assert ends[0] == pytest.approx([user.value - high, user.value - low])


def test_blocks_are_stored_and_more_samples_use_them(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "BLOCK", 2)
    settings = {"replicates": 100, "folder": tmp_path}
    [(_, short)] = measure_cells([CELL], samples=2, **settings)
    run = study.run_sample
    drawn = []

    def counted(cell, at, replicates):
        drawn.append(at)
        return run(cell, at, replicates)

    monkeypatch.setattr(study, "run_sample", counted)
    [(cell, long)] = measure_cells([CELL], samples=3, **settings)
    assert cell == CELL
    assert drawn == [2, 3]
    assert (short[0].samples, long[0].samples) == (2, 3)
    assert len(list(tmp_path.iterdir())) == 2


NORMAL_CELL = PerturbationCell(classifier="linear", n=100, d=3, error=0.15)


@pytest.mark.parametrize(("w", "b"), [([1.0, 1.0, 1.0], 0.0), ([1.0, -0.4, 2.0], 0.7)])
def test_the_exact_error_of_a_plane_is_what_counting_gives(w, b):
    X, y = NORMAL_CELL.draw(400_000, np.random.default_rng(1))
    counted = np.mean((X @ w + b > 0) != y)
    assert plane_error(np.array(w), b, NORMAL_CELL) == pytest.approx(counted, abs=0.0025)


def test_the_error_of_a_plane_by_hand():
    # With d = 1 and w = 1 the means are ±m; a bias of m errs on half of the negatives.
    cell = replace(NORMAL_CELL, d=1)
    expected = (ndtr(-2 * cell.shift) + 0.5) / 2
    assert plane_error(np.array([1.0]), cell.shift, cell) == pytest.approx(expected)


def test_a_plane_without_direction_errs_on_half():
    assert plane_error(np.zeros(3), 0.3, NORMAL_CELL) == 0.5


@pytest.mark.parametrize("features", ["normal", "exponential"])
def test_features_have_unit_spread_and_the_means_told(features):
    X, y = replace(NORMAL_CELL, features=features).draw(200_000, np.random.default_rng(2))
    assert X[y].mean(axis=0) == pytest.approx(np.full(3, NORMAL_CELL.shift), abs=0.015)
    assert X[~y].mean(axis=0) == pytest.approx(np.full(3, -NORMAL_CELL.shift), abs=0.015)
    assert X[y].std(axis=0) == pytest.approx(np.ones(3), abs=0.02)


def test_every_classifier_sees_the_same_samples():
    linear, rbf = (replace(NORMAL_CELL, classifier=name) for name in ("linear", "rbf"))
    first, second = (cell.draw(100, cell.stream(0, 7))[0] for cell in (linear, rbf))
    assert np.array_equal(first, second)


def test_an_error_that_has_no_formula_is_counted():
    cell = replace(NORMAL_CELL, features="exponential")
    X, y = cell.draw(200, cell.stream(0, 0))
    fitted = cell.model().fit(X, y)
    fresh, truth = cell.draw(20_000, cell.stream(1))
    assert cell.true_error(fitted) == np.mean(fitted.predict(fresh) != truth)


def test_the_grid_is_the_one_that_is_asked_for():
    cells = all_cells()
    assert len(cells) == len(set(cells)) == len({cell.file_name for cell in cells})
    plain = [c for c in cells if (c.classifier, c.features, c.C) == ("linear", "normal", 1.0)]
    assert len(plain) == 4 * 3 * 3
    assert {cell.classifier for cell in cells} == {"linear", "rbf", "cubic", "logistic"}
    assert {cell.C for cell in cells} == {0.01, 1.0, 100.0}
