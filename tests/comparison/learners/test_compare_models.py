import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import truerisk as tr
from truerisk.comparison.learners.compare_models import (
    DEFAULT,
    PAIRED_TESTS,
    PERTURBATION,
    BayesianComparison,
    ModelComparisons,
    Probabilities,
)
from truerisk.comparison.learners.learner_tests import by_corrected_t, by_five_by_two_t
from truerisk.comparison.learners.perturbed import perturbation_difference
from truerisk.errors import InputError, RefitError
from truerisk.estimation.refits.plans import repeated_folds
from truerisk.estimation.refits.splits import five_by_two
from truerisk.results import Comparison, Estimate, Interval, as_plain

OF_FOLDS = [name for name in PAIRED_TESTS if not name.startswith("five")]
BAYES, STUMP = GaussianNB(), DecisionTreeClassifier(max_depth=1)
BLUNT = GaussianNB(var_smoothing=1.0)  # nothing random in it, as there is in a tree


def few(method):
    """Give the settings of few refits, where the method has a choice."""
    if method not in OF_FOLDS:
        return {}
    return {"folds": 3, "repeats": 1 if PAIRED_TESTS[method].once else 2}


@pytest.fixture(scope="module")
def data():
    """Give 60 examples of two classes that overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return rng.normal(size=(60, 2)) + 0.8 * y[:, None], y


@pytest.fixture(scope="module")
def three(data):
    """Give 60 examples of three classes."""
    X, _ = data
    y = np.arange(60) % 3
    return X + 2 * y[:, None], y


class Fails(ClassifierMixin, BaseEstimator):
    """Fail to learn."""

    def fit(self, X, y):  # noqa: ARG002
        raise RuntimeError("no")

    def predict(self, X):
        return X


class Told(ClassifierMixin, BaseEstimator):
    """Answer what the first feature says, or the opposite."""

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (self.sign * X[:, 0] > 0).astype(int)


def errors_by_hand(model, X, y, parts):
    """Give the error of each fold, R × K, with no help of ours."""
    found = []
    for part in parts:
        row = []
        for k in range(part.max() + 1):
            trained = type(model)(**model.get_params()).fit(X[part != k], y[part != k])
            row.append(np.mean(trained.predict(X[part == k]) != y[part == k]))
        found.append(row)
    return np.array(found)


def test_the_corrected_t_is_over_the_errors_of_both_in_the_same_folds(data):
    X, y = data
    found = tr.compare_models(
        BLUNT, BAYES, X, y, method="corrected_t", folds=3, repeats=2, random_state=5
    )
    parts = repeated_folds(y, 3, 2, np.random.default_rng([5, 0])).parts
    differences = errors_by_hand(BAYES, X, y, parts) - errors_by_hand(BLUNT, X, y, parts)
    expected = by_corrected_t(differences.reshape(-1, 3), 100)
    assert found.p_value == pytest.approx(expected.p_value)
    assert found.difference.value == pytest.approx(differences.mean())
    assert found.difference.target == "the learner at this sample size"


def test_the_k_fold_t_is_of_one_cross_validation_and_invalid(data):
    X, y = data
    found = tr.compare_models(BLUNT, BAYES, X, y, method="k_fold_t", folds=5, random_state=5)
    parts = repeated_folds(y, 5, 1, np.random.default_rng([5, 0])).parts
    differences = errors_by_hand(BAYES, X, y, parts) - errors_by_hand(BLUNT, X, y, parts)
    assert np.ptp(differences) > 0
    assert found.p_value == pytest.approx(ttest_1samp(differences.ravel(), 0.0).pvalue)
    assert any(note.code == "invalid_test" for note in found.notes)
    with pytest.raises(InputError, match="`repeats` must be 1 for k_fold_t"):
        tr.compare_models(BLUNT, BAYES, X, y, method="k_fold_t", repeats=2, random_state=5)


def test_five_by_two_is_over_five_pairs_of_halves(data):
    X, y = data
    found = tr.compare_models(BLUNT, BAYES, X, y, method="five_by_two_t", random_state=5)
    parts = five_by_two(y, random_state=np.random.default_rng([5, 0]))
    differences = errors_by_hand(BAYES, X, y, parts) - errors_by_hand(BLUNT, X, y, parts)
    assert found.p_value == pytest.approx(by_five_by_two_t(differences, 100).p_value)
    assert any("half the examples" in note for note in found.notes)


@pytest.mark.parametrize("method", PAIRED_TESTS)
def test_the_same_learner_twice_is_no_better(data, method):
    found = tr.compare_models(BAYES, BAYES, *data, method=method, random_state=1, **few(method))
    assert (found.difference.value, found.finding) == (0.0, "no evidence")
    assert found.p_value == (None if method == "bayesian" else 1.0)
    assert found.difference.interval.low < 0 < found.difference.interval.high
    assert found.settled_by is None


def test_the_same_learner_twice_is_equivalent_within_a_region(data):
    found = tr.compare_models(BAYES, BAYES, *data, region=0.1, random_state=1, **few(DEFAULT))
    assert found.finding == "equivalent"


@pytest.mark.parametrize("method", PAIRED_TESTS)
def test_swapping_the_learners_negates_the_difference_and_its_interval_around_it(data, method):
    settings = {"method": method, "random_state": 1, **few(method)}
    found = tr.compare_models(STUMP, BAYES, *data, **settings)
    swapped = tr.compare_models(BAYES, STUMP, *data, **settings)
    assert swapped.difference.value == pytest.approx(-found.difference.value)
    ends = found.difference.interval
    assert (-swapped.difference.interval.high, -swapped.difference.interval.low) == pytest.approx(
        (ends.low, ends.high)
    )
    assert swapped.p_value == pytest.approx(found.p_value) or found.p_value is None
    assert swapped.names == found.names[::-1]
    assert found.difference.value != 0
    if method != "five_by_two_t":  # whose interval is of the first of ten differences
        assert (ends.low + ends.high) / 2 == pytest.approx(found.difference.value)


@pytest.mark.parametrize("method", ["corrected_t", "agreement", "nested_cross_validation"])
def test_accuracy_says_what_the_error_rate_says(data, method):
    found = tr.compare_models(
        STUMP,
        BAYES,
        *data,
        method=method,
        measures=["error_rate", "accuracy"],
        random_state=1,
        **few(method),
    )
    error, right = found["error_rate"], found["accuracy"]
    assert right.difference.value == pytest.approx(-error.difference.value)
    assert right.p_value == pytest.approx(error.p_value)
    assert right.finding == error.finding


def test_a_learner_that_is_always_right_is_better_than_one_that_is_always_wrong():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    found = tr.compare_models(Told(-1), Told(), X, y, method="agreement", folds=4, random_state=1)
    assert found.finding == "better"
    constant = tr.compare_models(Told(-1), Told(), X, y, folds=4, random_state=1)
    assert math.isnan(constant.p_value)
    assert constant.finding == "no evidence"
    assert any("take agreement" in note for note in constant.notes)


def test_the_probabilities_add_up_and_know_which_way_is_better(data):
    found = tr.compare_models(
        STUMP,
        BAYES,
        *data,
        method="bayesian",
        measures=["error_rate", "accuracy"],
        region=0.02,
        random_state=1,
        **few("bayesian"),
    )
    shares = [found[name].probabilities for name in ("error_rate", "accuracy")]
    for one in shares:
        assert one.better + one.equivalent + one.worse == pytest.approx(1)
    assert shares[0].better == pytest.approx(shares[1].better)
    assert (shares[0].better > shares[0].worse) == (found["error_rate"].difference.value < 0)
    assert found["error_rate"].to_dict()["probabilities"]["better"] == shares[0].better


def test_two_processes_give_the_same_bits(data):
    settings = {"folds": 3, "repeats": 1, "random_state": 3}
    one = tr.compare_models(STUMP, BAYES, *data, **settings)
    assert tr.compare_models(STUMP, BAYES, *data, n_jobs=2, **settings) == one


def test_learners_are_not_changed_and_are_called_by_their_class(data):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    found = tr.compare_models(BAYES, pipeline, *data, random_state=1, **few(DEFAULT))
    assert found.names == ("GaussianNB", "LogisticRegression")
    assert not hasattr(BAYES, "classes_")
    assert not hasattr(pipeline[-1], "classes_")
    same = tr.compare_models(STUMP, STUMP, *data, random_state=1, **few(DEFAULT))
    assert same.names == ("DecisionTreeClassifier (first)", "DecisionTreeClassifier (second)")


def test_a_drawn_seed_is_recorded_and_repeats_the_comparison(data):
    found = tr.compare_models("tree", BAYES, *data, **few(DEFAULT))
    seed = int(re.search(r"seed (\d+)", found.notes[0]).group(1))
    assert tr.compare_models("tree", BAYES, *data, random_state=seed, **few(DEFAULT)) == found


def test_groups_stay_together_and_are_the_units(data):
    X, y = data
    groups = np.arange(60) // 2
    twice, labels = np.repeat(X[::2], 2, axis=0), np.repeat(y[::2] ^ (np.arange(30) % 2), 2)
    found = tr.compare_models(
        "knn", BAYES, twice, labels, method="agreement", groups=groups, random_state=1, folds=3
    )
    assert found.difference.interval.method == "cluster_agreement"
    with pytest.raises(InputError, match="keep groups together"):
        tr.compare_models(STUMP, BAYES, X, y, method="five_by_two_t", groups=groups, random_state=1)


def test_several_classes_are_compared_by_averages(three):
    found = tr.compare_models(
        STUMP,
        BAYES,
        *three,
        measures=("error_rate", "f1_macro"),
        folds=5,
        repeats=1,
        random_state=1,
    )
    assert found["f1_macro"].finding == found["error_rate"].finding == "better"
    assert json.loads(json.dumps(found.to_dict()))["comparisons"]["f1_macro"]["finding"] == "better"
    assert str(found).count("better") == 2
    assert found._repr_html_().count("is better than") == 2
    with pytest.raises(InputError, match="take an average"):
        tr.compare_models(STUMP, BAYES, *three, measures="f1", random_state=1, **few(DEFAULT))


def test_rankings_are_compared_by_the_values_of_refits(data):
    found = tr.compare_models(
        STUMP, BAYES, *data, measures="roc_auc", random_state=1, **few(DEFAULT)
    )
    assert found.measure == "roc_auc"
    assert -1 <= found.difference.value <= 1


def test_a_measure_without_a_value_in_some_refit_is_undefined(data):
    found = tr.compare_models(
        "majority", BAYES, *data, measures="precision", random_state=1, **few(DEFAULT)
    )
    assert not found.difference.is_defined
    assert math.isnan(found.p_value)
    assert found.finding == "no evidence"
    assert "undefined" in found.verdict


def test_refits_that_fail_are_never_left_out(data):
    for method in ("corrected_t", "nested_cross_validation"):
        with pytest.raises(RefitError, match=r"broken: .*it failed in"):
            tr.compare_models(
                BAYES,
                Fails(),
                *data,
                method=method,
                names=("sound", "broken"),
                random_state=1,
                **few(method),
            )


def test_refits_that_are_saved_are_not_done_again(data, tmp_path):
    settings = {"random_state": 1, "resume": tmp_path, **few(DEFAULT)}
    found = tr.compare_models(STUMP, BAYES, *data, **settings)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "second"]
    assert tr.compare_models(STUMP, BAYES, *data, **settings) == found
    with pytest.raises(InputError, match="`resume` must be left out"):
        tr.compare_models(STUMP, BAYES, *data, **{**settings, "method": "nested_cross_validation"})
    with pytest.raises(InputError, match="`random_state` must be given"):
        tr.compare_models(STUMP, BAYES, *data, resume=tmp_path)


@pytest.mark.parametrize("method", ["corrected_t", "nested_cross_validation"])
def test_progress_counts_the_refits_of_both(data, method):
    seen = []
    tr.compare_models(
        BAYES,
        BAYES,
        *data,
        method=method,
        random_state=1,
        progress=lambda *counts: seen.append(counts),
        **few(method),
    )
    assert seen[-1] == (len(seen), len(seen), len(seen))
    assert [done for done, _, _ in seen] == list(range(1, len(seen) + 1))


def test_no_evidence_says_that_more_examples_change_the_learners(data):
    found = tr.compare_models(BLUNT, BAYES, *data, random_state=1, **few(DEFAULT))
    assert found.finding == "no evidence"
    assert found.settled_by > 60
    assert found.verdict.endswith("compare them again then.")


def test_svms_are_compared_by_perturbation(data):
    X, y = data
    settings = {"random_state": 1, "replicates": 100, "folds": 3}
    labels = np.where(y == 1, "yes", "no")
    pair = (tr.LinearSVM(C=0.01), tr.LinearSVM())
    found = tr.compare_models(
        *pair, X, labels, method=PERTURBATION, pos_label="yes", region=0.5, **settings
    )
    direct = perturbation_difference(
        *pair, X, y, region=0.5, names=("LinearSVM (first)", "LinearSVM (second)"), **settings
    )
    assert replace(found, notes=direct.notes) == direct
    assert found.notes[0] == "Both SVMs on the same weights and folds; seed 1."
    with pytest.raises(InputError, match="`repeats` must be left out for perturbation"):
        tr.compare_models(*pair, X, y, method=PERTURBATION, repeats=3)
    with pytest.raises(InputError, match="`resume` must be left out for perturbation"):
        tr.compare_models(*pair, X, y, method=PERTURBATION, resume="kept", random_state=1)
    with pytest.raises(InputError, match="`measures` must be error_rate for perturbation"):
        tr.compare_models(*pair, X, y, method=PERTURBATION, measures="accuracy")


def test_perturbation_tells_its_seed_counts_its_refits_and_asks_for_no_positive_class(data):
    X, y = data
    told = []
    settings = {"method": PERTURBATION, "replicates": 100, "folds": 3}
    named = tr.LinearSVM(class_weight={"1": 9.0})  # the name of the second class among two
    drawn = tr.compare_models(
        tr.LinearSVM(),
        named,
        X,
        y.astype(str),
        progress=lambda *all_: told.append(all_),
        **settings,
    )
    assert told[-1] == (606, 606, 606)
    seed = int(drawn.notes[0].rpartition(" ")[2].rstrip("."))
    others = np.where(y == 1, "b", "a")
    again = tr.compare_models(
        tr.LinearSVM(),
        tr.LinearSVM(class_weight={"b": 9.0}),
        X,
        others,
        random_state=seed,
        **settings,
    )
    assert again == drawn
    with pytest.raises(InputError, match="`random_state` must be a whole number"):
        tr.compare_models(named, named, X, y, random_state=np.random.default_rng(1), **settings)


def test_a_difference_without_spread_has_no_posterior_and_asks_for_no_examples():
    X, y = np.repeat([[-1.0], [1.0]], 20, axis=0), np.repeat([0, 1], 20)
    found = tr.compare_models(
        Told(-1), Told(), X, y, method="bayesian", region=0.01, folds=4, random_state=1
    )
    assert math.isnan(found.probabilities.better)
    assert found.finding == "no evidence"
    assert found.settled_by is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "t"}, "`method` must be one of cautious_t"),
        ({"level": 95}, "Write 0.95"),
        ({"region": 0}, "`region` must lie in"),
        ({"names": ("a", "a")}, "`names` must be two different names"),
        ({"names": "ab"}, "`names` must be two different names"),
        ({"measures": ()}, "`measures` must name each measure once"),
        ({"measures": ("error_rate",) * 2}, "`measures` must name each measure once"),
        ({"measures": "roc_auc_macro", "folds": 2}, "must have a value in each refit"),
        ({"measures": "f1", "method": "agreement"}, "`measures` must be error_rate or accuracy"),
        ({"replicates": 9}, "`replicates` must be left out for cautious_t"),
        ({"folds": 5, "method": "five_by_two_f"}, "`folds` must be left out for five_by_two_f"),
        ({"folds": 2, "method": "nested_cross_validation"}, r"`folds` must lie in \[3"),
        ({"folds": 61}, "`folds`"),
        ({"folds": 1}, "`folds`"),
        ({"repeats": 0}, "`repeats`"),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else None,
)
def test_settings_that_cannot_be_meant_are_refused(data, settings, message):
    with pytest.raises(InputError, match=message):
        tr.compare_models(BAYES, BAYES, *data, random_state=1, **settings)


def made(kind=Comparison, **more):
    def error(value):
        return Estimate(value=value, interval=None, measure="error_rate", method="refits", n=100)

    difference = Estimate(
        value=-0.06,
        interval=Interval(-0.11, -0.01, 0.95, "corrected_t"),
        measure="error_rate",
        method="corrected_t",
        n=100,
    )
    return kind(
        names=("a", "b"),
        first=error(0.16),
        second=error(0.10),
        difference=difference,
        p_value=0.02,
        method="corrected_t",
        finding="better",
        verdict="b is better than a.",
        **more,
    )


def test_probabilities_are_said_with_the_verdict():
    shares = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    found = made(BayesianComparison, probabilities=shares)
    assert str(found).splitlines()[-1] == (
        "Probability that b is: better 0.900, equivalent 0.070, worse 0.030."
    )
    assert found.to_dict()["probabilities"] == {"better": 0.9, "equivalent": 0.07, "worse": 0.03}


def test_undefined_probabilities_are_no_numbers():
    shares = Probabilities(better=math.nan, equivalent=math.nan, worse=math.nan)
    assert str(shares) == "better undefined, equivalent undefined, worse undefined"
    assert made(BayesianComparison, probabilities=shares).to_dict()["probabilities"] == {
        "better": None,
        "equivalent": None,
        "worse": None,
    }


def test_several_comparisons_are_a_mapping_that_cannot_be_changed():
    one = made()
    given = {"error_rate": one}
    found = ModelComparisons(comparisons=given)
    given.clear()
    assert list(found) == ["error_rate"]
    assert len(found) == 1
    assert found["error_rate"] is one
    assert str(found) == str(one)
    assert found.to_dict()["comparisons"] == {"error_rate": as_plain(one)}
    with pytest.raises(TypeError):
        found.comparisons["accuracy"] = one
