import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_matrix
from sklearn.svm import SVC

from truerisk.errors import InputError
from truerisk.estimation.corpus.categories import (
    AVERAGED,
    MEASURES,
    RANKED_AVERAGES,
    Calls,
    CategorySVMs,
    Method,
    Trained,
    Training,
    category_rows,
    evaluation_of,
    ranked_evaluation_of,
    train_svms,
)
from truerisk.estimation.svm.leave_one_out import LeftOut
from truerisk.evaluation import evaluate, evaluate_counts

RHOS = (1.0, 2.0)


@pytest.fixture(scope="module")
def documents():
    """Documents of unit length over 250 words, three overlapping topics among them."""
    rng = np.random.default_rng(1)
    topics = rng.random((3, 250)) ** 8
    truth = rng.random((3, 90)) < np.array([[0.5], [0.3], [0.1]])
    words = rng.poisson(0.05 + truth.T.astype(float) @ topics * 0.6)
    words = words / np.maximum(np.linalg.norm(words, axis=1, keepdims=True), 1e-12)
    return csr_matrix(words), truth


@pytest.mark.parametrize("category", [0, 1, 2])
def test_at_risk_are_those_that_libsvm_puts_at_risk(documents, category):
    X, truth = documents
    svms = train_svms(X, truth, Training(C=0.5, rhos=RHOS))
    svc = SVC(C=0.5, kernel="linear", tol=1e-9).fit(X, truth[category])
    alpha = np.zeros(X.shape[0])
    alpha[svc.support_] = np.abs(svc.dual_coef_.toarray()[0])
    y = np.where(truth[category], 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - y * svc.decision_function(X))
    assert svms.squared_radius == 1.0
    for rho, flagged in zip(RHOS, svms.flagged[:, category], strict=True):
        doubt = rho * alpha + slack
        clear = np.abs(doubt - 1.0) > 1e-5
        assert np.array_equal(flagged[clear], (doubt >= 1.0)[clear])


def test_the_decision_on_other_documents_is_that_of_libsvm(documents):
    X, truth = documents
    svms = train_svms(X[:60], truth[:, :60], Training(C=1.0, rhos=RHOS), test=X[60:])
    for category, decision in enumerate(svms.decision):
        svc = SVC(C=1.0, kernel="linear", tol=1e-9).fit(X[:60], truth[category, :60])
        assert decision == pytest.approx(svc.decision_function(X[60:]), abs=1e-5)


def test_leaving_out_finds_the_errors_of_a_loop_and_rho_2_flags_all_of_them(documents):
    X, truth = documents
    n = 40
    svms = train_svms(
        X[:n], truth[:1, :n], Training(C=1.0, rhos=RHOS, leave_one_out=True, workers=2)
    )
    wrong = []
    for i in range(n):
        rest = np.arange(n) != i
        svc = SVC(C=1.0, kernel="linear", tol=1e-9).fit(X[:n][rest], truth[0, :n][rest])
        wrong.append(bool(svc.decision_function(X[i])[0] > 0) != truth[0, i])
    assert svms.left_out[0].tolist() == wrong
    assert (svms.flagged[1] | ~svms.left_out).all()
    assert 0 < svms.refits[0] <= n
    assert svms.ties.sum() == 0


def test_threads_change_nothing_and_progress_counts_the_categories(documents):
    X, truth = documents
    told = []
    one = train_svms(X, truth, Training(C=0.5, rhos=RHOS))
    two = train_svms(
        X, truth, Training(C=0.5, rhos=RHOS, workers=2), progress=lambda *step: told.append(step)
    )
    assert np.array_equal(one.flagged, two.flagged)
    assert told == [(1, 1, 3), (2, 2, 3), (3, 3, 3)]


def test_a_category_of_no_or_all_documents_has_no_machine(documents):
    X, truth = documents
    with_extremes = np.vstack([np.ones_like(truth[:1]), truth[:1], np.zeros_like(truth[:1])])
    svms = train_svms(X, with_extremes, Training(C=0.5, rhos=RHOS), test=X)
    assert svms.flagged.any(axis=(0, 2)).tolist() == [False, True, False]
    assert svms.decision.any(axis=1).tolist() == [False, True, False]


def test_what_fails_in_a_thread_is_told_and_stops_the_rest(documents):
    X, truth = documents

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_svms(X, truth, Training(C=0.5, rhos=RHOS, workers=2), progress=stop)
    assert threading.active_count() < 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0.0}, "`C` must be positive; got 0"),
        ({"C": float("inf")}, "`C` must lie in"),
        ({"rhos": (0.0,)}, "`rho` must be positive; got 0"),
        ({"rhos": (-1.0,)}, "`rho` must lie in"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Training(**{"C": 1.0, "rhos": RHOS, **settings}).checked()


def test_a_tie_is_called_negative_and_counted(documents, monkeypatch):
    X, truth = documents
    monkeypatch.setattr(LeftOut, "margins", lambda *_: np.zeros(X.shape[0]))
    svms = train_svms(X, truth, Training(C=0.5, rhos=RHOS, leave_one_out=True))
    assert np.array_equal(svms.left_out, truth)
    assert svms.ties.tolist() == [X.shape[0]] * 3


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
        # LEARNER gives bounds at 90 %: either end of an interval at 80 %.
        alone = evaluate_counts(np.array(table), measures=MEASURES, level=0.8)
        for name in MEASURES:
            mine, theirs = row[name], alone[name]
            assert mine.is_defined == theirs.is_defined
            if mine.is_defined:
                assert mine.value == pytest.approx(theirs.value)
                is_error = name == "error_rate"
                assert mine.interval.side == ("upper" if is_error else "lower")
                assert mine.interval.level == 0.9
                low, high = theirs.interval.low, theirs.interval.high
                assert mine.interval.low == (0.0 if is_error else pytest.approx(low))
                assert mine.interval.high == (pytest.approx(high) if is_error else 1.0)
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


# a: documents 0-2; b: none; c: all of them; d: document 5.
TRAINED_TRUTH = np.array([[1, 1, 1, 0, 0, 0], [0] * 6, [1] * 6, [0, 0, 0, 0, 0, 1]], dtype=bool)
TEST_TRUTH = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)


def machines_of(categories=4, tested=3, **fields):
    given = {
        "flagged": np.zeros((2, categories, 6), dtype=bool),
        "left_out": np.zeros((categories, 0), dtype=bool),
        "decision": np.full((categories, tested), -1.0),
        "stable": np.ones(categories, dtype=bool),
        "gap": np.zeros(categories),
        "refits": np.zeros(categories, dtype=int),
        "ties": np.zeros(categories, dtype=int),
        "squared_radius": 1.0,
        "radius_rule": "unit length",
    }
    return CategorySVMs(**{**given, **fields})


@pytest.fixture
def trained():
    return Trained(
        names=("a", "b", "c", "d"),
        truth=TRAINED_TRUTH,
        test_truth=TEST_TRUTH,
        svms=machines_of(),
    )


def test_what_cannot_be_told_from_the_rest_has_a_reason(trained):
    assert trained.reasons == (
        None,
        "no training document carries it",
        "every training document carries it",
        None,
    )


def test_averages_are_over_what_both_sides_have(trained):
    assert trained.averaged.tolist() == [True, False, False, False]
    alone = Trained(names=trained.names, truth=TRAINED_TRUTH, test_truth=None, svms=trained.svms)
    assert alone.averaged.tolist() == [True, False, False, True]
    assert alone.held_out(0.95) is None


def test_a_decision_of_exactly_0_is_no(trained):
    decision = np.zeros((4, 3))
    tested = Trained(
        names=trained.names,
        truth=TRAINED_TRUTH,
        test_truth=TEST_TRUTH,
        svms=machines_of(decision=decision),
    ).held_out(0.95)
    assert tested.by_class["a"]["recall"].value == 0.0
    assert tested.by_class["a"]["error_rate"].value == pytest.approx(1 / 3)


def test_the_facts_of_a_category(trained):
    first, second, third, last = trained.categories()
    assert (first.documents, first.test_documents, first.reason) == (3, 1, None)
    assert second.reason == "no training document carries it"
    assert third.documents == 6
    assert (last.name, last.test_documents) == ("d", 0)


def test_notes_name_what_is_in_no_average(trained):
    nothing, everything, untested = trained.notes()
    assert nothing == "Not estimated, as no training document carries it: 'b'."
    assert everything == "Not estimated, as every training document carries it: 'c'."
    assert untested.startswith("In no average, as no document held out carries it: 'd'. So both")
