"""The size of every default test as a page: docs/size-of-tests.md."""

import math
from collections.abc import Sequence

from studies.audit.sizes_learners import HALF, REPLICATES
from studies.audit.sizes_predictions import ROWS_A_GROUP
from studies.audit.sizes_trials import FROM, GOAL, KINDS, NOMINAL, TestSize, all_trials

ENOUGH = 1000  # pairs, which tell 0.05 to ±0.014

HEAD = """\
# Measured size of the tests

How often each default test says "different", at {nominal:g}, of models that are equally good.
`truerisk audit --tests` makes this page.

Pairs of models are drawn that are exchangeable: swapping them changes nothing, so that no measure
can differ in truth, and every "different" is a mistake.

- *Predictions*: both models' scores are normal, correlated within the classes as told, and 1.5
  standard deviations apart between them; calls are scores above 1.  With groups, {rows} rows have
  half of every variance in common.  Three classes: a quarter of the calls is wrong.
- *Learners*: one learner sees the first {half} of {both} exchangeable features, one the others.
  The perturbation difference has {replicates} replicates here.
- *Data sets*: five classifiers' scores vary independently around the same mean, in some data sets
  more than in others.  n is the number of data sets.  Of several pairs it counts whether any is
  called different.

A figure is the share of p-values of {nominal:g} or less / of intervals at 95 % that exclude 0; *±*
is two standard errors of a share of {nominal:g} of so many pairs of models.  The goal is {goal:g}
at n ≥ {least}, and for data sets at any n; a figure in bold misses it by more than Monte Carlo
error, its exact 95 % interval lying above.  A test that is undefined for a pair counts neither way.
Seed: {seed}.
"""


def sizes_ledger_text(rows: Sequence[TestSize]) -> str:
    """Give the page as Markdown."""
    head = HEAD.format(
        nominal=NOMINAL,
        goal=GOAL,
        least=FROM,
        rows=ROWS_A_GROUP,
        half=HALF,
        both=2 * HALF,
        replicates=REPLICATES,
        seed=rows[0].trial.random_state,
    )
    parts = [head, f"\n## In short\n\n{_in_short(rows)}\n"]
    for name, kind in KINDS.items():
        mine = [row for row in rows if row.trial.kind == name]
        if mine:
            parts.append(f"\n## {kind.title}\n")
        for setting in dict.fromkeys(row.trial.setting for row in mine):
            of_setting = [row for row in mine if row.trial.setting == setting]
            parts.append(f"\n{setting[0].upper()}{setting[1:]}:\n\n{_table(of_setting)}\n")
    return "".join(parts)


def _in_short(rows: Sequence[TestSize]) -> str:
    judged = [row for row in rows if row.counts_for_goal and row.defined]
    missed = [row for row in judged if not row.meets_goal]
    lines = [
        f"- {len(judged) - len(missed)} of {len(judged)} figures at n ≥ {FROM}, or of data sets, "
        f"meet the goal of {GOAL:g} within Monte Carlo error; the mean share of p ≤ {NOMINAL:g} is "
        f"{_mean([row.rejected for row in judged]):.3f}, the largest "
        f"{max(row.rejected for row in judged):.3f}."
        if judged
        else "- No figure at a size for which the goal is set."
    ]
    few = [row for row in judged if row.pairs < ENOUGH]
    if few:
        lines.append(
            f"- {len(few)} of these figures are from fewer than {ENOUGH} pairs, the least from "
            f"{min(row.pairs for row in few)}: they would show a gross miss only."
        )
    seen = {(row.trial.kind, row.trial.setting, row.trial.n) for row in rows}
    left = [one for one in all_trials() if (one.kind, one.setting, one.n) not in seen]
    lines += [f"- Not measured: {one.kind}, {one.setting}, n = {one.n}." for one in left]
    lines += [
        f"- Missed: {row.test} ({row.method}), {row.trial.setting}, n = {row.trial.n}: "
        f"{_shares(row)} of {row.defined} pairs."
        for row in missed
    ]
    return "\n".join(lines)


def _table(rows: Sequence[TestSize]) -> str:
    sizes = {row.trial.n: row.pairs for row in sorted(rows, key=lambda row: row.trial.n)}
    at = {(row.test, row.trial.n): row for row in rows}
    lines = []
    for test in dict.fromkeys(row.test for row in rows):
        own = [at.get((test, n)) for n in sizes]
        method = next(row.method for row in own if row is not None)
        lines.append([test, method, *("–" if row is None else _cell(row) for row in own)])
    head = ["", "test", *(f"n = {n}: {_drawn(pairs)}" for n, pairs in sizes.items())]
    every = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in every)


def _drawn(pairs: int) -> str:
    error = 2 * math.sqrt(NOMINAL * (1 - NOMINAL) / pairs)
    return f"{pairs} pairs, ±{error:.3f}"


def _cell(row: TestSize) -> str:
    if not row.defined:
        return "–"
    told = _shares(row)
    if row.defined < row.pairs:
        told += f" of {row.defined}"
    return f"**{told}**" if row.counts_for_goal and not row.meets_goal else told


def _shares(row: TestSize) -> str:
    excluded = "" if math.isnan(row.excluded) else f" / {row.excluded:.3f}"
    return f"{row.rejected:.3f}{excluded}"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
