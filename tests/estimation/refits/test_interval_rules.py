"""The rules of others, on refits whose values are known."""

import numpy as np
import pytest
from scipy.stats import norm, t

from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import RULES, Asked
from truerisk.estimation.refits.judging import Judging
from truerisk.estimation.refits.plans import Folds, HeldOut
from truerisk.estimation.refits.run_values import RunValues
from truerisk.results import Estimate

N = 40
EXAMPLES = Examples.of(np.zeros((N, 1)), np.arange(N) % 2)
ONCE = Folds(np.arange(N)[None] // 8)  # five folds of eight
TWICE = Folds(np.stack([np.arange(N) // 8, np.arange(N) % 5]))
HELD = HeldOut(np.stack([(np.arange(N) + 7 * at) % N < 10 for at in range(6)]))
WRONG = np.arange(N) % 7 == 0  # six of forty


def asked(plan, wrong=WRONG, measure="error_rate", level=0.95):
    judging = Judging(EXAMPLES, plan)
    answers = []
    for at in range(len(plan)):
        test = plan.train_and_test(at)[1]
        predicted = np.where(wrong[test], 1 - EXAMPLES.codes[test], EXAMPLES.codes[test])
        answers.append({"predicted": predicted.astype(np.int32), "seconds": np.zeros(2)})
    judging.gather(answers)
    values = RunValues(judging)
    value = wrong.mean() if measure == "error_rate" else 1 - wrong.mean()
    estimate = Estimate(
        value=float(value), interval=None, measure=measure, method="cross_validation", n=N
    )
    return Asked(estimate, judging, values, level)


@pytest.mark.parametrize("plan", [ONCE, TWICE], ids=["once", "twice"])
def test_the_corrected_t_of_folds(plan):
    question = asked(plan, level=0.9)
    values = np.array(question.values.of("error_rate"))
    spread = values.std(ddof=1) * np.sqrt(1 / len(values) + 1 / 4)
    half = t.ppf(0.95, len(values) - 1) * spread
    found = RULES["corrected_t"](question)
    assert found.interval.high == pytest.approx(values.mean() + half)
    assert found.interval.low == pytest.approx(max(0, values.mean() - half))
    assert found.interval.level == 0.9
    assert found.target == "the learner at this sample size"
    assert (found.value, found.n) == (question.estimate.value, N)


def test_the_corrected_t_of_divisions_has_their_ratio():
    question = asked(HELD, np.arange(N) < 9)
    values = np.array(question.values.of("error_rate"))
    half = t.ppf(0.975, 5) * values.std(ddof=1) * np.sqrt(1 / 6 + 10 / 30)
    found = RULES["corrected_t"](question).interval
    assert found.high == pytest.approx(max(values.mean() + half, question.estimate.value))


def test_the_plain_t_says_that_it_is_invalid():
    question = asked(TWICE)
    values = np.array(question.values.of("error_rate"))
    half = t.ppf(0.975, 9) * values.std(ddof=1) / np.sqrt(10)
    found = RULES["plain_t"](question)
    assert found.interval.high == pytest.approx(values.mean() + half)
    assert "invalid" in found.interval.method
    assert any("invalid" in note for note in found.notes)


def test_an_interval_holds_the_pooled_value_too():
    # Folds of very unequal size: the mean over refits is far from the mean over examples.
    plan = Folds((np.arange(N)[None] >= 36).astype(int) + (np.arange(N)[None] >= 38))
    wrong = np.arange(N) < 36
    for rule in ("corrected_t", "plain_t"):
        question = asked(plan, wrong)
        assert RULES[rule](question).interval.covers(question.estimate.value)


@pytest.mark.parametrize("measure", ["error_rate", "accuracy"])
def test_an_interval_holds_the_pooled_value_where_small_folds_are_worse(measure):
    # One fold of twenty without an error, ten of two with one: ¼ of the examples, .45 by fold.
    at = np.arange(N)
    plan = Folds(np.where(at < 20, 0, at // 2 - 9)[None])
    question = asked(plan, (at >= 20) & (at % 2 == 0), measure)
    found = RULES["plain_t"](question).interval
    assert question.estimate.value in {found.low, found.high}


@pytest.mark.parametrize("measure", ["error_rate", "accuracy"])
def test_the_central_limit_interval(measure):
    question = asked(ONCE, measure=measure)
    p = question.estimate.value
    error = np.sqrt(p * (1 - p) / N) / (p * (1 - p))
    centre = np.log(p / (1 - p))
    ends = 1 / (1 + np.exp(-(centre + norm.ppf([0.025, 0.975]) * error)))
    found = RULES["central_limit"](question).interval
    assert (found.low, found.high) == pytest.approx(tuple(ends))


@pytest.mark.parametrize(
    ("rule", "plan", "measure"),
    [
        pytest.param("central_limit", TWICE, "error_rate", id="two repetitions"),
        pytest.param("central_limit", HELD, "error_rate", id="divisions"),
        pytest.param("central_limit", ONCE, "recall", id="no mean of losses"),
        pytest.param("corrected_t", ONCE, "roc_auc", id="no value of a refit"),
    ],
)
def test_where_a_rule_says_nothing_everything_is_open(rule, plan, measure):
    found = RULES[rule](asked(plan, measure=measure))
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert found.interval.method == "whole_range"
    assert found.notes


def test_a_refit_without_a_value_is_not_left_out_silently():
    # No example of the first fold is positive, so recall has no value there.
    plan = Folds(np.where(np.arange(N) < 10, np.arange(N) % 2, np.arange(N) % 3 + 2)[None])
    found = RULES["corrected_t"](asked(plan, measure="recall"))
    assert found.interval.method == "whole_range"
    assert found.notes == ("no corrected_t: it is undefined in 1 of 5 refits",)


def test_refits_that_all_say_the_same_leave_everything_open():
    found = RULES["corrected_t"](asked(ONCE, np.zeros(N, dtype=bool)))
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert found.notes == ("no interval: all replicates are equal, so their variance is zero",)
