import io
import time

from truerisk.cli import progress
from truerisk.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def look_at(monkeypatch, page, patience=0.0):
    # Not in a fixture: pytest puts its own stream back before the test begins.
    monkeypatch.setattr("sys.stderr", page)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", patience)
    return page


def test_short_work_shows_nothing(monkeypatch):
    page = look_at(monkeypatch, Terminal(), patience=60)
    with Progress("Reading") as shown:
        shown(1, 1, 2)
    assert page.getvalue() == ""


def test_long_work_shows_a_bar_and_takes_it_away(monkeypatch):
    page = look_at(monkeypatch, Terminal())
    with Progress("Reading") as shown:
        shown(1234, 1, 2)
        shown(2345)
    assert "Reading" in page.getvalue()
    assert "2,345 done" in page.getvalue()
    assert page.getvalue().endswith("\x1b[2K")


def test_work_that_cannot_say_how_far_it_is_shows_a_bar_too(monkeypatch):
    page = look_at(monkeypatch, Terminal(), patience=0.01)
    with Progress("Drawing"):
        for _ in range(200):
            if "Drawing" in page.getvalue():
                break
            time.sleep(0.01)
    assert "Drawing" in page.getvalue()
    assert page.getvalue().endswith("\x1b[2K")


def test_where_nobody_looks_nothing_is_shown(monkeypatch):
    page = look_at(monkeypatch, io.StringIO())
    with Progress("Reading") as shown:
        shown(1, 1, 2)
    assert page.getvalue() == ""


def test_quiet_work_shows_nothing(monkeypatch):
    page = look_at(monkeypatch, Terminal())
    with Progress("Reading", quiet=True) as shown:
        shown(1, 1, 2)
    assert page.getvalue() == ""
