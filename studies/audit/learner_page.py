"""The coverage of the intervals of resampling, summed up: docs/coverage-of-learners.md."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from studies.audit.learner_coverage import AGREEMENT, ERROR_RATE, YARDSTICK, LearnerCoverage
from studies.audit.learner_problems import MIN_OF_CLASS, PROBLEMS
from studies.audit.learner_refits import FOLDS, LEARNERS, LEVEL, NESTED_REPEATS, REPEATS
from studies.audit.ledger import markdown_table, mean
from truerisk.intervals.binomial import binomial_interval

RANGE = (0.93, 0.98)  # that a default should cover
LOW = 0.87
DIGITS = 1e-9  # of rounding: 0.93 of 500 samples is 465 of them
MODEL, LEARNER = "this model", "the learner"
ORDER = list(LEARNERS)
TITLES = {MODEL: "This model's error", LEARNER: "The learner's error"}
# How the figures of the committed ledgers were measured.
MEASURED_WITH = """\
The figures were measured with batched forms of the three learners, which fit many training sets at
once; a new run fits scikit-learn's own.  Discriminant and naive Bayes predict as
`LinearDiscriminantAnalysis` and `GaussianNB` do: in six cells at n = 50, 60 samples each, none of
90,000 losses differs.  The tree is that of `DecisionTreeClassifier` but for the choice among
equally good splits, which is random in both: mean errors in two such cells are 0.370 and 0.416 in
batches, 0.370 and 0.415 by scikit-learn."""

HEAD = """\
# Measured coverage of resampling

How often the intervals for a learner's error rate contain the truth, at {level:g} %.
`make audit` makes this page from studies/ledgers/learner_*.csv.

{samples} samples of each of {problems} problems at each size are drawn; each of {learners}
learners is evaluated on each sample by {repeats} × {folds}-fold stratified cross-validation, and
each interval is computed from these refits, as `truerisk estimate` does.  There are two truths.
*This model's error* is that of the model trained on the whole sample, on {fresh:,} fresh examples.
*The learner's error* is the mean of this over all samples.  Samples without an interval (the folds
of a corrected t may all be equal) count neither way.

A coverage of {centre:g} % from {samples} samples is uncertain by ±{error:.3f} (two standard
errors); *within Monte Carlo error* means that the exact 95 % interval of the measured coverage
meets [{low:g}, {high:g}].  Seed: {seed}.

How the rules were chosen: `agreement` was found on other problems, with linear SVMs; the samples
below were not used to choose it.  `agreement, damped` was chosen on other
problems, with these learners and with nearest neighbours, but with a look at some cells of the
problems below: for it, this is a partly independent check.  Nested cross-validation ({nested}
repeats) and the conservative Z need many refits of their own and are measured where these are
affordable.

{measured_with}

{short}

## Problems

{problem_table}

Samples with fewer than {fewest} examples of a class are drawn again.

## All intervals

Over the {cells} cells (problem × size × learner).  *In range* is the share of cells whose coverage
lies in [{low:g}, {high:g}]; *width* is relative to that of the corrected t over {repeats} × {folds}
folds, cell by cell, then averaged; *none* is the share of samples without an interval.
"""


OTHERS = """
## Other measures, by the rule of agreement

Least / mean coverage over problems and learners; *none* is the share of samples in which the
measure is undefined, for this sample or for the model's truth.
"""


@dataclass(frozen=True, kw_only=True)
class CellCoverage:
    """One interval for the error rate in one cell: coverage of both truths; `width` may be NaN."""

    problem: str
    learner: str
    n: int
    interval: str
    samples: int
    fresh: int
    random_state: int
    truth: float
    of_model: float
    of_learner: float
    width: float


@dataclass(frozen=True, kw_only=True)
class IntervalSummary:
    """One interval for the error rate over all cells, for one of the two truths.

    `in_range` and `perhaps` are shares of cells: coverage in range, and within Monte Carlo error;
    `low` counts the cells that cover too little, `width` is relative to the corrected t, `none` is
    the share of samples without an interval.
    """

    target: str
    interval: str
    mean: float
    least: float
    most: float
    in_range: float
    perhaps: float
    low: int
    width: float
    none: float
    cells: int


@dataclass(frozen=True, kw_only=True)
class MeasureSummary:
    """One other measure at one size over problems and learners; the last three over all sizes."""

    target: str
    measure: str
    n: int
    least: float
    mean: float
    in_range: float
    perhaps: float
    none: float


@dataclass(frozen=True)
class LearnerLedgers:
    """What the page shows."""

    cells: Sequence[CellCoverage]
    intervals: Sequence[IntervalSummary]
    measures: Sequence[MeasureSummary]


Coverage = Callable[[LearnerCoverage], float]
TARGETS: dict[str, Coverage] = {MODEL: lambda row: row.model, LEARNER: lambda row: row.learner}


def summarise_learners(rows: Sequence[LearnerCoverage]) -> LearnerLedgers:
    """Sum up the rows of all cells."""
    own = [row for row in rows if row.measure == ERROR_RATE]
    others = [row for row in rows if row.measure != ERROR_RATE]
    order = sorted(own, key=lambda row: (row.cell.problem, row.cell.learner, row.cell.n))
    return LearnerLedgers(
        [_cell(row) for row in order],
        [one for target in TARGETS for one in _intervals(own, target)],
        [one for target in TARGETS for one in _measures(others, target)],
    )


def _cell(row: LearnerCoverage) -> CellCoverage:
    return CellCoverage(
        problem=row.cell.problem,
        learner=row.cell.learner,
        n=row.cell.n,
        interval=row.interval,
        samples=row.cell.samples,
        fresh=row.cell.fresh,
        random_state=row.cell.random_state,
        truth=row.truth,
        of_model=row.model,
        of_learner=row.learner,
        width=row.mean_width,
    )


def _intervals(rows: Sequence[LearnerCoverage], target: str) -> Iterator[IntervalSummary]:
    of = TARGETS[target]
    for name in dict.fromkeys(row.interval for row in rows):
        mine = [row for row in rows if row.interval == name]
        shares = [of(row) for row in mine]
        in_range, perhaps = _in_range(mine, of)
        yield IntervalSummary(
            target=target,
            interval=name,
            mean=mean(shares),
            least=min(shares),
            most=max(shares),
            in_range=in_range,
            perhaps=perhaps,
            low=sum(share < LOW for share in shares),
            width=mean([row.relative_width for row in mine]),
            none=_undefined(mine),
            cells=len(mine),
        )


def _measures(rows: Sequence[LearnerCoverage], target: str) -> Iterator[MeasureSummary]:
    of = TARGETS[target]
    for measure in dict.fromkeys(row.measure for row in rows):
        mine = [row for row in rows if row.measure == measure]
        in_range, perhaps = _in_range(mine, of)
        for n in sorted({row.cell.n for row in mine}):
            shares = [of(row) for row in mine if row.cell.n == n]
            yield MeasureSummary(
                target=target,
                measure=measure,
                n=n,
                least=min(shares),
                mean=mean(shares),
                in_range=in_range,
                perhaps=perhaps,
                none=_undefined(mine),
            )


def _in_range(rows: Sequence[LearnerCoverage], of: Coverage) -> tuple[float, float]:
    """Give the share of cells in range, and of those that may be."""
    strictly = [float(is_in_range(of(row))) for row in rows]
    perhaps = [float(may_be_in_range(of(row), row.defined)) for row in rows]
    return mean(strictly), mean(perhaps)


def _undefined(rows: Sequence[LearnerCoverage]) -> float:
    return sum(row.undefined for row in rows) / sum(row.cell.samples for row in rows)


def is_in_range(coverage: float) -> bool:
    """Whether a coverage is what a default should have.

    Examples
    --------
    >>> is_in_range(465 / 500), is_in_range(0.99)
    (True, False)
    """
    return RANGE[0] - DIGITS <= coverage <= RANGE[1] + DIGITS


def may_be_in_range(coverage: float, samples: int) -> bool:
    """Whether the coverage may be in range, within Monte Carlo error.

    Examples
    --------
    >>> may_be_in_range(0.99, 500), may_be_in_range(0.99, 100_000)
    (True, False)
    """
    likely = binomial_interval(round(coverage * samples), samples)
    return likely.low <= RANGE[1] and likely.high >= RANGE[0]


def learner_page(ledgers: LearnerLedgers) -> str:
    """Give the page as Markdown."""
    cells = ledgers.cells
    first = cells[0]
    problems = {cell.problem for cell in cells}
    head = HEAD.format(
        level=100 * LEVEL,
        centre=100 * LEVEL,
        samples=first.samples,
        problems=len(problems),
        learners=len({cell.learner for cell in cells}),
        repeats=REPEATS,
        folds=FOLDS,
        fresh=first.fresh,
        error=2 * (LEVEL * (1 - LEVEL) / first.samples) ** 0.5,
        low=RANGE[0],
        high=RANGE[1],
        seed=first.random_state,
        nested=NESTED_REPEATS,
        measured_with=MEASURED_WITH,
        short="\n".join(_in_short(ledgers.intervals, target) for target in TITLES),
        problem_table=_problems(problems),
        fewest=MIN_OF_CLASS,
        cells=len({(cell.problem, cell.learner, cell.n) for cell in cells}),
    )
    parts = [head]
    for target, title in TITLES.items():
        parts.append(f"\n### {title}\n\n{interval_table(ledgers.intervals, target)}\n")
    parts.append(f"\n## `{AGREEMENT}` by learner and size\n")
    default = [cell for cell in cells if cell.interval == AGREEMENT]
    for target, title in TITLES.items():
        parts.append(f"\n{title}, least / mean over the problems:\n\n{_by_size(default, target)}\n")
    if ledgers.measures:
        parts.append(OTHERS)
        for target, title in TITLES.items():
            table = _measure_table(ledgers.measures, target)
            parts.append(f"\n{title.replace('error', 'value')}:\n\n{table}\n")
    parts.append("\n## Every cell\n\nCoverage of this model's error / of the learner's error.\n")
    parts.append(f"\n{_cells(cells)}\n")
    return "".join(parts)


def _in_short(rows: Sequence[IntervalSummary], target: str) -> str:
    """Say what became of the agreement interval, in a sentence for a list."""
    default = next(row for row in rows if (row.target, row.interval) == (target, AGREEMENT))
    return (
        f"- {TITLES[target]}: `{AGREEMENT}` covers {default.mean:.3f} on average and "
        f"{default.least:.3f} at least; {default.in_range:.2f} of its {default.cells} cells lie in "
        f"[{RANGE[0]:g}, {RANGE[1]:g}], {default.perhaps:.2f} within Monte Carlo error, "
        f"{default.low} under {LOW:g}; its width is {default.width:.3f} × that of the corrected t."
    )


def interval_table(rows: Sequence[IntervalSummary], target: str) -> str:
    """Write all intervals for one of the two truths."""
    lines = [
        [
            row.interval,
            *(f"{share:.3f}" for share in (row.mean, row.least, row.most)),
            *(f"{share:.2f}" for share in (row.in_range, row.perhaps)),
            str(row.low),
            f"{row.width:.3f}",
            f"{row.none:.3f}",
            str(row.cells),
        ]
        for row in rows
        if row.target == target
    ]
    columns = ["interval", "mean", "least", "most", "in range", "within Monte Carlo error"]
    return markdown_table([*columns, f"cells under {LOW:g}", "width", "none", "cells"], lines)


def _by_size(cells: Sequence[CellCoverage], target: str) -> str:
    sizes = sorted({cell.n for cell in cells})
    order = {problem.name: at for at, problem in enumerate(PROBLEMS)}
    cells = sorted(cells, key=lambda cell: order[cell.problem])
    lines = []
    for learner in sorted({cell.learner for cell in cells}, key=ORDER.index):
        line = [learner]
        for n in sizes:
            shares = [_of(one, target) for one in cells if (one.learner, one.n) == (learner, n)]
            line.append(f"{min(shares):.3f} / {mean(shares):.3f}" if shares else "–")
        lines.append(line)
    return markdown_table(["learner", *(f"n = {n}" for n in sizes)], lines)


def _of(cell: CellCoverage, target: str) -> float:
    return cell.of_model if target == MODEL else cell.of_learner


def _measure_table(rows: Sequence[MeasureSummary], target: str) -> str:
    own = [row for row in rows if row.target == target]
    sizes = sorted({row.n for row in own})
    lines = []
    for measure in dict.fromkeys(row.measure for row in own):
        at = {row.n: row for row in own if row.measure == measure}
        last = next(iter(at.values()))
        line = [measure]
        line += [f"{at[n].least:.3f} / {at[n].mean:.3f}" if n in at else "–" for n in sizes]
        line += [f"{last.in_range:.2f}", f"{last.perhaps:.2f}", f"{last.none:.3f}"]
        lines.append(line)
    sized = [f"n = {n}" for n in sizes]
    columns = ["measure", *sized, "in range", "within Monte Carlo error", "none"]
    return markdown_table(columns, lines)


def _cells(rows: Sequence[CellCoverage]) -> str:
    names = list(dict.fromkeys(row.interval for row in rows))
    at = {(row.problem, row.learner, row.n, row.interval): row for row in rows}
    lines = []
    for cell in dict.fromkeys((row.problem, row.learner, row.n) for row in rows):
        own = [at.get((*cell, name)) for name in names]
        default = at[*cell, AGREEMENT]
        line = [*map(str, cell), f"{default.truth:.3f}"]
        line += [f"{default.width:.3f}", f"{at[*cell, YARDSTICK].width:.3f}"]
        line += [
            "–" if row is None else f"{row.of_model:.3f} / {row.of_learner:.3f}" for row in own
        ]
        lines.append(line)
    facts = ["problem", "learner", "n", "error", "width", "width of corrected t"]
    return markdown_table([*facts, *names], lines)


def _problems(names: set[str]) -> str:
    lines = []
    for problem in PROBLEMS:
        if problem.name in names:
            share = sum(cloud.share for cloud in problem.clouds if cloud.positive)
            tails = "normal" if problem.degrees == float("inf") else f"t, {problem.degrees:g} df"
            line = [problem.name, str(problem.features), f"{share:.2f}", tails]
            lines.append([*line, f"{problem.flipped:.2f}"])
    return markdown_table(["problem", "features", "positive", "tails", "flipped labels"], lines)
