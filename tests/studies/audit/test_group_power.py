"""Size and power of tests of rows in groups."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

import truerisk as tr
from studies.audit import group_power
from studies.audit.group_power import Trial


def test_the_tests_are_those_of_compare_and_of_the_former_rule():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(30), 5)
    truth = rng.integers(0, 2, 150)
    first, second = (np.where(rng.random(150) < p, truth, 1 - truth) for p in (0.7, 0.8))
    lost = (second != truth).astype(float) - (first != truth)
    new, former = group_power.p_values(group, lost)
    compared = tr.compare(truth, first, second, groups=group, measures=["error_rate"])
    assert new == pytest.approx(compared["error_rate"].p_value)
    # Groups of one size: the totals are a sample.
    assert former == pytest.approx(ttest_1samp(np.bincount(group, lost), 0.0).pvalue)


def test_a_large_gap_is_found_and_equal_models_seldom(tmp_path, monkeypatch):
    trials = [Trial(60, "groups of 5", gap) for gap in (0.0, 1.5)]
    monkeypatch.setattr(group_power, "trials", lambda: trials)
    equal, apart = group_power.measure_all(samples=40, folder=tmp_path)
    for one, other in zip(equal, apart, strict=True):
        assert one.group_jackknife < 0.25
        assert other.group_jackknife > 0.5
        assert other.t_of_totals >= other.group_jackknife
