import numpy as np
import pytest

from truerisk.intervals.auc import delong_covariance, placements
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_influences import INFLUENCES, mean_influences, ranking_influences
from truerisk.tallies.ranking_weights import values_of

RNG = np.random.default_rng(5)
TRUTH = RNG.random(60) < 0.4
SCORE = np.round(TRUTH + RNG.normal(size=60), 1)
WEIGHT = RNG.uniform(0.5, 2, 60)


def test_the_area_worked_by_hand():
    # The positive .9 is above both negatives, .3 above one of two: placements 1 and ½, area ¾.
    score, positive = np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, False, True, True])
    area = ranking_influences(score, positive, None, ["roc_auc"])["roc_auc"]
    assert area.tolist() == [1 / 8, -1 / 8, -1 / 8, 1 / 8]


def test_average_precision_worked_by_hand():
    # + − +: AP = (1 + ⅔)/2 = 5/6.  U = ⅓ · ⅓ = 1/9 from the first on, D₁ = 1 + ⅔ · ⅓, D₂ = 2/9.
    found = ranking_influences(
        np.array([3.0, 2.0, 1.0]), np.array([True, False, True]), None, ["average_precision"]
    )["average_precision"]
    assert found == pytest.approx([(1 - 5 / 6 + 1 / 9) / 2, -1 / 9, (2 / 3 - 5 / 6 + 1 / 9) / 2])


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "best_f1", "ks"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["counts", "weights"])
def test_influences_are_derivatives_by_the_weights(name, weight):
    found = ranking_influences(SCORE, TRUTH, weight, [name])[name]
    base = np.ones(60) if weight is None else weight
    value = values_of(rank(SCORE, TRUTH, base), name)
    step = 1e-6
    for row in range(0, 60, 7):
        moved = base.copy()
        moved[row] *= 1 + step
        slope = (values_of(rank(SCORE, TRUTH, moved), name) - value) / step
        assert found[row] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("name", INFLUENCES)
def test_influences_add_up_to_nothing_and_do_not_depend_on_the_scale_of_weights(name):
    found = ranking_influences(SCORE, TRUTH, WEIGHT, [name])[name]
    assert found.sum() == pytest.approx(0, abs=1e-12)
    scaled = ranking_influences(SCORE, TRUTH, 1000 * WEIGHT, [name])[name]
    assert scaled == pytest.approx(found, rel=1e-9)


def test_the_squares_add_up_to_the_variance_of_delong():
    found = ranking_influences(SCORE, TRUTH, None, ["roc_auc"])["roc_auc"]
    parts = [found[rows] for rows in (TRUTH, ~TRUTH)]
    variance = sum((one**2).sum() * len(one) / (len(one) - 1) for one in parts)
    placed = placements(SCORE[TRUTH], SCORE[~TRUTH])
    assert variance == pytest.approx(delong_covariance(placed)[0, 0])


@pytest.mark.parametrize(
    ("name", "slack"),
    [("average_precision", 0.15), ("best_f1", 0.2), ("ks", 0.2), ("breakeven_point", 0.15)],
)
def test_the_squares_add_up_to_the_variance_of_many_samples(name, slack):
    rng = np.random.default_rng(2)
    values, variances = [], []
    for _ in range(300):
        truth = rng.random(400) < 0.3
        score = 1.5 * truth + rng.normal(size=400)
        values.append(values_of(rank(score, truth), name))
        variances.append((ranking_influences(score, truth, None, [name])[name] ** 2).sum())
    assert np.sqrt(np.mean(variances)) == pytest.approx(np.std(values), rel=slack)


def test_a_missing_class_has_no_influences():
    found = ranking_influences(np.arange(3.0), np.ones(3, bool), None, ["roc_auc", "ks"])
    assert all(np.isnan(one).all() for one in found.values())


def test_a_mean_is_moved_by_what_lies_off_it():
    assert mean_influences(np.array([0.0, 4.0]), np.array([3.0, 1.0])).tolist() == [-0.75, 0.75]
    assert mean_influences(np.array([1.0, np.nan, 2.0]), np.ones(3))[1] == 0
    assert np.isnan(mean_influences(np.array([1.0, np.inf]), np.ones(2))).all()
