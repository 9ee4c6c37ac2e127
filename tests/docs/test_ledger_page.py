"""docs/ledger.md gathers what the audits found; TRUERISK_REFRESH_DOCS=1 rewrites it."""

import os
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "ledger.md"
HEAD = """# The ledger of measured coverage

An interval promises to contain the truth so many times in a hundred. Here is how often each kind
did when that was measured, with the truth known: by summing over all outcomes, or by simulation.
Everything is quoted from the pages that `truerisk audit` makes (`make audit` makes all of them
anew, in hours); they tell what was drawn, how often, and with which seed. What is promised here is
95 %.

The worst figure matters more than the mean: it is what a reader with unlucky data gets.
"""
PROPORTIONS = """\
Accuracy, error rate, precision, recall: k of n. *Least* and *mean* are over eleven sizes from 5 to
1000 and 550 proportions. The default is `clopper_pearson`; `wald`, the interval of most textbooks,
is there to be compared with."""
MEASURES = """\
The interval that `truerisk score` gives, for populations with a common and a rare class, and with
three and four classes."""
LEARNERS = """\
The intervals of `truerisk estimate` for the model trained on all examples; `agreement` is the
default."""
PERTURBATION = """\
The intervals of `truerisk perturb`; `cross-validated, effective size` is the default, *training*
the form as published."""
TESTS = """\
How often the default tests of `truerisk compare`, `tr.compare_models` and `truerisk rank` say
"different" of models that are equally good; 0.05 is promised."""
# The page, the heading under which is quoted, the heading here, and what is said.
QUOTED = [
    ("coverage.md", "Promised: 95 %", "Proportions", PROPORTIONS),
    ("coverage.md", "Every measure, by simulation", "Every measure", MEASURES),
    ("coverage-of-learners.md", "This model's error", "Learners, by refits", LEARNERS),
    (
        "coverage-of-perturbation.md",
        "This model's error, all cells",
        "Support vector machines, by perturbation",
        PERTURBATION,
    ),
    ("size-of-tests.md", "In short", "Tests of a difference", TESTS),
]


def quoted(page, heading):
    """Give the first table, or else the first list, under a heading."""
    section = re.split(rf"^#+ {re.escape(heading)}$", page, maxsplit=1, flags=re.MULTILINE)[1]
    section = re.split(r"^#", section, maxsplit=1, flags=re.MULTILINE)[0]
    block = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    block = block or re.search(r"(?:^- .*\n(?:  .*\n)*)+", section, re.MULTILINE)
    return block.group(0)


def _part(name, heading, title, words):
    found = quoted((DOCS / name).read_text(encoding="utf-8"), heading)
    return f"\n## {title}\n\n{words} In full: [{name.removesuffix('.md')}]({name}).\n\n{found}"


def _page():
    return HEAD + "".join(_part(*entry) for entry in QUOTED)


def test_the_ledger_is_what_the_audits_found():
    if os.environ.get("TRUERISK_REFRESH_DOCS"):
        PAGE.write_text(_page(), encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == _page()


def test_the_first_table_under_a_heading_is_quoted():
    page = "## a\n\n| no |\n\n## b\n\nwords\n\n| yes |\n| 1 |\n\n| no |\n\n## c\n\n| no |\n"
    assert quoted(page, "b") == "| yes |\n| 1 |\n"


def test_a_list_is_quoted_where_there_is_no_table():
    page = "## b\n\n- one\n  and a half\n- two\n\n## c\n\n| no |\n"
    assert quoted(page, "b") == "- one\n  and a half\n- two\n"
