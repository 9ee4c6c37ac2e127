"""Tallies of examples → those of a population in which the classes have other shares."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from truerisk.checks import did_you_mean, shown
from truerisk.errors import InputError
from truerisk.evaluation.prediction_tally import Tallies
from truerisk.results import Finding
from truerisk.tallies.cells import Cells
from truerisk.tallies.documents import DocumentTally
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import rank
from truerisk.tallies.scored_rows import ScoredRows

ROUNDING = 1e-9  # of shares that add up to 1


def at_prior(tallies: Tallies, prior: Mapping[str, float]) -> Tallies:
    """Weigh the examples of each class, for the classes to have the shares of a prior."""
    if tallies.multilabel:
        raise InputError("`prior` must be left out with sets of labels: they have no shares.")
    observed = _observed(tallies)
    factors = _factors(observed, prior)
    rows = tallies.grouped_scores or tallies.joint_scores
    if rows is None and tallies.rankings:
        raise InputError("`prior` must be left out here: the rows were too many to be held.")
    cells = None if tallies.cells is None else _weighted_cells(tallies.cells, factors)
    weighted = replace(tallies, cells=cells, all_cells=cells)
    return weighted if rows is None else _with_scores(weighted, rows, factors)


def prior_note(observed: Tallies, prior: Mapping[str, float] | None) -> Iterator[Finding]:
    """Say which shares were taken in place of which."""
    if prior is None:
        return
    sums = _observed(observed)
    total = sum(sums.values())
    shares = ", ".join(
        f"{label} {share:g} (here {sums[label] / total:.3g})" for label, share in prior.items()
    )
    text = f"Every measure is at a prior of {shares}; the examples of each class are as they are."
    yield Finding(text, code="prior")


def _observed(tallies: Tallies) -> dict[str, float]:
    """Give the examples, or weights, of each class."""
    if tallies.cells is not None:
        sums = tallies.cells.by_class(tallies.cells.totals)[1]
        return dict(zip(tallies.cells.labels, sums.tolist(), strict=True))
    rows = tallies.grouped_scores or tallies.joint_scores
    if rows is None:
        return {}
    names = tuple(tallies.rankings)
    by_name = dict(zip(names, (rows.weights @ rows.truth).tolist(), strict=True))
    if len(names) == 1:
        rest = next(label for label in tallies.labels if label != names[0])
        by_name[rest] = float(rows.weights.sum()) - by_name[names[0]]
    return by_name


def _factors(observed: Mapping[str, float], prior: Mapping[str, float]) -> dict[str, float]:
    """Give how much an example of each class counts: its share at the prior over that here."""
    for label in prior:
        if not observed.get(label):
            raise InputError(
                f"`prior` must name classes with examples; got {shown(label)}."
                f"{did_you_mean(label, [one for one, sums in observed.items() if sums])}"
            )
    total, named = sum(observed.values()), sum(prior.values())
    others = total - sum(observed[label] for label in prior)
    complete = others <= 0
    if (complete and abs(named - 1) > ROUNDING) or (not complete and named >= 1):
        needed = "add up to 1" if complete else "leave a share to the other classes"
        raise InputError(f"`prior` must {needed}; got {named:g} in all.")
    rest = 1.0 if complete else (1 - named) * total / others
    return {
        label: prior[label] * total / sums if label in prior else rest
        for label, sums in observed.items()
        if sums
    }


def _weighted_cells(cells: Cells, factors: Mapping[str, float]) -> Cells:
    of_class = np.array([factors.get(label, 1.0) for label in cells.labels])
    each = of_class[cells.codes[0]]
    groups = cells.by_group
    return replace(
        cells,
        totals=cells.totals * each,
        squares=cells.variances * each**2,
        by_group=None
        if groups is None
        else replace(groups, value=groups.value * each[groups.cell]),
        at_prior=True,
    )


def _with_scores(tallies: Tallies, rows: ScoredRows, factors: Mapping[str, float]) -> Tallies:
    """Count the scores again, with the weights of the classes."""
    names, truth = tuple(tallies.rankings), rows.truth
    single = len(names) == 1
    rest = next((factors[one] for one in factors if one != names[0]), 1.0)
    each = (
        np.where(truth[:, 0], factors.get(names[0], 1.0), rest)
        if single
        else truth @ np.array([factors.get(name, 1.0) for name in names])
    )
    weight = rows.weights * each
    weighted = replace(rows, weight=weight)
    documents, probabilities = tallies.documents, tallies.probabilities
    if documents is not None:
        documents = DocumentTally().add(rows.score, truth, weight)
    if probabilities is not None:
        columns = rows.score[:, 0] if single else rows.score
        codes = truth[:, 0] if single else truth.argmax(axis=1)
        probabilities = ProbabilityTally().add(columns, codes, weight, rows.complement)
    pairs = weighted.pairs
    return replace(
        tallies,
        rankings={
            name: rank(rows.score[:, at], truth[:, at], weight) for at, name in enumerate(names)
        },
        pooled=None
        if tallies.pooled is None
        else rank(pairs.score[:, 0], pairs.truth[:, 0], pairs.weight),
        grouped_scores=None if rows.group is None else weighted,
        joint_scores=weighted if rows.group is None else None,
        documents=documents,
        probabilities=probabilities,
    )
