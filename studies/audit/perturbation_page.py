"""The coverage of perturbation resampling as a page: docs/coverage-of-perturbation.md."""

from collections.abc import Callable, Sequence

from studies.audit.learner_page import RANGE, is_in_range, may_be_in_range
from studies.audit.ledger import markdown_table, mean
from studies.audit.perturbation import (
    AGREEMENT,
    EXACT,
    EXPONENTIAL,
    FRESH_EXAMPLES,
    LEVEL,
    LINEAR,
    MIN_OF_CLASS,
    NORMAL,
    REPEATS,
    STANDARD_C,
    PerturbationCoverage,
)

PUBLISHED = "training, percentile"
DEFAULT = "cross-validated, effective size"
Rows = Sequence[PerturbationCoverage]
Coverage = Callable[[PerturbationCoverage], float]

HEAD = """\
# Measured coverage of perturbation resampling

How often the intervals of `tr.perturbation` contain the truth, at {level:g} %.
`make audit` makes this page from studies/ledgers/perturbation.csv.

{samples} data sets are drawn in each of {cells} cells.  The classes are equally likely, and every
feature has standard deviation 1 within them and the means ±m, m such that normal features have the
Bayes error that is named.  Each data set gets {replicates} weightings and {folds} folds.  There are
two truths.  *This model's error* is that of the model trained on the whole data set: exact for
linear models on normal features, else counted on {fresh:,} fresh examples.  *The learner's error*
is the mean of this over the data sets.  Data sets with fewer than {fewest} examples of a class are
drawn again.

- *training* is the published form, as printed: every example is predicted by a model that was
  trained on it.
- *cross-validated* refits every fold under every weighting; it is what users get, with the exact
  interval where there is nothing to perturb.  `{default}` is the default.
- *{exact}* pools the losses of the folds as if they were independent.
- *{agreement}* is the rule of `tr.estimate` on {repeats} repetitions of {folds} folds: no weighting
  at all, {refits} refits instead of {folds} × {replicates}.  It is the rule to beat.

A coverage of {level:g} % from {samples} data sets is uncertain by ±{uncertain:.3f} (two standard
errors); *within Monte Carlo error* means that the exact 95 % interval of the measured coverage
meets [{low:g}, {high:g}].  Seed: {seed}.
"""


def perturbation_page(rows: Rows) -> str:
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
            fewest=MIN_OF_CLASS,
            default=DEFAULT,
            exact=EXACT,
            agreement=AGREEMENT,
            repeats=REPEATS,
            refits=first.folds * REPEATS,
            uncertain=2 * (LEVEL * (1 - LEVEL) / first.samples) ** 0.5,
            low=RANGE[0],
            high=RANGE[1],
            seed=first.random_state,
        ),
        f"\n## In short\n\n{_in_short(rows)}\n",
    ]
    for title, of in TARGETS.items():
        parts.append(f"\n## {title}, all cells\n\n{summary_table(rows, of)}\n")
    parts.append("\n*Width* is relative to that of agreement, cell by cell, then averaged.\n")
    for title, belongs in TABLES.items():
        mine = [row for row in rows if belongs(row)]
        if mine:
            parts.append(f"\n## {title}\n\nCoverage of this model's error / of the learner's error")
            parts.append(f" (mean width).\n\n{_cells(mine)}\n")
    return "".join(parts)


def _model(row: PerturbationCoverage) -> float:
    return row.of_model


def _learner(row: PerturbationCoverage) -> float:
    return row.of_learner


TARGETS: dict[str, Coverage] = {"This model's error": _model, "The learner's error": _learner}
TABLES: dict[str, Callable[[PerturbationCoverage], bool]] = {
    "Linear SVMs, C = 1": lambda row: _is_plain(row) and row.classifier == LINEAR,
    "Linear SVMs, other C": lambda row: row.C != STANDARD_C,
    "Linear SVMs, skewed features": lambda row: row.features == EXPONENTIAL,
    "Gaussian (RBF) kernel": lambda row: _is_plain(row) and row.classifier == "rbf",
    "Cubic kernel": lambda row: _is_plain(row) and row.classifier == "cubic",
    "Logistic regression": lambda row: _is_plain(row) and row.classifier == "logistic",
}


def _is_plain(row: PerturbationCoverage) -> bool:
    return row.features == NORMAL and row.C == STANDARD_C


def _cell(row: PerturbationCoverage) -> tuple[object, ...]:
    return row.classifier, row.features, row.n, row.d, row.error, row.C


def _in_short(rows: Rows) -> str:
    """Say which form is best, and whether any beats the rule of agreement."""
    names = list(dict.fromkeys(row.interval for row in rows))
    forms = [name for name in names if name not in {EXACT, AGREEMENT}]
    best, *others = sorted(forms, key=lambda name: _merit(rows, name), reverse=True)
    lines = [
        "- Forms are ranked by the share of cells within Monte Carlo error, then by their least.",
        _sentence(rows, best, f"The best form of perturbation is `{best}`: it"),
        _sentence(rows, others[0], f"The next, `{others[0]}`,"),
    ]
    if DEFAULT not in {best, others[0]}:
        lines.append(_sentence(rows, DEFAULT, f"The default, `{DEFAULT}`,"))
    lines.append(_sentence(rows, AGREEMENT, "The rule of agreement"))
    lines.append(_sentence(rows, PUBLISHED, f"The published form, `{PUBLISHED}`,"))
    ahead = _merit(rows, best) > _merit(rows, AGREEMENT) and _width(rows, best) <= 1
    lines.append(
        f"- `{best}` beats the rule of agreement: nearer to what is promised, and no wider."
        if ahead
        else "- No form of perturbation beats the rule of agreement, in coverage and width together"
        ": for the error of one SVM, `tr.estimate` is the better choice, and cheaper."
    )
    return "\n".join(lines)


def _merit(rows: Rows, name: str) -> tuple[float, float]:
    """Order forms: by the share of cells that may be in range, then by the least."""
    mine = [row for row in rows if row.interval == name]
    perhaps = [may_be_in_range(row.of_model, row.samples) for row in mine]
    return sum(perhaps) / len(mine), min(row.of_model for row in mine)


def _sentence(rows: Rows, name: str, start: str) -> str:
    shares = [row.of_model for row in rows if row.interval == name]
    inside = sum(map(is_in_range, shares)) / len(shares)
    return (
        f"- {start} covers this model's error in {mean(shares):.3f} of the data sets on average "
        f"and {min(shares):.3f} at least; {inside:.2f} of its {len(shares)} cells lie in "
        f"[{RANGE[0]:g}, {RANGE[1]:g}], {_merit(rows, name)[0]:.2f} within Monte Carlo error; "
        f"its width is {_width(rows, name):.2f} × that of agreement."
    )


def _width(rows: Rows, name: str) -> float:
    yardstick = {_cell(row): row.width for row in rows if row.interval == AGREEMENT}
    return mean([row.width / yardstick[_cell(row)] for row in rows if row.interval == name])


def summary_table(rows: Rows, of: Coverage) -> str:
    """Write all intervals for one of the two truths."""
    lines = []
    for name in dict.fromkeys(row.interval for row in rows):
        mine = [row for row in rows if row.interval == name]
        shares = [of(row) for row in mine]
        inside = [float(is_in_range(share)) for share in shares]
        perhaps = [float(may_be_in_range(of(row), row.samples)) for row in mine]
        figures = [mean(shares), min(shares), max(shares)]
        rounded = [mean(inside), mean(perhaps), _width(rows, name)]
        lines.append([name, *(f"{one:.3f}" for one in figures), *(f"{one:.2f}" for one in rounded)])
    columns = ["mean", "least", "most", "in range", "within Monte Carlo error", "width"]
    return markdown_table(["interval", *columns], lines)


def _cells(rows: Rows) -> str:
    names = list(dict.fromkeys(row.interval for row in rows))
    at = {(_cell(row), row.interval): row for row in rows}
    lines = []
    for cell in dict.fromkeys(_cell(row) for row in rows):
        one = at[cell, names[0]]
        line = [str(one.n), str(one.d), f"{one.error:g}", f"{one.C:g}", f"{one.truth:.3f}"]
        for name in names:
            row = at[cell, name]
            line.append(f"{row.of_model:.3f} / {row.of_learner:.3f} ({row.width:.3f})")
        lines.append(line)
    return markdown_table(["n", "d", "Bayes error", "C", "error", *names], lines)
