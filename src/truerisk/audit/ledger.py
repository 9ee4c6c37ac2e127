"""The coverage of every interval as a page: docs/coverage.md."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from truerisk.audit.enumeration import EnumeratedCoverage
from truerisk.audit.simulation import CoverageRow

HEAD = """\
# Measured coverage

How often each interval contains the truth, set against what it promises.  `truerisk audit` makes
this page.

## Proportions, by enumeration

Every outcome of n trials is summed, at {proportions} proportions; nothing is simulated.  *Least*
and *mean* are over sizes and proportions together; *under* is the share of them at which the method
covers less often than it promises; *width* is relative to Clopper and Pearson's.

Sizes: {sizes}.
"""


def ledger_text(
    enumerated: Sequence[EnumeratedCoverage], simulated: Iterable[CoverageRow] = ()
) -> str:
    """Give the page as Markdown."""
    sizes = sorted({row.n for row in enumerated})
    parts = [HEAD.format(proportions=enumerated[0].proportions, sizes=", ".join(map(str, sizes)))]
    for level in sorted({row.level for row in enumerated}):
        at_level = [row for row in enumerated if row.level == level]
        parts.append(f"\n### Promised: {100 * level:g} %\n\n{_summary(at_level)}\n")
        parts.append(f"\nLeast coverage by size:\n\n{_by_size(at_level, sizes)}\n")
    rows = list(simulated)
    if rows:
        parts.append(f"\n## Count measures, by simulation\n\n{_simulated(rows)}\n")
    return "".join(parts)


def write_ledger(
    path: str | os.PathLike[str],
    rows: Iterable[EnumeratedCoverage],
    simulated: Iterable[CoverageRow] = (),
) -> Path:
    """Write the page, whole or not at all, and return where it is.

    Parameters
    ----------
    path
        The file, such as docs/coverage.md.
    rows
        From `enumerate_all`; they are taken one by one.
    simulated
        From `simulate_coverage`.
    """
    target = Path(path)
    text = ledger_text(list(rows), simulated)
    unfinished = target.with_name(target.name + ".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(target)
    return target


def _summary(rows: Sequence[EnumeratedCoverage]) -> str:
    exact = {row.n: row.mean_width for row in rows if row.method == "clopper_pearson"}
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        of_method = [row for row in rows if row.method == method]
        worst = min(of_method, key=lambda row: row.least)
        widths = [row.mean_width / exact[row.n] for row in of_method if row.n in exact]
        width = f"{sum(widths) / len(widths):.3f}" if widths else "–"
        lines.append(
            [
                method,
                f"{worst.least:.4f}",
                f"n = {worst.n}, p = {worst.least_at:.4g}",
                f"{_mean([row.mean for row in of_method]):.4f}",
                f"{100 * _mean([row.share_under for row in of_method]):.1f} %",
                width,
            ]
        )
    return _table(["method", "least", "at", "mean", "under", "width"], lines)


def _by_size(rows: Sequence[EnumeratedCoverage], sizes: Sequence[int]) -> str:
    least = {(row.method, row.n): row.least for row in rows}
    methods = dict.fromkeys(row.method for row in rows)
    lines = [
        [method, *(f"{least[method, n]:.3f}" if (method, n) in least else "–" for n in sizes)]
        for method in methods
    ]
    return _table(["method", *map(str, sizes)], lines)


def _simulated(rows: Sequence[CoverageRow]) -> str:
    lines = [
        [
            row.method,
            f"{row.truth:.4g}",
            str(row.n),
            f"{100 * row.level:g} %",
            f"{row.coverage:.4f}",
            f"{row.likely.low:.4f} to {row.likely.high:.4f}",
            f"{row.mean_width:.4f}",
            f"{row.degenerate} of {row.repetitions}",
        ]
        for row in rows
    ]
    head = [
        "method",
        "truth",
        "n",
        "promised",
        "covered",
        "99 % Monte Carlo",
        "width",
        "no interval",
    ]
    return _table(head, lines)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
