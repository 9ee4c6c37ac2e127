import json
import re
from pathlib import Path

import pytest

import truerisk.inputs
from truerisk.cli.curve import curve
from truerisk.cli.estimate import estimate
from truerisk.cli.options import read_costs
from truerisk.cli.score import score
from truerisk.cli.thresholds import reject, threshold
from truerisk.errors import InputError


def test_costs_by_outcome_are_numbers():
    assert read_costs("fp=1,fn=5.5") == {"fp": 1.0, "fn": 5.5}
    assert read_costs(None) is None


def test_a_json_file_holds_a_table_or_pairs(tmp_path):
    path = tmp_path / "costs.json"
    path.write_text(json.dumps([[0, 1], [5, 0]]))
    assert read_costs(str(path)) == [[0, 1], [5, 0]]
    path.write_text(json.dumps({"cat": {"dog": 2}}))
    assert read_costs(str(path)) == {("cat", "dog"): 2.0}


def test_a_csv_file_holds_a_table_with_or_without_names(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("0,1\n5,0\n")
    assert read_costs(str(path)) == [[0.0, 1.0], [5.0, 0.0]]
    path.write_text(",cat,dog\ncat,0,1\ndog,5,0\n")
    assert read_costs(str(path)) == {
        ("cat", "cat"): 0.0,
        ("cat", "dog"): 1.0,
        ("dog", "cat"): 5.0,
        ("dog", "dog"): 0.0,
    }


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("costs.json", "{", "must be a JSON file"),
        ("costs.json", "[" * 100_000, "must be a JSON file"),
        ("costs.json", "7", "must hold a table or an object"),
        ("costs.csv", "0,1\n5\n", "rows of one length"),
        ("costs.csv", "0,a\n5,0\n", "must hold numbers; got 'a'"),
        ("costs.csv", "", "rows of one length"),
        ("costs.csv", b"\xff\xfe", "must be a text file"),
    ],
)
def test_a_file_that_holds_no_costs_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        read_costs(str(path))


@pytest.mark.parametrize("text", ["fp:1", "absent.csv", "fp=1 fn=5"])
def test_what_is_neither_costs_nor_a_file_is_refused(text):
    with pytest.raises(InputError, match="`--costs` must"):
        read_costs(text)


def test_a_cost_that_is_no_number_is_named():
    with pytest.raises(InputError, match="got 'one'"):
        read_costs("fp=one")


def test_columns_and_strictness_reach_the_reader(run, tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a;b;s\n1 ;1;0,5\n0;0;0,1\n;1;0,2\n")
    options = ("--truth", "a", "--pred", "b", "--score", "s", "--delimiter", ";")
    refused = run("score", path, *options, "--decimal", ",", "--strip")
    assert refused.exit_code == 3
    dropped = run(
        "score", path, *options, "--decimal", ",", "--strip", "--missing", "drop", "--json"
    )
    assert json.loads(dropped.stdout)["n"] == 2


def test_a_tab_may_be_written_as_backslash_t(run, tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text("y_true\ty_pred\n1\t1\n0\t0\n")
    assert run("score", path, "--delimiter", "\\t", "-q").exit_code == 0


def test_every_option_that_a_message_names_exists():
    source = Path(truerisk.inputs.__file__).parents[1]
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in ("inputs", "evaluation", "tallies", "checks.py", "labels.py")
        for path in (sorted((source / folder).rglob("*.py")) or [source / folder])
    )
    named = set(re.findall(r"--[a-z][a-z-]+[a-z]", text)) - {"--help"}
    options_of_commands = {
        option
        for command in (score, estimate, curve, threshold, reject)
        for parameter in command.params
        for option in parameter.opts
    }
    assert len(named) > 15
    assert named <= options_of_commands


def test_limits_reach_the_reader(run, predictions):
    ended = run("score", predictions, "--max-line-bytes", "3")
    assert ended.exit_code == 3
    assert "Raise --max-line-bytes" in ended.output
    assert run("score", predictions, "--max-line-bytes", "100", "--hash-all").exit_code == 0


def written(write, truth, predicted):
    rows = "".join(f"{y},{p}\n" for y, p in zip(truth, predicted, strict=True))
    return write("y_true,y_pred\n" + rows)


@pytest.mark.parametrize(
    ("predicted", "remedy"),
    [
        ("1.0 0.0 0.0 0.0", ["--numeric-labels"]),
        ("True False False False", ["--numeric-labels"]),
        ("yes no no no", ["--map", "yes", "1", "--map", "no", "0"]),
        (">=50K <50K <50K <50K", ["--map", ">=50K", "1", "--map", "<50K", "0"]),
    ],
)
def test_labels_in_two_spellings_end_in_3_and_the_named_remedy_helps(run, write, predicted, remedy):
    path = written(write, "1010", predicted.split())
    refused = run("score", path)
    assert refused.exit_code == 3
    assert remedy[0] in refused.stderr
    ended = run("score", path, *remedy, "--measure", "accuracy", "--json")
    assert ended.exit_code == 0
    assert json.loads(ended.stdout)["estimates"]["accuracy"]["value"] == 0.75


def test_white_space_around_labels_ends_in_3_and_strip_helps(run, write):
    path = written(write, "1010", ["1 ", "0", "0", "0"])
    assert "--strip" in run("score", path).stderr
    assert run("score", path, "--strip", "--measure", "accuracy").exit_code == 0


def test_scores_in_the_place_of_predictions_end_in_3(run, write):
    ended = run("score", written(write, "1010", ["0.9", "0.2", "0.4", "0.3"]))
    assert ended.exit_code == 3
    assert "look like scores. Use --score" in ended.stderr


def test_two_columns_of_probabilities_are_a_binary_problem(run, write):
    rows = "1,0.2,0.8\n0,0.9,0.1\n1,0.4,0.6\n0,0.7,0.3\n" * 10
    path = write("y_true,proba_0,proba_1\n" + rows)
    assert run("score", path, "--fail-under", "recall=0.6").exit_code == 0
    turned = run("score", path, "--positive", "0", "--measure", "recall", "--json")
    assert json.loads(turned.stdout)["pos_label"] == "0"
