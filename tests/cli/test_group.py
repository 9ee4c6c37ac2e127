import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import truerisk
from truerisk import cli
from truerisk.cli import COMMANDS, EXIT_CODES, main
from truerisk.errors import InputError, ResourceError

TRUERISK = (sys.executable, "-m", "truerisk")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_how_it_is_used(run, name):
    ended = run(name, "--help")
    assert ended.exit_code == 0
    assert f"\n  truerisk {name}" in ended.stdout  # an example


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_is_written_once(name):
    command = main.get_command(None, name)
    assert command.short_help == COMMANDS[name]


def test_help_lists_the_commands_without_importing_any():
    code = (
        "import sys; from click.testing import CliRunner; from truerisk.cli import main;"
        "print(CliRunner().invoke(main, ['--help']).output);"
        "print(sorted(set(sys.modules) & {'numpy', 'rich', 'pyarrow', 'truerisk.cli.score'}))"
    )
    ended = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert all(f"  {name} " in ended.stdout for name in COMMANDS)
    assert ended.stdout.endswith("[]\n")


def test_a_score_imports_no_heavy_library(predictions):
    code = (
        "import sys; from click.testing import CliRunner; from truerisk.cli import main;"
        f"assert CliRunner().invoke(main, ['score', {str(predictions)!r}]).exit_code == 0;"
        "heavy = {'sklearn', 'scipy.stats', 'matplotlib', 'jinja2'};"
        "print(sorted(set(sys.modules) & heavy))"
    )
    ended = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


def test_the_version_is_that_of_the_package(run):
    assert run("--version").stdout.split()[-1].count(".") == 2


def test_an_unknown_command_is_a_wrong_option(run):
    ended = run("nonsense")
    assert ended.exit_code == 2
    assert (
        "truerisk has no command 'nonsense'. `truerisk --help` lists all of them." in ended.stderr
    )
    assert "truerisk has no command 'scor'. Did you mean 'score'?" in run("scor").stderr


def test_an_absent_file_without_a_command_is_an_absent_file(run):
    ended = run("absent.csv")
    assert ended.exit_code == 3
    assert "'absent.csv' does not exist" in ended.stderr


FAILURES = [
    (InputError("`level` must be so; got 7."), 3, "Error: `level` must be so; got 7.\n"),
    (ResourceError("No room."), 5, "Error: No room.\n"),
    (MemoryError(), 5, "Error: Not enough memory. Use fewer --jobs, or fewer rows.\n"),
    (OSError(28, "No space left on device", "x"), 5, "Error: No space left on device: x\n"),
    (KeyboardInterrupt(), 130, "Error: Interrupted; nothing was written.\n"),
    (InputError("\x1b[31mred\nline"), 3, "Error: \\x1b[31mred\nline\n"),
]


@pytest.mark.parametrize(("failure", "code", "message"), FAILURES)
def test_what_goes_wrong_is_a_sentence_and_an_exit_code(run, monkeypatch, failure, code, message):
    def fail(*_, **__):
        raise failure

    monkeypatch.setattr("truerisk.intervals.installation.check_installation", fail)
    ended = run("audit")
    assert (ended.exit_code, ended.stderr) == (code, message)


@pytest.fixture
def bug(monkeypatch, tmp_path):
    def fail():
        raise ZeroDivisionError("of nothing")

    monkeypatch.setattr("truerisk.intervals.installation.check_installation", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("TRUERISK_DEBUG", raising=False)
    return tmp_path


def test_a_bug_is_no_failed_check_and_keeps_its_traceback_in_a_file(run, bug):
    ended = run("audit")
    (traceback,) = bug.iterdir()
    assert ended.exit_code == 5
    assert ended.stderr.startswith(
        "Error: ZeroDivisionError: of nothing\nThis is a bug in truerisk."
    )
    assert ended.stderr.endswith(
        f", with the command. The traceback is in {traceback}; --debug prints it.\n"
    )
    text = traceback.read_text()
    assert text.startswith(f"truerisk {truerisk.__version__}, Python 3.")
    assert "Traceback (most recent call last)" in text


@pytest.mark.parametrize("how", ["option", "variable", "no temporary folder"])
def test_the_traceback_of_a_bug_can_be_printed(run, monkeypatch, bug, how):
    if how == "variable":
        monkeypatch.setenv("TRUERISK_DEBUG", "1")
    if how == "no temporary folder":
        monkeypatch.setattr("tempfile.tempdir", str(bug / "absent"))
    ended = run(*(["--debug"] if how == "option" else []), "audit")
    assert ended.exit_code == 5
    assert "Traceback (most recent call last)" in ended.stderr
    assert "This is a bug in truerisk." in ended.stderr
    assert not list(bug.iterdir())


def test_help_lists_the_exit_codes(run):
    text = run("--help").stdout
    assert "Exit codes" in text
    for code, meaning in EXIT_CODES.items():
        assert re.search(rf"^  {code} +{re.escape(meaning[:30])}", text, re.MULTILINE)


def test_the_guide_lists_the_same_exit_codes():
    guide = (Path(__file__).parents[2] / "docs" / "files.md").read_text()
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in guide


@pytest.mark.parametrize("command", ["score", "compare", "estimate", "curve", "perturb", "rank",
                                     "threshold", "reject", "split"])  # fmt: skip
def test_an_absent_file_is_a_wrong_input_not_a_wrong_option(run, command):
    ended = run(command, "absent.csv")
    assert ended.exit_code == 3
    assert "'absent.csv' does not exist" in ended.stderr


def test_an_unreadable_file_is_a_wrong_input(run, monkeypatch, predictions):
    access = os.access  # root may read everything
    monkeypatch.setattr(
        "os.access", lambda path, mode: access(path, mode) and str(path) != str(predictions)
    )
    ended = run("score", predictions)
    assert ended.exit_code == 3
    assert "is not readable" in ended.stderr


def test_nobody_reading_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        (*TRUERISK, "measures"), stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert ended.returncode == cli.BROKEN_PIPE
    assert ended.stderr == b""


def test_a_full_disk_under_the_output_is_told():
    with open("/dev/full", "w") as full:  # noqa: PTH123  (a device)
        ended = subprocess.run(
            (*TRUERISK, "measures"), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ended.returncode == 5
    assert b"No space left on device" in ended.stderr


def test_the_handler_of_the_program_around_us_is_put_back(run):
    before = signal.getsignal(signal.SIGTERM)
    run("measures")
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_lets_every_finally_run(tmp_path, number, code):
    mark = tmp_path / "began"
    script = (
        "import pathlib, signal, sys, time\n"
        # A shell starts what runs in its background with this signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import truerisk.intervals.installation as i\n"
        "from truerisk.cli import main\n"
        "def slow():\n"
        f"    pathlib.Path({str(mark)!r}).touch()\n"
        "    try:\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        print('put away')\n"
        "i.check_installation = slow\n"
        "main(['audit'])\n"
    )
    process = subprocess.Popen(
        (sys.executable, "-c", script), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(400):
        if mark.exists():
            break
        time.sleep(0.05)
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, "put away\n")


def test_the_package_is_run_as_a_module():
    ended = subprocess.run((*TRUERISK, "--version"), capture_output=True, text=True, check=True)
    assert ended.stdout == f"python -m truerisk {truerisk.__version__}\n"
