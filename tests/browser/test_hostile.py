"""Names written by an attacker, in every place a page shows a name: all read, none of them runs.

Each would set `window.pwned`, open a dialog, fetch something, or break out of where it stands.
"""

import csv

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.dummy import DummyClassifier

import truerisk as tr
from truerisk.cli import main
from truerisk.inputs.corpora import Corpus
from truerisk.reporting.escaping import visible

HOSTILE = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "<!--<script>window.pwned=1//",
    "--><script>window.pwned=1</script>",
    '"><img src=x onerror=window.pwned=1>',
    "'><svg/onload=window.pwned=1>",
    "` onfocus=window.pwned=1 autofocus `",
    '" onmouseover="window.pwned=1" x="',
    "</title><svg><script>window.pwned=1</script>",
    "</style><style>*{display:none!important}",
    "</td></tr></table></main></body><h1>owned",
    "</text></svg><iframe srcdoc='<script>parent.pwned=1</script>'>",
    "<iframe src=javascript:parent.pwned=1>",
    "<object data=data:text/html,x><embed src=x>",
    "<base href=//x.invalid/><link rel=stylesheet href=x>",
    "<meta http-equiv=refresh content=0;url=//x.invalid>",
    "<form action=//x.invalid><button autofocus>",
    "<details open ontoggle=window.pwned=1>",
    "<math><mtext><style><img src=x onerror=window.pwned=1>",
    "<template><script>window.pwned=1</script>",
    "<![CDATA[<script>window.pwned=1</script>]]>",
    "javascript:window.pwned=1",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "&#60;img src=x onerror=window.pwned=1&#62;",
    "&NewLine;&Tab;&lt",
    "{{ 7 * 7 }}",
    "{% for x in ().__class__.__mro__ %}{{ x }}{% endfor %}",
    "{# hidden #}${7*7}#{7*7}<%= 7*7 %>",
    "\\u003cscript\\u003ewindow.pwned=1\\u003c/script\\u003e",
    "\\x3cscript\\x3ewindow.pwned=1",
    "');window.pwned=1;('",
    '"];window.pwned=1;["',
    "url(//x.invalid/a.png);background:url(x)",
    "@import '//x.invalid/a.css';",
    "=cmd|' /C calc'!A0",
    "__proto__",
    "constructor",
    "a\u202egnp.exe\u202c\u2066b\u2069",
    "zero\u200bwidth\ufeff\u00ad\u2060",
    "line\u2028separator\u2029paragraph",
    "a" + "\u0301" * 40,
    "\x1b[31mred\x07\x7f\x9b",
    "two\nlines\ttab",
    "‘“”’«»'\"`´\\",
    "🏴‍☠️ 漢字 ﷽ עִבְרִית العربية",
    "W" * 240,
)
IN_MEMORY = (*HOSTILE, "\ud800lone")  # no file can hold the last
NAMES = (*IN_MEMORY, "nul\0byte")  # which labels must not hold, but names may

# What the pages are made of; nothing else may be there, and of these nothing that runs or loads.
# A style in the file would be refused, and the refusal be heard; the explorer's own are no such.
INTRUDERS = """
const known = new Set(arguments[0].split(" "));
const found = window.pwned === undefined ? [] : ["it ran"];
for (const element of document.querySelectorAll("*")) {
  if (!known.has(element.localName)) found.push(`<${element.localName}>`);
  for (const { name, value } of element.attributes) {
    const runs = name.startsWith("on") || ["srcdoc", "action", "autofocus"].includes(name);
    const loads = /^(href|xlink:href)$/.test(name) && !value.startsWith("#");
    const fetches = /^(src|data|poster)$/.test(name);
    if (runs || loads || fetches) found.push(`${element.localName} ${name}=${value}`);
  }
}
if (document.querySelectorAll("meta[http-equiv]").length !== 1) found.push("a second policy");
if (document.querySelectorAll("body").length !== 1) found.push("a second body");
if (document.querySelectorAll("h1").length !== 1) found.push("a second heading");
return found;
"""
ELEMENTS = (
    "html head meta title style body script header nav main article section aside footer h1 h2 h3 "
    "h4 h5 p a ol ul li dl dt dd div span b strong em small abbr code sub sup br hr table caption "
    "colgroup col thead tbody tfoot tr th td figure figcaption svg g defs title desc clipPath path "
    "line polyline polygon rect circle text tspan use linearGradient stop pattern label input "
    "output button select option fieldset legend details summary progress meter kbd time noscript"
)


def words(text):
    """Forget how a text is broken into lines."""
    return " ".join(text.split())


@pytest.fixture
def inert(opened):
    """Open a page; give what is wrong with it, and which of these names cannot be read on it."""

    def inert(path, names):
        shown = opened(path, width=390)
        found = shown.execute_script(INTRUDERS, ELEMENTS)
        width = shown.execute_script("return document.scrollingElement.scrollWidth")
        text = words(shown.execute_script("return document.body.innerText"))
        unread = [name for name in names if words(visible(name)) not in text]
        return found, width - 390, unread

    return inert


def test_there_are_more_than_forty_of_them():
    assert len(set(NAMES)) == len(NAMES) >= 40


@pytest.mark.parametrize("first", range(0, len(HOSTILE), 5))
def test_in_classes_columns_and_files_of_a_command(inert, tmp_path, monkeypatch, first):
    monkeypatch.chdir(tmp_path)
    names = [HOSTILE[(first + at) % len(HOSTILE)] for at in range(5)]
    truth, call, score, weight, ident = names
    # A file that begins with a brace is JSON lines: the first column is a plain one.
    rows = [[at, names[at % 2], names[at % 3 > 0], at % 5 / 4, 1, f"e{at}"] for at in range(20)]
    kept = [f"{name}.csv" for name in names if "/" not in name] or ["plain.csv"]
    for file, part in zip(kept, np.array_split(np.arange(20), len(kept)), strict=True):
        with (tmp_path / file).open("w", newline="", encoding="utf-8") as opened_file:
            csv.writer(opened_file).writerows([["row", *names], *(rows[at] for at in part)])
    options = ("--truth", truth, "--pred", call, "--score", score, "--weight", weight)
    more = ("--id", ident, "--positive", names[0], "--delimiter", ",", "--html", "report.html")
    ended = CliRunner().invoke(main, ["score", *(f"./{file}" for file in kept), *options, *more])
    assert ended.exit_code in {0, 4}, (ended.stderr, ended.exception)
    assert inert(tmp_path / "report.html", [*names, *kept]) == ([], 0, [])


@pytest.mark.parametrize("names", [IN_MEMORY[:24], IN_MEMORY[24:]], ids=["first", "second"])
def test_in_many_classes(inert, tmp_path, names):
    truth = [*names, *names, *names]
    called = [*names, *names[1:], names[0], *names[2:], *names[:2]]
    page = tr.evaluate(truth, called).report().save(tmp_path / "report.html")
    assert inert(page, names) == ([], 0, [])


@pytest.mark.parametrize("first", range(0, len(IN_MEMORY), 8))
def test_in_names_of_compared_models(inert, tmp_path, first):
    names = NAMES[first : first + 8]
    rng = np.random.default_rng(first)
    truth = np.arange(60) % 2
    calls = [np.where(rng.random(60) < 0.8, truth, 1 - truth) for _ in names]
    found = tr.compare(truth, *calls, names=names, measures=("error_rate",), random_state=1)
    assert inert(found.report().save(tmp_path / "report.html"), names) == ([], 0, [])


def test_in_names_of_ranked_classifiers_and_datasets(inert, tmp_path):
    scores = np.random.default_rng(1).random((6, len(NAMES))).round(3)
    found = tr.compare_over_datasets(scores, names=NAMES, datasets=NAMES[:6], control=NAMES[0])
    assert inert(found.report().save(tmp_path / "report.html"), NAMES) == ([], 0, [])


def test_in_names_of_learners(inert, tmp_path):
    learners = {name: DummyClassifier() for name in NAMES}
    X, y = np.zeros((40, 1)), np.arange(40) % 2
    curves = tr.learning_curve(
        learners, X, y, sizes=(10, 20), repeats=2, estimate=None, random_state=1
    )
    assert inert(curves.report().save(tmp_path / "curve.html"), NAMES) == ([], 0, [])
    few = {name: learners[name] for name in NAMES[::4]}
    best = tr.best_of(few, X, y, folds=2, repeats=1, random_state=1, replicates=100)
    assert inert(best.report().save(tmp_path / "best.html"), few) == ([], 0, [])


def test_in_names_of_categories(inert, tmp_path):
    texts = [f"w{at} w{at} w{(at + 1) % 50} all" for at in range(len(IN_MEMORY))]
    labels = tuple((name,) for name in IN_MEMORY)
    idents = tuple(str(at) for at in range(2 * len(labels)))
    corpus = Corpus(ids=idents, texts=tuple(texts * 2), labels=labels * 2)
    found = tr.estimate_corpus(corpus, min_documents=1)
    assert inert(found.report().save(tmp_path / "report.html"), IN_MEMORY) == ([], 0, [])
