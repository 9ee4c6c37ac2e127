"""The audit of random divisions and scorers: as `tr.estimate` gives them, and counted right."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import truerisk as tr
from studies.audit import divisions
from studies.audit.corrected_t import SCORERS
from studies.audit.refits import Cell, draw
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import random_divisions, repeated_folds
from truerisk.intervals.measured_coverage import NO_PROMISE, SCORER, THIS_MODEL


@pytest.mark.parametrize("classes", [2, 3])
def test_pseudo_values_are_those_of_leaving_examples_out(classes):
    rng = np.random.default_rng(classes)
    scores = rng.dirichlet(np.ones(classes), size=25)
    y = np.append(np.arange(classes).repeat(2), rng.integers(0, classes, 25 - 2 * classes))
    for name, scorer in SCORERS[classes == 2].items():
        value, found = divisions.PSEUDO_VALUES[name](scores, y)
        assert value == pytest.approx(scorer(scores, y))
        without = [scorer(np.delete(scores, at, axis=0), np.delete(y, at)) for at in range(25)]
        assert found == pytest.approx(25 * value - 24 * np.array(without)), name


def _scorer(name):
    def score(model, X, y):
        return SCORERS[True][name](model.predict_proba(X), y)

    return score


@pytest.mark.parametrize("design", ["subsampling", "cross_validation", "holdout"])
def test_the_intervals_are_those_of_estimate(design):
    X, y, _ = draw(Cell(population="heavy tails", n=80, learner=""), 2)
    rng = np.random.default_rng([2, 0])
    plan = {
        "subsampling": lambda: random_divisions(y, 1 / 3, 15, rng),
        "cross_validation": lambda: repeated_folds(y, 10, 5, rng),
        "holdout": lambda: random_divisions(y, 1 / 3, 1, rng),
    }[design]()
    examples = Examples.of(X, y, None)
    outcomes = divisions.outcomes_of("linear discriminant", X, y, 2, plan)
    collected = divisions.collected_of(examples, plan, outcomes)
    words = divisions.HOLDOUT if design == "holdout" else design
    found = divisions.intervals_of(words, *collected)
    measures = [] if design != "subsampling" else ["error_rate", "f1", "roc_auc", "log_loss"]
    scoring = {f"my {name}": _scorer(name) for name in SCORERS[True]}
    scoring |= {one: one for one in measures}
    whole = tr.estimate(
        LinearDiscriminantAnalysis(solver="lsqr"), X, y, method=design, scoring=scoring,
        random_state=2,
    )  # fmt: skip
    for name in scoring:
        expected = whole[name].interval
        interval, _ = found[name.removeprefix("my ")]
        assert interval.method == expected.method
        assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high)), name


def test_a_cell_is_of_the_model_and_has_every_design():
    arrays = divisions.run_cell("rings", 60, "naive Bayes", 3)
    rows = list(divisions.rows_of("rings, naive Bayes", 60, arrays, 2))
    assert {row.target for row in rows if row.design != divisions.HOLDOUT} == {THIS_MODEL}
    assert {row.target for row in rows if row.design == divisions.HOLDOUT} == {NO_PROMISE}
    assert {row.design for row in rows} == {design for design, _ in divisions.designs(2, 60)}
    assert {"f1", SCORER} <= {row.measure for row in rows}
    low, high = arrays["ends"][0].T
    truth = arrays["truth"][0]
    assert rows[0].coverage == np.mean((low <= truth) & (truth <= high))
    assert rows[0].rival == "corrected_t"


def test_a_large_sample_has_its_scorers_by_folds_alone():
    arrays = divisions.run_cell("rings", 301, "naive Bayes", 2)
    rows = list(divisions.rows_of("rings, naive Bayes", 301, arrays, 2))
    assert {(row.design, row.measure) for row in rows} == {("5 × 10 folds", "scorer")}
    assert len(rows) == 4
