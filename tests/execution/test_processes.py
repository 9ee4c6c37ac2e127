import pickle
from collections import namedtuple

import numpy as np
import pytest
from scipy import sparse

from truerisk.errors import ResourceError
from truerisk.execution import processes
from truerisk.execution.processes import ALIGNMENT, mapped, written_once

RNG = np.random.default_rng(0)


def content():
    return {
        "by rows": RNG.normal(size=(50, 3)),
        "by columns": np.asfortranarray(RNG.normal(size=(5, 7))),
        "sparse": sparse.random(40, 30, density=0.2, format="csr", random_state=1),
        "inside": {"deep": [np.arange(5, dtype=np.int8), "text"]},
        "empty": np.empty((0, 4)),
        "texts": np.array(["a", "bcd"]),
        "objects": np.array(["a", None], dtype=object),
        "number": 3,
    }


def test_what_is_mapped_is_what_was_written():
    given = content()
    with written_once(given) as folder:
        seen = mapped(folder)
    assert seen["by rows"].tobytes() == given["by rows"].tobytes()
    assert seen["by columns"].flags.f_contiguous
    np.testing.assert_array_equal(seen["by columns"], given["by columns"])
    assert (seen["sparse"] != given["sparse"]).nnz == 0
    assert seen["inside"]["deep"][0].tolist() == [0, 1, 2, 3, 4]
    assert seen["inside"]["deep"][1] == "text"
    assert seen["empty"].shape == (0, 4)
    assert seen["texts"].tolist() == ["a", "bcd"]
    assert seen["objects"].tolist() == ["a", None]
    assert seen["number"] == 3


def test_arrays_stay_in_the_file_read_only_and_aligned():
    with written_once(content()) as folder:
        seen = mapped(folder)
        for array in (seen["by rows"], seen["sparse"].data, seen["inside"]["deep"][0]):
            assert not array.flags.writeable
            assert array.ctypes.data % ALIGNMENT == 0
        in_the_file = (folder / "arrays").read_bytes()
        assert seen["by rows"].tobytes() in in_the_file
        assert seen["by rows"].tobytes() not in (folder / "object").read_bytes()


def test_a_worker_keeps_only_the_latest():
    with written_once([1]) as first, written_once([2]) as second:
        assert mapped(first) is mapped(first)
        assert mapped(second) == [2]
        assert list(processes._mapped) == [second]  # noqa: SLF001


@pytest.mark.parametrize("end", [None, ValueError, KeyboardInterrupt])
def test_the_folder_goes_away_whatever_the_end(end):
    try:
        with written_once(content()) as folder:
            assert folder.is_dir()
            if end is not None:
                raise end
    except (ValueError, KeyboardInterrupt):
        pass
    assert not folder.exists()


Usage = namedtuple("Usage", "total used free")  # noqa: PYI024  (as shutil's)


def test_a_small_memory_folder_is_not_filled(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "IN_MEMORY", tmp_path)
    with written_once(np.zeros(1000)) as folder:
        assert folder.parent == tmp_path
    monkeypatch.setattr(processes.shutil, "disk_usage", lambda _: Usage(9000, 0, 9000))
    with written_once(np.zeros(1000)) as folder:
        assert folder.parent != tmp_path


def test_no_room_for_the_data_is_told(monkeypatch):
    def no_room(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(processes, "_write", no_room)
    with (
        pytest.raises(ResourceError, match=r"No space left on device\. .* bytes are needed"),
        written_once(content()),
    ):
        pass


def test_what_cannot_be_pickled_raises_as_pickle_does():
    with pytest.raises((TypeError, pickle.PicklingError)), written_once(one for one in []):
        pass


def test_one_can_wait_until_processes_are_ready():
    ready = processes.start_processes(2, ["json", "no_such_module"])
    assert ready(60.0)
    assert ready(0.0)
