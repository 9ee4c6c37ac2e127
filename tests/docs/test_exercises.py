"""The answers of docs/exercises.md and the examples worked by hand in the other pages, exactly.

The fractions are worked from the counts that the pages give; the pages quote them rounded.
"""

import csv
import json
import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from truerisk.cli import main

DOCS = Path(__file__).parents[2] / "docs"
UNDEFINED = 4  # the exit status when some measure has no value


def _run(*arguments):
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code in {0, UNDEFINED}, done.output
    return done.stdout


def _values(*arguments):
    plain = json.loads(_run("score", *arguments, "--seed", "1", "--json"))
    return {name: estimate["value"] for name, estimate in plain["estimates"].items()}


def _file(page, name, folder):
    """Write a file that a page shows."""
    text = (DOCS / page).read_text(encoding="utf-8")
    body = re.search(rf"^```csv {re.escape(name)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    path = folder / name
    path.write_text(body.group(1), encoding="utf-8")
    return str(path)


def test_exercises_1_and_2_from_the_four_counts():
    found = _values("--counts", "50,50,40,850", "--beta", "0.5", "--beta", "2")
    expected = {
        "precision": 50 / 90,
        "recall": 50 / 100,
        "specificity": 850 / 890,
        "gmean": math.sqrt(Fraction(1, 2) * Fraction(85, 89)),
        "f0.5": 62.5 / 115,
        "f1": 100 / 190,
        "f2": 250 / 490,
        "accuracy": 900 / 990,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-14)


def test_table_11_2_and_the_f1_that_the_chapter_misprints():
    found = _values("--counts", "20,50,30,900", "--beta", "0.2", "--beta", "5")
    expected = {
        "precision": 0.40,
        "recall": 20 / 70,
        "accuracy": 0.92,
        "f0.2": 20.8 / 52.8,
        "f1": 1 / 3,
        "f5": 520 / 1800,
        "specificity": 900 / 930,
        "gmean": math.sqrt(Fraction(2, 7) * Fraction(90, 93)),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-14)
    # From the chapter's own rounded figures: .232 / (.40 + .29), not .232 / .330 = .70.
    assert pytest.approx(0.336, abs=5e-4) == 2 * 0.40 * 0.29 / (0.40 + 0.29)
    changed = _values("--counts", "30,70,20,880")
    assert (changed["precision"], changed["recall"], changed["accuracy"]) == (0.6, 0.3, 0.91)


def test_exercise_3_mean_and_deviation_of_ten_folds():
    errors = ["0.14", "0.16", "0.10", "0.15", "0.18", "0.17", "0.15", "0.12", "0.13", "0.20"]
    corrected, plain = json.loads(_run("folds", *errors, "--folds", "5", "--json"))["rows"]
    assert corrected["mean"] == pytest.approx(0.15, rel=1e-14)
    assert corrected["standard_deviation"] == pytest.approx(math.sqrt(0.0078 / 9), rel=1e-12)
    # t with 9 degrees of freedom at .975 is 2.2621572 (any table of Student's t).
    half = 2.2621572 * math.sqrt(0.0078 / 9 * (1 / 10 + 1 / 4))
    assert corrected["high"] - 0.15 == pytest.approx(half, rel=1e-7)
    assert plain["interval"] == "plain_t (invalid)"


def test_thought_question_1_in_costs():
    assert _values("--counts", "50,50,40,850", "--costs", "fp=20,fn=1")["cost"] == pytest.approx(
        (40 * 20 + 50) / 990, rel=1e-14
    )
    assert _values("--counts", "50,50,40,850", "--costs", "fp=1,fn=20")["cost"] == pytest.approx(
        (40 + 50 * 20) / 990, rel=1e-14
    )


def test_thought_question_3_both_raise_precision_either_raises_recall(tmp_path):
    path = _file("exercises.md", "combined.csv", tmp_path)
    found = {
        column: tuple(_values(path, "--pred", column)[name] for name in ("precision", "recall"))
        for column in ("a", "b", "both", "either")
    }
    assert found["a"] == pytest.approx((3 / 4, 3 / 5))
    assert found["b"] == pytest.approx((5 / 8, 1))
    assert found["both"] == pytest.approx((1, 3 / 5))
    assert found["either"] == pytest.approx((5 / 9, 1))


def test_assignment_1_from_a_table_of_labels(tmp_path):
    found = _values(_file("exercises.md", "labels.csv", tmp_path), "--beta", "2")
    assert (found["precision"], found["recall"]) == (3 / 5, 3 / 4)
    assert found["f2"] == pytest.approx(15 / 21, rel=1e-14)


def _parts(folder, *options):
    path, parts = _file("exercises.md", "training.csv", folder), str(folder / "parts.csv")
    _run("split", path, "--target", "class", "--seed", "1", "--output", parts, *options)
    with (folder / "parts.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("stratified", [True, False])
def test_assignment_2_five_pairs_of_halves(tmp_path, stratified):
    flag = "--stratified" if stratified else "--no-stratified"
    rows = _parts(tmp_path, "--method", "five_by_two", flag)
    sizes = Counter((row["repetition"], row["part"]) for row in rows)
    assert sizes == {(str(r), str(p)): 5 for r in range(1, 6) for p in (1, 2)}
    if stratified:
        classes = Counter((row["repetition"], row["part"], row["label"]) for row in rows)
        assert set(classes.values()) == {2, 3}
        assert all(size == {"a": 2, "b": 3}[label] for (_, _, label), size in classes.items())


def test_assignment_3_micro_and_macro_averages(tmp_path):
    found = _values(_file("exercises.md", "topics.csv", tmp_path), "--multilabel-sep", "|")
    expected = {
        "precision_micro": 6 / 9,
        "recall_micro": 6 / 8,
        "precision_macro": 23 / 36,
        "recall_macro": 13 / 18,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-14)


def test_assignment_4_stratified_folds(tmp_path):
    rows = _parts(tmp_path, "--method", "k_fold", "--folds", "4")
    assert len(rows) == 10
    assert set(Counter(row["part"] for row in rows).values()) == {2, 3}
    assert set(Counter(row["part"] for row in rows if row["label"] == "a").values()) == {1}


def test_the_ranking_measures_worked_by_hand(tmp_path):
    scores = _file("which-threshold.md", "scores.csv", tmp_path)
    found = _values(scores)
    assert found["breakeven_point"] == 6 / 8
    eleven = (4 + 3 * Fraction(5, 6) + Fraction(3, 4) + Fraction(7, 10) + 2 * Fraction(8, 13)) / 11
    assert found["eleven_point_precision"] == pytest.approx(float(eleven), rel=1e-14)


def test_the_eleven_points_by_document_worked_by_hand(tmp_path):
    ranked = _file("text-categorization.md", "ranked.csv", tmp_path)
    found = _values(ranked, "--multilabel-sep", "|")
    first, second = (6 + 5 * Fraction(2, 3)) / 11, Fraction(1, 2)
    assert first == Fraction(28, 33)
    assert found["eleven_point_documents"] == pytest.approx(float((first + second) / 2), rel=1e-14)
