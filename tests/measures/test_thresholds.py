import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, fbeta_score

from truerisk.errors import InputError
from truerisk.evaluation.evaluate import evaluate
from truerisk.measures.thresholds import (
    Threshold,
    counts_of_labels,
    optimal_threshold,
    sweep,
    with_given_threshold,
    working_threshold,
)
from truerisk.tallies.ranking import rank

SCORES = np.array([0.9, 0.8, 0.6, 0.4, 0.2])
POSITIVE = np.array([True, False, True, True, False])
RANKING = rank(SCORES, POSITIVE)


def test_the_table_worked_by_hand():
    table = sweep(RANKING)
    assert table.threshold.tolist() == [np.inf, 0.9, 0.8, 0.6, 0.4, 0.2]
    assert table.tp.tolist() == [0, 1, 1, 2, 3, 3]
    assert table.fp.tolist() == [0, 0, 1, 1, 1, 2]
    assert table.fn.tolist() == [3, 2, 2, 1, 0, 0]
    assert table.tn.tolist() == [2, 2, 1, 1, 1, 0]
    assert len(table) == 6


@pytest.mark.parametrize(
    ("options", "at", "value"),
    [
        ({}, 0.4, 6 / 7),
        ({"by": "f_beta", "beta": 2.0}, 0.4, 15 / 16),
        ({"by": "f_beta", "beta": 0.0}, 0.9, 1.0),
        ({"by": "gmean"}, 0.4, np.sqrt(1 / 2)),
        ({"by": "youden"}, 0.4, 1 / 2),
        ({"by": "balanced_accuracy"}, 0.4, 3 / 4),
        ({"by": "accuracy"}, 0.4, 4 / 5),
        ({"by": "cost", "costs": {"fp": 1, "fn": 1}}, 0.4, 1 / 5),
        ({"by": "cost", "costs": {"fp": 10, "fn": 1}}, 0.9, 2 / 5),
        ({"by": "cost", "costs": {"fp": 10, "fn": 1, "tp": 5}}, np.inf, 3 / 5),
        ({"by": "cost", "costs": {"fn": 1, "tn": 1}}, 0.2, 0.0),
    ],
)
def test_the_best_threshold_worked_by_hand(options, at, value):
    result = optimal_threshold(RANKING, **options)
    assert result.at == at
    assert result.value == pytest.approx(value, abs=1e-15)
    assert result.criterion == options.get("by", "f_beta")


def test_the_counts_are_those_at_the_threshold():
    assert optimal_threshold(RANKING) == Threshold(0.4, "f_beta", 6 / 7, tp=3, fp=1, fn=0, tn=1)


def test_of_equally_good_thresholds_the_highest_is_taken():
    ranking = rank([4.0, 3.0, 2.0, 1.0], [True, False, True, False])
    assert optimal_threshold(ranking, by="youden").at == 4.0
    assert optimal_threshold(ranking, by="accuracy").at == 4.0


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=2, max_size=25))
def test_no_other_threshold_does_better(rows):
    scores, pos_label = (np.array(column) for column in zip(*rows, strict=True))
    if pos_label.all() or not pos_label.any():
        return
    ranking = rank(scores, pos_label)
    calls = [scores >= at for at in np.unique(scores)]
    f2 = optimal_threshold(ranking, by="f_beta", beta=2.0)
    assert f2.value == pytest.approx(max(fbeta_score(pos_label, call, beta=2) for call in calls))
    balanced = optimal_threshold(ranking, by="balanced_accuracy")
    expected = max(balanced_accuracy_score(pos_label, call) for call in calls)
    assert balanced.value == pytest.approx(max(expected, 0.5))
    assert optimal_threshold(ranking).value == pytest.approx(ranking.summary.best_f1)
    assert optimal_threshold(ranking).at == ranking.summary.best_f1_threshold


def test_a_missing_class_leaves_some_criteria_undefined():
    ranking = rank([2.0, 1.0], [True, True])
    assert np.isnan(optimal_threshold(ranking, by="youden").at)
    assert optimal_threshold(ranking, by="accuracy").at == 1.0


def test_only_the_rows_that_may_be_chosen_are():
    among = np.array([False, True, False, False, False, True])
    assert optimal_threshold(RANKING, among=among).at == 0.2  # F1 3/4, and 1/2 at 0.9
    assert np.isnan(optimal_threshold(RANKING, among=np.zeros(6, dtype=bool)).at)


def test_weights_count():
    ranking = rank(SCORES, POSITIVE, [1.0, 1.0, 1.0, 0.1, 1.0])
    assert optimal_threshold(ranking, by="accuracy").value == pytest.approx(3.1 / 4.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "f1"}, "`by` must be one of f_beta, gmean, .*; got 'f1'"),
        ({"by": "cost"}, '`costs` must be given with `by="cost"`, and only then'),
        ({"costs": {"fp": 1}}, "and only then"),
        ({"by": "cost", "costs": {"miss": 1}}, "`costs` must name outcomes .*; got 'miss'"),
        ({"by": "cost", "costs": {"fp": np.nan}}, r"`costs\['fp'\]` must lie in"),
        ({"beta": -1.0}, r"`beta` must lie in \[0, inf\]"),
    ],
)
def test_options_that_say_nothing_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        optimal_threshold(RANKING, **options)


@pytest.mark.parametrize(
    ("predicted", "scores", "options", "expected"),
    [
        ([0, 1, 0, 0], [0.1, 0.8, 0.35, 0.3], {}, 0.5),  # any in (0.35, 0.8] makes these calls
        ([0, 1, 0, 0], [0.1, 0.8, 0.35, 0.5], {}, 0.8),  # 0.5 would call the last one too
        ([0, 1, 0, 0], [0.1, 0.4, 0.35, 0.3], {}, 0.4),
        ([0, 1, 1, 0], [1, 8, -3, -4], {}, 0.0),  # by no threshold
        ([0, 1, 0, 1], [1, 8, 3, 4], {}, 4.0),
        ([0, 0, 0, 0], [1, 8, 3, 4], {}, np.inf),
        ([1, 1, 1, 1], [1, 8, 3, 4], {}, 1.0),
        ([0, 1, 1, 0], [3, 8, 1, 4], {}, 4.0),  # by no threshold: the best F1
        (None, [0.1, 0.4, 0.35, 0.3], {}, 0.5),
        (None, [0.1, 0.4, 0.35, 0.3], {"threshold": 0.2}, 0.2),
    ],
)
def test_the_working_threshold_is_the_one_that_made_the_calls(predicted, scores, options, expected):
    evaluation = evaluate([0, 1, 0, 1], predicted, y_score=scores, **options)
    assert working_threshold(evaluation) == expected


def test_the_working_threshold_is_found_among_sums_of_weights():
    rng = np.random.default_rng(0)
    truth, scores, weights = rng.integers(2, size=50), rng.permutation(50) + 1, rng.random(50)
    predicted = (scores >= 21).astype(int)
    evaluation = evaluate(truth, predicted, y_score=scores, sample_weight=weights)
    assert working_threshold(evaluation) == 21


def test_without_one_column_of_scores_there_is_no_working_threshold():
    assert working_threshold(evaluate([0, 1], [0, 1])) is None
    scores = [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.6, 0.2, 0.2]]
    assert working_threshold(evaluate(["c", "b", "a"], y_score=scores, labels="abc")) is None


def test_scores_of_single_precision_work_at_the_score_that_was_called_positive():
    scores = np.array([0.6, 0.7, 0.8], dtype=np.float32)  # this 0.7 is 0.69999999
    evaluation = evaluate([0, 1, 1], y_score=scores, threshold=0.7)
    assert evaluation["recall"].value == 1
    assert working_threshold(evaluation) == float(scores[1])


def test_a_thinned_table_works_next_to_the_labels_and_has_the_threshold_that_was_given():
    rng = np.random.default_rng(5)
    truth = rng.random(100_000) < 0.3
    scores = rng.normal(size=100_000) + truth
    predicted = evaluate(truth, scores >= 0.47, y_score=scores, measures=["recall"])
    assert 0.47 < working_threshold(predicted) < 0.471
    given = evaluate(truth, y_score=scores, threshold=0.47, measures=["recall"])
    thinned = given.curves["thresholds"]
    table = with_given_threshold(given, thinned)
    assert len(table) == len(thinned) + 1 < 100_000
    (at,) = np.flatnonzero(table.threshold == 0.47)
    assert (table.tp[at], table.fp[at]) == (
        np.count_nonzero(truth & (scores >= 0.47)),
        np.count_nonzero(~truth & (scores >= 0.47)),
    )
    assert np.all(np.diff(table.threshold[1:]) < 0)
    assert np.all(np.diff(table.tp) >= 0)
    answers = evaluate(  # no threshold makes these
        truth, rng.random(100_000) < 0.5, y_score=scores, measures=["recall"]
    )
    assert working_threshold(answers) == 0
    assert with_given_threshold(predicted, thinned) is thinned
    unsure = np.where(np.abs(scores - 1) < 0.3, "?", np.where(scores >= 1, "True", "False"))
    rejected = evaluate(
        truth.astype(str), unsure, y_score=scores, reject="?", pos_label="True", measures=["recall"]
    )
    assert working_threshold(rejected) == 0  # two thresholds made these


def test_the_four_counts_of_predicted_labels():
    counts = counts_of_labels(evaluate([0, 1, 0, 1], [0, 1, 1, 1]))
    assert counts == {"tp": 2.0, "fp": 1.0, "fn": 0.0, "tn": 1.0}
