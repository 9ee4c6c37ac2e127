"""What each example adds to a scorer: by hand, from predictions made once, and where it is open."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.naive_bayes import GaussianNB

import truerisk as tr
from truerisk.learners import pseudo_values
from truerisk.learners.pseudo_values import RememberedModel, chosen_to_leave_out
from truerisk.learners.refits import train
from truerisk.learners.scoring import Metadata

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 2)) + np.repeat([[0.0], [1.0]], 30, axis=0)
Y = np.repeat([0, 1], 30)


class Counting(GaussianNB):
    """Naive Bayes that counts how often it predicts."""

    calls = 0

    def predict(self, X):
        type(self).calls += 1
        return super().predict(X)


def trained(model=None):
    rows = np.arange(0, 60, 2), np.arange(1, 60, 2)
    return train(model or GaussianNB(), X, Y, rows, [0, 0])


def leave_out(one, scorer, value):
    rows = np.arange(30)
    return one.pseudo_values_by("s", scorer, Y, metadata=Metadata(), value=value, which=rows)


def values_by(scorer, model=None):
    one = trained(model)
    value = one.scored_by("s", scorer, Y, Metadata())
    return one, leave_out(one, scorer, value)


def test_of_a_mean_they_are_the_losses():
    one, found = values_by(lambda model, X, y: float((model.predict(X) == y).mean()))
    assert found == pytest.approx((one.labels == Y[one.test]).astype(float))


def test_f1_by_hand():
    class Fixed:
        def predict(self, X):
            return X[:, 0]

    y = np.array([1, 1, 0, 0])
    X = np.array([[1], [0], [1], [0]])

    def score(model, rows):
        part = X[rows]
        if isinstance(model, RememberedModel):
            model.shows(part, rows)
        called, truth = model.predict(part), y[rows]
        return float(2 * (called & truth).sum() / (called.sum() + truth.sum()))

    found = pseudo_values.pseudo_values(score, RememberedModel(Fixed(), X), 0.5, np.arange(4))
    # 2·1/(2 + 2) of all; without a hit 0/2, a miss or a false alarm 2/3, a right negative 2/4.
    assert found == pytest.approx([4 * 0.5 - 3 * v for v in (0, 2 / 3, 2 / 3, 0.5)])


def test_the_model_predicts_once():
    scorer = lambda model, X, y: float((model.predict(X) == y).mean())  # noqa: E731
    one = trained(Counting())
    value = one.scored_by("s", scorer, Y, Metadata())
    Counting.calls = 0
    leave_out(one, scorer, value)
    assert Counting.calls == 1


def test_a_scorer_of_scikit_learn_is_called_once_for_examples_that_are_alike():
    calls = []

    def loss(y, called):
        calls.append(len(y))
        return fbeta_score(y, called, beta=2)

    _, found = values_by(make_scorer(loss))
    # all, all as remembered, and without one of each of four kinds
    assert calls == [30, 30, 29, 29, 29, 29]
    plain = lambda model, X, y: fbeta_score(y, model.predict(X), beta=2)  # noqa: E731
    assert found == pytest.approx(values_by(plain)[1])


def test_rows_that_are_not_those_scored_go_to_the_model():
    shifted = lambda model, X, y: float((model.predict(X + 1) == y).mean())  # noqa: E731
    one, found = values_by(shifted)
    right = one.model.predict(one.X_test + 1) == Y[one.test]
    assert found == pytest.approx(right.astype(float))


def test_a_scorer_that_wants_the_very_model_gets_it():
    def of_class(model, X, y):
        assert type(model) is GaussianNB
        return float((model.predict(X) == y).mean())

    one, found = values_by(of_class)
    assert found == pytest.approx((one.labels == Y[one.test]).astype(float))


def test_without_a_value_they_are_infinite():
    def needs_all(*given):
        if len(given[2]) < 30:
            raise ValueError
        return 1.0

    assert np.isinf(values_by(needs_all)[1]).all()
    assert np.isinf(values_by(lambda *_: np.nan)[1]).all()


@settings(max_examples=50)
@given(st.lists(st.integers(1, 2_000), min_size=1, max_size=6))
def test_the_examples_chosen_stand_for_all(sizes):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows, weights = chosen_to_leave_out(codes)
    assert len(rows) == len(set(rows.tolist())) == min(len(codes), pseudo_values.MAX_LEFT_OUT)
    assert np.bincount(codes[rows], weights, len(sizes)) == pytest.approx(sizes)


def test_beyond_the_limit_the_interval_hardly_changes(monkeypatch):
    rng = np.random.default_rng(5)
    y = (rng.random(900) < 0.2).astype(int)
    X = rng.normal(size=(900, 2)) + y[:, None]
    scoring = {"F2": make_scorer(fbeta_score, beta=2)}
    short = tr.estimate(GaussianNB(), X, y, folds=5, repeats=2, scoring=scoring, random_state=0)
    monkeypatch.setattr(pseudo_values, "MAX_LEFT_OUT", 900)
    whole = tr.estimate(GaussianNB(), X, y, folds=5, repeats=2, scoring=scoring, random_state=0)
    assert short["F2"].value == whole["F2"].value
    assert short["F2"].interval.width == pytest.approx(whole["F2"].interval.width, rel=0.2)
    assert short["F2"].interval != whole["F2"].interval
