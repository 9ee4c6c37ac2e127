"""The chapter of models compared on the same examples."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from truerisk.comparison.predictions.compare import compare
from truerisk.reporting.chapters.comparisons import comparisons_chapter
from truerisk.reporting.page.geometry import STRIP
from truerisk.reporting.page.report import report_of

TRUTH = [1] * 40 + [0] * 60
A = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10
B = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6
HOSTILE = '"><img src=x onerror=alert(1)>\u202e'


@pytest.fixture(scope="module")
def two():
    return compare(TRUTH, A, B, names=["a", "b"], region=0.02)


@pytest.fixture(scope="module")
def three():
    return compare(TRUTH, A, B, A, names=["a", HOSTILE, "c"], measures=["error_rate", "f1"])


def drawn(result):
    return comparisons_chapter(result).sections[0].data


def test_differences_are_drawn_against_zero_and_the_region(two):
    higher = next(one for one in drawn(two)["groups"] if one["title"].startswith("Higher"))
    row = next(row for row in higher["rows"] if row["title"] == "Accuracy")
    assert 0 < higher["zero"] < row["strip"]["low"] < row["strip"]["high"] < STRIP
    middle = row["band"]["low"] + row["band"]["width"] / 2
    assert middle == pytest.approx(higher["zero"], abs=0.02)
    assert (higher["band"]["low_words"], higher["band"]["high_words"]) == ("−0.02", "+0.02")
    assert row["seen"] == "a 0.800, b 0.920"
    assert row["p"] == "p = 0.0002"


def test_the_main_difference_stands_first_and_is_drawn_large(two):
    main = drawn(two)["main"]
    assert (main["title"], main["value"], main["finding"]) == ("Error rate", "-0.120", "better")
    assert main["drawn"]["sides"] == {"left": "← b better", "right": "a better →"}
    tiles = comparisons_chapter(two).tiles
    assert [tile.title for tile in tiles] == ["Error rate: a", "Error rate: b", "Error rate: b − a"]
    assert tiles[2].beside == "▲ better"


def test_measures_of_another_scale_have_an_axis_of_their_own(two):
    alone = [one for one in drawn(two)["groups"] if one["title"].endswith("scale of its own")]
    assert {group["rows"][0]["title"] for group in alone} == {
        "Positive likelihood ratio",
        "Negative likelihood ratio",
    }


def test_measures_of_different_regions_share_no_band():
    result = compare(
        TRUTH, A, B, measures=["error_rate", "f1", "recall", "accuracy"], region={"recall": 0.1}
    )
    groups = drawn(result)["groups"]
    assert [[row["title"] for row in group["rows"]] for group in groups] == [
        ["F1", "Accuracy"],
        ["Recall"],
    ]
    assert [group["band"] is None for group in groups] == [True, False]


def test_several_models_are_drawn_pair_by_pair_with_the_corrected_best(three):
    chapter = comparisons_chapter(three)
    groups = chapter.sections[0].data["groups"]
    assert [group["title"].split(".")[0] for group in groups] == ["Error rate", "F1"]
    assert [len(group["rows"]) for group in groups] == [3, 3]
    assert groups[0]["sides"]["left"] == "← second better"
    assert chapter.tiles[-1].title.startswith("The best, corrected")


def test_what_only_holds_for_a_pair_alone_is_not_coloured_as_a_finding():
    called = [[1] * right + [0] * (20 - right) for right in (11, 17, 16)]
    result = compare([1] * 20, *called, names=["a", "b", "c"], measures=["accuracy", "recall"])
    rows = drawn(result)["groups"][0]["rows"]
    assert [(row["finding"], row["mark"]) for row in rows][1] == ("better alone", "none")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_page_holds_names_as_texts_and_fetches_nothing(three):
    page = report_of(three).html
    parser = Tags()
    parser.feed(page)
    assert "img" not in {tag for tag, _ in parser.found}
    names = {name for _, attributes in parser.found for name in attributes}
    assert not any(name.startswith("on") or name == "style" for name in names)
    assert "default-src 'none'" in unescape(page)
    assert "\u202e" not in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_the_page_tells_who_is_right_where_and_holds_no_rows(two, tmp_path):
    path = report_of(two).save(tmp_path / "page.html")
    text = re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))
    assert "Right on how many examples" in text
    assert re.search(r"a\s+b\s+80\s+0\s+12\s+8", text)


def test_identical_models_are_drawn_at_zero():
    group = drawn(compare(TRUTH, A, A))["groups"][0]
    assert group["rows"][0]["strip"]["value"] == group["zero"]
