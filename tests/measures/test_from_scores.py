from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import truerisk as tr
from truerisk.measures import from_scores
from truerisk.measures.from_scores import (
    breakeven,
    document_precision,
    eleven_point_documents,
    summarise_documents,
)
from truerisk.measures.registry import MEASURES, find_measure, measures_that_need
from truerisk.tallies.cells import BinaryCounts
from truerisk.tallies.documents import DocumentTally
from truerisk.tallies.losses import ProbabilityTally
from truerisk.tallies.ranking import rank
from truerisk.tallies.ranking_weights import FORMULAS, pair_areas, values_of
from truerisk.tallies.scored_rows import ScoredRows

# ranks 5 +, 4 + and −, 3 −, 2 +, 1 −: worked out in tests/tallies/test_ranking_summary.py
RANKING = rank([5.0, 4.0, 4.0, 3.0, 2.0, 1.0], [True, True, False, False, True, False])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("roc_auc", 6.5 / 9),
        ("average_precision", (1 + 2 / 3 + 3 / 5) / 3),
        ("breakeven_point", 2 / 3),
        ("eleven_point_precision", (4 * 1 + 3 * 2 / 3 + 4 * 3 / 5) / 11),
        ("ks", 1 / 3),
        ("best_f1", 3 / 4),
    ],
)
def test_each_measure_worked_by_hand(name, expected):
    assert find_measure(name).value(RANKING) == pytest.approx(expected, abs=1e-15)


def test_every_ranking_measure_can_be_resampled():
    assert [measure.name for measure in measures_that_need("ranking")] == list(FORMULAS)
    for name in FORMULAS:
        assert values_of(RANKING, name) == find_measure(name).value(RANKING)


def test_every_ranking_measure_is_undefined_without_positives():
    ranking = rank([1.0, 2.0], [False, False])
    for measure in measures_that_need("ranking"):
        assert np.isnan(measure.value(ranking))


def test_auc_and_ks_are_undefined_without_negatives():
    ranking = rank([1.0, 2.0], [True, True])
    for name in ("roc_auc", "ks"):
        assert np.isnan(find_measure(name).value(ranking))
        assert MEASURES[name].undefined == "the examples are all of one class"


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=30))
def test_turning_the_scores_around_turns_the_auc_around(rows):
    scores, pos_label = (np.array(column) for column in zip(*rows, strict=True))
    auc, turned = rank(scores, pos_label).auc, rank(-scores, pos_label).auc
    np.testing.assert_allclose(turned, 1 - auc, atol=1e-15)


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=30))
def test_only_the_order_of_the_scores_matters(rows):
    scores, pos_label = (np.array(column) for column in zip(*rows, strict=True))
    first, second = rank(scores, pos_label), rank(np.exp(scores.astype(float)), pos_label)
    for measure in measures_that_need("ranking"):
        np.testing.assert_array_equal(measure.value(first), measure.value(second))


def test_breakeven_tells_where_and_how():
    result = breakeven(rank([3, 2, 2, 2], [True, True, False, False]))
    assert (result.value, result.threshold, result.interpolated) == (0.75, 3.0, True)


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(0, 10))
def test_the_mean_of_precision_and_recall_against_f_beta(precision, recall, beta):
    # "Evaluation of Text Categorization Systems" §6, case by case; F1 never exceeds the mean.
    mean = (precision + recall) / 2
    f_beta = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    ratio = precision / recall
    sign = (ratio - 1) * (beta**2 * ratio - 1)
    if abs(sign) > 1e-9:
        assert (mean > f_beta) == (sign > 0)
    assert mean >= 2 * precision * recall / (precision + recall) - 1e-15


def test_the_printed_case_of_less_precision_than_recall_fails_beyond_one_over_root_t():
    # Printed: the mean exceeds Fβ for every β when P < R.  P = .4 and R = .8 make 1/√T = √2.
    counts = BinaryCounts(tp=40, fp=60, fn=10, tn=90)
    mean = (0.4 + 0.8) / 2
    assert find_measure("f1").value(counts) < mean
    assert find_measure(f"f{2**0.5}").value(counts) == pytest.approx(mean)
    assert find_measure("f2").value(counts) == pytest.approx(2 / 3)
    assert find_measure("f2").value(counts) > mean


def test_probability_measures_worked_by_hand():
    tally = ProbabilityTally().add([0.8, 0.5], [True, False])
    assert from_scores.brier_score(tally) == pytest.approx((0.04 + 0.25) / 2)
    assert from_scores.log_loss(tally) == pytest.approx(-(np.log(0.8) + np.log(0.5)) / 2)
    names = [measure.name for measure in measures_that_need("probabilities")]
    assert names == ["log_loss", "brier_score"]


SCORES = [[0.9, 0.8, 0.7], [0.9, 0.8, 0.7], [0.9, 0.8, 0.7]]
TRUTH = [[True, False, True], [False, True, False], [False, False, False]]


def test_two_documents_worked_by_hand():
    # first: precision 1 at recall ½, ⅔ at 1; second: ½ at recall 1; third: no correct category
    result = document_precision(SCORES, TRUTH)
    low, high = (1 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 2
    assert result.by_recall == pytest.approx([low] * 6 + [high] * 5, abs=1e-15)
    assert result.value == pytest.approx((6 * low + 5 * high) / 11, abs=1e-15)
    assert (result.documents, result.undefined) == (2, 1)
    own = [(6 + 5 * 2 / 3) / 11, 1 / 2]
    assert result.standard_error == pytest.approx(np.std(own, ddof=1) / np.sqrt(2), rel=1e-12)


def test_the_measure_of_a_tally_is_the_value():
    tally = DocumentTally().add(SCORES, TRUTH)
    assert eleven_point_documents(tally) == document_precision(SCORES, TRUTH).value


def test_it_is_undefined_when_no_document_has_a_correct_category():
    result = document_precision(SCORES[2:], TRUTH[2:])
    assert np.isnan(result.value)
    assert np.isnan(result.by_recall).all()
    assert (result.documents, result.undefined) == (0, 1)


def test_one_document_has_no_standard_error():
    assert np.isnan(document_precision(SCORES[:1], TRUTH[:1]).standard_error)


def test_weights_worked_by_hand():
    own, weight = np.array([(6 + 5 * 2 / 3) / 11, 1 / 2]), np.array([3.0, 1.0])
    result = summarise_documents(DocumentTally().add(SCORES, TRUTH, [3, 1, 7]))
    mean = weight @ own / 4
    assert result.value == pytest.approx(mean, rel=1e-12)
    # √(n/(n − 1) Σ w² (x − mean)²) / Σ w
    error = np.sqrt(2 * np.sum((weight * (own - mean)) ** 2)) / 4
    assert result.standard_error == pytest.approx(error, rel=1e-12)
    assert (result.documents, result.undefined) == (2, 1)


def test_a_document_of_no_weight_is_left_out():
    assert DocumentTally().add(SCORES, TRUTH, [1, 0, 0]) == DocumentTally().add(
        SCORES[:1], TRUTH[:1]
    )


def test_a_partial_area_by_hand():
    # Ranked + − + − −, two positives, three negatives; up to a false positive rate of 1/2 the
    # recall is ½ up to 1/3 and 1 after it: A = 1/6 + 1/6, least 1/8, greatest 1/2.
    ranking = rank([5, 4, 3, 2, 1], [True, False, True, False, False])
    expected = (1 + (1 / 3 - 1 / 8) / (1 / 2 - 1 / 8)) / 2
    assert find_measure("partial_auc_0.5").value(ranking) == pytest.approx(expected, rel=1e-12)
    assert find_measure("partial_auc_1.0").value(ranking) == pytest.approx(ranking.auc, rel=1e-12)


@pytest.mark.parametrize("limit", [0.05, 0.1, 0.37, 0.9])
def test_partial_areas_are_those_of_scikit_learn(limit):
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(int(100 * limit))
    truth = rng.random(300) < 0.3
    score = np.round(rng.normal(size=300) + truth, 1)
    weight = rng.integers(1, 4, 300).astype(float)
    name = f"partial_auc_{limit}"
    value = find_measure(name).value(rank(score, truth))
    assert value == pytest.approx(roc_auc_score(truth, score, max_fpr=limit), rel=1e-9)
    weighted = find_measure(name).value(rank(score, truth, weight))
    peer = roc_auc_score(truth, score, max_fpr=limit, sample_weight=weight)
    assert weighted == pytest.approx(peer, rel=1e-9)


def test_one_against_one_by_hand_and_by_scikit_learn():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1, 2], [10, 20, 15])
    score = rng.random((45, 3)) + 0.5 * np.eye(3)[truth]
    score /= score.sum(axis=1, keepdims=True)
    result = tr.evaluate(truth, y_score=score, measures=["roc_auc_ovo"])["roc_auc_ovo"]
    areas = []
    for one in range(3):
        for other in set(range(3)) - {one}:
            among = (truth == one) | (truth == other)
            areas.append(rank(score[among, one], truth[among] == one).auc)
    assert result.value == pytest.approx(np.mean(areas), rel=1e-12)
    peer = roc_auc_score(truth, score, multi_class="ovo", average="macro")
    assert result.value == pytest.approx(peer, rel=1e-12)
    assert result.interval.method == "pair_placements"


def test_what_a_row_adds_to_areas_of_pairs_and_parts_is_the_derivative():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 60)
    rows = ScoredRows(rng.normal(size=(60, 3)) + np.eye(3)[truth], np.eye(3, dtype=bool)[truth])
    _, influence = pair_areas(rows)
    step = 1e-6
    for at in (0, 7, 31):
        weight = np.ones(60)
        weight[at] += step
        moved = pair_areas(replace(rows, weight=weight))[0] - pair_areas(rows)[0]
        assert influence[at] == pytest.approx(moved / step, abs=1e-5)


def test_two_columns_have_no_pairs_and_many_rows_say_so():
    result = tr.evaluate([0, 1, 1, 0], y_score=[0.1, 0.9, 0.4, 0.6], measures=["roc_auc_ovo"])
    assert np.isnan(result["roc_auc_ovo"].value)
    assert "one column" in result["roc_auc_ovo"].notes[0]


scored = st.lists(st.tuples(st.booleans(), st.integers(-6, 6)), min_size=2, max_size=40).filter(
    lambda rows: 0 < sum(truth for truth, _ in rows) < len(rows)
)


@given(rows=scored, limit=st.sampled_from([0.05, 0.2, 0.5, 0.9, 1.0]))
def test_laws_of_partial_areas(rows, limit):
    truth, score = (np.array(column) for column in zip(*rows, strict=True))
    name = f"partial_auc_{limit}"

    def found(scores):
        return tr.evaluate(truth, y_score=scores, measures=[name])[name]

    one = found(score)
    assert one.value == pytest.approx(
        roc_auc_score(truth, score, max_fpr=limit if limit < 1 else None), abs=1e-9
    )
    assert found(np.exp(score / 2.0) - 7).value == pytest.approx(one.value, abs=1e-9)
    assert 0 <= one.interval.low <= one.value + 1e-12
    assert one.value - 1e-12 <= one.interval.high <= 1
    assert found(truth * 1.0).value == pytest.approx(1.0)
    assert found(np.zeros(len(truth))).value == pytest.approx(0.5)


@given(seed=st.integers(0, 10**6), classes=st.integers(3, 5))
def test_laws_of_areas_of_pairs(seed, classes):
    rng = np.random.default_rng(seed)
    truth = np.append(np.arange(classes), rng.integers(0, classes, 30))
    score = rng.dirichlet(np.ones(classes), len(truth)).round(1) + 0.0

    def found(labels, columns):
        return tr.evaluate(labels, y_score=columns, measures=["roc_auc_ovo"])["roc_auc_ovo"]

    one = found(truth, score)
    areas = []
    for a in range(classes):
        for b in range(classes):
            if a != b:
                own, other = score[truth == a, a], score[truth == b, a]
                wins = (own[:, None] > other) + 0.5 * (own[:, None] == other)
                areas.append(wins.mean())
    assert one.value == pytest.approx(np.mean(areas), abs=1e-9)
    order = rng.permutation(classes)
    renamed = found(np.argsort(order)[truth], score[:, order])
    assert renamed.value == pytest.approx(one.value, abs=1e-9)
    assert found(truth, np.exp(3 * score)).value == pytest.approx(one.value, abs=1e-9)
    assert 0 <= one.interval.low <= one.value <= one.interval.high <= 1
    assume(len(set(truth)) == classes)
    assert found(truth, np.eye(classes)[truth]).value == pytest.approx(1.0)
