import math

from hypothesis import given
from hypothesis import strategies as st

from truerisk.reporting.document import (
    MARGIN,
    MAX_ROWS,
    STRIP,
    Axis,
    Column,
    Entry,
    Scale,
    Table,
    axis_of,
    estimate_forest,
    strip,
    table_section,
)

ends = st.floats(-1e6, 1e6)


@given(ends, ends)
def test_an_axis_holds_what_it_is_made_for(first, second):
    low, high = sorted((first, second))
    axis = Axis.around(low, high)
    slack = 1e-6 * max(1e-300, axis.high - axis.low)
    assert axis.low - slack <= low
    assert high <= axis.high + slack
    assert 2 <= len(axis.ticks) <= 7
    assert sorted(axis.ticks) == list(axis.ticks)


def test_ends_stand_at_the_ends_and_the_middle_in_the_middle():
    axis = Axis(0.0, 1.0, (0.0, 1.0))
    assert [axis.place(v) for v in (-5, 0, 0.5, 1, math.inf)] == [
        MARGIN,
        MARGIN,
        STRIP / 2,
        STRIP - MARGIN,
        STRIP - MARGIN,
    ]


def test_an_undefined_estimate_is_not_drawn(make_estimate):
    nothing = make_estimate("recall", math.nan, 0, 1)
    assert axis_of([nothing]) is None
    assert strip(nothing, Axis(0.0, 1.0, (0.0, 1.0))) is None


def test_the_axis_holds_the_best_value_too(make_estimate):
    axis = axis_of([make_estimate("recall", 0.5, 0.4, 0.6)], 1.0)
    assert (axis.low, axis.high) == (0.4, 1.0)


def test_an_endless_interval_is_marked(make_estimate):
    lone = make_estimate("positive_likelihood_ratio", math.inf, 5, math.inf)
    places = strip(lone, axis_of([lone]))
    assert places["endless"]
    assert MARGIN < places["low"] < places["high"] == STRIP - MARGIN


COLUMNS = (Column("Model\x07"), Column("n", numeric=True))


def test_what_a_table_says_is_made_visible():
    section = table_section(Table("Models\x1b", COLUMNS, (("  a\x00", "1 "),)), "Of all.")
    assert (section.kind, section.title, section.lead) == ("table", r"Models\x1b", "Of all.")
    assert section.data["columns"][0] == {"heading": r"Model\x07", "numeric": False}
    assert section.data["rows"] == [[r"a\x00", "1"]]
    assert section.data["left_out"] == 0


def test_rows_that_are_left_out_are_counted():
    rows = tuple((str(at), "1") for at in range(MAX_ROWS + 3))
    data = table_section(Table("Models", COLUMNS, rows)).data
    assert len(data["rows"]) == MAX_ROWS
    assert data["left_out"] == 3


def test_values_that_span_a_decade_get_a_log_scale():
    assert Scale.spanning("C", [0.1, 1.0]).log
    assert not Scale.spanning("C", [1.0, 2.0]).log


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
