"""The kernel between training examples, by their numbers, whatever form they came in."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.aliases import Array, Indices
from truerisk.svm.kernels import Kernel


@dataclass(frozen=True)
class TrainingKernel:
    """k(x, x′) of the training examples, and a constant that is added to it.

    The constant is what a regularised bias adds: the SVM without a free bias on k + s².

    Examples
    --------
    >>> between = TrainingKernel(Kernel("linear"), np.array([[1.0, 2.0], [3.0, 4.0]]), added=1.0)
    >>> between.block(np.array([0]), np.array([0, 1]))
    array([[ 6., 12.]])
    >>> between.diagonal(np.array([1]))
    array([26.])
    """

    kernel: Kernel
    X: Any
    added: float = 0.0

    def block(self, rows: Indices, columns: Indices) -> Array:
        """Return k of the examples numbered `rows` and `columns`."""
        if self.kernel.rule == "precomputed":
            return np.asarray(self.X[np.ix_(rows, columns)], dtype=float) + self.added
        return self.kernel.between(self.X[rows], self.X[columns]) + self.added

    def diagonal(self, rows: Indices) -> Array:
        """Return k(x, x) of the examples numbered `rows`."""
        if self.kernel.rule == "precomputed":
            return np.asarray(self.X[rows, rows], dtype=float) + self.added
        return self.kernel.diagonal(self.X[rows]) + self.added
