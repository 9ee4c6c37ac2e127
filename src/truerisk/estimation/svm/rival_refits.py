"""One machine on one set of examples, and the many refits that rival intervals are read off."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truerisk.aliases import Array, Indices
from truerisk.errors import InputError
from truerisk.estimation.refits.examples import Examples
from truerisk.estimation.refits.splits import k_fold
from truerisk.svm.weighted_refits import decisions_under

CHUNK = 500  # refits at a time: their decision values are kept until they are judged


@dataclass(frozen=True)
class Case:
    """A machine, the examples it is to be judged by, and how much may be spent on it.

    `seed` sets all that is drawn: each rival has its own stream (seed, number), so that leaving
    one out changes no other.
    """

    model: Any
    examples: Examples
    folds: int
    replicates: int
    level: float
    seed: int
    workers: int = 1

    @property
    def n(self) -> int:
        """How many examples there are."""
        return self.examples.n

    @property
    def signs(self) -> Array:
        """The classes as −1 and 1, in the order in which a classifier keeps them."""
        y = self.examples.y
        return np.where(y == np.unique(y)[1], 1.0, -1.0)

    @cached_property
    def decision(self) -> Array:
        """The decision value of each example by the machine trained on all of them."""
        found: Array = self.decisions(np.ones((1, self.n)))[0]
        return found

    @property
    def training_error(self) -> float:
        """The share of the examples that the machine trained on them calls wrong."""
        return float(np.mean((self.decision > 0) != (self.signs > 0)))

    def rng(self, stream: int) -> np.random.Generator:
        """Give the random numbers of one rival."""
        return np.random.default_rng([self.seed, stream])

    def decisions(self, counts: Array) -> Array:
        """Give every example's decision value by the machine that has each so many times.

        Where only one class is left to train on, every example is said to be of it.
        """
        ones = counts[:, self.signs > 0].any(axis=1)
        both = ones & counts[:, self.signs < 0].any(axis=1)
        found = np.where(ones, 1.0, -1.0)[:, None] * np.ones(self.n)
        if both.any():
            found[both] = decisions_under(
                self.model,
                self.examples.X,
                self.examples.y,
                np.arange(self.n),
                counts[both],
                workers=self.workers,
            )
        return found

    def errors(self, trained: NDArray[np.bool_], judged: NDArray[np.bool_]) -> Array:
        """Train on some examples, judge others: the error rate of each refit, a row a refit."""
        errors = np.empty(len(trained))
        for at in range(0, len(trained), CHUNK):
            part = slice(at, at + CHUNK)
            called = self.decisions(trained[part].astype(float)) > 0
            wrong = (called != (self.signs > 0)) & judged[part]
            errors[part] = wrong.sum(axis=1) / judged[part].sum(axis=1)
        return errors

    def cross_validated(self, samples: Sequence[Indices], rng: np.random.Generator) -> Array:
        """Give the cross-validated error of each sample of examples, its folds drawn at random."""
        rows = len(samples) * self.folds
        trained, judged = np.zeros((rows, self.n), dtype=bool), np.zeros((rows, self.n), dtype=bool)
        for at, members in enumerate(samples):
            parts = k_fold(
                self.examples.y[members],
                self.folds,
                allow_small_classes=True,
                random_state=rng,
            )
            for fold in range(self.folds):
                row = at * self.folds + fold
                judged[row, members[parts == fold]] = True
                trained[row, members[parts != fold]] = True
        share = judged.sum(axis=1) / np.repeat([len(members) for members in samples], self.folds)
        weighed = self.errors(trained, judged) * share
        found: Array = weighed.reshape(len(samples), self.folds).sum(axis=1)
        return found

    def halves(self, divisions: int, rng: np.random.Generator) -> list[Indices]:
        """Divide the examples into two halves, several times over; each has its share of a class.

        One example is left out of an odd number.
        """
        codes = self.examples.codes
        if 2 * self.folds > self.n:
            raise InputError(
                f"`folds` must not exceed half the {self.n} examples; got {self.folds}."
            )
        found: list[Indices] = []
        for _ in range(divisions):
            mixed = rng.permutation(self.n)
            mixed = mixed[np.argsort(codes[mixed], kind="stable")]
            # Where the number is odd, the one left out is not always of the last class.
            start = rng.integers(self.n)
            mixed = np.roll(mixed, start)[: self.n - self.n % 2]
            found += [np.sort(mixed[0::2]), np.sort(mixed[1::2])]
        return found
