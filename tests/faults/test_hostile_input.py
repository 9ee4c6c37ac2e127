"""Names written by an attacker stay texts wherever they are shown."""

import csv
import io
import json
import pickle
import re
import unicodedata
import warnings
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from rich.console import Console

from truerisk.cli import main
from truerisk.reporting import escaping
from truerisk.reporting.document import forest_of
from truerisk.reporting.escaping import INVISIBLE, NUMBER, visible
from truerisk.reporting.page import chapter_of, report_of, save_report
from truerisk.reporting.render.figures import draw, drawable
from truerisk.reporting.render.formats import as_latex, as_markdown, csv_of, json_of
from truerisk.reporting.render.terminal import print_result
from truerisk.results import Estimate, Evaluation, Interval
from truerisk.tallies.cells import Cells, LabelSets

HOSTILE = (
    "<script>alert(1)</script>",
    "</td></tr></table><h1>owned</h1>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<svg/onload=alert(1)>",
    "</style><style>*{display:none}",
    "</title><script>x</script>",
    "<!-- comment",
    "--><b>",
    "<![CDATA[x]]>",
    "&lt;script&gt;",
    "&#60;b&#62;",
    "{{ 7 * 7 }}",
    "{% for x in ().__class__.__mro__ %}",
    "{# hidden #}",
    "${jndi:ldap://x.invalid/a}",
    "%s %n {0.__class__}",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1:A9)",
    "\t=1+1",
    "\r=1+1",
    "\0=1+1",
    "＝1+1",
    "\x1b[2J\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b31m",
    "a\u202egnp.exe",
    "zero\u200bwidth\ufeff",
    "line\u2028separator\u2029",
    "two\r\nlines",
    "a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
    "\ud800lone",
    "[link](https://x.invalid) `code` | cell",
    "\\input{/etc/passwd} \\write18{ls}",
    "$x^2_{y}$ % # & ~",
    "_hidden",
    "[bold]mark-up[/bold] :boom:",
    "../../etc/passwd",
    "🏴\u200d☠ 漢字 ﷽",
)


def evaluation_of(labels):
    """Put hostile texts wherever a text of the user is shown."""
    one, size = np.eye(len(labels), dtype=bool), len(labels)
    totals = np.arange(1, size**2 + 1)
    cells = Cells(
        labels=tuple(labels),
        truth=LabelSets.of_flags(np.repeat(one, size, axis=0)),
        predicted=LabelSets.of_flags(np.tile(one, (size, 1))),
        totals=totals,
        rows=totals,
    )
    name = labels[0]
    interval = Interval(0.4, 0.6, 0.95, "clopper_pearson")

    def estimate(measure, note=""):
        return Estimate(
            value=0.5, interval=interval, measure=measure, method="holdout", n=9, notes=(note,)
        )

    return Evaluation(
        estimates={"f1": estimate("f1", name), name: estimate(name)},
        by_class={label: {"f1": estimate("f1")} for label in labels},
        n=int(totals.sum()),
        level=0.95,
        labels=tuple(labels),
        pos_label=name,
        tallies=cells,
        verdict=(f"The class {name} is weak.",),
        notes=(name,),
        settings={"reject": name, name: name},
        source={
            "files": ({"path": name, "rows": 3},),
            "roles": {"truth": name},
            "guessed": (name,),
        },
    )


GROUPS = [HOSTILE[at : at + 3] for at in range(0, len(HOSTILE), 3)]


class Skeleton(HTMLParser):
    """The elements and attributes of a page, in order, without its texts."""

    def __init__(self, page):
        super().__init__()
        self.parts = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        # Places in pictures depend on numbers only, and every evaluation has the same ones.
        self.parts.append((tag, tuple(attrs)))

    def handle_endtag(self, tag):
        self.parts.append((tag,))

    def handle_comment(self, data):
        self.parts.append(("comment", data))

    def handle_pi(self, data):
        self.parts.append(("instruction", data))

    def unknown_decl(self, data):
        self.parts.append(("declaration", data))


def page_of(evaluation):
    return report_of(evaluation).html


def visible_only(text):
    return not [c for c in text if unicodedata.category(c) in INVISIBLE and c != "\n"]


def test_there_are_at_least_forty_of_them():
    assert len(set(HOSTILE)) >= 40


@pytest.mark.parametrize("labels", GROUPS)
def test_a_page_has_the_same_elements_and_attributes_whatever_the_names_are(labels):
    harmless = ("a", "b", "c")
    hostile, plain = page_of(evaluation_of(labels)), page_of(evaluation_of(harmless))
    assert Skeleton(hostile).parts == Skeleton(plain).parts
    assert visible_only(hostile)
    hostile.encode("utf-8")


@pytest.mark.parametrize("labels", GROUPS)
def test_a_page_computes_nothing_from_a_name(labels):
    printed = chapter_of(evaluation_of(labels))
    assert printed.notes[0] == visible(labels[0])
    assert visible(labels[0]) in unescape(page_of(evaluation_of(labels)))


@pytest.mark.parametrize("labels", GROUPS)
def test_a_terminal_gets_nothing_but_visible_characters(labels):
    page = io.StringIO()
    print_result(evaluation_of(labels), Console(file=page, width=80))
    assert visible_only(page.getvalue())
    page.getvalue().encode("utf-8")


def test_a_terminal_shows_mark_up_and_emoji_codes_as_they_are():
    page = io.StringIO()
    label = "[bold]mark-up[/bold] :boom:"
    print_result(evaluation_of((label, "x", "y")), Console(file=page, width=300))
    assert label in page.getvalue()


@pytest.mark.parametrize("labels", GROUPS)
def test_markdown_tables_keep_their_shape_and_hold_no_html(labels):
    hostile, plain = as_markdown(evaluation_of(labels)), as_markdown(evaluation_of(("a", "b", "c")))

    def shape(text):
        return [line.replace(r"\|", "").count("|") for line in text.splitlines()]

    assert shape(hostile) == shape(plain)
    assert not set("<>`") & set(hostile.replace(r"\`", ""))
    assert visible_only(hostile)


@pytest.mark.parametrize("labels", GROUPS)
def test_latex_tables_have_only_our_commands(labels):
    def commands(text):
        return set(re.findall(r"\\[a-zA-Z]+", text))

    escapes = {r"\textbackslash", r"\textasciicircum", r"\textasciitilde", r"\textless"}
    escapes |= {r"\textgreater", r"\textbar", r"\char"}
    hostile, plain = as_latex(evaluation_of(labels)), as_latex(evaluation_of(("a", "b", "c")))
    assert commands(hostile) <= commands(plain) | escapes
    assert hostile.count("\n") == plain.count("\n")
    bare = hostile.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")


@pytest.mark.parametrize("labels", GROUPS)
def test_csv_has_no_cell_that_a_spreadsheet_would_run(labels):
    rows = list(csv.reader(io.StringIO(csv_of(evaluation_of(labels)))))
    assert {len(row) for row in rows} == {12}
    for cell in (cell for row in rows for cell in row if cell):
        assert cell[0] not in "=+-@\t\r\0＝＋－＠" or NUMBER.fullmatch(cell)


@pytest.mark.parametrize("labels", GROUPS)
def test_json_is_ascii_and_keeps_the_names_exactly(labels):
    text = json_of(evaluation_of(labels))
    assert text.isascii()
    assert visible_only(text)
    assert json.loads(text)["labels"] == list(labels)


@pytest.mark.parametrize("label", HOSTILE)
def test_a_figure_shows_a_name_as_text(label):
    figure = Figure()
    FigureCanvasAgg(figure)
    ax = figure.subplots()
    estimate = Estimate(value=0.5, interval=None, measure=label, method=label, n=1)
    draw(forest_of([estimate]), ax)
    ax.plot([0, 1], label=drawable(label))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        legend = ax.legend()
        figure.canvas.draw()
    assert len(legend.get_texts()) == 1
    shown = ax.get_yticklabels()[0].get_text()
    assert shown.replace(r"\$", "").count("$") == 0
    assert visible_only(shown)


def test_the_templates_name_no_address_outside():
    page = page_of(evaluation_of(("a", "b", "c")))
    assert not re.search(r"\s(src|href|action|data|poster|background)\s*=\s*\"(?!#)", page)
    assert not re.search(r"//[a-z0-9.-]+\.[a-z]", page)


def test_a_hostile_file_is_harmless_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "<img src=x onerror=alert(1)>\x1b[31m.csv"
    truth, pred = "\x1b]0;x\x07<script>", "'\"><b>"
    labels = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "a\u202eb"]
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [[truth, pred], *([one, two] for one in labels for two in labels)]
        )
    options = ["score", name, "--truth", truth, "--pred", pred, "--html", "report.html"]
    ended = CliRunner().invoke(main, options)
    assert ended.exit_code == 0
    assert visible_only(ended.stdout)
    page = Path("report.html").read_text(encoding="utf-8")
    assert not {"img", "comment"} & {part[0] for part in Skeleton(page).parts}
    assert page.count("<script") == 1  # ours, which its hash names
    refused = CliRunner().invoke(main, ["score", name, "--truth", "\x1b[2J"])
    assert refused.exit_code == 3
    assert visible_only(refused.stderr)


class Exploit:
    def __reduce__(self):
        return (open, ("owned", "w"))


@pytest.mark.parametrize("name", ["model.pkl", "predictions.csv", "model.joblib"])
@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_refused_and_never_loaded(tmp_path, monkeypatch, name, protocol):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(pickle.dumps(Exploit(), protocol=protocol))
    ended = CliRunner().invoke(main, ["score", name])
    assert ended.exit_code == 3
    assert ended.stderr.startswith("Error: ")
    assert "pickle" in ended.stderr or protocol < 4  # older ones are refused as no text
    assert not (tmp_path / "owned").exists()


def test_the_sources_load_no_pickle_and_evaluate_no_text():
    loaders = "pickle|cPickle|dill|yaml|marshal|shelve"
    forbidden = re.compile(
        rf"\b(eval|exec)\(|^\s*(import|from) ({loaders})\b|joblib\.load|allow_pickle=True",
        re.MULTILINE,
    )
    # Two read what workers of this very run have sent; one measures how long a model is.
    allowed = {"processes.py": "loads", "files_on_cluster.py": "loads", "points.py": None}
    for path in Path(escaping.__file__).parents[1].rglob("*.py"):
        code = re.sub(r'""".*?"""|#.*', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        if path.name in allowed and path.parent.name in {"execution", "evaluation", "curves"}:
            loads = set(re.findall(r"pickle\.(load\w*|Unpickler)", code))
            assert loads <= {allowed[path.name]}, path
        else:
            assert not forbidden.search(code), path


def test_no_name_in_the_data_becomes_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evaluation = evaluation_of(("../../escaped", "/tmp/escaped", "x"))  # noqa: S108  (a label)
    save_report(evaluation, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
