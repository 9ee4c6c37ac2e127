import numpy as np
import pytest

import truerisk as tr
from truerisk.errors import InputError
from truerisk.evaluation.rejection import rejection


def test_the_error_falls_as_more_is_rejected_where_evidence_means_something():
    rng = np.random.default_rng(0)
    p = rng.random(5000)
    curve = rejection(rng.random(5000) < p, p)
    rates = [curve.threshold_for_rejection(share).error_rate for share in (0, 0.3, 0.6, 0.9)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(0.25, abs=0.03)  # ∫ min(p, 1 − p)


def test_two_classes_by_probability_worked_by_hand():
    # evidence .8, .6, .2, .8, with the third wrong
    curve = rejection([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.1])
    assert curve.thresholds.tolist() == pytest.approx([0.2, 0.6, 0.8])
    assert curve.errors.tolist() == [1, 0, 0]


def test_two_classes_by_decision_value_worked_by_hand():
    curve = rejection(["b", "a", "b"], [2.0, -1.0, 0.5], pos_label="b", threshold=1.0)
    # called b, a, a: the last is wrong, with the least evidence ½
    assert curve.thresholds.tolist() == [0.5, 1.0, 2.0]
    assert curve.errors.tolist() == [1, 0, 0]


def test_several_classes_worked_by_hand():
    scores = [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.4, 0.2, 0.4], [np.inf, np.inf, 0]]
    curve = rejection(["x", "y", "z", "y"], scores, labels=["x", "y", "z"])
    # evidence .2, .7, 0, 0; ties are called for the first class: the last two are wrong
    assert curve.thresholds.tolist() == pytest.approx([0, 0.2, 0.7])
    assert curve.errors.tolist() == [2, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1], [0.2, 1.5]), {}, r"range over \[0.2, 1.5\]. Give `threshold=`: 0 for decision"),
        (([0, 1], [[0.2], [0.8]]), {}, "`labels` must name the 1 columns of `y_score`; got 2"),
        (([0, 0], [[0.2], [0.8]]), {}, "must have a column for each class; got 1"),
        (([0, 5, 7], [[0.2, 0.8]] * 3), {}, "`labels` must name the 2 columns"),
        (([0, 1], [[0.2, 0.8]] * 2), {"labels": [0]}, "must name the 2 columns"),
        (([0, 1], [[0.2, np.nan]] * 2), {}, "`y_score` must be numbers; 2 are NaN"),
        (([0, 1], [[0.2, 0.8]] * 2), {"pos_label": 1}, "must be left out when there are K"),
        (([0, 1], [0.1]), {}, "`y_true` has 2, `y_score` has 1"),
    ],
)
def test_scores_that_cannot_be_meant_are_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        rejection(*arguments, **options)


def test_149_right_answers_guarantee_an_error_of_2_percent():
    # .98¹⁴⁹ = .0493 ≤ .05: above the start at rank 150; with one start it has all of .05.
    p = np.linspace(0.9, 0.999, 160)
    safe = rejection(np.ones(160, dtype=bool), p, guarantee={"error": 0.02}).guaranteed
    assert (safe.guarantee.measure, safe.guarantee.method) == ("error", "fixed_sequence")
    assert safe.point.accepted == 160
    assert safe.guarantee.highest == pytest.approx(2 * p[10] - 1)
    none = rejection(np.ones(149, dtype=bool), p[:149], guarantee={"error": 0.02}).guaranteed
    assert np.isnan(none.point.threshold)
    assert (none.point.accepted, none.point.rejection_rate) == (0, 1.0)
    assert not none.guarantee.is_kept
    assert none.guarantee.needed > 149


def test_a_guarantee_answers_less_than_the_naive_choice_and_holds_for_classes():
    rng = np.random.default_rng(4)
    scores = rng.dirichlet([0.3, 0.3, 0.3], size=2000)
    truth = np.array([rng.choice(3, p=row) for row in scores])
    safe = rejection(truth, scores, guarantee={"error": 0.1}, level=0.9).guaranteed
    assert 0 < safe.point.accepted < safe.naive.accepted
    assert safe.point.error_rate < 0.1
    assert safe.guarantee.level == 0.9


def test_without_a_guarantee_there_is_none():
    assert rejection([0, 1], [0.2, 0.8]).guaranteed is None


@pytest.mark.parametrize(
    ("guarantee", "level", "message"),
    [
        ({"recall": 0.9}, 0.95, "`guarantee` must be one of error; got 'recall'"),
        ({"error": 0}, 0.95, "strictly between 0 and 1"),
        ({"error": 0.1}, 95, "Write 0.95 for 95 %"),
    ],
)
def test_a_guarantee_that_cannot_be_meant_is_refused(guarantee, level, message):
    with pytest.raises(tr.InputError, match=message):
        rejection([0, 1], [0.2, 0.8], guarantee=guarantee, level=level)
