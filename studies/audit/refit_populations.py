"""Populations for the audit of intervals from refits: tables, of which samples are drawn.

A sample is drawn with replacement, and the truth of a model is its value on the whole table: the
table *is* the population, and the truth is exact.  None of these was used to choose the rule, but
for those in `CHOSEN_ON`, where the edges of log loss and average precision were looked for, and in
`GROUPED_CHOSEN_ON`, where the form for rows in groups was.  Real tables are read from the folder
`TRUERISK_DATA`; features are standardized once, over the table.
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

Grouped = tuple[Array, Indices, Indices]


@dataclass(frozen=True)
class Population:
    """The rows of a population, standardized, the class of each, from 0, and its group if any."""

    X: Array
    y: Indices
    groups: Indices | None = None

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.y.max()) + 1


@lru_cache(maxsize=4)
def population(name: str) -> Population:
    """Make or read a population by its name."""
    rng = np.random.default_rng([SEED, len(name), *name.encode()])
    groups = None
    if name in GROUPED or name in GROUPED_CHOSEN_ON:
        X, y, groups = {**GROUPED, **GROUPED_CHOSEN_ON}[name](rng)
    elif name in SYNTHETIC or name in CHOSEN_ON:
        X, y = {**SYNTHETIC, **CHOSEN_ON}[name](rng)
    else:
        X, y = _read(name, rng)
    scale = X.std(axis=0)
    X = (X - X.mean(axis=0))[:, scale > 0] / scale[scale > 0]
    return Population(np.ascontiguousarray(X), y.astype(np.intp), groups)


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


def _outliers(rng: np.random.Generator) -> tuple[Array, Indices]:
    """Four shifted features; three rows in a hundred are six times as far out."""
    y = (rng.random(MAX_ROWS) < 0.5).astype(np.intp)
    scale = np.where(rng.random(MAX_ROWS) < 0.03, 6.0, 1.0)
    return rng.normal(size=(MAX_ROWS, 4)) * scale[:, None] + y[:, None] * [1.5, 1, 0.5, 0], y


def _skewed(share: float, shift: float) -> Callable[..., tuple[Array, Indices]]:
    """Log-normal features, four of them, two of which are larger for the positive class."""

    def draw(rng: np.random.Generator) -> tuple[Array, Indices]:
        y = (rng.random(MAX_ROWS) < share).astype(np.intp)
        return np.exp(rng.normal(size=(MAX_ROWS, 4)) + shift * y[:, None] * [1, 1, 0, 0]), y

    return draw


def _copies(rng: np.random.Generator) -> tuple[Array, Indices]:
    """Three features, each four times with a little noise: naive Bayes is far too sure."""
    y = (rng.random(MAX_ROWS) < 0.5).astype(np.intp)
    X = rng.normal(size=(MAX_ROWS, 3)) + y[:, None] * [1.2, 0.8, 0]
    return np.tile(X, 4) + rng.normal(scale=0.3, size=(MAX_ROWS, 12)), y


def _tails(degrees: float, spread: float) -> Callable[..., tuple[Array, Indices]]:
    """Five features with Student's t; the positive class has another spread and is shifted."""

    def draw(rng: np.random.Generator) -> tuple[Array, Indices]:
        y = (rng.random(MAX_ROWS) < 0.4).astype(np.intp)
        X = rng.standard_t(degrees, size=(MAX_ROWS, 5)) * np.where(y, spread, 1.0)[:, None]
        return X + y[:, None] * [1.5, 1.0, 0.5, 0, 0], y

    return draw


def _bursts(rng: np.random.Generator) -> tuple[Array, Indices]:
    """Well apart in two gamma features of shape one half; two in a hundred labels are wrong."""
    y = (rng.random(MAX_ROWS) < 0.6).astype(np.intp)
    X = rng.gamma(0.5, size=(MAX_ROWS, 4)) + y[:, None] * [2.0, 1.0, 0, 0]
    return X, (y ^ (rng.random(MAX_ROWS) < 0.02)).astype(np.intp)


CHOSEN_ON: dict[str, Callable[[np.random.Generator], tuple[Array, Indices]]] = {
    "far outliers": _outliers,
    "log-normal features": _skewed(0.5, 1.5),
    "rare log-normal": _skewed(0.1, 2.0),
    "copied features": _copies,
    "tails of t with 3 degrees": _tails(3.0, 1.0),
    "tails of t with 2 degrees, unequal": _tails(2.0, 2.5),
    "unequal spread": _tails(30.0, 3.0),
    "bursts": _bursts,
}


def _in_groups(*, of_a_label: bool) -> Callable[..., Grouped]:
    """Make groups of one to sixty rows, ten on the average, whose features are shifted together."""

    def draw(rng: np.random.Generator) -> Grouped:
        sizes = np.minimum(np.ceil(rng.lognormal(1.9, 0.8, size=400)), 60).astype(np.intp)
        group = np.repeat(np.arange(len(sizes)), sizes)
        share = rng.beta(0.3, 0.4, len(sizes)) if of_a_label else np.full(len(sizes), 0.4)
        y = (rng.random(len(group)) < share[group]).astype(np.intp)
        X = rng.normal(size=(len(group), 4)) + rng.normal(scale=0.7, size=(len(sizes), 4))[group]
        return X + y[:, None] * [1.4, 0.8, 0, 0], y, group

    return draw


GROUPED: dict[str, Callable[[np.random.Generator], Grouped]] = {
    "shifted groups": _in_groups(of_a_label=False),
    "groups of a label": _in_groups(of_a_label=True),
}


GROUPS = 400


def _odd_kind(rng: np.random.Generator) -> Grouped:
    """One group in seven is of a kind that is hard to tell; sizes are geometric."""
    group = np.repeat(np.arange(GROUPS), rng.geometric(1 / 8, size=GROUPS))
    odd = (rng.random(GROUPS) < 0.15)[group]
    y = (rng.random(len(group)) < 0.5).astype(np.intp)
    shift = np.where(odd, -0.3, 1.3) * y
    return rng.normal(size=(len(group), 3)) + shift[:, None] * [1, 1, 0], y, group


def _own_slopes(rng: np.random.Generator) -> Grouped:
    """Six rows each; what the features say differs by group, and tails are heavy."""
    group = np.repeat(np.arange(GROUPS), 6)
    y = (rng.random(len(group)) < 0.4).astype(np.intp)
    slopes = rng.normal([1.2, 0.8, 0, 0, 0], 0.8, size=(GROUPS, 5))
    return rng.standard_t(3, size=(len(group), 5)) + y[:, None] * slopes[group], y, group


def _pure(rng: np.random.Generator) -> Grouped:
    """All rows of a group are of one class, and alike; sizes are Poisson."""
    group = np.repeat(np.arange(GROUPS), 1 + rng.poisson(9, size=GROUPS))
    label = (rng.random(GROUPS) < 0.5).astype(np.intp)
    centre = rng.normal(scale=0.9, size=(GROUPS, 4)) + 1.2 * label[:, None] * [1, 1, 0, 0]
    return rng.normal(scale=0.8, size=(len(group), 4)) + centre[group], label[group], group


def _harder_larger(rng: np.random.Generator) -> Grouped:
    """Draw groups that are the noisier the larger they are; sizes are log-normal."""
    kind = rng.normal(size=GROUPS)
    sizes = np.minimum(np.ceil(np.exp(1.9 + 0.7 * kind)), 50).astype(np.intp)
    group = np.repeat(np.arange(GROUPS), sizes)
    y = (rng.random(len(group)) < 0.5).astype(np.intp)
    noise = np.exp(0.5 * kind)[group]
    return rng.normal(size=(len(group), 3)) * noise[:, None] + y[:, None] * [2.0, 1.0, 0], y, group


def _no_effect(rng: np.random.Generator) -> Grouped:
    """Draw groups of log-normal size whose rows have nothing in common."""
    sizes = np.ceil(rng.lognormal(1.8, 0.9, size=GROUPS)).astype(np.intp)
    group = np.repeat(np.arange(GROUPS), np.minimum(sizes, 80))
    y = (rng.random(len(group)) < 0.35).astype(np.intp)
    return rng.normal(size=(len(group), 4)) + y[:, None] * [1.2, 0.6, 0.3, 0], y, group


def _rare_in_groups(rng: np.random.Generator) -> Grouped:
    """One row in eight is positive, most of them in few groups."""
    group = np.repeat(np.arange(GROUPS), 2 + rng.geometric(1 / 9, size=GROUPS))
    share = rng.beta(0.25, 1.75, GROUPS)
    y = (rng.random(len(group)) < share[group]).astype(np.intp)
    X = rng.normal(size=(len(group), 4)) + rng.normal(scale=0.5, size=(GROUPS, 4))[group]
    return X + y[:, None] * [2.0, 1.0, 0, 0], y, group


GROUPED_CHOSEN_ON: dict[str, Callable[[np.random.Generator], Grouped]] = {
    "an odd kind of group": _odd_kind,
    "groups with slopes of their own": _own_slopes,
    "groups of one class": _pure,
    "harder groups are larger": _harder_larger,
    "groups without effect": _no_effect,
    "rare positives in groups": _rare_in_groups,
}
