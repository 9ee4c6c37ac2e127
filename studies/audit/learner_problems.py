"""Problems of two classes whose examples are drawn: the error of any rule can be measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtr

from truerisk.aliases import Array, Flags

MIN_OF_CLASS = 2  # examples of either class in a sample; with fewer it is drawn again


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """A round cloud of examples of one class: its share of all, centre, and deviation."""

    positive: bool
    share: float
    centre: tuple[float, ...]
    deviation: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Clouds of two classes, normal or with the tails of Student's t; some labels flipped.

    Every rule of the form w·x + c > 0 has an error that is known exactly: the projection of a
    cloud on w is normal, or Student's t, itself.

    Examples
    --------
    >>> X, y = PROBLEMS[0].draw(50, np.random.default_rng(1))
    >>> X.shape, y.shape, y.dtype.name
    ((50, 5), (50,), 'bool')
    """

    name: str
    clouds: tuple[Cloud, ...]
    degrees: float = math.inf
    flipped: float = 0.0

    @property
    def features(self) -> int:
        """How many features an example has."""
        return len(self.clouds[0].centre)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Flags]:
        """Draw n examples, with at least two of either class."""
        while True:
            X, y = self._draw(n, rng)
            if MIN_OF_CLASS <= np.count_nonzero(y) <= n - MIN_OF_CLASS:
                return X, y

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Flags]:
        of = rng.choice(len(self.clouds), size=n, p=[cloud.share for cloud in self.clouds])
        spread = np.array([cloud.deviation for cloud in self.clouds])[of]
        if math.isfinite(self.degrees):
            spread /= np.sqrt(rng.chisquare(self.degrees, n) / self.degrees)
        X = rng.standard_normal((n, self.features))
        X *= spread[:, np.newaxis]
        X += np.array([cloud.centre for cloud in self.clouds])[of]
        y = np.array([cloud.positive for cloud in self.clouds])[of]
        if self.flipped:
            y ^= rng.random(n) < self.flipped
        return X, y

    def linear_error(self, weights: Sequence[float] | Array, constant: float) -> float:
        r"""Give the exact error of the rule that calls w·x + c > 0 positive.

        .. math:: f + (1 - 2f) \sum_j s_j F\bigl(\mp (w \cdot m_j + c) / (\sigma_j |w|)\bigr)

        over clouds of share s, centre m and deviation σ, with − for those of the positive class;
        F is the distribution function of the tails, f the share of flipped labels.

        Examples
        --------
        >>> round(PROBLEMS[0].linear_error([1] * 5, -5 * 3.3 / 5**0.5 / 2), 4)  # Φ(−3.3 / 2)
        0.0495
        """
        w = np.asarray(weights, dtype=np.float64)
        length = math.sqrt(float(w @ w))
        error = 0.0
        for cloud in self.clouds:
            at = (float(w @ np.array(cloud.centre)) + constant) / (cloud.deviation * length)
            at = -at if cloud.positive else at
            tail = stdtr(self.degrees, at) if math.isfinite(self.degrees) else ndtr(at)
            error += cloud.share * float(tail)
        return self.flipped + (1 - 2 * self.flipped) * error


def _along(features: int, informative: int, distance: float) -> tuple[float, ...]:
    """Give a centre at the distance from 0, moved alike in its first so many features."""
    step = distance / math.sqrt(informative)
    return (step,) * informative + (0.0,) * (features - informative)


def _two(
    features: int, informative: int, distance: float, share: float = 0.5, deviation: float = 1.0
) -> tuple[Cloud, ...]:
    """Put the negative class at 0 with deviation 1, the positive one at the distance from it."""
    return (
        Cloud(positive=False, share=1 - share, centre=_along(features, informative, 0.0)),
        Cloud(
            positive=True,
            share=share,
            centre=_along(features, informative, distance),
            deviation=deviation,
        ),
    )


def _crescent(radius: float, bows: int) -> tuple[Cloud, ...]:
    """Put a positive core within a bow of negative clouds, three fifths of a circle long."""
    angles = 1.2 * math.pi * (np.arange(bows) + 0.5) / bows
    centres = [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]
    bow = (Cloud(positive=False, share=0.5 / bows, centre=at, deviation=0.7) for at in centres)
    return (Cloud(positive=True, share=0.5, centre=(0.0, 0.0)), *bow)


CORNERS = tuple(
    Cloud(positive=a == b, share=0.25, centre=(1.5 * a, 1.5 * b)) for a in (-1, 1) for b in (-1, 1)
)

PROBLEMS = (
    Problem(name="well separated", clouds=_two(5, 5, 3.3)),
    Problem(name="overlapping", clouds=_two(10, 5, 1.4)),
    Problem(name="unequal spread", clouds=_two(5, 2, 1.5, deviation=2.0)),
    Problem(name="heavy tails, flipped", clouds=_two(10, 5, 2.5), degrees=2.5, flipped=0.1),
    Problem(name="opposite corners", clouds=CORNERS),
    Problem(name="crescent", clouds=_crescent(2.5, 12)),
    Problem(name="sparse, 30 features", clouds=_two(30, 3, 2.5)),
    Problem(name="one in ten positive", clouds=_two(5, 5, 2.0, share=0.1)),
)
