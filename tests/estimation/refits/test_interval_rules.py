import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm, t

from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.interval_rules import (
    RULES,
    RuleInput,
    plain_standard_error,
    summarise,
)
from truerisk.estimation.refits.plans import Folds, HeldOut
from truerisk.estimation.refits.splits import k_fold
from truerisk.estimation.refits.votes import CollectedVotes, RefitValues
from truerisk.intervals.cross_validation import corrected_standard_error
from truerisk.results import Estimate

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "reference" / "resampled_t.json").read_text(encoding="utf-8")
)
VECTORS = {vector["id"]: vector for vector in REFERENCE["vectors"]}
# Exercise 3 of Kubat's chapter 11: five folds, twice.
ERRORS = [0.14, 0.16, 0.10, 0.15, 0.18, 0.17, 0.15, 0.12, 0.13, 0.20]

shares = st.floats(0, 1)
replicates = st.lists(shares, min_size=2, max_size=20)


def test_mean_deviation_and_interval_worked_by_hand():
    # The sum is 1.50; the squared deviations sum to .0078; s = √(.0078 / 9) = .029439.
    # Five folds: 1/4 test to training; √(1/10 + 1/4) = .591608; t₉ at .975 is 2.262157.
    found = summarise(ERRORS, folds=5, measure="error_rate")
    assert found.value == pytest.approx(0.15, abs=1e-15)
    assert found.standard_deviation == pytest.approx(0.029439, abs=5e-7)
    half = 2.262157 * 0.0294392 * 0.591608
    assert found.interval.low == pytest.approx(0.15 - half, abs=1e-6)
    assert found.interval.high == pytest.approx(0.15 + half, abs=1e-6)
    assert found.interval.method == "corrected_t"
    assert found.target == "the learner at this sample size"
    assert found.replicates == tuple(ERRORS)
    assert found.n == 10


def test_it_says_both_forms_of_the_deviation():
    # √(.0078 / 9) and √(.0078 / 10)
    assert (
        "0.02944 (dividing by n − 1), 0.02793 (dividing by n)"
        in summarise(ERRORS, measure="error_rate").notes[1]
    )


def test_it_says_how_the_examples_were_divided():
    assert (
        summarise(ERRORS, folds=5, measure="error_rate").notes[0]
        == "5 folds, 2 times, test to training examples 1/4"
    )
    assert (
        summarise(ERRORS, measure="error_rate").notes[0]
        == "10 folds, test to training examples 1/9"
    )
    assert summarise(ERRORS, test_train_ratio=0.5, measure="error_rate").notes[0] == (
        "10 random divisions, test to training examples 0.5"
    )


def test_the_plain_t_is_labelled_invalid_and_shorter():
    plain, corrected = (
        summarise(ERRORS, folds=5, method=m, measure="error_rate")
        for m in ("plain_t", "corrected_t")
    )
    # 2.262157 · .0294392 / √10
    assert plain.interval.width == pytest.approx(2 * 0.0210596, abs=1e-6)
    assert plain.interval.method == "plain_t (invalid)"
    assert "type I error .21 at .05" in plain.notes[-1]
    assert "invalid" in str(plain)
    assert plain.interval.width < corrected.interval.width


def test_the_corrected_t_of_correctR():  # noqa: N802
    vector = VECTORS["nadeau-bengio-correctR-repkfold"]
    inputs = vector["inputs"]
    differences = np.subtract(inputs["a"], inputs["b"])
    error = corrected_standard_error(differences, inputs["n_test"] / inputs["n_train"])
    statistic = differences.mean() / error
    assert statistic == pytest.approx(vector["expected"]["t"], abs=vector["tolerance"]["abs"])
    p_value = 2 * t.sf(statistic, len(differences) - 1)
    assert p_value == pytest.approx(vector["expected"]["pvalue"], abs=vector["tolerance"]["abs"])


@pytest.mark.parametrize("name", ["baycomp-correlated-3-1", "baycomp-correlated-10-1"])
def test_the_variance_of_baycomps_correlated_t(name):
    vector = VECTORS[name]
    differences = np.subtract(vector["inputs"]["y"], vector["inputs"]["x"]).astype(float)
    error = corrected_standard_error(differences, 1 / (len(differences) - 1))
    assert error**2 == pytest.approx(vector["expected"]["variance"], abs=1e-12)


def test_no_variance_gives_no_interval_but_a_reason():
    vector = VECTORS["5x2cv-zero-variance"]
    assert "undefined" in vector["expected"]["outcome"]
    found = summarise([0.1] * 10, folds=2, measure="error_rate")
    assert found.value == pytest.approx(0.1)
    assert found.interval is None
    assert "all replicates are equal" in found.notes[-1]


@given(
    values=replicates,
    level=st.floats(0.5, 0.999),
    method=st.sampled_from(["corrected_t", "plain_t"]),
)
def test_the_interval_lies_in_the_range_and_contains_the_value(values, level, method):
    found = summarise(values, level=level, method=method, measure="error_rate")
    if found.interval is not None:
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1


@given(values=replicates)
def test_a_higher_level_gives_a_wider_interval(values):
    low, high = (
        summarise(values, level=level, measure="error_rate").interval for level in (0.8, 0.99)
    )
    if low is not None:
        assert high.low <= low.low <= low.high <= high.high


@given(values=replicates, order=st.randoms(use_true_random=False))
def test_the_order_of_the_replicates_does_not_matter(values, order):
    shuffled = list(values)
    order.shuffle(shuffled)
    assert (
        summarise(shuffled, measure="error_rate").value
        == summarise(values, measure="error_rate").value
    )
    assert (
        summarise(shuffled, measure="error_rate").interval
        == summarise(values, measure="error_rate").interval
    )


@given(values=replicates, ratio=st.floats(0.01, 2))
def test_the_correction_only_ever_lengthens(values, ratio):
    assert corrected_standard_error(values, ratio) >= plain_standard_error(values, ratio)


def _linear_discriminant(X, y):
    return np.linalg.lstsq(np.c_[X, np.ones(len(X))], np.where(y, 1.0, -1.0), rcond=None)[0]


def _is_wrong(weights, X, y):
    return (np.c_[X, np.ones(len(X))] @ weights > 0) != y


def _coverage(separation, n, folds, repetitions, data_sets=200):
    """Give how often each interval covers the learner's true error: normals at ± separation."""
    rng, mean = np.random.default_rng(20), np.array([separation, 0.0])
    true_errors, intervals = [], []
    for _ in range(data_sets):
        y = np.arange(n) % 2 == 0
        X = rng.normal(size=(n, 2)) + np.where(y, 1, -1)[:, np.newaxis] * mean
        *slope, offset = _linear_discriminant(X, y)
        margins = (np.array([1, -1]) * offset + slope @ mean) / np.linalg.norm(slope)
        true_errors.append(ndtr(-margins).mean())
        values = []
        for _ in range(repetitions):
            parts = k_fold(y, folds, random_state=rng)
            for part in range(folds):
                out = parts == part
                weights = _linear_discriminant(X[~out], y[~out])
                values.append(_is_wrong(weights, X[out], y[out]).mean())
        methods = ("corrected_t", "plain_t")
        intervals.append(
            [
                summarise(values, folds=folds, method=m, measure="error_rate").interval
                for m in methods
            ]
        )
    truth = np.mean(true_errors)
    covered = [[ends is not None and ends.covers(truth) for ends in pair] for pair in intervals]
    return dict(zip(methods, np.mean(covered, axis=0), strict=True))


def test_the_corrected_interval_covers_where_the_plain_one_does_not():
    # Five times two halves of 100, error rate .16; 200 data sets: a standard error of .015 at .95.
    coverage = _coverage(1.0, 100, folds=2, repetitions=5)
    assert coverage["corrected_t"] >= 0.92
    assert coverage["plain_t"] <= 0.65


def test_with_one_or_two_errors_in_all_no_t_interval_holds():
    # Ten folds of 50, error rate .026: the docstring says so, and the note does.
    assert _coverage(2.0, 50, folds=10, repetitions=1)["corrected_t"] <= 0.8
    assert "few errors" in summarise(ERRORS, measure="error_rate").notes[-1]


def test_an_interval_that_would_leave_the_range_is_cut_off_and_says_so():
    found = summarise([0.0, 0.01, 0.02], measure="error_rate")
    assert found.interval.low == 0
    assert "cut off" in found.notes[-1]
    assert "cut off" not in summarise(ERRORS, measure="error_rate").notes[-1]


def test_a_measure_that_can_be_negative_keeps_its_range():
    found = summarise([-0.9, -0.5, 0.1], measure="matthews_correlation")
    assert found.interval.low == -1
    assert found.measure == "matthews_correlation"


def test_a_fold_without_a_value_is_refused_not_left_out():
    with pytest.raises(InputError, match=r"got NaN as number 2.*pool the predictions"):
        summarise([0.1, math.nan, 0.3], measure="error_rate")


def test_percentages_are_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"got 14.0 as number 1. Write 0.14 for 14 %\."):
        summarise([14, 16], measure="error_rate")


@pytest.mark.parametrize("values", [[], [0.1]])
def test_fewer_than_two_values_are_refused(values):
    with pytest.raises(InputError, match="`values` must be at least two"):
        summarise(values, measure="error_rate")


def test_an_infinite_value_is_refused():
    with pytest.raises(InputError, match="must be numbers in"):
        summarise([1.0, math.inf], measure="positive_likelihood_ratio")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 3}, "`folds` must divide the number of values; got 3 folds and 10 values"),
        ({"folds": 1}, "`folds` must lie in"),
        ({"folds": 5, "test_train_ratio": 0.2}, "got both"),
        ({"test_train_ratio": 0.0}, "`test_train_ratio` must lie in"),
        ({"level": 95}, "Write 0.95 for 95 %"),
        ({"method": "t"}, "`method` must be one of corrected_t, plain_t"),
        ({"measure": "goodness"}, "`measure` must be one of"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_setting_that_cannot_be_meant_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        summarise(ERRORS, **{"measure": "error_rate", **options})


def test_a_wrong_level_is_refused_even_without_an_interval():
    with pytest.raises(InputError, match="`level`"):
        summarise([0.1, 0.1], level=2, measure="error_rate")


N = 40
EXAMPLES = Examples.of(np.zeros((N, 1)), np.arange(N) % 2)
ONCE = Folds(np.arange(N)[None] // 8)  # five folds of eight
TWICE = Folds(np.stack([np.arange(N) // 8, np.arange(N) % 5]))
HELD = HeldOut(np.stack([(np.arange(N) + 7 * at) % N < 10 for at in range(6)]))
WRONG = np.arange(N) % 7 == 0  # six of forty


def asked(plan, wrong=WRONG, measure="error_rate", level=0.95):
    collected = CollectedVotes(EXAMPLES, plan)
    answers = []
    for at in range(len(plan)):
        test = plan.train_and_test(at)[1]
        predicted = np.where(wrong[test], 1 - EXAMPLES.codes[test], EXAMPLES.codes[test])
        answers.append({"predicted": predicted.astype(np.int32), "seconds": np.zeros(2)})
    collected.gather(answers)
    values = RefitValues(collected)
    value = wrong.mean() if measure == "error_rate" else 1 - wrong.mean()
    estimate = Estimate(
        value=float(value), interval=None, measure=measure, method="cross_validation", n=N
    )
    return RuleInput(estimate, collected, values, level)


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
        pytest.param("corrected_t", ONCE, "roc_auc", id="no value of a refit"),
    ],
)
def test_where_a_rule_says_nothing_everything_is_open(rule, plan, measure):
    found = RULES[rule](asked(plan, measure=measure))
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert found.interval.method == "whole_range"
    assert found.notes


def test_a_measure_that_is_no_mean_of_losses_keeps_the_interval_by_agreement():
    question = asked(ONCE, measure="recall")
    found = RULES["central_limit"](question)
    assert found.interval == question.estimate.interval
    assert found.notes[-1].code == "no_mean_loss"


def test_a_refit_without_a_value_is_not_left_out_silently():
    # No example of the first fold is positive, so recall has no value there.
    plan = Folds(np.where(np.arange(N) < 10, np.arange(N) % 2, np.arange(N) % 3 + 2)[None])
    found = RULES["corrected_t"](asked(plan, measure="recall"))
    assert found.interval.method == "whole_range"
    assert found.notes == ("no corrected_t: it is undefined or infinite in 1 of 5 refits",)


def test_refits_that_all_say_the_same_leave_everything_open():
    found = RULES["corrected_t"](asked(ONCE, np.zeros(N, dtype=bool)))
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert found.notes == ("no interval: all replicates are equal, so their variance is zero",)


def test_the_measure_of_the_values_must_be_given():
    with pytest.raises(InputError, match="`measure` must say what the values are"):
        summarise(ERRORS)


def test_the_result_of_cross_validate_is_taken():
    scores = {"fit_time": [1.0] * 10, "test_score": [1 - one for one in ERRORS]}
    found = summarise(scores, measure="accuracy", folds=5)
    assert found.measure == "accuracy"
    assert found == summarise(scores["test_score"], measure="accuracy", folds=5)
    several = {"test_accuracy": scores["test_score"], "test_f1": [0.5] * 10}
    assert summarise(several, measure="accuracy", folds=5) == found
    with pytest.raises(InputError, match=r"`values` must hold test_score or test_recall.*test_f1"):
        summarise(several, measure="recall")
