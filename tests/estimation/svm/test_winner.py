"""The worth of a winner, where the truth is known."""

import math

import numpy as np
import pytest

from truerisk.estimation.svm.one_vs_rest_counts import measure_values
from truerisk.estimation.svm.winner import corrected_estimate

ONE_CLASS = np.ones((1, 100))


def judge(wrong, seed=0, **options):
    return corrected_estimate(
        "error_rate",
        ONE_CLASS,
        wrong,
        higher_is_better=False,
        level=0.95,
        replicates=options.pop("replicates", 200),
        rng=np.random.default_rng(seed),
    )


def test_luck_is_taken_off_and_skill_is_not():
    raw, corrected = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        wrong = rng.random((25, 1, 100)) < 0.3  # all are equally good: 0.3
        raw.append(measure_values("error_rate", ONE_CLASS, wrong).min())
        corrected.append(judge(wrong, seed).value)
    assert np.mean(raw) < 0.23
    assert np.mean(corrected) == pytest.approx(0.3, abs=0.015)


def test_a_clear_winner_keeps_its_estimate():
    wrong = np.random.default_rng(3).random((6, 1, 100)) < 0.5
    wrong[2] = False
    wrong[2, 0, :4] = True
    assert judge(wrong).value == pytest.approx(0.04, abs=0.01)


def test_one_candidate_needs_no_correction():
    wrong = np.random.default_rng(4).random((1, 1, 100)) < 0.2
    plain = measure_values("error_rate", ONE_CLASS, wrong)[0]
    assert judge(wrong, replicates=2000).value == pytest.approx(plain, abs=0.01)


def test_the_interval_contains_the_value_and_is_reproducible():
    wrong = np.random.default_rng(5).random((10, 1, 100)) < 0.3
    first, second = judge(wrong, 7), judge(wrong, 7)
    assert first == second
    assert first.interval.covers(first.value)
    assert first.target == "the learner at this sample size"


def test_what_is_undefined_everywhere_says_so():
    found = corrected_estimate(
        "precision",
        np.ones((1, 10)),
        np.ones((2, 1, 10), dtype=bool),
        higher_is_better=True,
        level=0.95,
        replicates=10,
        rng=np.random.default_rng(0),
    )
    assert math.isnan(found.value)
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert "undefined" in found.notes[0]
