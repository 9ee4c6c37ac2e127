import json

import pytest


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
