"""Where perturbation can say nothing, and what groups and labels do to what it says."""

import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk import LinearSVM, perturbation
from truerisk.errors import InputError
from truerisk.estimation.svm.perturbed_losses import PerturbedLosses
from truerisk.estimation.svm.perturbed_notes import columns_of, kind_of, was_cut, why_exact
from truerisk.intervals.agreement import agreement_interval

RNG = np.random.default_rng(1)
N = 60
Y = np.repeat(["no", "yes"], N // 2)
X = RNG.normal(size=(N, 3)) + 0.9 * (Y == "yes")[:, None]
FEW = {"replicates": 150, "random_state": 4}
SOME = PerturbedLosses(np.array([True, False, False, False]), np.array([0.1, -0.1, 0.2]))


@pytest.mark.parametrize(
    ("value", "examples", "features", "words"),
    [
        (0.25, 4, 3, None),
        (0.25, 4, None, None),
        (0.0, 4, 3, "no errors"),
        (1.0, 4, 3, "nothing but errors"),
        (0.25, 4, 4, "4 examples in training and 4 features"),
    ],
    ids=["nothing wrong", "kernel", "no error in the folds", "all errors in the folds", "wide"],
)
def test_the_reason_for_the_exact_interval(value, examples, features, words) -> None:
    told = why_exact(SOME, value, examples, features)
    assert told is None if words is None else words in told


def test_losses_without_spread_are_a_reason() -> None:
    still = PerturbedLosses(SOME.wrong, np.full(3, 0.1))
    assert "No weighting changes" in why_exact(still, 0.25, 4, None)


def test_an_end_is_cut_at_0_or_at_1() -> None:
    assert "below 0" in was_cut("normal", 0.05, SOME, 0.95)
    assert "above 1" in was_cut("percentile", 0.95, SOME, 0.95)
    assert was_cut("effective_size", 0.05, SOME, 0.95) == ""


def test_kinds_and_columns_are_read_off() -> None:
    assert kind_of(SVC(kernel="precomputed")) == "precomputed"
    assert columns_of(np.zeros((4, 3))) == 3
    assert columns_of(["a text", "another"]) == 1


def test_weights_of_classes_go_by_the_labels_that_were_given() -> None:
    by_name = perturbation(LinearSVM(class_weight={"no": 4.0}), X, Y, **FEW)
    ones_and_twos = np.where(Y == "no", 1, 2)
    by_number = perturbation(LinearSVM(class_weight={1: 4.0}), X, ones_and_twos, **FEW)
    assert by_number.replicates == by_name.replicates
    assert by_name.replicates != perturbation(LinearSVM(), X, Y, **FEW).replicates


def test_few_groups_that_are_alike_are_worth_no_more_than_in_the_exact_interval() -> None:
    groups = np.tile(np.arange(6), N // 6)
    alike = X + 1.2 * np.random.default_rng(3).normal(size=(6, 3))[groups]
    found = perturbation(LinearSVM(), alike, Y, groups=groups, **FEW)
    exact = found.forms["exact"]
    assert exact.method == "cluster_binomial"
    assert found.interval.low <= exact.low + 1e-12
    assert exact.high <= found.interval.high + 1e-12


def test_groups_of_one_are_single_examples() -> None:
    found = perturbation(LinearSVM(), X, Y, groups=np.arange(N), **FEW)
    wrong = np.arange(N) < round(found.value * N)
    assert found.forms["exact"].high == pytest.approx(agreement_interval([wrong]).high)


def test_a_class_that_is_one_group_is_refused() -> None:
    groups = np.where(Y == "yes", 0, 1 + np.arange(N) % 6)
    with pytest.raises(InputError, match=r"without fold \d of 5 there is only 'no'"):
        perturbation(LinearSVM(), X, Y, groups=groups, **FEW)


@pytest.mark.parametrize("n_jobs", [0, 1.5, -2])
def test_a_number_of_threads_that_is_none_is_refused(n_jobs) -> None:
    with pytest.raises(InputError, match="n_jobs"):
        perturbation(LinearSVM(), X, Y, n_jobs=n_jobs, **FEW)


def test_nothing_is_told_of_the_features_behind_a_matrix() -> None:
    found = perturbation(SVC(kernel="precomputed"), X @ X.T, Y, **FEW)
    assert not any("Measured" in note for note in found.notes)
