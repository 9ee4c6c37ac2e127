"""The audit of the corrected t: as `tr.estimate` and `tr.summarise` give it, and counted right."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from studies.audit import corrected_t
from studies.audit.refit_populations import population
from studies.audit.refits import Cell, draw
from truerisk.estimation.refits.plans import random_divisions
from truerisk.intervals.measured_coverage import LEARNER, SCORER


def test_the_intervals_are_those_of_subsampling():
    X, y, _ = draw(Cell(population="heavy tails", n=80, learner=""), 2)
    plan = random_divisions(y, 1 / 3, 15, np.random.default_rng([2, 0]))
    judged = corrected_t.judged_by("linear discriminant", X, y, 2, plan)
    values = corrected_t.values_of(judged, 2)
    names = corrected_t.measures(2)
    whole = tr.estimate(
        LinearDiscriminantAnalysis(solver="lsqr"), X, y, method="subsampling", measures=names,
        interval="corrected_t", random_state=2,
    )  # fmt: skip
    for name in names:
        found = corrected_t.ends_of(values[name], name, plan.test_train_ratio())
        expected = whole[name].interval
        if expected.method == "whole_range":
            assert np.isnan(found[0])
        else:
            low, high = min(found[0], whole[name].value), max(found[1], whole[name].value)
            assert (low, high) == pytest.approx((expected.low, expected.high)), name


def test_scorers_by_hand():
    scores = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [0.2, 0.8]])
    y = np.array([0, 0, 1, 1])
    # One negative called positive costs 1, one positive that is missed 5.
    assert corrected_t.SCORERS[True]["cost"](scores, y) == pytest.approx(-6 / 4)
    # 5 · 1 hit of 4 · 2 positives + 2 called.
    assert corrected_t.SCORERS[True]["F2"](scores, y) == pytest.approx(0.5)
    three = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    assert corrected_t.SCORERS[False]["in the first two"](three, np.array([1, 2])) == 0.5
    spherical = corrected_t.SCORERS[False]["spherical"](three[:1], np.array([0]))
    assert spherical == pytest.approx(0.5 / np.sqrt(0.38))


def test_a_winner_is_read_as_the_results_of_a_search():
    table = np.array([[0.3, 0.5], [0.6, 0.4], [0.5, 0.5]])
    accuracy = corrected_t.cv_results(table, "accuracy")
    assert accuracy["rank_test_score"].tolist() == [3, 1, 2]
    losses = corrected_t.cv_results(table, "log_loss")
    assert losses["rank_test_score"].tolist() == [1, 2, 3]
    assert tr.summarise(losses, measure="neg_log_loss").value == pytest.approx(0.4 + 0.05)


def test_a_cell_is_of_the_learner_and_has_every_design():
    arrays = corrected_t.run_divisions("rings", 60, "naive Bayes", 3)
    rows = list(corrected_t.division_rows("rings, naive Bayes", 60, arrays, 2))
    assert {row.target for row in rows} == {LEARNER}
    assert {"15 random divisions, a third tested", "5 × 10 folds"} <= {row.design for row in rows}
    assert {row.measure for row in rows} == {*corrected_t.measures(2), SCORER}
    low, high = arrays["ends"][0].T
    truth = arrays["truths"][0].mean()
    assert rows[0].coverage == np.mean((low <= truth) & (truth <= high))


def test_the_truth_of_a_winner_is_that_of_the_candidate_chosen():
    arrays = corrected_t.run_search("three classes", 60, 4, 2)
    rows = list(corrected_t.search_rows("three classes, best of 4", 60, arrays, 3))
    assert {row.measure for row in rows} == {"accuracy", "log_loss"}
    X, y, _ = draw(Cell(population="three classes", n=60, learner=""), 0)
    own = population("three classes")
    every = [
        np.mean(one.scores(X, y, 3, own.X).argmax(axis=1) == own.y)
        for one in corrected_t.candidates_of(X.shape[1], 4)
    ]
    assert arrays["truths"][0, 0] in every


def test_naive_bayes_is_that_of_scikit_learn():
    X, y, _ = draw(Cell(population="rings", n=60, learner=""), 0)
    one = corrected_t.Candidate("naive Bayes", np.arange(2))
    model = GaussianNB().fit(X[:, :2], y)
    assert one.scores(X, y, 2, X) == pytest.approx(model.predict_proba(X[:, :2]))
