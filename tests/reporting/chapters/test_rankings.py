"""The chapter of classifiers compared over many data sets."""

import numpy as np
import pytest

from truerisk.comparison.datasets.over_datasets import compare_over_datasets
from truerisk.reporting.chapters.rankings import rankings_chapter
from truerisk.reporting.page.report import report_of


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(0).normal(size=(8, 3))


@pytest.fixture(scope="module")
def found(scores):
    return compare_over_datasets(scores, names=["<script>", "b", "c"], region=0.5)


def test_the_page_holds_words_picture_and_tables_and_names_are_texts(found, tmp_path):
    page = report_of(found).save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<script>" not in page.replace('<script>"use strict"', "").split("</main>")[0]
    assert "&lt;script&gt;" in page
    assert "Average ranks over 8 data sets" in page
    assert "critical difference" in page


def test_every_pair_is_drawn_with_its_region_and_its_probabilities(found):
    sections = {section.kind: section.data for section in rankings_chapter(found).sections}
    rows = sections["differences"]["groups"][0]["rows"]
    assert [row["title"] for row in rows] == ["b − <script>", "c − <script>", "c − b"]
    assert [row["finding"] for row in rows] == [pair.finding for pair in found.pairs]
    assert all(row["band"]["high_words"] == "+0.5" for row in rows)
    bars = sections["probabilities"]["rows"]
    assert [len(bar["parts"]) for bar in bars] == [3, 3, 3]
    assert bars[0]["parts"][2]["width"] == pytest.approx(100 * found.pairs[0].posterior.better)


def test_two_classifiers_have_one_large_difference_and_no_ranks_picture(scores):
    two = compare_over_datasets(scores[:, :2], names=["a", "b"], higher_is_better=False)
    chapter = rankings_chapter(two)
    assert [section.kind for section in chapter.sections][:2] == ["differences", "probabilities"]
    main = chapter.sections[0].data["main"]
    assert main["drawn"]["sides"] == {"left": "← b better", "right": "a better →"}
    assert chapter.tiles[0].title == "Typical difference: b − a"


def test_a_control_is_told_and_has_its_table(scores):
    controlled = compare_over_datasets(scores, names=list("abc"), control="a")
    chapter = rankings_chapter(controlled)
    assert "control" in chapter.sections[0].lead
    assert chapter.sections[-1].title.startswith("Average ranks against a")
    assert chapter.tiles[-1].interval == "Bonferroni-Dunn, 95 %"


def test_folds_have_a_posterior_for_the_next_data_set():
    rng = np.random.default_rng(0)
    folds = rng.uniform(0.6, 0.9, (4, 1, 1)) + rng.normal(0, 0.02, (4, 2, 5))
    two = compare_over_datasets(folds, names=["a", "b"], test_share=0.2)
    rows = rankings_chapter(two).sections[1].data["rows"]
    assert [row["model"] for row in rows] == [
        "signed rank",
        "hierarchical",
        "on the next data set",
    ]
