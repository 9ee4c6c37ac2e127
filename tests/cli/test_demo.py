import os
import re
import subprocess
import sys

import numpy as np
import pytest

from truerisk.cli import BROKEN_PIPE
from truerisk.cli import demo as command
from truerisk.cli.demo import DOCUMENTS, MAILS, TOPICS, better_filter, news, spam_filter


def test_the_demo_does_all_of_it_and_ends_with_the_path_of_the_page(run, tmp_path):
    result = run("demo", "--output", tmp_path / "here")
    page = tmp_path / "here" / "report.html"
    assert result.exit_code == 0
    assert result.stdout.rstrip().endswith(f"The page: {page.resolve()}")
    text = page.read_text(encoding="utf-8")
    assert len(text) < 1_500_000
    titles = re.findall(r'<h2 id="chapter-\d">([^<]*)</h2>', text)
    assert titles == list(command.PARTS)
    for words in (
        "is better than today's filter",
        "leave_one_out",
        "cross_validation",
        "perturbation",
        "levels off",
    ):
        assert words in result.stdout
    for topic in TOPICS:
        assert topic in text


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_computed(run, tmp_path):
    (tmp_path / "report.html").mkdir()
    result = run("demo", "--output", tmp_path)
    assert result.exit_code == 5
    assert "1. How good" not in result.stdout


@pytest.mark.parametrize(
    ("names", "opened"),
    [({}, False), ({"DISPLAY": ":0"}, True), ({"DISPLAY": ":0", "CI": "1"}, False)],
)
def test_the_page_is_opened_only_where_somebody_can_see_it(monkeypatch, names, opened):
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("CI", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    assert command.has_display() is opened


def test_the_mails_of_the_demo_do_not_drift():
    truth, score = spam_filter()
    assert len(truth) == len(score) == MAILS
    # Recorded once: the report of the demo is the same on every machine.
    assert truth.count("spam") == 204
    assert score[:3] == [0.000897, 0.001548, 0.514097]


def test_the_newer_filter_sees_much_of_what_the_other_sees_and_more():
    truth, old = spam_filter()
    new, is_spam = better_filter(), np.array(truth) == "spam"
    ham = ~is_spam
    assert 0.5 < np.corrcoef(np.array(old)[ham], np.array(new)[ham])[0, 1] < 0.95
    wrong = [np.mean((np.array(score) >= 0.5) != is_spam) for score in (old, new)]
    assert wrong[1] < wrong[0]


def test_the_news_have_every_topic_the_frequent_ones_first():
    corpus = news()
    assert len(corpus) == DOCUMENTS
    counts = [sum(topic in labels for labels in corpus.labels) for topic in TOPICS]
    assert counts[0] == max(counts)
    assert min(counts) >= 15
    assert corpus.texts == news().texts


SMALL_DEMO = """
import sys
from truerisk import evaluate_counts
from truerisk.cli import demo, main

demo.PARTS = {"One?": (lambda _: evaluate_counts([[5, 1], [2, 12]]), print)}
main(["demo", "--no-open", "--output", sys.argv[1]])
"""


def test_a_reader_who_leaves_does_not_keep_the_page_from_being_written(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        (sys.executable, "-u", "-c", SMALL_DEMO, str(tmp_path)),
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (BROKEN_PIPE, b"")
    assert (tmp_path / "report.html").exists()
