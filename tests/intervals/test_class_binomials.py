"""Intervals at a known prior: by hand, against Clopper and Pearson, and summed over outcomes."""

import numpy as np
import pytest
from scipy.stats import binom

import truerisk as tr
from truerisk.intervals.binomial import binomial_interval
from truerisk.intervals.class_binomials import confidence_curve

KUBAT = [[50, 50], [40, 850]]


def test_precision_at_a_prior_by_hand():
    # recall 50/100, false positive rate 40/890: 0.005 / (0.005 + 0.99 · 40/890)
    found = tr.evaluate_counts(KUBAT, prior={"1": 0.01})
    assert found["precision"].value == pytest.approx(0.005 / (0.005 + 0.99 * 40 / 890), rel=1e-12)
    assert found["accuracy"].value == pytest.approx(0.01 * 0.5 + 0.99 * 850 / 890, rel=1e-12)


def test_measures_of_one_class_keep_their_exact_interval():
    found = tr.evaluate_counts(KUBAT, prior={"1": 0.01}, level=0.9)
    for name, k, n in (("recall", 50, 100), ("specificity", 850, 890)):
        exact = binomial_interval(k, n, level=0.9)
        assert found[name].value == pytest.approx(k / n, rel=1e-12)
        assert found[name].interval.low == pytest.approx(exact.low, abs=1e-9)
        assert found[name].interval.high == pytest.approx(exact.high, abs=1e-9)


def test_likelihood_ratios_do_not_depend_on_the_prior():
    ends = [
        tr.evaluate_counts(KUBAT, prior={"1": prior})["positive_likelihood_ratio"].interval
        for prior in (0.01, 0.6)
    ]
    assert ends[0].low == pytest.approx(ends[1].low, rel=1e-9)
    assert ends[0].high == pytest.approx(ends[1].high, rel=1e-9)


def precision(p1, p0, prior):
    return prior * p1 / (prior * p1 + (1 - prior) * (1 - p0))


def negative_predictive_value(p1, p0, prior):
    return (1 - prior) * p0 / ((1 - prior) * p0 + prior * (1 - p1))


def accuracy(p1, p0, prior):
    return prior * p1 + (1 - prior) * p0


def f1(p1, p0, prior):
    return 2 * prior * p1 / (prior + prior * p1 + (1 - prior) * (1 - p0))


def matthews(p1, p0, prior):
    called = prior * p1 + (1 - prior) * (1 - p0)
    spread = np.sqrt(prior * (1 - prior) * called * (1 - called))
    return prior * (1 - prior) * (p1 + p0 - 1) / spread


@pytest.mark.parametrize("measure", [precision, negative_predictive_value, accuracy, f1, matthews])
@pytest.mark.parametrize("sizes", [(5, 20), (10, 10), (20, 60), (12, 100)])
def test_it_covers_as_often_as_it_promises_summed_over_all_outcomes(measure, sizes):
    level, prior = 0.95, 0.1
    n1, n0 = sizes
    each = [
        [confidence_curve(np.full(2, k), np.full(2, n), level=level)[:, at] for k in range(n + 1)]
        for at, n in enumerate(sizes)
    ]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = measure(np.array(each[0])[:, None], np.array(each[1])[None], prior)
    low, high = np.nanmin(values, axis=-1), np.nanmax(values, axis=-1)
    for p1 in (0.3, 0.7, 0.9, 0.98):
        for p0 in (0.6, 0.9, 0.97, 0.995):
            truth = measure(p1, p0, prior)
            chance = np.outer(
                binom.pmf(np.arange(n1 + 1), n1, p1), binom.pmf(np.arange(n0 + 1), n0, p0)
            )
            covers = (low - 1e-12 <= truth) & (truth <= high + 1e-12)
            assert (chance * covers).sum() >= level


def test_the_prior_of_the_examples_changes_no_value():
    plain = tr.evaluate_counts(KUBAT)
    same = tr.evaluate_counts(KUBAT, prior={"1": 100 / 990})
    for name, estimate in plain.estimates.items():
        assert same[name].value == pytest.approx(estimate.value, rel=1e-12)
