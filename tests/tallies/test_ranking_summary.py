import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_summary import Breakeven, summarise

HAND_SCORES = [5.0, 4.0, 4.0, 3.0, 2.0, 1.0]
HAND_POSITIVE = [True, True, False, False, True, False]

rankings = st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=2, max_size=40).filter(
    lambda rows: {label for _, label in rows} == {True, False}
)


def columns(rows):
    scores, positive = zip(*rows, strict=True)
    return np.array(scores, dtype=float), np.array(positive)


def test_a_summary_worked_by_hand():
    # thresholds 5, 4, 3, 2, 1: tp 1 2 2 3 3, fp 0 1 2 2 3, found 1 3 4 5 6
    found = rank(HAND_SCORES, HAND_POSITIVE).summary
    # 5 beats 3 negatives, 4 beats 2 and ties 1, 2 beats 1: 3 + 2.5 + 1 of 9
    assert found.auc == 6.5 / 9
    assert found.average_precision == pytest.approx((1 + 2 / 3 + 3 / 5) / 3, abs=1e-15)
    assert found.best_f1 == 2 * 3 / (3 + 5)
    assert found.best_f1_threshold == 2.0
    assert found.ks == pytest.approx(1 / 3)
    assert found.ks_threshold == 5.0  # 4 and 2 reach 1/3 too: the highest is given
    assert found.breakeven == Breakeven(2 / 3, 4.0, False, 2 / 3, 2 / 3)  # noqa: FBT003
    # recall 1/3 with precision 1 serves 0 to .3; 2/3 with 2/3 serves .4 to .6; then 3/5
    assert found.eleven_point == (1.0,) * 4 + (2 / 3,) * 3 + (3 / 5,) * 4


def test_the_variance_worked_by_hand():
    # placements of the positives: 1, 2.5/3, 1/3; of the negatives (4, 3, 1): .5, 2/3, 1
    found = rank(HAND_SCORES, HAND_POSITIVE)
    of_positives, of_negatives = [1, 2.5 / 3, 1 / 3], [0.5, 2 / 3, 1]
    expected = np.var(of_positives, ddof=1) / 3 + np.var(of_negatives, ddof=1) / 3
    assert found.delong_variance == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("column", "auc", "variance"),
    [  # pROC's tests, test-auc.R and test-var.R
        ("wfns", 0.823678861788618, 0.00146991470882363),
        ("s100b", 0.731368563685637, 0.00266868245717244),
    ],
)
def test_auc_and_variance_agree_with_proc(column, auc, variance):
    folder = os.environ.get("TRUERISK_DATA")
    path = Path(folder or ".").parent / "vectors" / "auc_aSAH_data.json"
    if folder is None or not path.exists():
        pytest.skip("the aSAH rows (GPL) stand outside of the project, beside TRUERISK_DATA")
    rows = json.loads(path.read_text(encoding="utf-8"))
    found = rank(rows[column], np.array(rows["outcome"]) == 1)
    assert found.auc == pytest.approx(auc, abs=1e-13)
    assert found.delong_variance == pytest.approx(variance, abs=1e-13)


def test_breakeven_is_interpolated_where_ties_leave_no_equality():
    # thresholds 3, 2: found 1 and 4 of P = 2; |P − R| is |1 − ½| and |½ − 1|: the means are equal
    found = rank([3, 2, 2, 2], [True, True, False, False]).summary.breakeven
    assert found == Breakeven(0.75, 3.0, True, 1.0, 0.5)  # noqa: FBT003


def test_a_breakeven_tie_goes_to_the_higher_mean():
    # P = 4; found 2 with tp 1 (½, ¼) and found 6 with tp 3 (½, ¾): both ¼ apart
    scores = [3, 3, 2, 2, 2, 2, 1]
    positive = [True, False, True, True, False, False, True]
    found = rank(scores, positive).summary.breakeven
    assert found == Breakeven(0.625, 2.0, True, 0.5, 0.75)  # noqa: FBT003


def test_precision_and_recall_of_nothing_correct_are_no_breakeven():
    # at 3 nothing correct is found, and P = R = 0; but three have to be found for equality
    scores, positive = [3, 2, 2, 2, 2, 2], [False, True, True, True, False, False]
    found = rank(scores, positive).summary.breakeven
    assert found == Breakeven(0.75, 2.0, True, 0.5, 1.0)  # noqa: FBT003


def test_the_worst_ranking_breaks_even_at_nothing():
    found = rank([4, 3, 2, 1], [False, False, True, True]).summary.breakeven
    assert found == Breakeven(0.0, 3.0, False, 0.0, 0.0)  # noqa: FBT003


@given(rankings)
def test_everything_agrees_with_the_definitions(rows):
    scores, positive = columns(rows)
    found = rank(scores, positive).summary
    thresholds = np.unique(scores)[::-1]
    called = scores >= thresholds[:, None]
    tp, k = (called & positive).sum(axis=1), called.sum(axis=1)
    f1 = [f1_score(positive, some) for some in called]
    assert found.best_f1 == pytest.approx(max(f1), abs=1e-12)
    assert found.average_precision == pytest.approx(
        average_precision_score(positive, scores), abs=1e-12
    )
    tpr, fpr = tp / positive.sum(), (k - tp) / (~positive).sum()
    assert found.ks == pytest.approx(max(tpr - fpr), abs=1e-12)
    levels = [max((tp / k)[10 * tp >= level * positive.sum()]) for level in range(11)]
    assert found.eleven_point == pytest.approx(levels, abs=1e-12)


@given(rankings)
def test_breakeven_is_where_precision_and_recall_are_nearest(rows):
    scores, positive = columns(rows)
    found = rank(scores, positive).summary.breakeven
    called = scores >= np.unique(scores)[:, None]
    tp, k = (called & positive).sum(axis=1), called.sum(axis=1)
    precision, recall = tp / k, tp / positive.sum()
    if found.interpolated:
        assert not np.any(k == positive.sum())
        nearest = np.abs(precision - recall)[tp > 0].min()
        assert abs(found.precision - found.recall) == pytest.approx(nearest, abs=1e-12)
    else:
        assert np.any(k == positive.sum())
        assert found.precision == found.recall
    # an arithmetic mean is never below the harmonic mean of the same two
    f1 = 2 * found.precision * found.recall / max(found.precision + found.recall, 1e-300)
    assert found.value >= f1 - 1e-15


@given(rankings)
def test_the_variance_agrees_with_the_placements(rows):
    scores, positive = columns(rows)
    above, below = scores[positive], scores[~positive]
    found = rank(scores, positive).delong_variance
    if min(len(above), len(below)) < 2:
        assert np.isnan(found)
        return
    won = (above[:, None] > below) + 0.5 * (above[:, None] == below)
    expected = won.mean(axis=1).var(ddof=1) / len(above) + won.mean(axis=0).var(ddof=1) / len(below)
    assert found == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("scores", [[2, 2, 1, 1], [1, 1, 2, 2], [1, 1, 1, 1]])
def test_the_variance_is_exactly_nothing_where_all_are_placed_alike(scores):
    assert rank(scores, [True, True, False, False]).delong_variance == 0.0


def test_a_missing_class_leaves_measures_undefined():
    only_negative = rank([1, 2], [False, False]).summary
    for name in ("auc", "delong_variance", "average_precision", "best_f1", "ks"):
        assert np.isnan(getattr(only_negative, name))
    assert np.isnan(only_negative.breakeven.value)
    assert np.isnan(only_negative.eleven_point).all()
    only_positive = rank([1, 2], [True, True]).summary
    assert np.isnan(only_positive.auc)
    assert np.isnan(only_positive.ks)
    assert only_positive.average_precision == 1.0
    assert only_positive.best_f1 == 1.0


def test_counts_beyond_exact_products_stay_near():
    few = summarise(np.array([2.0, 1.0]), np.array([3, 1]), np.array([1, 3]))
    many = summarise(np.array([2.0, 1.0]), np.array([3, 1]) * 10**12, np.array([1, 3]) * 10**12)
    assert many.auc == pytest.approx(few.auc, rel=1e-14)
    assert many.ks == pytest.approx(few.ks, rel=1e-14)
