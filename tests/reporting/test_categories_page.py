import json
import re
from html.parser import HTMLParser

import pytest

from truerisk.estimation.corpus import estimate_corpus
from truerisk.reading.corpora import Corpus
from truerisk.reporting.categories_page import categories_data, categories_html, save_categories

VOID = {"meta", "line", "circle", "br"}
NAMES = ("grain", "<b>metal", "late")


@pytest.fixture(scope="module")
def make():
    def make(*, split=True):
        texts = ("wheat corn rye", "corn wheat oats", "gold silver tin", "tin gold lead") * 6
        labels = [(NAMES[at % 4 // 2],) for at in range(24)]
        labels[-1] = (NAMES[2],)
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
def evaluation(make):
    return make()


class Checker(HTMLParser):
    """Finds out whether every element is closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements = [], set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, _):
        self.elements.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, _):
        self.handle_starttag(tag, _)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("split", [True, False])
def test_the_page_is_whole_and_runs_nothing(make, split):
    page = categories_html(make(split=split))
    found = Checker(page)
    assert found.open == []
    assert not found.elements & {"script", "link", "img", "iframe", "form", "a", "b>metal"}
    assert not re.search(r"https?://|url\(|@import", page)
    assert "&lt;b&gt;metal" in page


def test_the_data_of_a_page_are_plain_values(evaluation):
    data = json.loads(json.dumps(categories_data(evaluation)))
    assert data["subtitle"] == "16 training documents · 8 held out · 3 categories · 95 % intervals"
    assert [tile["title"] for tile in data["headlines"]] == [
        "Wrong decisions",
        "F1, micro",
        "F1, macro",
    ]


def test_each_category_is_drawn_beside_what_was_held_out(evaluation):
    pictures = categories_data(evaluation)["pictures"]
    assert [picture["title"] for picture in pictures] == [
        "F1 of each category",
        "Error rate of each category",
    ]
    for picture in pictures:
        for row in picture["rows"][:2]:
            for place in (row["first"], row["second"]):
                assert place["low"] <= place["value"] <= place["high"]
    late = pictures[0]["rows"][-1]
    assert (late["label"], late["first"]) == ("late", None)
    assert late["reason"] == "undefined: no training document carries it"


def test_the_axis_is_in_percent_and_holds_the_perfect_value(evaluation):
    f1, error = categories_data(evaluation)["pictures"]
    assert f1["marks"][-1]["words"] == "100"
    assert error["marks"][0]["words"] == "0"


def test_without_a_hold_out_there_is_one_bar(make):
    data = categories_data(make(split=False))
    assert not data["held_out"]
    assert data["pictures"][0]["rows"][0]["second"] is None


def test_the_page_is_written_to_a_file(evaluation, tmp_path):
    path = save_categories(evaluation, tmp_path / "report.html")
    assert "How well will each category be told?" in path.read_text(encoding="utf-8")
