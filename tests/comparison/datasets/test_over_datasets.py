"""The result of a comparison over data sets: its words, its numbers, and how many more it takes."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from truerisk.comparison.datasets.many_datasets import compare_over_datasets
from truerisk.comparison.datasets.over_datasets import datasets_to_settle, pair_finding
from truerisk.comparison.datasets.signed_rank import signed_rank

TOGETHER = (
    "The classifiers differ over these 8 data sets (Iman-Davenport F = infinite, p = 3.57e-06)."
)
RISING = [[0.5 + 0.01 * row, 0.6 + 0.02 * row, 0.7 + 0.03 * row] for row in range(8)]


def test_one_order_everywhere_in_words():
    found = compare_over_datasets(RISING, names=["low", "mid", "top"])
    assert found.verdict == (
        TOGETHER,
        "top has the best average rank, 1.00 of 3.",
        "top is better than mid, low (Wilcoxon, Holm).",
        "mid is better than low (Wilcoxon, Holm).",
    )
    assert str(found).startswith("average ranks: top 1.00, mid 2.00, low 3.00 (8 data sets)\nThe")


def test_a_control_in_words():
    found = compare_over_datasets(RISING, names=["low", "mid", "top"], control="mid")
    assert found.verdict[1:] == (
        "The control mid has the average rank 2.00.",
        "mid is better than low (Wilcoxon, Holm).",
        "mid is worse than top (Wilcoxon, Holm).",
        # √(3·4 / (6·8)) = ½: z = ±2, p = .0455; twice that is no finding.
    )
    assert [round(one.z, 9) for one in found.against_control] == [-2, 2]


def test_plain_values_are_json_and_hold_the_verdict():
    found = compare_over_datasets(RISING, names=["<b>", "mid", "top"])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["verdict"] == list(found.verdict)
    assert plain["friedman"]["f"] == "Infinity"
    assert plain["pairs"][0]["finding"] == "better"
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert str(found.pairs[0]).endswith("p = 0.0234 (wilcoxon, holm): better")


def test_how_many_data_sets_would_settle_it():
    test = signed_rank([0.03, -0.01, 0.04, 0.02])
    needed = (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) / test.z
    assert datasets_to_settle(test, 4, 0.95) == math.ceil(4 * needed**2)
    assert datasets_to_settle(signed_rank([0.0, 0.0]), 2, 0.95) is None
    clear = signed_rank(np.arange(1, 40))
    assert datasets_to_settle(clear, 39, 0.95) == 40


@pytest.mark.parametrize(
    ("p_value", "equivalence", "higher_is_better", "finding"),
    [
        (0.01, None, True, "better"),
        (0.01, None, False, "worse"),
        (0.06, None, True, "no evidence"),
        (0.05, 0.2, True, "better"),
        (0.01, 0.05, True, "equivalent"),
    ],
)
def test_the_finding_follows_from_both_tests(p_value, equivalence, higher_is_better, finding):
    test = signed_rank([1.0, 2.0, 3.0])
    found = pair_finding(test, p_value, equivalence, level=0.95, higher_is_better=higher_is_better)
    assert found == finding
