"""The coverage of every interval as a page: docs/coverage.md."""

from collections.abc import Sequence

from studies.audit.ledger import markdown_table, mean
from studies.audit.predictions import SimulatedCoverage
from studies.audit.proportions import EnumeratedCoverage

HEAD = """\
# Measured coverage

How often each interval contains the truth, set against what it promises.  `make audit`
makes this page from studies/ledgers/proportions.csv and predictions.csv.

## Proportions, by enumeration

Every outcome of n trials is summed, at {proportions} proportions; nothing is simulated.  *Least*
and *mean* are over sizes and proportions together; *under* is the share of them at which the method
covers less often than it promises; *width* is relative to Clopper and Pearson's.

Sizes: {sizes}.
"""


SIMULATED = """
## Every measure, by simulation

Samples are drawn from populations whose truth is known and evaluated as a user would; counted is
how often the interval that the user gets, at 95 %, contains the truth.  {samples} samples per
figure: one figure is uncertain by about ±{error:.3f} (99 %).  *Least* and *mean* are over the
populations: {populations}.  Samples in which a measure is undefined count neither way.

The smoothing, Student's t for the AUC and the hull were chosen by looking at populations like
these, so they look somewhat better here than they will elsewhere.  On tables that were not looked
at when choosing, twenty classes with shares 1, 1/2, 1/3, …, n = 200 and 1000, 300 samples
per figure: macro averages cover 0.82 to 0.96 (F1 and recall least, at n = 200, where the rarest
classes have two or three examples), MCC and weighted averages 0.93 to 0.96.

11-point precision is about its value at ever more examples; on a small sample it is itself too
high, since the precision at recall 1 depends on the lowest positive of all.
"""


def coverage_page(
    enumerated: Sequence[EnumeratedCoverage], simulated: Sequence[SimulatedCoverage] = ()
) -> str:
    """Give the page as Markdown."""
    sizes = sorted({row.n for row in enumerated})
    parts = [HEAD.format(proportions=enumerated[0].proportions, sizes=", ".join(map(str, sizes)))]
    for level in sorted({row.level for row in enumerated}):
        at_level = [row for row in enumerated if row.level == level]
        summary = summary_of_level(enumerated, level)
        parts.append(f"\n### Promised: {100 * level:g} %\n\n{summary}\n")
        parts.append(f"\nLeast coverage by size:\n\n{_by_size(at_level, sizes)}\n")
    if simulated:
        samples = min(row.samples for row in simulated)
        head = SIMULATED.format(
            samples=samples,
            error=2.58 * (0.95 * 0.05 / samples) ** 0.5,
            populations="; ".join(dict.fromkeys(row.population for row in simulated)),
        )
        parts.append(f"{head}\n{measure_table(simulated)}\n")
    return "".join(parts)


def summary_of_level(enumerated: Sequence[EnumeratedCoverage], level: float) -> str:
    """Write what every method covers at one confidence level."""
    rows = [row for row in enumerated if row.level == level]
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
                f"{mean([row.mean for row in of_method]):.4f}",
                f"{100 * mean([row.share_under for row in of_method]):.1f} %",
                width,
            ]
        )
    return markdown_table(["method", "least", "at", "mean", "under", "width"], lines)


def _by_size(rows: Sequence[EnumeratedCoverage], sizes: Sequence[int]) -> str:
    least = {(row.method, row.n): row.least for row in rows}
    methods = dict.fromkeys(row.method for row in rows)
    lines = [
        [method, *(f"{least[method, n]:.3f}" if (method, n) in least else "–" for n in sizes)]
        for method in methods
    ]
    return markdown_table(["method", *map(str, sizes)], lines)


def measure_table(rows: Sequence[SimulatedCoverage]) -> str:
    """Write the coverage of every measure by size."""
    sizes = sorted({row.n for row in rows})
    lines = []
    for measure in dict.fromkeys(row.measure for row in rows):
        of_measure = [row for row in rows if row.measure == measure]
        methods = dict.fromkeys(row.method for row in of_measure)
        line = [measure, ", ".join(methods)]
        for n in sizes:
            shares = [row.coverage for row in of_measure if row.n == n]
            line.append(f"{min(shares):.3f} / {mean(shares):.3f}" if shares else "–")
        lines.append(line)
    return markdown_table(["measure", "method", *(f"n = {n}: least / mean" for n in sizes)], lines)
