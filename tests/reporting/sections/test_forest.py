import math

from truerisk.reporting.document import Entry
from truerisk.reporting.sections.forest import estimate_forest


def test_all_rows_share_one_axis_that_holds_the_best_value(make_estimate):
    entries = [
        Entry("a", make_estimate("error_rate", 0.1, 0.05, 0.2)),
        Entry("b", make_estimate("error_rate", 0.3, 0.2, 0.4), "as it is"),
    ]
    forest = estimate_forest("Learners", "Learner", entries)
    (group,) = forest.data["groups"]
    assert group["marks"][0]["words"] == "0"
    first, second = (row["strip"] for row in group["rows"])
    assert first["high"] == second["low"]  # both are 0.2
    assert group["rows"][1]["summary"] == "as it is"


def test_higher_is_better_holds_one(make_estimate):
    forest = estimate_forest("F1", "Of", [Entry("a", make_estimate("f1", 0.3, 0.2, 0.4))])
    assert forest.data["groups"][0]["marks"][-1]["words"] == "1"


def test_an_undefined_estimate_has_its_reason_in_place_of_a_picture(make_estimate):
    undefined = make_estimate("f1", math.nan, 0, 1, notes=("undefined: no positive",))
    (row,) = estimate_forest("F1", "Of", [Entry("<a>", undefined)]).data["groups"][0]["rows"]
    assert (row["strip"], row["reason"]) == (None, "undefined: no positive")
    assert not row["defined"]
