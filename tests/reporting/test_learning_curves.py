"""Learning curves as tables, CSV and JSON: nothing left out, nothing interpreted."""

import csv
import io
import json

import pytest
from rich.console import Console

from truerisk.reporting.learning_curves import (
    cost_words,
    curve_csv,
    curve_json,
    curve_sentences,
    curve_tables,
    print_curve,
)

HOSTILE = "<script>alert(1)</script> $x_1$ =1+1"


def _printed(curve, wanted=None):
    file = io.StringIO()
    print_curve(curve, Console(file=file, width=100, markup=False, highlight=False), wanted)
    return file.getvalue()


def test_the_terminal_shows_values_costs_growth_budget_and_settings(curve):
    text = _printed(curve, wanted=0.1)
    for part in (
        "Error rate on examples held out",
        "95 % interval",
        "Cross-validated",
        "What it costs",
        "n to the power of",
        "The best for a budget of CPU time",
        "on twice as many",
        "error_rate 0.1",
        "has a better mean than",
        "the learner at each sample size",
        "seed",
    ):
        assert part in text, part


def test_what_failed_is_told(failed):
    sentences = list(curve_sentences(failed, wanted=0.2))
    assert "Failing: what 0.2 takes cannot be said; too few sizes have a value." in sentences
    assert any("Failed: Failing on 40 examples, repeat 1: RuntimeError" in s for s in sentences)
    assert "undefined" in _printed(failed)


def test_a_table_has_a_row_for_each_learner_and_size(curve):
    values, costs, growth, budget = curve_tables(curve)
    assert len(values.rows) == len(costs.rows) == 8
    assert len(growth.rows) == 2
    assert budget.rows
    assert {len(row) for row in values.rows} == {len(values.columns)}


def test_the_csv_has_every_number_in_full_and_no_formula(curve):
    rows = list(csv.DictReader(io.StringIO(curve_csv(curve))))
    assert len(rows) == 8
    point = curve[HOSTILE].points[2]
    assert float(rows[6]["value"]) == point.mean
    assert float(rows[6]["high"]) == point.interval.high
    assert float(rows[6]["cpu_seconds"]) == point.cpu_seconds
    assert rows[6]["learner"] == HOSTILE


def test_an_undefined_value_is_an_empty_cell(failed):
    rows = list(csv.DictReader(io.StringIO(curve_csv(failed))))
    assert (rows[2]["value"], rows[2]["low"]) == ("", "")
    assert "repeat 1 failed" in rows[2]["notes"]


def test_the_json_holds_all_and_what_is_wanted(curve, failed):
    plain = json.loads(curve_json(curve, 0.05))
    assert plain["schema"] == "truerisk/learning_curve/1"
    assert plain["curves"]["baseline"]["points"][0]["size"] == 8
    assert set(plain["needed"]) == {HOSTILE, "baseline"}
    assert "needed" not in json.loads(curve_json(curve))
    assert json.loads(curve_json(failed, 0.2))["needed"] == {"Failing": None}


@pytest.mark.parametrize(
    ("cost", "value", "words"),
    [
        ("memory", 999.0, "999 B"),
        ("memory", 1500.0, "1.5 kB"),
        ("memory", 0.0, "0 B"),
        ("seconds_to_induce", 0.0, "0 µs"),
        ("seconds_to_induce", 2e-5, "20 µs"),
        ("seconds_to_induce", 0.5, "500 ms"),
        ("seconds_to_induce", 12.34, "12.3 s"),
        ("seconds_to_induce", 12345.0, "12,345 s"),
        ("seconds_to_induce", float("nan"), "–"),
    ],
)
def test_costs_are_written_with_a_unit_that_fits(cost, value, words):
    assert cost_words(cost, value) == words
