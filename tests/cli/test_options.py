"""Options that commands share, read; tables and models as users name them, and what is refused."""

import gzip
import json
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import truerisk.inputs
from truerisk.cli.curve import curve
from truerisk.cli.estimate import estimate
from truerisk.cli.options import read_costs
from truerisk.cli.score import score
from truerisk.cli.thresholds import reject, threshold
from truerisk.errors import InputError
from truerisk.execution.processes import stop_processes

N = 100
FEW = ("--folds", "2", "--repeats", "1", "--seed", "1")
BASIC = ("--target", "y", "--positive", "yes")
TREE = ("--model", "tree")

OWN = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Threshold(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > 1).astype(int)]


class NeedsTheLargest(Threshold):
    def fit(self, X, y):
        if X[:, 0].max() < 9:
            raise RuntimeError("the largest is not here")
        return super().fit(X, y)


model = Threshold()
"""


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


def examples():
    """Give two numbers and a label for each of 100 rows."""
    rng = np.random.default_rng(0)
    label = np.arange(N) % 2
    a = rng.normal(2 * label, 1).round(3)
    a[7] = 9.5
    b = rng.normal(size=N).round(3)
    return list(zip(a.tolist(), b.tolist(), np.where(label, "yes", "no").tolist(), strict=True))


@pytest.fixture
def table(write):
    """Write a CSV file of numbers and labels."""
    rows = (f"{a},{b},{y}" for a, b, y in examples())
    return write("a,b,y\n" + "\n".join(rows) + "\n", "table.csv")


@pytest.fixture
def own_models(tmp_path, monkeypatch):
    """Stand in a folder with models of one's own."""
    (tmp_path / "own_models.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_models", raising=False)
    stop_processes()  # those that wait do not know this folder
    yield
    stop_processes()


def printed(ended):
    """Read the one JSON object that was printed."""
    assert ended.exit_code == 0, ended.stderr
    return json.loads(ended.stdout)


def as_parquet(folder):
    path = folder / "table.parquet"
    pq.write_table(pa.table(list(zip(*examples(), strict=True)), names=["a", "b", "y"]), path)
    return path, BASIC


def as_svmlight(folder):
    lines = (f"{1 if y == 'yes' else -1} 1:{a} 2:{b}" for a, b, y in examples())
    path = folder / "table.svm"
    path.write_text("\n".join(lines) + "\n")
    return path, ()


def as_json_lines(folder):
    path = folder / "table.jsonl"
    lines = (json.dumps({"a": a, "b": b, "y": y}) for a, b, y in examples())
    path.write_text("\n".join(lines) + "\n")
    return path, BASIC


def as_gzip(folder):
    path = folder / "table.csv.gz"
    lines = "".join(f"{a};{b};{y}\n" for a, b, y in examples())
    path.write_bytes(gzip.compress(f"a;b;y\n{lines}".replace(".", ",").encode()))
    return path, (*BASIC, "--delimiter", ";", "--decimal", ",")


@pytest.mark.parametrize("form", [as_parquet, as_svmlight, as_json_lines, as_gzip])
def test_every_format_gives_the_same_numbers(run, table, tmp_path, form):
    expected = printed(run("estimate", table, *BASIC, "--model", "knn", *FEW, "--json"))
    path, options = form(tmp_path)
    result = printed(run("estimate", path, *options, "--model", "knn", *FEW, "--json"))
    for name, one in expected["estimates"].items():
        assert result["estimates"][name]["value"] == pytest.approx(one["value"], abs=1e-12), name


def test_a_column_of_texts_becomes_words(run, write):
    words = {"yes": "wheat corn rye", "no": "gold silver tin"}
    lines = (
        json.dumps({"body": f"{words[y]} {at}", "length": a, "stars": y})
        for at, (a, _, y) in enumerate(examples())
    )
    path = write("\n".join(lines) + "\n", "reviews.jsonl")
    request = ("--target", "stars", "--text", "body", "--positive", "yes", *FEW, "--json")
    result = printed(run("estimate", path, *request))
    assert result["estimates"]["error_rate"]["value"] == 0.0
    assert "1 text" in result["source"]["columns"]


REFUSED = [
    ("an unknown model", ("--model", "tre"), 3, "Did you mean tree"),
    ("a model twice", (*TREE, *TREE), 3, "must name each learner once; got 'tree' twice"),
    ("a file of a model", ("--model", "model.pkl"), 3, "Models are never unpickled"),
    ("a module that is not there", ("--model", "no_such:Model"), 3, "No module named 'no_such'"),
    ("a module as its file", ("--model", "own.py:Model"), 3, "Write own:attribute"),
    ("a class that is no model", ("--model", "json:JSONDecoder"), 3, "JSONDecoder' has no fit"),
    ("an unknown column", ("--drop", "q"), 3, "`drop` must be a column of the file; got 'q'"),
    ("an unknown method", ("--method", "loo"), 2, "Invalid value for '--method'"),
    ("refits of none", ("--method", "xi_alpha", "--folds", "3"), 2, "--folds: for refits, and xi"),
    ("an unknown rule", ("--interval", "wald"), 2, "Invalid value for '--interval'"),
    ("an unknown positive label", ("--positive", "maybe"), 3, "`pos_label` must be one of"),
    ("a level in per cent", ("--level", "95"), 3, "Write 0.95 for 95 %"),
    ("no processes", ("--jobs", "0"), 3, "`n_jobs` must be a positive whole number"),
    ("more folds than a class has", ("--folds", "51"), 3, "must not exceed the examples of any"),
    ("refits kept without a seed", ("--resume", "run"), 3, "`--seed` must be given with"),
    ("an unknown measure to check", ("--fail-over", "eror=1"), 3, "`measure` must be one of"),
    ("a measure that is not there", ("--fail-over", "f1_macro=1"), 3, "must name a measure of"),
    ("an unknown measure to choose by", ("--measure", "acc"), 3, "`measure` must be one of"),
    ("options of documents", ("--C", "9", "--holdout", "0.5"), 2, "--holdout, --C: for documents"),
    ("no address", ("--cluster", "nowhere at all"), 3, "must be the address of a scheduler"),
]


@pytest.mark.parametrize(
    ("options", "code", "message"), [pytest.param(*rest, id=fault) for fault, *rest in REFUSED]
)
def test_what_cannot_be_meant_is_refused(run, table, options, code, message):
    ended = run("estimate", table, *BASIC, *options)
    assert (ended.exit_code, ended.stdout) == (code, "")
    assert message in ended.stderr


def test_nothing_is_trained_for_a_check_of_a_measure_that_nobody_knows(run, write):
    ended = run("estimate", write("no table", "t.csv"), *BASIC, "--fail-under", "acuracy=1")
    assert (ended.exit_code, "got 'acuracy'" in ended.stderr) == (3, True)


@pytest.mark.parametrize("options", [("--folds", "3"), ("--fail-over", "f1=1"), ("--latex",)])
def test_options_of_tables_are_refused_for_documents(run, table, options):
    ended = run("estimate", table, *options)
    assert ended.exit_code == 2
    assert f"{options[0]}: for tables, and this is read as documents: name the --target" in (
        ended.stderr
    )


def test_an_unknown_target_is_told_with_the_columns(run, table):
    ended = run("estimate", table, "--target", "z")
    assert ended.exit_code == 3
    assert "`target` must be a column of the file; got 'z'. The columns are 'a', 'b', 'y'" in (
        ended.stderr
    )


def test_which_of_two_names_is_positive_is_not_guessed(run, table):
    ended = run("estimate", table, "--target", "y")
    assert ended.exit_code == 3
    assert "Use --positive" in ended.stderr


def test_a_missing_label_is_refused_or_left_out_as_asked(run, write):
    rows = [f"{a},{'' if at == 5 else y}" for at, (a, _, y) in enumerate(examples())]
    path = write("a,y\n" + "\n".join(rows) + "\n", "gaps.csv")
    refused = run("estimate", path, *BASIC, *FEW)
    assert refused.exit_code == 3
    assert "row 6: 'y' must have a value in every row; 1 of 100 have none" in refused.stderr
    assert "--missing" in refused.stderr
    result = printed(run("estimate", path, *BASIC, *TREE, *FEW, "--missing", "drop", "--json"))
    assert result["n"] == N - 1
    assert result["source"]["files"][0]["dropped"] == 1


def test_a_pickle_is_never_loaded(run, table, tmp_path, monkeypatch):
    class Hostile:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "loaded",))

    monkeypatch.chdir(tmp_path)
    for name in ("model.pkl", "model"):
        (tmp_path / name).write_bytes(pickle.dumps(Hostile()))
        ended = run("estimate", table, *BASIC, "--model", name)
        assert ended.exit_code == 3
        assert "Models are never unpickled" in ended.stderr
    assert not (tmp_path / "loaded").exists()


@pytest.mark.usefixtures("own_models")
@pytest.mark.parametrize("name", ["own_models:Threshold", "own_models:model"])
def test_a_model_of_ones_own_is_found_in_the_current_folder(run, table, name):
    result = printed(run("estimate", table, *BASIC, "--model", name, *FEW, "--json"))
    wrong = [(a > 1) != (y == "yes") for a, _, y in examples()]
    assert result["estimates"]["error_rate"]["value"] == np.mean(wrong)


@pytest.mark.usefixtures("own_models")
def test_a_model_of_ones_own_runs_in_several_processes(run, table):
    request = ("estimate", table, *BASIC, "--model", "own_models:Threshold", *FEW, "--json")
    alone = run(*request)
    assert printed(alone)["model"] == "own_models:Threshold"
    assert run(*request, "--jobs", "2").stdout == alone.stdout


@pytest.mark.usefixtures("own_models")
def test_a_model_that_fails_in_a_fold_ends_in_4_and_the_fold_is_named(run, table):
    request = ("estimate", table, *BASIC, "--model", "own_models:NeedsTheLargest", *FEW)
    ended = run(*request)
    assert (ended.exit_code, ended.stdout) == (4, "")
    assert "it failed in 1 of 2: fold " in ended.stderr
    assert "RuntimeError: the largest is not here" in ended.stderr
    assert "--allow-failed" in ended.stderr
    result = printed(run(*request, "--allow-failed", "--json"))
    assert result["n"] == N // 2
    assert any("failed and is left out: RuntimeError" in note for note in result["notes"])


def test_processes_and_a_cluster_print_the_same_bytes(run, table, cluster):
    address = cluster.scheduler_address
    models = ("--model", "random_forest", "--model", "linear_svm")
    request = ("estimate", table, *BASIC, *models, *FEW, "--json")
    here = run(*request)
    assert here.exit_code == 0, here.stderr
    assert run(*request, "--jobs", "2").stdout == here.stdout
    assert run(*request, "--cluster", address).stdout == here.stdout
