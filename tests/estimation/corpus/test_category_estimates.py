import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from truerisk.estimation.corpus.category_estimates import (
    AVERAGED,
    MEASURES,
    RANKED_AVERAGES,
    Calls,
    Method,
    category_rows,
    evaluation_of,
    ranked_evaluation_of,
)
from truerisk.evaluation import evaluate, evaluate_counts

LEARNER = Method(name="xi_alpha", target="the learner at this sample size", level=0.9)
TESTED = Method(name="holdout", target="this model", level=0.9)


def calls_of(truth, wrong, **fields):
    truth, wrong = np.array(truth, dtype=bool), np.array(wrong, dtype=bool)
    given_ones = {
        "names": tuple("abcdefgh"[: len(truth)]),
        "reasons": (None,) * len(truth),
        "averaged": truth.any(axis=1) & ~truth.all(axis=1),
    }
    return Calls(truth=truth, wrong=wrong, **{**given_ones, **fields})


# Of a: 3 carry it, 1 of them is wrong; 5 do not, 2 of them are wrong.
TRUTH = [[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]]
WRONG = [[1, 0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0]]


def test_the_measures_of_a_category_by_hand():
    first, second = category_rows(calls_of(TRUTH, WRONG), LEARNER)
    values = {name: estimate.value for name, estimate in first.items()}
    # d = 3, d₊ = 1, d₋ = 2, n = 8, n₊ = 3
    assert values == pytest.approx(
        {"error_rate": 3 / 8, "recall": 2 / 3, "precision": 2 / 4, "f1": 4 / 7}
    )
    assert [second[name].value for name in MEASURES] == pytest.approx([1 / 8, 1 / 2, 1, 2 / 3])
    assert [first[name].n for name in MEASURES] == [8, 3, 4, 5]


def test_estimates_say_how_they_were_made():
    found = evaluation_of(calls_of(TRUTH, WRONG), LEARNER)
    every = [*found.values(), *(one for row in found.by_class.values() for one in row.values())]
    assert {(one.method, one.target, one.interval.level) for one in every} == {
        ("xi_alpha", "the learner at this sample size", 0.9)
    }


@settings(max_examples=30)
@given(
    arrays.arrays(bool, (3, 9)),
    arrays.arrays(bool, (3, 9)),
)
def test_intervals_made_at_once_are_those_made_one_by_one(truth, wrong):
    for row, carries, is_wrong in zip(
        category_rows(calls_of(truth, wrong), LEARNER), truth, wrong, strict=True
    ):
        table = [
            [np.sum(carries & ~is_wrong), np.sum(carries & is_wrong)],
            [np.sum(~carries & is_wrong), np.sum(~carries & ~is_wrong)],
        ]
        alone = evaluate_counts(np.array(table), measures=MEASURES, level=0.9)
        for name in MEASURES:
            mine, theirs = row[name], alone[name]
            assert mine.is_defined == theirs.is_defined
            if mine.is_defined:
                assert mine.value == pytest.approx(theirs.value)
                assert mine.interval.low == pytest.approx(theirs.interval.low)
                assert mine.interval.high == pytest.approx(theirs.interval.high)
                assert mine.n == theirs.n
            else:
                assert mine.notes[0] == theirs.notes[0]


def test_a_category_without_a_machine_has_a_reason_and_no_value():
    calls = calls_of(
        [*TRUTH, [0] * 8],
        [*WRONG, [0] * 8],
        reasons=(None, None, "no training document carries it"),
    )
    found = evaluation_of(calls, LEARNER)
    for estimate in found.by_class["c"].values():
        assert not estimate.is_defined
        assert estimate.notes == ("undefined: no training document carries it",)
        assert (estimate.interval.low, estimate.interval.high) == (0.0, 1.0)
    assert found["f1_macro"].value == pytest.approx((4 / 7 + 2 / 3) / 2)


def test_averages_are_over_the_chosen_categories():
    found = evaluation_of(calls_of(TRUTH, WRONG), LEARNER)
    assert list(found) == list(AVERAGED)
    # Summed: TP 2 + 1, FP 2 + 0, FN 1 + 1.
    assert found["precision_micro"].value == pytest.approx(3 / 5)
    assert found["recall_micro"].value == pytest.approx(3 / 5)
    assert found["recall_macro"].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found["hamming_loss"].value == pytest.approx(4 / 16)
    one = evaluation_of(calls_of(TRUTH, WRONG, averaged=np.array([True, False])), LEARNER)
    assert one["f1_macro"].value == pytest.approx(4 / 7)
    assert one["f1_micro"].value == pytest.approx(4 / 7)
    assert one.by_class["b"]["f1"].value == pytest.approx(2 / 3)


def test_averages_over_no_category_are_undefined():
    found = ranked_evaluation_of(
        calls_of(TRUTH, WRONG, averaged=np.zeros(2, dtype=bool)), np.zeros((2, 8)), TESTED
    )
    assert found.undefined == (*AVERAGED, *RANKED_AVERAGES)
    assert "no category to average over" in found["f1_macro"].notes[0]


@pytest.mark.parametrize("categories", [1, 2, 12])
def test_scores_are_worth_what_evaluate_says(categories):
    rng = np.random.default_rng(3)
    truth = rng.random((categories, 60)) < 0.3
    decision = rng.standard_normal((categories, 60)) + truth
    names = [f"c{at:02}" for at in range(categories)]
    calls = calls_of(truth, (decision > 0) != truth, names=tuple(names))
    found = ranked_evaluation_of(calls, decision, TESTED)
    whole = evaluate(
        truth.T.astype(int), (decision > 0).T.astype(int), y_score=decision.T, multilabel=True,
        labels=names, level=0.9,
    )  # fmt: skip
    single = whole.by_class if categories > 1 else {names[0]: whole.estimates}
    for name in names:
        for measure in ("breakeven_point", "eleven_point_precision"):
            assert found.by_class[name][measure].value == single[name][measure].value
    for name in AVERAGED:
        assert found[name].value == pytest.approx(whole[name].value)
    if categories == 1:
        assert found["breakeven_point_micro"].value == whole["breakeven_point"].value
    else:
        for name in RANKED_AVERAGES:
            assert found[name].value == pytest.approx(whole[name].value)
            # What is not known of the dependence makes intervals wider, never narrower.
            assert found[name].interval.width >= whole[name].interval.width - 1e-12


def test_a_category_that_nothing_held_out_carries_has_no_ranking():
    truth = [*TRUTH, [0] * 8]
    calls = calls_of(truth, np.zeros((3, 8)))
    found = ranked_evaluation_of(calls, np.where(calls.truth, 1.0, -1.0), TESTED)
    assert found.by_class["a"]["breakeven_point"].value == 1.0
    row = found.by_class["c"]
    assert row["error_rate"].value == 0.0
    assert row["breakeven_point"].notes == ("undefined: no document carries it",)


@settings(max_examples=20)
@given(st.data())
def test_averages_do_not_depend_on_the_order_of_the_documents(data):
    truth = data.draw(arrays.arrays(bool, (2, 7)))
    wrong = data.draw(arrays.arrays(bool, (2, 7)))
    order = data.draw(st.permutations(range(7)))
    once = evaluation_of(calls_of(truth, wrong), LEARNER)
    again = evaluation_of(calls_of(truth[:, order], wrong[:, order]), LEARNER)
    for name in AVERAGED:
        assert once[name].value == pytest.approx(again[name].value, nan_ok=True)
