import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from truerisk.errors import InputError, ResourceError
from truerisk.results import (
    Comparison,
    Estimate,
    Evaluation,
    Finding,
    Interval,
    Resampled,
    as_plain,
    frame_of,
)

INTERVAL = Interval(0.127, 0.292, 0.95, "clopper_pearson")
ERROR = Estimate(value=0.2, interval=INTERVAL, measure="error_rate", method="holdout", n=100)
UNDEFINED = Estimate(
    value=math.nan,
    interval=Interval(0.0, 1.0, 0.95, "undefined"),
    measure="precision",
    method="holdout",
    n=0,
    notes=("undefined: no example is called positive",),
)
EVALUATION = Evaluation(
    estimates={"error_rate": ERROR, "precision": UNDEFINED},
    n=100,
    level=0.95,
    labels=("0", "1"),
    pos_label="1",
)


def test_an_interval_turned_round_is_refused():
    with pytest.raises(InputError, match=r"`low` must not exceed `high`; got \[0.3, 0.2\]"):
        Interval(0.3, 0.2, 0.95, "wilson")


def test_an_interval_of_nan_is_refused():
    with pytest.raises(InputError, match="must not exceed"):
        Interval(math.nan, 1.0, 0.95, "wilson")


def test_an_interval_covers_its_ends():
    assert INTERVAL.covers(0.127)
    assert INTERVAL.covers(0.292)
    assert not INTERVAL.covers(0.293)
    assert INTERVAL.width == pytest.approx(0.165)


def test_the_level_is_printed_as_it_was_given():
    assert str(Interval(0.0, 1.0, 0.999, "wilson")).endswith("at 99.9 %")


def test_a_bound_names_its_side_and_is_no_pair_of_ends():
    upper = Interval(0.0, 0.25, 0.9, "xi_alpha_upper", "upper")
    lower = Interval(0.75, 1.0, 0.9, "xi_alpha_lower", "lower")
    assert str(upper) == "at most 0.250 with 90 % confidence"
    assert str(lower) == "at least 0.750 with 90 % confidence"
    assert upper.words(str) == "at most 0.25"
    assert "= 0.200, at most 0.250" in str(
        Estimate(value=0.2, interval=upper, measure="error_rate", method="xi_alpha", n=9)
    )


def test_small_numbers_keep_their_digits():
    assert str(Interval(0.0, 3.7e-9, 0.95, "wilson")) == "[0.000, 3.70e-09] at 95 %"


def test_results_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ERROR.value = 0.1
    with pytest.raises(TypeError):
        EVALUATION.estimates["error_rate"] = UNDEFINED


def test_an_evaluation_is_a_mapping_in_order():
    assert list(EVALUATION) == ["error_rate", "precision"]
    assert EVALUATION["error_rate"] is ERROR
    assert EVALUATION.undefined == ("precision",)


def test_plain_values_survive_json():
    plain = EVALUATION.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["estimates"]["precision"]["value"] is None
    assert plain["estimates"]["error_rate"]["interval"]["method"] == "clopper_pearson"


def test_plain_values_name_their_schema_and_the_codes_of_findings():
    verdict = (Finding("Sure.", code="better_than_constant"), "In words only.")
    plain = dataclasses.replace(EVALUATION, verdict=verdict).to_dict()
    assert plain["schema"] == "truerisk/evaluation/1"
    assert plain["verdict"] == ["Sure.", "In words only."]
    assert plain["verdict_codes"] == ["better_than_constant", None]


def test_a_repr_is_one_line():
    assert repr(ERROR) == f"<Estimate: {ERROR}>"
    assert repr(EVALUATION) == f"<Evaluation: 2 measures of 100 examples, {ERROR}>"


def test_an_estimate_is_a_number():
    assert float(ERROR) == 0.2
    assert math.isnan(float(UNDEFINED))


def test_a_missing_measure_names_the_nearest_ones():
    with pytest.raises(KeyError, match="Did you mean precision"):
        EVALUATION["precison"]
    with pytest.raises(KeyError, match="There are: error_rate, precision"):
        EVALUATION["xxxxxxxx"]
    assert EVALUATION.get("f1") is None
    assert "f1" not in EVALUATION


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_tidy_table_has_one_row_per_estimate(kind):
    by_class = {"a": {"recall": dataclasses.replace(ERROR, measure="recall")}}
    table = dataclasses.replace(EVALUATION, by_class=by_class).to_frame(kind)
    columns = table.column_names if kind == "arrow" else list(table.columns)
    assert columns == [
        "measure", "class", "value", "low", "high", "level", "interval", "measured", "method", "n",
        "target", "notes",
    ]  # fmt: skip
    column = {name: list(table[name]) for name in columns}
    if kind == "arrow":
        column = table.to_pydict()
    assert column["measure"] == ["error_rate", "precision", "recall"]
    assert column["class"] == ["", "", "a"]
    assert column["low"] == [0.127, 0.0, 0.127]
    assert math.isnan(column["value"][1])
    assert column["notes"][1] == "undefined: no example is called positive"


def test_a_table_is_of_pandas_where_it_is_installed_and_of_arrow_always(monkeypatch):
    assert isinstance(ERROR.to_frame(), pd.DataFrame)
    monkeypatch.setattr("truerisk.results.find_spec", lambda name: name == "pyarrow" or None)
    assert isinstance(ERROR.to_frame(), pa.Table)
    with pytest.raises(ResourceError, match="The package polars is not installed"):
        ERROR.to_frame("polars")
    with pytest.raises(InputError, match="`kind` must be one of pandas, polars, arrow; got 'csv'"):
        frame_of([], "csv")


def test_metrics_are_flat_and_leave_out_what_is_undefined():
    by_class = {"a": {"recall": dataclasses.replace(ERROR, measure="recall")}}
    metrics = dataclasses.replace(EVALUATION, by_class=by_class).to_metrics()
    assert metrics == {
        "error_rate": 0.2,
        "error_rate_low": 0.127,
        "error_rate_high": 0.292,
        "precision_low": 0.0,
        "precision_high": 1.0,
        "a/recall": 0.2,
        "a/recall_low": 0.127,
        "a/recall_high": 0.292,
    }


def test_a_comparison_has_rows_of_both_models_and_of_their_difference():
    found = Comparison(
        names=("a", "b"),
        first=ERROR,
        second=ERROR,
        difference=dataclasses.replace(ERROR, value=0.25),
        p_value=0.016,
        method="mcnemar_mid_p",
        finding="better",
        verdict="b is better.",
    )
    metrics = found.to_metrics()
    assert (metrics["a/error_rate"], metrics["b/error_rate_low"]) == (0.2, 0.127)
    assert (metrics["b/a/error_rate"], metrics["b/a/error_rate_p_value"]) == (0.25, 0.016)
    first, second, difference = found.to_rows()
    assert list(first) == list(second) == list(difference)
    assert (difference["finding"], difference["method"]) == ("better", "mcnemar_mid_p")
    assert (first["finding"], math.isnan(difference["region"])) == ("", True)


def test_arrays_and_infinities_become_plain():
    assert as_plain({"a": np.array([1.0, np.nan, -np.inf])}) == {"a": [1.0, None, "-Infinity"]}
    assert as_plain((np.int64(3),)) == [3]


def test_undefined_is_said_in_words():
    assert str(UNDEFINED).startswith("precision = undefined [0.000, 1.000]")


def test_a_notebook_shows_escaped_html():
    hostile = dataclasses.replace(ERROR, measure="<script>")
    assert "<script>" not in hostile._repr_html_()
    assert "&lt;script&gt;" in hostile._repr_html_()
    assert "<strong>How good is this classifier?</strong>" in EVALUATION._repr_html_()


def test_the_standard_deviation_of_replicates_by_hand():
    # 1, 2, 4: mean 7/3, squares 16/9 + 1/9 + 25/9 = 42/9, over n − 1 = 2
    resampled = Resampled(
        value=7 / 3, interval=None, measure="x", method="folds", n=3, replicates=(1.0, 2.0, 4.0)
    )
    assert resampled.standard_deviation == pytest.approx(math.sqrt(21 / 9))
    assert str(resampled) == "x = 2.333 (n = 3, this model)"


def sent(one):
    return pickle.loads(pickle.dumps(one))  # noqa: S301  (made a line above)


@pytest.mark.parametrize("remake", [copy.copy, copy.deepcopy, sent])
def test_results_can_be_copied_and_sent(remake):
    for one in (ERROR, EVALUATION):
        made = remake(one)
        assert as_plain(made) == as_plain(one)
        assert type(made) is type(one)
    with pytest.raises(TypeError):
        remake(EVALUATION).estimates["error_rate"] = ERROR
