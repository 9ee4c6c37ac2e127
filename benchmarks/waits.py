"""Where users wait: the work that was slow once, how long it took then, and how long it takes now.

What is of today stands in benchmarks/results; nothing is measured here.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Row = Sequence[str]
COLUMNS = ("work", "before", "now", "peer", "ratio", "goal", "met")
TITLE = "Where users wait: before, now, and how long others take"
SAYS = (
    "From the tables below. The times of before were taken once, on another computer: compare "
    "ratios with them, not seconds. A ratio is peer time / truerisk time, where the work names no "
    "other. Of more than three values, the least and the largest are shown."
)
MAX_SHOWN = 3  # values of one work; of more, the least and the largest are shown
UNITS = {"ms": 1e-3, "s": 1.0, "MB": 1e6, "MiB": 2.0**20}
AMOUNT = re.compile(r"(\d[\d,.]*(?:e[+-]\d+)?)(?:\s?(ms|s|MB|MiB)\b)?")


@dataclass(frozen=True)
class Goal:
    """A bound that a column of some rows is to keep: "≥ 3", "≤ 0.4 s"."""

    bound: str
    column: str
    rows: str = ""  # a pattern; those of the wait, if empty

    def is_met(self, cell: str) -> bool:
        """Tell whether a cell keeps the bound."""
        value, limit = amount(cell), amount(self.bound)
        return value >= limit if self.bound.startswith("≥") else value <= limit


@dataclass(frozen=True)
class Wait:
    """One work: the benchmark that measures it, and the columns of its times."""

    work: str
    before: str
    benchmark: str
    rows: str  # a pattern; a row is its cells with " | " between them
    now: str
    peer: str
    ratio: str
    goals: tuple[Goal, ...]

    def line(self, table: Sequence[Row]) -> Row:
        """Give the row of the page, from the table of the benchmark."""
        shown = [self.values(table, self.rows, column) for column in (self.now, self.peer)]
        ratios = self.values(table, self.rows, self.ratio)
        kept = [
            goal.is_met(cell)
            for goal in self.goals
            for cell in self.values(table, goal.rows or self.rows, goal.column)
        ]
        met = "yes" if all(kept) else f"{sum(kept)} of {len(kept)}"
        goals = "; ".join(dict.fromkeys(goal.bound for goal in self.goals))
        times = [summed_up([amount(cell) for cell in cells], seconds) for cells in shown]
        return (
            *(self.work, self.before, *times),
            *(summed_up([amount(cell) for cell in ratios], figures), goals, met),
        )

    def values(self, table: Sequence[Row], rows: str, column: str) -> list[str]:
        """Give the cells of a column that hold a number, of the rows that match."""
        head, *body = table
        if not column:
            return []
        at = [name.startswith(column) for name in head].index(True)
        matching = (row for row in body if re.search(rows, " | ".join(row)))
        cells = [row[at] for row in matching if len(row) > at and AMOUNT.search(row[at])]
        if not cells:
            raise LookupError(f"{self.benchmark} has no {column!r} in rows like {rows!r}.")
        return cells


def amount(cell: str) -> float:
    """Read the first number of a cell, in seconds or bytes where it has a unit."""
    number, unit = AMOUNT.search(cell).groups()  # type: ignore[union-attr]
    return float(number.replace(",", "")) * UNITS.get(unit, 1.0)


def seconds(value: float) -> str:
    return f"{figures(1e3 * value)} ms" if value < 0.1 else f"{figures(value)} s"


def figures(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def summed_up(values: Sequence[float], written: Callable[[float], str]) -> str:
    """Write few values one by one, of more the least and the largest."""
    if not values:
        return "–"
    if len(values) <= MAX_SHOWN:
        return " / ".join(map(written, values))
    return f"{written(min(values))} – {written(max(values))}"


ACCURACY = r"GaussianNB \| .*cross_validate|Logistic.*cross_validate|KNeigh.*cross_validate"
WAITS = (
    Wait(
        "`tr.evaluate`, labels and scores, n = 10³ / 10⁴ / 10⁵", "82 / 163 / 307 ms",
        "many_classes", "two classes", "truerisk", "scikit-learn", "ratio",
        (Goal("≥ 1", "ratio"), Goal("≤ 25 ms", "truerisk")),
    ),
    Wait(
        "`tr.evaluate`, 100 classes, n = 10⁴ / 10⁵ / 10⁶", "0.11 – 0.33 s",
        "many_classes", "^100 classes", "truerisk", "scikit-learn", "ratio",
        (Goal("≥ 1", "ratio"),),
    ),
    Wait(
        "`tr.evaluate`, 1,000 classes, n = 10⁴ / 10⁵ / 10⁶", "2.4 – 45 s, 540 MB",
        "many_classes", "^1,000 classes", "truerisk", "scikit-learn", "ratio",
        (Goal("≥ 3", "ratio", r"^1,000 classes \| 1,000,000"),),
    ),
    Wait(
        "exponent in the number of classes", "–",
        "many_classes", "growth with classes", "", "", "ratio",
        (Goal("≤ 1.1", "ratio"),),
    ),
    Wait(
        "10,000 classes, n = 10⁶", "did not work",
        "many_classes", "^10,000 classes", "truerisk", "scikit-learn", "ratio",
        (Goal("≥ 1", "ratio"),),
    ),
    Wait(
        "sets of 90 labels, n = 10⁴", "0.65 s",
        "many_classes", "label sets", "truerisk", "scikit-learn", "ratio",
        (Goal("≥ 5", "ratio"),),
    ),
    *(
        Wait(
            f"`tr.compare`, two models with scores, n = {n}", before,
            "comparison", rf"^two models with scores \| {rows}", "truerisk", "it takes", "ratio",
            (Goal(goal, "truerisk"),),
        )
        for n, before, rows, goal in (
            ("10⁴", "2.8 s", "10,000 ", "≤ 0.4 s"),
            ("10⁵", "3.5 s", "100,000 ", "≤ 0.5 s"),
            ("10⁶", "7.9 s", "1,000,000 ", "≤ 1 s"),
        )
    ),
    Wait(
        "`tr.compare`, five models with scores, n = 10⁶", "26.5 s",
        "comparison", "^five models", "truerisk", "it takes", "ratio",
        (Goal("≤ 3 s", "truerisk"),),
    ),
    Wait(
        "`tr.compare`, two models, no scores, n = 10⁶", "2.9 s",
        "comparison", r"^two models, no scores \| 1,000,000", "truerisk", "it takes", "ratio",
        (Goal("≤ 0.1 s", "truerisk"),),
    ),
    Wait(
        "`tr.estimate`, naive Bayes, logistic, k-NN (ratio: times `cross_validate`)",
        "1.4 – 3.2 times", "estimation", ACCURACY, "truerisk", "it takes", "ratio",
        (Goal("≤ 1.15", "ratio"),),
    ),
    Wait(
        "the same by two workers, over 5 s of work (ratio: to one worker)", "–",
        "estimation", r"two workers.*≥ 1\.8", "truerisk", "it takes", "ratio",
        (Goal("≥ 1.8", "ratio"),),
    ),
    Wait(
        "`tr.estimate(LinearSVM)` (ratio: times `cross_validate(LinearSVC())`)", "5.2 times",
        "estimation", "LinearSVM, exact", "truerisk", "it takes", "ratio",
        (Goal("≤ 1", "ratio"),),
    ),
    Wait(
        "JSON lines, 10⁶ rows (ratio: times polars)", "8.2 s",
        "files_at_scale", "^JSON", "truerisk", "decoding the same", "ratio to arrays",
        (Goal("≤ 1 s", "truerisk"),),
    ),
    Wait(
        "CSV, 10⁷ rows (ratio: times the faster)", "3.7 s",
        "files_at_scale", "^CSV", "truerisk", "decoding the same", "ratio to arrays",
        (Goal("≤ 2 s", "truerisk"),),
    ),
    Wait(
        "Parquet, 10⁸ rows, float32 / float64 (ratio: scans by the faster)",
        "5.8 s, 3.5 – 4.8 scans", "files_at_scale",
        r"^Parquet.*1e\+08", "truerisk", "", "ratio to arrays",
        (Goal("≤ 3", "ratio to arrays"), Goal("≤ 500 MB", "peak memory")),
    ),
    Wait(
        "Parquet, 10⁹ rows, two processes of a cluster (ratio: to one core)", "did not run",
        "files_on_cluster", r"^1e\+09", "two processes", "one process, one core", "to one core",
        (Goal("≥ 1.7", "to one core"), Goal("≤ 1,000 MB", "peak of a worker")),
    ),
    Wait(
        "exact leave-one-out, linear, 4,600 × 57", "13.5 s",
        "leave_one_out_sizes", r"skewed.*\| 4600 \|", "with those of 50", "SVC loop", "ratio with",
        (Goal("≤ 1.3 s", "with those of 50"), Goal("≤ 2.5", "exponent")),
    ),
    *(
        Wait(
            f"exact leave-one-out, RBF, n = {n:,}", "1.3 – 1.6 s, 25 – 64 ×",
            "leave_one_out_sizes", rf"RBF, .*\| {n} \|",
            "with those of 50", "SVC loop", "ratio with",
            (Goal("≥ 300", "ratio with"),),
        )
        for n in (1000, 2000)
    ),
    Wait(
        "exponent of that, from 2,000 to 4,000", "3.2",
        "leave_one_out_sizes", r"RBF, .*\| 4000 \|", "with those of 50", "SVC loop", "exponent",
        (Goal("≤ 2.5", "exponent"),),
    ),
    Wait(
        "exact leave-one-out, 2,000 long documents", "2.0 – 2.3 s, 88 – 107 ×",
        "leave_one_out_sizes", "WebKB", "with those of 50", "SVC loop", "ratio with",
        (Goal("≥ 1,000", "ratio with"),),
    ),
    Wait(
        "`tr.KernelSVM`, RBF, n = 5,000 – 20,000", "0.57 – 12.6 s, 0.55 – 3.4 GB",
        "kernel_svm_sizes", r" s \| \d+ MB \| \d", "truerisk", "SVC", "ratio",
        (Goal("≥ 2", "ratio"), Goal("≤ 1,200 MB", "largest process")),
    ),
    Wait(
        "the same, n = 100,000", "refused",
        "kernel_svm_sizes", "100,000", "truerisk", "", "",
        (Goal("≤ 1,200 MB", "largest process"),),
    ),
    Wait(
        "`tr.LinearSVM` on text, to 1e-3", "0.37 – 0.92 × in 7 of 12",
        "svm_loose", r"× 1\d{4} \|", "truerisk", "time", "ratio",
        (Goal("≥ 1", "ratio"), Goal("≥ 2 in half", "ratio", "text: median")),
    ),
    Wait(
        "`tr.LinearSVM` on tables, C ≤ 0.1, to 1e-3", "0.5 – 0.9 ×",
        "svm_loose", r"× \d\d? \|", "truerisk", "time", "ratio",
        (Goal("≥ 1", "ratio"),),
    ),
    Wait(
        "`tr.perturbation`, 1,000 replicates, one thread", "median 32 ×, least 4.7 ×",
        "perturbation", r"^training \| [^*]*\| .*≥ 20 \|", "all refits", "SVC loop", "ratio",
        (
            Goal("≥ 20", "ratio"),
            Goal("≥ 60 (median)", "ratio", r"^training \| \*\*median of \d+: SVC loop\*\*"),
        ),
    ),
    Wait(
        "ξα over 15 C, four corpora", "7 – 72 ×",
        "svm_selection", r"^\w.*≥ 20", "truerisk", "LinearSVC(hinge", "ratio",
        (Goal("≥ 20", "ratio"), Goal("≥ 50 on three of four", "ratio", "three of four")),
    ),
    Wait(
        "`truerisk score`, 1,000 rows (ratio: times `import numpy`)", "0.71 s, 6.5 times",
        "start_up", "score, 1,000", "best", "", "times NumPy",
        (Goal("≤ 4", "times NumPy"),),
    ),
)  # fmt: skip


def lines(read: Callable[[str], Sequence[Row]]) -> Iterator[Row]:
    """Give every work; `read` gives the table of a benchmark."""
    return (wait.line(read(wait.benchmark)) for wait in WAITS)
