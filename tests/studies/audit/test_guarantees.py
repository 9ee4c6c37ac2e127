import math

import numpy as np
import pytest
from click.testing import CliRunner

from studies.audit import __main__ as command
from studies.audit import guarantees
from studies.audit.coverage_cells import HELD_OUT, CoverageCell
from studies.audit.guarantees import Population
from studies.audit.ledger import read_ledger

SMALL = Population.of(
    "small", HELD_OUT, np.array([0.1, 0.9, 0.4, 0.4]), np.array([False, True, True, False])
)


def test_the_truth_of_a_population_worked_by_hand():
    counts = SMALL.counts(np.array([np.inf, 0.9, 0.5, 0.4, 0.1]))
    assert counts["tp"].tolist() == [0, 1, 1, 2, 2]
    assert counts["fp"].tolist() == [0, 0, 0, 1, 2]
    assert counts["fn"].tolist() == [2, 1, 1, 0, 0]
    assert counts["tn"].tolist() == [2, 2, 2, 1, 0]
    values = guarantees._values(SMALL, 0.4)  # noqa: SLF001
    assert values == pytest.approx((2 / 3, 1, 1 / 2, 4 / 5, 1 / 2, math.sqrt(1 / 2), 1 / 4))


def test_answers_about_the_best_threshold_of_youden():
    # J is 1/2 at 0.9 and at 0.4; the higher one is taken.
    assert SMALL.middle == 0.9
    evidence = SMALL.evidence
    assert evidence.score.tolist() == pytest.approx([0.8, 0.5, 0.5, 0.0])
    assert int(evidence.positive.sum()) == 1


def test_bisection_takes_the_largest_that_passes():
    tail = np.array([0.9, 0.001, 0.001, 0.001, 0.5, 0.9, 0.9, 0.9])
    assert guarantees._bisection(tail, 8, 0.05).tolist() == [3]  # noqa: SLF001
    assert guarantees._bisection(np.ones(8), 8, 0.05).tolist() == []  # noqa: SLF001


def test_a_promise_is_broken_where_any_guaranteed_threshold_breaks_it():
    population = next(guarantees.populations())
    safe, risky = population.score[150_000], population.score[1_000]
    for thresholds, kept in (([safe], 1.0), ([safe, risky], 0.0), ([], 1.0)):
        outcome = guarantees._outcome(population, "recall", 0.9, np.array(thresholds))  # noqa: SLF001
        assert outcome[:2] == (float(len(thresholds) > 0), kept)


def test_the_study_writes_its_ledgers_and_continues(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    positive = rng.random(5000) < 0.4
    drawn = Population.of("drawn", HELD_OUT, rng.normal(size=5000) + 2 * positive, positive)
    monkeypatch.setattr(guarantees, "populations", lambda: iter([drawn]))
    monkeypatch.setattr(guarantees, "SIZES", (300,))
    monkeypatch.setattr(guarantees, "INTERVAL_SIZES", (60,))
    monkeypatch.setattr(command, "LEDGERS", tmp_path)
    words = ["guarantees", "--samples", "30", "--resume", str(tmp_path / "done")]
    ended = CliRunner().invoke(command.main, words)
    assert ended.exit_code == 0, ended.output
    cells = read_ledger(CoverageCell, "guarantees", tmp_path)
    assert [(cell.measure, cell.method) for cell in cells] == [
        ("recall", "order_statistic"),
        ("specificity", "order_statistic"),
        ("precision", "fixed_sequence"),
        ("precision", "bisection"),
        ("error", "fixed_sequence"),
        ("error", "bisection"),
        ("negative_predictive_value", "fixed_sequence"),
        ("recall and precision", "order_statistic and fixed_sequence"),
    ]
    for cell in cells:
        assert cell.coverage > 0.8
        if cell.rival == "naive choice":
            assert cell.rival_coverage < 0.8
            assert cell.width > cell.rival_width
    after = read_ledger(CoverageCell, "chosen_thresholds", tmp_path)
    assert len(after) == 22
    assert all(cell.coverage >= cell.rival_coverage for cell in after[:-1])
    assert all(cell.width > cell.rival_width for cell in after[:-1])
    assert (after[-1].design, after[-1].measure) == ("wanted error", "error_rate")
    assert after[-1].coverage > 0.8
    first = [path.read_text() for path in sorted(tmp_path.glob("*.csv"))]
    monkeypatch.setattr(guarantees, "_one_sample", lambda *_: pytest.fail("was run again"))
    assert CliRunner().invoke(command.main, words).exit_code == 0
    assert [path.read_text() for path in sorted(tmp_path.glob("*.csv"))] == first
