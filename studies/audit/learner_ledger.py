"""The coverage of the intervals of resampling as a page: docs/coverage-of-learners.md."""

from collections.abc import Callable, Sequence

from studies.audit.learner_coverage import DEFAULT, ERROR_RATE, YARDSTICK, LearnerCoverage
from studies.audit.learner_further_refits import NESTED_REPEATS
from studies.audit.learner_problems import FEWEST, PROBLEMS
from studies.audit.learner_refits import FOLDS, LEVEL, REPEATS
from truerisk.intervals.binomial import binomial_interval

WANTED = (0.93, 0.98)
LEAST = 0.87
DIGITS = 1e-9  # of rounding: 0.93 of 500 samples is 465 of them

HEAD = """\
# Measured coverage of resampling

How often the intervals for a learner's error rate contain the truth, at {level:g} %.
`truerisk audit --learners` makes this page.

{repetitions} samples of each of {problems} problems at each size are drawn; each of {learners}
learners is judged on each sample by {repeats} × {folds}-fold stratified cross-validation, and each
interval is computed from these refits, as `truerisk estimate` does.  There are two truths.  *This
model's error* is that of the model trained on the whole sample, on {fresh:,} fresh examples.  *The
learner's error* is the mean of this over all samples.  Samples without an interval (the folds of a
corrected t may all be equal) count neither way.

A coverage of {centre:g} % from {repetitions} samples is uncertain by ±{error:.3f} (two standard
errors); *within Monte Carlo error* says that the exact 95 % interval of the measured coverage meets
[{low:g}, {high:g}].  Seed: {seed}.

How the rules came about: `agreement` was found on other problems, with linear support vector
machines; the samples below did not serve to choose it.  `agreement, damped` was chosen on other
problems, with these learners and with nearest neighbours, but with a look at some cells of the
problems below: for it, this is a partly independent check.  Nested cross-validation ({nested}
repeats) and the conservative Z need many refits of their own and are measured where these are
affordable.

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


def learner_ledger_text(rows: Sequence[LearnerCoverage]) -> str:
    """Give the page as Markdown."""
    cells = list(dict.fromkeys(row.cell for row in rows))
    first = cells[0]
    others = [row for row in rows if row.measure != ERROR_RATE]
    rows = [row for row in rows if row.measure == ERROR_RATE]
    default = [row for row in rows if row.interval == DEFAULT]
    head = HEAD.format(
        level=100 * LEVEL,
        centre=100 * LEVEL,
        repetitions=first.repetitions,
        problems=len({cell.problem for cell in cells}),
        learners=len({cell.learner for cell in cells}),
        repeats=REPEATS,
        folds=FOLDS,
        fresh=first.fresh,
        error=2 * (LEVEL * (1 - LEVEL) / first.repetitions) ** 0.5,
        low=WANTED[0],
        high=WANTED[1],
        seed=first.random_state,
        nested=NESTED_REPEATS,
        short="\n".join(_in_short(default, *target) for target in TARGETS.items()),
        problem_table=_problems({cell.problem for cell in cells}),
        fewest=FEWEST,
        cells=len(cells),
    )
    parts = [head]
    for title, of in TARGETS.items():
        parts.append(f"\n### {title}\n\n{_summary(rows, of)}\n")
    parts.append(f"\n## The default, `{DEFAULT}`, by learner and size\n")
    for title, of in TARGETS.items():
        parts.append(f"\n{title}, least / mean over the problems:\n\n{_by_size(default, of)}\n")
    if others:
        parts.append(OTHERS)
        for title, of in TARGETS.items():
            parts.append(f"\n{title.replace('error', 'value')}:\n\n{_measures(others, of)}\n")
    parts.append("\n## Every cell\n\nCoverage of this model's error / of the learner's error.\n")
    parts.append(f"\n{_cells(rows)}\n")
    return "".join(parts)


def _model(row: LearnerCoverage) -> float:
    return row.model


def _learner(row: LearnerCoverage) -> float:
    return row.learner


Coverage = Callable[[LearnerCoverage], float]

TARGETS: dict[str, Coverage] = {"This model's error": _model, "The learner's error": _learner}


def is_in_range(coverage: float) -> bool:
    """Whether a coverage is what is wanted of a default.

    Examples
    --------
    >>> is_in_range(465 / 500), is_in_range(0.99)
    (True, False)
    """
    return WANTED[0] - DIGITS <= coverage <= WANTED[1] + DIGITS


def may_be_in_range(coverage: float, samples: int) -> bool:
    """Whether the coverage may be in range, so many samples having been drawn.

    Examples
    --------
    >>> may_be_in_range(0.99, 500), may_be_in_range(0.99, 100_000)
    (True, False)
    """
    likely = binomial_interval(round(coverage * samples), samples)
    return likely.low <= WANTED[1] and likely.high >= WANTED[0]


def _in_short(rows: Sequence[LearnerCoverage], title: str, of: Coverage) -> str:
    """Say what became of the default, in a sentence for a list."""
    found = [of(row) for row in rows]
    strictly, perhaps = _in_range(rows, of)
    return (
        f"- {title}: the default covers {_mean(found):.3f} on average and {min(found):.3f} at "
        f"least; {strictly} of its {len(rows)} cells lie in [{WANTED[0]:g}, {WANTED[1]:g}], "
        f"{perhaps} within Monte Carlo error, {sum(value < LEAST for value in found)} under "
        f"{LEAST:g}; its width is {_mean([row.relative_width for row in rows]):.3f} × that of the "
        "corrected t."
    )


def _summary(rows: Sequence[LearnerCoverage], of: Coverage) -> str:
    lines = []
    for name in dict.fromkeys(row.interval for row in rows):
        mine = [row for row in rows if row.interval == name]
        found = [of(row) for row in mine]
        lines.append(
            [
                name,
                f"{_mean(found):.3f}",
                f"{min(found):.3f}",
                f"{max(found):.3f}",
                *_in_range(mine, of),
                str(sum(value < LEAST for value in found)),
                f"{_mean([row.relative_width for row in mine]):.3f}",
                f"{_undefined(mine):.3f}",
                str(len(mine)),
            ]
        )
    columns = ["interval", "mean", "least", "most", "in range", "within Monte Carlo error"]
    return _table([*columns, f"cells under {LEAST:g}", "width", "none", "cells"], lines)


def _by_size(rows: Sequence[LearnerCoverage], of: Coverage) -> str:
    sizes = sorted({row.cell.n for row in rows})
    lines = []
    for learner in dict.fromkeys(row.cell.learner for row in rows):
        line = [learner]
        for n in sizes:
            found = [of(row) for row in rows if (row.cell.learner, row.cell.n) == (learner, n)]
            line.append(f"{min(found):.3f} / {_mean(found):.3f}" if found else "–")
        lines.append(line)
    return _table(["learner", *(f"n = {n}" for n in sizes)], lines)


def _measures(rows: Sequence[LearnerCoverage], of: Coverage) -> str:
    sizes = sorted({row.cell.n for row in rows})
    lines = []
    for measure in dict.fromkeys(row.measure for row in rows):
        mine = [row for row in rows if row.measure == measure]
        line = [measure]
        for n in sizes:
            found = [of(row) for row in mine if row.cell.n == n]
            line.append(f"{min(found):.3f} / {_mean(found):.3f}" if found else "–")
        line += [*_in_range(mine, of), f"{_undefined(mine):.3f}"]
        lines.append(line)
    sized = [f"n = {n}" for n in sizes]
    return _table(["measure", *sized, "in range", "within Monte Carlo error", "none"], lines)


def _in_range(rows: Sequence[LearnerCoverage], of: Coverage) -> list[str]:
    """Give the share of cells in range, and of those that may be."""
    strictly = [float(is_in_range(of(row))) for row in rows]
    perhaps = [float(may_be_in_range(of(row), row.defined)) for row in rows]
    return [f"{_mean(strictly):.2f}", f"{_mean(perhaps):.2f}"]


def _undefined(rows: Sequence[LearnerCoverage]) -> float:
    return sum(row.undefined for row in rows) / sum(row.cell.repetitions for row in rows)


def _cells(rows: Sequence[LearnerCoverage]) -> str:
    names = list(dict.fromkeys(row.interval for row in rows))
    at = {(row.cell, row.interval): row for row in rows}
    cells = sorted(
        {row.cell for row in rows}, key=lambda cell: (cell.problem, cell.learner, cell.n)
    )
    lines = []
    for cell in cells:
        own = [at.get((cell, name)) for name in names]
        default = at[cell, DEFAULT]
        line = [cell.problem, cell.learner, str(cell.n), f"{default.truth:.3f}"]
        line += [f"{default.mean_width:.3f}", f"{at[cell, YARDSTICK].mean_width:.3f}"]
        line += ["–" if row is None else f"{row.model:.3f} / {row.learner:.3f}" for row in own]
        lines.append(line)
    facts = ["problem", "learner", "n", "error", "width", "width of corrected t"]
    return _table([*facts, *names], lines)


def _problems(names: set[str]) -> str:
    lines = []
    for problem in PROBLEMS:
        if problem.name in names:
            share = sum(cloud.share for cloud in problem.clouds if cloud.pos_label)
            tails = "normal" if problem.degrees == float("inf") else f"t, {problem.degrees:g} df"
            line = [problem.name, str(problem.features), f"{share:.2f}", tails]
            lines.append([*line, f"{problem.flipped:.2f}"])
    return _table(["problem", "features", "positive", "tails", "flipped labels"], lines)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
