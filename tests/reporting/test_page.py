import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from truerisk import InputError
from truerisk.reporting.document import Chapter
from truerisk.reporting.page import report_of, report_on, save_report
from truerisk.reporting.render.html import rendered

VOID = {"meta", "line", "circle", "path", "rect", "input"}


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


def digest_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page_html(evaluation):
    return report_of(evaluation).html


@pytest.fixture
def page(evaluation):
    return page_html(evaluation)


def test_every_element_is_closed(page, make_evaluation):
    assert Checker(page).open == []
    three = make_evaluation(("a", "b", "c"), counts=np.eye(3, dtype=int))
    assert Checker(page_html(three)).open == []


def test_the_page_runs_nothing_and_loads_nothing(page):
    result = Checker(page)
    assert not result.elements & {"link", "img", "iframe", "object", "embed", "form"}
    addresses = [value for tag, name, value in result.attributes if name in {"href", "src"}]
    assert addresses
    assert all(address.startswith("#") for address in addresses)
    assert not [
        name for _, name, _ in result.attributes if name.startswith("on") or name == "style"
    ]
    assert not re.search(r"https?://|url\(|@import|data:", page)


def test_the_policy_names_the_hashes_of_what_is_there_and_nothing_else(page, make_evaluation):
    classes = make_evaluation(("a", "b", "c"), counts=np.eye(3, dtype=int))
    for text in (page, page_html(classes)):
        policy = next(
            value
            for _, name, value in Checker(text).attributes
            if name == "content" and "src" in value
        )
        parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert parts.pop("default-src") == "'none'"
        assert {parts.pop("base-uri"), parts.pop("form-action")} == {"'none'"}
        blocks = {
            f"{tag}-src": f"'{digest_of(result)}'"
            for tag, result in re.findall(
                r"<(style|script)>(.*?)</(?:style|script)>", text, re.DOTALL
            )
        }
        assert parts == blocks


def test_the_verdict_stands_before_the_numbers(page):
    places = [
        page.index(word)
        for word in ("misjudged", "Every measure", "What was called", "Where the numbers came from")
    ]
    assert places == sorted(places)


def test_it_can_be_read_on_a_phone_and_in_the_dark(page):
    assert 'content="width=device-width, initial-scale=1"' in page
    assert "prefers-color-scheme: dark" in page
    assert "max-width: 44rem" in page


def test_headings_go_down_one_level_at_a_time(page, evaluation):
    both = report_on({"Old": evaluation, "New": evaluation}, title="Spam")
    for text, chapters in ((page, 0), (both.html, 2)):
        levels = [int(level) for level in re.findall(r"<h([1-6])", text)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
        assert levels.count(1) == 1
        assert len(re.findall(r'<h2 id="chapter-', text)) == chapters


def test_no_two_places_on_a_page_have_one_name(evaluation):
    text = report_on({"Old": evaluation, "New": evaluation}, title="Spam").html
    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= set(names)
    labels = re.findall(r'aria-labelledby="([^"]+)"', text)
    assert {name for label in labels for name in label.split()} <= set(names)


def test_titles_of_several_results_are_inert(evaluation):
    text = report_on({"<script>alert(1)</script>": evaluation}, title="<b>", subtitle="<i>").html
    assert "<script>alert" not in text
    assert "&lt;b&gt;" in text


def test_every_page_ends_with_what_to_do_and_where_it_came_from(page):
    places = [
        page.index(words) for words in ("What to do next", "Every measure", "keep its promise")
    ]
    assert places == sorted(places)
    assert "predictions.csv" in page
    assert "ab" * 32 in page


def test_where_data_came_from_can_be_told_of_results_that_do_not_know(make_estimate):
    text = make_estimate("recall", 0.5, 0.4, 0.6).report(source={"path": "a.csv", "rows": 3}).html
    assert "a.csv" in text


def test_commands_in_next_steps_are_set_as_code():
    chapter = Chapter(title="t", subtitle="", next_steps=("Run `truerisk <b>` now.",))
    text = rendered("t", "", [chapter])
    assert "Run <code>truerisk &lt;b&gt;</code> now." in text


def test_what_is_no_result_has_no_page():
    with pytest.raises(InputError, match="must be a result of truerisk"):
        report_of(3)
    with pytest.raises(InputError, match="at least one result"):
        report_on({}, title="nothing")


def test_a_notebook_shows_the_whole_page_in_a_frame_of_its_own(evaluation):
    shown = evaluation.report()._repr_html_()
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in shown
    assert shown.count("<") == 2  # the page itself is escaped
    # A bare place would be one of the notebook, which would then be loaded into the frame.
    assert "href=&quot;#" not in shown
    assert "href=&quot;about:srcdoc#section-1-1&quot;" in shown


def test_a_report_is_the_page(tmp_path, evaluation):
    path = save_report(evaluation, tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == page_html(evaluation)


def test_the_same_evaluation_gives_the_same_bytes(evaluation):
    assert page_html(evaluation) == page_html(evaluation)
