import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import FORMULAS, values_of, values_of_weights

NAMES = list(FORMULAS)


def problem(n, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.3
    return np.round(rng.normal(size=n) + positive, decimals), positive


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_a_weighting_counts_each_row_as_often_as_it_says(decimals):
    scores, positive = problem(40, decimals=decimals)
    times = np.random.default_rng(7).integers(0, 3, size=(20, 40))
    found = values_of_weights(scores, positive, times.astype(float), NAMES)
    for row, drawn in enumerate(times):
        rows = np.repeat(np.arange(40), drawn)
        ranking = rank(scores[rows], positive[rows])
        for name in NAMES:
            assert found[name][row] == pytest.approx(values_of(ranking, name)), name


def test_weights_are_those_of_a_weighted_ranking():
    scores, positive = problem(60)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, size=(3, 60))
    found = values_of_weights(scores, positive, weight, NAMES)
    for row, one in enumerate(weight):
        ranking = rank(scores, positive, one)
        for name in NAMES:
            assert found[name][row] == pytest.approx(values_of(ranking, name)), name


def test_a_weighting_without_a_class_is_undefined():
    weights = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    found = values_of_weights([2.0, 1.0], [True, False], weights, NAMES)
    assert np.isnan(found["roc_auc"]).all()
    assert np.isnan(found["average_precision"]).tolist() == [False, True, True]


def test_an_unknown_measure_is_refused():
    with pytest.raises(InputError, match=r"`names` must be one of roc_auc, .*; got 'auc'"):
        values_of_weights([2.0, 1.0], [True, False], np.ones((1, 2)), ["auc"])
