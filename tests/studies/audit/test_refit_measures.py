import numpy as np
import pytest
from sklearn.metrics import f1_score, recall_score

from studies.audit.refit_measures import MEASURED, Refits, measure_all
from studies.audit.refit_populations import population
from studies.audit.refits import LEARNERS, Cell, draw


def measured(problem, n):
    return {
        name: (truth, interval)
        for (name, _), truth, interval in problem.intervals(n, 0.95, np.random.default_rng(3))
    }


def test_the_truth_is_that_of_the_model_of_the_whole_sample():
    problem, n = Refits("exclusive or", "linear discriminant"), 60
    rows = measured(problem, n)
    at = int(np.random.default_rng(3).integers(2**31))
    X, y, _ = draw(Cell(population="exclusive or", n=n, learner="linear discriminant"), at)
    own = population("exclusive or")
    scores = LEARNERS["linear discriminant"](X, y, 2)(own.X)[0]
    expected = recall_score(own.y, scores.argmax(axis=1), pos_label=0)
    assert rows["specificity"][0] == pytest.approx(expected)
    best = max(
        f1_score(own.y, scores[:, 1] >= at)
        for at in np.quantile(scores[:, 1], np.linspace(0, 1, 200))
    )
    assert rows["best_f1"][0] == pytest.approx(best, abs=0.01)


def test_what_the_other_study_measures_is_left_out():
    for problem in (
        Refits("exclusive or", "linear discriminant"),
        Refits("three classes", "naive Bayes"),
    ):
        rows = measured(problem, 60)
        assert rows
        assert not MEASURED & set(rows)


def test_the_rows_say_how_refits_were_made():
    rows = next(measure_all(samples=2))
    assert {row.design for row in rows} == {"5 × 10 folds"}
    assert {row.study for row in rows} == {"refit_measures"}
