"""Who trains on what in a learning curve, and what one refit gives."""

import math
import pickle
import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from truerisk.estimation.curves.runs import COSTS, CurvePlan, refit_at
from truerisk.learners.scoring import Metadata

plans = st.builds(
    lambda counts, share, seed: CurvePlan(
        np.repeat(np.arange(len(counts)), counts), None, max(1, round(share * sum(counts))), seed
    ),
    st.lists(st.integers(3, 40), min_size=2, max_size=4),
    st.floats(0.1, 0.5),
    st.integers(0, 1000),
)


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
