import numpy as np
import pytest
from scipy.special import ndtri

from studies.audit import planning
from studies.audit.coverage_cells import CoverageCell


def test_a_planned_rate_keeps_its_word_as_often_as_the_sum_says(monkeypatch, tmp_path):
    cell = planning.PlanCell(question={"half_width": 0.1, "expected": 0.2}, assurance=0.8)
    monkeypatch.setattr(planning, "all_cells", lambda: [cell])
    [(_, row)] = planning.measure_cells(samples=400, folder=tmp_path)
    assert isinstance(row, CoverageCell)
    assert (row.level, row.samples) == (0.8, 400)
    assert row.coverage > 0.74  # four standard errors of 400 samples under .8 or more
    assert [again for _, again in planning.measure_cells(samples=400, folder=tmp_path)] == [row]


@pytest.mark.parametrize("scores", planning.SCORES)
def test_scores_of_every_kind_have_the_area_that_was_planned(scores):
    cell = planning.PlanCell(question={"correlation": 0.5}, assurance=0.8, scores=scores)
    rng = np.random.default_rng(1)
    positive, negative = planning.scores_of(cell, (0.8, 0.9), 3000, 3000, rng)
    for column, area in enumerate((0.8, 0.9)):
        wins = np.searchsorted(np.sort(negative[:, column]), positive[:, column]).mean() / 3000
        assert wins == pytest.approx(area, abs=0.02)
    ranks = positive.argsort(axis=0).argsort(axis=0)  # of tails as heavy as some, no values
    assert np.corrcoef(ranks.T)[0, 1] > 0.4


def test_normal_scores_are_shifted_by_the_formula():
    assert planning.shift_for("normal", 0.8) == pytest.approx(2**0.5 * ndtri(0.8), abs=0.01)
