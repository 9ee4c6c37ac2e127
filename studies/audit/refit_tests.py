"""How often tests of two learners on the same refits say "different": of equal ones, and of others.

10 folds, 10 times over, as `tr.compare_models` has them; the tests are those of the library.  The
learners are fitted here in closed form: linear discriminants of two halves of the features, and
stumps (one split of one feature).  *gap* is 0 where both learners have the same expected error.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from studies.audit.checkpoints import checkpointed
from truerisk.aliases import Array, Indices
from truerisk.comparison.learners.learner_tests import (
    by_agreement,
    by_cautious_t,
    by_corrected_t,
    by_variance_components,
)
from truerisk.estimation.refits.plans import repeated_folds

FOLDS, REPEATS, SAMPLES, SIZE = 10, 10, 600, 0.05
TESTS = ("cautious_t", "corrected_t", "agreement", "variance_components")


@dataclass(frozen=True, kw_only=True)
class TestShare:
    """The share of samples in which a test has p ≤ .05."""

    pair: str
    n: int
    gap: float
    test: str
    samples: int
    share: float


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A pair of learners, a sample size, and how much easier the features of the second are."""

    pair: str
    n: int
    gap: float = 0.0


Predict = Callable[[Array, Indices, Array], NDArray[np.bool_]]


def _discriminant(X: Array, y: Indices, new: Array) -> NDArray[np.bool_]:
    means = np.stack([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    rest = X - means[y]
    weight = np.linalg.solve(rest.T @ rest / len(X), means[1] - means[0])
    odds = np.log(y.mean() / (1 - y.mean()))
    return np.asarray((new - means.mean(axis=0)) @ weight + odds > 0)


def _stump(X: Array, y: Indices, new: Array) -> NDArray[np.bool_]:
    """Split one feature where fewest are wrong."""
    order = np.argsort(X[:, 0])
    x, below = X[order, 0], np.cumsum(y[order])
    at = np.arange(1, len(x))
    wrong = below[:-1] + (len(x) - at - (below[-1] - below[:-1]))  # 0 under the split, 1 above
    upward = wrong.min() <= (len(x) - wrong).min()
    best = int(wrong.argmin() if upward else wrong.argmax())
    return np.asarray((new[:, 0] > (x[best] + x[best + 1]) / 2) == upward)


PAIRS: dict[str, tuple[Predict, int, float]] = {
    "discriminants": (_discriminant, 2, 0.55),
    "stumps": (_stump, 1, 0.7),
}


def draw(trial: Trial, rng: np.random.Generator) -> tuple[Array, Indices]:
    """Draw two halves of features, the second shifted by `gap` more."""
    _, d, shift = PAIRS[trial.pair]
    y = rng.permutation(np.arange(trial.n) % 2)
    shifts = np.repeat([shift, shift + trial.gap], d)
    return rng.normal(size=(trial.n, 2 * d)) + y[:, None] * shifts, y


def p_values(trial: Trial, at: int) -> list[float]:
    """Give the p-value of every test on one sample."""
    rng = np.random.default_rng([trial.n, at, *trial.pair.encode()])
    X, y = draw(trial, rng)
    predict, d, _ = PAIRS[trial.pair]
    plan = repeated_folds(y, FOLDS, REPEATS, rng)
    losses = np.zeros((REPEATS, trial.n), dtype=np.int8)
    refits = np.zeros((REPEATS, trial.n), dtype=np.intp)
    folds = np.empty((REPEATS, FOLDS))
    for one in range(len(plan)):
        train, test = plan.train_and_test(one)
        first, second = (
            predict(X[train][:, half], y[train], X[test][:, half]) != y[test]
            for half in (slice(0, d), slice(d, 2 * d))
        )
        row, column = divmod(one, FOLDS)
        losses[row, test] = second.astype(np.int8) - first.astype(np.int8)
        refits[row, test] = one
        folds[row, column] = losses[row, test].mean()
    outcomes = (
        by_cautious_t(folds, trial.n),
        by_corrected_t(folds, trial.n),
        by_agreement(losses, None),
        by_variance_components(losses, refits, None),
    )
    return [float("nan") if one.p_value is None else one.p_value for one in outcomes]


def _every(trial: Trial, samples: int) -> dict[str, Array]:
    return {"p": np.array([p_values(trial, at) for at in range(samples)])}


def all_trials() -> list[Trial]:
    """List the pairs, equal and not."""
    return [
        *(Trial(pair=pair, n=300) for pair in PAIRS),
        *(Trial(pair=pair, n=300, gap=0.2) for pair in PAIRS),
        *(Trial(pair=pair, n=1000) for pair in PAIRS),
    ]


def measure_tests(
    *, samples: int = SAMPLES, folder: Path | None = None
) -> Iterator[tuple[Trial, list[TestShare]]]:
    """Give the shares of one trial after another; what is in the folder is not run again."""
    for trial in all_trials():
        name = f"tests-{trial.pair}-{trial.n}-{trial.gap:g}"
        settings = {"samples": samples, "folds": FOLDS, "repeats": REPEATS}
        arrays = checkpointed(folder, name, settings, partial(_every, trial, samples))
        shares = np.mean(arrays["p"] <= SIZE, axis=0).tolist()
        yield (
            trial,
            [
                TestShare(
                    pair=trial.pair, n=trial.n, gap=trial.gap, test=test, samples=samples, share=one
                )
                for test, one in zip(TESTS, shares, strict=True)
            ],
        )
