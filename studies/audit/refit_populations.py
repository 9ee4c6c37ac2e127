"""Populations for the audit of intervals from refits: tables, of which samples are drawn.

A sample is drawn with replacement, and the truth of a model is its value on the whole table: the
table *is* the population, and the truth is exact.  None of these was used to choose the rule.  Real
tables are read from the folder `TRUERISK_DATA`; features are standardized once, over the table.
"""

import csv
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from truerisk.aliases import Array, Indices
from truerisk.errors import InputError

FOLDER = "TRUERISK_DATA"
MAX_ROWS = 4_000
LARGE = 20_000
SEED = 20_261


@dataclass(frozen=True)
class Population:
    """The rows of a population, standardized, and the class of each, from 0."""

    X: Array
    y: Indices

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.y.max()) + 1


@lru_cache(maxsize=4)
def population(name: str) -> Population:
    """Make or read a population by its name."""
    rng = np.random.default_rng([SEED, len(name), *name.encode()])
    if name in SYNTHETIC:
        X, y = SYNTHETIC[name](rng)
    else:
        X, y = _read(name, rng)
    scale = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, scale > 0] / scale[scale > 0]
    return Population(np.ascontiguousarray(X), y.astype(np.intp))


def _read(name: str, rng: np.random.Generator) -> tuple[Array, Indices]:
    """Read a table whose last column is the class; categories become indicators."""
    if FOLDER not in os.environ:
        raise InputError(f"The environment must name the folder of tables ({FOLDER}) for {name!r}.")
    path = Path(os.environ[FOLDER]) / "tabular" / f"{name}.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = csv.reader(file)
        next(lines)
        rows = list(lines)
    if len(rows) > MAX_ROWS:
        rows = [rows[at] for at in rng.choice(len(rows), MAX_ROWS, replace=False)]
    table = np.array(rows)
    columns = [_numbers(column) for column in table[:, :-1].T]
    return np.column_stack(columns), table[:, -1].astype(np.intp)


def _numbers(column: np.ndarray) -> Array:
    try:
        return np.asarray(column, dtype=np.float64)
    except ValueError:
        return np.asarray(column[:, None] == np.unique(column)[1:], dtype=np.float64)


def _corners(rng: np.random.Generator) -> tuple[Array, Indices]:
    """Four corners of a square, opposite ones of one class: exclusive or."""
    corner = rng.choice([-1.0, 1.0], size=(LARGE, 2))
    X = corner + rng.normal(scale=0.5, size=corner.shape)
    return X, (corner.prod(axis=1) > 0).astype(np.intp)


def _heavy_tails(rng: np.random.Generator) -> tuple[Array, Indices]:
    """Six features with Student's t of 2.5 degrees, two of them shifted."""
    y = (rng.random(MAX_ROWS) < 0.4).astype(np.intp)
    return rng.standard_t(2.5, size=(MAX_ROWS, 6)) + 1.2 * y[:, None] * [1, 1, 0, 0, 0, 0], y


def _label_noise(rng: np.random.Generator) -> tuple[Array, Indices]:
    """Draw a linear rule of eight features; every fifth label is flipped."""
    X = rng.normal(size=(MAX_ROWS, 8))
    y = X @ [1.5, 1, 0.5, 0.5, 0, 0, 0, 0] > 0
    return X, (y ^ (rng.random(MAX_ROWS) < 0.2)).astype(np.intp)


def _rare(rng: np.random.Generator) -> tuple[Array, Indices]:
    """One positive in sixteen, shifted and spread in five features."""
    y = (rng.random(MAX_ROWS) < 1 / 16).astype(np.intp)
    shift = np.array([1.6, 1.0, 0.6, 0, 0])
    return rng.normal(size=(MAX_ROWS, 5)) * (1 + 0.5 * y[:, None]) + y[:, None] * shift, y


def _rings(rng: np.random.Generator) -> tuple[Array, Indices]:
    """Two noisy rings in two of four features."""
    y = (rng.random(MAX_ROWS) < 0.5).astype(np.intp)
    angle, radius = rng.uniform(0, 2 * np.pi, MAX_ROWS), 1 + 0.8 * y
    X = rng.normal(scale=0.45, size=(MAX_ROWS, 4))
    X[:, :2] += np.column_stack([np.cos(angle), np.sin(angle)]) * radius[:, None]
    return X, y


def _several(classes: int, d: int, spread: float) -> Callable[..., tuple[Array, Indices]]:
    """Draw normal classes of unequal size: class k is 1/(k + 3) as common."""

    def draw(rng: np.random.Generator) -> tuple[Array, Indices]:
        share = 1 / (np.arange(classes) + 3)
        y = rng.choice(classes, size=MAX_ROWS, p=share / share.sum())
        centres = spread * rng.normal(size=(classes, d))
        scale = rng.uniform(0.7, 1.4, size=(classes, d))
        return centres[y] + scale[y] * rng.normal(size=(MAX_ROWS, d)), y

    return draw


SYNTHETIC: dict[str, Callable[[np.random.Generator], tuple[Array, Indices]]] = {
    "exclusive or": _corners,
    "heavy tails": _heavy_tails,
    "label noise": _label_noise,
    "rare positives": _rare,
    "rings": _rings,
    "three classes": _several(3, 4, 0.8),
    "ten classes": _several(10, 8, 1.1),
}
