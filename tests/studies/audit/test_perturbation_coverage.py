import inspect

import numpy as np
import pytest

from studies.audit import perturbation_coverage
from studies.audit.perturbation_cells import PerturbationCell
from studies.audit.perturbation_coverage import (
    FORMS,
    INTERVALS,
    coverage_of,
    measure_cells,
    run_sample,
)
from truerisk import LinearSVM, perturbation
from truerisk.estimation.svm.measured_coverage import DEFAULT

CELL = PerturbationCell(machine="linear", n=50, d=2, error=0.3)


def test_coverage_by_hand():
    ends = np.zeros((4, len(INTERVALS), 2))
    ends[:, 0] = [[0.1, 0.3], [0.1, 0.2], [0.25, 0.4], [0.0, 0.5]]
    rows = coverage_of(CELL, ends, np.array([0.3, 0.25, 0.2, 0.35]), replicates=100)
    # The learner's error is 0.275.
    assert rows[0].truth == pytest.approx(0.275)
    assert (rows[0].model, rows[0].learner) == (0.5, 0.75)
    assert rows[0].mean_width == pytest.approx((0.2 + 0.1 + 0.15 + 0.5) / 4)
    assert (rows[1].model, rows[1].mean_width) == (0.0, 0.0)


def test_the_default_of_the_page_is_that_of_perturbation():
    defaults = inspect.signature(perturbation).parameters
    assert FORMS[DEFAULT] == defaults["interval"].default
    assert DEFAULT.startswith(defaults["losses"].default.replace("_", "-"))


def test_a_sample_is_judged_as_users_judge_it():
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


def test_blocks_are_kept_and_more_samples_take_them(tmp_path, monkeypatch):
    monkeypatch.setattr(perturbation_coverage, "BLOCK", 2)
    settings = {"replicates": 100, "folder": tmp_path}
    [(_, short)] = measure_cells([CELL], samples=2, **settings)
    run = perturbation_coverage.run_sample
    drawn = []

    def counted(cell, at, replicates):
        drawn.append(at)
        return run(cell, at, replicates)

    monkeypatch.setattr(perturbation_coverage, "run_sample", counted)
    [(cell, long)] = measure_cells([CELL], samples=3, **settings)
    assert cell == CELL
    assert drawn == [2, 3]
    assert (short[0].samples, long[0].samples) == (2, 3)
    assert len(list(tmp_path.iterdir())) == 2
