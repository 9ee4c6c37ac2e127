"""The coverage of every interval as a page: docs/coverage.md."""

from collections.abc import Sequence

from studies.audit.enumeration import EnumeratedCoverage
from studies.audit.simulation import SimulatedCoverage

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


SIMULATED = """
## Every measure, by simulation

Samples are drawn from populations whose truth is known and evaluated as a user would; counted is
how often the interval that the user gets, at 95 %, contains the truth.  {repetitions} samples a
figure: one figure is uncertain by about ±{error:.3f} (99 %).  *Least* and *mean* are over the
populations: {populations}.  Samples in which a measure is undefined count neither way.

The smoothing, Student's t for the AUC and the hull were chosen by looking at populations like
these, so they look somewhat better here than they will elsewhere.  On tables that were not looked
at when choosing, twenty classes with shares 1, 1/2, 1/3, …, n = 200 and 1000, 300 samples a figure:
macro averages cover 0.82 to 0.96 (F1 and recall least, at n = 200, where the rarest classes have
two or three examples), MCC and weighted averages 0.93 to 0.96.

11-point precision is about its value at ever more examples; on a small sample it is itself too
high, since the precision at recall 1 depends on the lowest positive of all.
"""


def ledger_text(
    enumerated: Sequence[EnumeratedCoverage], simulated: Sequence[SimulatedCoverage] = ()
) -> str:
    """Give the page as Markdown."""
    sizes = sorted({row.n for row in enumerated})
    parts = [HEAD.format(proportions=enumerated[0].proportions, sizes=", ".join(map(str, sizes)))]
    for level in sorted({row.level for row in enumerated}):
        at_level = [row for row in enumerated if row.level == level]
        parts.append(f"\n### Promised: {100 * level:g} %\n\n{_summary(at_level)}\n")
        parts.append(f"\nLeast coverage by size:\n\n{_by_size(at_level, sizes)}\n")
    if simulated:
        repetitions = min(row.repetitions for row in simulated)
        head = SIMULATED.format(
            repetitions=repetitions,
            error=2.58 * (0.95 * 0.05 / repetitions) ** 0.5,
            populations="; ".join(dict.fromkeys(row.population for row in simulated)),
        )
        parts.append(f"{head}\n{_simulated(simulated)}\n")
    return "".join(parts)


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


def _simulated(rows: Sequence[SimulatedCoverage]) -> str:
    sizes = sorted({row.n for row in rows})
    lines = []
    for measure in dict.fromkeys(row.measure for row in rows):
        of_measure = [row for row in rows if row.measure == measure]
        methods = dict.fromkeys(row.methods[0] for row in of_measure)
        line = [measure, ", ".join(methods)]
        for n in sizes:
            found = [row.coverage for row in of_measure if row.n == n]
            line.append(f"{min(found):.3f} / {_mean(found):.3f}" if found else "–")
        lines.append(line)
    return _table(["measure", "method", *(f"n = {n}: least / mean" for n in sizes)], lines)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
