import dataclasses

import numpy as np
import pytest

from studies.audit import learner_coverage
from studies.audit.learner_coverage import (
    AGREEMENT,
    INTERVALS,
    LEARNER,
    MODEL,
    NAMES,
    YARDSTICK,
    Sample,
    all_cells,
    coverage_cells,
    ends_from,
    measure_cells,
)
from studies.audit.learner_problems import PROBLEMS
from studies.audit.learner_refits import FURTHER_INTERVALS, LEARNERS, Cell, Refits
from truerisk.intervals.binomial import binomial_interval
from truerisk.results import Interval, as_plain

CELL = Cell(problem="crescent", n=50, learner="naive Bayes", samples=4, fresh=1000)
FOLDS = np.tile(np.arange(50, dtype=np.uint8) % 10, (5, 1))


def sample(wrong):
    """Let the first examples be wrong in every repeat, and as many of 20 held out."""
    losses = np.tile(np.arange(50) < wrong, (5, 1))
    return Sample(losses, FOLDS, np.array([wrong, 20]))


def refits(wrong, truth):
    samples = [sample(k) for k in wrong]
    return Refits(
        losses=np.stack([one.losses for one in samples]),
        parts=np.stack([one.parts for one in samples]),
        positive=np.zeros((len(wrong), 50), dtype=bool),
        truth=np.column_stack([truth, np.zeros(len(truth))]),
        prevalence=0.5,
        held_out=np.stack([one.held_out for one in samples]),
    )


def rows_of(found):
    rows = coverage_cells(CELL, ends_from(found), found.errors)
    return {(row.method, row.design, row.target): row for row in rows}


def test_each_interval_is_that_of_the_product():
    seven = sample(7)
    exact = binomial_interval(7, 50)
    found = {name: rule(seven) for name, rule in INTERVALS.items()}
    for name in ("agreement", "binomial, 10 folds pooled"):
        assert (found[name].low, found[name].high) == pytest.approx((exact.low, exact.high))
    held = binomial_interval(7, 20)
    assert found["hold-out, one third"].high == pytest.approx(held.high)
    # Seven folds of five have one error: mean .14, s² = 10 (.7 · .3) .04 / 9; t(9) = 2.26216.
    half = 2.26216 * (10 * 0.7 * 0.3 * 0.04 / 9 * (1 / 10 + 1 / 9)) ** 0.5
    once = found["corrected t, 10"]
    assert (once.low, once.high) == pytest.approx((0.14 - half, 0.14 + half), abs=1e-5)
    shorter = found["plain t, 10 (invalid)"]
    assert shorter.width == pytest.approx(once.width / (1 + 10 / 9) ** 0.5)
    # 50 values: the same deviation but dividing by 49, and t(49) = 2.00958.
    half = 2.00958 * (50 * 0.7 * 0.3 * 0.04 / 49 * (1 / 50 + 1 / 9)) ** 0.5
    assert found[YARDSTICK].width == pytest.approx(2 * half, abs=1e-5)


def test_the_errors_of_the_folds_come_repeat_by_repeat():
    assert sample(13).fold_errors(1).tolist() == [0.4] * 3 + [0.2] * 7
    assert len(sample(13).fold_errors(5)) == 50


def test_both_truths_are_counted(monkeypatch):
    def around(one):
        share = float(one.losses.mean())
        return Interval(share - 0.01, share + 0.01, 0.95, "narrow")

    monkeypatch.setattr(learner_coverage, "INTERVALS", {AGREEMENT: around, YARDSTICK: around})
    # Values .1, .2, .2, .4; models at .1, .2, .2, .3; their mean is .2.
    rows = rows_of(refits([5, 10, 10, 20], [0.1, 0.2, 0.2, 0.3]))
    of_t = [rows["corrected_t", "5 × 10 folds", target] for target in (MODEL, LEARNER)]
    assert [row.coverage for row in of_t] == [0.75, 0.5]
    own = rows["agreement_binomial", "5 × 10 folds", MODEL]
    assert (own.coverage, own.rival, own.rival_coverage) == (0.75, "corrected_t", 0.75)
    assert (own.width, own.rival_width) == (pytest.approx(0.02), pytest.approx(0.02))


def test_samples_without_an_interval_count_neither_way():
    rows = rows_of(refits([0, 10, 10, 7], [0.5, 0.2, 0.9, 0.14]))
    # No error at all, or one in every fold: the folds do not differ.
    of_t = rows["corrected_t", "5 × 10 folds", MODEL]
    assert (of_t.samples, of_t.undefined, of_t.coverage) == (1, 3, 1.0)
    own = rows["agreement_binomial", "5 × 10 folds", MODEL]
    assert (own.samples, own.coverage) == (4, 0.5)


def test_every_interval_has_the_name_of_an_estimate():
    assert set(NAMES) == {*INTERVALS, *FURTHER_INTERVALS}


def test_every_problem_size_and_learner_is_a_cell():
    cells = all_cells(samples=7, random_state=3)
    assert len(cells) == len(PROBLEMS) * 4 * len(LEARNERS) >= 72
    assert {cell.samples for cell in cells} == {7}
    assert {cell.random_state for cell in cells} == {3}
    assert len({cell.file_name for cell in cells}) == len(cells)


def test_the_figures_do_not_depend_on_the_number_of_processes():
    cells = [dataclasses.replace(CELL, n=n, samples=1, fresh=100) for n in (30, 40)]
    one = list(measure_cells(cells))
    two = list(measure_cells(cells, n_jobs=2))
    assert as_plain(one) == as_plain(two)
    assert [rows[0].n for rows in one] == [30, 40]
