from dataclasses import replace

import numpy as np
import pytest

import truerisk as tr
from truerisk.estimation.without_resampling import SideBySide
from truerisk.evaluation.measured_coverage import LEARNER, coverage_of
from truerisk.reporting.sections.intervals_used import EXACT, is_weighted, uses_of
from truerisk.reporting.sections.promises import promise_table
from truerisk.results import Estimate, Interval

TRUTH = np.array([0, 1, 1, 0] * 30)
SCORE = np.random.default_rng(0).random(120) * 0.6 + 0.4 * TRUTH


def test_weights_of_scores_alone_are_seen():
    assert is_weighted(tr.evaluate(TRUTH, y_score=SCORE, sample_weight=np.linspace(1, 2, 120)))
    assert not is_weighted(tr.evaluate(TRUTH, y_score=SCORE))


def learner(method="cross_validation", name="agreement_binomial", target="this model", **settings):
    estimate = Estimate(
        value=0.2,
        interval=Interval(0.1, 0.3, 0.95, name),
        measure="error_rate",
        method=method,
        n=100,
        target=target,
    )
    return tr.LearnerEvaluation(
        estimates={"error_rate": estimate},
        n=100,
        level=0.95,
        labels=("0", "1"),
        positive="1",
        settings={"method": method, **settings},
    )


@pytest.mark.parametrize(
    ("evaluation", "design", "target"),
    [
        (learner(repeats=5), "5 × 10 folds", "this model"),
        (learner(repeats=1, name="pooled_binomial"), "10 folds", "this model"),
        (learner(repeats=5, name="corrected_t", target=LEARNER), "5 × 10 folds", LEARNER),
        (learner("holdout", "clopper_pearson"), "a third held out", "this model"),
        (
            learner("nested_cross_validation", "nested_cross_validation", LEARNER),
            "refits of its own",
            LEARNER,
        ),
    ],
)
def test_a_learner_is_told_what_was_measured_of_such_refits(evaluation, design, target):
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


def test_cross_validation_beside_a_machine_s_own_estimates_was_measured():
    folds = learner()["error_rate"]
    own = replace(folds, method="leave_one_out", interval=Interval(0.1, 0.3, 0.95, EXACT))
    both = SideBySide(estimates=(own, folds), seconds=(0.1, 0.1), training_seconds=0.1)
    alone, measured = uses_of(both)
    assert alone.measured is None
    assert measured.measured == next(iter(uses_of(learner(repeats=5)))).measured
    assert measured.measured is not None


def test_what_was_held_out_is_told_apart_from_what_was_estimated():
    texts = ["wheat crop"] * 12 + ["oil well"] * 12 + ["ship port"] * 12
    labels = [(name,) for name in "abc" for _ in range(12)]
    corpus = tr.Corpus(ids=tuple(map(str, range(36))), texts=tuple(texts), labels=tuple(labels))
    found = tr.estimate_corpus(corpus, holdout=0.3, random_state=1)
    shares = {use.of: use.measured for use in uses_of(found) if use.interval.method == EXACT}
    assert shares["recall"] is None
    assert shares["held out: recall"] == coverage_of(EXACT, "recall")
