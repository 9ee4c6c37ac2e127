"""The coverage of perturbation resampling as a page: docs/coverage-of-perturbation.md."""

from collections.abc import Callable, Sequence

from studies.audit.learner_ledger import WANTED, is_in_range, may_be_in_range
from studies.audit.perturbation_cells import EXPONENTIAL, FEWEST, FRESH_EXAMPLES
from studies.audit.perturbation_coverage import AGREEMENT, EXACT, REPEATS
from truerisk.estimation.svm.measured_coverage import (
    DEFAULT,
    LEVEL,
    LINEAR,
    NORMAL,
    PUBLISHED,
    STANDARD_C,
    PerturbationCoverage,
)

Rows = Sequence[PerturbationCoverage]
Coverage = Callable[[PerturbationCoverage], float]

HEAD = """\
# Measured coverage of perturbation resampling

How often the intervals of `tr.perturbation` contain the truth, at {level:g} %.
`truerisk audit --perturbation` makes this page.

{samples} data sets are drawn in each of {cells} cells.  The classes are equally likely, and every
feature has standard deviation 1 within them and the means ±m, m such that normal features have the
Bayes error that is told.  Each data set gets {replicates} weightings and {folds} folds.  There are
two truths.  *This model's error* is that of the machine trained on the whole data set: exact for
linear machines on normal features, else counted on {fresh:,} fresh examples.  *The learner's error*
is the mean of this over the data sets.  Data sets with fewer than {fewest} examples of a class are
drawn again.

- *training* is the published form, as printed, without any way out: every example is called by a
  machine that was trained on it.
- *cross-validated* refits every fold under every weighting; it is what users get, with the exact
  interval where there is nothing to perturb.  `{default}` is the default.
- *{exact}* pools the losses of the folds as if they were independent.
- *{agreement}* is the rule of `tr.estimate` on {repeats} repetitions of {folds} folds: no weighting
  at all, {refits} refits instead of {folds} × {replicates}.  It is the rule to beat.

A coverage of {level:g} % from {samples} data sets is uncertain by ±{uncertain:.3f} (two standard
errors); *within Monte Carlo error* says that the exact 95 % interval of the measured coverage meets
[{low:g}, {high:g}].  Seed: {seed}.
"""


def perturbation_ledger_text(rows: Rows) -> str:
    """Give the page as Markdown."""
    first = rows[0]
    parts = [
        HEAD.format(
            level=100 * LEVEL,
            samples=min(row.samples for row in rows),
            cells=len({_cell(row) for row in rows}),
            replicates=first.replicates,
            folds=first.folds,
            fresh=FRESH_EXAMPLES,
            fewest=FEWEST,
            default=DEFAULT,
            exact=EXACT,
            agreement=AGREEMENT,
            repeats=REPEATS,
            refits=first.folds * REPEATS,
            uncertain=2 * (LEVEL * (1 - LEVEL) / first.samples) ** 0.5,
            low=WANTED[0],
            high=WANTED[1],
            seed=first.random_state,
        ),
        f"\n## In short\n\n{_in_short(rows)}\n",
    ]
    for title, of in TARGETS.items():
        parts.append(f"\n## {title}, all cells\n\n{_summary(rows, of)}\n")
    parts.append("\n*Width* is relative to that of agreement, cell by cell, then averaged.\n")
    for title, belongs in TABLES.items():
        mine = [row for row in rows if belongs(row)]
        if mine:
            parts.append(f"\n## {title}\n\nCoverage of this model's error / of the learner's error")
            parts.append(f" (mean width).\n\n{_cells(mine)}\n")
    return "".join(parts)


def _model(row: PerturbationCoverage) -> float:
    return row.model


def _learner(row: PerturbationCoverage) -> float:
    return row.learner


TARGETS: dict[str, Coverage] = {"This model's error": _model, "The learner's error": _learner}
TABLES: dict[str, Callable[[PerturbationCoverage], bool]] = {
    "Linear machines, C = 1": lambda row: _is_plain(row) and row.machine == LINEAR,
    "Linear machines, other C": lambda row: row.C != STANDARD_C,
    "Linear machines, skewed features": lambda row: row.features == EXPONENTIAL,
    "Gaussian (RBF) kernel": lambda row: _is_plain(row) and row.machine == "rbf",
    "Cubic kernel": lambda row: _is_plain(row) and row.machine == "cubic",
    "Logistic regression": lambda row: _is_plain(row) and row.machine == "logistic",
}


def _is_plain(row: PerturbationCoverage) -> bool:
    return row.features == NORMAL and row.C == STANDARD_C


def _cell(row: PerturbationCoverage) -> tuple[object, ...]:
    return row.machine, row.features, row.n, row.d, row.error, row.C


def _in_short(rows: Rows) -> str:
    """Say which form is best, and whether any beats the rule of agreement."""
    names = list(dict.fromkeys(row.interval for row in rows))
    forms = [name for name in names if name not in {EXACT, AGREEMENT}]
    best, *others = sorted(forms, key=lambda name: _merit(rows, name), reverse=True)
    lines = [
        "- Forms are ranked by the share of cells within Monte Carlo error, then by their least.",
        _told(rows, best, f"The best form of perturbation is `{best}`: it"),
        _told(rows, others[0], f"The next, `{others[0]}`,"),
    ]
    if DEFAULT not in {best, others[0]}:
        lines.append(_told(rows, DEFAULT, f"The default, `{DEFAULT}`,"))
    lines.append(_told(rows, AGREEMENT, "The rule of agreement"))
    lines.append(_told(rows, PUBLISHED, f"The published form, `{PUBLISHED}`,"))
    ahead = _merit(rows, best) > _merit(rows, AGREEMENT) and _width(rows, best) <= 1
    lines.append(
        f"- `{best}` beats the rule of agreement: nearer to what is promised, and no wider."
        if ahead
        else "- No form of perturbation beats the rule of agreement, in coverage and width together"
        ": for the error of one machine, `tr.estimate` is the better choice, and cheaper."
    )
    return "\n".join(lines)


def _merit(rows: Rows, name: str) -> tuple[float, float]:
    """Order forms: by the share of cells that may cover what is wanted, then by the least."""
    mine = [row for row in rows if row.interval == name]
    perhaps = [may_be_in_range(row.model, row.samples) for row in mine]
    return sum(perhaps) / len(mine), min(row.model for row in mine)


def _told(rows: Rows, name: str, start: str) -> str:
    found = [row.model for row in rows if row.interval == name]
    inside = sum(map(is_in_range, found)) / len(found)
    return (
        f"- {start} covers this model's error in {_mean(found):.3f} of the data sets on average "
        f"and {min(found):.3f} at least; {inside:.2f} of its {len(found)} cells lie in "
        f"[{WANTED[0]:g}, {WANTED[1]:g}], {_merit(rows, name)[0]:.2f} within Monte Carlo error; "
        f"its width is {_width(rows, name):.2f} × that of agreement."
    )


def _width(rows: Rows, name: str) -> float:
    yardstick = {_cell(row): row.mean_width for row in rows if row.interval == AGREEMENT}
    return _mean([row.mean_width / yardstick[_cell(row)] for row in rows if row.interval == name])


def _summary(rows: Rows, of: Coverage) -> str:
    lines = []
    for name in dict.fromkeys(row.interval for row in rows):
        mine = [row for row in rows if row.interval == name]
        found = [of(row) for row in mine]
        inside = [float(is_in_range(value)) for value in found]
        perhaps = [float(may_be_in_range(of(row), row.samples)) for row in mine]
        figures = [_mean(found), min(found), max(found)]
        shares = [_mean(inside), _mean(perhaps), _width(rows, name)]
        lines.append([name, *(f"{one:.3f}" for one in figures), *(f"{one:.2f}" for one in shares)])
    columns = ["mean", "least", "most", "in range", "within Monte Carlo error", "width"]
    return _table(["interval", *columns], lines)


def _cells(rows: Rows) -> str:
    names = list(dict.fromkeys(row.interval for row in rows))
    at = {(_cell(row), row.interval): row for row in rows}
    lines = []
    for cell in dict.fromkeys(_cell(row) for row in rows):
        one = at[cell, names[0]]
        line = [str(one.n), str(one.d), f"{one.error:g}", f"{one.C:g}", f"{one.truth:.3f}"]
        for name in names:
            row = at[cell, name]
            line.append(f"{row.model:.3f} / {row.learner:.3f} ({row.mean_width:.3f})")
        lines.append(line)
    return _table(["n", "d", "Bayes error", "C", "error", *names], lines)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
