import numpy as np
import pytest

from studies.audit import holdout
from studies.audit.coverage_cells import HELD_OUT
from truerisk.errors import InputError

KINDS = (
    holdout.Tables(3, 0.0, 0.75),
    holdout.Tables(3, 0.0, 0.75, "of errors"),
    holdout.LabelSets(5, 0.3, 0.1),
    holdout.ClassScores(3, 1.5, 0.0),
)


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch):
    monkeypatch.setattr(holdout, "MANY", 20_000)


@pytest.mark.parametrize("problem", KINDS, ids=lambda one: f"{one.name} {one.design}")
def test_a_problem_gives_a_row_per_measure_and_target(problem):
    cells = holdout.measure_problem(problem, 200, 0.95, samples=20, folder=None)
    assert len({(cell.measure, cell.target) for cell in cells}) == len(cells) > 0
    for cell in cells:
        assert (cell.study, cell.role, cell.n, cell.samples) == ("holdout", HELD_OUT, 200, 20)
        assert 0.7 <= cell.coverage <= 1
        assert 0 < cell.width < 1


def test_rankings_and_losses_have_their_targets():
    ranking = holdout.Rankings("plain", holdout.FAMILIES["normal, half, 1.5 apart"])
    object.__setattr__(ranking, "at_size", {100: 0.8})
    found = {key for key, _, _ in ranking.intervals(100, 0.95, np.random.default_rng(0))}
    assert ("best_f1", holdout.THRESHOLD) in found
    assert ("eleven_point_precision", holdout.LIMIT) in found
    losses = holdout.Losses("plain", holdout.PROBABILITIES["Beta(3, 1)"])
    found = dict.fromkeys(
        key for key, _, _ in losses.intervals(100, 0.95, np.random.default_rng(0))
    )
    assert list(found) == [("log_loss", holdout.THIS_MODEL), ("brier_score", holdout.THIS_MODEL)]


def test_a_run_that_was_stopped_continues_with_the_same_settings_only(tmp_path):
    first = holdout.measure_problem(KINDS[0], 50, 0.95, samples=10, folder=tmp_path)
    assert holdout.measure_problem(KINDS[0], 50, 0.95, samples=10, folder=tmp_path) == first
    with pytest.raises(InputError, match="same settings"):
        holdout.measure_problem(KINDS[0], 50, 0.95, samples=11, folder=tmp_path)


def test_no_problem_is_listed_twice():
    names = [(type(one), one.name, one.design) for one in holdout.all_problems()]
    assert len(set(names)) == len(names)
