"""The table in CONTRIBUTING.md is true: changes in a scratch copy touch only the files it names.

Each change is made as a newcomer would make it; a program then uses what was added.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# The finder of an editable installation would come before the scratch copy.
PLAIN_PATH = """import sys
sys.meta_path[:] = [one for one in sys.meta_path if "editable" not in type(one).__module__]
"""
ROW = re.compile(r"^\| (?P<request>[^|]+) \| (?P<change>[^|]+) \| (?P<more>[^|]*)\|$", re.MULTILINE)
REQUESTS = 15  # at least


def table():
    """Read which files each request names: `src/truerisk/…`, where <word> is any name."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## Where to change what", 1)[1].split("\n## ", 1)[0]
    rows = [row for row in ROW.finditer(section) if row["request"] not in {"request", "---"}]
    return {
        row["request"]: re.findall(r"`((?:src|studies)/[^`]+)`", row["change"] + row["more"])
        for row in rows
    }


@dataclass(frozen=True)
class Change:
    """One file: what is inserted before the first place where `before` stands, or all of it."""

    path: str
    text: str
    before: str = ""


MEASURE = Change(
    "src/truerisk/measures/from_counts.py",
    '''@measure(title="Miss rate", undefined="no example is positive", higher_is_better=False)
def miss_rate(counts: BinaryCounts) -> Proportion:
    r"""Share of the positive examples that are missed.

    .. math:: \\frac{FN}{TP + FN}
    """
    return Proportion(counts.fn, counts.tp + counts.fn)


''',
    before='@measure(title="Jaccard index"',
)
SECTION = Change(
    "src/truerisk/reporting/results/evaluation.py",
    """        yield doc.Section(
            "table",
            "A section of one's own",
            {
                "columns": [{"heading": "Word", "numeric": False}],
                "rows": [["newcomer"]],
                "left_out": 0,
            },
        )
""",
    before="        yield doc.Section(\n",
)
LEARNER = Change(
    "src/truerisk/learners/named_models.py",
    """        NamedModel(
            name="nearest_mean",
            title="Nearest mean",
            make=maker("sklearn.neighbors", "NearestCentroid"),
        ),
""",
    before="        NamedModel(\n",
)
FORMAT = (
    Change(
        "src/truerisk/inputs/records/own_file.py",
        '''"""Files of a format of one's own: a mark, then an Arrow stream."""

import pyarrow as pa

from truerisk.inputs.records.arrow import plain_columns
from truerisk.inputs.records.places import Places
from truerisk.inputs.records.rows import Rows


class OwnFile:
    """One file, read whole."""

    def __init__(self, path, _compression, options):
        self.path, self.options, self.sha256 = path, options, None
        stream = pa.ipc.open_stream(path.read_bytes()[4:])
        self.table = stream.read_all().combine_chunks()
        self.columns = tuple(self.table.column_names)

    def rows(self, selection):
        """Give the selected columns."""
        places = Places(self.path, lambda row: f"row {row + 1}")
        for batch in self.table.select(selection.columns).to_batches():
            columns = plain_columns(batch, selection, places, self.options)
            yield Rows(columns, batch.num_rows, 1, places)
''',
    ),
    Change(
        "src/truerisk/inputs/records/formats.py",
        '    Format("own", "own_file", "OwnFile", (".own",), b"OWN1", is_text=False),\n',
        before='    Format("parquet"',
    ),
)
EVALUATION = """
evaluation = tr.evaluate_counts([[50, 50], [40, 850]], measures={measures})
page = evaluation.report().html
"""
NEW_MEASURE = """
estimate = evaluation["miss_rate"]
assert (estimate.value, estimate.interval.method) == (0.5, "clopper_pearson")
assert "Miss rate" in page
assert "miss_rate" in tr.MEASURES
"""
NEW_SECTION = """
assert "newcomer" in page
"""
NEW_LEARNER = """
import numpy as np

X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
X[y == 1] += 2
assert tr.estimate("nearest_mean", X, y, random_state=0)["error_rate"].value < 0.2
"""
NEW_FORMAT = """
import pyarrow as pa

table = pa.table({"y_true": ["0", "1", "0"], "y_pred": ["0", "1", "1"]})
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, table.schema) as writer:
    writer.write_table(table)
with open("p.own", "wb") as file:
    file.write(b"OWN1" + sink.getvalue().to_pybytes())
assert abs(tr.evaluate_files(["p.own"])["error_rate"].value - 1 / 3) < 1e-12
"""
REQUESTED = {
    "a new measure": (
        (MEASURE,),
        EVALUATION.format(measures=["miss_rate", "recall"]) + NEW_MEASURE,
    ),
    "a new section on the page": (
        (SECTION,),
        EVALUATION.format(measures=["recall"]) + NEW_SECTION,
    ),
    "a new named learner": ((LEARNER,), NEW_LEARNER),
    "a new file format": (FORMAT, NEW_FORMAT),
}


def applied(change, root):
    path = root / change.path
    if not change.before:
        assert not path.exists(), f"{change.path} is there already"
        path.write_text(change.text, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    assert change.before in text, f"{change.path} has no {change.before!r}"
    path.write_text(text.replace(change.before, change.text + change.before, 1), encoding="utf-8")


def is_named(path, named):
    patterns = [re.sub(r"<\w+>", r"[a-z_]+", re.escape(one).replace(r"\<", "<")) for one in named]
    return any(re.fullmatch(pattern, path) for pattern in patterns)


def test_what_make_quick_runs_or_leaves_out_exists():
    chosen = (ROOT / "Makefile").read_text(encoding="utf-8").split("QUICK := ")[1].split("\n\n")[0]
    paths = re.findall(r"tests/[\w/.]+", chosen)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_table_answers_fifteen_requests():
    rows = table()
    assert len(rows) >= REQUESTS
    assert set(REQUESTED) <= set(rows)


def test_every_file_that_the_table_names_exists():
    for request, named in table().items():
        for path in named:
            pattern = re.sub(r"<\w+>", "*", path)
            assert list(ROOT.glob(pattern)), f"{request}: {path}"


@pytest.mark.slow
@pytest.mark.parametrize("request_", REQUESTED)
def test_a_change_touches_only_the_files_that_the_table_names(request_, tmp_path, copy_package):
    changes, program = REQUESTED[request_]
    named = table()[request_]
    for change in changes:
        assert is_named(change.path, named), f"{change.path} is not named: {named}"
    source = copy_package(tmp_path)
    for change in changes:
        applied(change, tmp_path)
    is_copy = f"assert tr.__file__.startswith({str(tmp_path)!r})"
    words = f"{PLAIN_PATH}import truerisk as tr\n{is_copy}\n{program}"
    ended = subprocess.run(
        (sys.executable, "-c", words),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(source)},
    )
    assert ended.returncode == 0, ended.stderr
