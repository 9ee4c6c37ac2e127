"""Means over repeats: intervals that are honest about shared examples."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truerisk.estimation.curves import means
from truerisk.estimation.curves.means import (
    confusion_values,
    mean_interval,
    resampled_means,
)
from truerisk.evaluation.evaluate import evaluate_counts
from truerisk.intervals.binomial import binomial_interval


def _interval(values, confusions=None, measure="error_rate", ratio=1 / 3):
    if confusions is None:
        confusions = np.tile([[9, 1], [1, 9]], (len(values), 1, 1))
    return mean_interval(
        measure, np.asarray(values), confusions, ratio=ratio, pos_label=1, level=0.95
    )


def test_the_interval_is_the_corrected_t_worked_by_hand():
    found, notes = _interval([0.1, 0.2, 0.3])
    # s = .1, J = 3; t with two degrees of freedom at .975 is 4.30265 (any table).
    half = 4.30265 * 0.1 * math.sqrt(1 / 3 + 1 / 3)
    assert (found.low, found.high) == (0.0, pytest.approx(0.2 + half, rel=1e-5))
    assert found.method == "corrected_t"
    assert notes == ()


def test_equal_repeats_have_the_exact_interval_of_one_hold_out():
    found, notes = _interval([0.1, 0.1])
    exact = binomial_interval(2, 20, level=0.95)
    assert (found.low, found.high) == (exact.low, exact.high)
    assert "hold-out of one" in notes[0]


def test_no_error_at_all_is_no_certainty():
    found, _ = _interval([0.0, 0.0], np.tile([[10, 0], [0, 10]], (2, 1, 1)))
    assert (found.low, found.method) == (0.0, "clopper_pearson")
    assert found.high > 0.13


def test_an_undefined_repeat_leaves_the_whole_range():
    found, notes = _interval([0.1, math.nan], measure="precision")
    assert (found.low, found.high) == (0, 1)
    assert notes == ("undefined in 1 of 2 repeats, and so is the mean",)


@pytest.mark.parametrize(
    "measure", ["error_rate", "accuracy", "recall", "precision", "f1", "f2", "matthews_correlation"]
)
@settings(max_examples=20)
@given(cells=st.lists(st.integers(0, 9), min_size=4, max_size=4))
def test_the_values_of_two_classes_are_those_of_evaluate(measure, cells):
    table = np.reshape(cells, (2, 2)) + np.eye(2, dtype=int)
    expected = evaluate_counts(
        table, labels=("a", "b"), pos_label="b", measures=(measure,), betas=(2.0,), random_state=0
    )[measure]
    found = confusion_values(measure, table[None], pos_label=1)
    assert found[0] == pytest.approx(expected.value, nan_ok=True)


@pytest.mark.parametrize("measure", ["error_rate", "f1_macro", "recall_micro", "f1_weighted"])
@settings(max_examples=20)
@given(cells=st.lists(st.integers(0, 9), min_size=9, max_size=9))
def test_the_values_of_three_classes_are_those_of_evaluate(measure, cells):
    table = np.reshape(cells, (3, 3)) + np.eye(3, dtype=int)
    expected = evaluate_counts(table, measures=(measure,), random_state=0)[measure]
    assert confusion_values(measure, table[None], pos_label=1)[0] == pytest.approx(expected.value)


def test_equal_repeats_of_a_measure_without_an_interval_leave_the_whole_range(monkeypatch):
    for measure in ("f1_macro", "f2"):
        found, notes = _interval([0.9, 0.9], measure=measure)
        assert found.low > 0.5
        assert notes[0].code == "interval_of_one_holdout"
    monkeypatch.setattr(means, "evaluate_counts", lambda *_, **__: {})
    found, notes = _interval([0.9, 0.9], measure="f1_macro")
    assert (found.low, found.high, found.method) == (0, 1, "whole_range")
    assert notes[0].code == "no_spread"


def test_resampled_means_spread_as_the_corrected_t_says():
    values = np.random.default_rng(0).normal(size=(10, 2))
    means = resampled_means(
        values, ratio=1 / 3, level=0.95, replicates=20_000, rng=np.random.default_rng(1)
    )
    # t with nine degrees of freedom over z at .975: 2.262157 / 1.959964.
    expected = values.std(axis=0, ddof=1) * math.sqrt(1 / 10 + 1 / 3) * 2.262157 / 1.959964
    assert means.std(axis=0) == pytest.approx(expected, rel=0.03)
    assert means.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=0.02)


def test_what_moves_together_is_resampled_together():
    column = np.random.default_rng(0).normal(size=(8, 1))
    means = resampled_means(
        np.hstack([column, 2 * column + 1]),
        ratio=0.2,
        level=0.9,
        replicates=50,
        rng=np.random.default_rng(1),
    )
    assert means[:, 1] == pytest.approx(2 * means[:, 0] + 1)
