"""The size of every default test as a page: docs/size-of-tests.md."""

import math
from collections.abc import Sequence

from studies.audit.equal_models import HALF, REPLICATES, ROWS_A_GROUP
from studies.audit.ledger import markdown_table, mean
from studies.audit.sizes import FROM, GOAL, KINDS, NOMINAL, TestSize, all_trials

ENOUGH = 1000  # pairs, which tell 0.05 to ±0.014

HEAD = """\
# Measured size of the tests

How often each default test says "different", at {nominal:g}, of models that are equally good.
`make audit` makes this page from studies/ledgers/tests.csv.

Pairs of models are drawn that are exchangeable: swapping them changes nothing.  No measure can
differ in truth, and every "different" is a mistake.

- *Predictions*: both models' scores are normal, correlated within the classes as stated, and 1.5
  standard deviations apart between them; scores above 1 are predicted positive.  With groups,
  {rows} rows have half of every variance in common.  Three classes: a quarter of the
  predictions is wrong.
- *Learners*: one learner sees the first {half} of {both} exchangeable features, one the others.
  The perturbation difference has {replicates} replicates here.
- *Data sets*: five classifiers' scores vary independently around the same mean, in some data sets
  more than in others.  n is the number of data sets.  Of several pairs it counts whether any is
  found different.

A figure is the share of p-values of {nominal:g} or less / of intervals at 95 % that exclude 0; *±*
is two standard errors of a share of {nominal:g} of so many pairs of models.  The goal is {goal:g}
at n ≥ {least}, and for data sets at any n; a figure in bold misses it by more than Monte Carlo
error, its exact 95 % interval lying above.  A test that is undefined for a pair counts neither way.
Seed: {seed}.
"""


def sizes_page(rows: Sequence[TestSize]) -> str:
    """Give the page as Markdown."""
    head = HEAD.format(
        nominal=NOMINAL,
        goal=GOAL,
        least=FROM,
        rows=ROWS_A_GROUP,
        half=HALF,
        both=2 * HALF,
        replicates=REPLICATES,
        seed=rows[0].random_state,
    )
    parts = [head, f"\n## In short\n\n{in_short(rows)}\n"]
    for name, kind in KINDS.items():
        mine = [row for row in rows if row.kind == name]
        if mine:
            parts.append(f"\n## {kind.title}\n")
        for setting in dict.fromkeys(row.setting for row in mine):
            of_setting = [row for row in mine if row.setting == setting]
            parts.append(f"\n{setting[0].upper()}{setting[1:]}:\n\n{_setting_table(of_setting)}\n")
    return "".join(parts)


def in_short(rows: Sequence[TestSize]) -> str:
    """Say how many figures meet the goal, and which do not."""
    counted = [row for row in rows if row.counts_for_goal and row.defined]
    missed = [row for row in counted if not row.meets_goal]
    lines = [
        f"- {len(counted) - len(missed)} of {len(counted)} figures at n ≥ {FROM}, or of data sets, "
        f"meet the goal of {GOAL:g} within Monte Carlo error; the mean share of p ≤ {NOMINAL:g} is "
        f"{mean([row.rejected for row in counted]):.3f}, the largest "
        f"{max(row.rejected for row in counted):.3f}."
        if counted
        else "- No figure at a size for which the goal is set."
    ]
    few = [row for row in counted if row.pairs < ENOUGH]
    if few:
        lines.append(
            f"- {len(few)} of these figures are from fewer than {ENOUGH} pairs, the least from "
            f"{min(row.pairs for row in few)}: they would show a gross miss only."
        )
    seen = {(row.kind, row.setting, row.n) for row in rows}
    left = [one for one in all_trials() if (one.kind, one.setting, one.n) not in seen]
    lines += [f"- Not measured: {one.kind}, {one.setting}, n = {one.n}." for one in left]
    lines += [
        f"- Missed: {row.test} ({row.method}), {row.setting}, n = {row.n}: "
        f"{_shares(row)} of {row.defined} pairs."
        for row in missed
    ]
    return "\n".join(lines)


def _setting_table(rows: Sequence[TestSize]) -> str:
    sizes = {row.n: row.pairs for row in sorted(rows, key=lambda row: row.n)}
    at = {(row.test, row.n): row for row in rows}
    lines = []
    for test in dict.fromkeys(row.test for row in rows):
        own = [at.get((test, n)) for n in sizes]
        method = next(row.method for row in own if row is not None)
        lines.append([test, method, *("–" if row is None else _cell(row) for row in own)])
    head = ["", "test", *(f"n = {n}: {_drawn(pairs)}" for n, pairs in sizes.items())]
    return markdown_table(head, lines)


def _drawn(pairs: int) -> str:
    error = 2 * math.sqrt(NOMINAL * (1 - NOMINAL) / pairs)
    return f"{pairs} pairs, ±{error:.3f}"


def _cell(row: TestSize) -> str:
    if not row.defined:
        return "–"
    shares = _shares(row)
    if row.defined < row.pairs:
        shares += f" of {row.defined}"
    return f"**{shares}**" if row.counts_for_goal and not row.meets_goal else shares


def _shares(row: TestSize) -> str:
    excluded = "" if math.isnan(row.excluded) else f" / {row.excluded:.3f}"
    return f"{row.rejected:.3f}{excluded}"
