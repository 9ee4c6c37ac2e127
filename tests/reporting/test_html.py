import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from truerisk.reporting.html import page_html, save_report

VOID = {"meta", "line", "circle", "path", "rect"}


class Checker(HTMLParser):
    """Collects what a page is made of, and whether every element is closed in order."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.attributes, self.text, self.open = set(), [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def page(evaluation_with_curves):
    return page_html(evaluation_with_curves)


def test_every_element_is_closed(page, make_evaluation):
    assert Checker(page).open == []
    three = make_evaluation(("a", "b", "c"), counts=np.eye(3, dtype=int))
    assert Checker(page_html(three)).open == []


def test_the_page_runs_nothing_and_loads_nothing(page):
    found = Checker(page)
    assert not found.elements & {"script", "link", "img", "iframe", "object", "embed", "form", "a"}
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name == "style"]
    assert not re.search(r"https?://|url\(|@import|data:(?!;|$|\")", page.split("img-src data:")[1])


def test_the_policy_names_the_hash_of_the_style_that_is_there(page):
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(
        value
        for tag, name, value in Checker(page).attributes
        if name == "content" and "src" in value
    )
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:"


def test_the_verdict_stands_before_the_numbers(page):
    places = [page.index(word) for word in ("misjudged", "Every measure", "What was called", "ROC")]
    assert places == sorted(places)


def test_it_can_be_read_on_a_phone_and_in_the_dark(page):
    assert 'content="width=device-width, initial-scale=1"' in page
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 44rem" in page


def test_a_report_is_the_page(tmp_path, evaluation):
    path = save_report(evaluation, tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == page_html(evaluation)


def test_the_same_evaluation_gives_the_same_bytes(evaluation):
    assert page_html(evaluation) == page_html(evaluation)
