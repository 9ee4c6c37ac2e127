"""The audit of intervals from refits: as `tr.estimate` gives them, and counted right."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from studies.audit.refit_populations import SYNTHETIC, population
from studies.audit.refits import (
    Cell,
    all_cells,
    collected_of,
    draw,
    estimates_of,
    measures_of,
    rows_of,
    run_cell,
    truth_of,
)
from truerisk.results import has_code


@pytest.mark.parametrize(
    ("name", "learner", "model"),
    [
        ("heavy tails", "linear discriminant", LinearDiscriminantAnalysis(solver="lsqr")),
        ("rare positives", "naive Bayes", GaussianNB()),
        ("three classes", "naive Bayes", GaussianNB()),
    ],
)
def test_the_intervals_are_those_of_estimate(name, learner, model):
    cell = Cell(population=name, n=90, learner=learner, samples=1)
    X, y, _ = draw(cell, 3)
    found = estimates_of(*collected_of(cell, X, y, 3))
    names = measures_of(int(y.max()) + 1)
    whole = tr.estimate(
        model, X, y, random_state=3, measures=names, allow_small_classes=True, n_jobs=1
    )
    assert set(found) == set(names)
    for measure, (value, interval, not_kept) in found.items():
        expected = whole[measure]
        assert not_kept == has_code(expected.notes, "not_kept_at_this_size"), measure
        assert value == pytest.approx(expected.value), measure
        ends = (expected.interval.low, expected.interval.high)
        assert (interval.low, interval.high) == pytest.approx(ends), measure


@pytest.mark.parametrize(
    ("name", "design"),
    [
        ("shifted groups", {"groups": 20, "repeats": 3, "folds": 5}),
        ("rings", {"repeats": 1}),
        ("rings", {"repeats": 5, "folds": 5}),
    ],
)
def test_other_refits_and_groups_are_those_of_estimate(name, design):
    cell = Cell(population=name, n=90, learner="naive Bayes", samples=1, **design)
    X, y, groups = draw(cell, 3)
    assert (groups is None) == (cell.groups == 0)
    found = estimates_of(*collected_of(cell, X, y, 3, groups))
    whole = tr.estimate(
        GaussianNB(), X, y, groups=groups, random_state=3, measures=measures_of(2), n_jobs=1,
        folds=cell.folds, repeats=cell.repeats, allow_small_classes=True,
    )  # fmt: skip
    for measure, (_, interval, not_kept) in found.items():
        expected = whole[measure].interval
        assert not_kept == has_code(whole[measure].notes, "not_kept_at_this_size"), measure
        assert interval.method == expected.method
        ends = (expected.low, expected.high)
        assert (interval.low, interval.high) == pytest.approx(ends), measure


def test_a_cell_counts_the_samples_that_are_covered():
    cell = Cell(population="rings", n=60, learner="naive Bayes", samples=3)
    arrays = run_cell(cell)
    rows = {row.measure: row for row in rows_of(cell, arrays)}
    assert list(rows) == list(measures_of(2))
    low, high, truth = (arrays[name][0] for name in ("low", "high", "truth"))
    assert rows["error_rate"].coverage == np.mean((low <= truth) & (truth <= high))
    assert rows["error_rate"].width == pytest.approx(np.mean(high - low))
    assert rows["error_rate"].method == "variance_components"


def test_the_truth_is_that_of_the_whole_population():
    y = np.array([0, 0, 1, 1])
    scores = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.8, 0.2]])
    expected = {"error_rate": 0.5, "recall": 0.5, "roc_auc": 0.75, "brier_score": 0.275}
    for name, value in expected.items():
        assert truth_of(name, scores, y, probabilities=True) == pytest.approx(value)
    assert np.isnan(truth_of("brier_score", scores, y, probabilities=False))


@pytest.mark.parametrize("name", SYNTHETIC)
def test_populations_are_standardized_and_have_every_class(name):
    own = population(name)
    assert own.X.mean(axis=0) == pytest.approx(0, abs=1e-9)
    assert np.bincount(own.y).min() > 100


def test_every_cell_is_one_of_its_own():
    cells = all_cells()
    assert len({cell.file_name for cell in cells}) == len(cells)
    words = {cell.words for cell in cells}
    assert "exclusive or, linear discriminant, n = 4000, 5 × 10 folds" in words
