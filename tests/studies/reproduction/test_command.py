"""`python -m studies.reproduction`: the tables, their options and the forms of output."""

import csv
import io
import json
import random

import pytest
from click.testing import CliRunner

from studies.reproduction.__main__ import main

CLASSES = ("course", "faculty", "project", "student")
NOISE = ("one", "two", "three", "four", "five", "six")


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Write a small collection, in the form of WebKB."""
    monkeypatch.delenv("TRUERISK_DATA", raising=False)
    source = random.Random(1)  # noqa: S311  (an example, no secret)
    folder = tmp_path / "corpora"
    folder.mkdir()
    with (folder / "webkb4.jsonl").open("w", encoding="utf-8") as file:
        for number in range(160):
            label = source.choice(CLASSES)
            words = [label, *source.choices(NOISE, k=4)]
            words += source.choices(CLASSES, k=1)
            record = {
                "id": str(number),
                "labels": [label],
                "text": " ".join(words),
                "relocation": False,
            }
            file.write(json.dumps(record) + "\n")
    return folder


def test_the_list_names_tables_of_figures_and_tables_of_documents(run):
    names = run().stdout.split()
    assert names[0] == "shah-shanian-table2"
    assert "joachims-table1" in names
    assert "joachims-figures4-6" in names


def test_a_table_is_printed_with_its_conclusion(run, data):
    ended = run("joachims-table2", "--data", data, "--splits", "2")
    assert ended.exit_code == 0
    assert ended.stdout.startswith("Table 2: WebKB\nT. Joachims")
    assert "2 random splits from seed 0: 80 documents to train on, 80 to test on." in ended.stdout


def test_the_folder_may_be_named_by_the_environment(run, data, monkeypatch):
    monkeypatch.setenv("TRUERISK_DATA", str(data))
    assert run("joachims-table2", "--splits", "1").exit_code == 0


def test_without_a_folder_the_option_is_asked_for(run, monkeypatch):
    monkeypatch.delenv("TRUERISK_DATA", raising=False)
    ended = run("joachims-table1")
    assert ended.exit_code == 2
    assert "--data" in ended.stderr


def test_a_folder_without_the_collection_says_what_is_sought(run, data):
    ended = run("joachims-table1", "--data", data)
    assert ended.exit_code == 1
    assert "reuters21578_modapte.jsonl" in ended.stderr
    assert "JSON lines" in ended.stderr


def test_json_csv_and_markdown_hold_the_same_rows(run, data):
    options = ("joachims-table2", "--data", data, "--splits", "2")
    found = json.loads(run(*options, "--json").stdout)
    rows = list(csv.reader(io.StringIO(run(*options, "--csv").stdout)))
    assert rows[0] == list(found["rows"][0])
    assert rows[1:] == [list(row.values()) for row in found["rows"]]
    assert any("within" in sentence for sentence in found["conclusion"])
    page = run(*options, "--markdown").stdout
    assert page.startswith("## Table 2: WebKB\n")
    assert page.count("\n| ") == len(rows) + 1


def test_the_random_state_decides_the_splits(run, data):
    options = ("joachims-table2", "--data", data, "--splits", "1", "--csv")
    one, two = (run(*options, "--seed", seed).stdout for seed in (1, 2))
    assert one != two
    assert run(*options, "--seed", 1).stdout == one


def test_a_picture_is_saved_beside_the_table(run, data, tmp_path):
    picture = tmp_path / "table2.svg"
    ended = run("joachims-table2", "--data", data, "--splits", "2", "--plot", picture)
    assert "hold-out set" in ended.stdout
    assert "table2.svg" in ended.stderr
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


def test_a_table_of_figures_has_no_picture(run, tmp_path):
    ended = run("shah-shanian-table2", "--plot", tmp_path / "a.png")
    assert ended.exit_code == 1
    assert "has none" in ended.stderr


def test_a_simulation_takes_its_parameters_from_options(run):
    options = ("--datasets", "2", "--replicates", "20", "--losses", "training", "--sigma", "2")
    ended = run("jiang-table2", *options, "--seed", "7", "--json")
    found = json.loads(ended.stdout)
    assert [row["losses"] for row in found["rows"]] == ["training"] * 6
    assert {row["σ"] for row in found["rows"]} == {"2"}
    assert any("2 data sets from seed 7" in sentence for sentence in found["conclusion"])


@pytest.mark.parametrize(
    ("table", "option"),
    [("jiang-table2", ("--noise", "0.1")), ("joachims-table1", ("--sigma", "2"))],
    ids=["another table", "another paper"],
)
def test_a_parameter_of_another_table_is_refused(run, table, option):
    ended = run(table, *option)
    assert ended.exit_code == 2
    assert f"{option[0]} is no parameter of {table}" in ended.stderr


def test_tables_of_data_sets_ask_for_the_folder(run, monkeypatch):
    monkeypatch.delenv("TRUERISK_DATA", raising=False)
    ended = run("jiang-table3")
    assert ended.exit_code == 2
    assert "jiang-table3 is made from data sets: name their folder by --data" in ended.stderr


def test_sites_must_be_numbers(run, tmp_path):
    ended = run("jiang-table5", "--data", tmp_path, "--sites", "30,x")
    assert ended.exit_code == 2
    assert "--sites must be numbers such as 30,32" in ended.stderr
    ended = run("jiang-table5", "--data", tmp_path, "--sites", "30,32")
    assert ended.exit_code == 1
    assert "hiv_pi2006_raw.csv.gz" in ended.stderr


def test_a_table_of_figures_is_printed_and_an_unknown_one_refused(run):
    found = json.loads(run("shah-shanian-table2", "--json").stdout)
    assert len(found["rows"]) == 96
    ended = run("nonsense")
    assert ended.exit_code == 1
    assert "`table` must be one of" in ended.stderr
