import csv
import io
import json
import re

import pytest

HEADER = "id,y_true,y_pred,score\n"


def rows(calls):
    """Write 40 positives and 60 negatives, called right but for the given numbers of each."""
    missed, alarms = calls
    printed = []
    for at in range(100):
        truth = int(at < 40)
        wrong = at < missed if truth else at - 40 < alarms
        call = truth ^ wrong
        printed.append(f"e{at},{truth},{call},{0.5 + (call - 0.5) * (at % 7 + 1) / 8:.3f}\n")
    return printed


@pytest.fixture
def files(tmp_path):
    """Hold three models: each of the later ones is right on more of the same examples."""
    made = {}
    for name, calls in {"old": (10, 10), "new": (2, 6), "best": (0, 1)}.items():
        made[name] = tmp_path / f"{name}.csv"
        made[name].write_text(HEADER + "".join(rows(calls)))
    return made


def test_the_verdict_comes_first_and_the_table_fits_a_terminal(run, files):
    ended = run("compare", files["old"], files["new"], "--seed", "1")
    assert ended.exit_code == 0
    text = " ".join(ended.stdout.split())
    assert text.startswith("• new is better than old: its error rate is lower by 0.120")
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert re.search(
        r"Error rate +0\.200 +0\.080 +-0\.120 +\[-0\.198, -0\.070\] +0\.0002 +better", text
    )
    assert re.search(r"old +new +80 +0 +12 +8", ended.stdout)
    assert re.search(r"joined by +id", ended.stdout)


def test_json_holds_every_pair_with_its_tests(run, files):
    result = json.loads(
        run("compare", *files.values(), "--json", "--measure", "error_rate,f1").stdout
    )
    assert result["schema"] == "truerisk/comparisons/1"
    assert result["names"] == ["old", "new", "best"]
    assert len(result["pairs"]) == 6
    assert result["pairs"][0]["adjusted_p_value"] >= result["pairs"][0]["p_value"]
    assert result["omnibus"]["p_value"] < 0.05
    assert result["best"]["name"] == "best"


def test_csv_has_one_row_per_model_and_pair(run, files):
    text = run("compare", files["old"], files["new"], "--csv", "--measure", "f1").stdout
    old, _, row = csv.DictReader(io.StringIO(text))
    assert (old["measure"], old["model"], old["against"]) == ("f1", "old", "")
    assert (row["measure"], row["model"], row["against"]) == ("f1", "new", "old")
    assert float(row["value"]) == pytest.approx(2 * 38 / 84 - 2 * 30 / 80)


@pytest.mark.parametrize("form", ["--markdown", "--latex"])
def test_tables_are_written_in_other_forms(run, files, form):
    text = run("compare", files["old"], files["new"], form, "--measure", "error_rate").stdout
    assert "Error rate" in text
    assert "Right on how many examples" in text


def test_a_page_is_written_beside_the_result(run, files, tmp_path):
    page = tmp_path / "report.html"
    ended = run("compare", files["old"], files["new"], "--html", page, "--region", "0.01")
    assert f"The page is in {page}" in ended.stdout
    assert "Which model is really better?" in page.read_text()


def test_an_output_must_not_be_an_input(run, files):
    ended = run("compare", files["old"], files["new"], "--html", files["new"])
    assert ended.exit_code == 3


@pytest.mark.parametrize(
    ("order", "options", "code"),
    [
        (("old", "new"), ("--fail-unless", "better"), 0),
        (("new", "old"), ("--fail-unless", "better"), 1),
        (("old", "old"), ("--fail-unless", "better", "--name", "a", "--name", "b"), 1),
        (("old", "new"), ("--fail-unless", "not-worse", "--region", "0.02"), 0),
        (("new", "old"), ("--fail-unless", "not-worse", "--region", "0.02"), 1),
        (("new", "old"), ("--fail-unless", "not-worse", "--region", "error_rate=0.3"), 0),
        (("old", "new"), ("--fail-unless", "not-worse"), 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_check_ends_with_its_code(run, files, order, options, code):
    paths = [files[name] for name in order]
    if order[0] == order[1]:
        paths[1] = paths[0].with_name("copy.csv")
        paths[1].write_text(paths[0].read_text())
    ended = run("compare", *paths, "--measure", "error_rate", "-q", *options)
    assert ended.exit_code == code
    assert ended.stdout == ""
    assert ("Check failed" in ended.stderr) == (code == 1)


def test_columns_of_one_file_are_compared(run, tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("label,a,b\n" + "1,0,1\n" * 9 + "0,0,0\n" * 9)
    ended = run("compare", path, "--prediction", "a", "--prediction", "b", "--json")
    result = json.loads(ended.stdout)
    assert result["names"] == ["a", "b"]
    assert result["tables"][0]["only_second"] == 9


def test_files_that_do_not_match_are_refused(run, files, tmp_path):
    short = tmp_path / "short.csv"
    short.write_text("".join(files["new"].read_text().splitlines(keepends=True)[:50]))
    ended = run("compare", files["old"], short)
    assert ended.exit_code == 3
    assert "51 ids ('e49', …) are only in" in ended.stderr
    inner = run("compare", files["old"], short, "--join", "inner", "--measure", "error_rate")
    assert inner.exit_code == 0
    assert "left out: 51 of old, 0 of short" in " ".join(inner.stdout.split())


def test_a_truth_that_disagrees_is_refused(run, files, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(files["new"].read_text().replace("e3,1,", "e3,0,"))
    ended = run("compare", files["old"], other)
    assert ended.exit_code == 3
    assert "first at id 'e3': '1' in" in ended.stderr


def test_an_undefined_measure_is_a_partial_result(run, tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("y_true,a,b\n" + "0,0,0\n" * 5 + "0,0,1\n")
    ended = run("compare", path, "--prediction", "a", "--prediction", "b")
    assert ended.exit_code == 4
    assert "recall" in ended.stderr


@pytest.mark.parametrize("region", ["wide", "f1=x", "0"])
def test_a_region_must_be_a_number(run, files, region):
    ended = run("compare", files["old"], files["new"], "--region", region)
    assert ended.exit_code == 3
    assert "region" in ended.stderr


def test_a_check_needs_the_region_of_the_main_measure(run, files):
    check = ["--fail-unless", "not-worse", "--region", "f1=0.01", "--positive", "1"]
    ended = run("compare", files["old"], files["new"], *check)
    assert ended.exit_code == 3
    assert "got none of error_rate" in ended.stderr


def test_a_region_given_twice_is_refused(run, files):
    twice = ("--region", "f1=0.01", "--region", "f1=0.02")
    ended = run("compare", files["old"], files["new"], *twice)
    assert ended.exit_code == 3
    assert "must name a measure once" in ended.stderr


def test_help_shows_an_example(run):
    text = run("compare", "--help").stdout
    assert "truerisk compare old.csv new.csv" in text
    assert "--fail-unless" in text


def test_answers_without_labels_are_compared_in_tiers(run, tmp_path):
    logs = []
    for name, share in {"a": 95, "b": 93, "c": 40}.items():
        logs.append(tmp_path / f"{name}.jsonl")
        lines = [{"id": at, "m": {"ok": at < share}} for at in range(100)]
        logs[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
    ended = run("compare", *logs, "--correct", "m.ok", "--tiers", "--seed", "1")
    assert ended.exit_code == 0
    assert "The best is one of a, b, with 95 % confidence." in " ".join(ended.stdout.split())
    assert re.search(r"c +0\.400 +\[0\.303, 0\.503\] +2", ended.stdout)
