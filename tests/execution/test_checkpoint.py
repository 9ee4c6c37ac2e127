import errno
import hashlib
import io
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from truerisk.errors import InputError, ResourceError
from truerisk.execution import Checkpoint, fingerprint, run_each
from truerisk.execution.checkpoint import Damaged, decoded, encoded, framed, next_content

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
    computed, words = [], []
    done = run(tmp_path, computed=computed, progress=lambda *how_far: words.append(how_far))
    assert done == SQUARES
    assert computed == list(range(stored, 6))
    assert words[-1] == (6, 6, 6)


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
    remaining = path.read_bytes()
    computed = []
    assert run(tmp_path, computed=computed) == SQUARES
    assert computed == [2, 3, 4, 5]
    assert len(remaining) == path.stat().st_size - 4 * RECORD_BYTES
    assert path.read_bytes()[: len(remaining)] == remaining


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
    import signal, sys, time
    import numpy as np
    from truerisk.execution import Checkpoint, run_each

    # A shell starts what runs in its background with this signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

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


plain = st.sampled_from(["<i4", "<f8", "|b1", "<u8", "<c16", "<U3", "|S2", "<f4"])
results = st.dictionaries(
    st.text(min_size=1),
    plain.flatmap(lambda kind: arrays(kind, array_shapes(min_dims=0, min_side=0, max_side=4))),
    max_size=4,
)


def contents(stored):
    file = io.BytesIO(stored)
    result = []
    while (content := next_content(file, len(stored) - file.tell())) is not None:
        result.append(content)
    return result


@given(result=results)
def test_a_result_comes_back_bit_for_bit(result):
    again = decoded(encoded(result))
    assert list(again) == list(result)
    for name, array in result.items():
        assert again[name].dtype == array.dtype
        assert again[name].shape == array.shape
        assert again[name].tobytes() == array.tobytes()
        assert again[name].flags.writeable


@given(parts=st.lists(st.binary(max_size=40), max_size=5), data=st.data())
def test_a_file_cut_anywhere_gives_the_records_before_the_cut(parts, data):
    frames = [framed(part) for part in parts]
    stored = b"".join(frames)
    cut = data.draw(st.integers(0, len(stored)))
    whole = sum(len(b"".join(frames[: at + 1])) <= cut for at in range(len(frames)))
    assert contents(stored[:cut]) == parts[:whole]


@given(parts=st.lists(st.binary(min_size=1, max_size=20), min_size=2, max_size=5), data=st.data())
def test_a_changed_byte_is_never_taken_for_a_result(parts, data):
    stored = bytearray(b"".join(map(framed, parts)))
    stored[data.draw(st.integers(0, len(stored) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        result = contents(bytes(stored))
    except Damaged:
        return
    assert result == parts[: len(result)]
    assert len(result) == len(parts) - 1  # only the last record may pass for one not finished


def test_zeros_that_a_loss_of_power_leaves_are_no_damage():
    stored = framed(b"whole")
    assert contents(stored + bytes(100)) == [b"whole"]
    with pytest.raises(Damaged):
        contents(stored + bytes(100) + framed(b"more"))


def described(head, arrays=b""):
    return len(head).to_bytes(4, "little") + head + arrays


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xff\xff\xff",
        described(b"no json"),
        described(b"3"),
        described(b'[["x", "<f8"]]'),
        described(b'[["x", "nonsense", [1]]]', bytes(8)),
        described(b'[["x", "O", [1]]]', bytes(8)),
        described(b'[["x", "<f8", [2]]]', bytes(8)),
        described(b'[["x", "<f8", [1]]]', bytes(9)),
        described(b'[["x", "<f8", [-1]]]'),
        described(b'[["x", "<f8", [1000000000000000]]]', bytes(8)),
        described(b'[["x", "<U0", [1000000000000000, 100000000000000]]]'),
        described(b"[" * 100_000),
    ],
    ids=range(13),
)
def test_a_record_made_by_somebody_else_is_refused(content):
    with pytest.raises(Damaged):
        decoded(content)


def test_objects_are_not_read_however_they_are_written():
    head = b"[[\"x\", \"[('a', 'O')]\", [1]]]"
    with pytest.raises(Damaged):
        decoded(described(head, bytes(8)))


def test_an_array_is_worked_out_by_hand():
    content = described(b'[["e", "<i4", [2]]]', bytes([1, 0, 0, 0, 255, 255, 255, 255]))
    assert decoded(content)["e"].tolist() == [1, -1]
    assert encoded({"e": np.array([1, -1], dtype=np.int32)}) == content


def test_it_is_the_sha256_of_type_shape_and_bytes():
    by_hand = hashlib.sha256(b"<i8 (2,) " + bytes([1] + [0] * 7 + [2] + [0] * 7)).hexdigest()
    assert fingerprint(np.array([1, 2], dtype="<i8")) == by_hand


DIFFERENT = {
    "a number": np.array([[1.0, 2.0], [3.0, 5.0]]),
    "a shape": np.array([1.0, 2.0, 3.0, 4.0]),
    "a type": np.array([[1, 2], [3, 4]]),
    "a sign of zero": np.array([[1.0, 2.0], [3.0, 4.0]]) * -1,
    "texts": np.array([["1", "2"], ["3", "4"]]),
    "sparse": sparse.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]])),
    "sparse by columns": sparse.csc_array(np.array([[1.0, 2.0], [3.0, 4.0]])),
    "nothing": np.empty((0, 2)),
    "objects": np.array([["a", None], [1, 2.5]], dtype=object),
}


def test_whatever_differs_makes_another_fingerprint():
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    result = {fingerprint(one) for one in (array, *DIFFERENT.values())}
    assert len(result) == len(DIFFERENT) + 1


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_same_content_has_the_same_fingerprint(name):
    array = DIFFERENT[name]
    assert fingerprint(array, array) == fingerprint(array.copy(), array.copy())
    assert fingerprint(array) != fingerprint(array, array)


def test_the_layout_does_not_count():
    array = np.arange(6.0).reshape(2, 3)
    assert fingerprint(array) == fingerprint(np.asfortranarray(array))
    assert fingerprint(array[:, ::2]) == fingerprint(array[:, ::2].copy())


def test_a_sparse_matrix_of_lists_counts_as_its_rows():
    matrix = sparse.csr_array(np.eye(3))
    assert fingerprint(matrix.tolil()) == fingerprint(matrix)
