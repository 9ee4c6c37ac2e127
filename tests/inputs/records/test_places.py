from truerisk.inputs.records.places import shown_path, such_rows


def test_a_long_path_keeps_its_end():
    shown = shown_path("folder/" * 50 + "predictions.csv")
    assert len(shown) == 80
    assert shown.startswith("…")
    assert shown.endswith("/predictions.csv")


def test_one_row_needs_no_count():
    assert such_rows(1, 10) == ""
    assert such_rows(3, 10) == " (3 such rows up to row 10)"
