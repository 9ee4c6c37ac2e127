import re
from html import unescape
from html.parser import HTMLParser

import pytest

from truerisk.comparison.compare import compare
from truerisk.reporting.comparisons_page import comparison_data, comparison_html, save_comparison
from truerisk.reporting.geometry import STRIP

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


def test_differences_are_drawn_against_zero_and_the_region(two):
    groups = comparison_data(two)["groups"]
    lower = next(group for group in groups if group["title"] == "Lower is better")
    row = next(row for row in lower["rows"] if row["title"] == "Error rate")
    assert 0 < row["strip"]["low"] < row["strip"]["high"] < lower["zero"] < STRIP
    middle = row["band"]["low"] + row["band"]["width"] / 2
    assert middle == pytest.approx(lower["zero"], abs=0.02)
    assert row["seen"] == "a 0.200, b 0.080"
    assert row["p"] == "p = 0.0002"


def test_measures_of_another_scale_have_an_axis_of_their_own(two):
    groups = comparison_data(two)["groups"]
    alone = [group for group in groups if group["title"] == "On a scale of its own"]
    assert {group["rows"][0]["title"] for group in alone} == {
        "Positive likelihood ratio",
        "Negative likelihood ratio",
    }


def test_several_models_are_drawn_pair_by_pair_with_the_corrected_best(three):
    data = comparison_data(three)
    assert [group["title"] for group in data["groups"]] == ["Error rate", "F1"]
    assert [len(group["rows"]) for group in data["groups"]] == [3, 3]
    assert data["headlines"][-1]["title"].startswith("The best, corrected")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_the_page_runs_nothing_and_fetches_nothing(three):
    page = comparison_html(three)
    parser = Tags()
    parser.feed(page)
    assert "script" not in {tag for tag, _ in parser.found}
    assert "img" not in {tag for tag, _ in parser.found}
    assert not any(name.startswith("on") for _, attributes in parser.found for name in attributes)
    assert "default-src 'none'" in unescape(page)
    assert "\u202e" not in page
    assert "built-in method" not in page
    assert not re.search(r"https?://(?!www\.w3\.org)", page)


def test_the_page_tells_who_is_right_where_and_holds_no_rows(two, tmp_path):
    path = save_comparison(two, tmp_path / "page.html")
    text = re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8"))
    assert "Right on how many examples" in text
    assert re.search(r"a\s+b\s+80\s+0\s+12\s+8", text)


def test_identical_models_are_drawn_at_zero():
    result = compare(TRUTH, A, A)
    row = comparison_data(result)["groups"][0]["rows"][0]
    group = comparison_data(result)["groups"][0]
    assert row["strip"]["value"] == group["zero"]
