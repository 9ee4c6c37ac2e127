"""`truerisk estimate` of tables, as users call it: real files, every learner, method and format."""

import csv
import hashlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

from truerisk.cli import estimate as command
from truerisk.cli.estimate import RESAMPLING
from truerisk.estimation.refits.estimate import estimate
from truerisk.estimation.refits.interval_rules import AGREEMENT, DEFAULT, RULES
from truerisk.estimation.refits.plans import NAMED
from truerisk.estimation.svm.xi_alpha import xi_alpha
from truerisk.inputs.tables import read_table
from truerisk.learners.named_models import MODELS, find_model
from truerisk.results import as_plain

N = 100
FEW = ("--folds", "2", "--repeats", "1", "--seed", "1")
BASIC = ("--target", "y", "--positive", "yes")
TREE, SVM = ("--model", "tree"), ("--model", "linear_svm")


def examples():
    """Give a number, another one, a colour, a group of four, and a label, for each of 100 rows."""
    rng = np.random.default_rng(0)
    label = np.arange(N) % 2
    a = rng.normal(2 * label, 1).round(3)
    a[7] = 9.5
    b = rng.normal(size=N).round(3)
    colour = np.where(rng.random(N) < 0.3, "blue", np.where(label, "red", "green"))
    group = [f"p{at // 4}" for at in range(N)]
    return list(zip(a, b, colour, group, np.where(label, "yes", "no"), strict=True))


@pytest.fixture
def table(write):
    """Write a CSV file of numbers and labels."""
    rows = (f"{a},{b},{y}" for a, b, _, _, y in examples())
    return write("a,b,y\n" + "\n".join(rows) + "\n", "table.csv")


@pytest.fixture
def mixed(write):
    """Write a CSV file with a category, a group, and cells that are empty or say `?`."""
    rows = []
    for at, (a, b, colour, group, y) in enumerate(examples()):
        rows.append(f"{'?' if at % 9 == 4 else a},{b},{'' if at % 7 == 3 else colour},{group},{y}")
    return write("a,b,colour,who,y\n" + "\n".join(rows) + "\n", "mixed.csv")


def printed(ended):
    """Read the one JSON object that was printed."""
    assert ended.exit_code == 0, ended.stderr
    return json.loads(ended.stdout)


def test_it_says_what_the_library_says(run, table):
    result = printed(run("estimate", table, *BASIC, *TREE, *FEW, "--level", "0.9", "--json"))
    read = read_table(table, target="y")
    library = estimate(
        find_model("tree", read.kinds),
        read.X,
        read.y,
        pos_label="yes",
        folds=2,
        repeats=1,
        level=0.9,
        random_state=1,
    )
    assert {name: one["value"] for name, one in result["estimates"].items()} == {
        name: as_plain(one.value) for name, one in library.items()
    }
    ends = result["estimates"]["error_rate"]["interval"]
    assert (ends["low"], ends["high"], ends["level"]) == (
        library["error_rate"].interval.low,
        library["error_rate"].interval.high,
        0.9,
    )
    assert result["settings"]["model"] == result["model"] == "tree"
    assert result["source"]["files"][0]["rows"] == N
    assert result["source"]["columns"] == "2 number"


@pytest.mark.parametrize("name", [*MODELS, "svm"])
def test_every_named_model_learns_from_mixed_and_missing_columns(run, mixed, name):
    options = ("--drop", "who", "--missing-values", "?", "--model", name, *FEW)
    ended = run("estimate", mixed, *BASIC, *options, "--csv")
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    error = float(next(row["value"] for row in rows if row["measure"] == "error_rate"))
    if name == "majority":
        assert error == 0.5
        assert ended.exit_code == 4  # it calls nothing positive: precision has no value
        assert "Partial result: undefined on these examples: " in ended.stderr
    else:
        assert (ended.exit_code, ended.stderr) == (0, "")
        assert error < 0.4


def test_a_question_mark_is_a_name_until_it_is_said_to_be_missing(run, mixed):
    ended = run("estimate", mixed, *BASIC, "--drop", "who", *TREE, *FEW)
    assert ended.exit_code == 3
    assert "Use --missing-values '?' if it says that the" in ended.stderr


def test_the_page_of_results_holds_verdict_measures_costs_and_the_baseline(run, table):
    ended = run("estimate", table, *BASIC, *FEW)
    assert (ended.exit_code, ended.stderr) == (0, "")
    for words in (
        "It is right on",
        "Error rate",
        "ROC AUC",
        "Cross-validation, 2 refits",
        "Always answering the commonest class: error_rate = 0.500",
        "One training took",
        "linear_svm",
    ):
        assert words in ended.stdout


def test_rows_of_a_group_stay_together_and_are_the_unit_of_intervals(run, mixed):
    options = ("--missing-values", "?", "--group", "who", *TREE, "--folds", "5", *FEW[2:])
    result = printed(run("estimate", mixed, *BASIC, *options, "--json"))
    assert result["source"]["columns"] == "2 number, 1 category"  # the group is no feature
    refused = run("estimate", mixed, *BASIC, *options[:4], "--folds", "26")
    assert refused.exit_code == 3
    assert "`folds` must not exceed the 25 groups" in refused.stderr


SMALL = {
    "cross_validation": ("--folds", "2", "--repeats", "2"),
    "subsampling": ("--repeats", "3"),
    "bootstrap": ("--repeats", "20"),
    "stratified_bootstrap": ("--repeats", "20"),
    "nested_cross_validation": ("--folds", "3", "--repeats", "2"),
    "conservative_z": ("--repeats", "2"),
    "time_ordered": ("--folds", "3"),
}
REFITS = {
    "cross_validation": 4,
    "holdout": 1,
    "subsampling": 3,
    "five_by_two": 10,
    "leave_one_out": N,
    "bootstrap": 20,
    "stratified_bootstrap": 20,
    "training_error": 1,
}


def test_the_command_offers_every_method_and_every_rule_of_the_library():
    offered = {parameter.name: parameter for parameter in command.estimate.params}
    assert set(RESAMPLING) == set(NAMED)
    assert set(offered["interval"].type.choices) == {DEFAULT, AGREEMENT, *RULES}


@pytest.mark.parametrize("method", RESAMPLING)
def test_every_method_estimates_the_error_rate(run, table, method):
    options = ("--model", "naive_bayes", "--method", method, *SMALL.get(method, ()))
    result = printed(run("estimate", table, *BASIC, *options, "--seed", "1", "--json"))
    one = result["estimates"]["error_rate"]
    if method == "training_error":  # nothing is promised of it
        assert one["interval"] is None
    else:
        assert 0 <= one["interval"]["low"] <= one["value"] <= one["interval"]["high"] < 0.6
    assert result["method"] == result["settings"]["method"] == method
    assert result["refits"] == REFITS.get(method, result["refits"])


@pytest.mark.parametrize("rule", [DEFAULT, "agreement", "corrected_t", "central_limit", "plain_t"])
def test_every_rule_of_intervals_can_be_asked_for(run, table, rule):
    repeats = "1" if rule == "central_limit" else "2"
    options = (*TREE, "--interval", rule, "--folds", "4", "--repeats", repeats, "--seed", "1")
    result = printed(run("estimate", table, *BASIC, *options, "--json"))
    one = result["estimates"]["error_rate"]
    assert one["interval"]["low"] <= one["value"] <= one["interval"]["high"]
    assert result["settings"]["interval"] == rule
    if rule == "plain_t":
        assert "invalid" in json.dumps(result)


def test_settings_are_chosen_anew_within_every_training_part(run, table):
    options = ("--model", "knn", "--tune", *FEW, "--json")
    result = printed(run("estimate", table, *BASIC, *options))
    assert result["settings"]["tuned"] is True
    assert result["estimates"]["error_rate"]["value"] < 0.4
    refused = run("estimate", table, *BASIC, "--model", "majority", "--tune", *FEW)
    assert refused.exit_code == 3
    assert "must have settings to choose from for --tune; 'majority' has none" in refused.stderr


SEVERAL = ("--model", "majority", "--model", "tree", "--model", "naive_bayes")


def test_several_learners_are_one_json_object(run, table):
    result = printed(run("estimate", table, *BASIC, *SEVERAL, *FEW, "--json"))
    assert set(result["evaluations"]) == {"majority", "tree", "naive_bayes"}
    errors = {
        name: one["estimates"]["error_rate"]["value"] for name, one in result["evaluations"].items()
    }
    assert result["ranking"] == sorted(errors, key=errors.get)
    assert result["winner"] == result["ranking"][0]
    assert result["corrected"]["value"] - errors[result["winner"]] == pytest.approx(
        result["optimism"]
    )
    for name, one in result["evaluations"].items():
        assert one["model"] == name
        assert one["source"]["files"][0]["path"] == str(table)
        alone = printed(
            run("estimate", table, *BASIC, "--model", name, *FEW, "--json")
            if name != "majority"
            else run("estimate", table, *BASIC, *SEVERAL[:4], *FEW, "--json")
        )
        alone = alone.get("evaluations", {}).get(name, alone)
        assert alone["estimates"] == one["estimates"]  # the same divisions, whoever stands beside


@pytest.mark.parametrize("form", ["--markdown", "--latex"])
def test_several_learners_are_ranked_in_every_format(run, table, form):
    ended = run("estimate", table, *BASIC, *SEVERAL, *FEW, form)
    assert (ended.exit_code, ended.stderr) == (0, "")
    lines = [line for line in ended.stdout.splitlines() if line]
    names = ("tree", "naive", "majority", "best of 3, corrected")
    places = [next(at for at, line in enumerate(lines) if name in line) for name in names]
    assert max(places[:2]) < places[2] < places[3]


def test_several_learners_are_tidy_rows_of_csv(run, table):
    ended = run("estimate", table, *BASIC, *SEVERAL, *FEW, "--csv")
    assert (ended.exit_code, ended.stderr) == (0, "")
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    errors = {row["model"]: float(row["value"]) for row in rows if row["measure"] == "error_rate"}
    assert list(errors)[2:] == ["majority", "best, corrected"]
    *values, corrected = errors.values()
    assert values == sorted(values)
    assert corrected >= values[0]


def test_the_best_is_told_with_its_luck_taken_away(run, table):
    ended = run("estimate", table, *BASIC, *SEVERAL, "--measure", "accuracy", *FEW)
    assert ended.exit_code == 0
    assert ended.stdout.startswith("Learners, best first")
    for words in ("best of 3, corrected", "was chosen by these numbers", "Corrected: accuracy = "):
        assert words in ended.stdout
    assert "It is right on" in ended.stdout  # all of the best one follows


def test_a_page_is_written_that_holds_the_numbers(run, table, tmp_path):
    page = tmp_path / "report.html"
    ended = run("estimate", table, *BASIC, *TREE, *FEW, "--html", page)
    assert f"The page is in {page}" in ended.stdout
    shown = next(line for line in ended.stdout.splitlines() if "Error rate" in line)
    number, low, high = shown.replace("[", "").replace("]", "").replace(",", "").split()[2:5]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert number in text
    assert f"{low}, {high}" in text
    assert "Cross-validation, 2 refits" in text
    refused = run("estimate", table, *BASIC, "--html", table)
    assert refused.exit_code == 3
    assert "must not be an input" in refused.stderr


def test_the_page_and_the_pictures_of_several_learners_hold_them_all(run, table, tmp_path):
    page, folder = tmp_path / "report.html", tmp_path / "pictures"
    request = ("--html", page, "--figures", folder, "--figure-format", "png")
    ended = run("estimate", table, *BASIC, *SEVERAL, *FEW, *request)
    assert ended.exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert all(name in text for name in SEVERAL[1::2])
    assert hashlib.sha256(table.read_bytes()).hexdigest() in text
    assert {"learners.png", "best-measures.png"} <= {path.name for path in folder.iterdir()}


def test_quiet_prints_nothing_and_still_writes_the_page(run, table, tmp_path):
    page = tmp_path / "report.html"
    for models in (TREE, SEVERAL):
        ended = run("estimate", table, *BASIC, *models, *FEW, "-q", "--html", page)
        assert (ended.exit_code, ended.output) == (0, "")
        assert page.exists()
        page.unlink()


def test_a_check_that_fails_ends_in_1(run, table):
    request = ("estimate", table, *BASIC, *TREE, *FEW, "-q")
    ended = run(*request, "--fail-over", "error_rate=0.01")
    assert ended.exit_code == 1
    assert "Check failed: error_rate ≤ 0.01 is not shown: the upper end" in ended.stderr
    assert run(*request, "--fail-over", "error_rate=0.99").exit_code == 0
    assert run(*request, "--fail-under", "accuracy=0.99").exit_code == 1


def test_progress_is_silent_where_nobody_looks(run, table, monkeypatch):
    monkeypatch.setattr("truerisk.cli.progress.PATIENCE", 0.0)
    assert run("estimate", table, *BASIC, *TREE, *FEW).stderr == ""


def test_the_help_has_examples_and_every_learner(run):
    text = run("estimate", "--help").stdout
    assert "truerisk estimate data.csv --target y --model svm --model tree --jobs 2" in text
    for name in MODELS:
        assert name in text


def test_a_seed_that_is_drawn_is_told_and_can_be_used_again(run, table):
    request = ("estimate", table, *BASIC, *TREE, *FEW[:4], "--json")
    first = run(*request)
    seed = printed(first)["settings"]["random_state"]
    assert run(*request, "--seed", seed).stdout == first.stdout


def sets():
    """Name the tables of the folder that TRUERISK_DATA names."""
    folder = os.environ.get("TRUERISK_DATA")
    paths = sorted((Path(folder) / "tabular").glob("*.csv.gz")) if folder else []
    named = [path for path in paths if "raw" not in path.name]
    return [pytest.param(path, id=path.name.partition(".")[0]) for path in named]


@pytest.mark.data
@pytest.mark.skipif("TRUERISK_DATA" not in os.environ, reason="TRUERISK_DATA names no folder")
@pytest.mark.parametrize("path", sets())
def test_every_shared_set_is_estimated_in_one_command(run, path):
    learner = "naive_bayes" if path.name.startswith("covtype") else "tree"  # half a million
    options = ("--target", "target", "--model", learner, "--method", "holdout", "--seed", "1")
    ended = run("estimate", path, *options, "--json")
    result = printed(ended)
    error, always = result["estimates"]["error_rate"], result["baseline"]["error_rate"]
    assert error["interval"]["low"] <= error["value"] <= error["interval"]["high"]
    assert error["value"] < always["value"] + 0.15


def test_xi_alpha_of_a_table_is_the_bound_of_the_library(run, table):
    result = printed(run("estimate", table, *BASIC, *SVM, "--method", "xi_alpha", "--json"))
    rows = read_table(table, target="y")
    model = find_model("linear_svm", rows.kinds, examples=len(rows)).fit(rows.X, rows.y)
    expected = xi_alpha(model, rows.X, rows.y, pos_label="yes")
    assert result["estimates"] == as_plain(expected.estimates)
    assert result["estimates"]["error_rate"]["interval"]["side"] == "upper"
    text = run("estimate", table, *BASIC, *SVM, "--method", "xi_alpha", "--rho", "2").stdout
    assert "95 % bound" in text
    assert "at most" in text


def test_xi_alpha_of_a_table_is_refined_by_name(run, table):
    options = ("estimate", table, *BASIC, *SVM, "--method", "xi_alpha")
    plain, searched, spanned = (
        printed(run(*options, *more, "--json"))
        for more in ((), ("--refine", "search", "--depth", "3"), ("--refine", "span"))
    )
    assert searched["settings"]["depth"] == 3
    values = [one["estimates"]["error_rate"]["value"] for one in (plain, searched, spanned)]
    assert values == sorted(values, reverse=True)
    assert run(*options, "--depth", "3").exit_code == 3
    refused = run("estimate", table, *BASIC, *SVM, "--refine", "span")
    assert refused.exit_code == 2
    assert "--refine: for --method xi_alpha of a table" in refused.stderr


def test_xi_alpha_takes_one_svm(run, table):
    assert run("estimate", table, *BASIC, *SVM, *TREE, "--method", "xi_alpha").exit_code == 2
    assert run("estimate", table, *BASIC, *TREE, "--method", "xi_alpha").exit_code == 3
