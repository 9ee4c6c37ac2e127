"""Commands that are one call each."""

import csv
import io
import json

import pytest

from truerisk.measures import MEASURES


def test_plan_answers_each_question(run):
    assert "takes 59 examples" in run("plan", "--upper-bound", "0.05", "--expected", "0").stdout
    assert "± 0.02" in run("plan", "--half-width", "0.02", "--expected", "0.1").stdout
    assert (
        "0.02 between two"
        in run("plan", "--difference", "0.02", "--discordant", "0.1", "--assurance", "0.8").stdout
    )
    area = ("--half-width", "0.05", "--auc", "0.8", "--prevalence", "0.3")
    assert "in 80 % of samples takes 429 examples" in run("plan", *area).stdout
    assert "takes 391 examples" in run("plan", *area, "--scores", "normal").stdout
    sure = run("plan", *area, "--assurance", "0.9").stdout
    assert "in 90 % of samples" in sure
    rate = ("--half-width", "0.05", "--expected", "0.1", "--method", "wilson")
    assert "wilson interval" in run("plan", *rate).stdout


def test_plan_tells_what_no_errors_prove(run):
    # 1 − 0.05^(1/300) = 0.009936
    assert "at most 0.009936" in run("plan", "--no-errors", "300").stdout
    # 1 − 0.01^(1/300) = 0.015234
    assert "at most 0.01523" in run("plan", "--no-errors", "300", "--level", "0.99").stdout


@pytest.mark.parametrize("arguments", [(), ("--half-width", "0.1", "--no-errors", "3")])
def test_plan_wants_one_question(run, arguments):
    assert run("plan", *arguments).exit_code == 2


def test_bounds_of_counts_stand_side_by_side(run):
    text = run("bounds", "12", "300", "--vc-dimension", "11").stdout
    for part in ("0.0400", "[0.0178, 0.0622]", "at most 0.0640", "hoeffding", "vc bound"):
        assert part in text
    rows = json.loads(run("bounds", "12", "300", "--json").stdout)["rows"]
    assert rows[1]["side"] == "upper"
    assert len(rows) == 7
    assert run("bounds", "5", "4").exit_code == 3


def test_folds_give_mean_deviation_and_both_intervals(run):
    # Mean of 0.1, 0.2, 0.3 is 0.2, the n − 1 deviation 0.1.
    result = json.loads(run("folds", "0.1", "0.2", "0.3", "--json").stdout)["rows"]
    assert [row["interval"] for row in result] == ["corrected_t", "plain_t (invalid)"]
    assert result[0]["mean"] == pytest.approx(0.2)
    assert result[0]["standard_deviation"] == pytest.approx(0.1)
    assert result[0]["low"] <= result[1]["low"]


def test_folds_warn_of_the_plain_interval(run):
    text = run("folds", "0.10", "0.12", "0.14").stdout
    assert "mean 0.1200, standard deviation 0.0200" in text
    assert "invalid" in text


def test_folds_have_a_page_that_takes_them_for_values_and_not_for_examples(run, tmp_path):
    page = tmp_path / "page.html"
    assert run("folds", "0.10", "0.12", "0.14", "--html", page).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "3 values" in text
    assert "3 examples" not in text


def test_folds_without_values_are_a_wrong_option(run):
    assert run("folds").exit_code == 2
    assert run("folds", "0.1").exit_code == 3


def test_split_writes_the_parts_and_tells_the_seed(run, tmp_path):
    data, parts = tmp_path / "data.csv", tmp_path / "parts.csv"
    data.write_text("x,label\n" + "1,a\n2,b\n" * 6)
    options = ("--target", "label", "--method", "k_fold", "--folds", "3", "--output", parts)
    first = run("split", data, *options, "--seed", "5")
    rows = list(csv.DictReader(io.StringIO(parts.read_text())))
    assert len(rows) == 12
    assert {row["part"] for row in rows} == {"1", "2", "3"}
    assert "seed 5" in first.stderr
    again = run("split", data, *options[:-2], "--seed", "5")
    assert again.stdout == parts.read_text()


def test_split_by_default_is_five_times_two(run, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,label\n" + "1,a\n2,b\n" * 6)
    rows = list(csv.DictReader(io.StringIO(run("split", data).stdout)))
    assert {(row["repetition"], row["part"]) for row in rows} == {
        (str(repetition), str(part)) for repetition in range(1, 6) for part in (1, 2)
    }


def test_measures_are_listed_from_the_registry(run):
    rows = json.loads(run("measures", "--json").stdout)["rows"]
    assert [row["name"] for row in rows] == list(MEASURES)
    text = run("measures").stdout
    assert all(name in text for name in MEASURES)


def test_one_measure_is_told_with_its_formula(run):
    text = run("measures", "f2").stdout
    assert text.startswith("F2\n")
    assert MEASURES["f_beta"].formula in text


def test_an_unknown_measure_is_refused(run):
    assert run("measures", "nonsense").exit_code == 3


def test_audit_checks_this_installation(run):
    ended = run("audit")
    assert ended.exit_code == 0
    assert "passed" in ended.stdout
    assert "FAILED" not in ended.stdout


def test_audit_of_predictions_and_of_a_model(run, tmp_path):
    rows = [f"{at % 2},{(at + at // 7) % 2},{at % 5}" for at in range(300)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["y_true,y_pred,x", *rows]), encoding="utf-8")
    drawn = ("--size", 30, "--samples", 20, "--seed", 1, "--measure", "error_rate")
    ended = run("audit", path, *drawn)
    assert ended.exit_code == 0, ended.output
    assert "at n = 30, the 95 % interval of Error rate" in " ".join(ended.stdout.split())
    ended = run(
        "audit", path, *drawn, "--target", "y_true", "--model", "tree", "--folds", 3, "--json"
    )
    assert ended.exit_code == 0, ended.output
    result = json.loads(ended.stdout)
    assert (result["subject"], result["drawn"], result["source"]["target"]) == (
        "tree",
        20,
        "y_true",
    )


def test_audit_refuses_what_it_would_ignore(run, tmp_path):
    assert "--size: for an audit of your own data" in run("audit", "--size", 30).stderr
    path = tmp_path / "data.csv"
    path.write_text("y_true,y_pred\n1,1\n", encoding="utf-8")
    assert "--folds: for tables" in run("audit", path, "--folds", 3).stderr
    assert (
        "--score: for predictions" in run("audit", path, "--model", "tree", "--score", "x").stderr
    )


def test_audit_ends_with_one_when_a_check_fails(run, monkeypatch):
    from truerisk.intervals.installation import CheckResult

    failed = CheckResult(name="x", passed=False, outcome="y")
    monkeypatch.setattr("truerisk.intervals.installation.check_installation", lambda: (failed,))
    assert run("audit").exit_code == 1
