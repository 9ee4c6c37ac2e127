"""The judge is judged: a page that talks, or asks for more than itself, is caught."""

import pytest


@pytest.fixture
def page(write):
    """Write a page around a body."""
    head = "<!DOCTYPE html><html lang=en><meta charset=utf-8><title>A page</title>"
    phone = "<meta name=viewport content='width=device-width, initial-scale=1'>"
    return lambda body: write(f"{head}{phone}{body}", "page.html")


def test_a_silent_page_passes(opened, page):
    shown = opened(page("<p>quiet<img alt='' src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"))
    assert shown.find_element("tag name", "body").text == "quiet"


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("<script>console.warn('loud')</script>", "loud"),
        ("<script>undefined_name()</script>", "undefined_name"),
        ("<img src='other.png' alt=''>", "other.png"),
        ("<link rel=stylesheet href='other.css'>", "other.css"),
        ("<iframe src='other.html'></iframe>", "other.html"),
    ],
    ids=["warning", "error", "picture", "style", "frame"],
)
def test_a_page_that_talks_or_asks_is_caught(browser, faults, page, body, word):
    faults(browser, set())
    address = page(body).as_uri()
    browser.get(address)
    found = faults(browser, {address})
    assert any(word in fault for fault in found)


def test_a_screen_is_as_wide_as_was_asked(opened, show, page):
    shown = opened(page(""), width=390)
    assert shown.execute_script("return innerWidth") == 390
    show(width=1200, dark=True)
    dark = "return matchMedia('(prefers-color-scheme: dark)').matches"
    assert shown.execute_script("return innerWidth") == 1200
    assert shown.execute_script(dark)


def test_the_address_may_hold_a_state(opened, page):
    body = "<script>document.title = location.hash</script>"
    assert opened(page(body), fragment="t=0.5").title == "#t=0.5"
    assert opened(page(body), fragment="t=0.6").title == "#t=0.6"
