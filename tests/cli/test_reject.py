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
