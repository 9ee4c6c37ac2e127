"""What happens to a run: nobody reads, the disk is full, it is stopped, another one writes too.

What befalls workers and refits that are kept is in test_running_learners.py.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TRUERISK = (sys.executable, "-m", "truerisk")
FAILED, INTERRUPTED, BROKEN_PIPE, TERMINATED = 5, 130, 141, 143
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's devices")


@pytest.fixture
def predictions(write):
    return write("y_true,y_pred,score\n" + "1,1,0.9\n0,0,0.2\n0,1,0.7\n" * 20)


def score(*arguments, **options):
    command = (*TRUERISK, "score", *map(str, arguments))
    # Output is kept back until the end unless this is set: the harder case, and the usual one.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": buffered}
    return subprocess.run(command, check=False, **(piped | options))


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_nobody_reading_is_no_error(predictions, form):
    reader, writer = os.pipe()
    os.close(reader)
    ended = score(predictions, *form, stdout=writer)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (BROKEN_PIPE, "")


@LINUX
@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_full_disk_under_what_is_printed_is_told(predictions, form):
    with open("/dev/full", "w") as full:  # noqa: PTH123  (a device)
        ended = score(predictions, *form, stdout=full)
    assert (ended.returncode, ended.stderr) == (FAILED, "Error: No space left on device\n")


def test_a_page_for_which_there_is_no_room_leaves_the_old_one(predictions, tmp_path):
    page = tmp_path / "report.html"
    page.write_text("old")

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    ended = score(predictions, "--html", page, "-q", preexec_fn=little_room)
    assert ended.returncode == FAILED
    assert "report.html cannot be written: File too large. Nothing was changed." in ended.stderr
    assert page.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [predictions, page]


BROKEN = "this is no file of predictions"


def test_an_absent_folder_is_told_before_anything_is_read(write, tmp_path):
    ended = score(write(BROKEN), "--html", tmp_path / "absent" / "report.html")
    assert ended.returncode == FAILED
    assert "The folder of the output must exist" in ended.stderr
    assert "absent does not. Make it first." in ended.stderr


@LINUX
def test_a_folder_that_takes_no_file_is_told_before_anything_is_read(write):
    # Nobody, not even root, makes a file there.
    ended = score(write(BROKEN), "--html", "/proc/report.html")
    assert ended.returncode == FAILED
    assert "/proc/report.html cannot be written" in ended.stderr
    assert not Path("/proc/report.html").exists()


def test_a_folder_in_place_of_the_page_is_told_before_anything_is_read(write, tmp_path):
    ended = score(write(BROKEN), "--html", tmp_path)
    assert ended.returncode == FAILED
    assert "The output must be a file" in ended.stderr


STOPPED_WHILE_WRITING = """
import os, pathlib, sys, time
from truerisk.cli import main

def wait(_):
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(60)

os.fsync = wait
main(["score", sys.argv[2], "--html", sys.argv[3], "-q"])
"""


@pytest.mark.parametrize(
    ("number", "code", "printed"),
    [
        (signal.SIGINT, INTERRUPTED, "Error: Interrupted; nothing was written.\n"),
        (signal.SIGTERM, TERMINATED, ""),
    ],
)
def test_being_stopped_while_writing_leaves_the_old_page(
    predictions, tmp_path, number, code, printed
):
    page, mark = tmp_path / "report.html", tmp_path / "writing"
    page.write_text("old")
    process = subprocess.Popen(
        (sys.executable, "-c", STOPPED_WHILE_WRITING, mark, predictions, page),
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if mark.exists():
            break
        time.sleep(0.05)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (code, printed)
    assert page.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [predictions, page, mark]


def test_two_runs_with_one_output_leave_one_whole_page(predictions, tmp_path):
    page = tmp_path / "report.html"
    command = (*TRUERISK, "score", predictions, "--html", page, "-q")
    runs = [subprocess.Popen((*command, "--seed", str(seed))) for seed in (1, 2)]
    assert [run.wait(timeout=60) for run in runs] == [0, 0]
    text = page.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    assert text.count("</html>") == 1
    assert sorted(tmp_path.iterdir()) == [predictions, page]


def test_a_long_file_needs_no_folder_to_write_to(write, tmp_path):
    long = write("y_true,score\n" + "1,0.9\n0,0.2\n1,0.4\n0,0.5\n" * 15_000)
    home = tmp_path / "home"
    home.mkdir()
    homeless = {
        **{name: value for name, value in os.environ.items() if not name.startswith("XDG_")},
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    ended = score(long, "--threshold", "0.5", "-q", env=homeless)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert list(home.iterdir()) == []  # no cache of compiled code
