"""Values and labels handed over as arrays: refused as those of files are, or told."""

import math

import numpy as np
import pytest

import truerisk as tr
from truerisk.errors import InputError

nan, inf = math.nan, math.inf
LABELS = ([0, 1, 1, 0], [0, 1, 0, 0])
ARRAYS = [
    ("NaN score", LABELS, {"y_score": [0.1, nan, 0.3, nan]},
     "`y_score` must be numbers; 2 are NaN, the first at index 1. Drop these examples first."),
    ("infinite score", LABELS, {"y_score": [0.1, inf, 0.3, -inf]},
     "`y_score` must be finite; 2 are infinite, the first at index 1. Use allow_inf=True"),
    ("text as scores", LABELS, {"y_score": ["0.1"] * 4}, "`y_score` must be numbers, n of them"),
    ("NaN label", ([0, nan, 1], [0, 1, 1]), {},
     "`y_true` must have a label everywhere; 1 is NaN or infinite, at index 1."),
    ("None as label", (["a", None], ["a", "b"]), {},
     "`y_true` must have a label everywhere; 1 is missing, at index 1."),
    ("NaN among texts", (["a", nan, "b"], ["a", "a", "b"]), {},
     "`y_true` must have a label everywhere; 1 is missing, at index 1."),
    ("empty label", (["a", "b", "a"], ["a", "", ""]), {},
     "`y_pred` must have a label everywhere; 2 are empty, the first at index 1. Drop these"),
    ("'1' and 1 in one list", (["1", 1, "0"], ["1", "1", "0"]), {},
     "`y_true` must hold labels of one type; got int, str."),
    ("'1' against 1", ([1, 0], ["1", "0"]), {},
     "labels of one type; `y_true` holds [0, 1]; `y_pred` holds ['0', '1']. Convert one of them"),
    ("'True' against True", ([True, False], ["True", "False"]), {},
     "`y_true` holds [False, True]; `y_pred` holds ['False', 'True']."),
    ("scores as labels", ([0, 1], [0.2, 0.9]), {},
     "`y_pred` must hold labels; got 0.2. Hand scores to `y_score`."),
    ("scores as true labels", ([0.2, 0.9], [0, 1]), {},
     "`y_true` must hold labels; got 0.2. Numbers with a fraction are measurements"),
    ("which string is positive", (["spam", "ham"], ["spam", "spam"]), {},
     "`pos_label` must be given: the labels are 'ham', 'spam'"),
    ("probabilities outside [0, 1]", LABELS,
     {"y_score": [1.5, -2, 0.5, 0.5], "probabilities": True},
     "2 of 4 do not, and their range is [-2, 1.5]."),
    ("negative weights", LABELS, {"sample_weight": [1, -1, 1, -2]},
     "must be finite and not negative; got -1 (2 are wrong, the first at index 1)."),
    ("NaN weight", LABELS, {"sample_weight": [1, nan, 1, 1]}, "got nan (1 is wrong, at index 1)."),
    ("infinite weight", LABELS, {"sample_weight": [1, inf, 1, 1]}, "got inf (1 is wrong, at"),
    ("weights that are all 0", LABELS, {"sample_weight": [0, 0, 0, 0]},
     "`sample_weight` must not be 0 for every example."),
    ("text as weights", LABELS, {"sample_weight": ["a"] * 4},
     "`sample_weight` must be one number for each example; got <U1 of shape (4,)."),
    ("a masked label", (np.ma.masked_array([0, 1, 1, 0], mask=[0, 0, 1, 0]), LABELS[1]), {},
     "`y_true` must have a value everywhere; 1 is masked, at index 2. Drop these examples"),
    ("a generator", ((label for label in LABELS[0]), LABELS[1]), {},
     "`y_true` must have a length; got <generator"),
    ("NaN in a table of scores", LABELS, {"y_score": [[0.5, 0.5], [0.1, nan]] * 2},
     "`y_score` must be numbers; 2 are NaN, the first at index (1, 1)."),
    ("over 10 000 classes", (range(10_001), range(10_001)), {}, "at most 10000 classes; got 10001"),
    ("NaN group", LABELS, {"groups": [1.0, nan, nan, 2.0]},
     "`groups` must have a value for every example; 2 are missing, the first at index 1."),
    ("None as group", LABELS, {"groups": ["a", None, "b", "b"]},
     "`groups` must have a value for every example; 1 is missing, at index 1."),
]  # fmt: skip


@pytest.mark.parametrize(("slack", "dtype"), [(1e-3, np.float32), (1e-6, np.float64)])
def test_probabilities_may_miss_1_by_their_rounding(slack, dtype):
    def log_loss(off):
        table = np.array([[0.5 + off, 0.2, 0.3], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], dtype)
        return tr.evaluate([0, 1, 2], y_score=table, probabilities=True)["log_loss"]

    assert log_loss(0.8 * slack).is_defined
    with pytest.raises(InputError, match="must add up to 1"):
        log_loss(1.2 * slack)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [pytest.param(*rest, id=fault) for fault, *rest in ARRAYS],
)
def test_an_array_is_refused_as_the_table_says(arguments, options, message):
    with pytest.raises(InputError) as refused:
        tr.evaluate(*arguments, **options)
    assert message in str(refused.value)


def test_infinite_scores_in_memory_rank_when_allowed():
    result = tr.evaluate([1, 0, 0, 1], y_score=[inf, -inf, 0.2, 0.1], allow_inf=True)
    assert result["roc_auc"].value == 0.75


def test_booleans_in_memory_have_true_as_positive():
    result = tr.evaluate([True, False, False], [True, True, False])
    assert (result.pos_label, result.settings["pos_label"]) == ("True", "True")
    assert result["precision"].value == 0.5


@pytest.mark.parametrize(
    ("truth", "predicted", "note"),
    [
        (["b", "b ", "a"], ["b ", "b", "a"], "'b' and 'b ' differ only in white space"),
        (["a|b", "a", "c|a"], ["a|b", "a", "a"], "67% of the distinct labels contain '|'"),
        (["a", "a", "b"], ["a", "c", "b"], "Predicted but never true: 'c'; left out of macro"),
        (["a", "c", "b"], ["a", "a", "b"], "True but never predicted: 'c'."),
        (range(1001), range(1001), "1001 distinct labels"),
    ],
)
def test_what_looks_like_a_slip_in_labels_is_told(truth, predicted, note):
    result = tr.evaluate(truth, predicted, measures=("accuracy",))
    assert any(note in said for said in result.notes)


def test_sets_of_labels_may_hold_any_character():
    result = tr.evaluate([{"a|b"}, {"c|d"}], [{"a|b"}, {"c|d"}], multilabel=True)
    assert result.notes == ()


def test_a_long_list_of_labels_is_cut():
    called = [str(at) for at in range(12)]
    notes = tr.evaluate(["x", *["0"] * 11], called).notes
    (note,) = [said for said in notes if "never true" in said]
    assert note.endswith("'8' and 1 more; left out of macro averages.")


def test_an_undefined_measure_in_memory_is_nan_with_the_whole_range_and_its_reason():
    result = tr.evaluate([1, 1, 0, 0, 0], [0, 0, 0, 0, 0])["precision"]
    assert math.isnan(result.value)
    assert (result.interval.low, result.interval.high, result.n) == (0, 1, 0)
    assert result.notes == ("undefined: no example is called positive",)
