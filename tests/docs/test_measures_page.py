"""docs/measures.md is written from the registry; with TRUERISK_REFRESH_DOCS=1 it is rewritten."""

import os
from pathlib import Path

from truerisk.measures import AVERAGES, MEASURES

PAGE = Path(__file__).parents[2] / "docs" / "measures.md"
HEAD = """# Measures

Every measure, from the registry; `truerisk measures NAME` shows the same for one. `f2`, `f0.5`,
`e2` are Fβ and Eβ with that β, `partial_auc_0.2` is the partial AUC up to that false positive
rate. Weighted κ, partial AUC and one-against-one AUC are estimated when they are named. For more
than two classes a measure of one class is averaged: {averages}.
"""
BETTER = {True: "higher is better", False: "lower is better", None: "neither end is better"}


def _entry(measure):
    low, high = (f"{end:g}".replace("inf", "∞") for end in measure.measure_range)
    formula = f"\n$$\n{measure.formula}\n$$\n" if measure.formula else ""
    return (
        f"## {measure.title}\n\n`{measure.name}`: {measure.summary}\n{formula}\n"
        f"In [{low}, {high}], {BETTER[measure.higher_is_better]}. "
        f"Undefined when {measure.undefined}. "
        f"Intervals: {', '.join(f'`{name}`' for name in measure.intervals)}.\n"
    )


def _page():
    averages = ", ".join(f"`_{name}` ({average.title})" for name, average in AVERAGES.items())
    return "\n".join([HEAD.format(averages=averages), *map(_entry, MEASURES.values())])


def test_the_page_of_measures_is_the_registry():
    if os.environ.get("TRUERISK_REFRESH_DOCS"):
        PAGE.write_text(_page(), encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == _page()
