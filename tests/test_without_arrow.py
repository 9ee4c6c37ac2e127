"""Everything but Parquet works where pyarrow is not installed."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys
sys.modules["pyarrow"] = None  # importing it raises ModuleNotFoundError
"""
ROWS = [
    (truth, pred, 0.1 * place)
    for place, (truth, pred) in enumerate([(0, 0), (1, 1), (1, 0), (0, 1)] * 3)
]


@pytest.fixture
def files(tmp_path):
    lines = ["y_true,y_pred,score", *(f"{t},{p},{s}" for t, p, s in ROWS)]
    (tmp_path / "p.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    objects = [f'{{"y_true": {t}, "y_pred": {p}, "score": {s}}}' for t, p, s in ROWS]
    (tmp_path / "p.jsonl").write_text("\n".join(objects) + "\n", encoding="utf-8")
    table = ["x,sex,target", *(f"{s},{'fm'[t]},{t}" for t, _, s in ROWS)]
    (tmp_path / "t.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    (tmp_path / "p.parquet").write_bytes(b"PAR1")
    return tmp_path


def run(program, folder):
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED + program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_files_frames_and_tables_are_read(files):
    assert (
        run(
            """
import pandas, polars
import truerisk as tr

of_csv = tr.evaluate_files(["p.csv"], random_state=1)
results = [
    tr.evaluate_files(["p.jsonl"], random_state=1),
    tr.evaluate_frame(polars.read_csv("p.csv"), random_state=1),
    tr.evaluate_frame(pandas.read_csv("p.csv"), random_state=1),
]
for result in results:
    assert result.to_dict()["estimates"] == of_csv.to_dict()["estimates"]
assert tr.read_table("t.csv").X.shape == (12, 2)
of_csv.to_frame()
print(of_csv.n)
""",
            files,
        )
        == "12\n"
    )


@pytest.mark.parametrize(
    "arguments", [["score", "p.csv"], ["score", "p.jsonl"], ["compare", "p.csv", "p.jsonl"]]
)
def test_commands_run(files, arguments):
    program = f"from truerisk.cli import main\nmain({arguments!r}, standalone_mode=False)"
    assert run(program, files)


def test_parquet_names_the_extra(files):
    program = """
import truerisk as tr
try:
    tr.evaluate_files(["p.parquet"])
except tr.ResourceError as error:
    print(error)
"""
    assert run(program, files) == (
        "p.parquet: Parquet files need the package pyarrow: `pip install 'truerisk[arrow]'`.\n"
    )


def test_a_frame_without_any_package_of_frames_says_what_to_install(files):
    program = """
sys.modules["pandas"] = sys.modules["polars"] = None
import truerisk.results as results
results.find_spec = lambda name: None
import truerisk as tr
try:
    tr.evaluate_files(["p.csv"]).to_frame()
except tr.ResourceError as error:
    print(error)
"""
    assert "`pip install pandas`" in run(program, files)
