import io
import json
import math
from dataclasses import fields as fields_of
from dataclasses import replace

import pytest
from rich.console import Console

from truerisk.comparison.learners.model_comparisons import BayesianComparison, Probabilities
from truerisk.reporting.model_comparison import (
    COMPARISON_FORMATS,
    model_comparison_table,
    print_model_comparison,
)
from truerisk.results import Comparison, Estimate, Interval

HOSTILE = "<b>=1+1\x1b[31m"


def error(value, low, high):
    interval = Interval(low, high, 0.95, "corrected_t")
    return Estimate(value=value, interval=interval, measure="error_rate", method="refits", n=100)


@pytest.fixture
def found():
    """Give a comparison whose second learner is better."""
    return Comparison(
        names=("a", "b"),
        first=error(0.16, 0.1, 0.22),
        second=error(0.10, 0.05, 0.15),
        difference=error(-0.06, -0.11, -0.01),
        p_value=0.02,
        method="corrected_t",
        finding="better",
        verdict="b is better than a.",
        notes=("Both on the same folds.",),
    )


def test_the_table_has_a_row_for_each_learner_and_one_for_the_difference(found):
    table = model_comparison_table(found)
    assert table.title == "Learners compared (corrected_t): better"
    assert table.rows == (
        ("a", "0.160", "[0.100, 0.220]", ""),
        ("b", "0.100", "[0.050, 0.150]", ""),
        ("b − a", "-0.060", "[-0.110, -0.010]", "0.020"),
    )


@pytest.mark.parametrize(
    ("p_value", "shown"), [(None, "–"), (math.nan, "undefined"), (1e-9, "<0.0001"), (1.0, "1.000")]
)
def test_a_p_value_is_told_as_far_as_it_is_known(found, p_value, shown):
    assert model_comparison_table(replace(found, p_value=p_value)).rows[2][3] == shown


def test_the_terminal_gets_the_verdict_first_and_the_notes_last(found):
    told = io.StringIO()
    print_model_comparison(found, Console(file=told, width=80))
    text = told.getvalue()
    assert text.index("b is better") < text.index("Learners") < text.index("same folds")


def test_the_terminal_gets_the_probabilities(found):
    shares = Probabilities(better=0.9, equivalent=0.07, worse=0.03)
    told = io.StringIO()
    fields = {one.name: getattr(found, one.name) for one in fields_of(Comparison)}
    one = BayesianComparison(**fields, probabilities=shares)
    print_model_comparison(one, Console(file=told, width=80))
    assert "better 0.900" in told.getvalue()


def test_json_holds_every_number_and_csv_a_row_for_each(found):
    plain = json.loads(COMPARISON_FORMATS["json"](found, {"target": "y"}))
    assert plain["difference"]["interval"]["low"] == -0.11
    assert plain["source"] == {"target": "y"}
    lines = COMPARISON_FORMATS["csv"](found, {}).splitlines()
    assert lines[3].startswith("b,a,error_rate,,-0.06,-0.11,-0.01,0.95,corrected_t,")
    assert ",100,this model,Both on the same folds.,0.02,better," in lines[3]


def test_names_of_learners_are_never_interpreted(found):
    hostile = replace(found, names=("a", HOSTILE))
    told = io.StringIO()
    print_model_comparison(replace(hostile, verdict=HOSTILE), Console(file=told, width=80))
    assert "\x1b[31m" not in told.getvalue()
    for form in ("csv", "markdown", "latex"):
        text = COMPARISON_FORMATS[form](hostile, {})
        assert "\x1b" not in text
    assert "<b>" not in COMPARISON_FORMATS["markdown"](hostile, {})
    formula = replace(found, names=("=1+1", "b"))
    assert COMPARISON_FORMATS["csv"](formula, {}).splitlines()[1].startswith("'=1+1")
