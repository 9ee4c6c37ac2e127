"""The pages of speed, made from benchmarks/results/*.csv: benchmarks/results.md and docs/speed.md.

`python -m benchmarks.pages` writes both; `python -m benchmarks` does so after every run.
"""

import csv
import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks import waits

FOLDER = Path(__file__).with_name("results")
RESULTS = Path(__file__).with_name("results.md")
SPEED = Path(__file__).parents[1] / "docs" / "speed.md"
NAMES = (
    "start_up",
    "first_use",
    "kernels",
    "counts_at_scale",
    "many_classes",
    "intervals_at_once",
    "ranks_at_scale",
    "files_at_scale",
    "files_on_cluster",
    "text_vectors",
    "svm_on_text",
    "svm_on_tables",
    "svm_loose",
    "svm_leave_one_out",
    "leave_one_out_sizes",
    "kernel_svm_sizes",
    "leave_one_out_sets",
    "leave_one_out_reuters",
    "svm_selection",
    "xi_alpha",
    "reuters_in_one_command",
    "svm_folds",
    "estimation",
    "perturbation",
    "jiang_table2",
    "comparison",
    "page",
)
ALL = """# Speed, beside the peers

Every figure is a ratio, both sides in one run on the same machine, best of several, interleaved.
Sections were measured at different times, some on different processors: ratios depend on those.

{versions}
"""
HEAD = """# Speed

How long others take for the same work, divided by how long truerisk takes: both sides in one run
on the same machine, best of several, interleaved. Over 1 is faster. The figures are those of
`benchmarks/results.md`, where every row and its times stand; `make bench` measures them anew.
Where the other stopped before it had converged, its time counts as if it had.
{versions}

| work | beside | least | median | most | rows |
|---|---|---:|---:|---:|---:|
"""
LONGER = """
## Where truerisk does more, and takes longer

How long truerisk takes, divided by how long the other takes, which does only a part of the work.
Under 1 is faster.

| work | beside | least | median | most | rows |
|---|---|---:|---:|---:|---:|
"""
START_UP = """
## Start-up

The time of a whole process.

| process | best |
|---|---:|
"""
GOALS = """
## Goals

{met} of the {all} goals that were set beforehand are met. Missed:

{missed}
"""
# The benchmark, which rows, which column of ratios, the work, the peer.
FASTER = (
    ("counts_at_scale", "", 0, "Confusion table, 10⁷ rows", "scikit-learn"),
    (
        "intervals_at_once",
        "clopper",
        0,
        "10⁶ exact intervals, checked",
        "statsmodels, unchecked",
    ),
    (
        "ranks_at_scale",
        "in memory",
        0,
        "AUC, DeLong, best F1 and four more",
        "scikit-learn, two of them",
    ),
    ("text_vectors", "transform", 0, "Documents to vectors", "scikit-learn"),
    ("svm_on_text", r"fit to a gap of 1e-6.*\| Lin", 0, "SVM on text, exact", "LinearSVC"),
    ("svm_on_text", "leave.*preco", 0, "Leave-one-out on text, exact", "SVC, Gram free"),
    ("svm_on_tables", "", 0, "SVM on tables, exact", "LinearSVC"),
    ("svm_on_tables", "", 1, "SVM on tables, exact", "SVC(linear)"),
    (
        "svm_leave_one_out",
        r", [\d.]+ \| ",
        0,
        "Leave-one-out on tables, exact",
        "cross_val_score(SVC)",
    ),
    ("svm_selection", "", 0, "ξα at 15 values of C", "10 folds of LinearSVC"),
    ("svm_folds", "", 1, "10 × 10 folds of exact SVMs", "LinearSVC"),
    ("perturbation", "", 0, "1,000 perturbed SVMs", "a loop over SVC"),
)
SLOWER = (
    ("files_at_scale", "", 0, "File to all measures with intervals", "polars, decoding alone"),
    ("estimation", "accuracy", 0, "All measures by cross-validation", "accuracy alone"),
)

Row = Sequence[str]


def read(name: str) -> list[list[str]]:
    """Read the table of a benchmark: its columns, then its rows."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def write(name: str, rows: Sequence[Row]) -> None:
    """Write the table of a benchmark."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def markdown_row(cells: Row) -> str:
    return f"| {' | '.join(cells)} |"


def results_page() -> str:
    """Give benchmarks/results.md: every table as it was measured."""
    parts = [ALL.format(versions=_versions()), _waits()]
    processors = dict(read("processors")[1:])
    for name in _measured():
        columns, *rows = read(name)
        lines = [
            f"## {_title(name)}",
            "",
            *([f"Processor: {processors[name]}.", ""] if name in processors else []),
            *_table(columns, rows),
        ]
        parts.append("\n".join(lines))
    return "\n".join(parts)


def _waits() -> str:
    """Give the table of the work that users wait for, out of all others."""
    table = _table(waits.COLUMNS, waits.lines(read))
    return "\n".join([f"## {waits.TITLE}", "", waits.SAYS, "", *table])


def _table(columns: Row, rows: Iterable[Row]) -> list[str]:
    return [markdown_row(columns), "|---" * len(columns) + "|", *map(markdown_row, rows), ""]


def speed_page() -> str:
    """Give docs/speed.md: the ratios of every benchmark, and the goals that are missed."""
    faster, slower = ("".join(f"{_row(*pick)}\n" for pick in picks) for picks in (FASTER, SLOWER))
    started = "".join(f"| `{row[0]}` | {row[1]} |\n" for row in read("start_up")[1:] if row[1])
    head = HEAD.format(versions=_versions())
    return f"{head}{faster}{LONGER}{slower}{START_UP}{started}{_goals()}"


def ratios(table: Sequence[Row], rows: str, column: int) -> list[float]:
    """Give the numbers of a column of ratios, of the rows that match."""
    head, *body = table
    index = [place for place, name in enumerate(head) if name.startswith("ratio")][column]
    # Bold rows sum up others.
    cells = [row for row in body if re.search(rows, " | ".join(row)) and "**" not in "".join(row)]
    numbers = [re.search(r"\d[\d,.]*(?:e[+-]\d+)?", row[index]) for row in cells]
    return [float(number.group(0).replace(",", "")) for number in numbers if number]


def _measured() -> Iterator[str]:
    return (name for name in NAMES if (FOLDER / f"{name}.csv").exists())


def _title(name: str) -> str:
    title: str = importlib.import_module(f"benchmarks.{name}").TITLE
    return title


def _versions() -> str:
    versions = dict(read("versions")[1:])
    python, machine, cores = (versions.pop(name) for name in ("Python", "machine", "cores"))
    peers = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"Python {python} on {machine}, {cores} cores; {peers}."


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _row(name: str, rows: str, column: int, *words: str) -> str:
    measured = ratios(read(name), rows, column)
    shown = [_number(value) for value in (min(measured), median(measured), max(measured))]
    return markdown_row([*words, *shown, str(len(measured))])


def _goals() -> str:
    goals = []
    for name in _measured():
        head, *rows = read(name)
        if "met" not in head:
            continue
        section = re.split(r"[:,]", _title(name))[0]
        for row in rows:
            cells = dict(zip(head, row, strict=False))
            met = cells.get("met", "").lower()
            if met in {"yes", "no"}:
                work = ", ".join(filter(None, row[: max(len(head) - 6, 1)][:3]))
                goals.append((met, f"* {section}: {work.replace('**', '')} ({cells['goal']})"))
    missed = "\n".join(text for met, text in goals if met == "no")
    return GOALS.format(met=sum(met == "yes" for met, _ in goals), all=len(goals), missed=missed)


def write_pages() -> None:
    """Write both pages."""
    RESULTS.write_text(results_page(), encoding="utf-8")
    SPEED.write_text(speed_page(), encoding="utf-8")


if __name__ == "__main__":
    write_pages()
