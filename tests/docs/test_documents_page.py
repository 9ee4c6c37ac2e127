"""docs/documents.md is written from studies/documents.tsv, and every call in it runs.

A call is Python on the names of `EXAMPLES`, a command that begins with "truerisk", or "reproduce
TABLE".  An item without a call says why in its note.  With TRUERISK_REFRESH_DOCS=1 the page is
rewritten.
"""

import csv
import doctest
import itertools
import os
import shlex
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies.reproduction import EXPERIMENTS, SIMULATIONS, TABLES
from truerisk.cli import main

ROOT = Path(__file__).parents[2]
PAGE, SOURCE = ROOT / "docs" / "documents.md", ROOT / "studies" / "documents.tsv"
COLUMNS = ["document", "where", "what", "call", "note"]
EXAMPLES = """\
>>> import numpy as np, truerisk as tr
>>> from sklearn.datasets import load_breast_cancer
>>> from sklearn.linear_model import Perceptron
>>> X, y = load_breast_cancer(return_X_y=True)
>>> X, y = ((X - X.mean(axis=0)) / X.std(axis=0))[:120], y[:120]
>>> scores = -X.sum(axis=1)
>>> called, rival = (scores > 0).astype(int), (X[:, 0] < 0).astype(int)
>>> texts = [f"{'good films' if label else 'bad books'} {at % 7}" for at, label in enumerate(y)]
>>> svm = tr.LinearSVM().fit(X, y)
"""
HEAD = """# What the documents describe

Five documents stand behind this library. This page lists what each of them describes, item by
item, with the call or the command that does it. Every call runs in the tests. `truerisk …` is a
command, `tr.…` is Python, and `make reproduce TABLE=…`, in a clone of the repository, recomputes a
table. The notes name errata, and the reason where there is no call. The last table lists what other
libraries and papers offer beside them. The calls use these examples:

```python
{examples}```

`scores.csv`, `table.csv`, `texts.csv` and `topics.csv` hold such examples as files.
"""


def _items():
    with SOURCE.open(encoding="utf-8", newline="") as file:
        columns, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    assert columns == COLUMNS
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


ITEMS = _items()


def _row(item):
    call = item["call"].replace("reproduce ", "make reproduce TABLE=")
    cells = (item["where"], item["what"], f"`{call}`" if call else "—", item["note"])
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _page():
    parts = [HEAD.format(examples=EXAMPLES)]
    for title, items in itertools.groupby(ITEMS, lambda item: item["document"]):
        table = ["| where | what | call | note |", "| --- | --- | --- | --- |", *map(_row, items)]
        parts.append("\n".join([f"## {title}", "", *table, ""]))
    return "\n".join(parts)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The examples as names, and as files of a folder."""
    test = doctest.DocTestParser().get_doctest(EXAMPLES, {}, "examples", None, 0)
    failures, _ = doctest.DocTestRunner().run(test, clear_globs=False)
    assert not failures
    made = test.globs
    y, folder = made["y"].tolist(), tmp_path_factory.mktemp("documents")
    topics = [("earn|acq", "earn"), ("acq", "acq"), ("earn", "earn"), ("grain", "grain|acq")]
    kinds = ["film" if label else "book" for label in y]
    files = {
        "scores.csv": [("y_true", "score"), *zip(y, made["scores"], strict=True)],
        "table.csv": [("a", "b", "label"), *zip(*made["X"].T[:2], y, strict=True)],
        "texts.csv": [("text", "labels"), *zip(made["texts"], kinds, strict=True)],
        "topics.csv": [("y_true", "y_pred"), *topics],
    }
    for name, rows in files.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    return {**made, "folder": folder}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item['call'] or item['what']}")
def test_every_call_runs(item, names, monkeypatch):
    monkeypatch.chdir(names["folder"])
    call = item["call"]
    if not call:
        assert item["note"], "an item without a call says why"
    elif call.startswith("reproduce "):
        assert call.removeprefix("reproduce ") in {*TABLES, *EXPERIMENTS, *SIMULATIONS}
    elif call.startswith("truerisk "):
        done = CliRunner().invoke(main, shlex.split(call)[1:])
        assert done.exit_code == 0, done.output
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert eval(call, dict(names)) is not None  # noqa: S307 - a call of our own table


def test_the_page_is_the_table():
    if os.environ.get("TRUERISK_REFRESH_DOCS"):
        PAGE.write_text(_page(), encoding="utf-8")
    else:
        assert PAGE.read_text(encoding="utf-8") == _page()
