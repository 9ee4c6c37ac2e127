import numpy as np
import pytest
from scipy import sparse

from truerisk.svm.kernels import Kernel, TrainingKernel

X = np.random.default_rng(0).normal(size=(6, 3))
ROWS, COLUMNS = np.array([0, 3]), np.array([5, 1, 2])


@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", gamma=0.3)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_form_gives_the_same_values(kernel, form):
    gram = kernel.between(X, X) + 0.25
    for between in (
        TrainingKernel(kernel, form(X), added=0.25),
        TrainingKernel(Kernel("precomputed"), gram - 0.25, added=0.25),
    ):
        assert between.block(ROWS, COLUMNS) == pytest.approx(gram[np.ix_(ROWS, COLUMNS)])
        assert between.diagonal(COLUMNS) == pytest.approx(np.diagonal(gram)[COLUMNS])
