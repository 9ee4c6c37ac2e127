import numpy as np
import pytest

from studies.audit import checkpoints
from studies.audit.checkpoints import checkpointed
from truerisk.errors import InputError, ResourceError


def compute():
    return {"x": np.arange(1000)}


def never():
    pytest.fail("was computed again")


def test_what_is_there_is_read_and_not_computed_again(tmp_path):
    first = checkpointed(tmp_path / "new", "a", {"seed": 1}, compute)
    again = checkpointed(tmp_path / "new", "a", {"seed": 1}, never)
    assert list(first) == list(again) == ["x"]
    np.testing.assert_array_equal(first["x"], again["x"])
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.npz"]


def test_other_settings_are_refused(tmp_path):
    checkpointed(tmp_path, "a", {"seed": 1}, compute)
    with pytest.raises(InputError, match=r"same settings; a\.npz was made with {'seed': 1}"):
        checkpointed(tmp_path, "a", {"seed": 2}, never)


def test_a_broken_file_is_refused(tmp_path):
    checkpointed(tmp_path, "a", {"seed": 1}, compute)
    path = tmp_path / "a.npz"
    for content in (path.read_bytes()[:300], b"", b"no archive"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.npz cannot be read: .* Remove it"):
            checkpointed(tmp_path, "a", {"seed": 1}, never)


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ResourceError, match="cannot be made: File exists"):
        checkpointed(tmp_path / "file", "a", {}, never)


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints.os, "fsync", full)
    with pytest.raises(ResourceError, match="cannot be written: No space left on device"):
        checkpointed(tmp_path, "a", {}, compute)
    assert not list(tmp_path.iterdir())
