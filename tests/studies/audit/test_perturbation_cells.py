from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from studies.audit.perturbation_cells import PerturbationCell, all_cells, plane_error

CELL = PerturbationCell(machine="linear", n=100, d=3, error=0.15)


@pytest.mark.parametrize(("w", "b"), [([1.0, 1.0, 1.0], 0.0), ([1.0, -0.4, 2.0], 0.7)])
def test_the_exact_error_of_a_plane_is_what_counting_gives(w, b):
    X, y = CELL.draw(400_000, np.random.default_rng(1))
    counted = np.mean((X @ w + b > 0) != y)
    assert plane_error(np.array(w), b, CELL) == pytest.approx(counted, abs=0.0025)


def test_the_error_of_a_plane_by_hand():
    # With d = 1 and w = 1 the means are ±m; a bias of m errs on half of the negatives.
    cell = replace(CELL, d=1)
    expected = (ndtr(-2 * cell.shift) + 0.5) / 2
    assert plane_error(np.array([1.0]), cell.shift, cell) == pytest.approx(expected)


def test_a_plane_without_direction_errs_on_half():
    assert plane_error(np.zeros(3), 0.3, CELL) == 0.5


@pytest.mark.parametrize("features", ["normal", "exponential"])
def test_features_have_unit_spread_and_the_means_told(features):
    X, y = replace(CELL, features=features).draw(200_000, np.random.default_rng(2))
    assert X[y].mean(axis=0) == pytest.approx(np.full(3, CELL.shift), abs=0.015)
    assert X[~y].mean(axis=0) == pytest.approx(np.full(3, -CELL.shift), abs=0.015)
    assert X[y].std(axis=0) == pytest.approx(np.ones(3), abs=0.02)


def test_every_machine_sees_the_same_samples():
    linear, rbf = (replace(CELL, machine=name) for name in ("linear", "rbf"))
    first, second = (cell.draw(100, cell.stream(0, 7))[0] for cell in (linear, rbf))
    assert np.array_equal(first, second)


def test_an_error_that_has_no_formula_is_counted():
    cell = replace(CELL, features="exponential")
    X, y = cell.draw(200, cell.stream(0, 0))
    fitted = cell.model().fit(X, y)
    fresh, truth = cell.draw(20_000, cell.stream(1))
    assert cell.true_error(fitted) == np.mean(fitted.predict(fresh) != truth)


def test_the_grid_is_the_one_that_is_asked_for():
    cells = all_cells()
    assert len(cells) == len(set(cells)) == len({cell.file_name for cell in cells})
    plain = [c for c in cells if (c.machine, c.features, c.C) == ("linear", "normal", 1.0)]
    assert len(plain) == 4 * 3 * 3
    assert {cell.machine for cell in cells} == {"linear", "rbf", "cubic", "logistic"}
    assert {cell.C for cell in cells} == {0.01, 1.0, 100.0}
