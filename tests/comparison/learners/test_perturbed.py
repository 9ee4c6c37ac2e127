"""The difference of two SVMs: the same weights and folds for both, and what a feature adds."""

import numpy as np
import pandas as pd
import pytest

from truerisk import KernelSVM, LinearSVM, feature_value, perturbation, perturbation_difference
from truerisk.errors import InputError

RNG = np.random.default_rng(2)
N = 80
X = RNG.normal(size=(N, 3))
Y = (2 * X[:, 0] + X[:, 2] + 0.5 * RNG.normal(size=N) > 0).astype(int)
FEW = {"replicates": 200, "folds": 5, "random_state": 4}


def test_the_deviations_are_the_difference_of_the_two_svms_own() -> None:
    one = perturbation(LinearSVM(), X, Y, **FEW)
    two = perturbation(KernelSVM(), X, Y, **FEW)
    found = perturbation_difference(LinearSVM(), KernelSVM(), X, Y, interval="percentile", **FEW)
    assert found.first.value == one.value
    assert found.second.value == two.value
    deviations = np.subtract(two.replicates, one.replicates)
    value = two.value - one.value
    low, high = np.quantile(deviations, [0.025, 0.975])
    assert found.difference.interval.low == pytest.approx(value - high)
    assert found.difference.interval.high == pytest.approx(value - low)
    normal = perturbation_difference(LinearSVM(), KernelSVM(), X, Y, interval="normal", **FEW)
    assert normal.difference.interval.width == pytest.approx(
        2 * 1.959963984540054 * deviations.std(ddof=1)
    )


@pytest.mark.parametrize("interval", ["normal", "percentile"])
def test_identical_svms_have_p_1_and_an_interval_with_a_width(interval) -> None:
    found = perturbation_difference(LinearSVM(), LinearSVM(), X, Y, interval=interval, **FEW)
    assert found.p_value == 1.0
    assert found.difference.value == 0.0
    assert found.difference.interval.low < 0 < found.difference.interval.high
    assert found.finding == "no evidence"


def test_swapping_the_svms_turns_everything_round() -> None:
    one = perturbation_difference(LinearSVM(), KernelSVM(), X, Y, **FEW)
    two = perturbation_difference(KernelSVM(), LinearSVM(), X, Y, **FEW)
    assert two.difference.value == -one.difference.value
    assert two.difference.interval.low == pytest.approx(-one.difference.interval.high)
    assert two.p_value == pytest.approx(one.p_value)


def test_a_region_makes_equal_svms_equivalent() -> None:
    found = perturbation_difference(LinearSVM(C=1.0), LinearSVM(C=1.0001), X, Y, region=0.2, **FEW)
    assert found.finding == "equivalent"


def test_a_feature_that_matters_is_worth_having_and_another_is_not() -> None:
    assert feature_value(LinearSVM(), X, Y, drop=[0], **FEW).finding == "better"
    assert feature_value(LinearSVM(), X, Y, drop=[1], **FEW).finding == "no evidence"


def test_without_is_the_first_svm_and_sees_the_other_columns() -> None:
    found = feature_value(LinearSVM(), X, Y, drop=[0], **FEW)
    assert found.names == ("fewer features", "all features")
    assert found.first.value == perturbation(LinearSVM(), X[:, 1:], Y, **FEW).value
    assert found.second.value == perturbation(LinearSVM(), X, Y, **FEW).value


def test_columns_of_a_frame_go_by_name() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    by_name = feature_value(LinearSVM(), frame, Y, drop=["a"], **FEW)
    assert by_name.to_dict() == feature_value(LinearSVM(), X, Y, drop=[0], **FEW).to_dict()


@pytest.mark.parametrize(
    ("drop", "words"),
    [
        ([], "some of the 3"),
        ([0, 1, -1], "not all"),
        ([3], "the 3 columns of `X`; got 3"),
        ([-4], "got -4"),
        (["z"], "must name columns"),
        ([True, False, False], "got True"),
        ([1.5], r"got 1\.5"),
        ([None], "got None"),
    ],
    ids=["none", "all", "beyond", "before", "unknown", "mask", "fraction", "nothing"],
)
def test_columns_that_cannot_be_dropped_are_refused(drop, words) -> None:
    with pytest.raises(InputError, match=words):
        feature_value(LinearSVM(), X, Y, drop=drop, **FEW)


def test_a_column_may_be_counted_from_the_end_or_named_twice() -> None:
    found = feature_value(LinearSVM(), X, Y, drop=[-1, 2, -1], **FEW)
    assert found == feature_value(LinearSVM(), X, Y, drop=2, **FEW)
    twice = pd.DataFrame(X, columns=["a", "b", "b"])
    both = feature_value(LinearSVM(), twice, Y, drop="b", names=("few", "all"), **FEW)
    assert both.first.value == perturbation(LinearSVM(), X[:, :1], Y, **FEW).value
    assert both.names == ("few", "all")


def test_what_has_no_columns_or_another_second_table_is_refused() -> None:
    with pytest.raises(InputError, match="must be a table to drop columns of"):
        feature_value(LinearSVM(), ["a text"] * N, Y, drop=[0], **FEW)
    with pytest.raises(TypeError, match="second_X"):
        feature_value(LinearSVM(), X, Y, drop=[0], second_X=X, **FEW)


def test_svms_without_errors_in_training_are_compared_by_their_folds() -> None:
    # Neither errs on what it was trained on, and a narrow kernel knows nothing of the rest.
    machines = KernelSVM(C=1e6, gamma=1e4), KernelSVM(C=1e6, gamma=0.3)
    settings = {**FEW, "losses": "training"}
    found = perturbation_difference(*machines, X, Y, **settings)
    assert found.first.training_error == found.second.training_error == 0
    assert found.difference.interval.high < 0
    assert found.p_value <= 0.05
    assert found.finding == "better"
    grouped = perturbation_difference(*machines, X, Y, groups=np.arange(N) // 2, **settings)
    assert grouped.p_value <= 0.05
    assert grouped.difference.interval.method == "clustered_paired"


def test_other_examples_for_the_second_svm_are_refused() -> None:
    with pytest.raises(InputError, match="same 80 examples"):
        perturbation_difference(LinearSVM(), LinearSVM(), X, Y, second_X=X[:70], **FEW)


def test_a_test_that_excludes_0_goes_with_a_small_p() -> None:
    found = feature_value(LinearSVM(), X, Y, drop=[0], **FEW)
    assert found.p_value <= 0.05
    assert found.difference.interval.high < 0


def test_svms_go_by_their_names_and_prepare_the_columns_each_sees() -> None:
    named = perturbation_difference("linear_svm", "rbf_svm", X, Y, **FEW)
    assert named.first.value == perturbation("linear_svm", X, Y, **FEW).value
    assert named.second.value == perturbation("rbf_svm", X, Y, **FEW).value
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(word=np.where(Y > 0, "up", "down"))
    value = feature_value("linear_svm", frame, Y, drop=["word"], **FEW)
    assert value.second.value == perturbation("linear_svm", frame, Y, **FEW).value
    assert value.first.value == named.first.value
    with pytest.raises(InputError, match="Did you mean svm"):
        feature_value("svn", X, Y, drop=[0], **FEW)
