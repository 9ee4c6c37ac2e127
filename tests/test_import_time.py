"""What is loaded for a small job: the figures themselves are in benchmarks/start_up.py."""

import os
import subprocess
import sys

import pytest

HEAVY = ("sklearn", "matplotlib", "pandas", "scipy.stats", "rich", "jinja2")
UNUSED = {*HEAVY[:3], "scipy", "pyarrow", "narwhals", "polars"}  # by a small CSV file


def loaded_after(code):
    listing = "import sys; print(*sorted(m for m in sys.modules), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{listing}"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines())


def test_the_package_alone_loads_nothing_heavy():
    assert not loaded_after("import truerisk") & {*HEAVY, "numpy", "scipy", "pyarrow", "click"}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_scoring_a_small_file_loads_nothing_that_it_does_not_use(tmp_path, suffix):
    path = tmp_path / f"predictions.{suffix}"
    if suffix == "csv":
        path.write_text("id,y_true,y_pred,score\n1,0,0,0.5\n2,1,1,0.75\n", encoding="utf-8")
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {"id": [1, 2], "y_true": [0, 1], "y_pred": [0, 1], "score": [0.5, 0.75]}
        pq.write_table(pa.table(columns), path)
    code = f"import truerisk; truerisk.evaluate_files([{str(path)!r}])"
    assert not loaded_after(code) & {*HEAVY, "click"}


def test_the_command_for_a_small_csv_file_loads_no_large_package(tmp_path):
    path = tmp_path / "predictions.csv"
    rows = [f"{row % 3 == 0:d},{row % 4 == 0:d},{row / 1000}" for row in range(1000)]
    path.write_text("\n".join(["y_true,y_pred,score", *rows, ""]), encoding="utf-8")
    code = f"from truerisk.cli import main; main(['score', {str(path)!r}], standalone_mode=False)"
    assert not loaded_after(code) & UNUSED


@pytest.mark.parametrize(("given", "taken"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")])
def test_a_command_starts_no_threads_for_matrices_unless_told_to(given, taken):
    others = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    code = "import os, truerisk.cli; print(os.environ['OPENBLAS_NUM_THREADS'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=others | given
    )
    assert done.stdout.strip() == taken
