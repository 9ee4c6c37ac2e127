"""The chapter of a corpus: each category beside what was held out, all of it inert."""

import json
import re

import pytest

from truerisk.estimation.corpus.corpus import estimate_corpus
from truerisk.inputs.corpora.corpora import Corpus
from truerisk.reporting.categories import in_one_cell
from truerisk.reporting.chapters.corpus import corpus_chapter
from truerisk.reporting.page.report import report_of

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
    return corpus_chapter(make())


def test_the_section_is_plain_values(chapter):
    data = chapter.sections[0].data
    assert json.loads(json.dumps(data)) == data
    assert chapter.subtitle == (
        "16 training documents · 8 held out · 3 categories · ξα, ρ = 1 · 95 % intervals"
    )


def test_tiles_are_in_percent_and_tell_what_was_held_out(chapter):
    assert [tile.title for tile in chapter.tiles] == ["Wrong decisions", "F1, micro", "F1, macro"]
    for tile in chapter.tiles:
        assert re.fullmatch(r"[\d.]+ %", tile.value)
        assert re.fullmatch(r"held out: [\d.]+ \[[\d.]+, [\d.]+\] %", tile.beside)
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
    found = make()
    data = corpus_chapter(found).sections[0].data
    for row in data["rows"][:2]:
        name = row["label"]
        own, beside = found.by_class[name]["f1"], found.holdout.by_class[name]["f1"]
        cell = row["cells"][0]
        assert own.value != beside.value
        assert (cell["own"], cell["beside"]) == (in_one_cell(own), in_one_cell(beside))
        drawn = cell["first"]["value"] - cell["second"]["value"]
        assert drawn * (own.value - beside.value) > 0


def test_the_averages_stand_on_top_and_are_those_of_the_evaluation(make):
    found = make()
    totals = corpus_chapter(found).sections[0].data["totals"]
    assert [row["label"] for row in totals] == ["Micro average", "Macro average"]
    assert found["f1_micro"].value != found["f1_macro"].value
    for row, average in zip(totals, ("micro", "macro"), strict=True):
        assert float(row["cells"][0]["own"].split()[0]) == pytest.approx(
            100 * found[f"f1_{average}"].value, abs=0.06
        )
        assert float(row["cells"][3]["own"].split()[0]) == pytest.approx(
            100 * found["hamming_loss"].value, abs=0.06
        )


def test_the_axes_are_in_percent_and_hold_the_perfect_value(chapter):
    f1, _, _, error = chapter.sections[0].data["columns"]
    assert f1["marks"][-1]["words"] == "100"
    assert error["marks"][0]["words"] == "0"


def test_without_a_hold_out_there_is_one_bar(make):
    data = corpus_chapter(make(split=False)).sections[0].data
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
