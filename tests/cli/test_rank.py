"""`truerisk rank`: from a file of scores to a verdict, a picture and an exit code."""

import hashlib
import json

import pytest
from click.testing import CliRunner

from truerisk.cli import main

SCORES = """dataset,old,new,other
a,0.80,0.85,0.81
b,0.70,0.76,0.70
c,0.60,0.66,0.61
d,0.90,0.93,0.88
e,0.75,0.79,0.74
f,0.65,0.72,0.66
g,0.85,0.87,0.86
"""


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES, encoding="utf-8")
    return path


def _run(*arguments):
    return CliRunner().invoke(main, ["rank", *map(str, arguments)])


def test_it_says_who_is_better(scores):
    done = _run(scores)
    assert done.exit_code == 0, done.output
    assert "new has the best average rank, 1.00 of 3." in done.stdout
    assert "new is better than other, old (Wilcoxon, Holm)." in done.stdout


def test_lower_may_be_better_and_a_control_be_named(scores):
    done = _run(scores, "--lower-is-better", "--control", "new", "--region", "0.01", "--json")
    plain = json.loads(done.stdout)
    assert [pair["finding"] for pair in plain["pairs"]] == ["better", "better"]
    assert [pair["names"][0] for pair in plain["pairs"]] == ["new", "new"]
    assert (plain["region"], plain["higher_is_better"]) == (0.01, False)


def test_picture_and_page_are_written(scores, tmp_path):
    picture, page = tmp_path / "ranks.svg", tmp_path / "ranks.html"
    done = _run(scores, "--plot", picture, "--html", page)
    assert done.exit_code == 0, done.output
    assert "The picture is in" in done.stdout
    assert "<svg" in picture.read_text(encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert hashlib.sha256(scores.read_bytes()).hexdigest() in text
    assert "The picture" not in _run(scores, "--plot", picture, "--csv").stdout


def test_folds_bring_the_hierarchical_model(tmp_path):
    path = tmp_path / "folds.csv"
    rows = [
        f"{name},{0.8 + 0.01 * fold},{0.81 + 0.012 * fold}" for name in "xyz" for fold in (0, 1)
    ]
    path.write_text("\n".join(["dataset,a,b", *rows]) + "\n", encoding="utf-8")
    done = _run(path, "--test-share", "0.5", "--markdown")
    assert done.exit_code == 0, done.output
    assert "hierarchical" in done.stdout
    refused = _run(path)
    assert refused.exit_code == 3
    assert "If they are folds, say --test-share." in refused.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--control", "newer"), 3, "`control` must be one of old, new, other"),
        (("--plot", "ranks.png"), 3, "`--plot` must name a file that ends in .svg"),
        (("--level", "95"), 3, "Write 0.95 for 95 %"),
        (("--dataset", "x"), 3, "must have the column 'x'"),
        (("--html", "no/such/folder.html"), 5, "The folder of the output must exist"),
        (("--seed", "-1"), 2, "-1 is not in the range"),
    ],
)
def test_what_cannot_be_done_is_refused(scores, options, code, message):
    done = _run(scores, *options)
    assert done.exit_code == code
    assert message in done.stderr
