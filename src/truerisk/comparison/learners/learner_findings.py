"""The ways to compare two learners, by name: which refits each needs, and what is made of them."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from truerisk.aliases import Array
from truerisk.comparison.conclusion import conclude
from truerisk.comparison.learners.learner_differences import (
    Asked,
    differences_of_refits,
    judged_twice,
    loss_differences,
    nested_losses,
    of_learner,
    signed,
)
from truerisk.comparison.learners.learner_loss_tests import by_agreement, by_nested_cross_validation
from truerisk.comparison.learners.learner_outcome import Outcome
from truerisk.comparison.learners.learner_tests import (
    by_cautious_t,
    by_corrected_t,
    by_five_by_two_f,
    by_five_by_two_t,
    by_posterior,
    by_resampled_t,
)
from truerisk.comparison.learners.model_comparisons import BayesianComparison, Probabilities
from truerisk.errors import InputError
from truerisk.estimation.refits.estimate import LearnerEvaluation
from truerisk.measures.registry import base_and_average, find_measure
from truerisk.results import Comparison, Estimate

RefitRule = Callable[[Array, float], Outcome]

ANEW = " More examples change the learners, too: compare them anew then."
INVALID = (
    "Student's t over refits, uncorrected: invalid, because their training sets overlap; for "
    "comparison only."
)
UNDEFINED = Outcome(
    ends_at=lambda _: (-math.inf, math.inf),
    p_value=math.nan,
    method="whole_range",
    notes=("A refit has no value of it, and cannot be left out: there is no test.",),
)
LEARNERS = "Speaks of the learners at this sample size, less the fold that refits lack."
HALVES = "The refits have half the examples: this speaks of the learners at half the sample size."


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to compare: the resampling whose refits it needs, and what it makes of them.

    `of_losses` says that it only compares error rate and accuracy.
    """

    resampling: str
    found: Callable[[Asked, float | None], Iterator[Comparison]]
    remark: str = ""
    of_losses: bool = False


def _by_refits(method: str, rule: RefitRule) -> Callable[..., Iterator[Comparison]]:
    """Compare by the differences of the values of refits."""

    def found(asked: Asked, region: float | None) -> Iterator[Comparison]:
        judged = judged_twice(asked)
        for measure in asked.measures:
            both = [_one(evaluation, measure) for evaluation in judged]
            table = differences_of_refits(both[0], both[1], asked.folds)
            units = min(asked.units, *(one.n for one in both))
            learners = [of_learner(one, asked) for one in both]
            outcome = UNDEFINED if table is None else rule(table, units)
            yield concluded(asked, (learners[0], learners[1]), outcome, method, region)

    return found


def _by_votes(asked: Asked, region: float | None) -> Iterator[Comparison]:
    first, second = judged_twice(asked)
    for measure in asked.measures:
        losses = loss_differences(asked, first, second, measure)
        outcome = by_agreement(losses, asked.examples.groups)
        yield concluded(asked, (first[measure], second[measure]), outcome, "agreement", region)


def _by_nesting(asked: Asked, region: float | None) -> Iterator[Comparison]:
    losses = nested_losses(asked)
    errors = losses.second.astype(np.int8) - losses.first.astype(np.int8)
    for measure in asked.measures:
        outcome = by_nested_cross_validation(signed(errors, measure), losses.parts)
        both = (losses.estimate_of(0, asked, measure), losses.estimate_of(1, asked, measure))
        yield concluded(asked, both, outcome, "nested_cross_validation", region)


def concluded(
    asked: Asked,
    both: tuple[Estimate, Estimate],
    outcome: Outcome,
    method: str,
    region: float | None,
) -> Comparison:
    """Put two estimates and the outcome of a test into one comparison of learners."""
    found = conclude(
        asked.names,
        *both,
        ends_at=outcome.ends_at,
        level=asked.level,
        interval_method=outcome.method,
        p_value=outcome.p_value,
        method=method,
        region=region,
        notes=(*asked.notes(WAYS[method].remark), *outcome.notes),
    )
    found = said_anew(found)
    if outcome.shares_at is None:
        return found
    below, within, above = outcome.shares_at(region or 0.0)
    lower_is_better = find_measure(base_and_average(found.measure)[0]).higher_is_better is False
    better, worse = (below, above) if lower_is_better else (above, below)
    return BayesianComparison(
        **{entry.name: getattr(found, entry.name) for entry in fields(Comparison)},
        probabilities=Probabilities(better=better, equivalent=within, worse=worse),
    )


def said_anew(found: Comparison) -> Comparison:
    """Say, where more examples are asked for, that they change the learners, too."""
    if found.settled_by is None:
        return found
    return replace(found, verdict=found.verdict + ANEW)


def _one(evaluation: LearnerEvaluation, measure: str) -> Estimate:
    if measure not in evaluation:
        raise InputError(
            f"`measures` must be of what these learners say of {len(evaluation.labels)} classes; "
            f"got {measure!r}. Of more than two classes take an average (f1_macro); measures of "
            "scores need learners that give scores."
        )
    return evaluation[measure]


WAYS = {
    "cautious_t": Way(
        resampling="cross_validation",
        found=_by_refits("cautious_t", by_cautious_t),
        remark=LEARNERS,
    ),
    "corrected_t": Way(
        resampling="cross_validation",
        found=_by_refits("corrected_t", by_corrected_t),
        remark=LEARNERS,
    ),
    "five_by_two_t": Way(
        resampling="five_by_two",
        found=_by_refits("five_by_two_t", by_five_by_two_t),
        remark=HALVES,
    ),
    "five_by_two_f": Way(
        resampling="five_by_two",
        found=_by_refits("five_by_two_f", by_five_by_two_f),
        remark=HALVES,
    ),
    "bayesian": Way(
        resampling="cross_validation",
        found=_by_refits("bayesian", by_posterior),
        remark=LEARNERS,
    ),
    "nested_cross_validation": Way(
        resampling="nested_cross_validation",
        found=_by_nesting,
        remark="Speaks of the learners at this sample size, corrected for the fold refits lack.",
        of_losses=True,
    ),
    "agreement": Way(
        resampling="cross_validation",
        found=_by_votes,
        remark="Speaks of the two models that are trained on all the examples.",
        of_losses=True,
    ),
    "resampled_t": Way(
        resampling="cross_validation",
        found=_by_refits("resampled_t", by_resampled_t),
        remark=INVALID,
    ),
}
