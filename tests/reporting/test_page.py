import json
import math

import numpy as np

from truerisk.reporting.page import page_data


def test_the_data_of_a_page_are_plain_values(evaluation_with_curves):
    assert json.loads(json.dumps(page_data(evaluation_with_curves)))["level"] == "95 %"


def test_the_first_numbers_are_error_rate_and_f1(evaluation):
    assert [tile["title"] for tile in page_data(evaluation)["headlines"]] == ["Error rate", "F1"]


def test_measures_are_grouped_by_what_is_good(evaluation):
    groups = {group["title"]: group for group in page_data(evaluation)["groups"]}
    titles = {title: [row["title"] for row in group["rows"]] for title, group in groups.items()}
    assert titles == {
        "Lower is better, 0 is perfect": ["Error rate"],
        "Higher is better, 1 is perfect": ["Precision", "Recall", "F1", "Specificity"],
        "1 is perfect, 0 is chance": ["Matthews correlation"],
        "On a scale of their own": ["Positive likelihood ratio"],
    }


def test_a_shared_axis_reaches_to_perfect(evaluation):
    higher = page_data(evaluation)["groups"][1]
    assert higher["marks"][-1]["words"] == "1"
    assert page_data(evaluation)["groups"][0]["marks"][0]["words"] == "0"


def test_the_dot_lies_on_its_line(evaluation):
    for group in page_data(evaluation)["groups"]:
        for row in group["rows"]:
            if row["strip"]:
                assert row["strip"]["low"] <= row["strip"]["value"] <= row["strip"]["high"]


def test_an_undefined_measure_has_a_reason_and_no_picture(evaluation):
    row = page_data(evaluation)["groups"][1]["rows"][-1]
    assert row["strip"] is None
    assert (row["value"], row["defined"]) == ("undefined", False)
    assert row["reason"] == "undefined: no example is negative"


def test_the_matrix_is_coloured_by_the_share_of_the_true_class(evaluation):
    matrix = page_data(evaluation)["confusion"]
    cells = [cell for row in matrix["rows"] for cell in row["cells"]]
    # ceil(9 × share): 850/890 → 9, 40/890 → 1, 50/100 → 5
    assert [cell["heat"] for cell in cells] == [9, 1, 5, 5]
    assert [cell["right"] for cell in cells] == [True, False, False, True]
    assert matrix["sums"] == ["900", "90"]


def test_many_classes_have_mistakes_instead_of_a_matrix(make_evaluation):
    labels = tuple(f"c{at}" for at in range(31))
    counts = np.eye(31, dtype=int)
    counts[0, 1] = 1
    data = page_data(make_evaluation(labels, counts=counts))
    assert data["confusion"] is None
    assert data["mistakes"]["rows"] == [["c0", "c1", "1", "50.0 %"]]
    assert len(data["classes"]["rows"]) == 31


def test_curves_become_paths(evaluation_with_curves):
    roc, precision_recall = page_data(evaluation_with_curves)["curves"]
    assert (roc["area"], precision_recall["area"]) == ("0.667", "0.750")
    assert roc["chance"]
    assert not precision_recall["chance"]
    assert roc["path"].startswith("M0 240")
    assert precision_recall["path"].startswith("M0 0")
    assert precision_recall["path"].endswith("L240 120")


def test_an_infinite_value_stands_on_an_axis_of_its_own(evaluation):
    row = page_data(evaluation)["groups"][3]["rows"][0]
    assert row["value"] == "∞"
    assert row["strip"]["endless"]
    assert all(math.isfinite(mark["x"]) for mark in row["marks"])
