"""Where refits fail, where measures have no value, where a method has less to say."""

import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from truerisk import estimate
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import each_left_out, random_divisions
from truerisk.estimation.refits.votes import CollectedVotes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
TWO = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=60), [-0.5, 0.5])
TREE = DecisionTreeClassifier(max_depth=2)


class BySecond(ClassifierMixin, BaseEstimator):
    """Calls by the sign of the second column."""

    def fit(self, _, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 1] > 0).astype(int)]


class NeedsTheFirst(BySecond):
    """Fails without the first example."""

    def fit(self, rows, y):
        if not (np.abs(rows - X[0]).sum(axis=1) < 1e-12).any():
            raise RuntimeError("needs the first example")
        return super().fit(rows, y)


class NeedsTies(BySecond):
    """Fails unless an example is there twice."""

    def fit(self, rows, y):
        if len(np.unique(rows, axis=0)) == len(rows):
            raise RuntimeError("needs ties")
        return super().fit(rows, y)


class Slow(BySecond):
    """Takes a fiftieth of a second to judge."""

    def predict(self, X):
        time.sleep(0.02)
        return super().predict(X)


def run(model, y=TWO, **settings):
    return estimate(model, X, y, random_state=1, **settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"interval": "corrected_t", "repeats": 2}, "no corrected_t: refits failed"),
        ({"interval": "central_limit", "repeats": 1}, "no central limit interval: refits failed"),
        ({"method": "nested_cross_validation", "repeats": 1}, "no nested interval: refits failed"),
    ],
    ids=["corrected t", "central limit", "nested"],
)
def test_a_rule_that_needs_every_refit_leaves_all_open_when_one_failed(settings, said):
    found = run(NeedsTheFirst(), allow_failed=True, folds=5, **settings)["error_rate"]
    assert (found.interval.low, found.interval.high) == (0.0, 1.0)
    assert said in " ".join(found.notes)
    judged = run(NeedsTheFirst(), allow_failed=True, folds=5, repeats=1)
    assert judged.n == 48


def test_groups_whose_refit_failed_are_judged_by_the_other_repetitions():
    found = run(NeedsTheFirst(), groups=np.arange(60) // 5, folds=5, repeats=3, allow_failed=True)
    assert found["error_rate"].interval.low < found["error_rate"].value
    assert any("failed and is left out: RuntimeError: needs the first" in n for n in found.notes)


def test_a_bootstrap_whose_model_cannot_be_trained_on_all_examples_says_so():
    with pytest.raises(RefitError, match="must be trained on all examples; it fails: RuntimeError"):
        run(NeedsTies(), method="bootstrap", repeats=20)


def test_a_bootstrap_refit_judges_all_examples_in_the_time_it_takes():
    seconds = run(Slow(), method="bootstrap", repeats=10).costs.seconds[1]
    assert 20 / 60 <= seconds < 48 / 60  # a thousand examples, 20 ms for sixty; .9 were it a third


def test_the_baseline_of_a_bootstrap_judges_what_was_not_drawn():
    y = (np.arange(60) < 33).astype(int)
    found = run(DummyClassifier(), y, method="bootstrap", repeats=50)
    value = found["balanced_accuracy"].value
    assert found.baseline["balanced_accuracy"].value == pytest.approx(value)


def test_the_micro_averages_of_a_bootstrap_are_corrected_as_the_accuracy_is():
    found = run(TREE, THREE, method="bootstrap", repeats=20)
    right = found["accuracy"].value
    assert found["f1_micro"].value == found["recall_micro"].value == right
    assert found["jaccard_micro"].value == pytest.approx(right / (2 - right))
    assert any("no measures of scores" in note for note in found.notes)


def test_leaving_one_out_does_not_tip_the_scales_of_the_baseline():
    found = run(DummyClassifier(), np.arange(60) % 2, method="leave_one_out")
    assert found.baseline["accuracy"].value == 0.5
    mostly = run(DummyClassifier(), (np.arange(60) < 40).astype(int), method="leave_one_out")
    assert mostly.baseline["accuracy"].value == pytest.approx(2 / 3)


def test_scores_of_single_examples_are_ranked_across_refits_and_that_is_told():
    found = run(DummyClassifier(strategy="prior"), method="leave_one_out")["roc_auc"]
    assert found.notes == ("scores of different refits are ranked together: none judged a pair",)


def test_scores_that_some_refits_lack_are_left_out_and_that_is_told():
    y = np.r_[2, np.arange(59) % 2]
    found = run(LinearSVC(), y, allow_small_classes=True)
    assert "roc_auc_macro" not in found
    assert any("lacked a class" in note for note in found.notes)


def test_repetitions_with_other_classes_are_told():
    y = np.r_[2, 2, np.arange(58) % 2]
    found = run(TREE, y, method="subsampling", stratified=False)["roc_auc_macro"]
    assert (
        not found.is_defined
        or "the repetitions differ in the classes that they hold" in found.notes
    )


def test_a_perfect_model_has_no_central_limit_interval():
    found = estimate(TREE, TWO[:, None], TWO, repeats=1, interval="central_limit", random_state=1)
    assert found["error_rate"].interval.method == "whole_range"
    assert "the losses do not vary" in found["error_rate"].notes[-1]


def test_the_replicates_of_a_cost_are_costs():
    found = run(TREE, costs={"fp": 1, "fn": 5}, folds=6)["cost"]
    assert np.mean(found.replicates) == pytest.approx(found.value)


def test_the_replicates_of_an_average_are_over_the_classes_asked_for():
    found = run(TREE, np.arange(60) % 3, average_over=("1",), folds=10, repeats=1)
    assert np.mean(found["recall_macro"].replicates) == pytest.approx(found["recall_macro"].value)


def test_a_measure_that_single_refits_do_not_have_is_left_open():
    found = run(TREE, THREE, interval="corrected_t", folds=5, repeats=2)["roc_auc_macro"]
    assert "no corrected_t: it has no value for each refit" in found.notes


def test_a_subsample_rejects_nothing():
    assert "rejection_rate" not in run(TREE, THREE, method="subsampling")


def test_the_positive_label_of_three_classes_is_that_of_its_own_row():
    assert any("its own row" in note for note in run(TREE, THREE, pos_label=1).notes)


def test_every_class_is_held_out_in_its_share():
    y = np.r_[[0, 0], np.ones(28, dtype=int), [2, 2]]
    judged = random_divisions(y, 1 / 3, 3000, np.random.default_rng(0)).judged
    shares = [judged[:, y == label].mean() for label in range(3)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.03)


def test_leaving_one_out_keeps_no_table_of_each_refit():
    examples = Examples.of(np.zeros((2000, 1)), np.arange(2000) % 100)
    assert CollectedVotes(examples, each_left_out(2000)).tables.nbytes == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "holdout", "repeats": 3}, "`repeats` must be left out for holdout"),
        ({"method": "leave_one_out", "folds": 5}, "`folds` must be left out for leave_one_out"),
        ({"stratified": "no"}, "`stratified` must be True or False; got 'no'"),
        ({"repeats": 0}, "`repeats` must lie in"),
        ({"binomial": "wilson"}, "`binomial` must be clopper_pearson for refits"),
        ({"cell_interval": "bca"}, "`cell_interval` must be by_measure, smoothed_delta or delta"),
        ({"method": "bootstrap", "interval": "corrected_t"}, "which has its own"),
    ],
    ids=["repeats", "folds", "stratified", "none", "binomial", "cells", "rule"],
)
def test_a_setting_that_would_not_count_is_refused(settings, said):
    with pytest.raises(InputError, match=said):
        run(TREE, **settings)
