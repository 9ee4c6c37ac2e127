"""Values and labels as they come in practice: refused in words, or answered and told.

`FILES` is the table: the fault, how one meets it in a file through `truerisk score`, and what is
expected.  Numbers are worked by hand beside their row; every interval must hold its value and be
more than a point.
"""

import json
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from truerisk.cli import main

RESULT, REFUSED, PARTIAL = 0, 3, 4

PREDICTED, SCORED = "y_true,y_pred\n", "y_true,score\n"
BOTH, WEIGHTED = "y_true,y_pred,score\n", "y_true,y_pred,weight\n"
THREE_SCORES = "y_true,p_a,p_b,p_c\n"
OF_THREE = ("--score", "p_a", "--score", "p_b", "--score", "p_c", "--probabilities")

TWO_GAPS = SCORED + "1,0.9\n0,nan\n0,\n1,0.3\n0,0.5\n"
INFINITE = SCORED + "1,inf\n0,-inf\n0,0.2\n1,0.1\n"
SPACED = PREDICTED + "b,b \na,a\nb,b\nb,b\n"
SPAM = PREDICTED + "spam,spam\nspam,ham\nham,ham\nham,spam\nham,ham\n"
REVERSED = SCORED + "".join(f"1,{at}\n0,{100 + at}\n" for at in range(30))
ONE_CLASS = BOTH + "0,0,0.2\n" * 5 + "0,1,0.8\n"
NONE_CALLED = PREDICTED + "1,0\n" * 2 + "0,0\n" * 3
UNKNOWN_CALL = PREDICTED + "a,a\na,c\nb,b\nb,b\n"
NEVER_CALLED = PREDICTED + "a,a\nc,a\nb,b\nb,b\n"
CONSTANT = SCORED + "1,0.5\n" * 4 + "0,0.5\n" * 6
UNBOUNDED = SCORED + "1,1.5\n0,-2\n0,0.5\n"
SHORT_SUM = THREE_SCORES + "a,0.5,0.2,0.2\nb,0.1,0.8,0.1\nc,0.1,0.1,0.8\n"
IMPOSSIBLE = SCORED + "1,0\n0,0.5\n1,0.5\n0,1\n"
SEPARATED = PREDICTED + "a|b,a|b\na,a\nc|a,a|b\n"
PATIENTS = "y_true,y_pred,patient\n" + "".join(f"{at // 4 % 2},1,{at // 4}\n" for at in range(40))
REPEATED = "id,y_true,y_pred\nx,1,1\ny,0,0\nx,1,1\n"


class Row(NamedTuple):
    """A fault in a file, the options it is met with, and what is expected of `truerisk score`.

    `says` are parts of what is told; `holds` gives places in the JSON and what stands there.
    """

    fault: str
    file: str
    options: tuple[str, ...]
    ends: int
    says: tuple[str, ...] = ()
    holds: dict[str, Any] = {}  # noqa: RUF012  (never changed)


def distinct_labels(count):
    return PREDICTED + "".join(f"{at},{at}\n" for at in range(count))


FILES = [
    Row(
        "NaN score", TWO_GAPS, (), REFUSED,
        ("predictions.csv, line 3: 'score' must have a value in every row; got none in the line",
         "'0,nan' (2 such rows up to row 5). Use --missing drop"),
    ),
    Row(  # left: 0.9 and 0.3 positive, 0.5 negative, so one pair of two is right
        "NaN score, dropped", TWO_GAPS, ("--missing", "drop"), RESULT,
        ("2 of 5 rows dropped for a missing value (score 2).",),
        {"n": 3, "estimates.roc_auc.value": 0.5, "source.files.0.dropped": 2},
    ),
    Row(
        "infinite score", INFINITE, (), REFUSED,
        ("line 2: 'score' must be finite; got an infinite score (2 such rows up to row 4).",
         "Use --allow-inf"),
    ),
    Row(  # ∞ outranks both negatives, 0.1 only −∞: three pairs of four
        "infinite score, allowed as rank", INFINITE, ("--allow-inf",), RESULT, (),
        {"estimates.roc_auc.value": 0.75},
    ),
    Row(
        "infinite score, but as a probability", INFINITE, ("--allow-inf", "--probabilities"),
        REFUSED, ("must lie in [0, 1]; 2 of 4 do not, and their range is [-inf, inf]",),
    ),
    Row(
        "empty label", PREDICTED + "a,a\n,b\nb,b\n", (), REFUSED,
        ("line 3: 'y_true' must have a value in every row; got none in the line ',b'",),
    ),
    Row(
        "labels that other tools read as missing",
        PREDICTED + "NA,NA\nNone,NA\nnull,null\nnan,nan\n", (), RESULT, (),
        {"labels": ["NA", "None", "nan", "null"], "estimates.accuracy.value": 0.75},
    ),
    Row(
        "white space around a label", SPACED, (), RESULT,
        ("the labels 'b' and 'b ' differ only in white space", "--strip makes them one",
         "Predicted but never true: 'b '"),
        {"labels": ["a", "b", "b "], "estimates.accuracy.value": 0.75},
    ),
    Row(
        "white space, stripped", SPACED, ("--strip", "--positive", "b"), RESULT, (),
        {"labels": ["a", "b"], "estimates.accuracy.value": 1.0, "notes": []},
    ),
    Row(
        "01 beside 1", PREDICTED + "01,1\n1,1\n01,01\n1,1\n", ("--positive", "1"), RESULT, (),
        {"labels": ["01", "1"], "estimates.accuracy.value": 0.75},
    ),
    Row(
        "1e3 beside 1000", PREDICTED + "1e3,1000\n1000,1000\n1e3,1e3\n1000,1000\n",
        ("--positive", "1000"), RESULT, (),
        {"labels": ["1000", "1e3"], "estimates.accuracy.value": 0.75},
    ),
    *(
        Row(  # of two called positive one is
            f"booleans written {yes}",
            PREDICTED + f"{yes},{yes}\n{no},{yes}\n{no},{no}\n", (), RESULT, (),
            {"pos_label": yes, "settings.pos_label": yes, "estimates.precision.value": 0.5},
        )
        for no, yes in [("False", "True"), ("false", "true"), ("FALSE", "TRUE")]
    ),
    Row(
        "-1 and 1", PREDICTED + "-1,-1\n1,1\n1,-1\n", (), RESULT, (),
        {"pos_label": "1", "estimates.recall.value": 0.5},
    ),
    Row(
        "which string is positive", SPAM, (), REFUSED,
        ("`pos_label` must be given: the labels are 'ham', 'spam'", "Use --positive"),
    ),
    Row(
        "which string is scored", SCORED + "spam,0.9\nham,0.2\n", (), REFUSED,
        ("`pos_label` must be given: the labels are 'ham', 'spam'",),
    ),
    Row(  # ham comes first in the alphabet, and is positive all the same: found 2 of 3
        "positive string told", SPAM, ("--positive", "ham"), RESULT, (),
        {"pos_label": "ham", "estimates.recall.value": 2 / 3},
    ),
    Row(
        "positive string misspelt", SPAM, ("--positive", "eggs"), REFUSED,
        ("`pos_label` must be one of the labels 'ham', 'spam'; got 'eggs'.",),
    ),
    Row(
        "scores of the other class", REVERSED, (), RESULT,
        ("The AUC of 0.000 is below chance: the scores may belong to the other class.",),
        {"estimates.roc_auc.value": 0.0},
    ),
    Row(  # 0.4 outranks 0.3, the other three pairs are wrong
        "AUC below ½, perhaps by chance", SCORED + "1,0.2\n0,0.3\n1,0.4\n0,0.5\n", (), RESULT,
        ("Not sure: the AUC of 0.250 is below chance, but its interval contains ½;",
         "the scores may belong to the other class."),
        {"estimates.roc_auc.value": 0.25},
    ),
    Row(  # 5 of 6 negatives are called negative
        "one class only", ONE_CLASS, (), PARTIAL,
        ("Partial result: undefined on these examples:",
         "Undefined, because the examples are all of one class: roc_auc, ks."),
        {
            "estimates.roc_auc.value": None,
            "estimates.recall.value": None,
            "estimates.recall.notes": ["undefined: no example is positive"],
            "estimates.matthews_correlation.value": None,
            "estimates.specificity.value": 5 / 6,
            "estimates.error_rate.value": 1 / 6,
        },
    ),
    Row(
        "one class only, but what was asked for exists", ONE_CLASS, ("--measure", "error_rate"),
        RESULT, (), {"estimates.error_rate.value": 1 / 6},
    ),
    Row(
        "one class, a string, the other one named", PREDICTED + "ham,ham\n" * 5,
        ("--positive", "spam"), PARTIAL, (),
        {"pos_label": "spam", "estimates.recall.value": None, "estimates.accuracy.value": 1.0},
    ),
    Row(
        "nothing called positive", NONE_CALLED, (), PARTIAL,
        ("Undefined, because no example is called positive: precision.",),
        {
            "estimates.precision.value": None,
            "estimates.precision.interval.low": 0.0,
            "estimates.precision.interval.high": 1.0,
            "estimates.precision.notes": ["undefined: no example is called positive"],
            "estimates.recall.value": 0.0,
        },
    ),
    Row(
        "nothing called positive, a number wanted", NONE_CALLED, ("--zero-division", "0"), RESULT,
        ("Undefined, because no example is called positive; set to 0: precision.",),
        {
            "estimates.precision.value": 0.0,
            "estimates.precision.interval.high": 1.0,
            "settings.zero_division": 0.0,
        },
    ),
    Row(  # precision of a is 1/2, of b 1; c is never called
        "a class never called", NEVER_CALLED, (), RESULT,
        ("True but never predicted: 'c'.", "over 2 of the 3 classes that occur; undefined in c"),
        {
            "labels": ["a", "b", "c"],
            "confusion.counts": [[1, 0, 0], [0, 2, 0], [1, 0, 0]],
            "estimates.precision_macro.value": 0.75,
            "by_class.c.precision.value": None,
        },
    ),
    Row(
        "a class never called, a number wanted", NEVER_CALLED, ("--zero-division", "0"), RESULT,
        ("undefined in c, counted there as 0",), {"estimates.precision_macro.value": 0.5},
    ),
    Row(  # recall of a is 1/2, of b 1; with c it would be 1/2, as scikit-learn has it
        "a call that is never true", UNKNOWN_CALL, (), RESULT,
        ("Predicted but never true: 'c'; left out of macro averages.",
         "over the 2 classes that occur"),
        {
            "labels": ["a", "b", "c"],
            "confusion.counts": [[1, 0, 1], [0, 2, 0], [0, 0, 0]],
            "estimates.recall_macro.value": 0.75,
            "estimates.balanced_accuracy.value": 0.75,
        },
    ),
    Row(  # average precision is the share of positives
        "constant scores", CONSTANT, (), RESULT, ("All scores of 1 are equal: they rank nothing.",),
        {"estimates.roc_auc.value": 0.5, "estimates.average_precision.value": 0.4},
    ),
    Row(  # 0.5 ties with 0.5 and outranks 0.1: 1½ pairs of two
        "ties", SCORED + "1,0.5\n0,0.5\n0,0.1\n", (), RESULT,
        ("The 3 scores have 2 distinct values; ties count half.",),
        {"estimates.roc_auc.value": 0.75},
    ),
    Row(  # 0.1 + 0.2 in binary is the neighbour above 0.3
        "near-ties in the last bit", SCORED + "1,0.30000000000000004\n0,0.3\n", (), RESULT, (),
        {"estimates.roc_auc.value": 1.0},
    ),
    Row(
        "scores outside [0, 1]", UNBOUNDED, (), RESULT, (), {"estimates.roc_auc.value": 1.0}
    ),
    Row(
        "probabilities outside [0, 1]", UNBOUNDED, ("--probabilities",), REFUSED,
        ("`probabilities` must lie in [0, 1]; 2 of 3 do not, and their range is [-2, 1.5].",),
    ),
    Row(
        "probabilities that do not add up", SHORT_SUM, OF_THREE, REFUSED,
        ("must add up to 1 for each example, to within 1e-06; 1 do not, the first adds up to 0.9.",
         "They are never rescaled"),
    ),
    Row(  # Brier: (1 + ¼ + ¼ + 1) / 4
        "probability 0 for what happened", IMPOSSIBLE, ("--probabilities",), RESULT,
        ("2 true classes were given the probability 0",),
        {
            "estimates.log_loss.value": "Infinity",
            "estimates.log_loss.interval.high": "Infinity",
            "estimates.brier_score.value": 0.625,
        },
    ),
    Row(
        "negative weights", WEIGHTED + "1,1,-1\n0,0,1\n0,1,-2\n", (), REFUSED,
        ("line 2: 'weight' must be a weight, finite and not negative; got -1.0",
         "(2 such rows up to row 3). Choose the weights with --weight."),
    ),
    Row(
        "NaN weight", WEIGHTED + "1,1,nan\n0,0,1\n", (), REFUSED,
        ("line 2: 'weight' must have a value in every row",),
    ),
    Row(
        "weights that are all 0", WEIGHTED + "1,1,0\n0,0,0\n", (), REFUSED,
        ("`weight` must be positive somewhere; all are 0. Choose the weights with --weight.",),
    ),
    Row(
        "weights that are all 0, of scores", "y_true,score,weight\n1,0.5,0\n0,0.1,0\n", (), REFUSED,
        ("`weight` must be positive somewhere; all are 0.",),
    ),
    Row(  # the wrong row has no weight
        "some weights are 0", WEIGHTED + "1,1,1\n0,0,1\n0,1,0\n", (), RESULT,
        ("3 of them are worth 2.0 of equal weight",), {"estimates.accuracy.value": 1.0},
    ),
    Row(
        "several labels in a cell, unsaid", SEPARATED, (), RESULT,
        ("67% of the distinct labels contain '|'", "--multilabel-sep '|'"),
        {"labels": ["a", "a|b", "c|a"], "estimates.accuracy.value": 2 / 3},
    ),
    Row(  # a: TP 3; b: TP 1, FP 1; c: FN 1; micro F1 = 8 / (8 + 1 + 1)
        "several labels in a cell, told", SEPARATED, ("--multilabel-sep", "|"), RESULT, (),
        {"labels": ["a", "b", "c"], "estimates.f1_micro.value": 0.8},
    ),
    Row(
        "over 1000 labels", distinct_labels(1001), ("--measure", "accuracy"), RESULT,
        ("1001 distinct labels. If this is no label column, choose another",),
    ),
    Row(
        "over 10 000 classes", distinct_labels(10_001), (), REFUSED,
        ("must hold at most 10000 classes; got 10001. A score or an id was probably taken for a",
         "label; name the columns, or raise the limit with --max-classes."),
    ),
    Row(
        "more classes than allowed", distinct_labels(30), ("--max-classes", "29"), REFUSED,
        ("at most 29 classes; got 30",),
    ),
    Row(
        "as many classes as allowed", distinct_labels(30), ("--max-classes", "30"), RESULT, (),
        {"estimates.accuracy.value": 1.0},
    ),
    Row(
        "several rows a patient", PATIENTS, ("--group", "patient", "--measure", "accuracy"),
        RESULT, ("The units are 10 groups, not 40 rows.",),
        {"estimates.accuracy.value": 0.5, "estimates.accuracy.interval.method": "group_jackknife"},
    ),
    Row(
        "an id that comes twice", REPEATED, (), REFUSED,
        ("'id' must name each example once; 1 rows repeat an id: 'x' in row 1 of", "--group"),
    ),
    Row("an id that comes twice, set aside", REPEATED, ("--id", ""), RESULT, (), {"n": 3}),
]  # fmt: skip


def score(*arguments):
    """Run `truerisk score`; give how it ended, and the JSON of a result."""
    ended = CliRunner().invoke(main, ["score", *map(str, arguments), "--json"])
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended, json.loads(ended.stdout) if ended.stdout else {}


def place(result, path):
    for step in path.split("."):
        result = result[int(step)] if isinstance(result, list) else result[step]
    return result


def sentences(result):
    notes = [
        note for estimate in result.get("estimates", {}).values() for note in estimate["notes"]
    ]
    return [*result.get("verdict", ()), *result.get("notes", ()), *notes]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.fault) for row in FILES])
def test_a_file_is_answered_as_the_table_says(write, row):
    ended, result = score(write(row.file), *row.options)
    assert ended.exit_code == row.ends, ended.stderr
    parsed = "\n".join([ended.stderr, *sentences(result)])
    for part in row.says:
        assert part in parsed
    for path, expected in row.holds.items():
        near = isinstance(expected, float)
        assert place(result, path) == (pytest.approx(expected) if near else expected), path
    if row.ends == REFUSED:
        assert ended.stdout == ""
        assert ended.stderr.startswith("Error: ")
    for name, estimate in result.get("estimates", {}).items():
        low, high = (float(estimate["interval"][end]) for end in ("low", "high"))
        assert low < high, name
        assert estimate["value"] is None or low <= float(estimate["value"]) <= high, name


def test_the_positive_label_and_the_reason_of_what_is_undefined_are_printed(write):
    ended = CliRunner().invoke(main, ["score", str(write(NONE_CALLED))])
    printed = " ".join(ended.stdout.split())
    assert "positive label 1" in printed
    assert "Precision undefined [0.000, 1.000]" in printed
    assert "Precision is undefined: no example is called positive" in printed


def test_a_stand_in_for_an_undefined_value_is_no_finding(write):
    _, result = score(write(NONE_CALLED), "--zero-division", "1")
    assert not [said for said in result["verdict"] if said.startswith("Of those it calls")]
    assert not [said for said in result["verdict"] if "precision is known only to" in said]


def test_repeating_the_rows_of_a_group_proves_nothing_new(write):
    once = "y_true,y_pred,patient\n" + "".join(f"{at % 2},1,{at}\n" * 2 for at in range(10))
    often = "y_true,y_pred,patient\n" + "".join(f"{at % 2},1,{at}\n" * 9 for at in range(10))
    _, few = score(write(once, "once.csv"), "--group", "patient", "--measure", "accuracy")
    _, many = score(write(often, "often.csv"), "--group", "patient", "--measure", "accuracy")
    _, rows = score(write(often, "rows.csv"), "--measure", "accuracy", "--pred", "y_pred",
                    "--truth", "y_true", "--group", "")  # fmt: skip
    width = [
        (one := result["estimates"]["accuracy"]["interval"])["high"] - one["low"]
        for result in (few, many, rows)
    ]
    assert width[0] == pytest.approx(width[1])
    assert width[2] < width[1] / 2


def test_labels_of_another_type_in_a_typed_file_are_the_same_text(tmp_path):
    path = tmp_path / "p.parquet"
    parquet.write_table(pa.table({"y_true": [1, 0, 1], "y_pred": ["1", "0", "0"]}), path)
    _, result = score(path)
    assert (result["labels"], result["pos_label"]) == (["0", "1"], "1")
    assert result["estimates"]["accuracy"]["value"] == pytest.approx(2 / 3)


def test_booleans_of_a_typed_file_have_true_as_positive(tmp_path):
    path = tmp_path / "p.parquet"
    parquet.write_table(pa.table({"y_true": [True, False], "y_pred": [True, True]}), path)
    _, result = score(path, "--measure", "precision")
    assert (result["pos_label"], result["estimates"]["precision"]["value"]) == ("True", 0.5)
