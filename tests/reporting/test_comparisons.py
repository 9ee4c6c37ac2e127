import io
import json

import pytest
from rich.console import Console

from truerisk.comparison.predictions.compare import compare
from truerisk.reporting.comparisons import (
    COMPARISON_FORMATS,
    comparison_facts,
    comparison_remarks,
    comparison_tables,
    print_comparisons,
)

TRUTH = [1] * 40 + [0] * 60
A = [1] * 30 + [0] * 10 + [0] * 50 + [1] * 10
B = [1] * 38 + [0] * 2 + [0] * 54 + [1] * 6
HOSTILE = "<script>alert(1)</script>\x1b[31m|=1+1"


@pytest.fixture(scope="module")
def two():
    return compare(TRUTH, A, B, names=["a", "b"], region=0.01, measures=["error_rate", "f1"])


@pytest.fixture(scope="module")
def three():
    return compare(TRUTH, A, B, TRUTH, names=["a", "b", HOSTILE], measures=["error_rate", "f1"])


def test_two_models_stand_in_one_table(two):
    table = next(comparison_tables(two))
    assert [column.heading for column in table.columns] == [
        "Measure", "a", "b", "Change", "95 % interval", "p", "Finding",
    ]  # fmt: skip
    assert table.rows[0][:5] == ("Error rate", "0.200", "0.080", "-0.120", "[-0.198, -0.070]")
    assert table.rows[1][3].startswith("+0.1")


def test_several_models_stand_pair_by_pair_with_the_adjusted_test(three):
    titles = [table.title for table in comparison_tables(three)]
    assert titles[:3] == ["Error rate, every pair", "Values", "F1, every pair"]
    first = next(comparison_tables(three))
    assert "p (Holm)" in [column.heading for column in first.columns]
    assert len(first.rows) == 3


def test_what_only_holds_for_a_pair_alone_is_not_shown_as_a_finding_among_all():
    called = [[1] * right + [0] * (20 - right) for right in (11, 17, 16)]
    result = compare([1] * 20, *called, names=["a", "b", "c"], measures=["accuracy", "recall"])
    assert result["accuracy", "a", "c"].finding == "better"
    assert next(comparison_tables(result)).rows[1][-1] == "better alone"
    assert not any("c is better" in sentence for sentence in result.verdict)


def test_tests_beside_are_listed_with_their_p_values(two):
    table = list(comparison_tables(two))[-1]
    assert table.title == "Other tests"
    assert ("Error rate", "mcnemar exact", "0.0005") in table.rows


def test_the_terminal_shows_names_as_texts_within_its_width(three):
    told = io.StringIO()
    print_comparisons(three, Console(file=told, width=80))
    assert "\x1b" not in told.getvalue()
    assert max(map(len, told.getvalue().splitlines())) <= 80


@pytest.mark.parametrize("form", sorted(COMPARISON_FORMATS))
def test_every_format_makes_hostile_names_inert(three, form):
    text = COMPARISON_FORMATS[form](three)
    assert "\x1b" not in text
    if form == "markdown":
        assert "<script>" not in text
    if form == "json":
        assert json.loads(text)["names"][2] == HOSTILE


def test_notes_and_facts_are_told_once(two):
    remarks = comparison_remarks(two)
    assert "not adjusted for being several" in remarks[-1]
    assert len(set(remarks)) == len(remarks)
    facts = dict(comparison_facts(two))
    assert facts["models"] == "a, b"
    assert facts["region"] == "0.01"
    assert facts["seed"] == "0"
