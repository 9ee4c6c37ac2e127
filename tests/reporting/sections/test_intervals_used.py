from dataclasses import replace

import numpy as np
import pytest

import truerisk as tr
from truerisk.estimation.svm.without_resampling import SideBySide
from truerisk.intervals.measured_coverage import LEARNER, coverage_of
from truerisk.reporting.sections.intervals_used import EXACT, is_weighted, uses_of
from truerisk.reporting.sections.promises import promise_table
from truerisk.results import Interval

TRUTH = np.array([0, 1, 1, 0] * 30)
SCORE = np.random.default_rng(0).random(120) * 0.6 + 0.4 * TRUTH


def test_weights_of_scores_alone_are_seen():
    assert is_weighted(tr.evaluate(TRUTH, y_score=SCORE, sample_weight=np.linspace(1, 2, 120)))
    assert not is_weighted(tr.evaluate(TRUTH, y_score=SCORE))


@pytest.mark.parametrize(
    ("refits", "design", "target"),
    [
        ({"repeats": 5}, "5 × 10 folds", "this model"),
        ({"repeats": 1, "name": "pooled_binomial"}, "10 folds", "this model"),
        ({"repeats": 5, "name": "corrected_t"}, "5 × 10 folds", LEARNER),
        ({"method": "holdout", "name": "clopper_pearson"}, "a third held out", "this model"),
        (
            dict.fromkeys(("method", "name"), "nested_cross_validation"),
            "refits of its own",
            LEARNER,
        ),
    ],
)
def test_a_learner_is_told_what_was_measured_of_such_refits(make_learner, refits, design, target):
    evaluation = make_learner(target=target, **refits)
    [use] = uses_of(evaluation)
    page = "coverage-of-learners"
    found = coverage_of(
        use.interval.method, "error_rate", page=page, design=design, target=target
    )  # fmt: skip
    assert use.measured == found
    assert found is not None
    [row] = promise_table(evaluation).rows
    assert design in row[-1]
    assert ("the learner's value" in row[-1]) == (target == LEARNER)


def test_cross_validation_beside_a_machine_s_own_estimates_was_measured(make_learner):
    folds = make_learner()["error_rate"]
    own = replace(folds, method="leave_one_out", interval=Interval(0.1, 0.3, 0.95, EXACT))
    both = SideBySide(estimates=(own, folds), seconds=(0.1, 0.1), training_seconds=0.1)
    alone, measured = uses_of(both)
    assert alone.measured is None
    assert measured.measured == next(iter(uses_of(make_learner(repeats=5)))).measured
    assert measured.measured is not None


def test_what_was_held_out_is_told_apart_from_what_was_estimated():
    texts = ["wheat crop"] * 12 + ["oil well"] * 12 + ["ship port"] * 12
    labels = [(name,) for name in "abc" for _ in range(12)]
    corpus = tr.Corpus(ids=tuple(map(str, range(36))), texts=tuple(texts), labels=tuple(labels))
    found = tr.estimate_corpus(corpus, holdout=0.3, random_state=1)
    shares = {use.of: use.measured for use in uses_of(found) if use.interval.method == EXACT}
    assert shares["recall"] is None
    assert shares["held out: recall"] == coverage_of(EXACT, "recall")
