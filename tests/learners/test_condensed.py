"""Condensed neighbours: what is stored, and that it predicts all the rest."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from truerisk.learners.condensed import CondensedNeighbors


@parametrize_with_checks([CondensedNeighbors(), CondensedNeighbors(n_neighbors=3)])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("neighbors", [1, 3])
def test_the_store_predicts_all_that_it_does_not_hold(neighbors):
    X, y = load_iris(return_X_y=True)
    model = CondensedNeighbors(n_neighbors=neighbors).fit(X, y)
    others = np.setdiff1d(np.arange(len(y)), model.compression_set_)
    assert_array_equal(model.predict(X[others]), y[others])
    assert len(model.compression_set_) < 60


def test_it_is_the_nearest_neighbour_rule_of_its_store():
    X, y = load_iris(return_X_y=True)
    stored = CondensedNeighbors().fit(X, y)
    rows = stored.compression_set_
    fresh = np.random.default_rng(0).normal(X.mean(axis=0), X.std(axis=0), (200, 4))
    other = KNeighborsClassifier(1).fit(X[rows], y[rows])
    assert_array_equal(stored.predict(fresh), other.predict(fresh))
