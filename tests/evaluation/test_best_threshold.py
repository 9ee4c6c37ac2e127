import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import truerisk as tr
from truerisk.errors import InputError
from truerisk.evaluation.best_threshold import (
    PROMISES,
    _progress,
    choose_threshold,
    rejection,
    threshold_rows,
)
from truerisk.measures.thresholds import CRITERIA, optimal_threshold, sweep

RNG = np.random.default_rng(3)
POSITIVE = RNG.random(600) < 0.4
SCORES = RNG.normal(size=600) + 2 * POSITIVE
RANKING = tr.rank(SCORES, POSITIVE)


def test_the_second_smallest_of_60_positive_scores_guarantees_recall_090():
    # 1 of 60 may be missed (tests/intervals/test_chosen_thresholds.py); negatives all score lower.
    scores = np.concatenate([np.arange(60.0), -np.arange(1.0, 41.0)])
    ranking = tr.rank(scores, np.arange(100) < 60)
    best = choose_threshold(ranking, by="youden", guarantee={"recall": 0.9})
    (one,) = best.guarantees
    assert (one.highest, one.lowest, one.method) == (1.0, -40.0, "order_statistic")
    assert best.at == 0.0  # the best of the guaranteed, by the criterion
    assert (
        choose_threshold(ranking, guarantee={"recall": 0.9}, level=0.94).guarantees[0].highest
        == 2.0
    )


def test_the_best_of_the_guaranteed_is_taken():
    for by in CRITERIA:
        costs = {"fp": 1.0, "fn": 1.0} if by == "cost" else None
        best = choose_threshold(RANKING, by=by, costs=costs, guarantee={"recall": 0.9})
        able = optimal_threshold(
            RANKING, by=by, costs=costs,
            among=np.append(np.inf, RANKING.thresholds) <= best.guarantees[0].highest,
        )  # fmt: skip
        assert (best.at, best.value) == (able.at, able.value)
        assert best.at <= best.guarantees[0].highest
        assert best.naive.at >= best.at


def test_without_a_guarantee_the_choice_is_that_of_the_criterion():
    best = choose_threshold(RANKING)
    assert (best.at, best.value) == (optimal_threshold(RANKING).at, RANKING.summary.best_f1)
    assert best.naive is None
    assert best.guarantees == ()
    assert best.share_called == (best.tp + best.fp) / 600


@pytest.mark.parametrize("name", PROMISES)
def test_every_measure_can_be_guaranteed_and_is_better_than_promised_here(name):
    best = choose_threshold(RANKING, guarantee={name: 0.8})
    right, wrong = {
        "recall": (best.tp, best.fn),
        "specificity": (best.tn, best.fp),
        "precision": (best.tp, best.fp),
        "negative_predictive_value": (best.tn, best.fn),
    }[name]
    assert right / (right + wrong) > 0.8
    assert best.guarantees[0].is_kept


def test_guarantees_share_the_confidence():
    both = choose_threshold(RANKING, guarantee={"recall": 0.7, "precision": 0.7}, level=0.9)
    assert [one.level for one in both.guarantees] == pytest.approx([0.95, 0.95])
    recall, precision = both.guarantees
    assert precision.lowest <= both.at <= recall.highest


def test_a_higher_level_gives_a_safer_threshold():
    ends = [
        choose_threshold(RANKING, guarantee={"recall": 0.9}, level=level).guarantees[0].highest
        for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
    ]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > ends[-1]


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from(list(PROMISES)), st.floats(0.3, 0.9))
def test_order_of_rows_and_rising_functions_of_the_scores_change_nothing(seed, name, bound):
    rng = np.random.default_rng(seed)
    positive = rng.random(150) < 0.5
    scores = np.round(rng.normal(size=150) + positive, 1)
    options = {"guarantee": {name: bound}, "by": "accuracy"}
    best = choose_threshold(tr.rank(scores, positive), **options)
    order = rng.permutation(150)
    again = choose_threshold(tr.rank(scores[order], positive[order]), **options)
    assert again == best or np.isnan(best.at)
    moved = choose_threshold(tr.rank(np.exp(scores) + 5, positive), **options)
    assert [moved.tp, moved.fp] == pytest.approx([best.tp, best.fp], nan_ok=True)
    assert moved.at == pytest.approx(np.exp(best.at) + 5, nan_ok=True)


def test_when_nothing_is_guaranteed_the_reason_and_the_need_are_given():
    few = tr.rank(SCORES[:60], POSITIVE[:60])
    n = int(POSITIVE[:60].sum())
    best = choose_threshold(few, guarantee={"recall": 0.99})
    (one,) = best.guarantees
    assert np.isnan([best.at, best.value, best.tp, one.lowest, one.highest]).all()
    assert best.estimates == {}
    assert one.reason == f"That takes 299 positives or more; here are {n}."  # .99²⁹⁹ < .05
    assert one.needed == np.ceil(60 * 299 / n)
    (one,) = choose_threshold(few, guarantee={"precision": 0.97}).guarantees
    assert "About" in one.reason
    assert one.needed > 60
    useless = tr.rank(np.arange(200.0), np.arange(200) % 2 == 1)
    (one,) = choose_threshold(useless, guarantee={"precision": 0.9}).guarantees
    assert one.needed == np.inf or one.needed > 200
    low = tr.rank(np.arange(200.0), np.arange(200) < 100)  # all wrong way round
    (one,) = choose_threshold(low, guarantee={"precision": 0.9}).guarantees
    assert one.needed == np.inf
    assert "would not help" in one.reason


def test_intervals_allow_for_the_choice():
    best = choose_threshold(RANKING, by="cost", costs={"fp": 1, "fn": 5})
    table = [[best.tn, best.fp], [best.fn, best.tp]]
    fixed = tr.evaluate_counts(table, labels=["0", "1"], costs={"fp": 1, "fn": 5})
    assert list(best.estimates) == [
        "precision", "recall", "specificity", "f1", "gmean", "youden", "cost",
    ]  # fmt: skip
    for name, one in best.estimates.items():
        assert one.value == pytest.approx(fixed[name].value)
        assert one.interval.low < fixed[name].interval.low
        assert one.interval.high > fixed[name].interval.high
        assert one.interval.level == 0.95
        assert one.interval.method.endswith("_after_choice")
    assert best.estimates["cost"].value == pytest.approx(best.value)


def test_the_best_f1_has_the_interval_that_an_evaluation_gives_it():
    best = choose_threshold(RANKING)
    one = tr.evaluate(POSITIVE, y_score=SCORES, threshold=0, measures=["best_f1"])["best_f1"]
    assert best.estimates["f1"].value == pytest.approx(one.value)
    assert best.estimates["f1"].interval == one.interval


def test_f_with_another_beta_is_among_the_estimates():
    best = choose_threshold(RANKING, beta=2.0)
    assert best.estimates["f2"].value == pytest.approx(best.value)


def test_weighted_and_grouped_examples_have_values_and_no_intervals():
    weighted = tr.rank(SCORES, POSITIVE, np.linspace(1, 2, 600))
    for best in (choose_threshold(weighted), choose_threshold(RANKING, independent=False)):
        assert all(one.interval is None for one in best.estimates.values())
        assert best.estimates["f1"].value == pytest.approx(best.value)
    rows = threshold_rows(weighted, 5)
    assert np.isnan([row["recall_low"] for row in rows]).all()


@pytest.mark.parametrize(
    ("ranking", "options", "message"),
    [
        (RANKING, {"independent": False}, "must be of independent examples; .* Keep one row"),
        (tr.rank([1, 2], [True, False], [1, 2.5]), {}, "of equal weight: no finite-sample"),
        (RANKING, {"guarantee": {"f1": 0.9}}, "`guarantee` must be one of recall, .*; got 'f1'"),
        (RANKING, {"guarantee": {"recall": 95}}, r"`guarantee\['recall'\]` must lie in"),
        (RANKING, {"guarantee": {"recall": 1}}, "strictly between 0 and 1; got 1"),
        (RANKING, {"level": 95}, "Write 0.95 for 95 %"),
    ],
)
def test_guarantees_that_cannot_be_given_are_refused(ranking, options, message):
    with pytest.raises(tr.InputError, match=message):
        choose_threshold(ranking, **{"guarantee": {"recall": 0.9}, **options})


def test_every_criterion_is_explained():
    # Python 3.13 takes the indentation off docstrings, earlier ones leave it.
    lines = [line.strip() for line in tr.best_threshold.__doc__.splitlines()]
    for name in CRITERIA:
        assert any(line.startswith(f"{name} ") for line in lines)


def test_the_choice_can_be_copied_and_is_frozen():
    best = choose_threshold(RANKING, guarantee={"recall": 0.9})
    assert copy.deepcopy(best) == best
    with pytest.raises(AttributeError):
        best.at = 0.0
    with pytest.raises(TypeError):
        best.estimates["recall"] = None


def test_the_rows_cover_the_useful_range_of_a_rare_class():
    rng = np.random.default_rng(1)
    positive = rng.random(20_000) < 0.01
    rows = threshold_rows(tr.rank(rng.normal(size=20_000) + 3 * positive, positive), 11)
    assert rows[0]["threshold"] == np.inf
    assert rows[-1]["tn"] == 0
    # Evenly over recall and false positive rate, four rows would have a precision above 0.1.
    assert sum(row["precision"] > 0.1 for row in rows) >= 8
    assert sum(0.05 < row["recall"] < 0.95 for row in rows) >= 8


def test_the_rows_are_even_on_a_scale_worked_by_hand():
    # P = 1 and N = 3, in the order N, N, P, N.
    # FP/(FP+P) is 0, 1/2, 2/3, 2/3, 3/4, with the range 3/4.
    # 1 - FN/(FN+N) is 3/4, 3/4, 3/4, 1, 1, with the range 1/4.
    table = sweep(tr.rank([4, 3, 2, 1], np.array([0, 0, 1, 0]) == 1))
    assert _progress(table) == pytest.approx([0, 1 / 3, 4 / 9, 17 / 18, 1])


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=20))
def test_the_scale_of_the_rows_treats_both_classes_alike(pairs):
    scores, positive = map(np.array, zip(*pairs, strict=True))
    one = _progress(sweep(tr.rank(scores, positive)))
    other = _progress(sweep(tr.rank(-scores, ~positive)))
    assert np.all(np.diff(one) > 0)
    assert (one[0], one[-1]) == (0, 1)
    assert one == pytest.approx(1 - other[::-1])


def test_the_cost_of_a_row_has_the_interval_of_an_evaluation():
    ranking = tr.rank([5, 4, 3, 2, 1, 0], np.array([1, 1, 0, 1, 0, 0]) == 1)
    row = threshold_rows(ranking, 7, costs={"fp": 1, "fn": 5})[2]
    whole = tr.evaluate_counts([[2, 1], [1, 2]], pos_label=1, costs={"fp": 1, "fn": 5})
    assert (row["tp"], row["fp"], row["cost"]) == (2, 1, 1.0)
    ends = whole["cost"].interval
    assert (row["cost_low"], row["cost_high"]) == (ends.low, ends.high)
    unsure = threshold_rows(ranking, 7, costs={"fp": 1, "fn": 5}, independent=False)[2]
    assert np.isnan(unsure["cost_low"])


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=20))
def test_intervals_of_rows_contain_their_values(pairs):
    scores, positive = zip(*pairs, strict=True)
    for row in threshold_rows(tr.rank(scores, positive), 6, costs={"fp": 1}):
        for name in ("precision", "recall", "f1", "cost"):
            if not np.isnan(row[name]):
                assert row[f"{name}_low"] <= row[name] + 1e-12
                assert row[name] <= row[f"{name}_high"] + 1e-12
        assert row["cost"] == pytest.approx(row["fp"] / len(pairs))


def test_labels_and_scores_are_taken_as_they_are_given():
    words = np.where(POSITIVE, "ill", "well")
    best = tr.best_threshold(words, SCORES, pos_label="ill", guarantee={"recall": 0.9})
    assert best == choose_threshold(RANKING, guarantee={"recall": 0.9})
    grouped = tr.best_threshold(POSITIVE, SCORES, groups=np.arange(600) // 2)
    assert grouped == choose_threshold(RANKING, independent=False)
    weight = np.linspace(1, 2, 600)
    weighted = tr.best_threshold(POSITIVE, SCORES, sample_weight=weight, by="youden")
    assert weighted == choose_threshold(tr.rank(SCORES, POSITIVE, weight), by="youden")


def test_a_choice_reads_as_the_threshold_its_guarantees_and_its_measures():
    first, promise, *measures = str(
        tr.best_threshold([0, 0, 1, 1] * 20, [1.0, 2.0, 3.0, 4.0] * 20, guarantee={"recall": 0.9})
    ).split("\n")
    assert first == "threshold 3: f_beta = 1.000 (tp 40, fp 0, fn 0, tn 40)"
    assert promise == (
        "guaranteed with 95 % confidence: recall at least 0.9 (thresholds from 1 to 3)"
    )
    assert measures[0].startswith("precision = 1.000 [0.883, 1.000] at 95 %")
    few = tr.best_threshold([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], guarantee={"recall": 0.9})
    assert "not guaranteed: recall at least 0.9. That takes 29 positives or more" in str(few)


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
        (
            ([0, 1], [[0.2], [0.8]]),
            {},
            r"one column of scores.*got shape \(2, 1\)",
        ),
        (([0, 0], [[0.2], [0.8]]), {}, r"Use .ravel\(\), of a frame its column"),
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
