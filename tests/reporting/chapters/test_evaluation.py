import json
import math

import numpy as np

from truerisk.reporting.chapters.evaluation import evaluation_chapter, evaluation_sections


def sections_of(evaluation):
    return {section.kind: section.data for section in evaluation_sections(evaluation)}


def groups_of(evaluation):
    return sections_of(evaluation)["forest"]["groups"]


def test_the_data_of_a_page_are_plain_values(evaluation):
    data = sections_of(evaluation)
    assert json.loads(json.dumps(data)) == data


def test_the_first_numbers_are_error_rate_and_f1(evaluation):
    tiles = evaluation_chapter(evaluation).tiles
    assert [(tile.title, tile.value) for tile in tiles] == [
        ("Error rate", "0.090"),
        ("F1", "0.526"),
    ]


def test_a_share_stands_on_the_whole_way_from_0_to_1(evaluation):
    tile = evaluation_chapter(evaluation).tiles[0]
    assert [mark["words"] for mark in tile.marks] == ["0", "1"]
    assert tile.strip["value"] == round(6 + 0.09 * 288, 2)


def test_the_chapter_opens_with_the_verdict(evaluation):
    chapter = evaluation_chapter(evaluation)
    assert chapter.verdict[0] == "Nine of a hundred examples are misjudged."
    assert chapter.notes[0] == "The positive class is rare."


def test_measures_are_grouped_by_what_is_good(evaluation):
    groups = {group["title"]: group for group in groups_of(evaluation)}
    titles = {title: [row["title"] for row in group["rows"]] for title, group in groups.items()}
    assert titles == {
        "Lower is better, 0 is perfect": ["Error rate"],
        "Higher is better, 1 is perfect": ["Precision", "Recall", "F1", "Specificity"],
        "1 is perfect, 0 is chance": ["Matthews correlation"],
        "On a scale of their own": ["Positive likelihood ratio"],
    }


def test_a_shared_axis_reaches_to_perfect(evaluation):
    higher = groups_of(evaluation)[1]
    assert higher["marks"][-1]["words"] == "1"
    assert groups_of(evaluation)[0]["marks"][0]["words"] == "0"


def test_the_dot_lies_on_its_line(evaluation):
    for group in groups_of(evaluation):
        for row in group["rows"]:
            if row["strip"]:
                assert row["strip"]["low"] <= row["strip"]["value"] <= row["strip"]["high"]


def test_an_undefined_measure_has_a_reason_and_no_picture(evaluation):
    row = groups_of(evaluation)[1]["rows"][-1]
    assert row["strip"] is None
    assert (row["value"], row["defined"]) == ("undefined", False)
    assert row["reason"] == "undefined: no example is negative"


def test_the_matrix_is_coloured_by_the_share_of_the_true_class(evaluation):
    matrix = sections_of(evaluation)["confusion"]
    cells = [cell for row in matrix["rows"] for cell in row["cells"]]
    # ceil(9 × share): 850/890 → 9, 40/890 → 1, 50/100 → 5
    assert [cell["heat"] for cell in cells] == [9, 1, 5, 5]
    assert [cell["right"] for cell in cells] == [True, False, False, True]
    assert matrix["sums"] == ["900", "90"]


def test_many_classes_have_mistakes_instead_of_a_matrix(make_evaluation):
    labels = tuple(f"c{at}" for at in range(31))
    counts = np.eye(31, dtype=int)
    counts[0, 1] = 1
    data = sections_of(make_evaluation(labels, counts=counts))
    assert "confusion" not in data
    assert data["table"]["rows"] == [["c0", "c1", "1", "50.0 %"]]
    assert len(data["classes"]["rows"]) == 31
    assert data["classes"]["rows"][0]["examples"] == "2"


def test_an_infinite_value_stands_on_an_axis_of_its_own(evaluation):
    row = groups_of(evaluation)[3]["rows"][0]
    assert row["value"] == "∞"
    assert row["strip"]["endless"]
    assert all(math.isfinite(mark["x"]) for mark in row["marks"])
