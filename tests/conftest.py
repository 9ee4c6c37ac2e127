"""What all tests share: files written and read, and one setting for all laws."""

import logging
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run side by side and their matrices are small: a second thread of BLAS or OpenMP would keep
# a core busy with waiting.  These are read when NumPy is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import truerisk
from truerisk.inputs import ReadingOptions, Roles, open_predictions

# No clock, and on CI the same examples every time.
settings.register_profile(
    "truerisk", deadline=None, max_examples=50, derandomize="CI" in os.environ
)
settings.register_profile("quick", settings.get_profile("truerisk"), max_examples=5)
settings.load_profile("truerisk")


def pytest_collection_modifyitems(items):
    """Begin with files that hold a slow test: no process waits at the end for one of them."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(autouse=True)
def _no_columns(monkeypatch):
    """Print as into a pipe of no given width, whatever runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def copy_package():
    """Copy the package into a folder, with its compiled loops; give what PYTHONPATH must name."""
    from truerisk.kernels import counts

    def copy(folder):
        package = Path(folder) / "src" / "truerisk"
        shutil.copytree(
            Path(truerisk.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
        )
        # An editable installation keeps the compiled loops elsewhere.
        for source in Path(counts.__file__).parents[1].glob("_*"):
            if source.is_dir():
                shutil.copytree(source, package / "kernels" / source.name, dirs_exist_ok=True)
            elif source.suffix != ".py":
                shutil.copy(source, package / "kernels")
        return package.parent

    return copy


@pytest.fixture
def write(tmp_path):
    """Write a file and give its path."""

    def write(content, name="predictions.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def read():
    """Read files to the end; give the source after reading, and its batches."""

    def read(*paths, roles=None, needs_truth=True, **options):
        files = open_predictions(
            paths,
            roles=roles or Roles(),
            options=ReadingOptions(**options),
            needs_truth=needs_truth,
        )
        return files, list(files.batches())

    return read


@pytest.fixture(scope="module")
def cluster():
    """A real cluster on this machine: a scheduler, and two workers in processes of their own.

    Its threads end with the file that needs it: other tests count threads.
    """
    from distributed import LocalCluster

    started = LocalCluster(
        n_workers=2,
        processes=True,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",  # any free port: tests run side by side
        silence_logs=logging.CRITICAL,
    )
    with started:
        yield started


@pytest.fixture(scope="module")
def client(cluster):
    """A connection to it."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        yield client
