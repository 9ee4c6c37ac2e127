"""From refits put in by hand to points and laws."""

import math
import pickle
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from truerisk.estimation.curves.laws import Design, fit_power_laws
from truerisk.estimation.curves.learning_curve import learning_curve
from truerisk.estimation.curves.points import (
    COSTS,
    CurvePlan,
    Refits,
    confusion_values,
    curve_of,
    mean_interval,
    refit_at,
)
from truerisk.estimation.curves.results import resampled_means
from truerisk.evaluation.evaluate import evaluate_counts
from truerisk.intervals.binomial import binomial_interval
from truerisk.learners.scoring import Metadata

plans = st.builds(
    lambda counts, share, seed: CurvePlan(
        np.repeat(np.arange(len(counts)), counts), None, max(1, round(share * sum(counts))), seed
    ),
    st.lists(st.integers(3, 40), min_size=2, max_size=4),
    st.floats(0.1, 0.5),
    st.integers(0, 1000),
)

SIZES = (10, 20, 40, 80)
ERRORS = [[8, 5, 3, 2], [6, 5, 4, 3], [10, 5, 2, 2]]  # of 20, a row a repeat


def _design(measure="error_rate", n=120, held_out=20, level=0.95):
    return Design(
        measure=measure,
        pos_label=1,
        level=level,
        n=n,
        held_out=held_out,
        sizes=SIZES,
        repeats=3,
        estimate="cross_validation",
        seed=1,
    )


def _refits(failing=None):
    design = _design()
    refits = Refits(("one",), design, 2)
    for repeat, row in enumerate(ERRORS):
        for size_at, errors in enumerate(row):
            result = {
                "confusion": np.array([[10 - errors // 2, errors // 2], [errors - errors // 2, 0]]),
                "costs": np.array([0.1 * SIZES[size_at], 2.0, 100.0, 0.1 + repeat]),
                "estimate_confusion": np.array([[5, 1], [0, 4]]),
            }
            result["confusion"][1, 1] = 20 - result["confusion"].sum()
            if (repeat, size_at) == failing:
                result = {"failed": np.array("ValueError: no")}
            refits.add((0, repeat, size_at), result)
    return refits


def test_a_point_is_the_mean_of_its_repeats_and_the_median_of_its_costs():
    first, second, *_ = curve_of(_refits())["one"].points
    assert first.replicates == (0.4, 0.3, 0.5)
    assert (first.mean, first.sd) == (pytest.approx(0.4), pytest.approx(0.1))
    assert (first.seconds_to_induce, first.cpu_seconds) == (pytest.approx(1.0), pytest.approx(1.1))
    assert (first.estimate_mean, first.estimate_sd) == (pytest.approx(0.1), 0.0)
    # t with two degrees of freedom at .975 is 4.302653 (any table); 20 of 120 are held out.
    assert first.interval.low == pytest.approx(0.4 - 4.302653 * 0.1 * math.sqrt(1 / 3 + 0.2))
    assert second.sd == 0
    assert second.interval.method == "clopper_pearson"


def test_the_time_grows_as_it_was_put_in():
    growth = curve_of(_refits())["one"].growth
    assert growth["seconds_to_induce"].exponent == pytest.approx(1)
    assert growth["memory"].exponent == pytest.approx(0)


def test_equal_repeats_do_not_make_a_size_certain():
    law = curve_of(_refits())["one"].extrapolation
    losses = np.array(ERRORS) / 20
    mean, variances = losses.mean(axis=0), losses.var(axis=0, ddof=1)
    # Half an error more, of one example more: (20·mean + ½)/21.
    smooth = (20 * mean + 0.5) / 21
    floors = np.maximum(variances, smooth * (1 - smooth) / 20)
    assert variances[1] == 0 < floors[1]
    expected = fit_power_laws(SIZES, mean[None], 1 / floors)
    assert law.at(30).value == pytest.approx(expected.at(30)[0])
    assert law.c == pytest.approx(expected.c[0])


def test_one_failure_leaves_its_size_without_a_value_and_the_others_with_theirs():
    curve = curve_of(_refits(failing=(2, 1)))
    points = curve["one"].points
    assert [math.isnan(point.mean) for point in points] == [False, True, False, False]
    assert points[1].interval is None
    assert points[1].seconds_to_induce == pytest.approx(2.0)  # of the repeats that did not fail
    assert curve["one"].extrapolation is None
    assert curve.failures == ("one on 20 examples, repeat 3: ValueError: no",)


def _interval(values, confusions=None, measure="error_rate"):
    if confusions is None:
        confusions = np.tile([[9, 1], [1, 9]], (len(values), 1, 1))
    return mean_interval(_design(measure, 4, 1), np.asarray(values), confusions)


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
    monkeypatch.setattr("truerisk.estimation.curves.points.evaluate_counts", lambda *_, **__: {})
    found, notes = _interval([0.9, 0.9], measure="f1_macro")
    assert (found.low, found.high, found.method) == (0, 1, "whole_range")
    assert notes[0].code == "no_spread"


def test_resampled_means_spread_as_the_corrected_t_says():
    values = np.random.default_rng(0).normal(size=(10, 2))
    means = resampled_means(values, _design(n=4, held_out=1), np.random.default_rng(1), 20_000)
    # t with nine degrees of freedom over z at .975: 2.262157 / 1.959964.
    expected = values.std(axis=0, ddof=1) * math.sqrt(1 / 10 + 1 / 3) * 2.262157 / 1.959964
    assert means.std(axis=0) == pytest.approx(expected, rel=0.03)
    assert means.mean(axis=0) == pytest.approx(values.mean(axis=0), abs=0.02)


def test_what_moves_together_is_resampled_together():
    column = np.random.default_rng(0).normal(size=(8, 1))
    design = _design(n=6, held_out=1, level=0.9)
    both = np.hstack([column, 2 * column + 1])
    means = resampled_means(both, design, np.random.default_rng(1), 50)
    assert means[:, 1] == pytest.approx(2 * means[:, 0] + 1)


@settings(max_examples=50)
@given(plans, st.integers(0, 5))
def test_every_example_is_held_out_or_in_the_line(plan, repeat):
    line, test = plan.division(repeat)
    assert sorted([*line, *test]) == list(range(len(plan.codes)))
    assert np.bincount(plan.codes[line]).min() >= 2


@settings(max_examples=50)
@given(plans, st.integers(0, 5))
def test_hold_out_and_beginnings_hold_the_classes_in_proportion(plan, repeat):
    line, test = plan.division(repeat)
    shares = np.bincount(plan.codes) / len(plan.codes)
    if np.all(np.bincount(plan.codes) * 0.5 >= 2):
        held = np.bincount(plan.codes[test], minlength=len(shares))
        assert np.abs(held - shares * len(test)).max() <= 1 + 1e-9
    of_line = np.bincount(plan.codes[line]) / len(line)
    for size in range(1, len(line) + 1):
        found = np.bincount(plan.codes[line[:size]], minlength=len(shares))
        assert np.abs(found - of_line * size).max() <= len(shares)


def test_the_places_in_a_line_worked_by_hand():
    plan = CurvePlan(np.repeat([0, 1], [19, 4]), None, 6, 0)
    line, test = plan.division(0)
    assert np.bincount(plan.codes[test]).tolist() == [5, 1]
    # The three of the rare class stand at 1/6, 3/6 and 5/6; of the 14 others, which stand at
    # 1/28, 3/28, …, there are 2, 7 and 12 before them.
    assert np.flatnonzero(plan.codes[line]).tolist() == [2, 8, 14]


@settings(max_examples=50)
@given(plans)
def test_the_shortest_beginning_has_two_of_every_class_and_no_shorter_one_has(plan):
    line, _ = plan.division(0)
    size = plan.shortest(line)
    assert np.bincount(plan.codes[line[:size]]).min() == 2
    shorter = np.bincount(plan.codes[line[: size - 1]], minlength=len(np.unique(plan.codes)))
    assert shorter.min() < 2


def test_repeats_differ_and_a_seed_gives_the_same():
    plan = CurvePlan(np.arange(60) % 2, None, 20, 7)
    again = pickle.loads(pickle.dumps(plan))  # noqa: S301
    for one, other in zip(plan.division(3), again.division(3), strict=True):
        assert (one == other).all()
    assert (plan.division(0)[1] != plan.division(1)[1]).any()


@settings(max_examples=30)
@given(st.integers(0, 100), st.integers(3, 12))
def test_groups_are_held_out_whole_and_stand_together(seed, count):
    rng = np.random.default_rng(seed)
    groups = rng.integers(count, size=80)
    groups = np.unique(groups, return_inverse=True)[1]
    line, test = CurvePlan(np.arange(80) % 2, groups, 20, seed).division(0)
    assert not set(groups[line]) & set(groups[test])
    assert len(test) >= 20
    changes = np.count_nonzero(np.diff(groups[line]))
    assert changes == len(set(groups[line])) - 1


class Remembering(ClassifierMixin, BaseEstimator):
    """A learner that says how many examples it saw, and cannot be pickled."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append(sorted(X[:, 0].astype(int).tolist()))
        self.classes_ = np.unique(y)
        self.open = lambda: None
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def _shared(model, estimate=None, sizes=(6, 12, 24)):
    y = np.array(["a", "b"])[np.arange(40) % 2]
    return {
        "models": (model,),
        "X": np.column_stack([np.arange(40.0), np.arange(40) % 2]),
        "y": y,
        "values": np.array(["a", "b"]),
        "plan": CurvePlan(np.arange(40) % 2, None, 10, 1),
        "sizes": sizes,
        "estimate": estimate,
        "measure": "error_rate",
        "scorer": None,
        "metadata": (Metadata(),),
        "pos_label": 1,
    }


def test_the_training_sets_of_a_repeat_are_nested_and_have_their_size():
    Remembering.seen.clear()
    shared = _shared(Remembering())
    for size_at in range(3):
        refit_at(shared, (0, 0, size_at))
    first, second, third = map(set, Remembering.seen)
    assert [len(first), len(second), len(third)] == [6, 12, 24]
    assert first < second < third


def test_a_refit_gives_its_confusion_and_its_costs():
    found = refit_at(_shared(GaussianNB()), (0, 0, 2))
    assert found["confusion"].tolist() == [[5, 0], [0, 5]]
    costs = dict(zip(COSTS, found["costs"], strict=True))
    line, _ = CurvePlan(np.arange(40) % 2, None, 10, 1).division(0)
    train = np.sort(line[:24])
    shared = _shared(GaussianNB())
    model = GaussianNB().fit(shared["X"][train], shared["y"][train])
    assert costs["memory"] == 24 * 2 * 8 + len(pickle.dumps(model, protocol=5))
    assert min(costs.values()) > 0
    assert "estimate_confusion" not in found


class Slow(GaussianNB):
    """A learner that takes its time to classify."""

    def predict(self, X):
        time.sleep(0.02)
        return super().predict(X)


def test_the_time_to_classify_is_told_for_a_thousand_examples():
    found = refit_at(_shared(Slow()), (0, 0, 0))  # ten are held out
    costs = dict(zip(COSTS, found["costs"], strict=True))
    assert 2 <= costs["seconds_to_classify"] < 15
    assert costs["cpu_seconds"] < 2  # sleeping takes no CPU, and classifying is not training


def test_a_model_that_cannot_be_pickled_has_no_memory_and_everything_else():
    found = refit_at(_shared(Remembering()), (0, 0, 0))
    assert math.isnan(found["costs"][COSTS.index("memory")])
    assert found["confusion"].tolist() == [[5, 0], [5, 0]]


def test_the_cross_validation_judges_every_training_example_once():
    Remembering.seen.clear()
    found = refit_at(_shared(Remembering(), "cross_validation"), (0, 0, 1))
    assert found["estimate_confusion"].sum() == 12
    whole, *folds = map(set, Remembering.seen)
    assert len(folds) == 5
    assert all(fold < whole for fold in folds)
    # A training set with three of a class has three folds.
    Remembering.seen.clear()
    refit_at(_shared(Remembering(), "cross_validation"), (0, 0, 0))
    assert len(Remembering.seen) == 1 + 3


def test_a_model_that_predicts_no_label_fails_by_name():
    shared = _shared(LinearRegression()) | {"y": np.arange(40) % 2, "values": np.array([0, 1])}
    found = refit_at(shared, (0, 0, 0))
    assert list(found) == ["failed"]
    assert "must predict one of the labels" in str(found["failed"])


def test_an_infinite_value_has_a_mean_and_no_deviation():
    draw = np.random.default_rng(3)
    X = draw.normal(size=(120, 3))
    y = (X[:, 0] + draw.normal(size=120) > 0).astype(int)
    # With this seed a fold of few examples is sure of a wrong label.
    found = learning_curve(GaussianNB(), X, y, scoring="neg_log_loss", random_state=12)
    points = [point for curve in found.curves.values() for point in curve.points]
    infinite = [point for point in points if not np.isfinite(point.estimates).all()]
    assert infinite
    assert all(math.isinf(point.estimate_mean) for point in infinite)
    assert all(math.isnan(point.estimate_sd) for point in infinite)
