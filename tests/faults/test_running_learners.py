"""What happens to a run of refits: it is stopped, a worker is killed, the disk is full.

Whatever ended a run, the next one with the same ``--resume`` goes on to the same bytes; a run of
anything else is refused.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from truerisk.cli import main
from truerisk.execution import Checkpoint
from truerisk.execution.processes import stop_processes

TRUERISK = (sys.executable, "-m", "truerisk")
BAD_INPUT, FAILED, INTERRUPTED, TERMINATED = 3, 5, 130, 143

WATCHED = """
import os, signal, time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Watched(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        with Path("fits").open("a") as file:
            file.write(".")
        time.sleep(0.06)  # longer than tasks that share one limit of threads: each is stored
        stored = Path("run/results-1").exists() and Path("run/results-1").stat().st_size > 300
        while stored and Path("hold").exists():
            Path("held").touch()
            time.sleep(0.02)
        if Path("kill_once").exists() or (stored and Path("kill").exists()):
            Path("kill_once").unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)
        self.middle_ = X[:, 0].mean()
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.middle_).astype(int)]

    def decision_function(self, X):
        return X[:, 0] - self.middle_
"""
REFITS = 10
BASIC = ("estimate", "table.csv", "--target", "y", "--model", "watched:Watched", "--json")
DIVIDED = ("--folds", "5", "--repeats", "2", "--seed", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in a folder with a table and a model that can be held, or kill its process."""
    rng = np.random.default_rng(1)
    rows = (f"{rng.normal(at % 2):.4f},{at % 5},{at % 2}" for at in range(60))
    (tmp_path / "table.csv").write_text("x,who,y\n" + "\n".join(rows) + "\n")
    (tmp_path / "watched.py").write_text(WATCHED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "watched", raising=False)
    stop_processes()  # those that wait do not know this folder
    yield tmp_path
    stop_processes()


def estimate(*arguments):
    ended = CliRunner().invoke(main, [*BASIC, *map(str, arguments)])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended


def fits(folder):
    """Count the refits since it was asked last."""
    record = folder / "fits"
    result = record.stat().st_size if record.exists() else 0
    record.unlink(missing_ok=True)
    return result


def wait_for(path):
    patience = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < patience
        time.sleep(0.02)


GO_ON = "Interrupted; the same command goes on from run.\n"


@pytest.mark.parametrize(
    ("number", "jobs", "code", "printed"),
    [
        pytest.param(signal.SIGKILL, 2, -signal.SIGKILL, "", id="killed"),
        pytest.param(signal.SIGINT, 1, INTERRUPTED, GO_ON, id="interrupted"),
        pytest.param(signal.SIGINT, 2, INTERRUPTED, GO_ON, id="interrupted in processes"),
        pytest.param(signal.SIGTERM, 1, TERMINATED, GO_ON, id="terminated"),
    ],
)
def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(folder, number, jobs, code, printed):
    resume = ("--resume", "run", *DIVIDED)
    (folder / "hold").touch()
    command = (*TRUERISK, *BASIC, *resume, "--jobs", str(jobs))
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen(command, text=True, **piped) as process:
        try:
            wait_for(folder / "held")
            if number == signal.SIGINT:
                os.killpg(process.pid, number)  # as Ctrl-C does: it reaches the workers, too
            else:
                process.send_signal(number)
            # The pipes end when the last of the workers has: none of them outlives the run.
            stdout, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, stdout) == (code, "")
    assert (
        number == signal.SIGKILL or stderr == printed
    )  # what loky tidies up after a kill, it tells
    (folder / "hold").unlink()
    fits(folder)
    resumed = estimate(*resume)
    assert resumed.exit_code == 0, resumed.stderr
    left = fits(folder)
    assert left == REFITS - 1 if jobs == 1 else left < REFITS
    assert resumed.stdout == estimate(*DIVIDED).stdout
    assert fits(folder) == REFITS


def test_a_run_that_is_finished_is_read_and_not_done_again(folder):
    resume = ("--resume", "run", *DIVIDED)
    first = estimate(*resume)
    assert fits(folder) == REFITS
    other = estimate(*resume, "--jobs", "2", "--fail-over", "error_rate=1")
    assert (other.exit_code, other.stdout, fits(folder)) == (0, first.stdout, 0)
    assert json.loads(estimate(*resume, "--level", "0.5").stdout)["level"] == 0.5


CHANGES = {
    "seed": ("--seed", "2"),
    "folds": ("--folds", "6"),
    "repetitions": ("--repeats", "3"),
    "method": ("--method", "subsampling"),
    "model": ("--model", "tree"),
    "groups": ("--group", "who"),
    "columns": ("--drop", "who"),
}


@pytest.mark.parametrize("what", [*CHANGES, "data"])
def test_a_run_of_something_else_is_not_gone_on_with(folder, what):
    resume = ("--resume", "run", "--seed", "1", "--folds", "5", "--repeats", "2")
    assert estimate(*resume).exit_code == 0
    fits(folder)
    change = CHANGES.get(what, ())
    if what == "method":
        resume = resume[:4]
    if what == "data":
        table = folder / "table.csv"
        table.write_text(table.read_text().replace(",4,", ",3,", 1))
    request = [*BASIC[:4], *(change if what == "model" else BASIC[4:6]), *resume]
    request += () if what == "model" else change
    ended = CliRunner().invoke(main, request)
    assert (ended.exit_code, ended.stdout, fits(folder)) == (BAD_INPUT, "", 0)
    assert "must hold a run of the same" in ended.stderr
    assert "Use another folder, or what was used before." in ended.stderr


def test_two_runs_do_not_share_a_folder(folder):
    with Checkpoint.open(folder / "run", {}):
        ended = estimate("--resume", "run", *DIVIDED)
    assert (ended.exit_code, fits(folder)) == (BAD_INPUT, 0)
    assert f"process {os.getpid()} is at work in run" in ended.stderr


def test_a_folder_that_cannot_hold_refits_is_told_before_anything_is_trained(folder):
    ended = estimate("--resume", "table.csv", *DIVIDED)
    assert (ended.exit_code, fits(folder)) == (BAD_INPUT, 0)
    assert "must be a folder; table.csv is a file" in ended.stderr
    if sys.platform.startswith("linux"):  # nobody, not even root, makes a folder there
        ended = estimate("--resume", "/proc/run", *DIVIDED)
        assert (ended.exit_code, fits(folder)) == (FAILED, 0)
        assert "/proc/run could not be read or written" in ended.stderr


def test_a_worker_that_is_killed_once_changes_nothing(folder):
    (folder / "kill_once").touch()
    ended = estimate("--jobs", "2", *DIVIDED)
    assert ended.exit_code == 0, ended.stderr
    assert not (folder / "kill_once").exists()
    assert ended.stdout == estimate(*DIVIDED).stdout


def test_workers_that_are_always_killed_end_in_5_and_what_is_done_is_kept(folder):
    resume = ("--resume", "run", *DIVIDED)
    (folder / "kill").touch()
    ended = estimate("--jobs", "2", *resume)
    assert (ended.exit_code, ended.stdout) == (FAILED, "")
    assert "A worker was ended from outside twice" in ended.stderr
    assert "results are kept in run: start the same run again" in ended.stderr
    (folder / "kill").unlink()
    assert estimate(*resume).stdout == estimate(*DIVIDED).stdout


def test_a_disk_that_is_full_keeps_the_refits_and_the_old_page(folder):
    whole = estimate("--resume", "whole", *DIVIDED)
    page = folder / "report.html"
    page.write_text("old")
    room = (folder / "whole" / "results-1").stat().st_size - 100
    assert room > (folder / "whole" / "run.json").stat().st_size

    def run(*arguments):
        def little_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

        command = (*TRUERISK, *BASIC, *DIVIDED, *arguments)
        piped = {"capture_output": True, "text": True, "preexec_fn": little_room}
        return subprocess.run(command, check=False, **piped)

    ended = run("--resume", "run")
    assert (ended.returncode, ended.stdout) == (FAILED, "")
    assert "could not be read or written: File too large" in ended.stderr
    assert "start the same run again to go on" in ended.stderr
    assert estimate("--resume", "run", *DIVIDED).stdout == whole.stdout
    ended = run("--html", page, "-q")
    assert ended.returncode == FAILED
    assert "report.html cannot be written: File too large. Nothing was changed." in ended.stderr
    assert page.read_text() == "old"
