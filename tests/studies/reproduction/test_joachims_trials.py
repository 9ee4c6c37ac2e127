"""One trial: by hand, and by scikit-learn's solver on vectors made in plain Python."""

import math
import re
from collections import Counter

import numpy as np
import pytest
from sklearn.svm import SVC

from studies.reproduction.joachims_corpora import WEBKB
from studies.reproduction.joachims_trials import (
    Compared,
    Documents,
    Trial,
    compare,
    count,
    halves,
    percentages,
    run_trial,
    troubles,
)
from truerisk.tallies.cells import BinaryCounts


@pytest.fixture
def documents(write_collection, tmp_path):
    write_collection("webkb4", list(WEBKB.labels), 240, more=lambda _: {"relocation": False})
    return WEBKB.read(tmp_path)


def _vectors(train, test):
    """Words in three training documents, TF·log(n/DF), unit length; word by word."""
    bags = [[Counter(re.findall("[a-z]+", text)) for text in texts] for texts in (train, test)]
    frequency = Counter(word for bag in bags[0] for word in bag)
    words = sorted(word for word, times in frequency.items() if times >= 3)
    matrices = []
    for part in bags:
        rows = [
            [bag[word] * math.log(len(train) / frequency[word]) for word in words] for bag in part
        ]
        lengths = [math.sqrt(sum(value**2 for value in row)) or 1.0 for row in rows]
        matrices.append(
            np.array([[v / length for v in row] for row, length in zip(rows, lengths, strict=True)])
        )
    return matrices


def test_a_trial_counts_what_another_solver_counts(documents):
    train, test = next(halves(len(documents), 1, np.random.default_rng(3)))
    trial = run_trial(documents, train, test)
    inner, outer = _vectors(documents.texts_at(train), documents.texts_at(test))
    for place in range(len(documents.categories)):
        truth = documents.member[train, place]
        svc = SVC(kernel="linear", C=0.5, tol=1e-9).fit(inner, truth)
        alpha = np.zeros(len(train))
        alpha[svc.support_] = np.abs(svc.dual_coef_[0])
        slack = np.maximum(0, 1 - np.where(truth, 1, -1) * svc.decision_function(inner))
        for rho in (1.0, 2.0):
            risky = rho * alpha + slack >= 1 - 1e-6
            found = trial.estimated[rho]
            # FORMULAS: d₊ positives and d₋ negatives are at risk.
            assert found.fn[place] == np.sum(risky & truth)
            assert found.fp[place] == np.sum(risky & ~truth)
            assert found.tp[place] == np.sum(truth) - np.sum(risky & truth)
            assert found.n[place] == len(train)
        called, wanted = svc.decision_function(outer) > 0, documents.member[test, place]
        assert trial.holdout.tp[place] == np.sum(called & wanted)
        assert trial.holdout.fp[place] == np.sum(called & ~wanted)
        assert trial.holdout.fn[place] == np.sum(~called & wanted)


def test_words_of_the_test_half_change_nothing_in_the_training_half(documents):
    train, test = next(halves(len(documents), 1, np.random.default_rng(3)))
    texts = list(documents.texts)
    for place in test:
        texts[place] += " entirely other words"
    changed = Documents(tuple(texts), documents.categories, documents.member)
    first, second = run_trial(documents, train, test), run_trial(changed, train, test)
    assert str(first.estimated) == str(second.estimated)


def test_a_category_without_a_training_document_is_never_called():
    texts = tuple(f"{'wheat corn' if place % 2 else 'gold silver'} price" for place in range(20))
    member = np.array([[place % 2 == 0, False] for place in range(20)])
    member[12, 1] = True
    trial = run_trial(Documents(texts, ("metal", "rare"), member), np.arange(10), np.arange(10, 20))
    assert (trial.estimated[1.0].tn[1], trial.holdout.fn[1], trial.holdout.tp[1]) == (10, 1, 0)
    assert math.isnan(percentages(trial.estimated[1.0])["recall"][1])
    assert percentages(trial.holdout)["f1"][1] == 0.0
    assert trial.unstable == 0


@pytest.mark.parametrize(("size", "first"), [(4183, 2092), (12902, 6451), (3, 2)])
def test_halves_share_no_document_and_leave_none_out(size, first):
    splits = list(halves(size, 2, np.random.default_rng(0)))
    for train, test in splits:
        assert len(train) == first
        assert sorted([*train, *test]) == list(range(size))
    assert not np.array_equal(splits[0][0], splits[1][0])


def test_the_four_outcomes_are_counted_by_column():
    truth = np.array([[1, 0], [1, 0], [1, 1], [0, 0]], bool)
    called = np.array([[1, 1], [0, 0], [0, 0], [1, 1]], bool)
    found = count(truth, called)
    assert [found.tp.tolist(), found.fn.tolist()] == [[1, 0], [2, 1]]
    assert [found.fp.tolist(), found.tn.tolist()] == [[1, 2], [0, 1]]


def test_percentages_worked_by_hand():
    found = percentages(BinaryCounts(tp=30, fp=10, fn=20, tn=140))
    assert float(found["error_rate"]) == pytest.approx(15.0)
    assert float(found["recall"]) == pytest.approx(60.0)
    assert float(found["precision"]) == pytest.approx(75.0)
    assert float(found["f1"]) == pytest.approx(100 * 60 / 90)


@pytest.mark.parametrize(("measure", "optimistic"), [("error_rate", 1), ("recall", 2), ("f1", 2)])
def test_optimistic_is_better_than_the_hold_out_set_and_a_tie_is_not(measure, optimistic):
    compared = Compared("a", 1.0, measure, 10, (1.0, 2.0, 3.0, 4.0), (1.0, 2.5, 2.5, 3.0))
    assert compared.optimistic == optimistic


def test_an_undefined_value_is_not_optimistic():
    nan = math.nan
    assert Compared("a", 1.0, "precision", 10, (nan, 2.0, nan), (1.0, nan, nan)).optimistic == 0


def test_svms_with_a_loose_bias_or_a_gap_are_named_and_others_are_not():
    def trial(unstable, gap):
        return Trial(1, {}, BinaryCounts(tp=0, fp=0, fn=0, tn=1), unstable, gap)

    assert not list(troubles([trial(0, 1e-7), trial(0, 0.0)]))
    loose, stopped = troubles([trial(2, 1e-4), trial(1, 3e-4), trial(0, 0.0)])
    assert loose.startswith("3 SVMs have no support vector within its bounds")
    assert stopped == (
        "In 2 of 3 trials a solver stopped before its goal, at a gap of at most 0.0003."
    )


def test_comparing_keeps_estimates_with_their_rho_and_hold_out_sets_apart():
    def counts(errors):
        return BinaryCounts(
            tp=np.array([10, 20]), fp=np.array([errors, 0]), fn=np.array([0, 2 * errors]),
            tn=np.array([90 - errors, 80 - 2 * errors]),
        )  # fmt: skip

    trials = [
        Trial(100, {1.0: counts(k), 2.0: counts(2 * k)}, counts(k - 1), 0, 0.0) for k in (2, 3)
    ]
    compared = {(c.rho, c.measure, c.category): c for c in compare(("a", "b"), trials)}
    assert len(compared) == 16
    assert compared[1.0, "error_rate", "a"].estimates == (2.0, 3.0)
    assert compared[2.0, "error_rate", "a"].estimates == (4.0, 6.0)
    assert compared[2.0, "error_rate", "a"].holdouts == (1.0, 2.0)
    assert compared[1.0, "error_rate", "b"].estimates == pytest.approx((4.0, 6.0))
    assert compared[1.0, "recall", "a"].estimates == (100.0, 100.0)
    assert compared[1.0, "recall", "b"].estimate.mean < 100.0
