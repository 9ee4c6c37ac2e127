"""Examples in the forms that solvers take: numbers, and matrices of k(x, x′)."""

from typing import Any

import numpy as np

from truerisk.aliases import Array
from truerisk.errors import InputError
from truerisk.svm.kernels import dense
from truerisk.svm.rows.matrix import check_intact, products_of

SYMMETRIC = 1e-8  # of the largest k(x, x′)
ONE_SCALE = 1e3  # how much farther one feature may reach than another


def as_numbers(X: Any) -> Any:
    """Return the examples as numbers, all of them finite."""
    if hasattr(X, "tocsr"):
        check_intact(X)
        rows = X.tocsr()
        if not np.isfinite(rows.data).all():
            raise InputError("`X` must be finite; got NaN or infinity in a sparse matrix.")
        return rows
    try:
        table = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "`X` must be a table of numbers; got others. Encode them in a Pipeline, by a "
            "OneHotEncoder, say."
        ) from None
    if table.ndim != 2:
        raise InputError(f"`X` must have rows and columns; got shape {table.shape}.")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise InputError(
            f"`X` must be finite; got {table[row, column]} in row {row}, column {column}. Leave "
            "the example out, or fill gaps in a Pipeline, by a SimpleImputer, say."
        )
    return table


def sum_of_squares(X: Any) -> float:
    """Return the sum of the squares of all values; it is finite only if all of them are."""
    values = X.data if hasattr(X, "tocsr") else X.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.einsum("i,i", values, values))  # wakes no thread of BLAS


def check_gram(gram: Array, name: str = "X") -> Array:
    """Refuse a matrix that holds no kernel of the examples with each other."""
    if gram.shape[0] != gram.shape[1]:
        raise InputError(
            "`X` must be the square matrix of k(x, x′) of all examples for a precomputed kernel; "
            f"got {gram.shape[0]} × {gram.shape[1]}."
        )
    if np.abs(gram - gram.T).max(initial=0.0) > SYMMETRIC * np.abs(gram).max(initial=0.0):
        row, column = np.unravel_index(np.argmax(np.abs(gram - gram.T)), gram.shape)
        raise InputError(
            f"`{name}` must be symmetric, k(x, x′) = k(x′, x); got "
            f"{gram[row, column]:g} in row {row}, column {column}, and {gram[column, row]:g} in "
            f"row {column}, column {row}."
        )
    return gram


def centred(gram: Array) -> Array:
    """Move the origin to the mean of the examples, which changes the bias alone.

    What is constant in K would be the scale by which the rest of it is told from rounding.
    """
    means = gram.mean(axis=0)
    moved: Array = gram - means
    moved -= (means - means.mean())[:, None]
    return moved


def linear_gram(X: Any) -> Array:
    """Return the linear Gram matrix; a shift changes the bias alone, and spares it its digits."""
    if hasattr(X, "tocsr"):
        return products_of(X)
    shifted = X - X.mean(axis=0)
    gram: Array = shifted @ shifted.T
    return gram


def has_one_scale(X: Any) -> bool:
    """Tell whether the features reach so far alike that products of examples keep all of them.

    A feature that reaches 10⁶ times as far as another leaves 4 digits of it in a product.
    """
    if hasattr(X, "tocsr"):
        X = X.tocsc()  # once, for both ends
    reach = X.max(axis=0) - X.min(axis=0)
    reach = dense(reach).ravel()
    varies = reach[reach > 0.0]
    return not len(varies) or bool(varies.max() <= ONE_SCALE * varies.min())
