r"""Text that came from data, made inert: the one place where this is done.

Class, column and file names are written by others.  First everything that is not a visible
character becomes its escape (`visible`); then what the format at hand would interpret is quoted.
HTML is escaped by the templates, which are given `visible` texts.

Examples
--------
>>> print(visible("a\x1b[31mb\u202e"))
a\x1b[31mb\u202e
>>> print(markdown("<b>|*"))
&lt;b&gt;\|\*
>>> print(latex("50 % of $x_1$"))
50 \% of \$x\_1\$
>>> print(csv_text("=1+1"), csv_text("-1"))
'=1+1 -1
>>> print(figure_label("_a$b$"))
 _a\$b\$
"""

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

# Controls, formatting (bidi, zero width), surrogates, private and unassigned code points, and the
# two separators that break lines.
INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
MAX_CHARACTERS = 200
MAX_MARKS = 4  # accents on one letter; more of them climb over the lines around it

FORMULA_STARTS = "=+-@\t\r\0＝＋－＠"  # the last four are the full-width forms
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

MARKDOWN = {mark: f"\\{mark}" for mark in "\\`*_{}[]()#!|~$:^=.+"} | {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "@": "&#64;",
}
LATEX = {mark: f"\\{mark}" for mark in "{}$&#%_"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",  # a shorthand in some languages of babel
    "[": "{[}",  # after \\ a bracket or a star is an argument of it
    "]": "{]}",
    "*": "{*}",
}
# Inside a script element the first three could end it or begin another; two are line breaks there.
JSON = {mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}
_JSON = str.maketrans(JSON)
_MARKDOWN = str.maketrans(MARKDOWN)
_LATEX = str.maketrans(LATEX)


def visible(text: object, most: int = MAX_CHARACTERS) -> str:
    """Show what would not be seen, or would move other characters, as its escape.

    A space at either end becomes "␣": two labels that differ only there must not look the same.
    What is shown has at most `most` characters, escapes counted in full.
    """
    result = str(text)
    if len(result) > most:
        result = result[: most - 1] + "…"
    inner = result.strip(" ")
    before = len(result) - len(result.lstrip(" "))
    after = len(result) - len(inner) - before
    shown = "␣" * before + _without_hidden(inner) + "␣" * (after if inner else 0)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def lines_visible(text: str) -> str:
    """Make a message of several lines visible, and keep its lines."""
    return "\n".join(_without_hidden(line) for line in text.split("\n"))


def _without_hidden(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    marks, shown = 0, []
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category == "Mn" else 0
        hidden = category in INVISIBLE or marks > MAX_MARKS
        odd_space = category == "Zs" and character != " "
        shown.append(escape(character) if hidden or odd_space else character)
    return "".join(shown)


def markdown(text: object) -> str:
    """Write a text as itself in a cell of a Markdown table: no mark-up, no HTML, no link."""
    return visible(text).translate(_MARKDOWN)


def latex(text: object) -> str:
    """Write a text as itself in a cell of a LaTeX table."""
    return visible(text).translate(_LATEX)


def csv_text(text: object) -> str:
    """Write a text so that a spreadsheet takes it for a text, not for a formula (CWE-1236)."""
    result = str(text)
    is_formula = result[:1] in FORMULA_STARTS and not NUMBER.fullmatch(result)
    return "'" + visible(result) if result and is_formula else visible(result)


def figure_label(text: object) -> str:
    """Write a text as itself in a figure: matplotlib reads `$` as mathematics, `_` as "hide"."""
    shown = visible(text).replace("$", r"\$")
    return " " + shown if shown.startswith("_") else shown


def json_for_page(plain: Any) -> "Markup":
    """Write plain values as JSON that can stand in a script element of a page."""
    from markupsafe import Markup

    text = json.dumps(plain, allow_nan=False, separators=(",", ":"))
    return Markup(text.translate(_JSON))  # noqa: S704  (no mark-up is left in it)


def escape(character: str) -> str:
    """Write a character as Python does in a text: by its number."""
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
