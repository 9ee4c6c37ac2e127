import csv
import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerisk.reporting.escaping import (
    FORMULA_STARTS,
    INVISIBLE,
    NUMBER,
    csv_text,
    figure_label,
    json_for_page,
    latex,
    lines_visible,
    markdown,
    visible,
)

anything = st.text(st.characters(), max_size=60)


@given(anything)
def test_nothing_invisible_is_left(text):
    shown = visible(text)
    assert not [c for c in shown if unicodedata.category(c) in INVISIBLE]
    assert not [c for c in shown if unicodedata.category(c) == "Zs" and c != " "]


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=60))
def test_what_can_be_seen_stays_as_it_is(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("a\u200bb", r"a\u200bb"),
        ("line\nbreak\tand\rreturn", r"line\nbreak\tand\rreturn"),
        ("\ud800", r"\ud800"),
        ("\u2028", r"\u2028"),
        ("\ue000", r"\ue000"),
        ("no\xa0break", r"no\xa0break"),
        ("b ", "b␣"),
        ("  b", "␣␣b"),
        (" ", "␣"),
        ("é", "é"),
        ("e\u0301", "e\u0301"),
    ],
)
def test_an_escape_names_what_was_there(text, shown):
    assert visible(text) == shown


def test_accents_do_not_pile_up_over_other_lines():
    assert visible("a" + "\u0301" * 100, most=300).count("\u0301") == 4


def test_a_very_long_text_is_cut_and_says_so():
    assert visible("x" * 10**6) == "x" * 199 + "…"
    # Escapes are longer than what they stand for; a page of many such names must not grow by them.
    hidden = visible("\U000e0041" * 200)
    assert hidden.startswith("\\U000e0041")
    assert hidden.endswith("…")
    assert len(hidden) == 200


def test_a_message_keeps_its_lines_and_nothing_else():
    assert lines_visible("one\ntwo\x1b[0m") == "one\ntwo\\x1b[0m"


@given(anything)
def test_markdown_holds_no_html_no_cell_border_and_no_line_end(text):
    shown = markdown(text)
    assert not set("<>\n\r") & set(shown)
    assert "|" not in shown.replace(r"\|", "")
    assert "`" not in shown.replace(r"\`", "")


def test_markdown_makes_no_link_of_an_address():
    assert markdown("https://x.org me@x.org") == r"https\://x\.org me&#64;x\.org"


@given(anything)
def test_latex_has_no_command_that_is_not_ours(text):
    bare = latex(text)
    for ours in (r"\textbackslash{}", r"\textasciicircum{}", r"\textasciitilde{}"):
        bare = bare.replace(ours, "")
    for ours in (r"\textless{}", r"\textgreater{}", r"\textbar{}", r"\char34{}"):
        bare = bare.replace(ours, "")
    for ours in (r"\{", r"\}", r"\$", r"\&", r"\#", r"\%", r"\_", "{[}", "{]}", "{*}"):
        bare = bare.replace(ours, "")
    assert not set('\\{}$&#%_^~<>|"') & set(bare)


def test_a_latex_row_may_begin_with_a_bracket_or_a_star():
    assert latex("[2pt] *x") == "{[}2pt{]} {*}x"


@given(st.sampled_from(sorted(FORMULA_STARTS)), anything)
def test_a_spreadsheet_gets_no_formula(start, text):
    cell = csv_text(start + text)
    assert cell.startswith("'") or NUMBER.fullmatch(cell)


@pytest.mark.parametrize("label", ["-1", "+1", "-1.5e-3", "1", "spam", "a=b", ""])
def test_labels_that_are_numbers_or_harmless_are_left_alone(label):
    assert csv_text(label) == label


@given(anything)
def test_a_csv_cell_comes_back_as_one_cell(text):
    page = io.StringIO()
    csv.writer(page).writerow([csv_text(text), "end"])
    assert next(csv.reader(io.StringIO(page.getvalue()))) == [csv_text(text), "end"]


def test_a_figure_shows_dollars_and_leading_underscores():
    assert figure_label("$x$") == r"\$x\$"
    assert figure_label("_hidden") == " _hidden"


def test_json_of_a_page_cannot_end_its_script():
    assert json_for_page({"name": "</script>"}) == r'{"name":"\u003c/script\u003e"}'
