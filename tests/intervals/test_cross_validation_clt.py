import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from truerisk.errors import InputError
from truerisk.intervals.cross_validation_clt import (
    VARIANCES,
    all_pairs,
    cross_validation_clt,
    within_folds,
)

LOSSES = [0, 0, 0, 1, 0, 1, 1, 1]
FOLDS = [0, 0, 0, 0, 1, 1, 1, 1]

designs = st.tuples(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=40), st.integers(2, 4)
).map(lambda both: (np.array(both[0] * 2), np.arange(2 * len(both[0])) % both[1]))
levels = st.sampled_from([0.5, 0.8, 0.95, 0.999])


def test_both_variances_by_hand():
    losses, folds = np.array(LOSSES, float), np.array(FOLDS)
    # About the own mean, ¼ and ¾: squares 3/4 each, over 3, mean of the two folds.
    assert within_folds(losses, folds) == pytest.approx(0.25)
    # About ½: 8 · ¼ over 8; the folds differ, and that counts here.
    assert all_pairs(losses, folds) == pytest.approx(0.25)
    assert all_pairs(np.array([0.0, 1.0, 1.0, 1.0]), folds[:4]) == pytest.approx(3 / 16)


def test_folds_that_differ_show_between_them_only():
    losses, folds = np.repeat([0.0, 1.0], 4), np.repeat([0, 1], 4)
    assert within_folds(losses, folds) == 0
    assert all_pairs(losses, folds) == 0.25
    assert cross_validation_clt(losses, folds, variance="within_folds") is None


def test_unequal_folds_weigh_by_their_size():
    # Folds of 2 and 3: variances ½ and 1/3; (2 · ½ + 3 · ⅓)/5
    losses, folds = np.array([0.0, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 1])
    assert within_folds(losses, folds) == pytest.approx(2 / 5)


def test_the_interval_on_either_scale_by_hand():
    # se = √(¼/8) = .1767767; on the logit scale divided by p(1 − p) = ¼.
    plain = cross_validation_clt(LOSSES, FOLDS, scale="identity")
    half = 1.959964 * math.sqrt(0.25 / 8)
    assert [plain.low, plain.high] == pytest.approx([0.5 - half, 0.5 + half], abs=1e-6)
    assert plain.method == "cross_validation_clt_all_pairs"
    bent = cross_validation_clt(LOSSES, FOLDS, variance="within_folds")
    ends = expit(logit(0.5) + np.array([-1, 1]) * 4 * half)
    assert [bent.low, bent.high] == pytest.approx(ends.tolist(), abs=1e-6)
    assert bent.method == "cross_validation_clt_within_folds"


def test_it_is_cut_at_the_range():
    found = cross_validation_clt([1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1], scale="identity")
    assert found.low == 0


@pytest.mark.parametrize("scale", ["logit", "identity"])
@pytest.mark.parametrize("variance", VARIANCES)
@settings(max_examples=30, deadline=None)
@given(design=designs, level=levels, seed=st.integers(0, 99))
def test_it_keeps_the_laws_of_intervals(scale, variance, design, level, seed):
    losses, folds = design
    found = cross_validation_clt(losses, folds, level=level, variance=variance, scale=scale)
    if found is None:
        return
    assert 0 <= found.low <= losses.mean() <= found.high <= 1
    wider = cross_validation_clt(
        losses, folds, level=(1 + level) / 2, variance=variance, scale=scale
    )
    assert wider.low <= found.low <= found.high <= wider.high
    order = np.random.default_rng(seed).permutation(losses.size)
    mixed = cross_validation_clt(
        losses[order], 7 - folds[order], level=level, variance=variance, scale=scale
    )
    assert [mixed.low, mixed.high] == pytest.approx([found.low, found.high], abs=1e-9)


@pytest.mark.parametrize("loss", [0.0, 0.1, 1.0])
def test_without_variance_there_is_no_interval(loss):
    for variance in VARIANCES:
        found = cross_validation_clt(
            [loss] * 11, np.arange(11) % 5, variance=variance, scale="identity"
        )
        assert found is None


def test_it_covers_the_error_of_a_rule_that_does_not_learn():
    # A constant rule has independent losses, so that the theorem is the ordinary one.
    rng = np.random.default_rng(1)
    folds = np.arange(400) % 10
    covered = [
        cross_validation_clt(rng.random(400) < 0.3, folds, variance="within_folds").covers(0.3)
        for _ in range(1000)
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=3 * math.sqrt(0.95 * 0.05 / 1000))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cross_validation_clt([0, 1, 2], [0, 0, 1]), r"must lie in \[0, 1\]; got 2.0"),
        (lambda: cross_validation_clt([0, np.nan], [0, 1]), r"must lie in \[0, 1\]; got nan"),
        (lambda: cross_validation_clt([0, 1], [0, 0]), "`folds` must be at least two; got 1"),
        (lambda: cross_validation_clt([0, 1], [0]), "All columns must have one length"),
        (
            lambda: cross_validation_clt([0, 1], [0, 1], variance="within_folds"),
            "two examples each; got one of 1. Take all_pairs for leave-one-out",
        ),
        (lambda: cross_validation_clt([0, 1], [0, 1], variance="in"), "must be one of all_pairs"),
    ],
    ids=["range", "nan", "one fold", "lengths", "leave one out", "variance"],
)
def test_slips_are_told(call, message):
    with pytest.raises(InputError, match=message):
        call()
