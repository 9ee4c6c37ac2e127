"""The page and the picture of a ranking."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from truerisk.comparison.many_datasets import compare_over_datasets
from truerisk.reporting.rankings_page import ranking_html, save_ranking, save_ranking_picture


@pytest.fixture(scope="module")
def found():
    scores = np.random.default_rng(0).normal(size=(8, 3))
    return compare_over_datasets(scores, names=["<script>", "b", "c"])


def test_the_page_holds_words_picture_and_tables_and_nothing_that_runs(found, tmp_path):
    page = save_ranking(found, tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "data:image/svg+xml;base64," in page
    assert "Average ranks over 8 data sets" in page
    controlled = compare_over_datasets(
        np.random.default_rng(0).normal(size=(8, 3)), names=list("abc"), control="a"
    )
    assert "differs from the control" in ranking_html(controlled)


def test_the_picture_is_the_same_to_the_byte(found, tmp_path):
    first = save_ranking_picture(found, tmp_path / "first.svg").read_bytes()
    assert save_ranking_picture(found, tmp_path / "second.svg").read_bytes() == first
    assert ET.fromstring(first).tag.endswith("svg")  # noqa: S314  (we wrote it)
