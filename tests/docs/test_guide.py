"""The guide shows only what runs: each page is replayed in an empty folder, to the letter.

Blocks of a page, in order: ```` ```csv name ```` (or toml, yaml) writes a file;
```` ```console ```` runs the lines that begin with "$ " and compares what they print;
```` ```python ```` is a doctest.  A line "…" stands for any number of lines.  With
TRUERISK_REFRESH_DOCS=1 the pages are rewritten instead.
"""

import doctest
import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from studies.reproduction.__main__ import main as reproduction
from truerisk.cli import main

DOCS = Path(__file__).parents[2] / "docs"
GENERATED = {  # by `make audit`
    "coverage.md",
    "coverage-of-learners.md",
    "coverage-of-perturbation.md",
    "size-of-tests.md",
}
PAGES = sorted(page.name for page in DOCS.glob("*.md") if page.name not in GENERATED)
BLOCK = re.compile(
    r"^```(?P<kind>csv|toml|yaml|console|python)[ ]?(?P<name>\S*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)


class Replay:
    """One folder, one page: files, commands and Python all see what came before."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {}
        self.status = 0

    def replay(self, block: re.Match[str]) -> str:
        """Run one block and give it as it should stand in the page."""
        run = {"console": self.console, "python": self.python}.get(block["kind"], self.write)
        head = block.group(0).split("\n", 1)[0]
        return f"{head}\n{run(block['body'], block['name'])}```"

    def write(self, body: str, name: str) -> str:
        Path(name).write_text(body, encoding="utf-8")
        return body

    def console(self, body: str, _: str) -> str:
        return COMMAND.sub(self.command, body)

    def command(self, shown: re.Match[str]) -> str:
        printed = self.run(shown["command"].replace("\\\n", " "))
        output = shown["output"] if agrees(shown["output"], printed) else printed
        return f"$ {shown['command']}\n{output}"

    def run(self, command: str) -> str:
        if command == "echo $?":
            return f"{self.status}\n"
        program, *arguments = shlex.split(command)
        if program == "truerisk":
            done = CliRunner().invoke(main, arguments, prog_name="truerisk")
            self.status, printed = done.exit_code, done.output
        elif (program, *arguments[:2]) == ("python", "-m", "studies.reproduction"):
            done = CliRunner().invoke(reproduction, arguments[2:])
            self.status, printed = done.exit_code, done.output
        else:
            assert (program, len(arguments)) == ("head", 2), command
            lines = Path(arguments[1]).read_text(encoding="utf-8").splitlines(keepends=True)
            self.status, printed = 0, "".join(lines[: -int(arguments[0])])
        lines = [line.rstrip() for line in printed.splitlines()]
        return "\n".join(lines).strip("\n") + "\n" if any(lines) else ""

    def python(self, body: str, _: str) -> str:
        test = doctest.DocTestParser().get_doctest(body, self.names, "page", None, 0)
        told: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        runner.run(test, out=told.append, clear_globs=False)
        self.names = test.globs
        assert not told, "".join(told)
        return body


def agrees(shown: str, printed: str) -> bool:
    """Whether the output is the one shown, where a line "…" may be any number of lines."""
    pattern = "".join(
        "(?:.*\n)*?" if line == "…\n" else re.escape(line)
        for line in shown.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_happens(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = DOCS / name
    text = page.read_text(encoding="utf-8")
    replayed = BLOCK.sub(Replay().replay, text)
    if os.environ.get("TRUERISK_REFRESH_DOCS"):
        page.write_text(replayed, encoding="utf-8")
    else:
        assert replayed == text


@pytest.mark.parametrize("name", PAGES)
def test_every_block_of_a_page_is_one_that_is_run(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(BLOCK.findall(text))


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (DOCS / target).exists(), target


def test_the_index_leads_to_every_page():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index, page.name


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nd\n", "a\nd\n", True),
        ("a\n…\nd\n", "a\nb\nc\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_what_is_shown_agrees_with_what_is_printed(shown, printed, agree):
    assert agrees(shown, printed) is agree
