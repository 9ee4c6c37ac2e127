import inspect
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import brier_score_loss, log_loss

import truerisk as tr
from truerisk.errors import InputError
from truerisk.tallies.losses import ProbabilityTally, brier_scores, log_losses

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "sklearn_scores.json").read_text(encoding="utf-8")
)["vectors"]

rows = st.lists(
    st.tuples(st.floats(0.001, 0.999), st.booleans(), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
    min_size=2,
    max_size=30,
).filter(lambda some: any(weight > 0 for *_, weight in some))

of_several_classes = pytest.mark.skipif(
    "labels" not in inspect.signature(brier_score_loss).parameters,
    reason="scikit-learn's Brier score takes several classes from 1.7 on",
)


def columns(some):
    return (np.array(column) for column in zip(*some, strict=True))


def test_losses_worked_by_hand():
    tally = ProbabilityTally().add([0.8, 0.5, 0.25], [True, False, True])
    losses = [-math.log(0.8), -math.log(0.5), -math.log(0.25)]
    assert tally.mean("log_loss") == pytest.approx(sum(losses) / 3, rel=1e-15)
    assert tally.mean("brier_score") == pytest.approx((0.04 + 0.25 + 0.5625) / 3, rel=1e-15)
    spread = np.std([0.04, 0.25, 0.5625], ddof=1) / math.sqrt(3)
    assert tally.standard_error("brier_score") == pytest.approx(spread, rel=1e-13)
    spread = np.std(losses, ddof=1) / math.sqrt(3)
    assert tally.standard_error("log_loss") == pytest.approx(spread, rel=1e-13)


def test_losses_of_three_classes_worked_by_hand():
    tally = ProbabilityTally().add([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]], [1, 2])
    assert tally.mean("log_loss") == pytest.approx(math.log(4) / 2, rel=1e-15)
    assert tally.mean("brier_score") == pytest.approx((0.25 + 0.5625 + 0.0625) / 2, rel=1e-15)


@pytest.mark.parametrize("vector", [v for v in REFERENCE if v["method"] == "log_loss"])
def test_log_loss_agrees_with_the_reference(vector):
    names = sorted(set(vector["inputs"]["y_true"]))
    codes = [names.index(name) for name in vector["inputs"]["y_true"]]
    found = ProbabilityTally().add(vector["inputs"]["y_proba"], codes).mean("log_loss")
    expected = vector["expected"]["log_loss"]
    assert found == pytest.approx(expected, abs=vector["tolerance"]["abs"])


@pytest.mark.parametrize("vector", [v for v in REFERENCE if v["method"] == "brier"])
def test_the_brier_score_agrees_with_the_reference(vector):
    truth = np.array(vector["inputs"]["y_true"]) == 1
    found = ProbabilityTally().add(vector["inputs"]["y_proba"], truth).mean("brier_score")
    expected = vector["expected"]["brier"]
    assert found == pytest.approx(expected, abs=vector["tolerance"]["abs"])


@of_several_classes
@given(rows)
def test_weighted_losses_agree_with_scikit_learn(some):
    chances, truth, weight = columns(some)
    tally = ProbabilityTally().add(chances, truth, weight)
    expected = log_loss(truth, chances, sample_weight=weight, labels=[False, True])
    assert tally.mean("log_loss") == pytest.approx(expected, rel=1e-12)
    expected = brier_score_loss(truth, chances, sample_weight=weight, labels=[False, True])
    assert tally.mean("brier_score") == pytest.approx(expected, rel=1e-12)


@given(rows)
def test_two_columns_are_one(some):
    chances, truth, _ = columns(some)
    single = ProbabilityTally().add(chances, truth)
    double = ProbabilityTally().add(np.column_stack([1 - chances, chances]), truth.astype(int))
    assert double.mean("log_loss") == pytest.approx(single.mean("log_loss"), rel=1e-12)
    assert double.mean("brier_score") == pytest.approx(2 * single.mean("brier_score"), rel=1e-12)


@of_several_classes
def test_three_classes_agree_with_scikit_learn():
    rng = np.random.default_rng(2)
    chances, truth = rng.dirichlet([1, 2, 3], size=200), rng.integers(0, 3, 200)
    tally = ProbabilityTally().add(chances, truth)
    assert tally.mean("log_loss") == pytest.approx(log_loss(truth, chances), rel=1e-12)
    assert tally.mean("brier_score") == pytest.approx(brier_score_loss(truth, chances), rel=1e-12)


@given(rows, st.integers(0, 30), st.randoms(use_true_random=False))
def test_any_cut_and_order_gives_the_same_sums(some, cut, random):
    whole = ProbabilityTally().add(*columns(some))
    shuffled = random.sample(some, len(some))
    cut = min(max(cut, 1), len(some) - 1)
    first = ProbabilityTally().add(*columns(shuffled[:cut])) if shuffled[:cut] else None
    merged = ProbabilityTally().add(*columns(shuffled[cut:])).merge(first)
    assert merged == whole
    for loss in ("log_loss", "brier_score"):
        np.testing.assert_equal(merged.standard_error(loss), whole.standard_error(loss))


def test_the_impossible_costs_infinitely_and_is_counted():
    tally = ProbabilityTally().add([0.0, 1.0, 0.5], [True, False, True])
    assert tally.mean("log_loss") == math.inf
    assert tally.infinite["log_loss"] == 2
    assert math.isnan(tally.standard_error("log_loss"))
    assert tally.mean("brier_score") == 2.25 / 3


def test_a_row_of_no_weight_says_nothing():
    tally = ProbabilityTally().add([0.0, 0.5], [True, True], [0.0, 2.0])
    assert tally.mean("log_loss") == pytest.approx(math.log(2))
    assert (tally.rows, tally.infinite["log_loss"]) == (1, 0)


def test_no_rows_have_no_loss():
    tally = ProbabilityTally().add([], np.array([], dtype=bool))
    assert math.isnan(tally.mean("log_loss"))
    assert math.isnan(tally.standard_error("brier_score"))


@pytest.mark.parametrize(
    ("chances", "truth", "message"),
    [
        ([1.5, -0.5, 0.3], [True] * 3, r"2 of 3 do not, and their range is \[-0.5, 1.5\]"),
        ([np.nan], [True], "must lie in"),
        ([[0.5, 0.6]], [0], "must add up to 1 for each example, to within 1e-06; 1 do not"),
        ([[0.5, 0.5]], [2], "`truth` must hold class codes from 0 to 1"),
        ([0.5], [1], "`truth` must be booleans"),
        (["a"], [True], "`probabilities` must be numbers of shape"),
    ],
)
def test_what_is_no_probability_is_refused(chances, truth, message):
    with pytest.raises(InputError, match=message):
        ProbabilityTally().add(chances, truth)


def test_the_log_loss_does_not_depend_on_which_label_is_positive():
    table = np.array([[1.0, 1e-20], [1e-20, 1.0], [0.3, 0.7]])
    truth = np.array([True, False, True])
    first = log_losses(table[:, 1], truth, table[:, 0])
    second = log_losses(table[:, 0], ~truth, table[:, 1])
    assert first.tolist() == second.tolist()
    assert first.tolist() == log_losses(table, truth.astype(int)).tolist()
    assert first[:2] == pytest.approx(20 * math.log(10))


def test_probabilities_of_both_classes_are_each_taken_as_they_are():
    proba = np.array([[1.0, 1e-20], [1e-20, 1.0], [0.4, 0.6], [0.7, 0.3]])
    y = ["b", "a", "b", "a"]
    found = [
        tr.evaluate(y, y_score=proba, probabilities=True, pos_label=label, random_state=1)
        for label in ("a", "b")
    ]
    assert found[0]["log_loss"].value == found[1]["log_loss"].value
    assert found[0]["log_loss"].value == pytest.approx(
        (40 * math.log(10) - math.log(0.6) - math.log(0.7)) / 4
    )
    groups = tr.evaluate(
        y, y_score=proba, probabilities=True, pos_label="a", groups=[1, 1, 2, 3], random_state=1
    )
    assert math.isfinite(groups["log_loss"].interval.high)


def test_the_brier_score_of_several_classes_looks_at_all_of_them():
    table = np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]])
    assert brier_scores(table, np.array([0, 0])).tolist() == [0.375, 0.5]


def test_narrow_probabilities_may_miss_one_by_a_thousandth():
    narrow = np.array([[0.5, 0.5005]], dtype=np.float32)
    assert ProbabilityTally().add(narrow, [0]).rows == 1
    with pytest.raises(InputError, match="to within 1e-06"):
        ProbabilityTally().add(narrow.astype(np.float64), [0])


def _sure_and_wrong():
    """Probabilities of two classes, one example being sure and wrong."""
    rng = np.random.default_rng(1)
    y = np.array(["a", "b"])[rng.integers(0, 2, 80)]
    second = np.clip(rng.random(80), 0.05, 0.95)
    table = np.column_stack([1 - second, second])
    table[0] = [1.0, 1e-20] if y[0] == "b" else [1e-20, 1.0]
    return y, table


def test_differences_of_log_losses_do_not_depend_on_which_label_is_positive():
    y, first = _sure_and_wrong()
    second = np.vstack([first[:1], 0.8 * first[1:] + 0.1])
    predicted = [np.array(["a", "b"])[one.argmax(axis=1)] for one in (first, second)]
    differences = [
        tr.compare(
            y,
            *predicted,
            scores=(first, second),
            probabilities=True,
            pos_label=label,
            measures=["log_loss"],
        )["log_loss"].difference.interval
        for label in ("a", "b")
    ]
    assert differences[0].high == pytest.approx(differences[1].high)
    assert -1 < differences[0].low < differences[0].high < 1


class _Steep(ClassifierMixin, BaseEstimator):
    """Probabilities of which one is under 1e-16, and 1 less the other is 0."""

    def fit(self, X, y):
        self.classes_, self.slope_ = np.unique(y), 60 + X.mean()
        return self

    def predict_proba(self, X):
        odds = np.exp(self.slope_ * X[:, 0])
        return np.column_stack([1 / (1 + odds), odds / (1 + odds)])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_the_log_loss_of_refits_does_not_depend_on_which_label_is_positive():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 1))
    y = np.array(["a", "b"])[(X[:, 0] + rng.normal(size=60) > 0).astype(int)]
    losses = [
        tr.estimate(_Steep(), X, y, pos_label=label, random_state=1)["log_loss"]
        for label in ("a", "b")
    ]
    own = _Steep().fit(X, y).predict_proba(X)[np.arange(60), (y == "b").astype(int)]
    assert own.min() < 1e-17
    assert losses[0].value == pytest.approx(-np.log(own).mean(), rel=0.02)
    assert losses[1].value == pytest.approx(losses[0].value, rel=1e-12)
    assert losses[1].interval.high == pytest.approx(losses[0].interval.high, rel=1e-9)
