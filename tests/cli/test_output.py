"""`--html` and `--figures`: every command that has a page writes it in the same way."""

import json
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from truerisk.cli import BROKEN_PIPE, COMMANDS, main, output
from truerisk.cli.output import deliver
from truerisk.errors import ResourceError
from truerisk.reporting.render import figures

WITH_PAGE = ("score", "compare", "estimate", "curve", "perturb", "rank", "folds")
WITH_FIGURES = ("threshold", "reject")
PAGE_NAMES = {"html", "figures", "figure_formats"}


def _options(name):
    command = main.get_command(click.Context(main), name)
    return {option.name: option for option in command.params}


@pytest.mark.parametrize("name", WITH_PAGE)
def test_every_command_with_a_result_offers_a_page_and_pictures(name):
    assert set(_options(name)) >= PAGE_NAMES


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_a_command_that_only_has_curves_offers_pictures(name):
    assert PAGE_NAMES & set(_options(name)) == {"figures", "figure_formats"}


def test_no_command_asks_for_pages_in_a_way_of_its_own():
    page = {option.name: option.help for option in click.command()(output.page(_nothing)).params}
    for name in set(COMMANDS) - {"demo", "audit"}:
        for option in _options(name).values():
            if option.name in page:
                assert option.help == page[option.name], name


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _nothing(**_):
    pass


def test_a_page_and_pictures_are_written_and_their_places_told(run, predictions, tmp_path):
    page, folder = tmp_path / "report.html", tmp_path / "pictures"
    ended = run("score", predictions, "--html", page, "--figures", folder)
    assert ended.exit_code == 0
    assert ended.stdout.endswith(f"The page is in {page}\n8 figures are in {folder}\n")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert len(list(folder.glob("*.svg"))) == 8


def test_formats_may_be_several(run, predictions, tmp_path):
    formats = ("--figure-format", "pdf", "--figure-format", "png")
    ended = run("reject", predictions, "--figures", tmp_path / "new", *formats)
    assert ended.stdout.endswith(f"2 figures are in {tmp_path / 'new'}\n")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "error-reject.pdf",
        "error-reject.png",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), ["precision-recall.svg", "roc.svg"]),
        (("--costs", "fp=1,fn=5"), ["cost.svg", "precision-recall.svg", "roc.svg"]),
    ],
    ids=["without costs", "with costs"],
)
def test_a_threshold_has_the_curves_it_lies_on(run, predictions, tmp_path, options, expected):
    ended = run("threshold", predictions, *options, "--figures", tmp_path / "new")
    assert ended.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == expected


def test_one_figure_is_told_as_one(run, predictions, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(predictions.read_text().replace("1,0,0.4", "1,1,0.4"))
    ended = run(
        "compare", predictions, other, "--measure", "accuracy", "--figures", tmp_path / "new"
    )
    assert ended.stdout.endswith(f"1 figure is in {tmp_path / 'new'}\n")


def test_where_they_are_is_not_told_among_json_nor_when_quiet(run, predictions, tmp_path):
    counts = ("--counts", "50,50,40,850", "--measure", "f1", "--figure-format", "png")
    request = ("score", *counts, "--figures", tmp_path / "new")
    json.loads(run(*request, "--json").stdout)
    assert not run(*request, "--quiet").output
    json.loads(run("reject", predictions, "--figures", tmp_path / "new", "--json").stdout)


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ("--figures predictions.csv", 5, "The figures need a folder"),
        ("--figure-format png", 2, "--figure-format needs --figures FOLDER"),
        ("--figures new --figure-format gif", 2, "'gif' is not one of"),
        ("--html no/report.html", 5, "The folder of the output must exist"),
        ("--figures=", 2, "'--figures': must not be empty"),
        ("--html=", 2, "'--html': must not be empty"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_cannot_be_written_is_refused_before_reading(run, tmp_path, options, status, message):
    (tmp_path / "predictions.csv").write_text("broken")
    ended = run("score", "predictions.csv", *options.split())
    assert ended.exit_code == status
    assert message in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.csv"]


def test_pictures_never_come_into_a_folder_that_is_read(run, predictions):
    ended = run("score", predictions.parent, "--figures", predictions.parent)
    assert ended.exit_code == 3
    assert "must not come among inputs" in ended.stderr


def test_a_partial_result_has_its_pictures_too(run, one_class, tmp_path):
    ended = run("score", one_class, "--figures", tmp_path / "new")
    assert ended.exit_code == 4
    assert (tmp_path / "new" / "measures.svg").exists()


def test_a_page_loads_nothing_that_draws_pictures(predictions, tmp_path):
    request = ["score", str(predictions), "--html", str(tmp_path / "report.html")]
    code = (
        "import sys; from truerisk.cli import main\n"
        f"main({request!r}, standalone_mode=False)\n"
        "print('matplotlib' in sys.modules, 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\nFalse False\n")


def test_options_of_the_chapter_reach_the_page(monkeypatch, tmp_path):
    given = {}

    class Page:
        def save(self, path):
            given["path"] = path

    monkeypatch.setattr(
        "truerisk.reporting.page.report_of",
        lambda _, **chapter_options: given.update(chapter_options) or Page(),
    )

    @click.command()
    @output.page
    def command(**options):
        deliver(None, options, lambda: click.echo("the result"), source={"rows": 3}, wanted=0.1)

    page = tmp_path / "page.html"
    ended = CliRunner().invoke(command, ["--html", str(page)])
    assert ended.output == f"the result\nThe page is in {page}\n"
    assert given == {"source": {"rows": 3}, "wanted": 0.1, "path": page}


def test_a_reader_who_leaves_does_not_keep_the_page_from_being_written(predictions, tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "pictures"
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        (sys.executable, "-m", "truerisk", "score", predictions, "--html", page,
         "--figures", folder),
        stdout=writer, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (BROKEN_PIPE, b"")
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert len(list(folder.glob("*.svg"))) == 8


def test_the_result_is_printed_where_the_page_cannot_be_written(run, predictions, monkeypatch):
    def fail(*_, **__):
        raise ResourceError("No space.")

    monkeypatch.setattr("truerisk.reporting.page.report_of", fail)
    ended = run("score", predictions, "--html", predictions.with_name("page.html"))
    assert (ended.exit_code, ended.stderr) == (5, "Error: No space.\n")
    assert "Measures" in ended.stdout


@pytest.mark.parametrize("command", ["score", "rank"])
def test_figures_without_matplotlib_are_refused_before_reading(run, monkeypatch, tmp_path, command):
    monkeypatch.setattr(figures, "find_spec", lambda _: None)
    (tmp_path / "broken.csv").write_text("no such thing")
    option = {"score": "--figures", "rank": "--plot"}[command]
    ended = run(command, tmp_path / "broken.csv", option, tmp_path / "new.svg")
    assert ended.exit_code == 5
    assert ended.stderr == (
        "Error: Drawing needs matplotlib, which is not installed: pip install 'truerisk[plot]'.\n"
    )


def test_a_command_without_pages_still_draws_pictures(tmp_path):
    @click.command()
    @output.figures
    def command(**options):
        deliver({}, options, lambda: None)

    ended = CliRunner().invoke(command, ["--figures", str(tmp_path / "none")])
    assert ended.output == f"0 figures are in {tmp_path / 'none'}\n"


@pytest.mark.usefixtures("here")
def test_a_page_for_the_standard_output_is_refused(run, predictions):
    ended = run("score", predictions, "--html", "-")
    assert ended.exit_code == 2
    assert "--html must name a file" in ended.stderr
    assert not ended.stdout
