"""`truerisk select`: tables and documents, settings by name, page and refusals."""

import json

import pytest
from click.testing import CliRunner

from truerisk import LinearSVM, Vectorizer, select
from truerisk.cli import main

WORDS = ("run", "runs", "running", "read", "reads", "film")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{at % 7},{(at * at) % 11},{int(at % 7 + at % 3 > 4)}" for at in range(60)]
    path.write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    rows = [
        {
            "id": str(at),
            "labels": ["film" if at % 2 else "book"],
            "text": f"{'good films' if at % 2 else 'the books'} {WORDS[at % 6]} {WORDS[at % 5]}",
        }
        for at in range(60)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def _run(*arguments, status=0):
    done = CliRunner().invoke(main, ["select", *map(str, arguments)])
    assert done.exit_code == status, done.output
    return done.output


def test_a_table_by_costs(table):
    plain = json.loads(_run(table, "--target", "y", "--over", "C=0.1,1,10", "--json"))
    assert [one["parameters"] for one in plain["candidates"]] == [
        {"C": 0.1},
        {"C": 1.0},
        {"C": 10.0},
    ]
    assert plain["best"]["C"] in {0.1, 1.0, 10.0}
    shown = _run(table, "--target", "y", "--by", "leave_one_out", "--measure", "f1")
    assert "Chosen: C=" in shown
    assert "Every setting" in shown


def test_a_kernel_is_a_setting(table):
    options = ("--model", "rbf_svm", "--over", "gamma=0.1,1", "--over", "C=1,10", "--json")
    plain = json.loads(_run(table, "--target", "y", *options))
    assert len(plain["candidates"]) == 4


def test_words_are_settings_of_documents(corpus):
    options = ("--over", "stem=none,porter", "--over", "ngrams=1,2", "--over", "C=0.5", "--json")
    plain = json.loads(_run(corpus, *options))
    settings = [one["parameters"] for one in plain["candidates"]]
    assert [(one["vectorizer__stem"], one["vectorizer__ngrams"]) for one in settings] == [
        (None, 1),
        (None, 2),
        ("porter", 1),
        ("porter", 2),
    ]
    rows = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    direct = select(
        LinearSVM(),
        Vectorizer(stem="porter", ngrams=2).fit_transform([row["text"] for row in rows]),
        [int(row["labels"] == ["film"]) for row in rows],
        over={"C": [0.5]},
    )
    assert plain["candidates"][-1]["estimate"]["value"] == direct.estimate.value


def test_one_category_or_all_of_them(corpus):
    one = json.loads(_run(corpus, "--categories", "book", "--over", "C=1", "--json"))
    assert one["estimate"]["measure"] == "error_rate"
    both = json.loads(_run(corpus, "--categories", "book,film", "--over", "C=1", "--json"))
    assert both["estimate"]["measure"] == "hamming_loss"


def test_a_page_is_written(table, tmp_path):
    page = tmp_path / "choice.html"
    _run(table, "--target", "y", "--html", page)
    assert "Which C?" in page.read_text(encoding="utf-8")


def test_what_cannot_be_tried_is_refused(table, corpus):
    assert "--over must be NAME=V,V" in _run(table, "--target", "y", "--over", "C", status=2)
    assert "`over` must be one of" in _run(table, "--target", "y", "--over", "K=1", status=3)
    assert "`stem` must be None or one of" in _run(corpus, "--over", "stem=klingon", status=3)
