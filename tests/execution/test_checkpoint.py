import errno
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from truerisk.errors import InputError, ResourceError
from truerisk.execution import Checkpoint, run_each
from truerisk.execution.records import encoded, framed

FACTS = {"data": "ab12", "folds": 10, "level": 0.95, "measures": ["f1", "auc"], "groups": None}


def squares(computed=None):
    def square(shared, item):
        if computed is not None:
            computed.append(item)
        return {"square": np.array([item**2, shared.get("shift", 0)])}

    return square


def interrupted_at(stop):
    def interrupted(shared, item):
        if item == stop:
            raise KeyboardInterrupt
        return squares()(shared, item)

    interrupted.__qualname__ = squares().__qualname__
    return interrupted


def run(folder, *, facts=FACTS, items=range(6), computed=None, **options):
    with Checkpoint.open(folder, facts) as checkpoint:
        results = run_each(squares(computed), {}, items, checkpoint=checkpoint, **options)
        return [int(result["square"][0]) for result in results]


SQUARES = [0, 1, 4, 9, 16, 25]
RECORD_BYTES = len(framed(encoded({"square": np.zeros(2, dtype=np.int64)})))


def test_what_is_stored_is_not_computed_again(tmp_path):
    first, second = [], []
    assert run(tmp_path, computed=first) == SQUARES
    assert run(tmp_path, computed=second) == SQUARES
    assert (first, second) == ([0, 1, 2, 3, 4, 5], [])


@pytest.mark.parametrize("stored", [0, 1, 4, 6])
def test_a_run_goes_on_where_it_stopped(tmp_path, stored):
    with Checkpoint.open(tmp_path, FACTS) as checkpoint:
        results = run_each(squares(), {}, range(6), checkpoint=checkpoint)
        for _ in range(stored):
            next(results)
        results.close()
    computed, told = [], []
    done = run(tmp_path, computed=computed, progress=lambda *how_far: told.append(how_far))
    assert done == SQUARES
    assert computed == list(range(stored, 6))
    assert told[-1] == (6, 6, 6)


def test_each_call_of_a_run_has_its_own_results(tmp_path):
    for _ in range(2):
        with Checkpoint.open(tmp_path, FACTS) as checkpoint:
            later = run_each(squares(), {"shift": 1}, range(2), checkpoint=checkpoint)
            for shift in (2, 3):
                results = run_each(squares(), {"shift": shift}, range(3), checkpoint=checkpoint)
                assert [int(result["square"][1]) for result in results] == [shift] * 3
            assert [int(result["square"][1]) for result in later] == [1, 1]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"data": "cd34"}, "the same data; .* was made with 'ab12', got 'cd34'"),
        ({"folds": 5}, "the same folds; .* was made with 10, got 5"),
        ({"measures": ["auc", "f1"]}, "the same measures"),
        ({"seed": 3}, "the same seed; .* was made with None, got 3"),
        ({"level": float("nan")}, "the same level; .* was made with 0.95, got nan"),
    ],
)
def test_a_changed_fact_is_refused_by_its_name(tmp_path, changed, message):
    run(tmp_path)
    with pytest.raises(InputError, match=message):
        run(tmp_path, facts=FACTS | changed)


def test_a_fact_that_is_gone_is_refused(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError, match=r"the same folds; .* was made with 10, got None"):
        run(tmp_path, facts={name: FACTS[name] for name in FACTS if name != "folds"})


def test_nan_is_the_same_as_nan(tmp_path):
    assert run(tmp_path, facts={"zero": float("nan")}) == SQUARES
    assert run(tmp_path, facts={"zero": float("nan")}) == SQUARES


def test_other_items_are_refused_whatever_the_facts_say(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError, match=r"must hold results of .*'items': 5"):
        run(tmp_path, items=range(5))


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_result_not_written_to_its_end_is_computed_again(tmp_path, cut):
    run(tmp_path)
    path = tmp_path / "results-1"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    computed = []
    assert run(tmp_path, computed=computed) == SQUARES
    assert computed == [5]
    assert path.read_bytes() == whole


def test_a_result_not_written_to_its_end_is_removed_before_the_run_goes_on(tmp_path):
    run(tmp_path)
    path = tmp_path / "results-1"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with Checkpoint.open(tmp_path, FACTS) as checkpoint:
        results = run_each(interrupted_at(5), {}, range(6), checkpoint=checkpoint)
        with pytest.raises(KeyboardInterrupt):
            list(results)
    assert whole.startswith(path.read_bytes())
    assert path.stat().st_size == len(whole) - RECORD_BYTES


def test_a_file_cut_within_its_heading_begins_anew(tmp_path):
    run(tmp_path)
    path = tmp_path / "results-1"
    whole = path.read_bytes()
    path.write_bytes(whole[:10])
    assert run(tmp_path) == SQUARES
    assert path.read_bytes() == whole


def test_damage_is_refused_with_its_place(tmp_path):
    run(tmp_path)
    path = tmp_path / "results-1"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"results-1 must be as .* damaged at byte \d+\. Remove"):
        run(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b"{", b"\x80\x04"], ids=["", "list", "{", "pickle"]
)
def test_facts_that_are_none_are_refused(tmp_path, content):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(InputError, match=r"run\.json must hold the facts of a run"):
        run(tmp_path)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(InputError, match=r"must be an empty folder or .* has 'thesis\.tex'"):
        run(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.name != "lock"] == ["thesis.tex"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="`resume` must be a folder"):
        Checkpoint.open(tmp_path / "file", FACTS)


def test_a_run_killed_before_its_facts_were_whole_begins_anew(tmp_path):
    (tmp_path / "run.json.unfinished").write_text('{"da')
    assert run(tmp_path) == SQUARES


def test_two_runs_at_once_are_kept_apart(tmp_path):
    used = f"no other run uses; process {os.getpid()} is at work"
    with Checkpoint.open(tmp_path, FACTS), pytest.raises(InputError, match=used):
        Checkpoint.open(tmp_path, FACTS)
    assert run(tmp_path) == SQUARES


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path):
    (tmp_path / "lock").write_text("999999999\n")
    with Checkpoint.open(tmp_path, FACTS):
        assert (tmp_path / "lock").read_text() == f"{os.getpid()}\n"


def test_a_refused_run_leaves_the_folder_to_others(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError):
        run(tmp_path, facts={})
    assert run(tmp_path) == SQUARES


def full_disk_after(monkeypatch, writes):
    """Let some writes through, write half of the next one, and then say that the disk is full."""
    real, count = os.write, [0]

    def write(number, content):
        count[0] += 1
        if count[0] == writes:
            return real(number, content[: len(content) // 2])
        if count[0] > writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(number, content)

    monkeypatch.setattr("truerisk.execution.checkpoint.os.write", write)


def test_a_full_disk_is_told_and_the_checkpoint_stays_usable(tmp_path, monkeypatch):
    with monkeypatch.context() as full:
        full_disk_after(full, 4)
        with pytest.raises(ResourceError, match=r"results-1 could not .* No space left on device"):
            run(tmp_path)
    path = tmp_path / "results-1"
    kept = path.read_bytes()
    computed = []
    assert run(tmp_path, computed=computed) == SQUARES
    assert computed == [2, 3, 4, 5]
    assert len(kept) == path.stat().st_size - 4 * RECORD_BYTES
    assert path.read_bytes()[: len(kept)] == kept


def test_a_disk_that_cannot_be_synced_is_told(tmp_path, monkeypatch):
    def fsync(_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as broken:
        broken.setattr("truerisk.execution.checkpoint.os.fsync", fsync)
        with pytest.raises(ResourceError, match=r"run\.json could not .* Input/output error"):
            run(tmp_path)
    assert run(tmp_path) == SQUARES


def test_ctrl_c_keeps_what_was_done(tmp_path):
    with Checkpoint.open(tmp_path, FACTS) as checkpoint:
        results = run_each(interrupted_at(4), {}, range(6), checkpoint=checkpoint)
        with pytest.raises(KeyboardInterrupt):
            list(results)
    computed = []
    assert run(tmp_path, computed=computed) == SQUARES
    assert computed == [4, 5]


SCRIPT = """
    import sys, time
    import numpy as np
    from truerisk.execution import Checkpoint, run_each

    def task(shared, item):
        time.sleep(float(shared["seconds"]))
        rng = np.random.default_rng((shared["seed"], item))
        return {"drawn": rng.normal(size=50), "item": np.array(item)}

    folder, seconds, n_jobs = sys.argv[1:]
    shared = {"seed": 5, "X": np.zeros(10_000), "seconds": seconds}
    with Checkpoint.open(folder, {"seed": 5}) as checkpoint:
        print("begun", flush=True)
        for result in run_each(task, shared, range(30), n_jobs=int(n_jobs), checkpoint=checkpoint):
            print(result["drawn"].tobytes().hex())
"""


def command(tmp_path, name, *arguments):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    return [sys.executable, str(script), str(tmp_path / name), *arguments]


def kill_in_the_middle(command, path, end):
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen(command, **piped) as process:
        patience = time.monotonic() + 30
        while not (path.exists() and path.stat().st_size > 3000):
            assert time.monotonic() < patience
            time.sleep(0.01)
        if end == signal.SIGINT:
            os.killpg(process.pid, end)  # as Ctrl-C does: it reaches the workers, too
        else:
            process.send_signal(end)
        # The pipe ends when the last of the workers has: none of them outlives the run.
        _, errors = process.communicate(timeout=30)
        return process.returncode, errors.decode()


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_a_killed_run_resumes_to_the_same_bytes(tmp_path, n_jobs):
    whole = subprocess.run(command(tmp_path, "whole", "0", "1"), check=True, capture_output=True)
    path = tmp_path / "killed" / "results-1"
    slow = command(tmp_path, "killed", "0.05", n_jobs)
    code, _ = kill_in_the_middle(slow, path, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert 3000 < path.stat().st_size < (tmp_path / "whole" / "results-1").stat().st_size
    resumed = subprocess.run(command(tmp_path, "killed", "0", "1"), check=True, capture_output=True)
    assert resumed.stdout == whole.stdout
    assert path.read_bytes() == (tmp_path / "whole" / "results-1").read_bytes()


def test_an_interrupted_run_of_several_workers_ends_quietly(tmp_path):
    slow = command(tmp_path, "stopped", "0.05", "2")
    code, errors = kill_in_the_middle(slow, tmp_path / "stopped" / "results-1", signal.SIGINT)
    assert code == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert errors.strip().endswith("KeyboardInterrupt")
