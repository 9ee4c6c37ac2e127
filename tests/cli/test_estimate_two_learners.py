"""`truerisk estimate --against`, as users call it."""

import csv
import hashlib
import io
import json

import numpy as np
import pytest

from truerisk.cli.estimate import TESTS
from truerisk.comparison.learners.compare_models import CHOICES, DEFAULT, compare_models
from truerisk.inputs.tables import read_table
from truerisk.learners.named_models import find_model
from truerisk.results import as_plain

BASIC = ("--target", "y", "--positive", "yes", "--seed", "1")
PAIR = ("--model", "tree", "--against", "naive_bayes")
FEW = ("--folds", "3", "--repeats", "1")


@pytest.fixture
def table(write):
    """Write 60 examples of two classes that overlap, in groups of two."""
    rng = np.random.default_rng(0)
    y = np.arange(60) // 2 % 2
    a, b = rng.normal(y, 1).round(3), rng.normal(size=60).round(3)
    rows = (
        f"{one},{two},p{at // 2},{'yes' if label else 'no'}"
        for at, (one, two, label) in enumerate(zip(a, b, y, strict=True))
    )
    return write("a,b,who,y\n" + "\n".join(rows) + "\n", "table.csv")


def test_the_choices_are_those_of_the_library():
    assert sorted(TESTS) == sorted(CHOICES)
    assert TESTS[0] == DEFAULT


def test_it_says_what_the_library_says(run, table):
    ended = run(
        "estimate", table, *BASIC, *PAIR, *FEW, "--drop", "who", "--region", "0.05", "--json"
    )
    assert ended.exit_code == 0, ended.stderr
    result = json.loads(ended.stdout)
    read = read_table(table, target="y", drop=["who"])
    library = compare_models(
        find_model("tree", read.kinds),
        find_model("naive_bayes", read.kinds),
        read.X,
        read.y,
        names=("tree", "naive_bayes"),
        region=0.05,
        pos_label="yes",
        folds=3,
        repeats=1,
        random_state=1,
    )
    plain = as_plain(library)
    assert {name: result[name] for name in plain if name != "notes"} == {
        name: plain[name] for name in plain if name != "notes"
    }
    assert result["source"]["file"]["rows"] == 60


def test_the_verdict_comes_first_then_the_table(run, table):
    ended = run("estimate", table, *BASIC, *PAIR, *FEW, "--group", "who")
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout.startswith("• ")
    assert ended.stdout.index("naive_bayes") < ended.stdout.index("Learners compared")
    assert "naive_bayes − tree" in ended.stdout
    assert "seed 1" in ended.stdout


def test_probabilities_are_printed(run, table):
    ended = run("estimate", table, *BASIC, *PAIR, *FEW, "--test", "bayesian", "--region", "0.02")
    assert "Probability that naive_bayes is: better" in " ".join(ended.stdout.split())


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_every_format_holds_the_difference(run, table, form):
    ended = run("estimate", table, *BASIC, *PAIR, *FEW, "--measure", "f1", f"--{form}")
    assert ended.exit_code == 0, ended.stderr
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(ended.stdout)))
        assert [row["model"] for row in rows] == ["tree", "naive_bayes", "naive_bayes"]
        assert [row["against"] for row in rows] == ["", "", "tree"]
        difference = float(rows[1]["value"]) - float(rows[0]["value"])
        assert float(rows[2]["value"]) == pytest.approx(difference)
        assert rows[2]["measure"] == "f1"
    else:
        assert "− tree" in ended.stdout


def test_a_learner_against_itself_is_no_better(run, table):
    ended = run("estimate", table, *BASIC, "--model", "tree", "--against", "tree", *FEW, "--json")
    result = json.loads(ended.stdout)
    assert (result["p_value"], result["finding"]) == (1.0, "no evidence")
    assert result["names"] == ["tree (1)", "tree (2)"]


def test_linear_svm_is_the_first_unless_told(run, table):
    ended = run("estimate", table, *BASIC, "--against", "majority", *FEW, "--not-stratified",
                "--allow-small-classes", "--json")  # fmt: skip
    assert json.loads(ended.stdout)["names"] == ["linear_svm", "majority"]


def test_a_page_and_a_picture_of_the_difference_are_written(run, table, tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "pictures"
    ended = run("estimate", table, *BASIC, *PAIR, *FEW, "--html", page, "--figures", folder)
    assert ended.stdout.endswith(f"The page is in {page}\n1 figure is in {folder}\n")
    text = page.read_text(encoding="utf-8")
    assert "Is naive_bayes better than tree?" in text
    assert hashlib.sha256(table.read_bytes()).hexdigest() in text
    assert ">seed<" in text
    assert [path.name for path in folder.iterdir()] == ["difference.svg"]


def test_an_undefined_difference_is_a_partial_result(run, table):
    ended = run(
        "estimate", table, *BASIC, "--model", "tree", "--against", "majority", *FEW,
        "--measure", "precision", "-q",
    )  # fmt: skip
    assert ended.exit_code == 4
    assert "undefined" in ended.stderr
    assert not ended.stdout


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("--model", "svm", "--against", "knn", "--model", "tree"), 2, "--model: once"),
        ((*PAIR, "--method", "bootstrap"), 2, "compared by --test"),
        ((*PAIR, "--html", "no/such/page.html"), 5, "The folder of the output must exist"),
        (("--model", "tree", "--region", "0.1"), 2, "by --against"),
        (("--model", "tree", "--test", "agreement"), 2, "by --against"),
        ((*PAIR, "--test", "anova"), 2, "is not one of"),
        ((*PAIR, "--measure", "rightness"), 3, "rightness"),
        ((*PAIR, "--region", "-1"), 3, "`region` must lie in"),
        (("--model", "tree", "--against", "oak"), 3, "oak"),
        ((*PAIR, "--test", "five_by_two_f", "--folds", "3"), 3, "`folds` must be left out"),
        ((*PAIR, "--test", "agreement", "--measure", "f1"), 3, "error_rate or accuracy"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_meant_is_refused(run, table, options, status, message):
    ended = run("estimate", table, *BASIC, *options)
    assert ended.exit_code == status
    assert message in ended.stderr


def test_machines_are_compared_by_perturbation(run, table):
    machines = ("--model", "linear_svm", "--against", "rbf_svm", "--test", "perturbation")
    ended = run("estimate", table, *BASIC, *machines, "--folds", "3", "--group", "who", "--json")
    assert ended.exit_code == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["method"] == "perturbation"
    assert any("seed 1" in note for note in result["notes"])
