"""Tables that are sorted and narrowed by whoever reads them, with mouse or keyboard."""

import pytest

from truerisk.reporting.document import Chapter, Column, Section, Table, table_section
from truerisk.reporting.page import Report

ROWS = (
    ("svm 10", "1,234", "0.812 [0.7, 0.9]", "12.3 ms", "yes"),
    ("svm 2", "56", "undefined", "1.2 s", "no"),
    ("Äpfel", "∞", "−0.5 [−1, 0]", "45 µs", "no"),
    ("tree", "0.5 %", "2.50e-07", "–", "yes"),
    ("<b>x", "-3", "<0.0001", "2 kB", "no"),
    ("bayes", "-∞", "0.812 [0.1, 0.9]", "999 B", "–"),
)
HEADS = ("Learner", "Examples", "Value", "Cost", "Sure")
UP = {
    "Learner": ["<b>x", "Äpfel", "bayes", "svm 2", "svm 10", "tree"],
    "Examples": ["bayes", "<b>x", "tree", "svm 2", "svm 10", "Äpfel"],
    "Value": ["Äpfel", "tree", "<b>x", "svm 10", "bayes", "svm 2"],
    "Sure": ["svm 2", "Äpfel", "<b>x", "svm 10", "tree", "bayes"],
}
DOWN = {
    "Learner": ["tree", "svm 10", "svm 2", "bayes", "Äpfel", "<b>x"],
    "Value": ["svm 10", "bayes", "<b>x", "tree", "Äpfel", "svm 2"],
    "Sure": ["svm 10", "tree", "svm 2", "Äpfel", "<b>x", "bayes"],
}
AS_IT_CAME = [row[0] for row in ROWS]


def _page(folder, rows):
    columns = tuple(Column(head, numeric=at > 0) for at, head in enumerate(HEADS))
    section = table_section(Table("Learners", columns, tuple(rows)))
    report = Report("Tables", "", (Chapter(title="Tables", subtitle="", sections=(section,)),))
    return report.save(folder / "table.html")


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    return _page(tmp_path_factory.mktemp("short"), ROWS)


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    rows = [(f"learner {at}", str(at), "0.5", "1 s", "yes") for at in range(25)]
    return _page(tmp_path_factory.mktemp("long"), rows)


def _order(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('tbody tr:not([hidden]) th')]"
        ".map((head) => head.textContent)"
    )


def _press(browser, head):
    browser.execute_script(
        "[...document.querySelectorAll('th button')]"
        ".find((button) => button.textContent === arguments[0]).click()",
        head,
    )


@pytest.mark.parametrize("head", list(UP))
def test_a_press_sorts_up_by_value_and_what_is_undefined_comes_last(opened, short, head):
    browser = opened(short)
    _press(browser, head)
    assert _order(browser) == UP[head]


@pytest.mark.parametrize("head", list(DOWN))
def test_a_second_press_sorts_down_and_keeps_the_order_of_equals(opened, short, head):
    browser = opened(short)
    _press(browser, head)
    _press(browser, head)
    assert _order(browser) == DOWN[head]


def test_units_count(opened, short):
    browser = opened(short)
    _press(browser, "Cost")
    order = _order(browser)
    assert [one for one in order if one in {"svm 10", "svm 2", "Äpfel"}] == [
        "Äpfel", "svm 10", "svm 2",
    ]  # fmt: skip
    assert order.index("bayes") < order.index("<b>x")
    assert order[-1] == "tree"


def test_a_third_press_gives_the_order_in_which_the_page_came(opened, short):
    browser = opened(short)
    for _ in range(3):
        _press(browser, "Value")
    assert _order(browser) == AS_IT_CAME
    assert browser.execute_script("return document.querySelectorAll('[aria-sort]').length") == 0


def test_one_head_at_a_time_says_how_it_is_sorted(opened, short):
    browser = opened(short)
    sorted_by = (
        "return [...document.querySelectorAll('th[aria-sort]')]"
        ".map((head) => head.textContent + ' ' + head.getAttribute('aria-sort'))"
    )
    _press(browser, "Value")
    assert browser.execute_script(sorted_by) == ["Value ascending"]
    _press(browser, "Sure")
    assert browser.execute_script(sorted_by) == ["Sure ascending"]


def test_a_keyboard_sorts_too_and_stays_where_it_was(opened, short):
    from selenium.webdriver.common.keys import Keys

    browser = opened(short)
    browser.execute_script("document.querySelectorAll('th button')[0].focus()")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert _order(browser) == UP["Learner"]
    assert browser.switch_to.active_element.text == "Learner"


def test_without_the_script_the_table_is_all_there(browser, short, tmp_path):
    page = tmp_path / "still.html"
    text = short.read_text(encoding="utf-8")
    start = text.index("<script>")
    page.write_text(text[:start] + text[text.index("</script>") :], encoding="utf-8")
    browser.get(page.as_uri())
    assert _order(browser) == AS_IT_CAME
    assert browser.execute_script("return document.querySelectorAll('button').length") == 0


def test_a_short_table_has_no_field_to_narrow_it(opened, short):
    browser = opened(short)
    assert browser.execute_script("return document.querySelectorAll('input').length") == 0


def test_typing_narrows_a_long_table_and_says_to_how_many_rows(opened, long):
    browser = opened(long)
    field = browser.find_element("css selector", ".narrow input")
    field.send_keys("LEARNER 2")
    assert _order(browser) == [
        "learner 2",
        "learner 12",
        *(f"learner {at}" for at in range(20, 25)),
    ]
    assert browser.find_element("css selector", ".narrow output").text == "7 of 25 rows"
    _press(browser, "Examples")
    _press(browser, "Examples")
    assert _order(browser)[0] == "learner 24"
    field.clear()
    browser.execute_script(
        "document.querySelector('.narrow input').dispatchEvent(new Event('input'))"
    )
    assert len(_order(browser)) == 25


def test_the_averages_stay_on_top(opened, tmp_path):
    rows = [_category("few", "3", "90.0"), _category("many", "1,000", "80.0")]
    totals = [_category("micro", "", "85.0")]
    data = {
        "method": "ξα", "held_out": False, "columns": [{"title": "F1", "marks": []}],
        "ranked": [], "totals": totals, "rows": rows, "left_out": 0,
    }  # fmt: skip
    section = Section("categories", "Categories", data)
    chapter = Chapter(title="Corpus", subtitle="", sections=(section,))
    browser = opened(Report("Corpus", "", (chapter,)).save(tmp_path / "corpus.html"))
    for head, first in (("Documents", "few"), ("F1", "many"), ("Category", "few")):
        _press(browser, head)
        assert _order(browser)[:2] == ["micro", first]


def _category(label, documents, value):
    cell = {"own": value, "beside": None, "first": None, "second": None, "reason": ""}
    return {
        "label": label, "documents": documents, "tested": "", "cells": [cell],
        "ranks": [],
    }  # fmt: skip
