import csv
import io
import json
import math

import numpy as np
import pytest

from truerisk.gates import GateResult
from truerisk.reporting.render.formats import (
    FORMATS,
    as_latex,
    as_markdown,
    csv_lines,
    csv_of,
    json_of,
    junit_xml,
)


@pytest.fixture
def three_classes(make_evaluation):
    return make_evaluation(("a|b", "=1+1", "c_d"), counts=((5, 1, 0), (0, 7, 2), (1, 1, 3)))


def test_there_are_four_formats():
    assert list(FORMATS) == ["json", "csv", "markdown", "latex"]


def test_json_is_one_object_that_names_its_schema_and_version(evaluation):
    result = json.loads(json_of(evaluation))
    assert result["schema"] == "truerisk/evaluation/1"
    assert result["version"].count(".") == 2
    assert result["n"] == 990
    assert result["settings"]["random_state"] == 7
    assert result["source"]["guessed"] == ["truth", "score"]


def test_json_holds_every_digit_and_undefined_is_null(evaluation):
    result = json.loads(json_of(evaluation))["estimates"]
    assert result["precision"]["value"] == 50 / 90
    assert result["specificity"]["value"] is None
    assert result["positive_likelihood_ratio"]["interval"]["high"] == "Infinity"


def test_json_holds_the_confusion_table(evaluation):
    result = json.loads(json_of(evaluation))["confusion"]
    assert result == {
        "labels": ["ham", "spam"],
        "rows_are": "truth",
        "counts": [[850, 40], [50, 50]],
    }


def test_json_of_sets_of_labels_has_no_confusion_table(make_evaluation):
    assert json.loads(json_of(make_evaluation(tallies=None)))["confusion"] is None


def test_csv_has_one_row_a_measure_then_one_a_class_and_measure(three_classes):
    rows = list(csv.DictReader(io.StringIO(csv_of(three_classes))))
    assert len(rows) == len(three_classes) + 3 * 3
    first = rows[1]
    assert (first["measure"], first["class"], first["n"]) == ("precision", "", "90")
    assert float(first["value"]) == 50 / 90
    assert (first["low"], first["high"], first["level"]) == ("0.447", "0.661", "0.95")


def test_csv_runs_no_formula_and_leaves_numbers_alone(make_evaluation, make_estimate):
    labels = ("a", "=1+1", "-2")
    estimates = {"youden": make_estimate("youden", -0.25, -0.5, 0.1)}
    text = csv_of(make_evaluation(labels, counts=np.eye(3, dtype=int), estimates=estimates))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["class"] for row in rows} == {"", "a", "'=1+1", "-2"}
    assert rows[0]["value"] == "-0.25"


def test_csv_of_an_undefined_measure_is_empty_with_the_reason(evaluation):
    row = list(csv.DictReader(io.StringIO(csv_of(evaluation))))[-1]
    assert (row["value"], row["notes"]) == ("", "undefined: no example is negative")


def test_csv_of_an_infinite_value_says_infinity(evaluation):
    rows = {row["measure"]: row for row in csv.DictReader(io.StringIO(csv_of(evaluation)))}
    assert math.isinf(float(rows["positive_likelihood_ratio"]["value"]))


def test_markdown_rows_have_as_many_cells_as_their_heading(three_classes):
    for block in as_markdown(three_classes).split("\n\n")[1::2]:
        borders = {line.replace(r"\|", "").count("|") for line in block.splitlines()}
        assert len(borders) == 1


def test_markdown_escapes_labels_and_not_numbers(three_classes):
    text = as_markdown(three_classes)
    assert r"| a\|b | 5 (83.3 %) |" in text
    assert "| Precision | 0.556 | [0.447, 0.661] |" in text


def test_latex_has_booktabs_and_balanced_braces(three_classes):
    text = as_latex(three_classes)
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 3
    bare = text.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    assert r"c\_d" in text


def test_latex_writes_infinity_and_percent_as_such(evaluation):
    text = as_latex(evaluation)
    assert r"[5.000, $\infty$]" in text
    assert r"95 \% interval" in text


def test_csv_writes_counts_as_whole_numbers():
    lines = csv_lines(["n", "settled_by", "value"], [(240.0, 559.0, 1.0), (2.5, math.nan, 0.5)])
    assert lines.splitlines()[1:] == ["240,559,1.0", "2.5,,0.5"]


def test_a_gate_without_claims_in_xml():
    lines = junit_xml([GateResult(name="spam", checks=())]).splitlines()
    assert lines[2:4] == ['<testsuite name="spam" tests="0" failures="0">', "</testsuite>"]
