import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score, roc_curve

from truerisk.errors import InputError
from truerisk.tallies import ranking as module
from truerisk.tallies.ranking import Breakeven, rank, summarise

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "sklearn_scores.json").read_text(encoding="utf-8")
)["vectors"]

few_values = st.lists(
    st.tuples(st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, np.inf]), st.booleans()),
    min_size=1,
    max_size=30,
)


def vectors(method):
    found = [vector for vector in REFERENCE if vector["method"] == method]
    assert found
    return pytest.mark.parametrize("vector", found, ids=lambda vector: vector["id"])


@vectors("roc_auc")
def test_auc_agrees_with_the_reference(vector):
    truth, scores = vector["inputs"]["y_true"], vector["inputs"]["y_score"]
    expected = float(vector["expected"]["auc"])
    found = rank(scores, np.array(truth) == 1).auc
    assert found == pytest.approx(expected, abs=vector["tolerance"]["abs"], nan_ok=True)


@vectors("roc_auc_multilabel")
def test_auc_of_several_labels_is_a_mean_of_aucs(vector):
    truth, scores = (np.array(vector["inputs"][name]) for name in ("y_true", "y_score"))
    if vector["inputs"]["average"] == "macro":
        truth, scores = truth.T, scores.T
    found = np.mean([rank(s, t == 1).auc for s, t in zip(scores, truth, strict=True)])
    assert found == pytest.approx(vector["expected"]["auc"], abs=vector["tolerance"]["abs"])


@vectors("roc_auc_ovr")
def test_auc_of_each_class_against_the_rest_agrees_with_the_reference(vector):
    truth, scores = (np.array(vector["inputs"][name]) for name in ("y_true", "y_score"))
    found = [rank(scores[:, k], truth == k).auc for k in range(scores.shape[1])]
    assert found == pytest.approx(vector["expected"]["per_class"], abs=vector["tolerance"]["abs"])
    support = np.bincount(truth)
    weighted = np.average(found, weights=support)
    assert weighted == pytest.approx(vector["expected"]["weighted"], abs=1e-12)


@vectors("average_precision")
def test_average_precision_agrees_with_the_reference(vector):
    truth, scores = vector["inputs"]["y_true"], vector["inputs"]["y_score"]
    found = rank(scores, np.array(truth) == 1).summary.average_precision
    assert found == pytest.approx(vector["expected"]["ap"], abs=vector["tolerance"]["abs"])


@vectors("auc")
def test_auc_of_ratings_agrees_with_the_reference(vector):
    inputs = vector["inputs"]
    scores = np.repeat(
        [*inputs["ratings"], *inputs["ratings"]],
        [*inputs["normal_counts"], *inputs["abnormal_counts"]],
    )
    positive = np.arange(len(scores)) >= sum(inputs["normal_counts"])
    found = rank(scores, positive).auc
    assert found == pytest.approx(vector["expected"]["auc"], abs=vector["tolerance"]["abs"])


def test_a_ranking_worked_by_hand():
    # ranks: 4 +, 3 −, 2 + and −, 1 +
    found = rank([2.0, 4.0, 3.0, 2.0, 1.0], [True, True, False, False, True])
    assert found.thresholds.tolist() == [4.0, 3.0, 2.0, 1.0]
    assert found.tp.tolist() == [1, 1, 2, 3]
    assert found.fp.tolist() == [0, 1, 2, 2]
    assert (found.n_positive, found.n_negative, found.distinct) == (3, 2, 4)
    assert found.complete
    assert found.exact
    # pairs won: 4 beats both; 2 ties with one and loses one; 1 loses both: 2.5 of 6
    assert found.auc == 2.5 / 6
    assert found.auc_bounds == (found.auc, found.auc)


@given(few_values)
def test_auc_is_the_share_of_pairs_in_order(rows):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    above, below = scores[positive], scores[~positive]
    if len(above) and len(below):
        pairs = (above[:, None] > below) + 0.5 * (above[:, None] == below)
        assert rank(scores, positive).auc == pairs.mean()
    else:
        assert np.isnan(rank(scores, positive).auc)


@given(few_values, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = (
        rank(*(np.array(column) for column in zip(*some, strict=True))) for some in (rows, shuffled)
    )
    assert first.thresholds.tolist() == second.thresholds.tolist()
    assert first.tp.tolist() == second.tp.tolist()
    assert str(first.summary) == str(second.summary)


@settings(max_examples=40)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.1, 0.2, 0.3, 0.7]), st.booleans(), st.sampled_from([0.0, 0.5, 1, 3])
        ),
        min_size=4,
        max_size=40,
    )
)
def test_weights_agree_with_scikit_learn(rows):
    scores, positive, weight = (np.array(column) for column in zip(*rows, strict=True))
    kept = weight > 0
    if len(set(positive[kept])) < 2:
        return
    found = rank(scores, positive, weight)
    auc = roc_auc_score(positive, scores, sample_weight=weight)
    precision = average_precision_score(positive, scores, sample_weight=weight)
    assert found.auc == pytest.approx(auc, abs=1e-12)
    assert found.summary.average_precision == pytest.approx(precision, abs=1e-12)


def test_counts_agree_with_scikit_learn():
    rng = np.random.default_rng(3)
    positive = rng.random(500) < 0.3
    scores = np.round(rng.normal(size=500) + positive, 1)
    found = rank(scores, positive)
    fpr, tpr, thresholds = roc_curve(positive, scores, drop_intermediate=False)
    np.testing.assert_allclose(found.tp / found.n_positive, tpr[1:], rtol=1e-15)
    np.testing.assert_allclose(found.fp / found.n_negative, fpr[1:], rtol=1e-15)
    np.testing.assert_array_equal(found.thresholds, thresholds[1:])


def test_whole_weights_are_repeated_rows():
    scores, positive = [3, 2, 2, 1, 0], np.array([True, False, True, True, False])
    weight = np.array([1, 2, 3, 1, 2])
    weighted = rank(scores, positive, weight)
    repeated = rank(np.repeat(scores, weight), np.repeat(positive, weight))
    assert weighted.tp.tolist() == repeated.tp.tolist()
    assert weighted.auc == pytest.approx(repeated.auc, abs=1e-15)
    assert weighted.summary.breakeven == repeated.summary.breakeven
    assert weighted.summary.eleven_point == pytest.approx(repeated.summary.eleven_point)
    assert weighted.rows == (3, 2)
    # Kish: 9² / (1 + 4 + 9 + 1 + 4)
    assert weighted.effective_n == pytest.approx(81 / 19)
    assert repeated.effective_n == 9


def test_equal_weights_leave_the_variance_as_it_is():
    scores, positive = [3, 2, 2, 1, 0], np.array([True, False, True, True, False])
    plain, weighted = rank(scores, positive), rank(scores, positive, np.full(5, 7.0))
    assert weighted.delong_variance == pytest.approx(plain.delong_variance, rel=1e-14)


def test_scores_that_differ_in_the_last_bit_are_not_tied():
    assert rank([1.0, np.nextafter(1.0, 2)], [False, True]).auc == 1.0


def test_both_zeros_are_one_score():
    found = rank([0.0, -0.0], [True, False])
    assert found.distinct == 1
    assert found.auc == 0.5


def test_integers_and_booleans_rank_as_numbers():
    for scores in ([3, 1], np.array([3, 1], dtype=np.int8), [True, False]):
        assert rank(scores, [True, False]).auc == 1.0


def test_a_long_curve_is_thinned_but_its_best_points_are_kept():
    rng = np.random.default_rng(4)
    n = 2**16 + 2
    positive = rng.random(n) < 0.2
    scores = rng.normal(size=n) + positive
    weight = np.ones(n)
    found = rank(scores, positive, weight)  # the weighted way is sorted, and thinned in NumPy
    assert found.distinct == n
    assert not found.complete
    assert len(found.thresholds) <= module.THINNED_TO
    summary = found.summary
    kept = set(found.thresholds.tolist())
    assert {summary.best_f1_threshold, summary.ks_threshold, summary.breakeven.threshold} <= kept
    assert found.thresholds[0] == scores.max()
    assert found.thresholds[-1] == scores.min()
    assert np.diff(found.tp).max() <= found.n_positive / 8000 + 1
    assert np.diff(found.fp).max() <= found.n_negative / 8000 + 1
    at = len(found.tp) // 2
    assert found.tp[at] == np.count_nonzero(positive & (scores >= found.thresholds[at]))


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        ([0.1, np.nan], [True, False], "`scores` must be numbers; 1 are NaN"),
        ([[0.1]], [True], "`scores` must be one column of numbers; got float64 of shape"),
        (["a"], [True], "`scores` must be one column of numbers"),
        ([2**53 + 2], [True], r"`scores` must be at most 2\*\*53 when integers"),
        ([0.1], [1], "`is_positive` must be one column of booleans; got int64 of shape"),
        ([0.1, 0.2], [True], "`scores` has 2, `is_positive` has 1"),
        ([], [], "`scores` must have at least one example; got 0"),
    ],
)
def test_what_cannot_be_ranked_is_refused(scores, labels, message):
    with pytest.raises(InputError, match=message):
        rank(scores, labels)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0, -1.0], r"`weight` must be finite and not negative; got -1 \(1 such\)"),
        ([1.0, np.nan], "`weight` must be finite and not negative; got nan"),
        ([0.0, 0.0], "`weight` must be positive somewhere; all are 0"),
        ([1.0], r"`weight` must have one entry per example; got shape \(1,\)"),
    ],
)
def test_strange_weights_are_refused(weight, message):
    with pytest.raises(InputError, match=message):
        rank([0.1, 0.2], [True, False], weight)


def test_nan_is_refused_among_weighted_scores_too():
    with pytest.raises(InputError, match="1 are NaN"):
        rank([np.nan, 0.2], [True, False], [1.0, 1.0])


def test_a_perfect_ranking_of_weighted_examples_is_perfect_and_no_more():
    n = 120
    positive = np.arange(n) % 3 == 0
    scores = (np.arange(n) * 7 % n / n + positive) / 2
    found = rank(scores, positive, np.linspace(1, 2, n))
    assert found.auc == 1
    assert found.summary.ks <= 1


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
