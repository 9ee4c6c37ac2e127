"""Rankings as tables, JSON, CSV and Markdown."""

import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

from truerisk.comparison.datasets.many_datasets import compare_over_datasets
from truerisk.reporting.rankings import (
    RANKING_FORMATS,
    p_value_table,
    pair_table,
    posterior_table,
    print_ranking,
    rank_table,
    ranking_notes,
    ranking_tables,
)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    gains = np.array([0, 0.01, 0.05])
    scores = rng.uniform(0.6, 0.9, (10, 1)) + gains + rng.normal(0, 0.01, (10, 3))
    return compare_over_datasets(np.round(scores, 2), names=["=low", "mid|", "<top>"], region=0.01)


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(0)
    folds = rng.uniform(0.6, 0.9, (4, 1, 1)) + rng.normal(0, 0.02, (4, 2, 5))
    return compare_over_datasets(folds, names=["a", "b"], test_share=0.2)


def test_the_best_stands_first_and_groups_are_numbered(found):
    table = rank_table(found)
    assert [row[0] for row in table.rows] == list(found.in_order)
    assert [column.heading for column in table.columns][-1] == "Groups"
    together = {row[0] for row in table.rows if "1" in row[3]}
    assert together == set(found.cliques[0])


def test_the_tables_of_two_classifiers_have_no_ranks_tests(two):
    titles = [table.title for table in ranking_tables(two)]
    assert titles == [
        "Average ranks over 4 data sets",
        "Pairs",
        "p-values",
        "Posterior probabilities (no region)",
    ]
    heads = [column.heading for column in p_value_table(two).columns]
    assert heads == ["Second − first", "Wilcoxon", "Holm", "Sign"]
    models = [row[1] for row in posterior_table(two).rows]
    assert models == ["signed rank", "hierarchical", "next data set"]
    assert pair_table(two).rows[0][2] == "–"
    assert "Too few data sets for an interval at 95 %." in list(ranking_notes(two))


def test_a_control_has_its_table():
    scores = np.random.default_rng(0).normal(size=(60, 3))
    found = compare_over_datasets(scores, names=list("abc"), control="b")
    *_, last = ranking_tables(found)
    assert last.title == "Average ranks against b (positive z: better)"
    assert [row[0] for row in last.rows] == ["a", "c"]
    assert "Over 50 data sets: Wilcoxon's p-values are normal approximations." in list(
        ranking_notes(found)
    )


def test_json_and_csv_hold_the_same_numbers(found):
    plain = json.loads(RANKING_FORMATS["json"](found))
    rows = list(csv.DictReader(io.StringIO(RANKING_FORMATS["csv"](found))))
    assert plain["schema"] == "truerisk/over_datasets/1"
    assert len(rows) == len(plain["pairs"]) == 3
    for row, pair in zip(rows, plain["pairs"], strict=True):
        assert float(row["holm_p"]) == pair["p_value"]
        assert float(row["better"]) == pair["posterior"]["better"]
        assert float(row["low"]) == pair["interval"]["low"]
        assert float(row["equivalence_p"]) == pair["equivalence_p_value"]
        assert row["finding"] == pair["finding"]
    assert rows[0]["against"] == "'=low"  # no formula for a spreadsheet


def test_markdown_escapes_names(found):
    text = RANKING_FORMATS["markdown"](found)
    assert "&lt;top&gt;" in text
    assert r"mid\|" in text


def test_it_fits_eighty_columns(found):
    page = io.StringIO()
    print_ranking(found, Console(file=page, width=80, highlight=False, markup=False))
    assert max(map(len, page.getvalue().splitlines())) <= 80
    assert "The classifiers differ over these 10 data sets" in page.getvalue()
    assert "critical difference (Nemenyi)" in page.getvalue()


def test_a_small_p_value_is_never_written_as_nothing(found):
    written = [cell for row in p_value_table(found).rows for cell in row[1:]]
    assert "0.000" not in written
    assert all(cell in {"–", "<0.0001"} or float(cell) > 0 for cell in written)
