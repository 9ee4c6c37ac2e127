import math
from dataclasses import asdict

import numpy as np
import pytest

from studies.audit import sizes
from studies.audit.sizes import KINDS, Trial, all_trials, measure_sizes, sizes_of

TRIAL = Trial(kind="datasets", setting="scores to any digit", n=10)


def test_shares_by_hand():
    p_values = np.array([[0.05, 1.0], [0.051, np.nan], [0.01, np.nan], [0.9, 0.2]])
    ends = np.full((4, 2, 2), np.nan)
    ends[:, 0] = [[0.1, 0.2], [0.0, 0.3], [-0.4, -0.1], [-0.1, 0.1]]
    first, second = sizes_of(
        TRIAL, np.array(["a", "b"]), np.array(["x", "y"]), p_values=p_values, ends=ends
    )
    # A p-value of 0.05 rejects; an interval that begins at 0 does not exclude it.
    assert (first.test, first.method, first.rejected, first.excluded) == ("a", "x", 0.5, 0.5)
    assert (second.pairs, second.defined, second.rejected) == (4, 2, 0.0)
    assert math.isnan(second.excluded)


def test_a_test_that_is_never_defined_has_no_size():
    nothing = np.full((3, 1), np.nan)
    [row] = sizes_of(
        TRIAL, np.array(["a"]), np.array(["x"]), p_values=nothing, ends=np.full((3, 1, 2), np.nan)
    )
    assert row.defined == 0
    assert math.isnan(row.rejected)


@pytest.mark.parametrize(
    ("rejected", "excluded", "meets"),
    [(0.05, 0.05, True), (0.068, 0.05, True), (0.08, 0.05, False), (0.05, 0.08, False)],
)
def test_the_goal_is_judged_within_monte_carlo_error(rejected, excluded, meets):
    row = sizes.TestSize(
        **asdict(TRIAL),
        test="a",
        method="x",
        pairs=600,
        defined=2000,
        rejected=rejected,
        excluded=excluded,
    )
    assert row.meets_goal is meets


def test_the_goal_is_set_from_300_examples_on_and_for_data_sets():
    def row(trial):
        return sizes.TestSize(
            **asdict(trial), test="a", method="x", pairs=1, defined=1, rejected=0, excluded=0
        )

    assert row(TRIAL).counts_for_goal
    small, large = (Trial(kind="classes", setting="s", n=n) for n in (100, 300))
    assert (row(small).counts_for_goal, row(large).counts_for_goal) == (False, True)


def test_blocks_are_stored_and_more_pairs_use_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "BLOCK", 3)
    [(_, short)] = measure_sizes([TRIAL], pairs=3, folder=tmp_path)
    run, drawn = sizes.run_pair, []
    monkeypatch.setattr(sizes, "run_pair", lambda trial, at: (drawn.append(at), run(trial, at))[1])
    [(trial, long)] = measure_sizes([TRIAL], pairs=5, folder=tmp_path)
    assert trial == TRIAL
    assert drawn == [3, 4, 5]
    assert (short[0].pairs, long[0].pairs) == (3, 5)


def test_slow_tests_are_tried_less_often():
    assert TRIAL.pairs(2000) == 2000
    assert Trial(kind="learners", setting="s", n=100).pairs(2000) == 300


def test_every_family_is_tried_under_a_name_of_its_own():
    trials = all_trials()
    assert {trial.kind for trial in trials} == set(KINDS)
    assert len({trial.file_name for trial in trials}) == len(trials)


def test_the_test_over_data_sets_keeps_its_size(tmp_path):
    # Exact or conservative tests: more than 9 of 60 has probability 0.001.
    [(_, rows)] = measure_sizes([TRIAL], pairs=60, folder=tmp_path)
    found = {row.method: row.rejected for row in rows}
    assert found["wilcoxon"] <= 9 / 60
    assert found["wilcoxon, holm"] <= 9 / 60
    assert found["nemenyi"] <= 9 / 60
