import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

from truerisk.estimation.corpus.corpus import estimate_corpus
from truerisk.inputs.corpora.corpora import Corpus
from truerisk.reporting.categories import (
    CORPUS_FORMATS,
    average_table,
    category_table,
    corpus_facts,
    in_one_cell,
    print_categories,
)
from truerisk.results import Estimate, Interval

HOSTILE = "=1+1\x1b[31m<b>"


@pytest.fixture(scope="module")
def make():
    """Estimate three categories of 60 documents of two words, one of them without a document."""

    def make(*, method="xi_alpha", split=True, name="right"):
        rng = np.random.default_rng(2)
        is_right = np.arange(60) % 5 < 2
        words = np.where(is_right ^ (rng.random(60) < 0.1), "east", "west")
        labels = [(name,) if one else ("left",) for one in is_right]
        labels[55] = ("late",)
        corpus = Corpus(
            ids=tuple(map(str, range(60))),
            texts=tuple(f"{word} of {rng.choice(['here', 'there'])}" for word in words),
            labels=tuple(labels),
            split=("train",) * 40 + ("test",) * 20 if split else None,
        )
        return estimate_corpus(corpus, method=method)

    return make


@pytest.fixture(scope="module")
def evaluation(make):
    return make()


def printed(evaluation, **options):
    console = Console(file=io.StringIO(), width=120, highlight=False)
    print_categories(evaluation, console, **options)
    return console.file.getvalue()


def test_a_category_stands_above_what_was_held_out(evaluation):
    table = category_table(evaluation)
    firsts = [row[0] for row in table.rows]
    assert firsts == ["left", "└ held out", "right", "└ held out", "late"]
    assert [row[1] for row in table.rows] == ["24", "12", "16", "7", "0"]
    headings = [column.heading for column in table.columns]
    assert headings[2:6] == ["Error %", "Recall %", "Precision %", "F1 %"]
    recall = evaluation.holdout.by_class["right"]["recall"]
    assert table.rows[3][3] == in_one_cell(recall)
    assert set(table.rows[-1][2:6]) == {"undefined"}


def test_without_a_hold_out_there_is_a_row_a_category(make):
    table = category_table(make(split=False))
    assert [row[0] for row in table.rows] == ["left", "right", "late"]
    assert len(table.columns) == 6


def test_the_averages_of_both_rhos_and_of_the_hold_out_stand_below(evaluation, make):
    firsts = [row[0] for row in average_table(evaluation).rows]
    assert firsts == [
        f"{average}, {name}"
        for name in ("ξα, ρ = 1", "ξα, ρ = 2", "held out")
        for average in ("micro", "macro")
    ]
    exact = average_table(make(method="leave_one_out"))
    assert exact.rows[0][0] == "micro, leave-one-out"
    assert exact.rows[0][4] == in_one_cell(make(method="leave_one_out")["f1_micro"])


def test_shares_are_written_in_percent():
    interval = Interval(0.02276, 0.1293, 0.95, "clopper_pearson")
    estimate = Estimate(value=0.0259, interval=interval, measure="recall", method="x", n=9)
    assert in_one_cell(estimate) == "2.59 [2.28, 12.9]"
    assert in_one_cell(Estimate(value=0.5, interval=None, measure="f1", method="x", n=9)) == "50.0"


def test_what_is_printed_has_the_verdict_the_notes_and_the_settings(evaluation):
    text = printed(evaluation)
    assert "Each category against the rest: ξα, ρ = 1 (95 % intervals)" in text
    for sentence in (evaluation.verdict[0], evaluation.notes[0]):
        assert " ".join(sentence.split()[:8]) in text
    assert "Not estimated, as no training document carries it: 'late'" in text
    assert dict(corpus_facts(evaluation))["training documents"] == "40"
    assert max(map(len, text.splitlines())) <= 120


def test_only_the_largest_are_printed_on_request(evaluation):
    text = printed(evaluation, top=1)
    assert "2 smaller categories are not shown; --csv has them all" in text
    assert "\n right" not in text


def test_csv_has_a_row_for_every_way_category_and_measure(evaluation):
    rows = list(csv.DictReader(io.StringIO(CORPUS_FORMATS["csv"](evaluation))))
    ways = {(row["estimate"], row["rho"]) for row in rows}
    assert ways == {("xi_alpha", "1.0"), ("xi_alpha", "2.0"), ("holdout", "")}
    found = [
        row for row in rows
        if (row["category"], row["estimate"], row["rho"], row["measure"])
        == ("right", "xi_alpha", "2.0", "f1")
    ]  # fmt: skip
    assert float(found[0]["value"]) == evaluation.at_rho[2.0].by_class["right"]["f1"].value
    assert found[0]["documents"] == "16"
    tested = [row for row in rows if (row["category"], row["estimate"]) == ("right", "holdout")]
    assert {row["documents"] for row in tested} == {"7"}
    assert [row["value"] for row in rows if row["category"] == "late"][:4] == [""] * 4
    assert "" in {row["category"] for row in rows}


def test_json_has_an_entry_a_category(evaluation):
    found = json.loads(CORPUS_FORMATS["json"](evaluation))
    assert found["schema"] == "truerisk/corpus_evaluation/1"
    assert [entry["name"] for entry in found["categories"]] == ["left", "right", "late"]
    right = found["categories"][1]
    assert right["estimates"] == right["at_rho"]["1"]
    assert right["holdout"]["recall"]["value"] == (
        evaluation.holdout.by_class["right"]["recall"].value
    )
    assert found["categories"][2]["estimates"]["f1"]["value"] is None
    assert found["averages"]["at_rho"]["2"]["f1_micro"]["value"] == (
        evaluation.at_rho[2.0]["f1_micro"].value
    )
    assert (found["documents"], found["documents_held_out"]) == (40, 20)


def test_names_that_would_do_something_do_nothing(make):
    hostile = make(name=HOSTILE)
    assert "\x1b" not in printed(hostile)
    assert "\n'=1+1" in CORPUS_FORMATS["csv"](hostile)
    names = [entry["name"] for entry in json.loads(CORPUS_FORMATS["json"](hostile))["categories"]]
    assert HOSTILE in names
