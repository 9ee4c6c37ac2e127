"""The intervals that the rule of agreement gives to other measures of counts."""

from collections.abc import Iterator

import numpy as np

from studies.audit.learner_further_refits import ends_of
from studies.audit.learner_problems import Array, Labels
from studies.audit.learner_refits import LEVEL, Refits
from truerisk.evaluation.assemble import assemble
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.evaluation.request import Request
from truerisk.measures.averages import value_of_tables
from truerisk.results import Estimate
from truerisk.tallies.votes import Votes

LABELS = ("no", "yes")
POSITIVE = 1
MEASURES = (
    "recall",
    "precision",
    "specificity",
    "f1",
    "balanced_accuracy",
    "matthews_correlation",
)


class _NoScores:
    """What there is to say of the scores of models that give none."""

    def overall(self) -> Iterator[Estimate]:
        return iter(())

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        return {}


def measure_ends(refits: Refits, measures: tuple[str, ...] = MEASURES) -> dict[str, Array]:
    """Give the ends of the interval of each measure and sample, as the product gives them.

    NaN where the measure is undefined.
    """
    request = Request(
        level=LEVEL, measures=measures, pos_label=LABELS[POSITIVE], random_state=0
    ).checked()
    found: dict[str, list[Estimate]] = {name: [] for name in measures}
    for losses, pos_label in zip(refits.losses, refits.pos_label, strict=True):
        cells = votes_of(losses, pos_label).cells()
        tallies = Tallies(
            LABELS, multilabel=False, pos_label=LABELS[POSITIVE], n=cells.n, cells=cells
        )
        evaluation = assemble(tallies, request, scores=_NoScores())
        for name in measures:
            found[name].append(evaluation[name])
    return {
        name: ends_of([one.interval if one.is_defined else None for one in estimates])
        for name, estimates in found.items()
    }


def votes_of(losses: Labels, pos_label: Labels) -> Votes:
    """Count what the refits called the examples, from who was wrong.

    Examples
    --------
    >>> votes_of(np.array([[False, True], [False, False]]), np.array([True, False])).counts.tolist()
    [[0, 2], [1, 1]]
    """
    votes = Votes(pos_label.astype(np.int64), LABELS)
    for wrong in losses:
        votes.add(np.arange(pos_label.size), (pos_label ^ wrong).astype(np.int32))
    return votes


def measure_truth(refits: Refits, measures: tuple[str, ...] = MEASURES) -> dict[str, Array]:
    """Give the true value of each measure for the model of each sample; NaN where undefined."""
    missed, alarms = refits.truth.T
    share = np.full_like(missed, refits.prevalence)
    rows = [[1 - share - alarms, alarms], [missed, share - missed]]
    tables = np.moveaxis(np.array(rows), -1, 0)
    found = {name: value_of_tables(name, tables, POSITIVE) for name in measures}
    return {name: np.asarray(values, dtype=np.float64) for name, values in found.items()}
