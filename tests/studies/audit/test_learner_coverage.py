import dataclasses

import numpy as np
import pytest

from studies.audit import learner_coverage
from studies.audit.learner_coverage import (
    AGREEMENT,
    INTERVALS,
    MEASURES,
    YARDSTICK,
    Sample,
    all_cells,
    coverage_of,
    ends_from,
    measure_cells,
    measure_ends,
    measure_truth,
)
from studies.audit.learner_problems import PROBLEMS
from studies.audit.learner_refits import LEARNERS, Cell, Refits, run_cell
from truerisk.intervals.agreement import agreement_interval
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
    return coverage_of(CELL, ends_from(found), found.errors)


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
    assert rows[0].truth == pytest.approx(0.2)
    assert (rows[0].model, rows[0].learner) == (0.75, 0.5)
    assert rows[0].mean_width == pytest.approx(0.02)
    assert rows[0].relative_width == pytest.approx(1)


def test_samples_without_an_interval_count_neither_way():
    rows = rows_of(refits([0, 10, 10, 7], [0.5, 0.2, 0.9, 0.14]))
    found = {row.interval: row for row in rows}
    # No error at all, or one in every fold: the folds do not differ.
    assert (found[YARDSTICK].defined, found[YARDSTICK].undefined) == (1, 3)
    assert found[YARDSTICK].model == 1.0
    assert (found[AGREEMENT].defined, found[AGREEMENT].model) == (4, 0.5)
    only_the_last = binomial_interval(7, 50).width / INTERVALS[YARDSTICK](sample(7)).width
    assert found[AGREEMENT].relative_width == pytest.approx(only_the_last)


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
    assert [rows[0].cell for rows in one] == cells


OVERLAPPING = Cell(problem="overlapping", n=60, learner="naive Bayes", samples=3, fresh=1000)


@pytest.fixture(scope="module")
def real_refits():
    return run_cell(OVERLAPPING)


def test_the_error_rate_gets_the_interval_that_is_audited(real_refits):
    # The audit reads it off the losses, the product off the votes: the same rule.
    product = measure_ends(real_refits, ("error_rate",))["error_rate"]
    assert product == pytest.approx(ends_from(real_refits)["agreement"], rel=1e-9)


def test_recall_gets_the_rule_of_agreement_among_the_positives(real_refits):
    found = measure_ends(real_refits, ("recall",))["recall"]
    for ends, losses, positive in zip(found, real_refits.losses, real_refits.positive, strict=True):
        among = agreement_interval(losses[:, positive])
        assert ends == pytest.approx([1 - among.high, 1 - among.low], rel=1e-6)


def test_the_truth_is_that_of_the_table_of_fresh_examples(real_refits):
    # Of 1000: 400 positive, 100 missed, 150 false alarms.
    one = dataclasses.replace(real_refits, truth=np.array([[0.1, 0.15]]), prevalence=0.4)
    truth = measure_truth(one)
    assert list(truth) == list(MEASURES)
    assert truth["recall"] == pytest.approx([300 / 400])
    assert truth["specificity"] == pytest.approx([450 / 600])
    assert truth["precision"] == pytest.approx([300 / 450])
    assert truth["f1"] == pytest.approx([2 * 300 / (400 + 450)])


def test_what_is_undefined_has_no_interval(real_refits):
    # All positives are missed and no negative is called positive: no precision.
    none = dataclasses.replace(
        real_refits, losses=np.repeat(real_refits.positive[:, np.newaxis], 5, axis=1)
    )
    assert np.isnan(measure_ends(none, ("precision",))["precision"]).all()
