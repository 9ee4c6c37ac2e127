"""Learning curves: nested sizes, shared divisions, one seed, and failures that are named."""

import gzip
import json
import math
import operator
import os
import statistics
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from truerisk import LinearSVM, xi_alpha
from truerisk.errors import InputError
from truerisk.estimation.curves.learning_curve import learning_curve
from truerisk.learners.named_models import find_model
from truerisk.results import as_plain

SIZES = [10, 20, 40, 80]


def _problem(n=220, seed=0, shift=1.2):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return rng.normal(size=(n, 4)) + shift * y[:, None] * np.array([1, 0.5, 0, 0]), y


X, Y = _problem()
MODELS = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier()}


@pytest.fixture(scope="module")
def curve():
    return learning_curve(MODELS, X, Y, sizes=SIZES, repeats=3, random_state=3)


class Failing(ClassifierMixin, BaseEstimator):
    """A learner that fails on more than 30 examples."""

    def fit(self, X, y):
        if len(X) > 30:
            message = "too many"
            raise RuntimeError(message)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def _values(found):
    return {
        name: [(point.replicates, point.estimates) for point in learner.points]
        for name, learner in found.items()
    }


def test_the_mean_of_the_replicates_is_the_mean(curve):
    for learner in curve.values():
        assert list(learner.sizes) == SIZES
        for point in learner.points:
            assert len(point.replicates) == 3
            assert point.mean == pytest.approx(statistics.mean(point.replicates))
            assert point.sd == pytest.approx(statistics.stdev(point.replicates))
            assert point.interval.covers(point.mean)
            assert point.estimate_mean == pytest.approx(statistics.mean(point.estimates))


def test_the_interval_takes_the_ratio_of_those_held_out_to_all_others(curve):
    assert (curve.n, curve.held_out) == (220, 55)
    point = curve["bayes"].points[-1]
    # t with two degrees of freedom at .975 is 4.302653 (any table); 55 / 165 is a third.
    half = 4.302653 * point.sd * math.sqrt(1 / 3 + 1 / 3)
    assert point.interval.high == pytest.approx(point.mean + half, rel=1e-6)


def test_every_refit_costs_something(curve):
    for learner in curve.values():
        for point in learner.points:
            assert point.seconds_to_induce > 0
            assert point.seconds_to_classify > 0
            assert point.cpu_seconds > 0
            assert point.memory > 8 * 4 * point.size  # the examples alone
        assert learner.growth["memory"].exponent > 0


def test_leaving_a_learner_out_or_changing_the_order_changes_nothing(curve):
    other = learning_curve(
        dict(reversed(MODELS.items())), X, Y, sizes=SIZES, repeats=3, random_state=3
    )
    alone = learning_curve({"tree": MODELS["tree"]}, X, Y, sizes=SIZES, repeats=3, random_state=3)
    assert _values(other) == _values(curve)
    assert _values(alone)["tree"] == _values(curve)["tree"]
    assert as_plain(other.crossings) == as_plain(curve.crossings)
    assert other["tree"].extrapolation == curve["tree"].extrapolation


def test_the_values_do_not_depend_on_the_number_of_processes(curve):
    other = learning_curve(MODELS, X, Y, sizes=SIZES, repeats=3, random_state=3, n_jobs=2)
    assert _values(other) == _values(curve)


def test_a_stopped_run_goes_on_where_it_was(curve, tmp_path):
    options = {"sizes": SIZES, "repeats": 3, "random_state": 3, "resume": tmp_path / "run"}

    def stop(done, _, __):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learning_curve(MODELS, X, Y, progress=stop, **options)
    resumed = learning_curve(MODELS, X, Y, **options)
    assert _values(resumed) == _values(curve)
    again = learning_curve(MODELS, X, Y, **options)
    assert again.to_dict() == resumed.to_dict()  # seconds and all
    with pytest.raises(InputError, match="measure"):
        learning_curve(MODELS, X, Y, measure="accuracy", **options)
    with pytest.raises(InputError, match="`random_state` must be a seed"):
        learning_curve(MODELS, X, Y, **options | {"random_state": None})


def test_a_seed_that_is_not_given_is_told():
    options = {"sizes": [20, 80], "repeats": 2, "estimate": None}
    first = learning_curve(GaussianNB(), X, Y, **options)
    second = learning_curve(GaussianNB(), X, Y, random_state=first.random_state, **options)
    assert _values(first) == _values(second)


def test_accuracy_is_the_error_turned_round():
    X, Y = _problem(n=400, shift=2.5)
    options = {"sizes": SIZES, "repeats": 10, "random_state": 3, "estimate": None}
    curve = learning_curve(MODELS, X, Y, **options)
    other = learning_curve(MODELS, X, Y, measure="accuracy", **options)
    assert curve["bayes"].extrapolation is not None
    for name in MODELS:
        one, two = curve[name].extrapolation, other[name].extrapolation
        if one is None:
            assert other[name].refusal.code == curve[name].refusal.code
            continue
        assert (two.a, two.b, two.c) == pytest.approx((one.a, one.b, one.c), rel=1e-4, abs=1e-6)
        assert two.higher_is_better
        assert other[name].at(500).value == pytest.approx(1 - curve[name].at(500).value)
    assert [c.after for c in other.crossings] == [c.after for c in curve.crossings]
    assert other.error_per_cpu_second[-1].value == max(
        point.mean for learner in other.values() for point in learner.points
    )


def test_the_default_sizes_are_a_log_grid_up_to_all_that_are_not_held_out():
    found = learning_curve(DummyClassifier(), X, Y, repeats=2, estimate=None, random_state=1)
    assert found.sizes == (10, 15, 22, 33, 50, 74, 111, 165)


def test_sizes_begin_where_every_class_has_two():
    rare = np.repeat([0, 1], [190, 10])
    found = learning_curve(DummyClassifier(), X[:200], rare, repeats=2, estimate=None)
    # Of 8 to train on the second has its place at 1.5/8 of the line, after 27 of the other 142:
    # the 27th of these has its own at 26.5/142 = .187.
    assert found.sizes[0] == 29
    with pytest.raises(InputError, match=r"`sizes` must lie in \[\d+, 150\]"):
        learning_curve(DummyClassifier(), X[:200], rare, sizes=[10, 100])


def test_more_examples_make_bayes_better():
    many, labels = _problem(1500, seed=4)
    found = learning_curve(
        GaussianNB(), many, labels, sizes=[10, 30, 100, 300, 1000], estimate=None, random_state=1
    )
    first, *_, last = found["GaussianNB"].points
    assert all(map(operator.lt, last.replicates, first.replicates))
    assert found["GaussianNB"].extrapolate(last.mean + 0.02).reachable == "reached"
    far = found["GaussianNB"].at(100_000)
    assert far.value < first.mean
    assert any("more than 10 times" in note for note in far.notes)


def test_with_xi_alpha_the_estimate_is_that_of_the_trained_machine():
    machines = {
        "ours": LinearSVM(),
        "theirs": make_pipeline(StandardScaler(), SVC()),
        "no machine": GaussianNB(),
    }
    options = {"sizes": [20, 60], "repeats": 2, "random_state": 5, "estimate": "xi_alpha"}
    found = learning_curve(machines, X, Y, **options)
    assert found["no machine"].points[0].estimate_mean is None
    assert found["no machine"].points[0].estimates == ()
    assert found["theirs"].points[0].estimate_mean > 0
    from truerisk.estimation.curves.points import CurvePlan

    train = np.sort(CurvePlan(Y, None, 55, 5).division(1)[0][:60])
    expected = xi_alpha(LinearSVM().fit(X[train], Y[train]), X[train], Y[train])["error_rate"]
    assert found["ours"].points[1].estimates[1] == expected.value


def test_xi_alpha_needs_a_machine_and_two_classes():
    with pytest.raises(InputError, match="must have an SVM"):
        learning_curve(GaussianNB(), X, Y, estimate="xi_alpha")
    with pytest.raises(InputError, match="must have two classes"):
        learning_curve(LinearSVM(), X, np.arange(220) % 3, estimate="xi_alpha")


def test_a_learner_that_fails_is_named_and_never_averaged_away():
    models = {"failing": Failing(), "bayes": GaussianNB()}
    found = learning_curve(models, X, Y, sizes=SIZES, repeats=3, random_state=1, estimate=None)
    means = [point.mean for point in found["failing"].points]
    assert [math.isnan(mean) for mean in means] == [False, False, True, True]
    assert len(found.failures) == 6
    assert found.failures[0] == "failing on 40 examples, repeat 1: RuntimeError: too many"
    point = found["failing"].points[-1]
    assert point.interval is None
    assert "repeat 1 failed" in point.notes[0]
    assert found["failing"].extrapolation is None
    assert found["failing"].refusal.code == "too_few_sizes"
    assert found["failing"].extrapolate(0.1).reachable == "unknown"
    assert found["bayes"].extrapolation is not None
    assert {one.learner for one in found.error_per_cpu_second}
    json.dumps(found.to_dict(), allow_nan=False)


class Hesitating(DummyClassifier):
    """A learner that warns."""

    def fit(self, X, y):
        warnings.warn("stopped early", UserWarning, stacklevel=1)
        return super().fit(X, y)


def test_what_a_learner_warns_of_is_told_once_a_size():
    found = learning_curve(Hesitating(), X, Y, sizes=[20, 60], repeats=3, random_state=1)
    notes = found["Hesitating"].points[0].notes
    assert notes[-1] == "warned in 3 of 3 repeats: UserWarning: stopped early"
    assert sum("warned" in note for note in notes) == 1


def test_an_estimate_that_fails_is_told_and_the_hold_out_stays():
    found = learning_curve(Failing(), X, Y, sizes=[20, 30], repeats=2, random_state=1)
    assert found["Failing"].points[1].estimate_mean is not None
    groups = np.arange(220) // 60
    # Of three groups to train on, two are met by the first sizes; the classes are not in all folds.
    found = learning_curve(
        LogisticRegression(), X, np.sort(Y), groups=np.arange(220) % 4, sizes=[60, 100], repeats=2
    )
    assert groups.max() == 3
    assert not math.isnan(found["LogisticRegression"].points[0].mean)


def test_groups_are_held_out_together_and_several_classes_have_averages():
    groups = np.arange(220) // 4
    three = np.arange(220) % 3
    found = learning_curve(
        GaussianNB(), X, three, groups=groups, measure="f1_macro", repeats=3, random_state=1
    )
    assert len(found.sizes) >= 5
    assert found.higher_is_better
    assert 0 < found["GaussianNB"].points[-1].mean < 1


def test_sparse_examples_and_labels_of_text():
    labels = np.array(["no", "yes"])[Y]
    dense = learning_curve(LinearSVM(), X, labels, sizes=[20, 60], repeats=2, random_state=2)
    sparse = learning_curve(
        LinearSVM(), csr_matrix(X), labels, sizes=[20, 60], repeats=2, random_state=2
    )
    for one, other in zip(dense["LinearSVM"].points, sparse["LinearSVM"].points, strict=True):
        assert one.mean == pytest.approx(other.mean)
        assert other.memory > 0


def test_a_measure_of_one_class_needs_its_label():
    labels = np.array(["no", "yes"])[Y]
    options = {"sizes": [20, 60], "repeats": 2, "random_state": 2, "measure": "recall"}
    with pytest.raises(InputError, match="`pos_label` must be given"):
        learning_curve(GaussianNB(), X, labels, **options)
    yes = learning_curve(GaussianNB(), X, labels, pos_label="yes", **options)
    no = learning_curve(GaussianNB(), X, labels, pos_label="no", **options)
    assert yes["GaussianNB"].points[0].mean != no["GaussianNB"].points[0].mean
    with pytest.raises(InputError, match="recall_macro"):
        learning_curve(GaussianNB(), X, np.arange(220) % 3, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": {}}, "`models` must hold at least one"),
        ({"models": GaussianNB}, r"got the class GaussianNB; write GaussianNB\(\)"),
        ({"models": "svn"}, "`model` must be one of linear_svm.*Did you mean svm"),
        ({"y": np.zeros(220)}, "`y` must hold two classes"),
        ({"y": np.repeat([0, 1], [218, 2])}, "`y` must hold 3 examples of every class"),
        ({"y": Y[:100]}, "`y` must have a label for each of 220 rows; got 100"),
        ({"y": np.where(Y, 1.0, np.nan)}, "`y` must have a label everywhere"),
        ({"repeats": 1}, "`repeats` must lie in"),
        ({"level": 95}, "Write 0.95 for 95 %"),
        ({"test_size": 0.0}, "`test_size` must leave some"),
        ({"test_size": 2}, "`test_size` must lie in"),
        ({"sizes": [50]}, "`sizes` must be two different"),
        ({"sizes": [50, 50]}, "`sizes` must be two different"),
        ({"sizes": [50, 500]}, r"`sizes` must lie in \[\d, 165\].*got 500"),
        ({"sizes": [50, 60.5]}, "`sizes` must be a whole number"),
        ({"estimate": "bootstrap"}, "`estimate` must be one of"),
        ({"measure": "roc_auk"}, "`measure` must be one of"),
        ({"measure": "f1", "scoring": "f1"}, "`scoring` must be left out where `measure`"),
        ({"scoring": ["f1", "recall"]}, "`scoring` must be one measure or scorer here"),
        (
            {"scoring": "neg_log_loss", "estimate": "xi_alpha", "models": "svm"},
            "`estimate` 'xi_alpha' must be of a measure of counts; got log_loss",
        ),
        ({"measure": "cost"}, "`measure` must have a bounded range"),
        ({"pos_label": "x"}, "`pos_label` must be one of 0, 1; got x"),
        ({"groups": np.arange(220) % 2}, "`groups` must be three at least"),
        ({"n_jobs": 0}, "`n_jobs` must be"),
        ({"random_state": -1}, "`random_state` must lie in"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_what_cannot_be_is_refused(options, message):
    arguments = {"models": GaussianNB(), "X": X, "y": Y, "repeats": 2, "estimate": None} | options
    with pytest.raises(InputError, match=message):
        learning_curve(arguments.pop("models"), arguments.pop("X"), arguments.pop("y"), **arguments)


def test_labels_come_in_as_for_estimate():
    # 0.0 and 1.0 are the labels 0 and 1, of which 1 is the positive one.
    options = {"measure": "recall", "sizes": [20, 60], "repeats": 2, "random_state": 1}
    whole, fractions = (
        [point.mean for point in learning_curve(GaussianNB(), X, y, **options)["GaussianNB"].points]
        for y in (Y.astype(int), Y.astype(float))
    )
    assert whole == fractions


def test_the_budget_picks_from_the_front(curve):
    front = curve.error_per_cpu_second
    assert curve.best_for(math.inf) == front[-1]
    assert curve.best_for(0.0) is None
    assert curve.best_for(front[0].cpu_seconds) == front[0]


def test_it_prints_each_point_and_becomes_plain(curve):
    text = str(curve)
    assert "bayes, 10 examples: error_rate = " in text
    assert "time to train grows like n^" in text
    plain = curve.to_dict()
    json.dumps(plain, allow_nan=False)
    assert plain["curves"]["tree"]["points"][0]["size"] == 10
    assert plain["curves"]["tree"]["extrapolation"] is None
    assert "does not surely fall" in plain["curves"]["tree"]["refusal"]


@pytest.mark.data
@pytest.mark.parametrize("name", ["banana", "twonorm", "waveform"])
def test_on_real_data_the_error_of_the_machine_falls(name):
    folder = os.environ.get("TRUERISK_DATA")
    if folder is None:
        pytest.skip("TRUERISK_DATA names no folder of data")
    path = Path(folder) / "tabular" / f"{name}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header = file.readline().strip().split(",")
        rows = np.loadtxt(file, delimiter=",", max_rows=1500)
    target = header.index("target")
    found = learning_curve(
        make_pipeline(StandardScaler(), SVC()),
        np.delete(rows, target, axis=1),
        rows[:, target].astype(int),
        sizes=[20, 60, 180, 540],
        repeats=5,
        estimate="xi_alpha",
        random_state=1,
    )
    points = found["Pipeline"].points
    means = [point.mean for point in points]
    assert means == sorted(means, reverse=True)
    assert all(map(operator.lt, points[-1].replicates, points[0].replicates))
    assert all(point.estimate_mean >= point.mean for point in points)  # ξα leans high


def test_a_name_stands_for_a_learner_with_its_preparation():
    frame = pd.DataFrame({"size": X[:, 0], "side": np.where(X[:, 1] > 0, "right", "left")})
    options = {"sizes": [30, 60], "repeats": 2, "estimate": None, "random_state": 1}
    found = learning_curve("naive_bayes", frame, Y, **options)
    assert list(found) == ["naive_bayes"]
    assert not found.failures
    named = learning_curve({"by name": "linear_svm"}, X, Y, **options)
    made = learning_curve({"by name": find_model("linear_svm")}, X, Y, **options)
    assert _values(named) == _values(made)


def test_between_sizes_the_points_are_read_and_not_the_law(curve):
    learner = curve["bayes"]
    first, second = learner.points[1:3]  # 20 and 40 examples
    middle = learner.at(math.sqrt(20 * 40))
    assert middle.value == pytest.approx((first.mean + second.mean) / 2)
    assert middle.interval.low == pytest.approx((first.interval.low + second.interval.low) / 2)
    assert middle.method == "interpolated"
    for point in learner.points:
        assert learner.at(point.size).value == pytest.approx(point.mean)
        assert learner.at(point.size).interval.high == pytest.approx(point.interval.high)


def test_outside_of_the_sizes_a_curve_without_a_law_has_no_value(curve):
    learner = curve["tree"]
    assert learner.refusal.code == "not_surely_falling"
    for size, code in ((5, "below_sizes"), (81, "not_surely_falling")):
        there = learner.at(size)
        assert math.isnan(there.value)
        assert (there.interval.low, there.interval.high) == (0.0, 1.0)
        assert [note.code for note in there.notes] == [code]
    needed = learner.extrapolate(0.05)
    assert (needed.reachable, math.isnan(needed.size)) == ("unknown", True)
    assert "cannot be said, as over the sizes tried" in str(needed)


def test_a_rising_curve_is_not_extrapolated():
    rng = np.random.default_rng(5)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 2)) + 1.5 * y[:, None]
    X[(rng.random(300) < 0.02) & (y == 1)] -= 60.0  # the more of these, the worse a line
    found = learning_curve(LinearDiscriminantAnalysis(), X, y, random_state=1, estimate=None)
    learner = found["LinearDiscriminantAnalysis"]
    assert learner.points[-1].mean > learner.points[2].mean
    assert learner.refusal is not None
    assert not learner.at(600).is_defined
