"""Kernels k(x, x′): the known ones by name, any other as a function of two matrices."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerisk.aliases import Array, Indices
from truerisk.checks import check_choice, check_number, check_whole_number
from truerisk.errors import InputError
from truerisk.kernels import gram as loops

KernelFunction = Callable[[Any, Any], Any]

NAMES = ("linear", "poly", "rbf", "precomputed")
ROWS_AT_A_TIME = 32  # of a matrix: what is done with them stays in the cache
POWERS = np.ldexp(1.0, -np.arange(1078))  # of ½


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters settled.

    "linear" x·x′, "poly" (γ x·x′ + c₀)^degree, "rbf" exp(−γ|x − x′|²), "precomputed" the rows
    themselves, or a function that gives the matrix of values.
    """

    rule: str | KernelFunction
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0
    shift: Array | None = None  # the mean of the training examples: distances do not change by it

    @property
    def name(self) -> str:
        """What the kernel is called; "callable" for a function."""
        return self.rule if isinstance(self.rule, str) else "callable"

    def between(self, X: Any, others: Any) -> Array:
        """Return the matrix of k(x, x′) for the rows of both."""
        if callable(self.rule):
            values = np.asarray(self.rule(X, others), dtype=float)
            if values.shape != (X.shape[0], others.shape[0]):
                raise InputError(
                    f"`kernel` must return a matrix of {X.shape[0]} × {others.shape[0]} values; "
                    f"got {values.shape}. It is called with two matrices, not two rows."
                )
            if not np.isfinite(values).all():
                raise InputError("`kernel` must return finite values; got NaN or infinity.")
            return values
        if self.rule == "rbf":
            return self._gaussian(X, others)
        values = dense(X @ others.T)
        if self.rule == "poly":
            values *= self.gamma
            values += self.coef0
            base = values.copy()
            for _ in range(self.degree - 1):  # far quicker than a power of each
                values *= base
        return np.ascontiguousarray(values, dtype=float)

    def among(self, X: Any) -> Array:
        """Return the matrix of k(x, x′) of the rows with each other, symmetric to the last bit."""
        if self.rule != "rbf" or hasattr(X, "tocsr"):
            return self.between(X, X)
        n, (left, right) = len(X), self._factors(X)
        gram = np.empty((n, n))
        for first in range(0, n, ROWS_AT_A_TIME):
            rows = slice(first, first + ROWS_AT_A_TIME)
            np.matmul(left[rows], right[:, first:], out=gram[rows, first:])
            loops.exponentials(gram, first, min(rows.stop, n), first, POWERS)
        loops.mirror(gram)
        gram.flat[:: n + 1] = 1.0
        return gram

    def of_examples(self, X: Any) -> Callable[[Indices | slice, Indices | slice], Array]:
        """Return a function that computes k(x, x′) of these examples, by their numbers."""
        if self.rule != "rbf" or hasattr(X, "tocsr"):
            return lambda rows, columns: self.between(X[rows], X[columns])
        left, right = self._factors(X)
        return lambda rows, columns: _exponentials(left[rows], right[:, columns])

    def _factors(self, X: Array) -> tuple[Array, Array]:
        """Return two matrices whose product is −γ|x − x′|²: two columns are of squared lengths."""
        if self.shift is not None:
            X = X - self.shift
        lengths = -self.gamma * squared_lengths(X)[:, None]
        ones, scaled = np.ones_like(lengths), np.sqrt(2.0 * self.gamma) * X
        left = np.hstack([scaled, lengths, ones])
        return left, np.ascontiguousarray(np.hstack([scaled, ones, lengths]).T)

    def diagonal(self, X: Any) -> Array:
        """Return k(x, x) of each row."""
        if self.rule == "rbf":
            return np.ones(X.shape[0])
        if self.rule in {"linear", "poly"}:
            squares = squared_lengths(X)
            return (
                squares
                if self.rule == "linear"
                else (self.gamma * squares + self.coef0) ** self.degree
            )
        return np.array(
            [float(self.between(X[i : i + 1], X[i : i + 1])[0, 0]) for i in range(X.shape[0])]
        )

    def _gaussian(self, X: Any, others: Any) -> Array:
        # |x|² + |x′|² − 2 x·x′ loses the digits that both have in common: take the mean off first.
        if self.shift is not None and not hasattr(X, "tocsr"):
            X, others = X - self.shift, others - self.shift
        values = dense(X @ others.T)
        # In place throughout: a new matrix takes longer than what is computed in it.
        values *= -2.0
        values += squared_lengths(X)[:, None]
        values += squared_lengths(others)[None, :]
        np.maximum(values, 0.0, out=values)
        values *= -self.gamma
        return np.ascontiguousarray(np.exp(values, out=values))


def _exponentials(left: Array, right: Array) -> Array:
    """Return exp of the product of two matrices, which is 0 at most but for rounding."""
    products = np.ascontiguousarray(left @ right)
    loops.exponentials(products, 0, len(products), 0, POWERS)
    return products


def dense(X: Any, dtype: Any = None) -> Array:
    """Return an array of which no entry is left out."""
    return np.asarray(X.todense() if hasattr(X, "tocsr") else X, dtype=dtype)


def squared_lengths(X: Any) -> Array:
    """Return x·x of each row, dense or sparse."""
    if hasattr(X, "tocsr"):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=float).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def settle_kernel(
    rule: str | KernelFunction,
    X: Any,
    *,
    gamma: str | float,
    degree: int = 3,
    coef0: float = 0.0,
    sample_weight: Array | None = None,
) -> Kernel:
    """Check the parameters of a kernel and settle those that depend on the data.

    `gamma` "scale" is 1 / (features · weighted variance of all entries), "auto" is 1 / features.
    """
    if not callable(rule):
        check_choice(rule, NAMES, "kernel")
    if rule not in {"poly", "rbf"}:
        return Kernel(rule)
    check_whole_number(degree, "degree", low=1)
    check_number(coef0, "coef0")
    width = max(X.shape[1], 1)
    weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    if isinstance(gamma, str):
        check_choice(gamma, ("scale", "auto"), "gamma")
        spread = _variance(X, weights) if gamma == "scale" else 1.0
        value = 1.0 / (width * spread) if spread > 0 else 1.0
    else:
        value = check_number(gamma, "gamma", low=0.0)
    shift = None
    if rule == "rbf" and not hasattr(X, "tocsr"):
        shift = np.average(X, axis=0, weights=weights)
    return Kernel(rule, gamma=value, degree=degree, coef0=coef0, shift=shift)


def kernel_of(svm: Any, X: Any, sample_weight: Array | None = None) -> Kernel:
    """Settle the kernel of an SVM, ours or scikit-learn's, on its training examples."""
    given = {name: getattr(svm, name) for name in ("gamma", "degree", "coef0")}
    return settle_kernel(svm.kernel, X, **given, sample_weight=sample_weight)


def _variance(X: Any, sample_weight: Array) -> float:
    """Return the variance of all entries, each row counted by its weight."""
    total: float = sample_weight.sum() * X.shape[1]
    mean = float(np.asarray(sample_weight @ X).sum()) / total
    if hasattr(X, "tocsr"):
        return float(sample_weight @ squared_lengths(X)) / total - mean**2
    return float(sample_weight @ squared_lengths(X - mean)) / total


@dataclass(frozen=True)
class TrainingKernel:
    """k(x, x′) of the training examples, plus s² where the bias is regularised."""

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
