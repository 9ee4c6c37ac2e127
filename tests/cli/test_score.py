import json
import re

import pytest

from truerisk.cli.score import read_counts
from truerisk.errors import InputError
from truerisk.evaluation import evaluate
from truerisk.intervals.binomial import binomial_interval
from truerisk.measures import MEASURES
from truerisk.measures.registry import BINOMIAL_INTERVALS, CELL_INTERVALS
from truerisk.results import as_plain


def test_the_counts_of_the_textbook_give_its_precision_and_recall(run):
    # Kubat, chapter 11, exercise 1: TP 50, FN 50, FP 40, TN 850.
    result = json.loads(run("score", "--counts", "50,50,40,850", "--json").stdout)["estimates"]
    assert result["precision"]["value"] == pytest.approx(50 / 90)
    assert result["recall"]["value"] == 0.5
    assert result["specificity"]["value"] == pytest.approx(850 / 890)
    assert result["error_rate"]["value"] == pytest.approx(90 / 990)


def test_a_file_gives_every_measure_with_its_interval(run, predictions):
    result = json.loads(run("score", predictions, "--json").stdout)
    exact = binomial_interval(5, 6, level=0.95)
    assert result["estimates"]["recall"]["value"] == pytest.approx(5 / 6)
    assert result["estimates"]["recall"]["interval"]["low"] == pytest.approx(exact.low)
    assert result["confusion"]["counts"] == [[12, 2], [1, 5]]
    assert result["source"]["guessed"] == ["truth", "pred", "score"]


def test_a_pattern_is_read_as_the_files_that_match_it(run, predictions):
    whole = json.loads(run("score", predictions, "--json").stdout)
    pattern = json.loads(run("score", predictions.parent / "pred*.csv", "--json").stdout)
    assert pattern["estimates"] == whole["estimates"]
    none = run("score", predictions.parent / "x*.csv")
    assert none.exit_code == 3
    assert "x*.csv: must match at least one file; there is none." in none.stderr


def test_tables_tell_what_was_guessed(run, predictions):
    text = run("score", predictions, "--seed", "11").stdout
    assert re.search(r"truth +column y_true \(guessed\)", text)
    assert max(map(len, text.splitlines())) <= 80


def test_a_file_and_its_columns_are_answered_alike_when_nothing_is_asked_for(run, predictions):
    rows = [row.split(",") for row in predictions.read_text().splitlines()]
    truth, predicted, score = (
        [row[rows[0].index(name)] for row in rows[1:]] for name in ("y_true", "y_pred", "score")
    )
    seed = 11
    result = json.loads(run("score", predictions, "--seed", str(seed), "--json").stdout)
    expected = evaluate(truth, predicted, y_score=list(map(float, score)), random_state=seed)
    assert result["settings"] == as_plain(expected)["settings"]
    assert result["estimates"] == as_plain(expected)["estimates"]


def test_options_reach_the_evaluation(run, predictions):
    result = json.loads(
        run(
            *("score", predictions, "--truth", "y_true", "--pred", "y_pred", "--level", "0.9"),
            *("--beta", "2", "--costs", "fp=1,fn=5", "--interval", "wilson", "--seed", "3"),
            *("--cell-interval", "percentile", "--replicates", "500", "--json"),
        ).stdout
    )
    estimates = result["estimates"]
    assert result["level"] == 0.9
    assert estimates["recall"]["interval"]["method"] == "wilson"
    assert estimates["gmean"]["interval"]["method"] == "percentile"
    # F2 = 5·TP / (5·TP + 4·FN + FP) = 25/31; cost = (2·1 + 1·5)/20
    assert estimates["f2"]["value"] == pytest.approx(25 / 31)
    assert estimates["cost"]["value"] == pytest.approx(7 / 20)
    assert result["settings"]["random_state"] == 3


def test_a_threshold_makes_predictions_of_scores(run, predictions):
    common = ("score", predictions, "--json", "--threshold", "0.3")
    path = predictions.with_name("scores.csv")
    lines = predictions.read_text().splitlines()
    path.write_text("\n".join(",".join(line.split(",")[::2]) for line in lines) + "\n")
    result = json.loads(run("score", path, *common[2:]).stdout)
    assert result["confusion"]["counts"] == [[12, 2], [0, 6]]


def test_only_the_measures_asked_for_are_printed(run, predictions):
    result = json.loads(run("score", predictions, "--measure", "f1", "--json").stdout)
    assert list(result["estimates"]) == ["f1"]


def test_measures_may_be_listed_with_commas(run, predictions):
    printed = run("score", predictions, "--measure", "f1, recall", "--json").stdout
    assert list(json.loads(printed)["estimates"]) == ["recall", "f1"]


@pytest.mark.parametrize(
    ("flag", "beginning"), [("--csv", "measure,class"), ("--markdown", "**Measures**")]
)
def test_other_formats_are_printed_instead_of_tables(run, predictions, flag, beginning):
    assert run("score", predictions, flag).stdout.startswith(beginning)


def test_a_page_is_written_beside_the_tables(run, predictions, tmp_path):
    page = tmp_path / "report.html"
    ended = run("score", predictions, "--html", page)
    assert ended.exit_code == 0
    assert ended.stdout.endswith(f"The page is in {page}\n")
    assert "predictions.csv" in page.read_text()


def test_a_page_that_cannot_be_written_is_refused_before_reading(run, tmp_path):
    broken = tmp_path / "broken.csv"
    broken.write_text("no such thing")
    ended = run("score", broken, "--html", tmp_path / "absent" / "report.html")
    assert ended.exit_code == 5
    assert "absent" in ended.stderr


def test_a_page_never_takes_the_place_of_the_predictions(run, predictions):
    before = predictions.read_text()
    assert run("score", predictions, "--html", predictions).exit_code == 3
    assert predictions.read_text() == before


def test_help_lists_every_measure_and_every_interval(run):
    text = " ".join(run("score", "--help").stdout.split())
    assert all(name in text for name in (*MEASURES, *BINOMIAL_INTERVALS, *CELL_INTERVALS))


def test_one_score_column_a_class_ranks_every_class(run, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("y_true,p_a,p_b,p_c\na,0.9,0.1,0\nb,0.4,0.5,0.1\nc,0.5,0.1,0.4\n")
    options = ("--score", "p_a", "--score", "p_b", "--score", "p_c", "--json")
    result = json.loads(run("score", path, *options).stdout)
    assert result["labels"] == ["a", "b", "c"]
    assert result["estimates"]["accuracy"]["value"] == pytest.approx(2 / 3)


def test_averages_can_be_taken_over_some_classes(run, tmp_path):
    path = tmp_path / "three.csv"
    path.write_text("y_true,y_pred\na,a\na,b\nb,b\nc,c\n")
    over = json.loads(run("score", path, "--average-over", "a", "--json").stdout)
    assert over["estimates"]["recall_macro"]["value"] == 0.5


def test_groups_weights_and_ids_are_read(run, tmp_path):
    path = tmp_path / "grouped.csv"
    rows = [
        f"{at},{at % 2},{at % 2 if at % 5 else 1 - at % 2},{at // 4},{1 + at % 3}"
        for at in range(40)
    ]
    path.write_text("\n".join(["id,y_true,y_pred,patient,weight", *rows]) + "\n")
    result = json.loads(run("score", path, "--json").stdout)
    assert result["estimates"]["error_rate"]["interval"]["method"] == "group_jackknife"
    assert set(result["source"]["guessed"]) == {"truth", "pred", "group", "weight", "id"}


def test_sets_of_labels_need_their_separator(run, tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text("y_true,y_pred\na|b,a\nb,b\na,a|b\nb,b\n")
    result = json.loads(run("score", path, "--multilabel-sep", "|", "--json").stdout)
    assert result["labels"] == ["a", "b"]
    # a: TP 2; b: TP 2, FN 1, FP 1; micro F1 = 2·4 / (2·4 + 1 + 1)
    assert result["estimates"]["f1_micro"]["value"] == pytest.approx(0.8)
    assert result["confusion"] is None
    assert run("score", path, "--multilabel-sep", "|").exit_code == 0


def test_quiet_prints_nothing(run, predictions):
    ended = run("score", predictions, "--quiet")
    assert (ended.exit_code, ended.output) == (0, "")


def test_a_check_compares_the_lower_end_of_the_interval(run, predictions):
    low = binomial_interval(5, 6, level=0.95).low
    assert run("score", predictions, "-q", "--fail-under", f"recall={low - 1e-6}").exit_code == 0
    ended = run("score", predictions, "-q", "--fail-under", f"recall={low + 1e-6}")
    assert ended.exit_code == 1
    assert f"the lower end of its 95 % interval is {low:.6f}" in ended.stderr


def test_a_check_compares_the_upper_end_where_lower_is_better(run, predictions):
    high = binomial_interval(3, 20, level=0.95).high
    passed = run("score", predictions, "-q", "--fail-over", f"error_rate={high + 1e-6}")
    failed = run("score", predictions, "-q", "--fail-over", f"error_rate={high - 1e-6}")
    assert (passed.exit_code, failed.exit_code) == (0, 1)
    assert f"the upper end of its 95 % interval is {high:.6f}" in failed.stderr


def test_every_failed_check_is_named(run, predictions):
    ended = run("score", predictions, "--fail-under", "f1=0.99", "--fail-under", "recall=0.99")
    assert ended.stderr.count("Check failed: ") == 2
    assert "Measures" in ended.stdout


def test_an_undefined_measure_fails_its_check(run, one_class):
    ended = run("score", one_class, "--fail-under", "recall=0")
    assert ended.exit_code == 1
    assert "undefined on these examples" in ended.stderr


def test_an_undefined_measure_makes_the_result_partial(run, one_class):
    ended = run("score", one_class)
    assert ended.exit_code == 4
    assert "Error rate" in ended.stdout
    assert re.search(r"Recall +undefined", ended.stdout)
    assert "Partial result" in ended.stderr
    assert "recall" in ended.stderr


def test_what_is_defined_and_asked_for_is_no_partial_result(run, one_class):
    assert run("score", one_class, "--measure", "error_rate").exit_code == 0


def test_a_check_of_an_unknown_measure_is_refused(run, predictions):
    ended = run("score", predictions, "--fail-under", "nonsense=0.5")
    assert ended.exit_code == 3
    assert "nonsense" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("text", ["f1", "f1=", "f1=high"])
def test_a_check_without_a_number_is_a_wrong_option(run, predictions, text):
    ended = run("score", predictions, "--fail-under", text)
    assert ended.exit_code == 2
    assert "is not of the form f1=0.9" in ended.stderr


def test_files_or_counts_must_be_given_and_not_both(run, predictions):
    assert run("score").exit_code == 2
    assert run("score", predictions, "--counts", "1,2,3,4").exit_code == 2


@pytest.mark.parametrize("option", ["--threshold=0.5", "--probabilities", "--weight=w", "--strip"])
def test_an_option_of_files_is_refused_with_counts(run, option):
    ended = run("score", "--counts", "1,2,3,4", option)
    assert ended.exit_code == 2
    assert f"{option.split('=')[0]}: for files of predictions, not for --counts." in ended.stderr


def test_a_level_of_95_is_refused_with_the_remedy(run, predictions):
    ended = run("score", predictions, "--level", "95")
    assert ended.exit_code == 3
    assert "Write 0.95 for 95 %." in ended.stderr


@pytest.mark.parametrize("text", ["", "1,2,3", "1,2,3,x", "1,2,3,-4", "1.5,2,3,4"])
def test_counts_are_four_whole_numbers(text):
    with pytest.raises(InputError, match="`--counts` must be four whole numbers"):
        read_counts(text)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("--fail-under recall=80", "from 0 to 1; got 80. Write 0.8 for 80 %."),
        ("--fail-over error_rate=-0.1", "`--fail-over` must be a value that error_rate can have"),
        ("--fail-under matthews_correlation=1.5", "from -1 to 1; got 1.5."),
        ("--fail-under f1_macro=nan", "got nan."),
        ("--fail-under positive_likelihood_ratio=-1", "from 0 to inf; got -1."),
    ],
)
def test_a_check_that_no_value_can_meet_is_refused_before_reading(run, tmp_path, check, message):
    (tmp_path / "broken.csv").write_text("no such thing")
    ended = run("score", tmp_path / "broken.csv", *check.split())
    assert ended.exit_code == 3
    assert message in ended.stderr


def test_a_measure_that_cannot_be_computed_says_why(run, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("y_true,y_pred\n" + "1,1\n0,0\n0,1\n" * 5)
    ended = run("score", path, "--measure", "roc_auc")
    assert ended.exit_code == 4
    assert "roc_auc is undefined: there are no scores." in ended.stderr


def test_averages_of_two_classes_are_there_when_named(run, predictions):
    ended = run("score", predictions, "--measure", "f1_macro", "--json")
    assert ended.exit_code == 0
    # F1 of 1 is 10/13, of 0 it is 24/27.
    value = json.loads(ended.stdout)["estimates"]["f1_macro"]["value"]
    assert value == pytest.approx((10 / 13 + 24 / 27) / 2)


def test_piped_output_keeps_to_columns(run, predictions, monkeypatch):
    def width():
        return max(map(len, run("score", predictions, "--seed", "1").stdout.splitlines()))

    monkeypatch.setenv("COLUMNS", "60")
    assert width() <= 60
    monkeypatch.setenv("COLUMNS", "132")
    assert 80 < width() <= 132
    monkeypatch.setenv("COLUMNS", "none")
    assert width() <= 80


def test_scores_of_answers_have_a_stated_range(run, tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text("mark\n" + "7\n9\n" * 20)
    ended = run("score", path, "--value", "mark", "--range", "1", "10", "--json")
    assert json.loads(ended.stdout)["estimates"]["mean_value"]["value"] == 8
    assert run("score", path, "--correct", "mark", "--range", "1", "10").exit_code == 2
