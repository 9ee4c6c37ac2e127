"""`truerisk perturb`: what it prints, what a feature adds, and what it refuses."""

import csv
import hashlib
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from truerisk import LinearSVM, perturbation
from truerisk.cli import main

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
Y = np.where(X[:, 0] + 0.4 * RNG.normal(size=N) > 0, "sick", "well")
FEW = ["--replicates", "100", "--seed", "3"]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{a:.17g},{b:.17g},{label}" for (a, b), label in zip(X, Y, strict=True)]
    path.write_text("\n".join(["a,b,label", *rows]))
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["perturb", *map(str, arguments), *FEW])


def test_the_figures_are_those_of_the_library(data) -> None:
    printed = json.loads(run(data, "--json").stdout)
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scaled = make_pipeline(StandardScaler(), LinearSVM())
    outcome = perturbation(scaled, X, Y, replicates=100, random_state=3)
    assert printed["value"] == outcome.value
    assert printed["interval"]["low"] == pytest.approx(outcome.interval.low, abs=0.02)
    assert printed["seed"] == 3
    assert printed["file"]["sha256"]
    assert {row["rule"] for row in printed["rows"]} >= {
        "exact binomial",
        "perturbation: percentile",
    }


def test_a_person_sees_the_error_and_every_form(data) -> None:
    shown = run(data).stdout
    assert "error_rate = " in shown
    assert "perturbation: effective size" in shown
    assert "this model" in shown


def test_a_page_and_pictures_are_written(data, tmp_path) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "pictures"
    shown = run(data, "--html", page, "--figures", folder).stdout
    assert shown.endswith(f"The page is in {page}\n2 figures are in {folder}\n")
    text = page.read_text(encoding="utf-8")
    assert "How often is this model wrong?" in text
    assert hashlib.sha256(data.read_bytes()).hexdigest() in text
    assert ">seed<" in text
    assert sorted(path.name for path in folder.iterdir()) == ["intervals.svg", "weightings.svg"]


def test_what_a_feature_adds_has_a_page(data, tmp_path) -> None:
    page = tmp_path / "page.html"
    assert run(data, "--without", "b", "--html", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "Is all columns better than without b?" in text
    assert hashlib.sha256(data.read_bytes()).hexdigest() in text


def test_csv_has_a_row_for_each_rule(data) -> None:
    rows = list(csv.DictReader(io.StringIO(run(data, "--csv").stdout)))
    assert rows[0]["rule"] == "exact binomial"
    assert len(rows) == 4


def test_rivals_stand_beside(data) -> None:
    printed = json.loads(run(data, "--json", "--rivals").stdout)
    names = {row["rule"] for row in printed["rows"]}
    assert {"agreement", "vc bound", "adaptive", "splitting"} <= names


def test_what_a_feature_adds_is_told(data) -> None:
    printed = json.loads(run(data, "--without", "a", "--json").stdout)
    assert printed["names"] == ["without a", "all columns"]
    assert printed["finding"] == "better"
    none = json.loads(run(data, "--without", "b", "--json").stdout)
    assert none["finding"] == "no evidence"
    assert "Learners compared" in run(data, "--without", "b").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "knn"], "`model` must take sample_weight"),
        (["--without", "c"], "c"),
        (["--without", "a", "--without", "b"], "At least one column must be left"),
        (["--target", "nowhere"], "nowhere"),
    ],
    ids=["no weights", "an unknown column", "no column left", "an unknown target"],
)
def test_what_cannot_be_done_ends_with_3(data, arguments, words) -> None:
    result = run(data, *arguments)
    assert result.exit_code == 3
    assert words in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--without", "a", "--rivals"], "--rivals: not with --without"),
        (["--region", "0.1"], "--region: needs --without"),
        (["--rivals", "--group", "b"], "--rivals: not with --group"),
    ],
    ids=["rivals of two", "region of one", "rivals of groups"],
)
def test_options_that_would_be_left_out_are_refused(data, options, words) -> None:
    ended = run(data, *options)
    assert ended.exit_code == 2
    assert words in ended.stderr
