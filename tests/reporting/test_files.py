import errno
import os
from pathlib import Path

import pytest

from truerisk.errors import InputError, ResourceError
from truerisk.reporting.files import check_destination, write_whole


def test_a_file_is_written_whole(tmp_path):
    path = write_whole(tmp_path / "report.html", "α\n")
    assert path.read_bytes() == b"\xce\xb1\n"
    assert list(tmp_path.iterdir()) == [path]


def test_its_permissions_are_those_of_any_new_file(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    written = write_whole(tmp_path / "report.html", "")
    assert written.stat().st_mode == plain.stat().st_mode


def test_an_absent_folder_is_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(ResourceError, match=r"must exist; .*absent does not\. Make it first"):
        check_destination(tmp_path / "absent" / "report.html")


def test_what_is_no_regular_file_is_never_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ResourceError, match="pipe is a device or a pipe"):
        check_destination(pipe)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(ResourceError, match="is a folder"):
        check_destination(tmp_path)


def test_an_output_never_takes_the_place_of_an_input(tmp_path, monkeypatch):
    source = tmp_path / "predictions.csv"
    source.write_text("precious")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="must not be an input"):
        check_destination(Path("./predictions.csv"), [source])
    check_destination(tmp_path / "report.html", [source])


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(ResourceError, match=r"cannot be written: Permission denied"):
        check_destination(tmp_path / "report.html")


def test_a_check_leaves_nothing_behind(tmp_path):
    check_destination(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_report_and_no_other_file(tmp_path, monkeypatch, step):
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, step, full)
    if step == "replace":
        monkeypatch.setattr(type(path), "replace", full)
    with pytest.raises(ResourceError, match=r"No space left on device\. Nothing was changed"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_being_stopped_leaves_the_old_report_and_no_other_file(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_replaced_and_what_it_points_to_is_not_touched(tmp_path):
    target, link = tmp_path / "target", tmp_path / "report.html"
    target.write_text("precious")
    link.symlink_to(target)
    write_whole(link, "new")
    assert target.read_text() == "precious"
    assert link.read_text() == "new"
    assert not link.is_symlink()
