"""docs/speed.md is written from benchmarks/results.md; TRUERISK_REFRESH_DOCS=1 rewrites it."""

import os
import re
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).parents[2]
PAGE, RESULTS = ROOT / "docs" / "speed.md", ROOT / "benchmarks" / "results.md"
HEAD = """# Speed

How long others take for the same work, divided by how long truerisk takes: both sides in one run
on the same machine, best of several, interleaved. Over 1 is faster. The figures are those of
`benchmarks/results.md`, where every row and its times stand; `make bench` measures them anew.
Where the other stopped before it had converged, its time counts as if it had.
{machine}

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
# The beginning of a section's title, which rows, which column of ratios, the work, the peer.
FASTER = [
    ("Confusion table", "", 0, "Confusion table, 10⁷ rows", "scikit-learn"),
    ("Intervals of prop", "clopper", 0, "10⁶ exact intervals, checked", "statsmodels, unchecked"),
    (
        "AUC, average prec",
        "in memory",
        0,
        "AUC, DeLong, best F1 and four more",
        "scikit-learn, two of them",
    ),
    (
        "AUC, average prec",
        "one replicate",
        0,
        "One bootstrap replicate of the AUC",
        "resampled rows",
    ),
    ("Documents to weig", "transform", 0, "Documents to vectors", "scikit-learn"),
    ("Linear machines w", r"fit to a gap of 1e-6.*\| Lin", 0, "SVM on text, exact", "LinearSVC"),
    ("Linear machines w", "leave.*preco", 0, "Leave-one-out on text, exact", "SVC, Gram free"),
    ("Linear SVM with f", "", 0, "SVM on tables, exact", "LinearSVC"),
    ("Linear SVM with f", "", 1, "SVM on tables, exact", "SVC(linear)"),
    ("Exact leave-one-o", "; ", 0, "Leave-one-out on tables, exact", "cross_val_score(SVC)"),
    ("ξα over 15 values", "", 0, "ξα at 15 values of C", "10 folds of LinearSVC"),
    ("Ten times ten fol", "", 1, "10 × 10 folds of exact SVMs", "LinearSVC"),
    ("Perturbation resa", "", 0, "1,000 perturbed SVMs", "a loop over SVC"),
]
SLOWER = [
    ("Files of predicti", "", 0, "File to all measures with intervals", "polars, a bare scan"),
    ("All measures with", "accuracy", 0, "All measures by cross-validation", "accuracy alone"),
]


def _sections():
    parts = RESULTS.read_text(encoding="utf-8").split("\n## ")
    return parts[0], {part.split("\n", 1)[0]: part.splitlines()[2:] for part in parts[1:]}


def _cells(line):
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def ratios(lines, rows, column):
    """Give the numbers of a column of ratios, of the rows that are asked for."""
    head = _cells(lines[0])
    index = [place for place, name in enumerate(head) if name.startswith("ratio")][column]
    # Bold rows sum up others.
    cells = [_cells(line) for line in lines[2:] if re.search(rows, line) and "**" not in line]
    found = [re.search(r"\d[\d,.]*(?:e[+-]\d+)?", row[index]) for row in cells if len(row) > index]
    return [float(number.group(0).replace(",", "")) for number in found if number]


def _number(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _row(sections, start, rows, column, words):
    (lines,) = (lines for title, lines in sections.items() if title.startswith(start))
    found = ratios(lines, rows, column)
    shown = [_number(value) for value in (min(found), median(found), max(found))]
    return "| " + " | ".join([*words, *shown, str(len(found))]) + " |"


def _goals(sections):
    judged = []
    for title, lines in sections.items():
        head = _cells(lines[0])
        if "met" not in head:
            continue
        for line in lines[2:]:
            row = dict(zip(head, _cells(line), strict=False))
            if row.get("met", "").lower() in {"yes", "no"}:
                work = ", ".join(filter(None, _cells(line)[: max(len(head) - 6, 1)][:3]))
                section = re.split(r"[:,]", title)[0]
                judged.append(
                    (row["met"].lower(), f"* {section}: {work.replace('**', '')} ({row['goal']})")
                )
    missed = "\n".join(text for met, text in judged if met == "no")
    return GOALS.format(met=sum(m == "yes" for m, _ in judged), all=len(judged), missed=missed)


def _page():
    head, sections = _sections()
    tables = [
        "\n".join(_row(sections, *pick[:3], pick[3:]) for pick in picks) + "\n"
        for picks in (FASTER, SLOWER)
    ]
    machine = next(line for line in head.splitlines() if line.startswith("Python"))
    start = next(lines for title, lines in sections.items() if title.startswith("Start-up"))
    started = [f"| `{name}` | {best} |" for name, best, *_ in map(_cells, start[2:]) if best]
    processes = "\n".join(started) + "\n"
    parts = [HEAD.format(machine=machine), tables[0], LONGER, tables[1], START_UP, processes]
    return "".join([*parts, _goals(sections)])


def test_the_page_of_speed_is_the_last_benchmark():
    if os.environ.get("TRUERISK_REFRESH_DOCS"):
        PAGE.write_text(_page(), encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == _page()


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1,552; 1,129", 1552.0),
        ("> 4.93", 4.93),
        ("16×", 16.0),
        ("14.12 × polars", 14.12),
        ("2.04e+03", 2040.0),
    ],
)
def test_a_ratio_is_read_however_it_is_written(cell, number):
    lines = ["| work | ratio |", "|---|---|", f"| fit | {cell} |"]
    assert ratios(lines, "fit", 0) == [number]


def test_rows_without_a_ratio_and_sums_of_rows_are_left_out():
    lines = ["| work | ratio |", "|---|---|", "| fit | – |", "| fit | 2 |", "| other | 3 |"]
    lines.append("| **median of fits** | **4** |")
    assert ratios(lines, "fit", 0) == [2.0]
