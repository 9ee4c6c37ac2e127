"""ARCHITECTURE.md and CONTRIBUTING.md name only files, folders and names that exist."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = (ROOT, ROOT / "src" / "truerisk")
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")
# A file, or a folder (which ends in a slash); * and <placeholders> match anything.
NAMED = re.compile(
    r"`((?:[\w.<>*-]+/)*(?:[\w<>*-]+\.(?:pyi?|md|js|html|css|csv|toml|lock|yml|txt)|)/?)`"
)


def named_paths(text):
    """List the paths between backticks."""
    return sorted({path for path in NAMED.findall(text) if path})


def exists(path):
    pattern = re.sub(r"<[^>]*>", "*", path)
    places = (one for place in PLACES for one in place.glob(pattern.rstrip("/")))
    return any(one.is_file() or _holds_files(one) for one in places)


def _holds_files(folder):
    return any(one.is_file() and "__pycache__" not in one.parts for one in folder.rglob("*"))


@pytest.mark.parametrize("page", [page for page in PAGES if (ROOT / page).exists()])
def test_every_path_that_a_page_names_exists(page):
    paths = named_paths((ROOT / page).read_text(encoding="utf-8"))
    assert len(paths) > 10
    assert [path for path in paths if not exists(path)] == []


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    reasons = text[text.index("## Dependencies and why") :]
    for dependency in project["dependencies"]:
        assert re.split(r"[<>=\[ ]", dependency)[0] in reasons


def test_a_path_that_does_not_exist_is_noticed():
    text = "`inputs/`, `no_such.py`, `reporting/results/<kind>.py`, `cli/s*.py`, `f1=0.9`, `a/b`"
    assert named_paths(text) == [
        "cli/s*.py",
        "inputs/",
        "no_such.py",
        "reporting/results/<kind>.py",
    ]
    assert exists("inputs/")
    assert exists("cli/s*.py")
    assert not exists("no_such.py")
    assert not exists("cli/no_*.py")
    assert exists(".ci/*.py")
