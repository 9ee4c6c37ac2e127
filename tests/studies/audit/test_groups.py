import numpy as np
import pytest

from studies.audit import groups
from studies.audit.coverage_cells import CHOSEN_ON, HELD_OUT

POPULATIONS = [one for one in groups.problems() if one.name not in groups.REAL]


@pytest.mark.parametrize("problem", POPULATIONS, ids=lambda one: one.words)
def test_a_population_gives_rows_of_as_many_groups_as_are_drawn(problem):
    rows = problem.draw(7, np.random.default_rng(0))
    assert len(np.unique(rows.group)) == 7
    assert len(rows.truth) == len(rows.group) == len(rows.scores[0])
    assert len(rows.scores) == 1 + problem.paired


@pytest.mark.parametrize("sizes", groups.SIZES)
def test_every_group_has_a_row_and_none_too_many(sizes):
    drawn = groups.SIZES[sizes](500, np.linspace(0, 9, 500), np.random.default_rng(0))
    assert (drawn.min(), drawn.max()) >= (1, 1)
    assert drawn.max() <= groups.LARGEST


def test_a_cell_counts_how_often_the_truth_is_covered():
    problem = POPULATIONS[0]
    ends = np.full((4, len(problem.measures), 2), (0.2, 0.4))
    ends[0, 0] = (0.0, 0.1)
    ends[1, 1] = np.nan
    arrays = {
        "ends": ends,
        "methods": np.full(ends.shape[:2], "group_jackknife"),
        "rows": np.array([30, 30, 30, 34]),
        "truth": np.full(len(problem.measures), 0.3),
    }
    cells = list(groups.cells_of(problem, 5, arrays))
    assert (cells[0].coverage, cells[0].samples, cells[0].n) == (0.75, 4, 31)
    assert (cells[1].coverage, cells[1].samples, cells[1].undefined) == (1.0, 3, 1)
    roles = {cell.measure: cell.role for cell in cells}
    assert (roles["average_precision"], roles["error_rate"]) == (CHOSEN_ON, HELD_OUT)
    assert "under .88 1 of 1" in groups.summary(cells).splitlines()[0]


def test_a_cell_is_drawn_as_a_user_would_evaluate_it(monkeypatch):
    monkeypatch.setattr(groups, "TRUE_GROUPS", 200)
    arrays = groups.draw_cell(POPULATIONS[-1], 8, samples=2, folder=None)
    assert arrays["ends"].shape == (2, len(groups.PAIRED), 2)
    assert set(arrays["methods"].ravel()) == {"group_jackknife"}
