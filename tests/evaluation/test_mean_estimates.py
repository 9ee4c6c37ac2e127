import numpy as np
import pytest

import truerisk as tr
from truerisk.intervals.bounds import chernoff_kl

RNG = np.random.default_rng(0)
CLASSES = np.arange(90) % 3
TABLE = np.eye(3)[CLASSES] + RNG.normal(size=(90, 3))


def ends(estimate):
    return estimate.interval.low, estimate.interval.high


def test_weights_reach_the_average_over_documents():
    heavy = np.where(CLASSES == 0, 5.0, 1.0)
    plain = tr.evaluate(CLASSES, y_score=TABLE, random_state=1)["eleven_point_documents"]
    weighted = tr.evaluate(CLASSES, y_score=TABLE, sample_weight=heavy, random_state=1)
    copied = np.repeat(np.arange(90), heavy.astype(int))
    expected = tr.evaluate(CLASSES[copied], y_score=TABLE[copied], random_state=1)
    found = weighted["eleven_point_documents"]
    assert found.value == pytest.approx(expected["eleven_point_documents"].value, rel=1e-12)
    assert found.value != pytest.approx(plain.value, rel=1e-6)
    assert found.interval.width > expected["eleven_point_documents"].interval.width


def test_the_mean_loss_has_a_normal_interval_on_the_log_scale():
    # Losses ln 2, ln 4: mean 1.5 ln 2, standard error ½ ln 2; exp(z/3) either way.
    found = tr.evaluate([1, 0], y_score=[0.5, 0.75], probabilities=True, random_state=1)["log_loss"]
    ratio = np.exp(1.959963984540 / 3)
    assert found.value == pytest.approx(1.5 * np.log(2))
    assert ends(found) == pytest.approx((found.value / ratio, found.value * ratio), rel=1e-9)


def test_an_impossible_class_makes_the_log_loss_infinite_and_says_so():
    found = tr.evaluate([1, 0], y_score=[0.0, 0.25], probabilities=True, random_state=1)["log_loss"]
    assert found.value == np.inf
    assert ends(found) == (0, np.inf)
    assert "1 true classes were given the probability 0" in found.notes


def test_the_brier_score_of_two_classes_ends_at_one_and_that_of_more_at_two():
    # Losses .25 and .75²: mean .40625, standard error .15625; logit on [0, 1].
    found = tr.evaluate([1, 0], y_score=[0.5, 0.75], probabilities=True, random_state=1)
    value, error = 0.40625, 0.15625
    spread = 1.959963984540 * error / (value * (1 - value))
    logit = np.log(value / (1 - value))
    expected = [1 / (1 + np.exp(-(logit + side * spread))) for side in (-1, 1)]
    assert ends(found["brier_score"]) == pytest.approx(expected, rel=1e-9)
    wrong = np.eye(3)[[1, 2, 0]] * 0.9 + 0.1 / 3
    several = tr.evaluate([0, 1, 2], y_score=wrong, probabilities=True, random_state=1)
    # Three equal losses of 1.80667: no spread but rounding, and three examples are not that sure.
    assert several["brier_score"].value > 1
    share = chernoff_kl(several["brier_score"].value / 2, 3)
    assert ends(several["brier_score"]) == pytest.approx((2 * share.low, 2 * share.high))
    assert ends(several["log_loss"]) == (0, np.inf)
