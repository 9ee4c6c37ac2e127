"""Every kind of page in a browser: silent, alone, and whole on any screen and on paper."""

import base64
import hashlib
import re

import pytest

from truerisk.evaluation import evaluate_counts

MAX_BYTES = 1_500_000
WIDTHS = (320, 390, 768, 1200)  # the first is 1280 at 400 %, as WCAG 2.1 asks (1.4.10)
PAPER = 717  # pixels of CSS across A4 less margins of 1 cm
CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex]"

# What is wider than the screen though nothing around it scrolls: the page would scroll sideways.
TOO_WIDE = """
const wide = [];
for (const element of document.body.querySelectorAll("*")) {
  const box = element.getBoundingClientRect();
  let holder = element.parentElement;
  while (holder && !["auto", "scroll", "hidden"].includes(getComputedStyle(holder).overflowX)) {
    holder = holder.parentElement;
  }
  if (!holder && box.right > arguments[0] + 1 && box.width > 1) {
    wide.push(`${element.tagName} ${element.className} ${Math.round(box.right)}`);
  }
}
return wide.slice(0, 5);
"""

# A box that scrolls sideways must take the focus: without a mouse there is no other way in.
UNREACHABLE = """
return [...document.querySelectorAll("body *")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1)
  .filter((element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX))
  .filter((element) => element.tabIndex < 0)
  .map((element) => element.outerHTML.slice(0, 80));
"""

# Enters each control as the Tab key does, and compares how it looks before and after.
FOCUS = """
const looks = (element) => {
  const style = getComputedStyle(element);
  return [style.outlineStyle, style.outlineWidth, style.boxShadow, style.borderColor,
    style.backgroundColor, style.transform, style.clip].join();
};
const unseen = [];
for (const element of document.querySelectorAll(arguments[0])) {
  if (element.disabled || element.tabIndex < 0 || !element.checkVisibility()) continue;
  const before = looks(element);
  element.focus({ focusVisible: true });
  if (document.activeElement !== element) unseen.push(["no focus", element.outerHTML.slice(0, 80)]);
  else if (looks(element) === before) unseen.push(["not seen", element.outerHTML.slice(0, 80)]);
}
return unseen;
"""

# Counts what Tab should come to, and keeps what it comes to.
LISTEN = """
document.activeElement.blur();
window.visited = new Set();
document.addEventListener("focusin", (event) => window.visited.add(event.target));
return [...document.querySelectorAll(arguments[0])]
  .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility())
  .length;
"""

# Tries four ways in, and gives what the browser refused.
INTRUDE = """
const [wanted, done] = arguments;
const refused = [];
document.addEventListener("securitypolicyviolation", (event) => {
  refused.push(event.effectiveDirective);
  if (refused.length === wanted) done(refused.sort());
});
const script = document.createElement("script");
script.textContent = "window.ran = true";
const button = document.createElement("button");
button.setAttribute("onclick", "window.ran = true");
button.setAttribute("style", "color: red");
const picture = document.createElement("img");
picture.src = "other.png";
document.body.append(script, button, picture);
button.click();
"""


def policy_of(text):
    return re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_it_opens_with_no_message_and_no_request(opened, page):
    shown = opened(page)
    assert shown.title
    assert len(shown.find_elements("tag name", "h1")) == 1
    assert len(shown.find_elements("tag name", "main")) == 1
    assert shown.execute_script("return document.compatMode") == "CSS1Compat"
    assert page.stat().st_size < MAX_BYTES


def test_its_policy_names_what_is_in_it_and_nothing_else(page):
    text = page.read_text(encoding="utf-8")
    policy = dict(
        part.strip().replace("&#39;", "'").partition(" ")[::2]
        for part in policy_of(text).split("; ")
    )
    assert policy["default-src"] == "'none'"
    assert not any(word in told for told in policy.values() for word in ("unsafe", "*", "http"))
    for tag in ("style", "script"):
        inside = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        hashes = set(re.findall(r"'([^']+)'", policy.get(f"{tag}-src", "")))
        assert hashes == {digest(one) for one in inside}
        # Data stands beside them, in a block of a type that no browser runs.
        others = re.findall(rf"<{tag}\b(?!>)[^>]*>", text)
        assert set(others) <= {'<script type="application/json">'}


@pytest.mark.parametrize("kind", ["score", "score undefined"], ids=["scripts", "no scripts"])
def test_what_is_put_in_later_does_not_run(browser, faults, made, kind):
    browser.get(made(kind).as_uri())
    refused = browser.execute_async_script(INTRUDE, 4)
    assert refused == ["img-src", "script-src-attr", "script-src-elem", "style-src-attr"]
    assert browser.execute_script("return window.ran === undefined")
    browser.get("about:blank")
    faults(browser, set())  # the browser told the console of each refusal


def test_it_never_scrolls_sideways(opened, show, page):
    shown = opened(page, width=WIDTHS[0])
    for width in WIDTHS:
        show(width=width)
        assert shown.execute_script(TOO_WIDE, width) == []
        assert shown.execute_script("return document.scrollingElement.scrollWidth") <= width
        assert shown.execute_script(UNREACHABLE) == []


def test_every_control_is_reached_by_keyboard_and_seen(opened, page):
    from selenium.webdriver import ActionChains, Keys

    shown = opened(page)
    assert shown.execute_script(FOCUS, CONTROLS) == []
    wanted = shown.execute_script(LISTEN, CONTROLS)
    ActionChains(shown).send_keys(Keys.TAB * (wanted + 2)).perform()
    assert shown.execute_script("return window.visited.size") >= wanted


def test_it_prints_all_that_it_says(opened, show, page):
    shown = opened(page, dark=True)
    words = shown.execute_script("return document.querySelector('main').innerText")
    show(medium="print", dark=True, width=PAPER)
    assert shown.execute_script("return document.scrollingElement.scrollWidth") <= PAPER
    printed = shown.execute_script("return document.querySelector('main').innerText")
    # Controls may go, numbers may not.
    assert set(re.findall(r"\d\.\d+", words)) <= set(re.findall(r"\d\.\d+", printed))
    headings = shown.find_elements("css selector", "h1, h2")
    assert all(heading.is_displayed() for heading in headings)
    paper = shown.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper in {"rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"}


def test_paper_takes_it(opened, made):
    told = opened(made("score")).execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    paper = base64.b64decode(told["data"])
    assert paper.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 2


def test_a_notebook_shows_a_page_in_a_frame_and_a_result_in_its_own_colours(opened, write):
    result = evaluate_counts([[50, 50], [40, 850]])
    frame, compact = result.report()._repr_html_(), result._repr_html_()
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>A notebook</title>'
    shown = opened(write(f"{head}<body>{frame}<div>{compact}</div>", "notebook.html"))
    words = shown.execute_script("return document.body.innerText")
    assert result.verdict[0] in words
    shown.switch_to.frame(shown.find_element("tag name", "iframe"))
    inside = shown.execute_script("return document.body.innerText")
    shown.execute_script("document.querySelector('.contents a').click()")
    address = shown.execute_script("return location.href")
    shown.switch_to.default_content()
    assert result.verdict[0] in inside
    assert address == "about:srcdoc#section-1-1"  # and not the notebook once more
