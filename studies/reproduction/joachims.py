"""Tables 1 to 3 of Joachims: ξα-estimates beside hold-out sets, on three text collections.

Random halves of a collection, one for training and one for testing; averages and standard
deviations over the splits, the paper's beside ours.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from studies.reproduction.joachims_corpora import OHSUMED, REUTERS, WEBKB, Collection
from studies.reproduction.joachims_pictures import AveragesPicture
from studies.reproduction.joachims_printed import (
    DECIMALS,
    MEASURES,
    OPTIMISTIC,
    SOURCE,
    WORDS,
    Printed,
    Spread,
    printed_table,
)
from studies.reproduction.joachims_trials import (
    MIN_DOCUMENTS,
    RHOS,
    SQUARED_RADIUS,
    C,
    Compared,
    Documents,
    Trial,
    compare,
    halves,
    run_trial,
    troubles,
)
from studies.reproduction.reproduced import Reproduction
from studies.reproduction.settings import Settings

ALLOWED_DEVIATIONS = 3.0
ALLOWED_POINTS = 0.35
COLUMNS = (
    *("ρ", "measure", "category", "estimate paper", "estimate ours"),
    *("hold-out paper", "hold-out ours", "optimistic", "finding"),
)
RULE = "the paper's mean ± 3 sd, or ± 0.35 points where that is more"


@dataclass(frozen=True)
class Table:
    """A table of the paper: its title, the file with its figures, and the collection."""

    title: str
    figures: str
    collection: Collection
    optimistic: dict[str, int] | None = None  # what the paper counts at ρ = 1


@dataclass(frozen=True)
class Row:
    """One measure of one category at one ρ: ours, and what the paper prints."""

    ours: Compared
    printed: Printed

    @property
    def pairs(self) -> dict[str, tuple[Spread, Spread]]:
        """Our figure and the paper's, of the estimate and of the hold-out set."""
        name = self.ours.measure
        return {
            "estimate": (self.ours.estimate, self.printed.estimate[name]),
            "hold-out": (self.ours.holdout, self.printed.holdout[name]),
        }

    @property
    def outside(self) -> dict[str, float]:
        """What is further from the paper than allowed, and by how many points it differs."""
        return {
            kind: ours.mean - paper.mean
            for kind, (ours, paper) in self.pairs.items()
            if not is_within(ours, paper)
        }

    def cells(self) -> tuple[str, ...]:
        """Write the row."""
        decimals = DECIMALS[self.ours.measure]
        (estimate, holdout) = self.pairs.values()
        finding = "; ".join(f"{kind} {by:+.{decimals}f}" for kind, by in self.outside.items())
        return (
            *(f"{self.ours.rho:g}", WORDS[self.ours.measure], self.ours.category),
            *(estimate[1].written(decimals), estimate[0].written(decimals)),
            *(holdout[1].written(decimals), holdout[0].written(decimals)),
            f"{self.ours.optimistic} of {len(self.ours.estimates)}",
            finding or "within",
        )


TABLES = {
    "joachims-table1": Table(
        "Table 1: the ten most frequent categories of Reuters-21578",
        "joachims_table1.csv",
        REUTERS,
        OPTIMISTIC,
    ),
    "joachims-table2": Table("Table 2: WebKB", "joachims_table2.csv", WEBKB),
    "joachims-table3": Table("Table 3: Ohsumed", "joachims_table3.csv", OHSUMED),
}


def is_within(ours: Spread, paper: Spread) -> bool:
    """Whether our average lies in the paper's mean ± 3 sd, or ± 0.35 points where that is more.

    Examples
    --------
    >>> paper = Spread(2.68, 0.08, 10, 10)
    >>> is_within(Spread(3.0, 0.1, 10, 10), paper), is_within(Spread(3.1, 0.1, 10, 10), paper)
    (True, False)
    """
    return abs(ours.mean - paper.mean) <= max(ALLOWED_DEVIATIONS * paper.deviation, ALLOWED_POINTS)


def reproduce(table: Table, settings: Settings) -> Reproduction:
    """Repeat the experiment of a table, the paper's figures beside ours."""
    printed = {(line.category, line.rho): line for line in printed_table(table.figures)}
    documents = table.collection.read(settings.data)
    rng = np.random.default_rng(settings.random_state)
    splits = halves(len(documents), settings.splits, rng)
    trials = [
        run_trial(documents, train, test)
        for train, test in settings.progress(splits, settings.splits)
    ]
    rows = [
        Row(ours, printed[ours.category, ours.rho])
        for ours in compare(documents.categories, trials)
    ]
    return Reproduction(
        title=table.title,
        source=SOURCE,
        columns=COLUMNS,
        rows=tuple(row.cells() for row in rows),
        conclusion=_conclusion(table, documents, rows, trials, settings),
        pictures=tuple(
            AveragesPicture(tuple(row.ours for row in rows if _is(row, RHOS[0], measure)))
            for measure in MEASURES
        ),
    )


def _is(row: Row, rho: float, measure: str) -> bool:
    return row.ours.rho == rho and row.ours.measure == measure


def _conclusion(
    table: Table,
    documents: Documents,
    rows: Sequence[Row],
    trials: Sequence[Trial],
    settings: Settings,
) -> tuple[str, ...]:
    return (
        *table.collection.remarks(len(documents)),
        _agreement(rows),
        *_outside(table, documents, rows),
        _shares(rows, documents),
        *(_optimistic(table, rows, rho) for rho in RHOS),
        _spreads(rows),
        _set_up(documents, trials, settings),
        *troubles(trials),
    )


def _set_up(documents: Documents, trials: Sequence[Trial], settings: Settings) -> str:
    size = trials[0].train_size
    return (
        f"{settings.splits} random splits from seed {settings.random_state}: {size} documents to "
        f"train on, {len(documents) - size} to test on. C = {C:g}, R² = {SQUARED_RADIUS:g}; a word "
        f"is a run of letters, in at least {MIN_DOCUMENTS} training documents, TF·log(n/DF), unit "
        "length."
    )


def _agreement(rows: Sequence[Row]) -> str:
    errors = [row for row in rows if _is(row, RHOS[0], MEASURES[0])]
    wrong = sum(len(row.outside) for row in errors)
    every = sum(len(row.outside) for row in rows)
    return (
        f"Error at ρ = 1 and hold-out error: {2 * len(errors) - wrong} of {2 * len(errors)} "
        f"averages lie within {RULE}; of all figures, {2 * len(rows) - every} of {2 * len(rows)}."
    )


def _outside(table: Table, documents: Documents, rows: Sequence[Row]) -> Iterator[str]:
    """Name what is outside, with the reason as far as there is one."""
    shares = dict(zip(documents.categories, 100 * documents.member.mean(axis=0), strict=True))
    for row in rows:
        if row.outside and _is(row, RHOS[0], MEASURES[0]):
            name = row.ours.category
            listed = ", ".join(f"{kind} {by:+.2f}" for kind, by in row.outside.items())
            yield (
                f"Outside: {name}, {listed}; {shares[name]:.1f} % of the documents belong to it, "
                f"{row.printed.implied_share:.1f} % of the paper's."
            )
    if table.collection.explanation is not None and any(row.outside for row in rows):
        yield table.collection.explanation


def _shares(rows: Sequence[Row], documents: Documents) -> str:
    shares = 100 * documents.member.mean(axis=0)
    implied = {row.ours.category: row.printed.implied_share for row in rows}
    listed = ", ".join(
        f"{category} {share:.1f} ({implied[category]:.1f})"
        for category, share in zip(documents.categories, shares, strict=True)
    )
    return (
        "Documents of the category in percent, and in brackets what error, recall and precision "
        f"of the paper's hold-out sets imply: {listed}."
    )


def _optimistic(table: Table, rows: Sequence[Row], rho: float) -> str:
    counted = {
        measure: sum(row.ours.optimistic for row in rows if _is(row, rho, measure))
        for measure in MEASURES
    }
    paper = table.optimistic if table.optimistic and rho == RHOS[0] else {}
    listed = ", ".join(
        f"{WORDS[measure]} {times}" + (f" (paper {paper[measure]} of 100)" if paper else "")
        for measure, times in counted.items()
    )
    total = sum(len(row.ours.estimates) for row in rows if _is(row, rho, MEASURES[0]))
    return f"Better than the hold-out set at ρ = {rho:g}, of {total} estimates: {listed}."


def _spreads(rows: Sequence[Row]) -> str:
    """Say how the deviation of the estimate compares with that of a hold-out set at ρ = 1."""

    def multiple(place: int, measure: str) -> str:
        pairs = [row.pairs for row in rows if _is(row, RHOS[0], measure)]
        estimate = math.fsum(pair["estimate"][place].deviation for pair in pairs)
        holdout = math.fsum(pair["hold-out"][place].deviation for pair in pairs)
        return f"{estimate / holdout:.2f}" if holdout > 0 else "–"

    listed = ", ".join(
        f"{WORDS[measure]} {multiple(0, measure)} ({multiple(1, measure)})" for measure in MEASURES
    )
    return (
        "Standard deviations of the estimate at ρ = 1, summed over the categories, as a multiple "
        f"of the hold-out set's, and in brackets the paper's: {listed}."
    )
