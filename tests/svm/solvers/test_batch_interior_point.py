import numpy as np
import pytest
from sklearn.svm import SVC

from truerisk.svm.solvers.batch_interior_point import batch_decisions


def problem(n, d, seed=0, replicates=12, cost=1.0):
    """Two overlapping classes, and exponential bounds whose mean is the cost.

    libsvm keeps inner products in single precision; those of multiples of 1/32 it keeps exactly.
    """
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    features = np.round(32 * (rng.normal(size=(n, d)) + 0.5 * y[:, None])) / 32
    weights = rng.exponential(size=(replicates, n))
    return features, y, cost * weights / weights.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("n", "d"), [(30, 1), (60, 3), (120, 12)])
def test_signs_are_those_of_libsvm(n, d, cost):
    features, y, bounds = problem(n, d, cost=cost)
    train = np.flatnonzero(np.arange(n) % 5)
    bounds = np.ascontiguousarray(bounds[:, train])
    ours = batch_decisions(features, y, train, bounds)
    for values, upper in zip(ours, bounds, strict=True):
        svc = SVC(kernel="linear", C=1.0, tol=1e-9, max_iter=10**6)
        theirs = svc.fit(features[train], y[train], sample_weight=upper).decision_function(features)
        clear = np.abs(theirs) > 1e-6
        np.testing.assert_array_equal(np.sign(values[clear]), np.sign(theirs[clear]))
        np.testing.assert_allclose(values, theirs, atol=1e-5)
