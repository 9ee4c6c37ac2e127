import dataclasses

import numpy as np
import pytest

from studies.audit.predictions import (
    POPULATIONS,
    ScoredPopulation,
    TablePopulation,
    simulate_all,
    simulate_coverage,
)
from truerisk.evaluation import evaluate_counts
from truerisk.intervals.binomial import binomial_interval
from truerisk.results import Interval

COIN = TablePopulation("a coin", ((30.0, 20.0), (20.0, 30.0)), measures=("accuracy",))


class PartlyUndefined:
    """Recall 0.5 of few positives: none at all in some samples."""

    name, role = "few positives", "chosen on"

    def truth(self):
        return {"recall": 0.5}

    def evaluation(self, n, rng):
        drawn = rng.multinomial(n, [0.1, 0.1, 0.0, 0.8]).reshape(2, 2)
        return evaluate_counts(drawn, random_state=0, measures=("recall",))


def rows(population, n, samples, seed=1):
    rng = np.random.default_rng(seed)
    found = simulate_coverage(population, n, samples=samples, rng=rng)
    return {row.measure: row for row in found}


def test_it_agrees_with_the_exact_coverage():
    # Clopper-Pearson at n = 10, p = 0.6 contains p for k = 3, …, 9: summed by hand
    # 1 − P(X ≤ 2) − P(X = 10) = 1 − 0.0123 − 0.0060 = 0.9817.
    accuracy = rows(COIN, 10, 600)["accuracy"]
    likely = binomial_interval(round(600 * accuracy.coverage), 600, level=0.99)
    assert likely.covers(0.9817)
    assert accuracy.method == "clopper_pearson"


def test_undefined_samples_count_neither_way():
    recall = rows(PartlyUndefined(), 5, 300)["recall"]
    # No positive among 5 with probability 0.8⁵ = 0.328.
    assert recall.undefined == pytest.approx(0.328 * 300, abs=30)
    assert recall.coverage > 0.9


def test_an_interval_that_is_always_wrong_is_seen(monkeypatch):
    monkeypatch.setattr(
        "truerisk.intervals.choose.binomial_interval",
        lambda *_, level, **__: Interval(0.99, 1.0, level, "wrong"),
    )
    assert rows(COIN, 50, 20)["accuracy"].coverage == 0.0


def test_the_truth_of_normal_scores_is_theirs():
    population = ScoredPopulation(prevalence=0.5, distance=2.0, threshold=1.0)
    truth = population.truth()
    assert truth["recall"] == pytest.approx(0.8413447, abs=1e-6)  # Φ(1)
    assert truth["specificity"] == pytest.approx(0.8413447, abs=1e-6)
    assert truth["roc_auc"] == pytest.approx(0.9213504, abs=1e-6)  # Φ(√2)
    assert truth["average_precision"] == pytest.approx(0.925, abs=0.005)


def test_every_population_is_simulated_at_every_size():
    batches = list(simulate_all(populations=POPULATIONS[-1:], sizes=(20, 30), samples=2))
    assert [batch[0].n for batch in batches] == [20, 30]
    assert {row.problem for batch in batches for row in batch} == {POPULATIONS[-1].name}


def test_the_default_interval_of_a_macro_average_keeps_its_promise_with_a_rare_class():
    measures = ("balanced_accuracy", "f1_macro", "precision_macro")
    found = rows(dataclasses.replace(POPULATIONS[-1], measures=measures), 200, 300)
    for measure in measures:
        assert found[measure].coverage >= 0.88, found[measure]  # the plain delta method: 0.78
