import json

import numpy as np
import pytest


def test_the_best_threshold_by_f1_is_found(run, predictions):
    # Scores ≥ 0.6: 5 of 6 positives, 2 false; ≥ 0.9: F1 = 10/11; ≥ 0.4: F1 = 12/14.
    result = json.loads(run("threshold", predictions, "--best", "f1", "--json").stdout)
    assert result["best"]["at"] == 0.9
    assert result["best"]["value"] == pytest.approx(10 / 11)
    assert [result["best"][name] for name in ("tp", "fp", "fn", "tn")] == [5, 0, 1, 14]


def test_costs_move_the_threshold(run, predictions):
    result = json.loads(
        run("threshold", predictions, "--best", "cost", "--costs", "fp=1,fn=5", "--json").stdout
    )
    # At 0.9 one miss costs 5; at 0.4 two false alarms cost 2.
    assert (result["best"]["at"], result["best"]["value"]) == (0.4, 2 / 20)


def test_costs_alone_are_enough_to_choose_by_cost(run, predictions):
    alone = run("threshold", predictions, "--costs", "fp=1,fn=5", "--json").stdout
    assert json.loads(alone)["best"]["at"] == 0.4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--best", "gmean", "--costs", "fp=1,fn=5"), "`--costs` must go with --best cost"),
        (("--best", "gmean", "--beta", "2"), "`--beta` must go with --best f1"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused(run, predictions, arguments, message):
    ended = run("threshold", predictions, *arguments)
    assert ended.exit_code == 3
    assert message in ended.stderr


def test_beta_moves_the_threshold_towards_recall(run, predictions):
    result = json.loads(run("threshold", predictions, "--beta", "3", "--json").stdout)
    assert result["best"]["at"] == 0.4


def test_the_sentence_names_threshold_counts_and_breakeven(run, predictions):
    text = run("threshold", predictions).stdout
    assert "Best threshold by F1: 0.9 (F1 0.909)" in text
    assert "  Recall 0.833 [0.272, 0.999]" in text
    assert "0.83 [0.36, 1.00]" in text  # of the row: a threshold that was fixed before
    assert "tp 5, fp 0, fn 1, tn 14" in text
    assert "Breakeven point:" in text
    assert "chosen on these examples" in text
    assert "score: score (guessed)" in text


def test_the_sweep_has_as_many_rows_as_asked_for(run, predictions):
    lines = run("threshold", predictions, "--sweep", "3", "--csv").stdout.splitlines()
    assert lines[0].startswith("threshold,tp,fp,fn,tn,precision,precision_low,precision_high,rec")
    assert len(lines) == 4
    assert lines[1].startswith("Infinity,0,0,6,14,,0.0,1.0,0.0,0.0,0.459")


def test_cost_without_costs_is_refused(run, predictions):
    ended = run("threshold", predictions, "--best", "cost")
    assert ended.exit_code == 3
    assert "`--costs` must give the costs by outcome" in ended.stderr


def test_a_file_without_scores_is_refused(run, one_class):
    ended = run("threshold", one_class)
    assert ended.exit_code == 3
    assert "--score" in ended.stderr


def test_without_a_positive_example_nothing_is_best(run, tmp_path):
    path = tmp_path / "negatives.csv"
    path.write_text("y_true,score\n0,0.1\n0,0.2\n")
    ended = run("threshold", path, "--best", "gmean")
    assert ended.exit_code == 4
    assert "undefined" in ended.stdout


def test_of_several_score_columns_that_of_the_positive_label_is_taken(run, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("y_true,prob_a,prob_b,prob_c\na,0.8,0.1,0.1\nb,0.1,0.8,0.1\n")
    ended = run("threshold", path)
    assert ended.exit_code == 3
    assert "`pos_label` must be given: the labels are 'a', 'b', 'c'" in ended.stderr
    chosen = run("threshold", path, "--positive", "a", "--json")
    assert json.loads(chosen.stdout)["best"]["at"] == 0.8
    named = run("threshold", path, "--positive", "a", "--score", "prob_a", "--json")
    assert json.loads(named.stdout)["best"] == json.loads(chosen.stdout)["best"]


def test_of_the_score_columns_of_two_classes_that_of_the_positive_label_is_taken(run, tmp_path):
    both, one = tmp_path / "both.csv", tmp_path / "one.csv"
    both.write_text("y_true,prob_a,prob_b\na,0.9,0.1\nb,0.2,0.8\na,0.4,0.6\n")
    one.write_text("y_true,score\na,0.9\nb,0.2\na,0.4\n")
    rows = [run("threshold", path, "--positive", "a", "--csv").stdout for path in (both, one)]
    assert rows[0] == rows[1]


@pytest.fixture
def many(tmp_path):
    """Hold 60 positives with scores 0 … 59 and 40 negatives below."""
    path = tmp_path / "many.csv"
    rows = [f"1,{score},a,1" for score in range(60)] + [f"0,{-score},b,2" for score in range(1, 41)]
    path.write_text("\n".join(["y_true,score,batch,mass", *rows]) + "\n")
    return path


def test_a_guarantee_worked_by_hand(run, many):
    # 1 of 60 positives may be missed: tests/intervals/test_chosen_thresholds.py
    result = json.loads(run("threshold", many, "--guarantee", "recall=0.9", "--json").stdout)
    (one,) = result["best"]["guarantees"]
    assert (one["measure"], one["bound"], one["level"]) == ("recall", 0.9, 0.95)
    assert (one["lowest"], one["highest"]) == (-40, 1)
    text = run("threshold", many, "--guarantee", "recall=0.9").stdout
    assert "Guaranteed with 95 % confidence: recall of at least 0.9, at thresholds up to 1." in text
    assert "The naive choice, by these examples alone, is 0: it calls 60.0 % positive" in text


def test_several_guarantees_hold_together(run, many):
    text = run(
        "threshold", many, "--guarantee", "recall=0.8", "--guarantee", "precision=0.8"
    ).stdout
    assert text.count("Guaranteed with 97.5 % confidence") == 2
    assert "Best threshold by F1 among the guaranteed: 0 " in text


def test_what_cannot_be_guaranteed_ends_with_4_and_says_what_is_missing(run, predictions):
    ended = run("threshold", predictions, "--guarantee", "recall=0.95")
    assert ended.exit_code == 4
    assert "That takes 59 positives or more; here are 6." in ended.stdout
    assert "No threshold is guaranteed." in ended.stdout
    assert "no threshold is guaranteed" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--guarantee", "recall"), 2, "not of the form"),
        (("--guarantee", "f1=0.9"), 3, "`guarantee` must be one of recall"),
        (("--guarantee", "recall=0.9", "--group", "batch"), 3, "Keep one row of each group"),
        (("--guarantee", "recall=0.9", "--weight", "mass"), 3, "Leave the weights out"),
    ],
)
def test_a_guarantee_that_cannot_be_meant_is_refused(run, many, arguments, code, message):
    ended = run("threshold", many, *arguments)
    assert ended.exit_code == code
    assert message in ended.stderr


def test_rows_in_groups_have_no_intervals(run, many):
    text = run("threshold", many, "--group", "batch").stdout
    assert "Weighted or grouped rows: no intervals." in text
    assert "[" not in text


def test_the_rows_have_the_cost_where_it_is_minimized(run, predictions):
    text = run("threshold", predictions, "--costs", "fp=1,fn=5").stdout
    assert "recall             cost" in text
    rows = json.loads(run("threshold", predictions, "--costs", "fp=1,fn=5", "--json").stdout)
    assert rows["rows"][0]["cost"] == 6 * 5 / 20


@pytest.fixture
def rare(tmp_path):
    """Hold 40 positives among 4,000, that score higher on the whole."""
    rng = np.random.default_rng(3)
    positive = np.arange(4000) < 40
    chance = 1 / (1 + np.exp(10 - 3 * (rng.normal(size=4000) + 3 * positive)))
    rows = [f"{int(label)},{p:.6f}" for label, p in zip(positive, chance, strict=True)]
    path = tmp_path / "rare.csv"
    path.write_text("\n".join(["y_true,score", *rows]) + "\n")
    return path


def test_the_cost_is_a_column_with_intervals(run, rare):
    text = run("threshold", rare, "--best", "cost", "--costs", "fp=1,fn=5").stdout
    assert "0.05 [0.04, 0.07]" in text  # nothing is called positive: 5 · 40 / 4000
    lines = run("threshold", rare, "--costs", "fp=1,fn=5", "--csv").stdout.splitlines()
    assert lines[0].endswith("f1_high,cost,cost_low,cost_high")


def test_the_rows_of_a_rare_class_tell_small_values_apart(run, rare):
    text = run("threshold", rare).stdout
    assert "0.010 [0.007," in text  # 40 of 4000
    assert "0.01 [0.01, 0.01]" not in text


def test_rejections_are_as_rare_as_errors(run, rare, predictions):
    rates = [row["rejected"] for row in json.loads(run("reject", rare, "--json").stdout)["rows"]]
    assert sum(0 < rate < 0.0099 for rate in rates) >= 2
    rows = json.loads(run("reject", predictions, "--json").stdout)["rows"]
    assert [row["errors"] for row in rows].count(0) <= 1


def test_the_least_rejection_for_a_wanted_error_is_found(run, predictions):
    # Evidence |2p − 1|: 0.8 (right, 17 rows), 0.2 (wrong: one 0.4, two 0.6).
    result = json.loads(run("reject", predictions, "--want-error", "0.01", "--json").stdout)
    assert result["for_error"]["rejection_rate"] == pytest.approx(3 / 20)
    assert result["for_error"]["error_rate"] == 0
    assert result["rows"][0]["error_rate"] == pytest.approx(3 / 20)


def test_the_most_rejection_that_is_allowed_is_used(run, predictions):
    result = json.loads(run("reject", predictions, "--want-rejection", "0.1", "--json").stdout)
    assert result["for_rejection"]["rejection_rate"] == 0


def test_the_answer_is_a_sentence(run, predictions):
    text = run("reject", predictions, "--want-error", "0.01").stdout
    assert "That rejects 15.0 %; of the 17 answers 0 are wrong" in text


def test_an_error_that_cannot_be_reached_rejects_everything(run, tmp_path):
    path = tmp_path / "wrong.csv"
    path.write_text("y_true,score\n1,0.1\n0,0.9\n")
    assert "everything must be rejected" in run("reject", path, "--want-error", "0.1").stdout


def test_several_classes_are_rejected_by_best_minus_second(run, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("y_true,prob_a,prob_b,prob_c\na,0.9,0.1,0\nb,0.4,0.5,0.1\nc,0.5,0.1,0.4\n")
    result = json.loads(run("reject", path, "--want-error", "0", "--json").stdout)
    assert result["for_error"]["accepted"] == 1


def test_decision_values_need_a_threshold(run, tmp_path):
    path = tmp_path / "svm.csv"
    path.write_text("y_true,decision\n1,2.5\n0,-1.5\n1,-0.5\n")
    assert run("reject", path).exit_code == 3
    assert run("reject", path, "--threshold", "0", "--want-error", "0").exit_code == 0


@pytest.fixture
def right(tmp_path):
    """Hold 160 right answers with different evidence."""
    path = tmp_path / "right.csv"
    rows = [f"1,{0.9 + at / 2000},a" for at in range(160)]
    path.write_text("\n".join(["y_true,score,batch", "0,0.01,b", *rows]) + "\n")
    return path


def test_an_error_is_guaranteed(run, right):
    result = json.loads(run("reject", right, "--guarantee", "error=0.02", "--json").stdout)
    assert result["guaranteed"]["point"]["accepted"] == 161
    text = run("reject", right, "--guarantee", "error=0.02").stdout
    assert "Guaranteed with 95 % confidence: an error rate of at most 0.02, if you answer" in text
    assert "0.0000 [0.0000, 0.0227]" in text  # 1 − .025^(1/161)


def test_an_error_that_cannot_be_guaranteed_ends_with_4(run, predictions):
    ended = run("reject", predictions, "--guarantee", "error=0.02")
    assert ended.exit_code == 4
    assert "Not guaranteed: an error rate of at most 0.02. No threshold shows that" in ended.stdout


def test_the_error_of_a_rejection_has_an_interval(run, predictions):
    text = run("reject", predictions, "--want-error", "0.01").stdout
    assert "(0.0000; 95 %: 0.0000 to 0.1951)" in text  # 0 of 17: 1 − .025^(1/17)
    assert "0.1500 [0.0321, 0.3789]" in text


def test_a_guarantee_for_rows_in_groups_is_refused(run, right):
    ended = run("reject", right, "--guarantee", "error=0.02", "--group", "batch")
    assert ended.exit_code == 3
    assert "Keep one row of each group" in ended.stderr
    assert "[" not in run("reject", right, "--group", "batch").stdout
