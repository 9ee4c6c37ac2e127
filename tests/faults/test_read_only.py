"""A container: nobody's account, no home, nothing that may be written."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

NOBODY = 65534
WORK = """
import numpy as np, truerisk as tr
rng = np.random.default_rng(0)
y = (rng.random(60_000) < 0.3).astype(int)
tr.evaluate(y, y[::-1].copy(), y_score=rng.random(60_000), pos_label=1)
X = rng.standard_normal((60, 3))
labels = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
print(tr.leave_one_out(tr.KernelSVM(), X, labels))
tr.perturbation(tr.LinearSVM(), X, labels, random_state=0)
"""


def run(python, code, source):
    """Run as nobody, where that may be chosen; None if that user may not even read."""
    account = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    folders = [str(source), *(folder for folder in sys.path if "site-packages" in folder)]
    try:
        return subprocess.run(
            [python, "-c", code],
            env={"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": os.pathsep.join(folders)},
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            **account,
        )
    except PermissionError:
        return None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no accounts as those of POSIX")
def test_everything_works_for_a_user_who_may_write_nothing(copy_package):
    same = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    with tempfile.TemporaryDirectory() as folder:
        source = copy_package(folder)
        Path(folder).chmod(0o755)
        for python in (sys.executable, "/usr/bin/python3"):
            ready = run(python, f"import numpy, truerisk; {same}", source)
            if ready is not None and ready.returncode == 0:
                break
        else:
            pytest.skip("Python is in a folder that no other user may read")
        done = run(python, WORK, source)
    assert done.returncode == 0, done.stderr
    assert "error" in done.stdout
