"""One trial of Joachims' experiments: train on some documents, test on others.

The set-up is his: words in at least three training documents, TF·log(n/DF) by training statistics,
unit length, a linear SVM with C = 0.5 for each category.  Vectors of unit length without
negative entries have R² = 1.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.reproduction.joachims_printed import MEASURES, Spread
from truerisk.aliases import Flags, Indices
from truerisk.errors import NotConvergedWarning, UnstableWarning
from truerisk.estimation.svm.xi_alpha import at_risk
from truerisk.measures.from_counts import f1, precision, recall
from truerisk.svm.linear import LinearSVM
from truerisk.tallies.cells import BinaryCounts, ratio
from truerisk.text.vectorizer import Vectorizer

C = 0.5
MIN_DOCUMENTS = 3
SQUARED_RADIUS = 1.0
RHOS = (1.0, 2.0)
TOLERANCE = 1e-6

Places = Indices


@dataclass(frozen=True)
class Documents:
    """Texts, and for each of them (rows) which of the categories (columns) it belongs to."""

    texts: tuple[str, ...]
    categories: tuple[str, ...]
    member: Flags

    def __len__(self) -> int:
        return len(self.texts)

    def texts_at(self, places: Places) -> list[str]:
        """Give the texts that stand at these places."""
        return [self.texts[place] for place in places]


@dataclass(frozen=True)
class Trial:
    """What one split gave: counts with an entry for each category, at each ρ and hold-out."""

    train_size: int
    estimated: Mapping[float, BinaryCounts]
    holdout: BinaryCounts
    unstable: int  # categories in which no support vector pins the bias down
    gap: float  # of the SVM that is furthest from its optimum


@dataclass(frozen=True)
class Compared:
    """One measure of one category over all trials of a size: estimate and hold-out, in percent."""

    category: str
    rho: float
    measure: str
    train_size: int
    estimates: tuple[float, ...]
    holdouts: tuple[float, ...]

    @property
    def estimate(self) -> Spread:
        """Average and deviation of the ξα-estimate."""
        return Spread.of(self.estimates)

    @property
    def holdout(self) -> Spread:
        """Average and deviation on the hold-out sets."""
        return Spread.of(self.holdouts)

    @property
    def optimistic(self) -> int:
        """In how many trials the estimate was better than the hold-out set."""
        sign = 1 if self.measure == "error_rate" else -1
        pairs = zip(self.estimates, self.holdouts, strict=True)
        return sum(sign * estimate < sign * holdout for estimate, holdout in pairs)


def run_trial(
    documents: Documents, train: Places, test: Places, *, min_documents: int = MIN_DOCUMENTS
) -> Trial:
    """Train on the documents at `train`; count what is estimated and what `test` shows."""
    vectorizer = Vectorizer(min_documents=min_documents)
    vectors = vectorizer.fit_transform(documents.texts_at(train))
    svm = LinearSVM(C=C, tol=TOLERANCE, n_jobs=-1)
    with warnings.catch_warnings():
        for told_at_the_end in (UnstableWarning, NotConvergedWarning):
            warnings.simplefilter("ignore", told_at_the_end)
        svm.fit(vectors, documents.member[train].astype(int))
    predicted = svm.decision_function(vectorizer.transform(documents.texts_at(test))) > 0
    truth = documents.member[train]
    risky = {rho: at_risk(svm.alpha_, svm.slack_, SQUARED_RADIUS, rho).T for rho in RHOS}
    return Trial(
        train_size=len(train),
        # An example at risk is taken for wrong: predicted positive are the positives that
        # are safe and the negatives that are not.
        estimated={rho: count(truth, truth ^ flags) for rho, flags in risky.items()},
        holdout=count(documents.member[test], predicted),
        unstable=int(np.sum(~np.asarray(svm.stable_) & np.any(svm.alpha_ > 0, axis=1))),
        gap=float(svm.gap_),
    )


def troubles(trials: Sequence[Trial]) -> Iterator[str]:
    """Name SVMs with a loose bias, and solvers that stopped early.

    Examples
    --------
    >>> none = BinaryCounts(tp=0, fp=0, fn=0, tn=1)
    >>> list(troubles([Trial(1, {}, none, 2, 1e-4), Trial(1, {}, none, 0, 1e-9)]))[0]
    '2 SVMs have no support vector within its bounds: their bias is one of many.'
    """
    unstable = sum(trial.unstable for trial in trials)
    if unstable:
        yield (
            f"{unstable} SVMs have no support vector within its bounds: their bias is one of many."
        )
    stopped = [trial.gap for trial in trials if trial.gap > TOLERANCE]
    if stopped:
        yield (
            f"In {len(stopped)} of {len(trials)} trials a solver stopped before its goal, at a gap "
            f"of at most {max(stopped):.1g}."
        )


def count(truth: Flags, predicted: Flags) -> BinaryCounts:
    """Count the four outcomes in each column.

    Examples
    --------
    >>> one = count(np.array([[True], [True], [False]]), np.array([[True], [False], [False]]))
    >>> one.tp, one.fn, one.tn
    (array([1]), array([1]), array([1]))
    """
    return BinaryCounts(
        tp=np.sum(truth & predicted, axis=0),
        fp=np.sum(~truth & predicted, axis=0),
        fn=np.sum(truth & ~predicted, axis=0),
        tn=np.sum(~truth & ~predicted, axis=0),
    )


def percentages(counts: BinaryCounts) -> dict[str, Any]:
    """Give the four measures of each category in percent; NaN where one is undefined.

    Examples
    --------
    >>> values = percentages(BinaryCounts(tp=6, fp=2, fn=4, tn=88))
    >>> [round(float(values[name]), 1) for name in MEASURES]
    [6.0, 60.0, 75.0, 66.7]
    """
    return {
        "error_rate": 100 * ratio(counts.fp + counts.fn, counts.n),
        "recall": 100 * recall(counts).value,
        "precision": 100 * precision(counts).value,
        "f1": 100 * f1(counts).value,
    }


def halves(size: int, splits: int, rng: np.random.Generator) -> Iterator[tuple[Places, Places]]:
    """Draw random halves; of an odd number of documents the training half gets the larger one."""
    middle = (size + 1) // 2
    for _ in range(splits):
        order = rng.permutation(size)
        yield order[:middle], order[middle:]


def compare(categories: Sequence[str], trials: Sequence[Trial]) -> tuple[Compared, ...]:
    """Gather the values of all trials, by ρ, then measure, then category."""
    holdout = [percentages(trial.holdout) for trial in trials]
    compared = []
    for rho in RHOS:
        estimated = [percentages(trial.estimated[rho]) for trial in trials]
        compared += [
            Compared(
                category,
                rho,
                measure,
                trials[0].train_size,
                tuple(float(values[measure][place]) for values in estimated),
                tuple(float(values[measure][place]) for values in holdout),
            )
            for measure in MEASURES
            for place, category in enumerate(categories)
        ]
    return tuple(compared)
