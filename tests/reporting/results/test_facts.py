import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.reporting.presenter import facts_of
from truerisk.results import Estimate


def problem(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + y[:, np.newaxis], y


def learner():
    return tr.estimate("naive_bayes", *problem(), random_state=3, folds=3, repeats=2)


def comparisons():
    truth = [0, 1] * 20
    return tr.compare(truth, truth, truth[::-1], measures=["error_rate"], random_state=5)


def learners():
    return tr.compare_models(
        "naive_bayes", "majority", *problem(), random_state=1, folds=3, repeats=2, region=0.01
    )  # fmt: skip


def curve():
    return tr.learning_curve(
        {"bayes": GaussianNB()}, *problem(), sizes=[10, 20], repeats=2, random_state=4,
        estimate=None,
    )  # fmt: skip


def perturbed():
    return tr.perturbation(tr.LinearSVM(), *problem(40), replicates=100, random_state=1)


def selection():
    return tr.select(
        tr.LinearSVM(), *problem(40), over={"C": [0.5, 2.0]}, replicates=50, random_state=1
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (learner, {"seed": "3", "folds": "3", "repeats": "2", "refits": "6", "examples": "60"}),
        (comparisons, {"models": "first, second", "seed": "5", "main measure": "Error rate"}),
        (learners, {"models": "naive_bayes, majority", "region of equivalence": "± 0.01"}),
        (curve, {"learners": "bayes", "training sizes": "10, 20", "seed": "4", "repeats": "2"}),
        (selection, {"settings tried": "2", "examples": "40", "measure": "Error rate"}),
        (
            perturbed,
            {"weightings": "100", "losses that are perturbed": "cross validated", "examples": "40"},
        ),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_every_kind_of_result_tells_its_own_facts(make, words):
    result = dict(facts_of(make()))
    assert result | words == result
    assert result["confidence level"] == "95 %"
    assert result["the numbers are about"]


@pytest.mark.parametrize(
    ("refits", "expected"),
    [
        ({"folds": 3, "repeats": 2}, "variance components"),
        ({"method": "holdout"}, "clopper pearson, class shares"),
    ],
    ids=["folds", "hold-out"],
)
def test_a_learner_is_named_once_and_with_the_intervals_that_were_used(refits, expected):
    names = ["error_rate", "balanced_accuracy"]
    result = tr.estimate("majority", *problem(), random_state=3, measures=names, **refits)
    facts = list(facts_of(result))
    assert [name for name, words in facts if words == result.model] == ["learner"]
    assert dict(facts)["intervals"] == expected
    assert "interval of k of n" not in dict(facts)


def test_estimates_side_by_side_name_their_ways():
    ways = [
        Estimate(value=0.1, interval=None, measure="error_rate", method=method, n=20)
        for method in ("span_bound", "xi_alpha_1")
    ]
    result = tr.SideBySide(estimates=tuple(ways), seconds=(0.1, 0.2), training_seconds=0.1)
    words = dict(facts_of(result))
    assert words["ways of estimating"] == "span bound, xi alpha 1"
    assert words["examples"] == "20"


def test_a_corpus_tells_its_documents():
    result = tr.CorpusEvaluation(
        estimates={}, n=12, level=0.95, labels=(), pos_label=None,
        holdout=tr.evaluate_counts([[5, 5], [4, 85]]), settings={"C": 0.5},
    )  # fmt: skip
    words = dict(facts_of(result))
    assert (words["training documents"], words["documents held out"], words["C"]) == (
        "12",
        "99",
        "0.5",
    )
