"""tr.estimate against the same refits done by hand with scikit-learn, and its promises."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import LeaveOneOut, PredefinedSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.errors import InputError
from truerisk.estimation.refits.estimate import estimate
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.plans import METHODS, Design
from truerisk.intervals.agreement import agreement_interval
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import has_code

RNG = np.random.default_rng(11)
N = 60
X = RNG.normal(size=(N, 3))
NOISY = X[:, 0] + 0.8 * RNG.normal(size=N)
TWO = (NOISY > 0).astype(int)
THREE = np.digitize(NOISY, [-0.5, 0.5])
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
BAYES = GaussianNB()
FEW = {"folds": 4, "repeats": 3, "random_state": 1, "replicates": 100}


def plan_of(method, y, groups=None, seed=1, **design):
    examples = Examples.of(X[: len(y)], y, groups, pos_label=None)
    chosen = METHODS[method]
    settings = Design(**{"repeats": chosen.repeats} | design)
    return chosen.plan(examples, settings, np.random.default_rng([seed, 0]))


def out_of_fold(model, y, parts, method="predict"):
    return cross_val_predict(model, X, y, cv=PredefinedSplit(parts), method=method)


def ends(estimate):
    return estimate.interval.low, estimate.interval.high


def check_intervals(found):
    by_class = [one for each in found.by_class.values() for one in each.values()]
    for one in (*found.values(), *by_class, *found.baseline.values(), *found.variants.values()):
        low, high = find_measure(base_and_average(one.measure)[0]).measure_range
        assert low <= one.interval.low <= one.interval.high <= high, one
        assert one.interval.width > 0, one
        if np.isfinite(one.value):
            assert one.interval.low <= one.value + 1e-12, one
            assert one.interval.high >= one.value - 1e-12, one
        assert one.is_defined or one.notes, one


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_cross_validation_is_that_of_scikit_learn_on_the_same_folds(y):
    found = estimate(BAYES, X, y, **FEW)
    parts = plan_of("cross_validation", y, folds=4, repeats=3).parts
    called = np.stack([out_of_fold(BAYES, y, row) for row in parts])
    assert np.array_equal(found.called, called)
    table = sum(confusion_matrix(y, row) for row in called) / 3
    assert found.tallies.confusion() == pytest.approx(table)
    assert found["error_rate"].value == pytest.approx((called != y).mean())
    assert (found.n, found.refits, found["error_rate"].n) == (N, 12, pytest.approx(N))
    macro = f1_score(np.tile(y, 3), called.ravel(), average="macro")
    name = "f1_macro"
    if name in found:
        assert found[name].value == pytest.approx(macro)
    else:
        assert found["f1"].value == pytest.approx(f1_score(np.tile(y, 3), called.ravel()))


def area_within(is_positive, score, parts):
    """The share of the pairs of one fold in the right order: the folds' areas, by their pairs."""
    folds = [parts == part for part in np.unique(parts)]
    pairs = [is_positive[fold].sum() * (~is_positive[fold]).sum() for fold in folds]
    areas = [roc_auc_score(is_positive[fold], score[fold]) for fold in folds]
    return np.average(areas, weights=pairs)


def test_scores_are_measured_repetition_by_repetition():
    found = estimate(BAYES, X, TWO, **FEW)
    parts = plan_of("cross_validation", TWO, folds=4, repeats=3).parts
    scores = [out_of_fold(BAYES, TWO, row, "predict_proba")[:, 1] for row in parts]
    assert np.array_equal(found.scores, np.stack(scores))
    expected = np.mean([log_loss(TWO, score) for score in scores])
    assert found["log_loss"].value == pytest.approx(expected)
    areas = [area_within(TWO == 1, score, row) for row, score in zip(parts, scores, strict=True)]
    assert found["roc_auc"].value == pytest.approx(np.mean(areas))
    folds = [
        roc_auc_score(TWO[row == part], score[row == part])
        for row, score in zip(parts, scores, strict=True)
        for part in range(4)
    ]
    assert found["roc_auc"].replicates == pytest.approx(folds)


def test_scores_of_three_classes_are_measured_repetition_by_repetition():
    found = estimate(BAYES, X, THREE, measures=["roc_auc_macro", "log_loss"], **FEW)
    parts = plan_of("cross_validation", THREE, folds=4, repeats=3).parts
    scores = [out_of_fold(BAYES, THREE, row, "predict_proba") for row in parts]
    areas = [
        area_within(label == THREE, score[:, label], row)
        for row, score in zip(parts, scores, strict=True)
        for label in range(3)
    ]
    assert found["roc_auc_macro"].value == pytest.approx(np.mean(areas))
    support = np.bincount(THREE)
    by_support = np.reshape(areas, (3, 3)) @ support / len(THREE)
    weighted = estimate(BAYES, X, THREE, measures=["roc_auc_weighted"], **FEW)
    assert weighted["roc_auc_weighted"].value == pytest.approx(np.mean(by_support))
    assert len(set(support.tolist())) > 1
    expected = np.mean([log_loss(THREE, score) for score in scores])
    assert found["log_loss"].value == pytest.approx(expected)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_error_rate_and_accuracy_have_the_interval_of_their_components(y):
    found = estimate(TREE, X, y, **FEW)
    wrong = found.called != y
    for name, losses in (("error_rate", wrong), ("accuracy", ~wrong)):
        expected = tr.refit_interval(losses, found.judged_by)
        assert ends(found[name]) == pytest.approx((expected.low, expected.high))
        assert found[name].interval.method == "variance_components"
        assert found[name].target == "this model"


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_error_rate_and_accuracy_have_the_agreement_interval_on_request(y):
    found = estimate(TREE, X, y, interval="agreement", **FEW)
    wrong = found.called != y
    for name, losses in (("error_rate", wrong), ("accuracy", ~wrong)):
        expected = agreement_interval(losses)
        assert ends(found[name]) == pytest.approx((expected.low, expected.high))
        assert found[name].interval.method == "agreement_binomial"
    assert not any(one.interval.method == "variance_components" for one in found.values())


def test_refits_that_err_together_are_said():
    rng = np.random.default_rng(0)
    corners = rng.choice([-1.0, 1.0], size=(200, 2)) + 0.3 * rng.normal(size=(200, 2))
    y = (corners.prod(axis=1) > 0).astype(int)
    found = estimate(LinearSVC(), corners, y, **FEW)
    error = found["error_rate"]
    assert error.interval.lengthening > 1.25
    assert error.interval.together > 0
    assert has_code(error.notes, "refits_err_together")
    assert has_code(found.notes, "refits_err_together")
    assert error.to_dict()["interval"]["together"] == error.interval.together
    assert not has_code(estimate(BAYES, X, TWO, **FEW).notes, "refits_err_together")


def test_recall_and_precision_have_the_agreement_interval_of_what_they_count():
    found = estimate(TREE, X, TWO, interval="agreement", **FEW)
    right = (found.called == TWO).astype(float)
    counted = {"recall": np.broadcast_to(TWO == 1, right.shape), "precision": found.called == 1}
    for name, which in counted.items():
        expected = agreement_interval(right, counted=which)
        assert ends(found[name]) == pytest.approx((expected.low, expected.high))


def test_leave_one_out_is_that_of_scikit_learn():
    found = estimate(BAYES, X[:30], TWO[:30], method="leave_one_out", random_state=1)
    called = cross_val_predict(BAYES, X[:30], TWO[:30], cv=LeaveOneOut())
    assert found.called.tolist() == [called.tolist()]
    wrong = int((called != TWO[:30]).sum())
    exact = tr.binomial_interval(wrong, 30)
    assert ends(found["error_rate"]) == pytest.approx((exact.low, exact.high))
    assert found["error_rate"].interval.method == "pooled_binomial"
    check_intervals(found)


def test_the_holdout_says_what_evaluate_says_of_the_same_predictions():
    found = estimate(BAYES, X, TWO, method="holdout", random_state=1)
    train, test = plan_of("holdout", TWO).train_and_test(0)
    model = BAYES.fit(X[train], TWO[train])
    plain = tr.evaluate(
        TWO[test],
        model.predict(X[test]),
        y_score=model.predict_proba(X[test])[:, 1],
        probabilities=True,
        random_state=1,
    )
    assert set(found) == set(plain)
    for name, one in plain.items():
        assert found[name].value == pytest.approx(one.value, nan_ok=True), name
        assert ends(found[name]) == pytest.approx(ends(one)), name
        assert found[name].interval.method == one.interval.method
    assert (found.n, found.refits) == (20, 1)


def test_subsampling_votes_on_what_each_division_holds_out():
    found = estimate(BAYES, X, TWO, method="subsampling", repeats=6, random_state=1)
    plan = plan_of("subsampling", TWO, repeats=6)
    losses = np.full((6, N), np.nan)
    for at in range(6):
        train, test = plan.train_and_test(at)
        losses[at, test] = BAYES.fit(X[train], TWO[train]).predict(X[test]) != TWO[test]
    share = np.nanmean(losses[:, ~np.isnan(losses).all(axis=0)], axis=0)
    assert found["error_rate"].value == pytest.approx(share.mean())
    assert found["error_rate"].replicates == pytest.approx(np.nanmean(losses, axis=1))
    assert found.n == len(share)
    assert found["error_rate"].n == len(share)


def test_forward_in_time_nothing_is_judged_by_what_came_after():
    found = estimate(BAYES, X, TWO, method="time_ordered", folds=5, random_state=1)
    assert (found.called[0, :10] == -1).all()
    for start in range(10, 60, 10):
        model = BAYES.fit(X[:start], TWO[:start])
        expected = model.predict(X[start : start + 10])
        assert np.array_equal(found.called[0, start : start + 10], expected)
    assert found.n == 50


@pytest.mark.parametrize("method", ["bootstrap", "stratified_bootstrap"])
def test_the_bootstrap_done_by_hand(method):
    found = estimate(BAYES, X, TWO, method=method, repeats=20, random_state=1)
    plan = plan_of(method, TWO, repeats=20)
    losses, optimism = np.full((20, N), np.nan), []
    for at in range(20):
        drawn, _ = plan.train_and_test(at)
        wrong = BAYES.fit(X[drawn], TWO[drawn]).predict(X) != TWO
        out = ~np.isin(np.arange(N), drawn)
        losses[at, out] = wrong[out]
        optimism.append(wrong.mean() - wrong[drawn].mean())
    left_out = np.nanmean(losses, axis=0).mean()
    called = BAYES.fit(X, TWO).predict(X)
    apparent = (called != TWO).mean()
    p, q = TWO.mean(), called.mean()
    gamma = p * (1 - q) + (1 - p) * q
    overfitting = (left_out - apparent) / (gamma - apparent)
    weight = 0.632 / (1 - 0.368 * overfitting)
    assert apparent < left_out < gamma  # where all ways to limit the rule agree
    assert found["error_rate"].value == pytest.approx(
        (1 - weight) * apparent + weight * left_out, rel=1e-3
    )
    assert found["accuracy"].value == pytest.approx(1 - found["error_rate"].value)
    assert ends(found["accuracy"]) == pytest.approx(
        tuple(1 - np.array(ends(found["error_rate"])))[::-1]
    )
    variants = {name: one.value for name, one in found.variants.items()}
    assert variants["leave_one_out_bootstrap"] == pytest.approx(left_out)
    assert variants["bootstrap_optimism"] == pytest.approx(apparent + np.mean(optimism))
    assert found["error_rate"].target == "the learner at this sample size"
    check_intervals(found)


def test_the_training_error_has_no_interval():
    found = estimate(TREE, X, TWO, method="training_error", random_state=1)
    assert found["error_rate"].value == (TREE.fit(X, TWO).predict(X) != TWO).mean()
    assert all(one.interval is None for one in found.values())


METHODS_OF_MANY_REFITS = {
    "cross_validation": {"folds": 4, "repeats": 2},
    "holdout": {},
    "subsampling": {"repeats": 4},
    "five_by_two": {},
    "time_ordered": {"folds": 4},
    "bootstrap": {"repeats": 10},
    "stratified_bootstrap": {"repeats": 10},
    "nested_cross_validation": {"folds": 4, "repeats": 2},
}


@pytest.mark.parametrize("method", sorted(METHODS_OF_MANY_REFITS))
@pytest.mark.parametrize(
    "case", ["tree", "no scores", "decision values", "constant", "perfect", "three classes"]
)
def test_every_interval_contains_its_value_and_lies_in_the_range(method, case):
    y = THREE if case == "three classes" else TWO
    rows = y[:, None].astype(float) if case == "perfect" else X
    model = {
        "no scores": NoScores(),
        "decision values": LinearSVC(random_state=0),
        "constant": DummyClassifier(),
    }.get(case, TREE)
    options = METHODS_OF_MANY_REFITS[method] | {"replicates": 100, "random_state": 1}
    found = estimate(model, rows, y, method=method, **options)
    check_intervals(found)
    if case == "perfect":
        assert found["error_rate"].value == pytest.approx(0.0, abs=1e-9)


class NoScores(ClassifierMixin, BaseEstimator):
    """A model that says nothing but labels."""

    def fit(self, rows, y):
        self.tree_ = DecisionTreeClassifier(max_depth=2, random_state=0).fit(rows, y)
        return self

    def predict(self, rows):
        return self.tree_.predict(rows)


def test_a_model_without_scores_is_measured_by_its_labels():
    with_scores = estimate(TREE, X, TWO, **FEW)
    without = estimate(NoScores(), X, TWO, **FEW)
    assert "roc_auc" in with_scores
    assert "roc_auc" not in without
    assert without.scores is None
    assert without["f1"].value == with_scores["f1"].value


@pytest.mark.parametrize("groups", [np.arange(N) // 3, np.arange(N) % 8], ids=["20", "8"])
def test_groups_are_never_on_both_sides_and_are_the_units(groups):
    found = estimate(TREE, X, TWO, groups=groups, **FEW)
    parts = plan_of("cross_validation", TWO, groups, folds=4, repeats=3).parts
    assert np.array_equal(found.called, np.stack([out_of_fold(TREE, TWO, row) for row in parts]))
    assert found["error_rate"].value == pytest.approx((found.called != TWO).mean())
    assert found["error_rate"].interval.method == "cluster_variance_components"
    check_intervals(found)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_held_out_groups_have_the_intervals_of_evaluate(y):
    groups = np.arange(N) // 3
    found = estimate(TREE, X, y, method="holdout", groups=groups, random_state=1, test_size=0.5)
    there = found.called[0] >= 0
    names = ["accuracy", "error_rate", "balanced_accuracy", "matthews_correlation"]
    names += ["f1", "recall"] if y is TWO else ["f1_macro", "recall_macro"]
    expected = tr.evaluate(y[there], found.called[0][there], groups=groups[there], measures=names)
    for name in expected:
        assert found[name].interval.method == expected[name].interval.method, name
        assert ends(found[name]) == pytest.approx(ends(expected[name])), name
    assert found["error_rate"].interval.method == "group_jackknife"


@pytest.mark.parametrize("kind", ["booleans", "signs", "texts", "objects", "series", "floats"])
def test_the_names_of_the_labels_do_not_matter(kind):
    y, pos_label = {
        "booleans": (TWO.astype(bool), None),
        "signs": (2 * TWO - 1, None),
        "texts": (np.array(["ham", "spam"])[TWO], "spam"),
        "objects": (np.array(["ham", "spam"], dtype=object)[TWO].tolist(), "spam"),
        "series": (pd.Series(TWO, index=np.arange(N)[::-1]), None),
        "floats": (TWO.astype(float), None),
    }[kind]
    plain = estimate(TREE, X, TWO, **FEW)
    found = estimate(TREE, X, y, pos_label=pos_label, **FEW)
    for name in plain:
        assert found[name].value == pytest.approx(plain[name].value, nan_ok=True), name
        if "hull" not in plain[name].interval.method:  # each label draws its own replicates
            assert ends(found[name]) == pytest.approx(ends(plain[name])), name


def test_the_measures_of_the_first_label_are_those_of_the_first_label():
    first = estimate(BAYES, X, TWO, pos_label=0, **FEW)
    second = estimate(BAYES, X, TWO, pos_label=1, **FEW)
    assert first["recall"].value == pytest.approx(second["specificity"].value)
    assert first["roc_auc"].value == pytest.approx(second["roc_auc"].value)
    assert first["roc_auc"].replicates == pytest.approx(second["roc_auc"].replicates)
    assert first["brier_score"].value == pytest.approx(second["brier_score"].value)
    assert first["error_rate"].interval == second["error_rate"].interval


@pytest.mark.parametrize("kind", ["frame", "sparse", "lists"])
def test_rows_of_any_kind_are_judged_alike(kind):
    rows = {
        "frame": pd.DataFrame(X, columns=list("abc"), index=np.arange(N) * 3),
        "sparse": sparse.coo_array(X),
        "lists": X.tolist(),
    }[kind]
    model = LogisticRegression()
    found = estimate(model, rows, TWO, **FEW)
    assert np.array_equal(found.called, estimate(model, X, TWO, **FEW).called)


def test_texts_are_vectorized_inside_the_folds():
    texts = [("good " if label else "bad ") + f"word{at}" for at, label in enumerate(TWO)]
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    found = estimate(model, texts, TWO, **FEW)
    assert found["error_rate"].value == 0.0
    parts = plan_of("cross_validation", TWO, folds=4, repeats=3).parts
    expected = cross_val_predict(
        model, texts, TWO, cv=PredefinedSplit(parts[0]), method="predict_proba"
    )
    assert found.scores[0] == pytest.approx(expected[:, 1])


def test_the_result_does_not_depend_on_the_number_of_workers():
    one, two = (
        json.dumps(estimate(BAYES, X, THREE, n_jobs=n_jobs, **FEW).to_dict()) for n_jobs in (1, 2)
    )
    assert one == two


def test_a_seed_that_is_not_given_is_drawn_and_told():
    found = estimate(TREE, X, TWO, folds=3, repeats=1)
    again = estimate(TREE, X, TWO, folds=3, repeats=1, random_state=found.settings["random_state"])
    assert found.to_dict() == again.to_dict()


def test_only_the_measures_asked_for_are_there_and_they_are_the_same():
    every = estimate(TREE, X, TWO, **FEW)
    some = estimate(TREE, X, TWO, measures=["f1", "roc_auc"], **FEW)
    assert list(some) == ["f1", "roc_auc"]
    assert some["f1"] == every["f1"]
    assert some["roc_auc"] == every["roc_auc"]


def test_the_level_makes_the_interval_longer():
    narrow, wide = (estimate(BAYES, X, TWO, level=level, **FEW) for level in (0.5, 0.99))
    for name in narrow:
        assert narrow[name].interval.width < wide[name].interval.width, name
    assert wide.level == wide["f1"].interval.level == 0.99


def test_replicates_are_the_values_of_the_refits():
    found = estimate(TREE, X, TWO, **FEW)
    parts = plan_of("cross_validation", TWO, folds=4, repeats=3).parts
    wrong = found.called != TWO
    expected = [wrong[r, parts[r] == part].mean() for r in range(3) for part in range(4)]
    assert found["error_rate"].replicates == pytest.approx(expected)


def test_the_baseline_is_the_commonest_class_on_the_same_folds():
    y = (np.arange(N) % 3 == 0).astype(int)
    found = estimate(TREE, X, y, **FEW)
    dummy = estimate(DummyClassifier(strategy="most_frequent"), X, y, **FEW)
    for name, one in found.baseline.items():
        assert one.value == pytest.approx(dummy[name].value)
        assert ends(one) == pytest.approx(ends(dummy[name]))
    assert found.baseline["error_rate"].value == pytest.approx(1 / 3)


def test_one_repetition_holds_independent_examples_and_the_spread_of_its_folds():
    found = estimate(TREE, X, TWO, **FEW | {"repeats": 1})
    error = found["error_rate"]
    exact = tr.binomial_interval(int((found.called != TWO).sum()), N)
    folds = tr.summarise(error.replicates, measure="error_rate")
    low, high = (min(exact.low, folds.interval.low), max(exact.high, folds.interval.high))
    assert ends(error) == pytest.approx((low, high))
    assert (error.interval.method, error.target) == ("one_repetition", "this model")
    several = estimate(TREE, X, THREE, **FEW | {"repeats": 1})
    for label, each in several.by_class.items():
        recall = each["recall"]
        of_class = [
            np.mean(several.called[0, there] == several.labels.index(label))
            for fold in range(FEW["folds"])
            if (there := (several.judged_by[0] == fold) & (THREE.astype(str) == label)).any()
        ]
        assert len(of_class) == FEW["folds"]
        spread = tr.summarise(of_class, measure="recall").interval
        if spread is not None:
            assert recall.interval.method == "one_repetition"
            assert recall.interval.low <= spread.low + 1e-12
            assert recall.interval.high >= spread.high - 1e-12


def test_one_repetition_does_not_promise_precision_and_correlation():
    names = ("precision", "matthews_correlation", "recall", "error_rate")
    once, again = (
        estimate(GaussianNB(), X, TWO, measures=names, **FEW | {"repeats": repeats})
        for repeats in (1, 2)
    )
    marked = {name for name in names if has_code(once[name].notes, "not_kept_at_this_size")}
    assert marked == {"precision", "matthews_correlation"}
    assert not any(has_code(again[name].notes, "not_kept_at_this_size") for name in names)


@pytest.mark.parametrize(
    ("settings", "ratio"),
    [({"method": "five_by_two"}, 1.0), ({"method": "subsampling", "test_size": 0.5}, 1.0)],
)
def test_large_tests_hold_the_variance_components_and_the_corrected_t(settings, ratio):
    found = estimate(TREE, X, TWO, random_state=1, **settings)
    learner = estimate(TREE, X, TWO, random_state=1, interval="corrected_t", **settings)
    for name in ("error_rate", "f1", "roc_auc"):
        one, spread = found[name].interval, learner[name].interval
        assert (one.method, found[name].target) == ("components_or_t", "this model")
        assert one.low <= spread.low + 1e-12
        assert one.high >= spread.high - 1e-12
        assert one.disagreement >= 0
    values = found["error_rate"].replicates
    spread = tr.summarise(values, measure="error_rate", test_train_ratio=ratio).interval
    wider = found["error_rate"].interval
    assert wider.low <= spread.low + 1e-12
    assert wider.high >= spread.high - 1e-12


def test_small_tests_have_the_variance_components_alone():
    found = estimate(TREE, X, TWO, method="subsampling", test_size=0.25, random_state=1)
    assert found["error_rate"].interval.method == "variance_components"


def test_folds_that_hardly_differ_leave_the_interval_of_independent_examples():
    truth = np.repeat([0, 1], [41, 20])
    found = estimate("majority", np.zeros((61, 1)), truth, **FEW | {"repeats": 1})
    error = found["error_rate"]
    assert 0 < np.ptp(error.replicates) < 0.05
    exact = tr.binomial_interval(20, 61)
    assert ends(error) == pytest.approx((exact.low, exact.high))
    assert error.interval.method == "one_repetition"


def test_agreement_of_one_repetition_takes_examples_as_independent():
    found = estimate(TREE, X, TWO, **FEW | {"repeats": 1}, interval="agreement")
    exact = tr.binomial_interval(int((found.called != TWO).sum()), N)
    assert ends(found["error_rate"]) == pytest.approx((exact.low, exact.high))


def test_four_examples_are_enough_for_two_folds():
    found = estimate(DummyClassifier(), X[:4], [0, 1, 0, 1], folds=2, random_state=1)
    assert found.n == 4
    check_intervals(found)


def test_costs_are_counted():
    found = estimate(TREE, X, TWO, costs={"fp": 1, "fn": 5}, **FEW)
    missed = ((found.called == 0) & (TWO == 1)).mean()
    alarms = ((found.called == 1) & (TWO == 0)).mean()
    assert found["cost"].value == pytest.approx(5 * missed + alarms)


def test_a_model_can_be_named():
    found = estimate("tree", X, TWO, **FEW)
    assert 0 < found["error_rate"].value < 0.5


def test_a_class_that_comes_late_is_unknown_until_then():
    y = np.r_[TWO[:40], np.full(20, 2)]
    found = estimate(TREE, X, y, method="time_ordered", folds=5, random_state=1)
    assert found.by_class["2"]["recall"].n == 20
    assert (found.called[0, 40:50] != 2).all()
    assert found["log_loss"].value == np.inf
    assert "were given the probability 0" in found["log_loss"].notes[0]
    check_intervals(found)


def test_the_verdict_and_the_notes_speak_of_the_method():
    found = estimate(TREE, X, TWO, **FEW)
    assert found.notes[0].startswith("Cross-validation, 12 refits: ")
    assert found.verdict
    assert found.settings["folds"] == 4
    assert found["error_rate"].method == "cross_validation"
    assert found.model == "DecisionTreeClassifier(max_depth=2, random_state=0)"


def test_what_is_saved_is_plain_and_has_no_seconds():
    found = estimate(TREE, X, THREE, **FEW)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert not {"costs", "called", "scores", "tallies"} & set(plain)
    assert plain["estimates"]["error_rate"]["value"] == pytest.approx(found["error_rate"].value)
    assert len(found.costs.to_induce) == 12
    assert all(seconds > 0 for seconds in found.costs.seconds)
    assert replace(found, costs=None) == found


def test_progress_is_told_after_each_refit():
    told = []
    estimate(TREE, X, TWO, progress=lambda *now: told.append(now), **FEW)
    assert told == [(at, at, 12) for at in range(1, 13)]


def test_a_run_can_be_resumed_from_its_folder(tmp_path):
    fitted = []

    class Counted(NoScores):
        def fit(self, rows, y):
            fitted.append(len(rows))
            return super().fit(rows, y)

        def __repr__(self, _=700):
            return "Counted()"

    options = {"resume": tmp_path / "refits", **FEW}
    first = estimate(Counted(), X, TWO, **options)
    again = estimate(Counted(), X, TWO, **options)
    assert len(fitted) == 12
    assert first.to_dict() == again.to_dict()
    with pytest.raises(InputError):
        estimate(Counted(), X + 1, TWO, **options)


class Remembers(ClassifierMixin, BaseEstimator):
    """A model that was trained before, and takes no notice of `fit`."""

    def __init__(self, predict_anyway=None):
        self.predict_anyway = predict_anyway

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.predict_anyway(X)


@pytest.mark.parametrize("method", ["cross_validation", "holdout", "leave_one_out", "bootstrap"])
def test_a_model_on_which_training_has_no_effect_is_noticed(method):
    noise = np.random.default_rng(1).integers(0, 2, N)
    nearest = KNeighborsClassifier(1).fit(X, noise)
    found = estimate(Remembers(nearest.predict), X, noise, method=method, random_state=1)
    assert found["error_rate"].value == pytest.approx(0.0)
    assert found.verdict[0].code == "training_has_no_effect"


@pytest.mark.parametrize(
    "model",
    [
        *(DummyClassifier(strategy=one) for one in ("most_frequent", "prior", "uniform")),
        DummyClassifier(strategy="stratified", random_state=0),
        DummyClassifier(strategy="constant", constant=1),
        KNeighborsClassifier(1),
        TREE,
        LinearSVC(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("method", ["cross_validation", "holdout", "leave_one_out"])
def test_a_model_that_trains_is_not_suspected(model, method):
    easy = (X[:, 0] > 0).astype(int)
    wide = X + 3 * np.sign(X)  # every refit predicts every example rightly
    found = estimate(model, wide, easy, method=method, random_state=1)
    assert not has_code(found.verdict, "training_has_no_effect")


def test_a_frozen_model_is_refused():
    frozen = FrozenEstimator(KNeighborsClassifier(1).fit(X, TWO))
    with pytest.raises(InputError, match="must be trained anew in each refit; got FrozenEstim"):
        estimate(make_pipeline(StandardScaler(), frozen), X, TWO)


def test_the_central_limit_interval_has_one_repetition_unless_told():
    found = estimate(TREE, X, TWO, interval="central_limit", random_state=1)
    assert found.refits == 10
    assert found["error_rate"].interval.width < 0.4
    assert found["error_rate"].target == "the models of the folds"
    with pytest.raises(InputError, match="central_limit must have one repetition of cross_val"):
        estimate(TREE, X, TWO, interval="central_limit", repeats=2)
    with pytest.raises(InputError, match="central_limit must have one repetition of cross_val"):
        estimate(TREE, X, TWO, interval="central_limit", method="subsampling")


def test_measures_of_all_classes_need_no_positive_label():
    words = np.where(TWO == 1, "yes", "oui")
    found = estimate(TREE, X, words, measures=("error_rate", "balanced_accuracy"), **FEW)
    assert found["error_rate"] == estimate(TREE, X, TWO, **FEW)["error_rate"]
    with pytest.raises(InputError, match="pos_label"):
        estimate(TREE, X, words, measures=("recall",), **FEW)


@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame])
def test_a_named_model_takes_a_frame_with_words(form):
    frame = form({"size": X[:, 1], "colour": np.where(X[:, 0] > 0, "red", "blue")})
    found = estimate("logistic_regression", frame, TWO, **FEW)
    assert found["error_rate"].value < 0.4
