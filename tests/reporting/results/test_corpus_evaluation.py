import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from truerisk.estimation.corpus.corpus import estimate_corpus
from truerisk.inputs.corpora import Corpus
from truerisk.reporting.page import report_of
from truerisk.reporting.render.formats import formatted
from truerisk.reporting.render.terminal import print_result
from truerisk.reporting.results.corpus_evaluation import (
    CorpusEvaluationPresenter,
    average_table,
    category_table,
    in_one_cell,
)
from truerisk.results import Estimate, Interval

NAMES = ("grain", "<b>metal", "late")


@pytest.fixture(scope="module")
def make():
    def make(*, split=True):
        texts = ("wheat corn rye", "corn wheat oats", "gold silver tin", "tin gold lead") * 6
        labels = [(NAMES[at % 4 // 2],) for at in range(24)]
        labels[-1] = (NAMES[2],)
        labels[2], labels[16], labels[20] = (NAMES[0],), (NAMES[1],), (NAMES[1],)
        return estimate_corpus(
            Corpus(
                ids=tuple(map(str, range(24))),
                texts=texts,
                labels=tuple(labels),
                split=("train",) * 16 + ("test",) * 8 if split else None,
            )
        )

    return make


@pytest.fixture(scope="module")
def chapter(make):
    return CorpusEvaluationPresenter().chapter(make())


def test_the_section_is_plain_values(chapter):
    data = chapter.sections[0].data
    assert json.loads(json.dumps(data)) == data
    assert chapter.subtitle == (
        "16 training documents · 8 held out · 3 categories · ξα, ρ = 1 · 95 % intervals and bounds"
    )


def test_tiles_are_in_percent_and_tell_what_was_held_out(chapter):
    assert [tile.title for tile in chapter.tiles] == ["Wrong decisions", "F1, micro", "F1, macro"]
    for tile in chapter.tiles:
        assert re.fullmatch(r"[\d.]+ %", tile.value)
        assert re.fullmatch(r"held out: [\d.]+ \[[\d.]+, [\d.]+\] %", tile.note)
    assert [mark["words"] for mark in chapter.tiles[1].marks] == ["0", "100"]


def test_each_category_is_drawn_beside_what_was_held_out(chapter):
    data = chapter.sections[0].data
    assert [column["title"] for column in data["columns"]] == [
        "F1", "Precision", "Recall", "Error rate",
    ]  # fmt: skip
    for row in (*data["totals"], *data["rows"][:2]):
        for cell in row["cells"]:
            for place in (cell["first"], cell["second"]):
                assert place["low"] <= place["value"] <= place["high"]
    late = data["rows"][-1]
    assert (late["label"], late["cells"][0]["first"]) == ("late", None)
    assert late["cells"][0]["reason"] == "undefined: no training document carries it"


def test_both_numbers_of_a_category_are_written_and_drawn_where_they_belong(make):
    result = make()
    data = CorpusEvaluationPresenter().chapter(result).sections[0].data
    for row in data["rows"][:2]:
        name = row["label"]
        own, beside = result.by_class[name]["f1"], result.holdout.by_class[name]["f1"]
        cell = row["cells"][0]
        assert own.value != beside.value
        assert (cell["own"], cell["beside"]) == (in_one_cell(own), in_one_cell(beside))
        drawn = cell["first"]["value"] - cell["second"]["value"]
        assert drawn * (own.value - beside.value) > 0


def test_the_averages_stand_on_top_and_are_those_of_the_evaluation(make):
    result = make()
    totals = CorpusEvaluationPresenter().chapter(result).sections[0].data["totals"]
    assert [row["label"] for row in totals] == ["Micro average", "Macro average"]
    assert result["f1_micro"].value != result["f1_macro"].value
    for row, average in zip(totals, ("micro", "macro"), strict=True):
        assert float(row["cells"][0]["own"].split(",")[0]) == pytest.approx(
            100 * result[f"f1_{average}"].value, abs=0.06
        )
        assert float(row["cells"][3]["own"].split(",")[0]) == pytest.approx(
            100 * result["hamming_loss"].value, abs=0.06
        )


def test_the_axes_are_in_percent_and_hold_the_perfect_value(chapter):
    f1, _, _, error = chapter.sections[0].data["columns"]
    assert f1["marks"][-1]["words"] == "100"
    assert error["marks"][0]["words"] == "0"


def test_without_a_hold_out_there_is_one_bar(make):
    data = CorpusEvaluationPresenter().chapter(make(split=False)).sections[0].data
    assert not data["held_out"]
    assert data["ranked"] == data["rows"][0]["ranks"] == []
    assert data["rows"][0]["cells"][0]["second"] is None


@pytest.mark.parametrize("split", [True, False])
def test_the_page_loads_nothing_and_runs_nothing_of_the_data(make, split):
    page = report_of(make(split=split)).html
    assert "<b>metal" not in page
    assert "&lt;b&gt;metal" in page
    assert not re.search(r"https?://|url\(|@import", page)
    assert page.count("data-fixed>") == 2


HOSTILE = "=1+1\x1b[31m<b>"


@pytest.fixture(scope="module")
def make_2():
    """Estimate three categories of 60 documents of two words, one of them without a document."""

    def make_2(*, method="xi_alpha", split=True, name="right"):
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

    return make_2


@pytest.fixture(scope="module")
def evaluation(make_2):
    return make_2()


def printed(evaluation, **options):
    console = Console(file=io.StringIO(), width=120, highlight=False)
    print_result(evaluation, console, **options)
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


def test_without_a_hold_out_there_is_a_row_a_category(make_2):
    table = category_table(make_2(split=False))
    assert [row[0] for row in table.rows] == ["left", "right", "late"]
    assert len(table.columns) == 6


def test_the_averages_of_both_rhos_and_of_the_hold_out_stand_below(evaluation, make_2):
    firsts = [row[0] for row in average_table(evaluation).rows]
    assert firsts == [
        f"{average}, {name}"
        for name in ("ξα, ρ = 1", "ξα, ρ = 2", "held out")
        for average in ("micro", "macro")
    ]
    exact = average_table(make_2(method="leave_one_out"))
    assert exact.rows[0][0] == "micro, leave-one-out"
    assert exact.rows[0][4] == in_one_cell(make_2(method="leave_one_out")["f1_micro"])


def test_shares_are_written_in_percent():
    interval = Interval(0.02276, 0.1293, 0.95, "clopper_pearson")
    estimate = Estimate(value=0.0259, interval=interval, measure="recall", method="x", n=9)
    assert in_one_cell(estimate) == "2.59 [2.28, 12.9]"
    assert in_one_cell(Estimate(value=0.5, interval=None, measure="f1", method="x", n=9)) == "50.0"


def test_what_is_printed_has_the_verdict_the_notes_and_the_settings(evaluation):
    text = printed(evaluation)
    assert "Each category against the rest: ξα, ρ = 1 (95 % intervals and bounds)" in text
    for sentence in (evaluation.verdict[0], evaluation.notes[0]):
        assert " ".join(sentence.split()[:8]) in text
    assert "Not estimated, as no training document carries it: 'late'" in text
    assert dict(CorpusEvaluationPresenter().facts(evaluation))["training documents"] == "40"
    assert max(map(len, text.splitlines())) <= 120


def test_only_the_largest_are_printed_on_request(evaluation):
    text = printed(evaluation, top=1)
    assert "2 smaller categories are not shown; --csv has them all" in text
    assert "\n right" not in text.partition("Averages over")[0]


def test_one_label_per_document_has_its_own_tables(evaluation):
    text = printed(evaluation)
    assert "One label per document: the largest decision value, held out" in text
    assert "Confusion matrix (share of the true class)" in text
    titles = [section.title for section in CorpusEvaluationPresenter().chapter(evaluation).sections]
    assert titles[2:] == [
        "One label per document: the largest decision value, held out",
        "Confusion matrix (share of the true class)",
    ]
    assert "One label per document" not in printed(replace(evaluation, one_label=None))


def test_csv_has_a_row_for_every_way_category_and_measure(evaluation):
    rows = list(csv.DictReader(io.StringIO(formatted(evaluation, "csv"))))
    ways = {(row["estimate"], row["rho"]) for row in rows}
    assert ways == {("xi_alpha", "1.0"), ("xi_alpha", "2.0"), ("holdout", ""), ("one_label", "")}
    result = [
        row for row in rows
        if (row["category"], row["estimate"], row["rho"], row["measure"])
        == ("right", "xi_alpha", "2.0", "f1")
    ]  # fmt: skip
    assert float(result[0]["value"]) == evaluation.at_rho[2.0].by_class["right"]["f1"].value
    assert result[0]["documents"] == "16"
    tested = [row for row in rows if (row["category"], row["estimate"]) == ("right", "holdout")]
    assert {row["documents"] for row in tested} == {"7"}
    assert [row["value"] for row in rows if row["category"] == "late"][:4] == [""] * 4
    assert "" in {row["category"] for row in rows}


def test_json_has_an_entry_a_category(evaluation):
    result = json.loads(formatted(evaluation, "json"))
    assert result["schema"] == "truerisk/corpus_evaluation/1"
    assert [entry["name"] for entry in result["categories"]] == ["left", "right", "late"]
    right = result["categories"][1]
    assert right["estimates"] == right["at_rho"]["1"]
    assert right["holdout"]["recall"]["value"] == (
        evaluation.holdout.by_class["right"]["recall"].value
    )
    assert result["categories"][2]["estimates"]["f1"]["value"] is None
    assert result["averages"]["at_rho"]["2"]["f1_micro"]["value"] == (
        evaluation.at_rho[2.0]["f1_micro"].value
    )
    assert (result["documents"], result["documents_held_out"]) == (40, 20)


def test_names_that_would_do_something_do_nothing(make_2):
    hostile = make_2(name=HOSTILE)
    assert "\x1b" not in printed(hostile)
    assert "\n'=1+1" in formatted(hostile, "csv")
    names = [entry["name"] for entry in json.loads(formatted(hostile, "json"))["categories"]]
    assert HOSTILE in names
