"""Numbers and settings that cannot be meant, and those that are extreme but right.

`COUNTS` is the table for `truerisk score --counts`, `SETTINGS` the one for options and arguments.
Not yet applicable, since nothing is trained or compared yet: a fold that lacks a class, an
estimator that fails in a fold, and no discordant pairs.
"""

import json
import math
import re

import pytest
from click.testing import CliRunner

import truerisk as tr
from truerisk.cli import main
from truerisk.errors import InputError
from truerisk.measures.registry import BINOMIAL_INTERVALS, CELL_INTERVALS

RESULT, USAGE, REFUSED, PARTIAL = 0, 2, 3, 4
WHOLE_NUMBERS = "`--counts` must be four whole numbers TP,FN,FP,TN, such as 50,50,40,850; got"


def run(*arguments):
    """Run a command; whatever is no exit is a bug, and shown."""
    ended = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended


def of_counts(counts, *options):
    ended = run("score", "--counts", counts, "--json", *options)
    return ended, json.loads(ended.stdout)["estimates"] if ended.stdout else {}


COUNTS = [
    ("a negative count", "1,2,3,-4", f"{WHOLE_NUMBERS} '1,2,3,-4'."),
    ("a fractional count", "1.5,2,3,4", f"{WHOLE_NUMBERS} '1.5,2,3,4'."),
    ("too few counts", "1,2,3", f"{WHOLE_NUMBERS} '1,2,3'."),
    ("no example", "0,0,0,0", "`table` must count at least one example; got 0."),
    ("more than 2⁵³", f"{2**53},1,0,0", f"at most 2**53 examples in all; got {2**53 + 1}."),
    # The sum of these four is 0 in 64 bits.
    ("a sum beyond 64 bits", ",".join([str(2**62)] * 4), f"in all; got {2**64}."),
    ("one beyond 64 bits", f"1,2,3,{10**30}", f"in all; got {10**30 + 6}."),
]


@pytest.mark.parametrize(
    ("counts", "message"), [pytest.param(*rest, id=fault) for fault, *rest in COUNTS]
)
def test_counts_are_refused_as_the_table_says(counts, message):
    ended, _ = of_counts(counts)
    assert ended.exit_code == REFUSED
    assert ended.stdout == ""
    assert message in ended.stderr


# Ends of Clopper and Pearson's interval: mpmath 1.4.1, 50 digits, residual of the incomplete beta
# function below 1e-30.  SciPy's quantile is wrong for 1000 errors, and so beside the estimate.
EXTREME = [
    (0, 10**9, 0.95, 0.0, 3.6888794473100207e-09),
    (2, 10**9, 0.95, 2.422092786357369e-10, 7.224687648850593e-09),
    (999, 10**9, 0.95, 9.380040467000111e-07, 1.0629211172533082e-06),
    (1000, 10**9, 0.95, 9.38973046589561e-07, 1.0639521019952884e-06),
    (3, 10**12, 0.95, 6.186721228960286e-13, 8.767273069717044e-12),
    (0, 10**15, 0.99, 0.0, 5.298317366548023e-15),
]


@pytest.mark.parametrize(("errors", "n", "level", "low", "high"), EXTREME)
def test_rare_errors_among_very_many_examples_have_a_right_interval(errors, n, level, low, high):
    ended, result = of_counts(f"{n // 2},{errors},0,{n - n // 2 - errors}", "--level", level)
    error_rate = result["error_rate"]
    assert ended.exit_code == RESULT
    assert error_rate["value"] == errors / n
    ends = error_rate["interval"]["low"], error_rate["interval"]["high"]
    assert ends == pytest.approx((low, high), rel=2e-8, abs=0)


def test_the_largest_count_is_told_from_its_neighbour():
    ended, result = of_counts(f"{2**53 - 1},1,0,0")
    assert ended.exit_code == PARTIAL
    assert result["error_rate"]["value"] == 2.0**-53
    assert result["error_rate"]["interval"]["low"] > 0


SETTINGS = [
    ("level 0", ("--level", "0"), {"level": 0}, "`level` must lie strictly between 0 and 1; got 0"),
    ("level 1", ("--level", "1"), {"level": 1}, "`level` must lie strictly between 0 and 1; got 1"),
    ("level -1", ("--level", "-1"), {"level": -1}, "strictly between 0 and 1; got -1"),
    ("level 95", ("--level", "95"), {"level": 95}, "Write 0.95 for 95 %."),
    ("level 99.9", ("--level", "99.9"), {"level": 99.9}, "Write 0.999 for 99.9 %."),
    ("level NaN", ("--level", "nan"), {"level": math.nan}, "`level` must lie strictly"),
    ("zero division ∞", ("--zero-division", "inf"), {"zero_division": math.inf},
     "`zero_division` must lie in [0, 1]; got inf."),
    ("β below 0", ("--beta", "-1"), {"betas": (-1,)}, "`beta` must lie in [0, inf]; got -1"),
    ("few replicates", ("--replicates", "10"), {"replicates": 10},
     "`replicates` must lie in [100, 10000000]; got 10."),
    ("unknown measure", ("--measure", "acc"), {"measures": ("acc",)}, "`measure` must be one of"),
    ("one class", ("--max-classes", "1"), {"max_classes": 1}, "`max_classes` must lie in [2,"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [pytest.param(*rest, id=fault) for fault, *rest in SETTINGS],
)
def test_a_setting_is_refused_by_both_doors(options, arguments, message):
    ended = run("score", "--counts", "5,1,2,12", *options)
    assert ended.exit_code == REFUSED
    assert message in ended.stderr
    with pytest.raises(InputError, match=re.escape(message)):
        tr.evaluate([0, 1], [0, 1], **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": "0.95"}, "`level` must lie strictly between 0 and 1; got '0.95'."),
        ({"level": None}, "`level` must lie strictly between 0 and 1; got None."),
        ({"level": True}, "`level` must lie strictly between 0 and 1; got True."),
        ({"betas": ("two",)}, "`beta` must lie in [0, inf]; got 'two'."),
        ({"replicates": "many"}, "`replicates` must be a whole number; got 'many'."),
        ({"replicates": 1000.5}, "`replicates` must be a whole number; got 1000.5."),
        ({"replicates": math.nan}, "`replicates` must be a whole number; got nan."),
        ({"replicates": math.inf}, "`replicates` must be a whole number; got inf."),
        ({"random_state": "x"}, "`random_state` must be a whole number; got 'x'."),
        ({"random_state": -1}, "`random_state` must lie in [0,"),
        ({"zero_division": "warn"}, "`zero_division` must lie in [0, 1]; got 'warn'."),
        ({"threshold": math.nan}, "`threshold` must lie in"),
    ],
)
def test_a_setting_of_another_type_is_refused_in_words(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        tr.evaluate([0, 1], [0, 1], **arguments)


@pytest.mark.parametrize(
    "options", [("--level", "high"), ("--seed", "-1"), ("--interval", "exact"), ("--levle", "0.9")]
)
def test_an_option_that_cannot_be_understood_is_wrong_usage(options):
    assert run("score", "--counts", "5,1,2,12", *options).exit_code == USAGE


@pytest.mark.parametrize(
    ("k", "n", "message"),
    [
        (5, 3, "`k` must lie between 0 and `n`; got k = 5, n = 3."),
        (-1, 3, "`k` must lie between 0 and `n`; got k = -1, n = 3."),
        (0, -1, "`k` must lie between 0 and `n`; got k = 0, n = -1."),
        (1.5, 3, "`k` must be a whole number; got 1.5."),
        (1, math.nan, "`n` must be a whole number; got nan."),
        ("1", 3, "`k` must be a whole number; got '1'."),
        (True, 3, "`k` must be a whole number; got True."),
        (1, 2**53 + 2, f"`n` must be at most 2**53; got {2**53 + 2}."),
        (1, 2**70, f"`n` must be at most 2**53; got {2**70}."),
    ],
)
def test_what_is_no_share_of_a_number_of_trials_is_refused(k, n, message):
    with pytest.raises(InputError, match=re.escape(message)):
        tr.binomial_interval(k, n, level=0.95)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1.5, 2], [3, 4]], "`table` must hold whole numbers from 0 on; got 1.5."),
        ([[1, 2], [3, -4]], "`table` must hold whole numbers from 0 on; got -4."),
        ([[2**62, 2**62], [2**62, 2**62]], f"at most 2**53 examples in all; got {2**64}."),
        ([[1, 2, 3], [4, 5, 6]], "`table` must be K × K with K ≥ 2; got shape (2, 3)."),
        ([[0, 0], [0, 0]], "`table` must count at least one example; got 0."),
    ],
)
def test_a_table_that_counts_nothing_is_refused_with_what_was_found(table, message):
    with pytest.raises(InputError, match=re.escape(message)):
        tr.evaluate_counts(table)


def test_no_error_at_all_leaves_room_for_some():
    # 1 − 0.025^(1/200): the error rate at which no error in 200 has probability 0.025
    _, result = of_counts("100,0,0,100")
    assert result["error_rate"]["value"] == 0
    assert result["error_rate"]["interval"]["low"] == 0
    assert result["error_rate"]["interval"]["high"] == pytest.approx(1 - 0.025 ** (1 / 200))


def test_one_right_example_proves_little():
    # P(right once) = p ≥ 0.025; undefined is what needs the other class
    ended, result = of_counts("1,0,0,0")
    assert ended.exit_code == PARTIAL
    assert result["accuracy"]["interval"]["low"] == pytest.approx(0.025)
    assert result["accuracy"]["interval"]["high"] == 1


def test_the_interval_without_width_is_never_the_default():
    ended = run("score", "--help")
    assert "[default: clopper_pearson]" in " ".join(ended.stdout.split())
    _, result = of_counts("100,0,0,100")
    assert {one["interval"]["method"] for one in result.values()}.isdisjoint({"wald"})


@pytest.mark.parametrize("interval", [name for name in BINOMIAL_INTERVALS if name != "wald"])
def test_no_other_interval_of_no_errors_is_a_point(interval):
    _, result = of_counts("30,0,0,30", "--interval", interval)
    assert result["error_rate"]["interval"]["high"] > 0.01


@pytest.mark.parametrize("method", CELL_INTERVALS)
def test_resamples_that_are_all_alike_make_no_point_and_the_method_tells(method):
    _, result = of_counts("10,0,0,10", "--cell-interval", method, "--seed", "1")
    ends = result["gmean"]["interval"]
    assert result["gmean"]["value"] == 1
    assert ends["low"] < 0.95
    # Resampling a table without mistakes gives the same table: another method must stand in.
    assert method not in {"percentile", "basic", "bca"} or ends["method"] != method


# What exists of folds and their values: `truerisk split` and `truerisk folds`.


@pytest.fixture
def eight_and_two(write):
    return write("x,label\n" + "1,a\n" * 8 + "2,b\n" * 2)


def test_more_folds_than_examples_are_refused(eight_and_two):
    ended = run("split", eight_and_two, "--method", "k_fold", "--folds", 11)
    assert ended.exit_code == REFUSED
    assert "`folds` must not exceed the 10 examples; got 11." in ended.stderr


def test_more_folds_than_a_class_has_examples_are_refused_unless_allowed(eight_and_two):
    divide = ("split", eight_and_two, "--method", "k_fold", "--folds", 5)
    ended = run(*divide)
    assert ended.exit_code == REFUSED
    assert "got 5, with 2 of 'b', 8 of 'a'." in ended.stderr
    assert "--allow-small-classes" in ended.stderr
    assert run(*divide, "--allow-small-classes").exit_code == RESULT


def test_values_of_folds_that_do_not_vary_have_no_interval():
    ended = run("folds", 0.1, 0.1, 0.1, 0.1)
    assert "no interval: all replicates are equal, so their variance is zero" in ended.stdout
    assert "[" not in ended.stdout


def test_the_plain_interval_over_folds_is_labelled_invalid():
    rows = json.loads(run("folds", 0.1, 0.2, 0.15, 0.1, "--json").stdout)["rows"]
    assert [row["interval"] for row in rows] == ["corrected_t", "plain_t (invalid)"]


# Seeds


def test_a_seed_that_was_not_given_is_drawn_printed_and_repeats_the_result(write):
    path = write("y_true,y_pred\n" + "".join(f"{at % 2},{at * 7 % 11 % 2}\n" for at in range(30)))
    score = ("score", path, "--cell-interval", "bca")
    printed = run(*score).stdout
    seed = int(re.search(r"^seed +(\d+)", printed, re.MULTILINE)[1])
    first = json.loads(run(*score, "--json").stdout)
    second = json.loads(run(*score, "--json").stdout)
    drawn = first["settings"]["random_state"]
    assert len({seed, drawn, second["settings"]["random_state"]}) == 3
    assert json.loads(run(*score, "--json", "--seed", drawn).stdout) == first


def test_the_parts_of_a_split_tell_their_seed(eight_and_two):
    divide = ("split", eight_and_two, "--method", "k_fold", "--folds", 2)
    drawn = run(*divide)
    seed = re.search(r"seed (\d+)", drawn.stderr)[1]
    assert run(*divide, "--seed", seed).stdout == drawn.stdout
