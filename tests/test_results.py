import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest

from truerisk.errors import InputError
from truerisk.results import Estimate, Evaluation, Interval, Resampled, as_plain

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


def test_small_numbers_keep_their_digits():
    assert str(Interval(0.0, 3.7e-9, 0.95, "wilson")) == "[0.000, 3.7e-09] at 95 %"


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
    plain = EVALUATION.as_plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["estimates"]["precision"]["value"] is None
    assert plain["estimates"]["error_rate"]["interval"]["method"] == "clopper_pearson"


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
